//! Pages in a real browser: they open without errors and without the network, lines are where they must be, zoom, legend and
//! switches work, and a page of a run that goes on grows. Chromium is spoken to through its pipe; without it these tests say
//! so and pass.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::Sandbox;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(100);

fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let named = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| named.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// A browser and one page in it.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: Option<String>,
    /// What went wrong, and what was asked of the network.
    complaints: Vec<String>,
}

impl Browser {
    fn start(program: &Path, profile: &Path) -> Self {
        // The pipe has fixed numbers.
        let line = format!(
            "exec '{}' --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --user-data-dir='{}' --remote-debugging-pipe about:blank 3<&0 4>&1 >/dev/null 2>&1",
            program.display(),
            profile.display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut browser = Self { child, to, from, calls: 0, session: None, complaints: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attached)["sessionId"].as_str().map(Into::into);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        let size = json!({ "width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", size);
        browser
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.to.flush().unwrap();
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser has ended");
            let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
        let own = ["file:", "data:", "about:", "blob:"].iter().any(|start| url.starts_with(start));
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                self.complaints.push(event.to_string());
            }
            "Network.requestWillBeSent" if !own => self.complaints.push(url.into()),
            _ => {}
        }
    }

    /// Opens a page with plots.
    fn open(&mut self, url: &str) {
        self.show(url);
        self.wait("document.documentElement?.dataset.drawn !== undefined");
    }

    fn show(&mut self, url: &str) {
        self.complaints.clear();
        self.call("Page.navigate", json!({ "url": url }));
        self.wait("document.readyState === 'complete' && document.querySelector('h1')");
    }

    fn value(&mut self, expression: &str) -> Value {
        let wanted = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", wanted);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    fn wait(&mut self, condition: &str) {
        let start = Instant::now();
        while self.value(&format!("!!({condition})")) != true {
            assert!(start.elapsed() < PATIENCE, "never true: {condition}");
            sleep(Duration::from_millis(50));
        }
    }

    /// Pixels near a point of a curve, by what is on the screen, that are about of this colour.
    fn coloured_near(&mut self, plot: &str, (x, y): (f64, f64), colour: &str) -> u64 {
        let places = format!(
            "(() => {{ const at = document.getElementById('{plot}'); at.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const box = at.getBoundingClientRect(), l = at._fullLayout; \
             return [box.left + l._size.l + l.xaxis.d2p({x}), box.top + l._size.t + l.yaxis.d2p({y})]; }})()"
        );
        let place = self.value(&places);
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let count = format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/png;base64,' + {data}; await image.decode(); \
             const canvas = document.createElement('canvas'); canvas.width = image.width; canvas.height = image.height; \
             const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0); \
             const wanted = '{colour}'.match(/[0-9a-f]{{2}}/g).map((c) => parseInt(c, 16)); \
             const all = pen.getImageData(Math.round({x}) - 4, Math.round({y}) - 4, 9, 9).data; let found = 0; \
             for (let k = 0; k < all.length; k += 4) \
               if (wanted.every((c, i) => Math.abs(c - all[k + i]) < 60)) found += 1; return found; }})()",
            data = picture["data"],
            x = place[0],
            y = place[1],
        );
        self.value(&count).as_u64().unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn url(file: &Path) -> String {
    format!("file://{}", file.display())
}

#[test]
fn pages_work_in_a_browser() {
    let Some(program) = chromium() else {
        return eprintln!("skipped: there is no chromium (apt-get install chromium)");
    };
    let sandbox = Sandbox::new();
    let mut browser = Browser::start(&program, &sandbox.path("profile"));
    run_page(&sandbox, &mut browser);
    comparison_page(&sandbox, &mut browser);
    map_page(&sandbox, &mut browser);
    plan_page(&sandbox, &mut browser);
    stability_page(&sandbox, &mut browser);
    demo_page(&sandbox, &mut browser);
    studies_page(&sandbox, &mut browser);
    page_of_all_studies(&mut browser);
    hostile_page(&sandbox, &mut browser);
    live_page(&sandbox, &mut browser);
}

/// Lines are where they must be; zoom by buttons and keys, and the legend, do what they say.
fn run_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox.run("run dual-mass --method predictive --step 1ms --out rig --report rig.html").exits(0);
    browser.open(&url(&sandbox.path("rig.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    assert_eq!(browser.value("document.querySelector('.verdict strong').textContent"), "stable");
    let point = browser.value(
        "(() => { const y = document.getElementById('plot-0')._fullData[0]; return [y.x[10], y.y[10]]; })()",
    );
    let point = (point[0].as_f64().unwrap(), point[1].as_f64().unwrap());
    assert!(browser.coloured_near("plot-0", point, "0072b2") > 3);
    let width = "(() => { const r = document.getElementById('plot-1')._fullLayout.xaxis.range; return r[1] - r[0]; })()";
    let all = browser.value(width).as_f64().unwrap();
    browser.value("document.querySelector('#plot-0').parentElement.querySelector('[data-zoom=in]').click()");
    // Plots of one figure go together.
    let half = browser.value(width).as_f64().unwrap();
    assert!((half - 0.5 * all).abs() < 1e-6 * all, "{half} of {all}");
    browser
        .value("document.getElementById('plot-0').dispatchEvent(new KeyboardEvent('keydown', { key: '0' }))");
    assert!((browser.value(width).as_f64().unwrap() - all).abs() < 1e-6 * all);
    browser.value("document.querySelector('#plot-0').parentElement.querySelector('.legend button').click()");
    assert_eq!(browser.value("document.getElementById('plot-0')._fullData[0].visible"), false);
    assert_eq!(browser.coloured_near("plot-0", point, "0072b2"), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Switches hide the curves of a run in all plots.
fn comparison_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox.run("compare dual-mass --methods foh,predictive --steps 1ms,2ms --report both.html").exits(0);
    browser.open(&url(&sandbox.path("both.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    let shown = "[...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot._fullData) \
                 .filter((curve) => curve.name === 'foh, 2 ms' && curve.visible === true).length";
    let before = browser.value(shown).as_u64().unwrap();
    assert!(before >= 3, "{before}");
    browser.value("[...document.querySelectorAll('.picker label')].find((l) => l.textContent.includes('foh, 2 ms')).querySelector('input').click()");
    assert_eq!(browser.value(shown), 0);
    assert_eq!(browser.value("document.querySelectorAll('.picker input').length"), 4);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Lists choose what the maps show: a method, and a step where two parameters are varied.
fn map_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox
        .run("map dual-mass --vary ck=1e4..1e6:log:3 --vary dk=50,5e2 --steps 1ms,4ms --methods zoh,predictive --out map --report map.html")
        .exits(0);
    browser.open(&url(&sandbox.path("map.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    // Of the regions, which have all steps, and of the maps.
    assert_eq!(
        browser.value(
            "[...document.querySelectorAll('select[data-choice]')].map((l) => l.dataset.choice).join()"
        ),
        "0,0,1"
    );
    choose(browser, 0, "zoh");
    let id = browser.value(
        "[...document.querySelectorAll('figure')].find((f) => f.textContent.trim().startsWith('Verdict')).querySelector('.plot').id",
    );
    let id = id.as_str().unwrap();
    // Cells have the colours of their verdicts: green for stable, orange for unstable, black for diverged.
    let colours =
        [("stable", "009e73"), ("inaccurate", "e69f00"), ("unstable", "d55e00"), ("diverged", "1d2126")];
    let colours = BTreeMap::from(colours);
    let mut seen = BTreeSet::new();
    for (step, row, column) in [("1 ms", 0, 0), ("1 ms", 1, 1), ("4 ms", 0, 1), ("4 ms", 1, 2)] {
        choose(browser, 1, step);
        let class = browser.value(&format!(
            "document.getElementById('{id}')._fullData[0].text[{row}][{column}].split('<br>')[2]"
        ));
        let class = class.as_str().unwrap().to_owned();
        let place = ([1e4, 1e5, 1e6][column], [50.0, 500.0][row]);
        assert!(browser.coloured_near(id, place, colours[&*class]) > 20, "{class} at {place:?}, {step}");
        seen.insert(class);
    }
    assert!(seen.len() >= 2, "{seen:?}");
    choose(browser, 0, "predictive");
    assert!(browser.coloured_near(id, (1e5, 500.0), "009e73") > 20);
    let chosen = browser.value(
        "document.querySelector('#' + '{id}').parentElement.querySelector('.chosen').textContent"
            .replace("{id}", id)
            .as_str(),
    );
    assert_eq!(chosen, "(method predictive, macro step 4 ms)");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Takes an entry of a list, as who clicks on it does.
fn choose(browser: &mut Browser, list: usize, entry: &str) {
    browser.value(&format!(
        "(() => {{ const list = document.querySelector('select[data-choice=\"{list}\"]'); \
         list.value = '{entry}'; list.dispatchEvent(new Event('change')); }})()"
    ));
}

/// Levels have their names, bars and curves are where the numbers say.
fn plan_page(sandbox: &Sandbox, browser: &mut Browser) {
    let plan = "[plan]\nsystem = \"dual-mass\"\nmethods = [\"zoh\", \"predictive\"]\nsteps = [\"1 ms\", \"4 ms\"]\n\
                [parameters]\nck = [1e4, 1e5]\n";
    sandbox.write("plan.toml", plan);
    sandbox.run("doe plan.toml --out plan --report plan.html").exits(0);
    browser.open(&url(&sandbox.path("plan.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    let plot = |heading: &str| {
        format!(
            "[...document.querySelectorAll('section')].find((s) => s.querySelector('h2').textContent === '{heading}').querySelector('.plot')"
        )
    };
    let main = browser.value(&format!("{}.id", plot("Main effects")));
    let main = main.as_str().unwrap();
    let words =
        browser.value(&format!("document.getElementById('{main}')._fullLayout.xaxis.ticktext.join()"));
    assert_eq!(words, "zoh,predictive");
    let error =
        browser.value(&format!("document.getElementById('{main}')._fullData[0].y[1]")).as_f64().unwrap();
    assert!(browser.coloured_near(main, (1.0, error), "0072b2") > 3);
    let shares = browser.value(&format!("{}._fullData[0].z.flat().length", plot("Effects")));
    assert_eq!(shares, 9);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The border is drawn, every method has a curve that its switch hides, and circles are round.
fn stability_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox
        .run("stability dual-mass --method zoh --steps 1ms,4ms --methods foh,prestep:source=rls --report radius.html")
        .exits(0);
    browser.open(&url(&sandbox.path("radius.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    assert_eq!(browser.value("document.querySelector('.verdict strong').textContent"), "stable");
    let curve = "document.getElementById('plot-0')._fullData.find((curve) => curve.name === 'zoh')";
    let at = browser.value(&format!("(() => {{ const c = {curve}; return [c.x[5], c.y[5]]; }})()"));
    let at = (at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    assert!(browser.coloured_near("plot-0", at, "0072b2") > 3, "{at:?}");
    browser.value("[...document.querySelectorAll('.picker label')].find((l) => l.textContent.includes('zoh')).querySelector('input').click()");
    assert_eq!(browser.value(&format!("{curve}.visible")), false);
    assert!(
        browser.value("document.body.textContent").as_str().unwrap().contains("it learns during the run")
    );
    let round = "[...document.querySelectorAll('.plot')].filter((p) => p._fullData.some((c) => c.name === 'unit circle')) \
                 .map((p) => p._fullLayout).map((l) => Math.abs((l.xaxis.d2p(1) - l.xaxis.d2p(0)) / (l.yaxis.d2p(0) - l.yaxis.d2p(1))))";
    let round = browser.value(round);
    let round: Vec<f64> = round.as_array().unwrap().iter().map(|ratio| ratio.as_f64().unwrap()).collect();
    assert!(round.len() == 2 && round.iter().all(|ratio| (ratio - 1.0).abs() < 1e-3), "{round:?}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The runs of the demo, those that diverge among them.
fn demo_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox.run("demo --report demo.html").exits(0).says("demo.html");
    browser.open(&url(&sandbox.path("demo.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    let text = browser.value("document.body.textContent");
    let words = ["predictive", "monolithic", "diverged", "unstable"];
    assert!(words.iter().all(|word| text.as_str().unwrap().contains(word)), "{text}");
    assert_eq!(browser.value("document.querySelectorAll('.picker input').length"), 6);
    // Wall times of the demo lie within a decade: their axis has numbers all the same.
    assert!(browser.value("document.querySelectorAll('#plot-0 .xtick').length").as_u64() > Some(1));
    let at = browser.value(
        "(() => { const figures = [...document.querySelectorAll('figure')]; \
         const plot = figures.find((figure) => figure.textContent.trim().startsWith('left.x')).querySelector('.plot'); \
         const curve = plot._fullData.find((curve) => curve.name.startsWith('predictive')); \
         return [plot.id, curve.line.color, curve.x[10], curve.y[10]]; })()",
    );
    let (plot, colour) = (at[0].as_str().unwrap(), at[1].as_str().unwrap().trim_start_matches('#'));
    let place = (at[2].as_f64().unwrap(), at[3].as_f64().unwrap());
    assert!(browser.coloured_near(plot, place, colour) > 3, "{at}");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// A page of several studies: all claims in words, every figure drawn, and wide enough to be read.
fn studies_page(sandbox: &Sandbox, browser: &mut Browser) {
    sandbox
        .run("reproduce genser2020-fig3.64 genser2020-fig3.66 --out studies --report studies.html")
        .exits(0);
    browser.show(&url(&sandbox.path("studies.html")));
    assert_eq!(browser.complaints, Vec::<String>::new());
    let drawn = "[...document.querySelectorAll('figure.picture svg')].map((svg) => svg.getBoundingClientRect()) \
                 .filter((box) => box.width > 600 && box.height > 200).length";
    assert_eq!(browser.value(drawn), 2);
    // The overview and one table per study, with as many claims as these have.
    let rows =
        "[...document.querySelectorAll('table')].map((table) => table.querySelectorAll('tbody tr').length)";
    let claims = |id: &str| costep_reproduce::find(id).unwrap().claims.len();
    assert_eq!(browser.value(rows), json!([2, claims("genser2020-fig3.64"), claims("genser2020-fig3.66")]));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The page under `docs`, which `reproduce all` made: every study with all its claims and its figure. What figures hold is drawn where they
/// have it, not cut at the frame of another one.
fn page_of_all_studies(browser: &mut Browser) {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reproduce.html").canonicalize().unwrap();
    assert!(file.metadata().unwrap().len() < 6_000_000);
    browser.show(&url(&file));
    let studies = costep_reproduce::STUDIES;
    let rows =
        "[...document.querySelectorAll('table')].map((table) => table.querySelectorAll('tbody tr').length)";
    let expected: Vec<usize> =
        [studies.len()].into_iter().chain(studies.iter().map(|study| study.claims.len())).collect();
    assert_eq!(browser.value(rows), json!(expected));
    let headings =
        browser.value("[...document.querySelectorAll('h2')].map((heading) => heading.textContent)");
    let ids: Vec<_> = studies.iter().map(|study| study.id).collect();
    assert_eq!(
        headings.as_array().unwrap()[1..=ids.len()],
        ids.iter().map(|id| json!(id)).collect::<Vec<_>>()
    );
    // The document beside it has the same results.
    let document = include_str!("../../../docs/reproduce.md");
    let sums = document.lines().find_map(|line| line.strip_prefix("| **all** | ")).unwrap();
    let [all, reproduce, trend, not] = sums.trim_end_matches(" |").split(" | ").collect::<Vec<_>>()[..]
    else {
        panic!("{sums}")
    };
    let verdict = browser.value("document.querySelector('.verdict').textContent");
    let sentence = format!("{all} claims: {reproduce} reproduce, {trend} in trend, {not} do not.");
    assert!(verdict.as_str().unwrap().contains(&sentence), "{verdict}: {sentence}");
    let cut = "[...document.querySelectorAll('.picture [clip-path]')].filter((group) => { \
               const frame = document.getElementById(group.getAttribute('clip-path').slice(5, -1)); \
               return frame.innerHTML !== group.previousElementSibling.innerHTML; }).length";
    assert_eq!(browser.value(cut), 0);
    let drawn = "[...document.querySelectorAll('figure.picture svg')].filter((svg) => svg.getBoundingClientRect().width > 600).length";
    assert_eq!(browser.value(drawn), studies.len());
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// Names of anybody are only text.
fn hostile_page(sandbox: &Sandbox, browser: &mut Browser) {
    use costep_report::{Axis, Figure, Page, Panel, Section, Series};
    let name = "</script><script>document.title='x'</script><img src=x onerror=\"document.title='x'\"><a href='javascript:1'>b</a>";
    let panel =
        Panel::new(Axis::new(name), Axis::new(name)).with(Series::new(name, vec![(0.0, 0.0), (1.0, 1.0)]));
    let page = Page::new(name).section(Section::new(name).plot(Figure::new(name).panel(panel)));
    sandbox.write("hostile.html", page.to_html());
    browser.open(&url(&sandbox.path("hostile.html")));
    assert_eq!(browser.value("document.title"), name);
    assert_eq!(browser.value("document.querySelectorAll('img, .plot a').length"), 0);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// A page of a run that goes on grows, and ends with the page of the whole run.
fn live_page(sandbox: &Sandbox, browser: &mut Browser) {
    let arguments = ["run", "dual-mass", "--t-end", "100h", "--step", "1ms", "--out", "long", "--live"];
    let mut run = sandbox.command(arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("live: ").map(str::to_owned)).unwrap();
    // What the run says further on must not fill its pipe.
    std::thread::spawn(move || lines.for_each(drop));
    // A page without rows has fewer plots, and is loaded again once there are some.
    let (recording, start) = (sandbox.path("long/results.arrows"), Instant::now());
    while recording.metadata().map_or(0, |file| file.len()) < 50_000 {
        assert!(start.elapsed() < PATIENCE, "nothing is recorded");
        sleep(Duration::from_millis(50));
    }
    browser.open(&address);
    let rows = "Number(document.getElementById('status').textContent.match(/([0-9]+) rows/)[1])";
    let first = browser.value(rows).as_u64().unwrap();
    browser.wait(&format!("{rows} > {first}"));
    let last = "document.getElementById('plot-0')._fullData[0].x.at(-1)";
    let time = browser.value(last).as_f64().unwrap();
    browser.wait(&format!("{last} > {time}"));
    let own = |complaint: &String| !complaint.starts_with(&address);
    assert_eq!(
        browser.complaints.iter().filter(|complaint| own(complaint)).count(),
        0,
        "{:?}",
        browser.complaints
    );
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    browser.wait("document.querySelector('.verdict') && !document.querySelector('.verdict').textContent.includes('running')");
    run.wait().unwrap();
}
