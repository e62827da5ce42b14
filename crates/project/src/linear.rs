//! `[linear.*]`: parts that are given by their matrices, x' = A x + B u, y = C x + D u.

use std::collections::HashSet;

use costep_core::{Code, Error, Port};
use costep_integrate::Linear;

use crate::components::check_name;
use crate::document::{Entry, Node, Value};
use crate::keys;
use crate::problems::{Problems, shortened};
use crate::section::{Section, list, number, text};

/// Of a matrix, those that are not written included.
const MOST_ELEMENTS: usize = 1 << 24;

/// Typical size of a port; `[port]` says better.
const NOMINAL: f64 = 1.0;

/// A port: its name, and its unit or nothing.
pub type LinearPort = (String, String);

/// A linear part.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSpec {
    /// Its name.
    pub name: String,
    /// Its inputs.
    pub inputs: Vec<LinearPort>,
    /// Its outputs.
    pub outputs: Vec<LinearPort>,
    /// A, B, C and D, row by row.
    pub matrices: [Vec<f64>; 4],
    /// States at the start.
    pub start: Vec<f64>,
}

impl LinearSpec {
    /// The part; an error if a matrix does not fit the numbers of ports and states.
    pub fn part(&self) -> Result<Linear, Error> {
        let [n, m, r] = self.sizes();
        let sizes = [(n, n), (n, m), (r, n), (r, m)];
        for ((matrix, letter), (rows, columns)) in self.matrices.iter().zip(LETTERS).zip(sizes) {
            if matrix.len() != rows * columns {
                let message = format!("`{letter}` of `{}` has {} numbers", self.name, matrix.len());
                return Err(Error::new(Code::BadValue, message)
                    .because(format!("{rows} by {columns} fit {n} states, {m} inputs and {r} outputs"))
                    .hint("`a` has a row and a column per state, `b` a row per state and a column per input, `c` a row per output and a column per state, `d` a row per output and a column per input; `start` has a number per state"));
            }
        }
        let [a, b, c, d] = &self.matrices;
        let ports = (ports(&self.inputs), ports(&self.outputs));
        Ok(Linear::new(&self.name, ports, [a, b, c, d], &self.start))
    }

    fn sizes(&self) -> [usize; 3] {
        [self.start.len(), self.inputs.len(), self.outputs.len()]
    }

    /// The rows of the matrices, with their keys.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&'static str, Vec<&[f64]>)> {
        let [n, m, _] = self.sizes();
        let [a, b, c, d] = &self.matrices;
        let all = [rows(a, n), rows(b, m), rows(c, n), rows(d, m)];
        LETTERS.into_iter().zip(all).filter(|(_, rows)| !rows.is_empty())
    }
}

/// The rows of a matrix with so many columns.
fn rows(matrix: &[f64], columns: usize) -> Vec<&[f64]> {
    if columns == 0 { Vec::new() } else { matrix.chunks(columns).collect() }
}

/// Keys of the matrices.
const LETTERS: [&str; 4] = ["a", "b", "c", "d"];

fn ports(given: &[LinearPort]) -> Vec<Port> {
    let port = |(name, unit): &LinearPort| Port {
        unit: (!unit.is_empty()).then(|| unit.clone()),
        ..Port::new(name, unit, NOMINAL)
    };
    given.iter().map(port).collect()
}

/// Reads one `[linear.NAME]`.
pub(crate) fn read(entry: &Entry, problems: &mut Problems<'_>) -> Option<(LinearSpec, Linear)> {
    let label = format!("[linear.{}]", shortened(&entry.key));
    let section = Section::open(Some(&entry.node), &label, keys::LINEAR, problems);
    let is_named = check_name(&entry.key, "part", entry.key_origin, problems);
    let mut matrices = Vec::new();
    for letter in LETTERS {
        matrices.push(match section.get(letter) {
            Some(node) => read_matrix(node, &format!("`{letter}` in {label}"), problems)?,
            None => Matrix::default(),
        });
    }
    let [a, b, c, mut d] = <[Matrix; 4]>::try_from(matrices).ok()?;
    if c.rows == 0 && d.rows == 0 {
        section.require("d", "give `a`, `b` and `c`, or for a plain gain `d`", problems);
        return None;
    }
    let (n, m, r) = (a.rows, b.columns.max(d.columns), c.rows.max(d.rows));
    if r.checked_mul(m).is_none_or(|all| all > MOST_ELEMENTS) {
        problems.report(entry.key_origin, || {
            Error::new(Code::BadValue, format!("{label} has {m} inputs and {r} outputs"))
                .hint(format!("a matrix has at most {MOST_ELEMENTS} elements"))
        });
        return None;
    }
    if d.values.is_empty() {
        d.values = vec![0.0; r * m];
    }
    let start = match section.get("start") {
        Some(node) => read_row(node, &format!("`start` in {label}"), problems)?,
        None => vec![0.0; n],
    };
    let spec = LinearSpec {
        name: entry.key.clone(),
        inputs: read_ports(&section, ("inputs", "u"), m, problems)?,
        outputs: read_ports(&section, ("outputs", "y"), r, problems)?,
        matrices: [a.values, b.values, c.values, d.values],
        start,
    };
    let part = spec.part().map_err(|error| problems.report(section.origin, || error)).ok()?;
    is_named.then_some((spec, part))
}

#[derive(Default)]
struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

fn read_matrix(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<Matrix> {
    let mut matrix = Matrix::default();
    for row in list(node, &what, problems)? {
        if !matches!(row.value, Value::List(_)) {
            problems.report(row.origin, || {
                Error::new(Code::BadValue, format!("a row of {what} is {}, not a list", row.value.kind()))
                    .hint("a matrix is a list of rows: [[1.0, 2.0], [3.0, 4.0]], [[1.0]] for one number")
            });
            return None;
        }
        let values = read_row(row, &format!("a row of {what}"), problems)?;
        if matrix.rows > 0 && values.len() != matrix.columns {
            problems.report(row.origin, || {
                let message =
                    format!("{what} has rows of {} and of {} numbers", matrix.columns, values.len());
                Error::new(Code::BadValue, message)
                    .hint("a matrix is a list of rows: [[1.0, 2.0], [3.0, 4.0]]")
            });
            return None;
        }
        matrix.columns = values.len();
        matrix.rows += 1;
        matrix.values.extend(values);
    }
    Some(matrix)
}

fn read_row(node: &Node, what: &str, problems: &mut Problems<'_>) -> Option<Vec<f64>> {
    let items = list(node, &what, problems)?;
    let what = format!("an item of {what}");
    items.iter().map(|item| number(item, &what, problems)).collect()
}

/// Names, or names with units: `["u"]`, `{ u = "V" }`. Without any they are `u`, or `u1`, `u2`.
fn read_ports(
    section: &Section<'_>,
    (key, letter): (&'static str, &str),
    count: usize,
    problems: &mut Problems<'_>,
) -> Option<Vec<LinearPort>> {
    let Some(node) = section.get(key) else {
        let name = |i: usize| if count == 1 { letter.into() } else { format!("{letter}{}", i + 1) };
        return Some((0..count).map(|i| (name(i), String::new())).collect());
    };
    let ports: Vec<LinearPort> = match &node.value {
        Value::Table(table) => {
            let unit = |entry: &Entry, problems: &mut Problems<'_>| {
                Some((
                    entry.key.clone(),
                    text(&entry.node, &format!("the unit of `{}`", entry.key), problems)?.into(),
                ))
            };
            table.entries.iter().map(|entry| unit(entry, problems)).collect::<Option<_>>()?
        }
        _ => {
            section.texts(key, problems)?.into_iter().map(|(name, _)| (name.into(), String::new())).collect()
        }
    };
    let mut seen = HashSet::new();
    let twice = ports.iter().position(|(name, _)| !seen.insert(name.as_str()));
    if let Some(twice) = twice {
        problems.report(node.origin, || {
            let message = format!("`{key}` names `{}` twice", shortened(&ports[twice].0));
            Error::new(Code::Duplicate, message).hint("give one of them another name")
        });
        return None;
    }
    Some(ports)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Project, load_text};

    const LOOP: &str = r#"
        [system]
        stop = "1 s"
        [step]
        size = "10 ms"
        [linear.plant]
        a = [[0.0, 1.0], [-4.0, -0.5]]
        b = [[0.0], [1.0]]
        c = [[1.0, 0.0]]
        start = [1.0, 0.0]
        inputs = { torque = "N.m" }
        outputs = { angle = "rad" }
        [linear.gain]
        d = [[-2.0]]
        [[connect]]
        from = "plant.angle"
        to = "gain.u"
        gain = 1.0
        [[connect]]
        from = "gain.y"
        to = "plant.torque"
        gain = 1.0
    "#;

    fn load(text: &str) -> Result<Project, Vec<costep_core::Error>> {
        load_text(text, Path::new("loop.toml"), &[])
    }

    #[test]
    fn linear_parts_are_read_and_written() {
        let project = load(LOOP).unwrap();
        let [plant, gain] = &project.given.linears[..] else { panic!("two parts") };
        assert_eq!(plant.matrices[0], [0.0, 1.0, -4.0, -0.5]);
        assert_eq!((&plant.matrices[3], &plant.start), (&vec![0.0], &vec![1.0, 0.0]));
        assert_eq!((gain.inputs[0].0.as_str(), gain.start.len()), ("u", 0));
        let description = project.model.parts[0].description();
        assert_eq!(description.inputs[0].unit.as_deref(), Some("N.m"));
        assert!(description.feedthrough[0].is_empty());
        let again = load(&project.to_toml()).unwrap();
        assert_eq!(again.given.linears, project.given.linears);
        assert_eq!(again.to_toml(), project.to_toml());
        let changed = crate::Override::new("linear.gain.d", "[[-3.0]]", "--set");
        let changed = load_text(LOOP, Path::new("loop.toml"), &[changed]).unwrap();
        assert_eq!(changed.given.linears[1].matrices[3], [-3.0]);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (from, to, message) in [
            ("b = [[0.0], [1.0]]", "b = [[0.0]]", "`b` of `plant` has 1 numbers"),
            ("c = [[1.0, 0.0]]", "c = [[1.0, 0.0], [1.0]]", "rows of 2 and of 1 numbers"),
            ("c = [[1.0, 0.0]]", "c = 1.0", "not a list"),
            ("start = [1.0, 0.0]", "start = [1.0]", "`a` of `plant` has 4 numbers"),
            ("start = [1.0, 0.0]", "start = [1.0, nan]", "is NaN"),
            ("d = [[-2.0]]", "", "[linear.gain] needs `d`"),
            ("d = [[-2.0]]", "d = [[-2.0]]\ne = 1", "unknown key `e`"),
            ("d = [[-2.0]]", "d = [[1.0, 1.0]]\ninputs = [\"u\", \"u\"]", "`inputs` names `u` twice"),
            ("[linear.gain]", "[linear.\"a b\"]", "cannot be the name of a part"),
            (
                "[linear.gain]",
                "[native.plant]\nmodel = \"dual-mass\"\npart = \"s1\"\n[linear.gain]",
                "another part `plant`",
            ),
        ] {
            assert!(LOOP.contains(from));
            let errors = load(&LOOP.replacen(from, to, 1)).err().unwrap_or_default();
            assert!(errors.iter().any(|error| error.to_string().contains(message)), "{message}: {errors:?}");
        }
    }
}
