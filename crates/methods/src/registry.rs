//! The list of coupling methods, from which the command line, project files, documentation and the
//! conformance tests derive.

use costep_core::models_spec::{labelled, parse_label, without_effect};
use costep_core::{
    Code, Condition, CouplingMethod, Error, MethodEntry, ModelSource, ModelsSpec, NoModels, OptionSpec,
    Options, Result, SourceEntry, Value,
};
use costep_ident::sources::SOURCES;

use crate::spelling::{self, Idle, SOURCE, Spelling};
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

/// A method with checked options, and the source of the models that it works with.
#[derive(Clone)]
pub struct MethodSpec {
    /// Its row in the registry.
    pub entry: &'static MethodEntry,
    /// A value for each of its options.
    pub options: Options,
    /// Where its models come from; the default where nothing was said, or where it uses none.
    pub models: ModelsSpec,
    /// As it was written.
    given: Vec<(String, Value)>,
    told: Told,
    /// Options of sources that were given beside another source.
    idle: Vec<Idle>,
}

/// Where it is said which models a method works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nowhere,
    /// Among the options of the method.
    WithMethod,
    /// Beside the method.
    Apart,
}

impl MethodSpec {
    /// The method with this name and these options, `source` and the options of sources among them.
    pub fn new(id: &str, given: Vec<(String, Value)>) -> Result<Self> {
        let entry = find(id)?;
        let Spelling { own, models, idle } = spelling::split(entry, &given)?;
        let told = if models.is_some() || !idle.is_empty() { Told::WithMethod } else { Told::Nowhere };
        let models = models.map_or_else(|| ModelsSpec::new(&SOURCES[0], Vec::new()), Ok)?;
        let options = Options::check(&format!("method `{id}`"), &tables(entry), &own)?;
        Ok(Self { entry, options, models, given, told, idle }.settled())
    }

    /// Reads `nepce` or `nepce:reference=applied,alpha=1`.
    pub fn parse(text: &str) -> Result<Self> {
        let (id, given) = parse_label(text)?;
        Self::new(id, given)
    }

    /// The same with models from this source, which is given beside the method. A method that uses no models with its
    /// options stays as it is.
    pub fn with_models(self, models: &ModelsSpec) -> Result<Self> {
        if self.told == Told::WithMethod {
            let message =
                format!("`{}` and `{}` both say where models come from", self.label(), models.label());
            return Err(Error::new(Code::Conflict, message).hint("leave one of them out"));
        }
        if !self.uses_models() {
            return Ok(self);
        }
        spelling::check_kind(self.entry, models.entry)?;
        // Defaults of a paper depend on the models: they are set anew.
        let own: Vec<_> = self.given.clone();
        let options = Options::check(&format!("method `{}`", self.entry.id), &tables(self.entry), &own)?;
        Ok(Self { options, models: models.clone(), told: Told::Apart, ..self }.settled())
    }

    /// With the defaults of a paper, where they are asked for.
    fn settled(mut self) -> Self {
        if let Some(papers) = self.entry.papers {
            (papers.settle)(&mut self.options, &mut self.models);
        }
        self
    }

    /// A fresh instance.
    pub fn build(&self) -> Box<dyn CouplingMethod> {
        (self.entry.build)(&self.options, &self.models)
    }

    /// The source of models that it works with.
    pub fn models(&self) -> Box<dyn ModelSource> {
        self.models.build()
    }

    /// Whether it uses models of the subsystems with its options, as far as is known before it sees them.
    pub fn uses_models(&self) -> bool {
        let needs = self.build().needs();
        needs.local_models || needs.feedthrough
    }

    /// The text it can be made from: the name and the options that were given, those of the models among them.
    pub fn label(&self) -> String {
        let mut given = self.given.clone();
        if self.told == Told::Apart {
            given.push((SOURCE.into(), Value::Text(self.models.entry.id.into())));
            given.extend(self.models.given().iter().cloned());
        }
        labelled(self.entry.id, &given)
    }

    /// What was given and changes nothing beside the other options.
    pub fn warnings(&self) -> impl Iterator<Item = Error> {
        let specs = tables(self.entry).into_iter().flatten();
        let own = self.options.without_effect(specs, self.models.entry.kind);
        let with_method = self.told == Told::WithMethod;
        let models = self.models.options.without_effect(self.models.entry.options, self.models.entry.kind);
        let models = models.filter(move |_| with_method);
        let text = |missing: Vec<Condition>| {
            let texts: Vec<_> =
                missing.iter().map(|condition| format!("`{}`", condition_text(condition))).collect();
            texts.join(" and ")
        };
        let idle = self.idle.iter().map(|idle| (idle.option, format!("`{}`", idle.belongs_to())));
        let unused = (with_method && self.models_are_unused())
            .then(|| (SOURCE, "methods that use models of the subsystems".to_owned()));
        let all =
            own.chain(models).map(move |(name, missing)| (name, text(missing))).chain(idle).chain(unused);
        all.map(|(name, belongs_to)| without_effect(name, &self.label(), &belongs_to))
    }

    /// Whether a source was named for nothing.
    fn models_are_unused(&self) -> bool {
        self.given.iter().any(|(name, _)| name == SOURCE) && !self.uses_models()
    }

    /// The options that were given with the method.
    pub fn given(&self) -> &[(String, Value)] {
        &self.given
    }

    /// Whether its own options say where models come from.
    pub fn names_models(&self) -> bool {
        self.told == Told::WithMethod
    }

    /// Whether it insists on its source of models: others can do with any that fits.
    fn insists(&self) -> bool {
        !self.entry.models.is_empty() && (self.told != Told::Nowhere || self.build().needs().local_models)
    }
}

/// All options of a method: its own, and those that follow a paper.
fn tables(entry: &MethodEntry) -> [&'static [OptionSpec]; 2] {
    [entry.options, entry.papers.map_or(&[][..], |papers| papers.options)]
}

/// Everything that can be written as an option of a method: its own, those that follow a paper, and those of the sources
/// that it can work with, but for `source` itself.
pub fn all_options(entry: &MethodEntry) -> impl Iterator<Item = &'static OptionSpec> {
    let of_sources = sources_of(entry).flat_map(|source| source.options);
    tables(entry).into_iter().flatten().chain(of_sources)
}

/// The sources whose models a method can work with.
pub fn sources_of(entry: &MethodEntry) -> impl Iterator<Item = &'static SourceEntry> {
    let kinds = entry.models;
    SOURCES.iter().filter(move |source| kinds.contains(&source.kind))
}

/// What an option depends on; models by the sources that give them.
pub fn condition_text(condition: &Condition) -> String {
    match condition {
        Condition::Models(kinds) => {
            let fits = |entry: &&SourceEntry| kinds.contains(&entry.kind);
            let ids: Vec<_> = SOURCES.iter().filter(fits).map(|entry| entry.id).collect();
            format!("{SOURCE}={}", ids.join("|"))
        }
        Condition::Option { .. } => condition.to_string(),
    }
}

/// The one source of models for several groups.
pub fn models<'a>(methods: impl IntoIterator<Item = &'a MethodSpec>) -> Result<Box<dyn ModelSource>> {
    let methods: Vec<_> = methods.into_iter().collect();
    let mut insisting = methods.iter().filter(|spec| spec.insists());
    let Some(first) = insisting.next() else {
        return Ok(methods.first().map_or_else(|| Box::new(NoModels) as _, |spec| spec.models()));
    };
    if let Some(other) = insisting.find(|spec| spec.models != first.models) {
        let message = format!("`{}` and `{}` ask for different local models", first.label(), other.label());
        return Err(Error::new(Code::BadOption, message).hint(
            "give `source` and its options alike in all groups, or once for all: [models], `--models`",
        ));
    }
    Ok(first.models())
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
    use costep_ident::sources;

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
            check_conditions(entry.id, &tables(entry));
            for condition in tables(entry).into_iter().flatten().flat_map(|option| option.only_with) {
                // Not every method has every source.
                if let Condition::Models(kinds) = condition {
                    assert!(kinds.iter().any(|kind| entry.models.contains(kind)), "{}", entry.id);
                }
            }
        }
        SOURCES.iter().for_each(|source| check_conditions(source.id, &[source.options]));
    }

    fn check_conditions(id: &str, tables: &[&'static [OptionSpec]]) {
        for condition in tables.iter().copied().flatten().flat_map(|option| option.only_with) {
            let Condition::Option { name, among } = condition else { continue };
            for value in *among {
                let given = [((*name).into(), Value::parse(value))];
                assert!(Options::check(id, tables, &given).is_ok(), "{id}: {condition}");
            }
        }
    }

    #[test]
    fn a_method_and_its_sources_have_no_option_in_common_and_about_ten_of_its_own() {
        for entry in all() {
            assert!(entry.options.len() <= 10, "{}: {} options", entry.id, entry.options.len());
            for option in tables(entry).into_iter().flatten() {
                let has_it =
                    |source: &&SourceEntry| source.options.iter().any(|other| other.name == option.name);
                let of_both =
                    SOURCES.iter().filter(|source| entry.models.contains(&source.kind)).find(has_it);
                assert!(of_both.is_none() && option.name != SOURCE, "{}: {}", entry.id, option.name);
            }
        }
    }

    #[test]
    fn both_spellings_say_the_same() {
        for (one, method, models) in [
            ("prestep:source=rls,n=2,forgetting=0.98", "prestep", "rls:n=2,forgetting=0.98"),
            ("prestep:paper=true,source=moesp", "prestep:paper=true", "moesp"),
            ("mbcorr:alpha=0.5,source=probe,every=3", "mbcorr:alpha=0.5", "probe:every=3"),
            ("zoh:feedthrough=true,source=finite-difference", "zoh:feedthrough=true", "finite-difference"),
        ] {
            let one = MethodSpec::parse(one).unwrap();
            let both = MethodSpec::parse(method).unwrap();
            let both = both.with_models(&sources::parse(models).unwrap()).unwrap();
            assert_eq!(one.label(), both.label());
            assert!(one.options.iter().eq(both.options.iter()), "{method}");
            assert!(one.models.options.iter().eq(both.models.options.iter()), "{method} {models}");
            assert_eq!(MethodSpec::parse(&both.label()).unwrap().label(), both.label());
        }
    }

    #[test]
    fn a_paper_sets_defaults_of_method_and_source() {
        let value = |text: &str, option: &str| {
            let spec = MethodSpec::parse(text).unwrap();
            spec.options.get(option).or_else(|| spec.models.options.get(option)).cloned()
        };
        let moesp = "prestep:source=moesp,paper=true";
        assert_eq!(value(moesp, "ede"), Some(Value::Bool(false)));
        assert_eq!(
            (value(moesp, "interval"), value(moesp, "range")),
            (Some(Value::Integer(1)), Some(Value::Integer(0)))
        );
        assert_eq!(value("prestep:source=moesp,paper=true,interval=7", "interval"), Some(Value::Integer(7)));
        assert_eq!(value("prestep:source=rls,paper=true", "ede"), Some(Value::Bool(true)));
        assert_eq!(value("prestep:source=rls,paper=true", "scaled"), Some(Value::Bool(true)));
        assert_eq!(value("prestep:paper=true", "scaled"), Some(Value::Bool(false)));
        assert_eq!(value("prestep:paper=true,scaled=true", "scaled"), Some(Value::Bool(true)));
    }

    #[test]
    fn methods_refuse_models_that_they_cannot_work_with() {
        let refusal = |method: &str, models: &str| {
            let spec = MethodSpec::parse(method).unwrap().with_models(&sources::parse(models).unwrap());
            spec.err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(refusal("prestep", "probe").contains("cannot be `probe`"));
        assert!(refusal("feedthrough", "rls").contains("allowed: exact | finite-difference | probe"));
        assert!(refusal("lis", "rls").contains("no choice of models"));
        assert!(refusal("prestep:source=rls", "moesp").contains("both say where models come from"));
        // Who uses none does not mind.
        assert_eq!(refusal("zoh", "rls") + &refusal("auto", "probe"), "");
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
            ("predictive:source=probe,refresh=never,every=5", vec!["every"]),
            ("zoh:source=probe", vec!["source"]),
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
        assert_eq!(list[1].options.read("alpha"), Some(0.5));
        let list = parse_list("mbcorr:source=from-file,file=C:/models.toml,zoh").unwrap();
        let file = Some(Value::Text("C:/models.toml".into()));
        assert_eq!((list.len(), list[0].models.options.get("file").cloned()), (2, file));
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
