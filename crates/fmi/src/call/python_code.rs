//! What to do where the Python code of an FMU fails: PythonFMU passes on the text of the exception and no more.

use costep_core::Error;
use costep_fmu_file::ModelDescription;

/// Whether the cause of an error is an exception. It is all that PythonFMU says, whatever it is asked to log.
pub(super) fn is_exception(error: &Error, fmu: &ModelDescription) -> bool {
    let tool = fmu.origin.generation_tool.as_deref();
    let cause = error.details().cause.as_deref().unwrap_or_default();
    tool.is_some_and(|tool| tool.starts_with("PythonFMU")) && cause.contains("py exception")
}

/// An error whose cause is the text of an exception, with what to do about it; other errors as they are. `place` is the code that
/// failed.
pub(super) fn explained(error: Error, fmu: &ModelDescription, place: &str) -> Error {
    if !is_exception(&error, fmu) {
        return error;
    }
    let cause = error.details().cause.clone().unwrap_or_default();
    if let Some(module) = missing_module(&cause) {
        return without_module(error, &module);
    }
    if cause.contains("FileNotFoundError") {
        return error
            .because(format!("a file that its Python code opens is not there: {cause}"))
            .hint(without_file());
    }
    let error = match cause.contains("[initialize]") {
        true => error.because(format!("its Python code failed: {cause}")),
        false => error,
    };
    error.hint(format!(
        "PythonFMU passes on no line number and no traceback, with `log = true` neither: write `import traceback` and, \
         around what {place} does, `try: ... except Exception: traceback.print_exc(); raise`, build the FMU again and run it: \
         the traceback is shown, and in `printed.log` of the run; see docs/howto/python-fmus.md"
    ))
}

/// What to do about a file that is missing: its name is not known, but where it is looked for.
fn without_file() -> String {
    let here = std::env::current_dir().map(|folder| format!(", `{}`", folder.display())).unwrap_or_default();
    format!(
        "relative names are looked for in the current folder{here}: start costep where the file lies, or pack it into the FMU, \
         `pythonfmu build -f FILE.py params.json`, and open `self.resources + \"/params.json\"`"
    )
}

/// The module that Python code could not import, by its words: with a dot if only a part of a package is missing.
pub(super) fn missing_module(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("No module named ")?;
    let module: String = rest
        .trim_start_matches(['\'', '"'])
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
        .collect();
    let module = module.trim_matches('.');
    (!module.is_empty()).then(|| module.to_owned())
}

/// Names that makers give to modules of their own. Packages of these names on PyPI are of others.
const OF_THE_MAKER: [&str; 18] = [
    "common", "config", "core", "example", "examples", "helper", "helpers", "lib", "main", "model", "models",
    "scripts", "src", "test", "tests", "tools", "util", "utils",
];

/// The error of an FMU whose code imports a module that is not there.
pub(super) fn without_module(error: Error, module: &str) -> Error {
    error
        .because(format!("its Python code imports `{module}`, which is not found"))
        .hint(remedy_of_module(module))
}

/// What to do about a module that is missing. Packages are only proposed where it can be one.
fn remedy_of_module(module: &str) -> String {
    let own = "the maker has to pack it into the FMU (`pythonfmu build -f FILE.py MODULE`), or name its folder in PYTHONPATH";
    match module.split_once('.') {
        Some((package, _)) => format!(
            "`{package}` is there without it: it is of another version, or another package of this name comes first; \
             where it is a module of the FMU's maker, {own}"
        ),
        None if OF_THE_MAKER.contains(&module) => {
            format!("by its name it is a module of the FMU's maker: {own}")
        }
        None => format!(
            "if it is a package, install it, `pip install {module}`, in the virtual environment that is active; \
             if it is a module of the FMU's maker, {own}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use costep_core::{Code, Error};
    use costep_fmu_file::ModelDescription;

    use super::{explained, missing_module, remedy_of_module};

    #[test]
    fn exceptions_are_explained_by_what_is_known_of_them() {
        let fmu = |tool: &str| {
            let text = format!(
                r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" generationTool="{tool}">
                <CoSimulation modelIdentifier="m"/><ModelVariables/><ModelStructure/></fmiModelDescription>"#
            );
            ModelDescription::parse(&text).unwrap()
        };
        let text_of = |tool: &str, cause: &str| {
            let cause = format!("Fatal py exception encountered: [initialize] PyObject_Call {cause}");
            let error = Error::new(Code::FmuNotInstantiated, "no instance").because(cause);
            explained(error, &fmu(tool), "`__init__`").to_string()
        };
        let text = text_of("PythonFMU 0.7.0", "NameError(\"name 'x' is not defined\")");
        assert!(
            text.contains("its Python code failed: ") && text.contains("around what `__init__` does"),
            "{text}"
        );
        let text = text_of("PythonFMU 0.7.0", "FileNotFoundError(2, 'No such file or directory')");
        let here = std::env::current_dir().unwrap();
        assert!(text.contains("a file that its Python code opens is not there"), "{text}");
        assert!(text.contains(&format!("current folder, `{}`", here.display())), "{text}");
        let text = text_of("PythonFMU 0.7.0", "ModuleNotFoundError(\"No module named 'scipy'\")");
        assert!(text.contains("pip install scipy"), "{text}");
        assert!(!text_of("another tool", "NameError").contains("traceback"));
    }

    #[test]
    fn pip_is_proposed_for_what_may_be_a_package() {
        for module in ["scipy", "numpy_financial"] {
            assert!(remedy_of_module(module).contains(&format!("`pip install {module}`")), "{module}");
        }
        for module in ["examples", "utils", "examples.oscillator", "scipy.nothing"] {
            assert!(!remedy_of_module(module).contains("pip install"), "{module}");
        }
    }

    #[test]
    fn modules_are_named_as_far_as_they_are_missing() {
        let of = |text| missing_module(text);
        assert_eq!(
            of("ModuleNotFoundError: No module named 'scipy.signal'").as_deref(),
            Some("scipy.signal")
        );
        assert_eq!(of("No module named numpy_financial").as_deref(), Some("numpy_financial"));
        assert_eq!(of("No module named 'pint'.").as_deref(), Some("pint"));
        assert_eq!(of("No module named ''"), None);
        assert_eq!(of("division by zero"), None);
    }
}
