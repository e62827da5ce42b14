//! The registries of methods and sources, and what can be written of them.

use costep_core::{Code, Condition, MethodEntry, OptionSpec, Options, SourceEntry, Value};
use costep_ident::sources::{SOURCES, Sources};
use costep_methods::registry::all;
use costep_methods::{METHODS, MethodSpec, Methods, models};

fn of_papers(entry: &MethodEntry) -> &'static [OptionSpec] {
    entry.papers.map_or(&[], |papers| papers.options)
}

fn own_options(entry: &MethodEntry) -> impl Iterator<Item = &'static OptionSpec> {
    entry.options.iter().chain(of_papers(entry))
}

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
        check_conditions(entry.id, &[entry.options, of_papers(entry)]);
        for condition in own_options(entry).flat_map(|option| option.only_with) {
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
        for option in own_options(entry) {
            let has_it = |source: &&SourceEntry| source.options.iter().any(|other| other.name == option.name);
            let of_both = SOURCES.iter().filter(|source| entry.models.contains(&source.kind)).find(has_it);
            assert!(of_both.is_none() && option.name != "source", "{}: {}", entry.id, option.name);
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
        let both = both.with_models(&Sources::standard().parse(models).unwrap()).unwrap();
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
        let spec =
            MethodSpec::parse(method).unwrap().with_models(&Sources::standard().parse(models).unwrap());
        spec.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refusal("prestep", "probe").contains("cannot be `probe`"));
    assert!(refusal("feedthrough", "rls").contains("allowed: exact | finite-difference | probe"));
    assert!(refusal("lis", "rls").contains("does not use a choice of models"));
    assert!(refusal("prestep:source=rls", "moesp").contains("both say where models come from"));
    // Who uses none does not mind.
    assert_eq!(refusal("zoh", "rls") + &refusal("auto", "probe"), "");
}

#[test]
fn options_without_effect_are_named() {
    let warnings =
        |text: &str| MethodSpec::parse(text).unwrap().warnings().map(|w| w.to_string()).collect::<Vec<_>>();
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
        let named = found.iter().zip(&names).all(|(warning, name)| warning.contains(&format!("`{name}`")));
        assert!(named, "{text}: {found:?}");
    }
}

#[test]
fn lists_keep_options_with_their_method() {
    let list = Methods::standard().parse_list("zoh, nepce:reference=applied,alpha=0.5,foh").unwrap();
    let labels: Vec<_> = list.iter().map(MethodSpec::label).collect();
    assert_eq!(labels, ["zoh", "nepce:reference=applied,alpha=0.5", "foh"]);
    assert_eq!(list[1].options.read("alpha"), Some(0.5));
    let list = Methods::standard().parse_list("mbcorr:source=from-file,file=C:/models.toml,zoh").unwrap();
    let file = Some(Value::Text("C:/models.toml".into()));
    assert_eq!((list.len(), list[0].models.options.get("file").cloned()), (2, file));
    let list = Methods::standard().parse_list("zoh,foh,zoh").unwrap();
    assert_eq!(list.iter().map(MethodSpec::label).collect::<Vec<_>>(), ["zoh", "foh"]);
}

#[test]
fn groups_share_one_source() {
    let specs =
        |texts: &[&str]| texts.iter().map(|text| MethodSpec::parse(text).unwrap()).collect::<Vec<_>>();
    assert!(models(&specs(&["zoh", "mbcorr:refresh=never", "nepce", "predictive:refresh=never"])).is_ok());
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
    // What is left at its default takes the models of the others, if it can work with them.
    assert_eq!(refused(&["zoh:feedthrough=true", "mbcorr:refresh=never"]), None);
    assert_eq!(refused(&["zoh:feedthrough=true", "mbcorr:source=rls"]), Some(Code::BadOption));
}

#[test]
fn slips_are_named() {
    let error = |text| MethodSpec::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("nepec").contains("did you mean `nepce`?"));
    assert!(error("nepce:alpha").contains("is not an option"));
    assert!(error("predictive:order=2,order=3").contains("`order` of method `predictive` is given twice"));
    assert!(error("foh:alpha=1").contains("no option `alpha`"));
    // Responses do not tell the coordinates that it depends on.
    assert!(error("prestep:source=probe").contains("cannot be `probe`"));
}
