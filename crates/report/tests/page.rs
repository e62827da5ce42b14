//! Pages: whole, small, and safe with texts of anybody.

use costep_report::{
    Axis, Cells, Colour, Figure, HeatColours, HeatMap, Look, Page, Panel, Places, Section, Series, Table,
    TableCell, Tone,
};
use serde_json::Value;

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"'& <!-- ${x}";

fn wave(points: usize) -> Vec<(f64, f64)> {
    (0..points).map(|k| (1e-3 * k as f64, (0.02 * k as f64).sin())).collect()
}

/// The text of an element with this id.
fn element<'a>(html: &'a str, id: &str) -> &'a str {
    let (_, rest) = html.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split_once('<').unwrap().0
}

fn data(html: &str) -> Value {
    serde_json::from_str(element(html, "data")).unwrap()
}

#[test]
fn texts_of_anybody_are_only_text() {
    let panel = Panel::new(Axis::new(HOSTILE), Axis::new(HOSTILE).unit(HOSTILE))
        .title(HOSTILE)
        .with(Series::new(HOSTILE, wave(50)))
        .level(HOSTILE, 0.5);
    let map = HeatMap {
        title: HOSTILE.into(),
        x: Axis::new(HOSTILE),
        y: Axis::new(HOSTILE),
        columns: Places::Names(vec![HOSTILE.into(), "b".into()]),
        rows: Places::Values(vec![1.0]),
        layers: vec![vec![1.0, f64::NAN], vec![0.0, 1.0]],
        chosen_by: vec![0],
        label: HOSTILE.into(),
        colours: HeatColours::Classes(vec![(HOSTILE.into(), Colour::Ink), (HOSTILE.into(), Colour::Next)]),
    };
    let table =
        Table::new(HOSTILE, [HOSTILE, "x"]).row([HOSTILE.into(), TableCell::toned(HOSTILE, Tone::Bad)]);
    let section = Section::new(HOSTILE)
        .text(HOSTILE)
        .remark(Tone::Bad, HOSTILE)
        .folded(Tone::Doubtful, HOSTILE, vec![HOSTILE.into()])
        .facts([(HOSTILE.into(), HOSTILE.into())])
        .code(HOSTILE, HOSTILE)
        .table(table)
        .plot(Figure::new(HOSTILE).panel(panel.clone()).note(HOSTILE))
        .picture(HOSTILE, Figure::new(HOSTILE).panel(panel).to_svg())
        .heat_map(map);
    let page = Page::new(HOSTILE)
        .subtitle(HOSTILE)
        .footer(HOSTILE)
        .verdict(Tone::Bad, HOSTILE, HOSTILE)
        .picker(HOSTILE, [(HOSTILE.into(), true)])
        .choice(HOSTILE, [HOSTILE, "b"], 1)
        .section(section);
    let html = page.to_html();
    assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("onerror=alert(2)>"));
    // Three scripts: data, library, and the page's own.
    assert_eq!(html.matches("</script").count(), 3);
    let data = data(&html);
    assert_eq!(data["plots"][0]["traces"][0]["name"], HOSTILE);
    assert_eq!(data["plots"][1]["traces"][0]["x"][0], HOSTILE);
    assert_eq!(data["picker"][0][0], HOSTILE);
    assert_eq!(data["choices"][0]["names"][0], HOSTILE);
    assert!(html.contains("<option selected>b</option>"));
    let live = page.live_data(HOSTILE, false);
    assert!(!live.contains('<'));
    let live: Value = serde_json::from_str(&live).unwrap();
    assert_eq!((&live["status"], &live["data"]["plots"]), (&HOSTILE.into(), &data["plots"]));
}

#[test]
fn a_page_is_small_whatever_it_shows() {
    // 300 curves of 20,000 points in 60 plots, a table of 5000 rows, a text of 2 MB, and large pictures.
    let panel = |k: usize| {
        let curves = (0..5).map(|c| Series::new(format!("curve {k}.{c}"), wave(20_000 + 7 * k + c)));
        curves.fold(Panel::new(Axis::new("t"), Axis::new("y")), Panel::with)
    };
    let figure = Figure::new("Much").panels((0..60).map(panel));
    let row = |k: usize| vec![format!("row {k}").into(), "x".repeat(100).into()];
    let pictures = (0..30).fold(Section::new("Pictures"), |section, _| {
        let points = |k: usize| (0..4000).map(|i| (i as f64, ((i * k) % 17) as f64)).collect();
        let panel = (0..6).map(|k| Series::new("p", points(k)).look(Look::Marked));
        let panel = panel.fold(Panel::new(Axis::new("x"), Axis::new("y")), Panel::with);
        section.picture("P", Figure::new("P").panel(panel).to_svg())
    });
    let page = Page::new("Much")
        .section(Section::new("Curves").plot(figure))
        .section(Section::new("Rows").table(Table::new("Rows", ["a", "b"]).rows((0..5000).map(row))))
        .section(Section::new("Text").code("text", "line\n".repeat(400_000)))
        .section(pictures);
    let html = page.to_html();
    assert!(html.len() < Page::MOST_BYTES, "{}", html.len());
    assert!(html.contains("and 4500 more rows") && html.contains("Left out"));
    let data = data(&html);
    let plots = data["plots"].as_array().unwrap();
    assert!(
        plots.len() > 50 && plots.iter().all(|plot| plot["traces"][0]["y"].as_array().unwrap().len() >= 60)
    );
}

#[test]
fn a_million_points_keep_what_is_seen_of_them() {
    let mut points = wave(1_000_000);
    points[345_678].1 = 17.0;
    let panel = Panel::new(Axis::new("t"), Axis::new("y")).with(Series::new("y", points));
    let html = Page::new("Long").section(Section::new("y").plot(Figure::new("y").panel(panel))).to_html();
    assert!(html.len() < 3_000_000, "{}", html.len());
    assert!(html.contains("first, least, greatest and last"));
    let data = data(&html);
    let y = data["plots"][0]["traces"][0]["y"].as_array().unwrap();
    assert!(y.iter().any(|y| y.as_f64() == Some(17.0)) && y.len() <= 16_004);
}

#[test]
fn a_page_without_plots_has_no_script() {
    let cells =
        Cells { x: vec![0.0, 1.0, 2.0], y: vec![0.0, 1.0], fill: vec![1.0, 0.0], colour: Colour::Nth(1) };
    let figure = Figure::new("Areas").panel(Panel::new(Axis::new("x"), Axis::new("y")).map(cells));
    let html =
        Page::new("Pictures").section(Section::new("Areas").picture("Areas", figure.to_svg())).to_html();
    assert!(!html.contains("<script") && html.contains("<svg") && html.len() < 40_000, "{}", html.len());
}
