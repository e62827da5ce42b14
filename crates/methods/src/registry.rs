//! The list of coupling methods, from which the command line, project files, documentation and the
//! conformance tests derive.

use costep_core::{Code, CouplingMethod, Error, MethodEntry, ModelSource, NoModels, Options, Result, Value};

use costep_ident::sources;

use crate::{
    auto, feedthrough, foh, identified, lis, mbcorr, monolithic, nepce, predictive, prestep, soh, zoh,
};

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
    lis::ENTRY,
    identified::ENTRY,
];

/// All that users can write as a method: the coupling methods, and none at all.
pub fn all() -> impl Iterator<Item = &'static MethodEntry> {
    METHODS.iter().chain([&monolithic::ENTRY])
}

/// The entry with this name.
pub fn find(id: &str) -> Result<&'static MethodEntry> {
    all().find(|entry| entry.id == id).ok_or_else(|| {
        Error::new(Code::UnknownMethod, format!("unknown coupling method `{id}`"))
            .suggest(id, all().map(|entry| entry.id))
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

    /// The source of local models that its options ask for.
    pub fn models(&self) -> Box<dyn ModelSource> {
        costep_ident::sources::from_options(&self.options)
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

    /// What was given and changes nothing beside the other options.
    pub fn warnings(&self) -> impl Iterator<Item = Error> {
        self.options.without_effect(self.entry.options).map(|(name, missing)| {
            let missing: Vec<_> = missing.iter().map(|condition| format!("`{condition}`")).collect();
            let message = format!("option `{name}` of `{}` has no effect", self.label());
            Error::new(Code::OptionWithoutEffect, message)
                .because(format!("it is only for {}", missing.join(" and ")))
                .hint("leave it out, or choose what it belongs to")
        })
    }

    /// The options that were given.
    pub fn given(&self) -> &[(String, Value)] {
        &self.given
    }
}

/// The one source of local models for several groups.
pub fn models<'a>(methods: impl IntoIterator<Item = &'a MethodSpec>) -> Result<Box<dyn ModelSource>> {
    let choice = |spec: &MethodSpec| sources::Chosen::new(&spec.options);
    let mut chosen: Option<&MethodSpec> = None;
    for spec in methods {
        match chosen {
            Some(before) if choice(spec).is_none() || choice(before) == choice(spec) => {}
            Some(before) if choice(before).is_some() => {
                let message =
                    format!("`{}` and `{}` ask for different local models", before.label(), spec.label());
                return Err(Error::new(Code::BadOption, message)
                    .hint("give `source` and its options alike in all groups"));
            }
            _ => chosen = Some(spec),
        }
    }
    Ok(chosen.map_or_else(|| Box::new(NoModels) as _, MethodSpec::models))
}

/// Splits `zoh,nepce:reference=applied,alpha=1,foh` into methods: an item with `=` and no `:` is a further
/// option of the method before it.
pub fn parse_list(text: &str) -> Result<Vec<MethodSpec>> {
    let mut items: Vec<String> = Vec::new();
    for item in text.split(',').filter(|item| !item.trim().is_empty()) {
        match items.last_mut() {
            // A colon after the `=` belongs to the value.
            Some(last) if item.split_once('=').is_some_and(|(name, _)| !name.contains(':')) => {
                *last = format!("{last},{item}");
            }
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
    fn conditions_are_on_options_of_the_method() {
        for entry in all() {
            for condition in entry.options.iter().flat_map(|option| option.only_with) {
                let on = entry.options.iter().find(|option| option.name == condition.option);
                let on = on.unwrap_or_else(|| panic!("{}: no option `{}`", entry.id, condition.option));
                // Not every method has every source.
                let known = |value: &&str| {
                    Options::check(entry.id, entry.options, &[(on.name.into(), Value::parse(value))]).is_ok()
                };
                assert!(condition.among.iter().any(known), "{}: {condition}", entry.id);
            }
        }
    }

    #[test]
    fn options_without_effect_are_named() {
        let warnings = |text: &str| {
            MethodSpec::parse(text).unwrap().warnings().map(|w| w.to_string()).collect::<Vec<_>>()
        };
        for text in [
            "prestep:ede=true,ede_solver=euler,ede_steps=7",
            "prestep:paper=true,input=ramp,phi_steps=543",
            "predictive:states=kalman,input_error=0.2",
            "mbcorr:source=rls,n=2,learning=100,fallback=foh",
            "predictive:source=probe,every=10,amplitude=0.1",
            "nepce:reference=applied,alpha=0.5",
        ] {
            assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
        }
        for (text, names) in [
            ("prestep:ede_steps=7", vec!["ede_steps"]),
            ("prestep:modified=true,target=trapezoid,scaled=false", vec!["target", "scaled"]),
            ("predictive:n=2,window=100", vec!["n", "window"]),
            ("predictive:source=rls,order=1", vec!["order"]),
            ("mbcorr:refresh=never,every=5", vec!["every"]),
            ("mbcorr:source=rls,order=1", vec!["order"]),
            ("mbcorr:source=ij-rls,n=2,file=x.toml", vec!["n", "file"]),
            ("predictive:source=from-file,file=x.toml,samples=2", vec!["samples"]),
            ("lis:implicitness=0.5", vec!["implicitness"]),
        ] {
            let found = warnings(text);
            assert_eq!(found.len(), names.len(), "{text}: {found:?}");
            let named =
                found.iter().zip(&names).all(|(warning, name)| warning.contains(&format!("`{name}`")));
            assert!(named, "{text}: {found:?}");
        }
    }

    #[test]
    fn lists_keep_options_with_their_method() {
        let list = parse_list("zoh, nepce:reference=applied,alpha=0.5,foh").unwrap();
        let labels: Vec<_> = list.iter().map(MethodSpec::label).collect();
        assert_eq!(labels, ["zoh", "nepce:reference=applied,alpha=0.5", "foh"]);
        assert_eq!(list[1].options.real("alpha"), 0.5);
        let list = parse_list("mbcorr:source=from-file,file=C:/models.toml,zoh").unwrap();
        assert_eq!((list.len(), list[0].options.text("file")), (2, "C:/models.toml"));
    }

    #[test]
    fn groups_share_one_source() {
        let specs =
            |texts: &[&str]| texts.iter().map(|text| MethodSpec::parse(text).unwrap()).collect::<Vec<_>>();
        assert!(
            models(&specs(&["zoh", "mbcorr:refresh=never", "nepce", "predictive:refresh=never"])).is_ok()
        );
        let refused = |texts: &[&str]| models(&specs(texts)).err().map(|error| error.code());
        assert_eq!(refused(&["zoh", "mbcorr:refresh=never", "predictive"]), Some(Code::BadOption));
        // A probe is not renewed unless something is said of it, be it the default.
        for (probes, expected) in [("refresh=never", None), ("every=1", Some(Code::BadOption))] {
            let other = format!("predictive:source=probe,{probes}");
            assert_eq!(refused(&["mbcorr:source=probe", &other]), expected, "{other}");
        }
        // Not all methods have all options of sources.
        assert_eq!(refused(&["feedthrough", "prestep", "predictive"]), None);
        assert_eq!(refused(&["prestep:source=rls", "mbcorr:source=rls"]), None);
    }

    #[test]
    fn slips_are_named() {
        let error = |text| MethodSpec::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error("nepec").contains("did you mean `nepce`?"));
        assert!(error("nepce:alpha").contains("is not an option"));
        assert!(
            error("predictive:order=2,order=3").contains("`order` of method `predictive` is given twice")
        );
        assert!(error("foh:alpha=1").contains("no option `alpha`"));
        // Responses do not tell the coordinates that it depends on.
        assert!(error("prestep:source=probe").contains("cannot be `probe`"));
    }
}
