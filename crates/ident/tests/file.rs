//! Identified models in files: written, read, refused, and taken over to other steps.

#[path = "common/ports.rs"]
mod ports;

use std::path::Path;

use costep_core::{
    Code, Error, Experiment, InterfaceModel, Interval, ModelSource, Observation, Place, Result, StateReader,
    StateWriter, Subsystem, profiles,
};
use costep_ident::{
    Algorithm, InputForm, Learning, LearningSettings, ModelFile, NamedModel, StoredModels, resample,
    resample_arx, resample_by,
};
use ports::Ports;

/// One input, two outputs.
fn pair() -> Ports {
    Ports::new("pair", &["u"], &["a", "b"], false)
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(close), "{found:?} {expected:?}");
}

fn model() -> InterfaceModel {
    InterfaceModel {
        inputs: 1,
        outputs: 2,
        d_y: vec![0.9, 0.1, -0.2, 0.8],
        d_u: vec![0.01, 0.0],
        d_up: vec![0.05, 0.3],
        offset: vec![0.0, 0.02],
    }
}

fn arx() -> InterfaceModel {
    InterfaceModel { d_y: vec![0.9, 0.0, 0.0, 0.8], d_u: vec![0.0; 2], offset: vec![0.0; 2], ..model() }
}

fn file(source: &str, model: &InterfaceModel) -> ModelFile {
    let named = NamedModel::new(&pair().description, model, (0.01, 0.1), (&[3.0], &[2.0, 5.0]));
    ModelFile {
        costep: "1".into(),
        system: "test".into(),
        source: source.into(),
        n: 1,
        m: 1,
        step: 0.1,
        models: vec![named],
    }
}

fn write(folder: &Path, text: &str) -> std::path::PathBuf {
    let path = folder.join("models.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A source that starts from a file, for a step.
fn started(path: &Path, step: f64) -> Result<Learning> {
    let algorithm = Algorithm::IjRls { forgetting: 0.98, start: 1e6 };
    let mut source = Learning::from_file(LearningSettings { algorithm, samples: 1, range: 100 }, path);
    let mut parts: Vec<Box<dyn Subsystem>> = vec![Box::new(pair())];
    let (descriptions, capabilities) = profiles(&mut parts);
    source.prepare(&descriptions, &capabilities, &Experiment { start: 0.0, stop: 10.0, step })?;
    Ok(source)
}

fn refusal(text: &str, step: f64) -> Error {
    let folder = tempfile::tempdir().unwrap();
    started(&write(folder.path(), text), step).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn steps_between_whole_ratios_lie_between_their_models() {
    let fine = model();
    assert_eq!(resample_by(&fine, 3.0, InputForm::Hold), resample(&fine, 3, InputForm::Hold));
    // 0.3 / 0.1 is not 3.
    assert_eq!(resample_by(&fine, 0.3 / 0.1, InputForm::Hold), resample(&fine, 3, InputForm::Hold));
    let (two, three) = (resample(&fine, 2, InputForm::Hold), resample(&fine, 3, InputForm::Hold));
    let between = resample_by(&fine, 2.25, InputForm::Hold);
    for (x, (a, b)) in between.d_y.iter().zip(two.d_y.iter().zip(&three.d_y)) {
        assert_close(&[*x], &[a + 0.25 * (b - a)], 1e-15);
    }
    // The scalar formulas of the thesis.
    for ratio in [0.5, 1.0, 2.25, 7.0] {
        let (a, b) = resample_arx(0.8, ratio);
        let coarse = resample_by(&arx(), ratio, InputForm::Hold);
        assert_close(&[coarse.d_y[3], coarse.d_up[1]], &[a, 0.3 * b], 1e-15);
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = file("moesp", &model());
    written.models[0].eps_si = f64::INFINITY;
    written.models[0].s_p[1][0] = 1.0 / 3.0;
    let path = write(folder.path(), &written.to_toml().unwrap());
    assert_eq!(*StoredModels::read(&path).unwrap().models(), written);
}

#[test]
fn the_models_are_there_at_once_for_the_step_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    for (source, fine) in [("ij-rls", model()), ("rls", arx()), ("moesp", model())] {
        let path = write(folder.path(), &file(source, &fine).to_toml().unwrap());
        let source = started(&path, 0.2).unwrap();
        assert_eq!(source.interface(0), Some(&resample(&fine, 2, InputForm::Hold)));
        assert_eq!((source.name(), source.quality(0).eps_si), ("from-file", 0.01));
    }
}

/// What the subsystem does from now on is what counts: here it is another one than that of the file.
#[test]
fn loaded_models_go_on_learning_and_go_on_after_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, fine) in [("ij-rls", model()), ("rls", arx())] {
        let path = write(folder.path(), &file(kind, &fine).to_toml().unwrap());
        let mut truth = fine.clone();
        truth.d_up = vec![0.1, 0.2];
        let mut source = started(&path, 0.1).unwrap();
        let (mut y, mut u, mut next) = (vec![0.5, -0.3], 0.0, vec![0.0; 2]);
        for k in 0..60 {
            source.observe(0, &mut pair(), &seen(k, &[u], &y)).unwrap();
            if k == 0 {
                assert_close(&source.interface(0).unwrap().d_up, &[0.05, 0.3], 1e-15);
            }
            if k == 30 {
                let mut out = StateWriter::default();
                source.save(&mut out);
                let saved = out.into_bytes();
                source = started(&path, 0.1).unwrap();
                source.load(&mut StateReader::new(&saved)).unwrap();
            }
            let u_next = f64::from(k as u32).mul_add(1.7, 0.3).sin();
            truth.predict(&y, &[u], &[u_next], &mut next);
            y.copy_from_slice(&next);
            u = u_next;
        }
        let found = source.interface(0).unwrap();
        assert_close(&found.d_up, &[0.1, 0.2], 1e-4);
        assert!(source.quality(0).eps_si < 1e-3);
    }
}

fn seen<'a>(k: u64, u: &'a [f64], y: &'a [f64]) -> Observation<'a> {
    let at = k as f64 * 0.1;
    Observation { k, interval: Interval::new(at - 0.1, at), u, y }
}

/// Where two texts begin to differ, counted from 1.
fn first_difference(a: &str, b: &str) -> usize {
    1 + a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count()
}

/// Line, cause and help of a refusal.
fn details(error: &Error) -> (Option<usize>, bool, bool) {
    assert_eq!(error.code(), Code::ModelFile, "{error}");
    let details = error.details();
    let Place::File { path, line, .. } = &details.place else { panic!("{error}") };
    assert!(path.ends_with("models.toml"), "{error}");
    (*line, details.cause.is_some(), details.hint.is_some())
}

#[test]
fn files_that_do_not_fit_are_refused_with_line_and_remedy() {
    let good = file("ij-rls", &model()).to_toml().unwrap();
    let changes = [
        ("part = \"pair\"", "part = \"pear\"", "no part `pear`"),
        ("inputs = [\"u\"]", "inputs = [\"v\"]", "other inputs"),
        ("outputs = [\"a\", \"b\"]", "outputs = [\"b\", \"a\"]", "other outputs"),
        ("[0.9, 0.1]", "[0.9]", "row 1 has 1 numbers"),
        ("offset = [0.0, 0.02]", "offset = [0.0]", "`offset` of `pair` is not 2 numbers"),
        ("offset = [0.0, 0.02]", "offset = [nan, 0.02]", "number 1 is NaN"),
        ("[0.9, 0.1]", "[0.9, inf]", "number 2 of row 1 is inf"),
        ("[0.9, 0.1]", "[0.9, \"x\"]", "not a file of identified models"),
        ("input_sizes = [3.0]", "input_sizes = [-3.0]", "`input_sizes` of `pair`"),
        ("eps_si = 0.01", "eps_si = nan", "`eps_si` of `pair` is NaN"),
        ("eps_hold = 0.1", "eps_hold = -1.0", "`eps_hold` of `pair` is -1"),
        ("step = 0.1", "step = 0.0", "`step` is 0"),
        ("step = 0.1", "step = nan", "`step` is NaN"),
        ("step = 0.1", "step = 1e-300", "cannot be used for"),
        ("source = \"ij-rls\"", "source = \"magic\"", "`source` is `magic`"),
        ("n = 1", "n = 0", "`n` is 0"),
        ("m = 1", "m = 0", "`m` is 0"),
        ("n = 1", "n = -1", "not a file of identified models"),
        ("n = 1", "colour = 1", "unknown key `colour`"),
        ("offset = [", "ofset = [", "did you mean `offset`?"),
        ("n = 1", "n = 1\nn = 2", "duplicate key"),
        ("[[0.9, 0.1]", "[[1e300, 1e300]", "diverges"),
    ];
    for (from, to, said) in changes {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let error = refusal(&text, 0.2);
        assert!(error.to_string().contains(said), "{to}: {error}");
        let (line, _, has_hint) = details(&error);
        let expected = first_difference(&text, &good);
        assert_eq!((line, has_hint), (Some(expected), true), "{to}: {error}");
    }
}

/// In a matrix of many lines the line is that of the number.
#[test]
fn a_number_is_found_where_it_is() {
    let good = file("ij-rls", &model()).to_toml().unwrap();
    let text = good.replacen("[[0.9, 0.1], ", "[\n  [0.9, 0.1],\n  ", 1).replacen("-0.2", "nan", 1);
    assert_ne!(text, good);
    let line = 1 + text[..text.find("nan").unwrap()].matches('\n').count();
    let error = refusal(&text, 0.2);
    assert_eq!(details(&error), (Some(line), true, true), "{error}");
}

#[test]
fn keys_and_models_that_are_missing_are_named() {
    let good = file("ij-rls", &model()).to_toml().unwrap();
    let start = good.find("[[model]]").unwrap();
    let (head, models) = good.split_at(start);
    for key in ["costep", "system", "source", "n", "m", "step"] {
        let kept: Vec<_> = head.lines().filter(|line| !line.starts_with(&format!("{key} = "))).collect();
        let error = refusal(&format!("{}\n{models}", kept.join("\n")), 0.2);
        assert!(error.to_string().contains(&format!("`{key}` is missing")), "{error}");
        assert_eq!(details(&error), (Some(1), true, true), "{error}");
    }
    let keys =
        ["part", "inputs", "outputs", "input_sizes", "output_sizes", "eps_si", "s_y", "s_u", "s_p", "offset"];
    let line = 1 + head.matches('\n').count();
    for key in keys {
        let kept: Vec<_> = models.lines().filter(|line| !line.starts_with(&format!("{key} = "))).collect();
        let error = refusal(&format!("{head}{}", kept.join("\n")), 0.2);
        assert!(error.to_string().contains(&format!("`{key}` is missing")), "{error}");
        assert_eq!(details(&error), (Some(line), true, true), "{error}");
    }
    let twice = format!("{good}\n{models}");
    let error = refusal(&twice, 0.2);
    assert!(error.to_string().contains("two models of `pair`"), "{error}");
    let line = 1 + twice[..twice.rfind("part =").unwrap()].matches('\n').count();
    assert_eq!(details(&error).0, Some(line), "{error}");
    let error = refusal(head, 0.2);
    assert!(error.to_string().contains("no model of `pair`"), "{error}");
    assert_eq!(details(&error), (None, true, true), "{error}");
}

#[test]
fn garbage_is_refused_in_few_words() {
    for garbage in
        ["", "}{", "a = [", "\u{0}", &"[".repeat(100_000), &format!("x = \"{}\"", "y".repeat(100_000))]
    {
        let error = refusal(garbage, 0.2);
        assert_eq!(error.code(), Code::ModelFile);
        assert!(error.to_string().len() < 1000, "{error}");
    }
}

#[test]
fn what_is_no_readable_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let code = |path: &Path| started(path, 0.1).err().map(|error| error.code());
    assert_eq!(code(Path::new("")), Some(Code::BadOption));
    assert_eq!(code(&folder.path().join("missing.toml")), Some(Code::FileNotReadable));
    assert_eq!(code(folder.path()), Some(Code::FileNotReadable));
    let path = folder.path().join("binary.toml");
    std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert_eq!(code(&path), Some(Code::FileNotReadable));
    if cfg!(target_os = "linux") {
        assert_eq!(code(Path::new("/dev/zero")), Some(Code::FileNotReadable));
    }
}
