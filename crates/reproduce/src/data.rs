//! The numbers behind a figure.

use std::fmt::Write;

/// A table of numbers; not a number stands for nothing.
pub struct Data {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
    /// What a row is about, if rows have names; the first column.
    names: Vec<String>,
}

impl Data {
    /// An empty table.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new(), names: Vec::new() }
    }

    /// Adds a row with a name. The first column is that of the names.
    pub fn push_named(&mut self, name: &str, row: Vec<f64>) {
        debug_assert_eq!(row.len() + 1, self.columns.len());
        self.names.push(name.into());
        self.rows.push(row);
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows that have names, in their order.
    pub fn named_rows(&self) -> impl Iterator<Item = (&str, &[f64])> {
        self.names.iter().zip(&self.rows).map(|(name, row)| (name.as_str(), row.as_slice()))
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<f64>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Comma-separated values with a header; ten digits, empty cells for nothing.
    pub fn to_csv(&self) -> String {
        let quoted = |name: &String| {
            if name.contains([',', '"']) {
                format!("\"{}\"", name.replace('"', "\"\""))
            } else {
                name.clone()
            }
        };
        let mut text = self.columns.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        for (k, row) in self.rows.iter().enumerate() {
            if let Some(name) = self.names.get(k) {
                text += &(quoted(name) + ",");
            }
            for (k, value) in row.iter().enumerate() {
                if k > 0 {
                    text.push(',');
                }
                if value.is_finite() {
                    // Ten digits, then the shortest form of what they are. Writing to a string cannot fail.
                    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(*value);
                    let plain = rounded == 0.0 || (1e-4..1e10).contains(&rounded.abs());
                    let _ = if plain { write!(text, "{rounded}") } else { write!(text, "{rounded:e}") };
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_short_and_quotes_names() {
        let mut data = Data::new(["t", "nepce:a=1,b=2"]);
        data.push(vec![0.1 + 0.2, f64::NAN]);
        data.push(vec![1.5e-7, -2.0]);
        assert_eq!(data.to_csv(), "t,\"nepce:a=1,b=2\"\n0.3,\n1.5e-7,-2\n");
        let mut data = Data::new(["case", "error"]);
        data.push_named("a, b", vec![0.5]);
        assert_eq!(data.to_csv(), "case,error\n\"a, b\",0.5\n");
        assert_eq!(data.named_rows().collect::<Vec<_>>(), [("a, b", &[0.5][..])]);
    }
}
