//! Names of components that can be part of names of signals.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// The next number for each name that is wanted more than once.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// A name for a component with this path: unique, of letters, digits, `_`, `-` and `/`, and as near to
    /// the given one as possible.
    pub fn unique(&mut self, path: &[String]) -> String {
        const LONGEST: usize = 64;
        let plain = |c: char| if c.is_alphanumeric() || "_-/".contains(c) { c } else { '_' };
        let parts: Vec<String> = path.iter().map(|part| part.chars().map(plain).collect()).collect();
        let joined = parts.join("/");
        let mut short: &str = &joined;
        while short.len() > LONGEST {
            let cut = short.char_indices().nth(1).map_or(short.len(), |(at, _)| at);
            short = &short[cut..];
        }
        let words: Vec<&str> = short.split('/').filter(|word| !word.is_empty()).collect();
        let base = if words.is_empty() { "part".to_owned() } else { words.join("/") };
        let mut name = base.clone();
        // Many may have the same name: nobody counts from the start.
        let number = self.numbers.entry(base.clone()).or_insert(2);
        while self.taken.contains(&name) {
            name = format!("{base}_{number}");
            *number += 1;
        }
        self.taken.insert(name.clone());
        name
    }
}
