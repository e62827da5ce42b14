//! What came of it as tables and as JSON.

use std::fmt::Write;

use serde_json::{Value, json as value};

use super::cases::Case;
use super::study::{Judged, SIMPLE, Studied, TINY};

/// Offenders that are listed of each sort.
const LISTED: usize = 25;

/// A run with its case.
type Pair<'a> = (&'a Case, &'a Judged);

/// The page, with the command that makes it again.
pub fn markdown(studied: &[Studied], methods: &[String], command: &str) -> String {
    let pairs: Vec<Pair<'_>> =
        studied.iter().flat_map(|of| of.runs.iter().map(move |run| (&of.case, run))).collect();
    let mut page = String::from("# Verdicts without a reference, and what is true\n\n");
    let known = studied.iter().filter(|of| of.truth.is_ok()).count();
    let _ = write!(
        page,
        "Made by `{command}`.\n\n\
         {} cases (systems with drawn parameters and steps), {} of them with a sure reference, {} runs. Truth is the monolithic system \
         at sharp tolerances or, where parts are programs, the coupled system at 1/128 of the step or less; each is checked with a second one. \
         A run is bad if it ends early, has peaks beyond five ranges, or is off by more than half of a range (RMS of a signal, or its last \
         fifth where the error grows). Errors are RMS over time of the mean over outputs, as shares of ranges.\n\n",
        studied.len(),
        known,
        pairs.len(),
    );
    verdicts(&mut page, &pairs, methods);
    families(&mut page, &pairs);
    rivals(&mut page, &pairs, methods);
    weak_systems(&mut page, &pairs);
    offenders(&mut page, &pairs);
    dropped(&mut page, studied);
    page
}

fn share(count: usize, all: usize) -> String {
    if all == 0 { "-".into() } else { format!("{:.1} %", 100.0 * count as f64 / all as f64) }
}

fn count(pairs: &[Pair<'_>], is: impl Fn(&Judged) -> bool) -> usize {
    pairs.iter().filter(|(_, run)| is(run)).count()
}

const HEAD: &str =
    "| runs | bad | STABLE but bad | good called bad | SUSPECT | quotes an error | within factor 3 |\n";
const RULE: &str = "---:|---:|---:|---:|---:|---:|---:|\n";

/// The cells of one row.
fn cells(pairs: &[Pair<'_>]) -> String {
    let (all, bad) = (pairs.len(), count(pairs, Judged::is_bad));
    let (stable, alarms) = (count(pairs, Judged::is_false_stable), count(pairs, Judged::is_false_alarm));
    let owed = count(pairs, Judged::owes_an_error);
    let near = count(pairs, |run| run.owes_an_error() && run.quotes_well());
    let quoted = count(pairs, |run| run.owes_an_error() && run.said.quoted.is_some());
    format!(
        "{all} | {bad} | {stable} ({}) | {alarms} ({}) | {} | {quoted} of {owed} | {near} ({}) |\n",
        share(stable, all),
        share(alarms, all - bad),
        count(pairs, |run| run.said.verdict == "Suspect"),
        share(near, owed),
    )
}

fn verdicts(page: &mut String, pairs: &[Pair<'_>], methods: &[String]) {
    let _ = write!(page, "## Verdicts\n\n| method {HEAD}|---|{RULE}");
    for method in methods {
        let own: Vec<_> = pairs.iter().filter(|(_, run)| run.method == *method).copied().collect();
        let _ = write!(page, "| {method} | {}", cells(&own));
    }
    let _ = writeln!(page, "| all | {}", cells(pairs));
}

fn families(page: &mut String, pairs: &[Pair<'_>]) {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (case, _) in pairs {
        for name in [(case.family, ""), (case.family, case.kind)] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.sort_by_key(|(family, kind)| {
        (pairs.iter().position(|(case, _)| case.family == *family), !kind.is_empty())
    });
    let _ = write!(page, "| family | system {HEAD}|---|---|{RULE}");
    for (family, kind) in names {
        let is_own = |case: &Case| case.family == family && (kind.is_empty() || case.kind == kind);
        let own: Vec<_> = pairs.iter().filter(|(case, _)| is_own(case)).copied().collect();
        let (family, kind) = if kind.is_empty() { (family, "all") } else { ("", kind) };
        let _ = write!(page, "| {family} | {kind} | {}", cells(&own));
    }
    page.push('\n');
}

fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio.ln(), count + 1.0));
    if count > 0.0 { f64::exp(sum / count) } else { f64::NAN }
}

/// Errors at equal numbers of steps of the parts.
fn rivals(page: &mut String, pairs: &[Pair<'_>], methods: &[String]) {
    page.push_str("## At equal numbers of steps\n\n");
    let _ = write!(
        page,
        "Steps of all parts are counted, those of trials too. Where a method does more than one per macro step, the others get a smaller \
         macro step: as many steps in all, by a power law between the two whole parts of the step that are nearest. Errors below {TINY:e} \
         are equal.\n\n\
         | method | cases | steps per macro step | above 0.8 zoh | of them where one of the three is below | above 1.0 zoh | within 1.2 of the best | above 3 times the best | worst | mean against {} |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---|---|\n",
        SIMPLE.join(", "),
    );
    for method in methods {
        let own: Vec<_> = pairs
            .iter()
            .filter(|(_, run)| run.method == *method && !run.rivals.is_empty() && !run.is_unsure)
            .collect();
        if own.is_empty() {
            continue;
        }
        let number = |is: &dyn Fn(&Judged) -> bool| {
            let found = own.iter().filter(|(_, run)| is(run)).count();
            format!("{found} ({})", share(found, own.len()))
        };
        let loses = |run: &Judged, share: f64| run.error() > TINY && run.error() > share * run.rivals[0];
        let against = |k: usize| mean(own.iter().map(|(_, run)| run.error() / run.rivals[k]));
        let worst = own.iter().max_by(|a, b| a.1.against_best().total_cmp(&b.1.against_best()));
        let _ = writeln!(
            page,
            "| {method} | {} | {:.2} | {} | {} | {} | {} | {} | {} | {} |",
            own.len(),
            mean(own.iter().map(
                |(case, run)| run.said.calls as f64 / (case.steps * case.model.parts.len() as u64) as f64
            )),
            number(&|run| loses(run, 0.8)),
            number(&|run| loses(run, 0.8) && run.best_rival() <= 0.8 * run.rivals[0]),
            number(&|run| loses(run, 1.001)),
            number(&|run| run.against_best() <= 1.2),
            number(&|run| run.against_best() > 3.0),
            worst.map_or(String::new(), |(case, run)| format!(
                "{:.3e} (case {})",
                run.against_best(),
                case.id
            )),
            (0..SIMPLE.len()).map(|k| format!("{:.3}", against(k))).collect::<Vec<_>>().join(", "),
        );
    }
    page.push('\n');
}

/// The systems on which `auto` loses to a simple method, and what users can do there.
fn weak_systems(page: &mut String, pairs: &[Pair<'_>]) {
    let is_compared = |run: &Judged| run.method == "auto" && !run.rivals.is_empty() && !run.is_unsure;
    let own: Vec<_> = pairs.iter().filter(|(_, run)| is_compared(run)).copied().collect();
    let mut kinds: Vec<(&str, Vec<Pair<'_>>)> = Vec::new();
    for pair in &own {
        match kinds.iter_mut().find(|(kind, _)| *kind == pair.0.kind) {
            Some((_, of)) => of.push(*pair),
            None => kinds.push((pair.0.kind, vec![*pair])),
        }
    }
    kinds.retain(|(_, of)| of.iter().any(|(_, run)| run.against_best() > 1.2));
    if kinds.is_empty() {
        return;
    }
    let beaten = |of: &[Pair<'_>], by: f64| count(of, |run| run.against_best() > by);
    kinds.sort_by_key(|(_, of)| std::cmp::Reverse(beaten(of, 1.2)));
    page.push_str(
        "### Where `auto` is worse than a simple method\n\n\
         Its models are linear and learn from the steps before. A part that touches, sticks, has play, meets a limit or looks at its inputs at times of its own \
         surprises them, and nothing pays back what a surprise has cost, as the lines of `foh` and the correction of `nepce` do. And where a simple method is \
         accurate anyway, the parts of steps at the start cost more than they bring. In such systems let `costep advise` try the methods on the system itself: it names the \
         cheapest one within an error.\n\n\
         | system | cases | beyond 1.2 times the best | beyond 3 times | worst |\n|---|---:|---:|---:|---:|\n",
    );
    for (kind, of) in &kinds {
        let worst = of.iter().map(|(_, run)| run.against_best()).fold(0.0, f64::max);
        let (some, far) = (beaten(of, 1.2), beaten(of, 3.0));
        let _ = writeln!(page, "| {kind} | {} | {some} | {far} | {worst:.2} |", of.len());
    }
    page.push('\n');
}

impl Judged {
    /// The error of the best of the simple methods.
    fn best_rival(&self) -> f64 {
        self.rivals.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Its error against that of the best of the simple methods.
    fn against_best(&self) -> f64 {
        self.error() / self.best_rival()
    }
}

fn offenders(page: &mut String, pairs: &[Pair<'_>]) {
    page.push_str("## Offenders\n\nAgain, one by one: the same command with `--case NUMBER`.\n\n");
    let mut list = |title: &str, all: Vec<&Pair<'_>>| {
        let _ = write!(page, "### {title}: {}\n\n", all.len());
        for (case, run) in all.iter().take(LISTED) {
            let _ = writeln!(page, "- {}", line(case, run));
        }
        if all.len() > LISTED {
            let _ = writeln!(page, "- and {} more", all.len() - LISTED);
        }
        page.push('\n');
    };
    let of = |is: &dyn Fn(&Judged) -> bool| pairs.iter().filter(|(_, run)| is(run)).collect::<Vec<_>>();
    list("STABLE but bad", of(&Judged::is_false_stable));
    list("Good but called bad", of(&Judged::is_false_alarm));
    let mut misquoted = of(&|run| run.owes_an_error() && run.said.quoted.is_some() && !run.quotes_well());
    let off = |run: &Judged| {
        run.said
            .quoted
            .as_ref()
            .map_or(0.0, |(quoted, _)| (quoted.max(TINY) / run.truth.eps.max(TINY)).ln().abs())
    };
    misquoted.sort_by(|a, b| off(b.1).total_cmp(&off(a.1)));
    list("Quoted error off by more than three", misquoted);
    let mut beaten = of(&|run| run.method == "auto" && !run.is_unsure && run.against_best() > 1.2);
    beaten.sort_by(|a, b| b.1.against_best().total_cmp(&a.1.against_best()));
    list("`auto` worse than 1.2 times the best of the simple methods", beaten);
}

fn line(case: &Case, run: &Judged) -> String {
    let mut text = format!(
        "case {} {} ({}{}), {}: {}, error {:.2e}, worst output {:.2} ({})",
        case.id,
        case.kind,
        case.guise.word(),
        if case.nominal { "" } else { ", no nominal values" },
        run.method,
        run.said.verdict.to_uppercase(),
        run.truth.eps,
        run.truth.worst.0,
        case.outputs()[run.truth.worst.1],
    );
    if let Some((quoted, by)) = &run.said.quoted {
        let _ = write!(text, ", quoted {quoted:.2e} ({by})");
    }
    if let Some(why) = run.truth.bad {
        let _ = write!(text, "; {why}");
    }
    if !run.rivals.is_empty() {
        let rivals: Vec<_> =
            SIMPLE.iter().zip(&run.rivals).map(|(name, error)| format!("{name} {error:.2e}")).collect();
        let _ = write!(text, "; at {} steps {}", run.said.calls, rivals.join(" "));
    }
    text + "; " + &case.what
}

fn dropped(page: &mut String, studied: &[Studied]) {
    let lost: Vec<_> = studied.iter().filter_map(|of| Some((&of.case, of.truth.as_ref().err()?))).collect();
    let unsure = studied.iter().flat_map(|of| &of.runs).filter(|run| run.is_unsure).count();
    let _ = write!(
        page,
        "## What is left out\n\n\
         {} cases without a sure reference; {unsure} runs with errors below three times what their reference may be wrong by: their verdicts \
         count, their errors do not.\n\n",
        lost.len()
    );
    for (case, why) in lost {
        let _ = writeln!(page, "- case {} {}: {why}; {}", case.id, case.kind, case.what);
    }
    let drifts = studied.iter().flat_map(|of| of.runs.iter().map(move |run| (&of.case, run)));
    let drifts: Vec<_> = drifts.filter_map(|(case, run)| Some((case, run, run.drift?))).collect();
    if !drifts.is_empty() {
        page.push_str("\n## Volume of the three tanks\n\nGreatest change of the volume in all tanks, which should be none.\n\n");
        for (case, run, drift) in drifts {
            let _ = writeln!(page, "- case {} {}: {drift:.1e}", case.id, run.method);
        }
    }
}

/// Everything about one case, for whoever looks into it.
pub fn verbose(studied: &Studied) -> String {
    let case = &studied.case;
    let mut text = format!(
        "case {} {} {}: {}\n  {}, {} steps of {} s\n  truth: {:?}\n",
        case.id,
        case.family,
        case.kind,
        case.what,
        case.guise.word(),
        case.steps,
        case.step,
        studied.truth
    );
    for run in &studied.runs {
        let _ = writeln!(text, "  {}", line(case, run));
        let said = &run.said;
        let _ = writeln!(
            text,
            "    judged by {}, peak {:.2} ranges, {} steps of parts ({} by its own count){}",
            said.judged_by.as_deref().unwrap_or("nothing"),
            run.truth.peak,
            said.calls,
            said.counted,
            run.drift.map_or(String::new(), |drift| format!(", drift {drift:.1e}")),
        );
        if let Some(remark) = &said.remark {
            let _ = writeln!(text, "    {remark}");
        }
    }
    text
}

/// Everything, for other programs.
pub fn json(studied: &[Studied], command: &str) -> Value {
    let number = |x: f64| if x.is_finite() { value!(x) } else { value!(null) };
    let run = |run: &Judged| {
        value!({
            "method": run.method,
            "verdict": run.said.verdict,
            "judged_by": run.said.judged_by,
            "quoted": run.said.quoted.as_ref().map(|(error, by)| value!({"error": error, "by": by})),
            "error": number(run.truth.eps),
            "worst": number(run.truth.worst.0),
            "peak": number(run.truth.peak),
            "bad": run.truth.bad,
            "false_stable": run.is_false_stable(),
            "false_alarm": run.is_false_alarm(),
            "unsure": run.is_unsure,
            "steps": run.said.calls,
            "counted_steps": run.said.counted,
            "rivals": run.rivals,
            "drift": run.drift,
            "remark": run.said.remark,
        })
    };
    let case = |of: &Studied| {
        let truth = match &of.truth {
            Ok((by, error)) => value!({"by": by, "own_error": number(*error)}),
            Err(why) => value!({"none": why}),
        };
        value!({
            "case": of.case.id,
            "family": of.case.family,
            "kind": of.case.kind,
            "what": of.case.what,
            "guise": of.case.guise.word(),
            "nominal": of.case.nominal,
            "step": of.case.step,
            "macro_steps": of.case.steps,
            "truth": truth,
            "runs": of.runs.iter().map(run).collect::<Vec<_>>(),
        })
    };
    value!({"command": command, "cases": studied.iter().map(case).collect::<Vec<_>>()})
}
