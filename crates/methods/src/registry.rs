//! The list of coupling methods, from which the command line, project files, documentation and the
//! conformance tests derive.

use costep_core::{Code, CouplingMethod, Error, MethodEntry, Options, Result, Value};

use crate::{auto, feedthrough, foh, identified, mbcorr, nepce, predictive, prestep, soh, zoh};

/// Every coupling method.
pub static METHODS: &[MethodEntry] = &[
    auto::ENTRY,
    zoh::ENTRY,
    foh::ENTRY,
    soh::ENTRY,
    nepce::ENTRY,
    feedthrough::ENTRY,
    mbcorr::ENTRY,
    prestep::ENTRY,
    predictive::ENTRY,
    identified::ENTRY,
];

/// The entry with this name.
pub fn find(id: &str) -> Result<&'static MethodEntry> {
    METHODS.iter().find(|entry| entry.id == id).ok_or_else(|| {
        Error::new(Code::UnknownMethod, format!("unknown coupling method `{id}`"))
            .suggest(id, METHODS.iter().map(|entry| entry.id))
    })
}

/// A method with checked options.
#[derive(Clone)]
pub struct MethodSpec {
    /// Its row in the registry.
    pub entry: &'static MethodEntry,
    /// A value for each of its options.
    pub options: Options,
    given: Vec<(String, Value)>,
}

impl MethodSpec {
    /// The method with this name and these options.
    pub fn new(id: &str, given: Vec<(String, Value)>) -> Result<Self> {
        let entry = find(id)?;
        let options = Options::check(id, entry.options, &given)?;
        Ok(Self { entry, options, given })
    }

    /// Reads `nepce` or `nepce:reference=applied,alpha=1`.
    pub fn parse(text: &str) -> Result<Self> {
        let (id, options) = text.split_once(':').unwrap_or((text, ""));
        let given = options.split(',').filter(|option| !option.trim().is_empty()).map(|option| {
            let (name, value) = option.split_once('=').ok_or_else(|| {
                Error::new(Code::BadOption, format!("`{option}` in `{text}` is not an option"))
                    .hint("write `method:name=value,name=value`")
            })?;
            Ok((name.trim().to_owned(), Value::parse(value.trim())))
        });
        Self::new(id.trim(), given.collect::<Result<_>>()?)
    }

    /// A fresh instance.
    pub fn build(&self) -> Box<dyn CouplingMethod> {
        (self.entry.build)(&self.options)
    }

    /// The text it was made from: the name and the options that were given.
    pub fn label(&self) -> String {
        let options: Vec<_> = self.given.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if options.is_empty() {
            self.entry.id.into()
        } else {
            format!("{}:{}", self.entry.id, options.join(","))
        }
    }

    /// The options that were given.
    pub fn given(&self) -> &[(String, Value)] {
        &self.given
    }
}

/// Splits `zoh,nepce:reference=applied,alpha=1,foh` into methods: an item with `=` and no `:` is a further
/// option of the method before it.
pub fn parse_list(text: &str) -> Result<Vec<MethodSpec>> {
    let mut items: Vec<String> = Vec::new();
    for item in text.split(',').filter(|item| !item.trim().is_empty()) {
        match items.last_mut() {
            Some(last) if item.contains('=') && !item.contains(':') => *last = format!("{last},{item}"),
            _ => items.push(item.into()),
        }
    }
    items.iter().map(|item| MethodSpec::parse(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        for (i, entry) in METHODS.iter().enumerate() {
            assert!(entry.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(METHODS[..i].iter().all(|other| other.id != entry.id));
        }
    }

    #[test]
    fn lists_keep_options_with_their_method() {
        let list = parse_list("zoh, nepce:reference=applied,alpha=0.5,foh").unwrap();
        let labels: Vec<_> = list.iter().map(MethodSpec::label).collect();
        assert_eq!(labels, ["zoh", "nepce:reference=applied,alpha=0.5", "foh"]);
        assert_eq!(list[1].options.real("alpha"), 0.5);
    }

    #[test]
    fn slips_are_named() {
        let error = |text| MethodSpec::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error("nepec").contains("did you mean `nepce`?"));
        assert!(error("nepce:alpha").contains("is not an option"));
        assert!(error("foh:alpha=1").contains("no option `alpha`"));
    }
}
