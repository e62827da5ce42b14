//! Every figure is well-formed XML, whatever is drawn.

use costep_report::{Axis, Cells, Colour, Figure, Look, Panel, Series};

/// The names of all elements, in order; panics on XML that is not well-formed.
fn elements(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let elements = document.descendants().filter(|node| node.is_element());
    elements.map(|node| node.tag_name().name().to_owned()).collect()
}

fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|n| *n == name).count()
}

#[test]
fn an_empty_figure_says_so() {
    elements(&Figure::new("nothing").to_svg());
    let empty = Figure::new("").panel(Panel::new(Axis::default(), Axis::default())).to_svg();
    elements(&empty);
    assert!(empty.contains("no data"));
}

#[test]
fn strange_values_and_names_make_a_picture() {
    let values = [f64::NAN, f64::INFINITY, f64::MIN, f64::MAX, 0.0, -0.0, 1e-320, -1.0];
    let points: Vec<_> = values.iter().enumerate().map(|(k, y)| (k as f64, *y)).collect();
    for axis in [Axis::new("<&>").unit("\"m\""), Axis::new("y").log(), Axis::new("y").range(2.0, 1.0)] {
        let panel = Panel::new(Axis::new("x").log(), axis)
            .title("</svg>")
            .with(Series::new("a\u{0}b <b>", points.clone()).look(Look::Marked))
            .with(Series::new("", points.clone()).look(Look::Steps))
            .level("limit", f64::NAN);
        let svg = Figure::new("]]>").subtitle("&amp;").note("--").panel(panel).to_svg();
        let names = elements(&svg);
        assert_eq!(names.iter().filter(|name| *name == "svg").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn a_long_series_is_a_short_picture() {
    let points = (0..1_000_000).map(|k| (f64::from(k), (0.1 * f64::from(k)).sin())).collect();
    let panel = Panel::new(Axis::new("x"), Axis::new("y")).with(Series::new("wave", points));
    let svg = Figure::new("long").panel(panel).to_svg();
    assert!(svg.len() < 100_000, "{}", svg.len());
}

#[test]
fn maps_join_equal_neighbours() {
    let cells = Cells {
        x: vec![1.0, 10.0, 100.0, 1000.0],
        y: vec![0.0, 1.0, 2.0],
        fill: vec![1.0, 1.0, 0.0, 0.5, 0.0, 1.0],
        colour: Colour::Nth(2),
    };
    let svg = Figure::new("map").panel(Panel::new(Axis::new("x").log(), Axis::new("y")).map(cells)).to_svg();
    // The ground, the clip and three filled rectangles.
    assert_eq!(count(&elements(&svg), "rect"), 5);
}

#[test]
fn legends_wrap_and_every_series_is_in_one() {
    let series = |k: usize| Series::new(format!("series number {k}"), vec![(0.0, k as f64), (1.0, 0.0)]);
    let panel = (0..20).fold(Panel::new(Axis::new("x"), Axis::new("y")), |panel, k| panel.with(series(k)));
    let svg = Figure::new("many").panel(panel).to_svg();
    assert!((0..20).all(|k| svg.contains(&format!(">series number {k}</text>"))));
    assert!(elements(&svg).len() > 60);
}

/// Fixed: points at the edge of the axes were cut in half.
#[test]
fn marked_points_lie_inside_the_frame() {
    let points = vec![(1.0, 1.0), (2.0, 3.0)];
    let draw = |look: Look| {
        let series = Series::new("", points.clone()).look(look);
        Figure::new("").panel(Panel::new(Axis::new("x"), Axis::new("y")).with(series)).to_svg()
    };
    let number = |svg: &str, element: &str, name: &str| -> Vec<f64> {
        let elements = svg.lines().filter(|line| line.contains(element));
        let value = |line: &str| {
            let rest = line.split_once(&format!(" {name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        elements.map(value).collect()
    };
    let svg = draw(Look::Marked);
    let (left, width) = (number(&svg, "<clipPath", "x"), number(&svg, "<clipPath", "width"));
    for x in number(&svg, "<circle", "cx") {
        assert!(x > left[0] + 5.0 && x < left[0] + width[0] - 5.0, "{x} in {left:?} {width:?}");
    }
}

#[test]
fn series_beyond_the_colours_get_other_markers() {
    let panel = (0..14).fold(Panel::new(Axis::new("x"), Axis::new("y")), |panel, k| {
        panel.with(Series::new(format!("s{k}"), vec![(f64::from(k), 1.0)]).look(Look::Marked))
    });
    let svg = Figure::new("many").panel(panel).to_svg();
    let names = elements(&svg);
    // One in the axes and one in the legend: six dots, six squares, two triangles.
    assert_eq!((count(&names, "circle"), count(&names, "polygon")), (12, 16));
}

/// A page may hold pictures of several processes: areas of some were cut at the frames of others.
#[test]
fn names_inside_pictures_mean_the_same_in_all_of_them() {
    let picture = |title: &str, y: f64| {
        let panel =
            Panel::new(Axis::new("x"), Axis::new("y")).with(Series::new(title, vec![(0.0, 0.0), (1.0, y)]));
        Figure::new(title).subtitle(title).panel(panel.clone()).panel(panel).to_svg()
    };
    let names = |svg: &str| {
        let document = roxmltree::Document::parse(svg).unwrap();
        let clips = document.descendants().filter(|node| node.has_tag_name("clipPath"));
        let frame = |node: roxmltree::Node<'_, '_>| {
            let rect = node.first_element_child().unwrap();
            ["x", "y", "width", "height"].map(|name| rect.attribute(name).unwrap().to_owned())
        };
        clips.map(|clip| (clip.attribute("id").unwrap().to_owned(), frame(clip))).collect::<Vec<_>>()
    };
    let all: Vec<_> = [picture("a", 1.0), picture("", 1e-5)].iter().flat_map(|svg| names(svg)).collect();
    assert_eq!(all.len(), 4);
    for (name, frame) in &all {
        assert!(all.iter().all(|(other, its)| (name == other) == (frame == its)), "{name}: {all:?}");
    }
    assert_eq!(picture("a", 1.0), picture("a", 1.0));
}
