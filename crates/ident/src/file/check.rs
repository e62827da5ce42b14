//! What may be wrong with identified models, each with the key that it is about.

use costep_core::{Code, Description, Error};

use super::{ModelFile, NamedModel};

/// What a file may say of how its models were identified.
const SOURCES: [&str; 4] = ["rls", "ij-rls", "moesp", "identified"];

/// What is wrong, and where in the file.
#[derive(Debug)]
pub(super) struct Misfit {
    /// Which model; none for the head of the file.
    pub(super) model: Option<usize>,
    /// None for what is not there.
    pub(super) key: Option<&'static str>,
    /// Row and column of a matrix, or position in a list.
    pub(super) entry: Vec<usize>,
    error: Error,
}

impl Misfit {
    /// About a key before the models.
    pub(super) fn in_head(key: &'static str, message: impl Into<String>) -> Self {
        Self { model: None, key: Some(key), entry: Vec::new(), error: Error::new(Code::ModelFile, message) }
    }

    /// About a key of a model.
    pub(super) fn of(model: usize, key: &'static str, message: impl Into<String>) -> Self {
        Self { model: Some(model), ..Self::in_head(key, message) }
    }

    /// About a part that the file does not mention.
    pub(super) fn nowhere(part: &str) -> Self {
        let misfit = Self::in_head("model", format!("there is no model of `{part}`"));
        Self { key: None, ..misfit }
            .because("the file has only models of other parts")
            .hint("`costep identify SYSTEM --out FILE` writes those of all parts of a system")
    }

    fn at(self, entry: &[usize]) -> Self {
        Self { entry: entry.to_vec(), ..self }
    }

    fn because(self, cause: impl std::fmt::Display) -> Self {
        Self { error: self.error.because(cause), ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { error: self.error.hint(hint), ..self }
    }

    fn suggest<'a>(self, wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        Self { error: self.error.suggest(wrong, candidates), ..self }
    }

    /// For those who have no file.
    pub(super) fn into_error(self) -> Error {
        self.error
    }
}

impl ModelFile {
    /// Whether the models are models, whatever the system is.
    pub(super) fn check(&self) -> Result<(), Misfit> {
        if !SOURCES.contains(&self.source.as_str()) {
            return Err(Misfit::in_head("source", format!("`source` is `{}`", short(&self.source)))
                .hint(format!("one of {}", SOURCES.join(", "))));
        }
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(Misfit::in_head("step", format!("`step` is {}", self.step))
                .hint("the macro step in s, more than 0"));
        }
        for (key, order) in [("n", self.n), ("m", self.m)] {
            if order == 0 {
                return Err(Misfit::in_head(key, format!("`{key}` is 0"))
                    .hint("orders of `rls` are at least 1; they are 1 for other sources"));
            }
        }
        self.models.iter().enumerate().try_for_each(|(i, model)| model.check(i))
    }

    /// Whether all models are of parts of the system, each once.
    pub(super) fn check_parts<'a>(
        &self,
        parts: impl Iterator<Item = &'a Description> + Clone,
    ) -> Result<(), Misfit> {
        let known = || parts.clone().filter(|part| !part.outputs.is_empty()).map(|part| &part.name[..]);
        for (i, model) in self.models.iter().enumerate() {
            if !known().any(|name| name == model.part) {
                let message = format!("the system has no part `{}` with outputs", short(&model.part));
                let misfit = Misfit::of(i, "part", message);
                let is_foreign = !self.models.iter().any(|model| known().any(|name| name == model.part));
                return Err(match is_foreign {
                    true => misfit.hint(format!(
                        "these are models of `{}`: `costep identify SYSTEM --out FILE` makes those of this system",
                        short(&self.system)
                    )),
                    false => misfit.suggest(&model.part, known()),
                });
            }
            if self.models[..i].iter().any(|other| other.part == model.part) {
                return Err(Misfit::of(i, "part", format!("there are two models of `{}`", model.part))
                    .hint("keep one of them"));
            }
        }
        Ok(())
    }
}

impl NamedModel {
    fn check(&self, i: usize) -> Result<(), Misfit> {
        let (n, m) = (self.outputs.len(), self.inputs.len());
        for (key, rows, width) in [("s_y", &self.s_y, n), ("s_u", &self.s_u, m), ("s_p", &self.s_p, m)] {
            self.check_rows(i, key, rows, width)?;
        }
        self.check_list(i, "offset", &self.offset, ("outputs", n))?;
        self.check_list(i, "output_sizes", &self.output_sizes, ("outputs", n))?;
        self.check_list(i, "input_sizes", &self.input_sizes, ("inputs", m))?;
        for (key, eps) in [("eps_si", self.eps_si), ("eps_hold", self.eps_hold)] {
            if eps.is_nan() || eps < 0.0 {
                return Err(self
                    .wrong(i, key, format!("is {eps}"))
                    .hint("an error, 0 or more; inf if unknown"));
            }
        }
        Ok(())
    }

    fn wrong(&self, i: usize, key: &'static str, what: String) -> Misfit {
        Misfit::of(i, key, format!("`{key}` of `{}` {what}", short(&self.part)))
    }

    fn check_rows(&self, i: usize, key: &'static str, rows: &[Vec<f64>], width: usize) -> Result<(), Misfit> {
        let n = self.outputs.len();
        let columns = if key == "s_y" { "output" } else { "input" };
        let hint = format!("one row per output, in each one number per {columns}");
        if rows.len() != n {
            let what = format!("is not {n} rows of {width} numbers");
            return Err(self.wrong(i, key, what).because(format!("it has {} rows", rows.len())).hint(hint));
        }
        for (r, row) in rows.iter().enumerate() {
            if row.len() != width {
                let cause = format!("row {} has {} numbers", r + 1, row.len());
                let what = format!("is not {n} rows of {width} numbers");
                return Err(self.wrong(i, key, what).because(cause).hint(hint).at(&[r]));
            }
            if let Some(c) = row.iter().position(|value| !value.is_finite()) {
                let cause = format!("number {} of row {} is {}", c + 1, r + 1, row[c]);
                let misfit = self.wrong(i, key, "has a number that is not finite".into());
                return Err(misfit.because(cause).hint(AGAIN).at(&[r, c]));
            }
        }
        Ok(())
    }

    fn check_list(
        &self,
        i: usize,
        key: &'static str,
        values: &[f64],
        (of, length): (&str, usize),
    ) -> Result<(), Misfit> {
        if values.len() != length {
            let misfit = self.wrong(i, key, format!("is not {length} numbers"));
            return Err(misfit
                .because(format!("it has {}", values.len()))
                .hint(format!("one for each of `{of}`")));
        }
        let is_possible = |value: f64| value.is_finite() && (key == "offset" || value >= 0.0);
        match values.iter().position(|value| !is_possible(*value)) {
            None => Ok(()),
            Some(at) => {
                let cause = format!("number {} is {}", at + 1, values[at]);
                let misfit = self.wrong(i, key, "has an invalid number".into());
                Err(misfit.because(cause).hint(AGAIN).at(&[at]))
            }
        }
    }

    /// Whether the part has the ports of this model, the i-th in the file.
    pub(super) fn check_ports(&self, i: usize, part: &Description) -> Result<(), Misfit> {
        for (key, mine, its) in
            [("inputs", &self.inputs, &part.inputs), ("outputs", &self.outputs, &part.outputs)]
        {
            let its: Vec<_> = its.iter().map(|port| port.name.as_str()).collect();
            if *mine != its {
                let message = format!("the model of `{}` has other {key} than the part", self.part);
                let list = |names: &[&str]| short(&names.join(", "));
                let mine: Vec<_> = mine.iter().map(String::as_str).collect();
                return Err(Misfit::of(i, key, message)
                    .because(format!("[{}], not [{}]", list(&mine), list(&its)))
                    .hint("names and order must be those of this system: identify it again"));
            }
        }
        Ok(())
    }
}

/// What to do about numbers that nothing can be made of.
const AGAIN: &str = "write the file again with `costep identify SYSTEM --out FILE`";

/// Names of hostile files may be long.
pub(super) fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}
