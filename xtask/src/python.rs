//! The Python package: its wheel, and its tests in a virtual environment of their own. Everything is kept in the target
//! folder between runs; packages come from PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages of the tests, with their versions.
const REQUIREMENTS: &str = "python/requirements.txt";

/// Builds the wheel as tests are built, installs it, and runs its tests, with these arguments for pytest.
pub(crate) fn test(arguments: &[String]) -> bool {
    if std::env::var_os("COSTEP_SKIP_PYTHON").is_some_and(|value| value == "1") {
        println!("xtask: COSTEP_SKIP_PYTHON=1, the Python package is not tested");
        return true;
    }
    let Some(python) = environment() else { return false };
    let Some(wheel) = built(&python, &["--profile", "dev"], &folder().join("wheels")) else { return false };
    let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
    let types = ["-m", "mypy", "--strict", "--package", "costep"];
    run(Command::new(&python).args(install).arg(&wheel))
        && run(Command::new(&python).args(types).current_dir(folder()))
        && run(Command::new(&python)
            .args(["-m", "pyright", "--project", "python", "--pythonpath"])
            .arg(&python))
        && run(Command::new(&python).args(["-m", "pytest"]).args(arguments).env("COSTEP_WHEEL", &wheel))
}

/// Builds the wheel for others, into dist/.
pub(crate) fn wheel() -> bool {
    environment().and_then(|python| built(&python, &["--release"], Path::new("dist"))).is_some()
}

fn folder() -> PathBuf {
    PathBuf::from("target/python")
}

/// The interpreter of the virtual environment, made if it is missing or older than its requirements.
fn environment() -> Option<PathBuf> {
    let (place, wanted) = (folder().join("venv"), fs::read_to_string(REQUIREMENTS).ok()?);
    let python = std::path::absolute(place.join("bin/python")).ok()?;
    let stamp = folder().join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) && python.exists() {
        return Some(python);
    }
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(folder()).ok()?;
    let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS];
    let made =
        run(Command::new(base).args(["-m", "venv"]).arg(&place)) && run(Command::new(&python).args(install));
    made.then(|| fs::write(&stamp, wanted).ok())??;
    Some(python)
}

/// A wheel, the only one in its folder.
fn built(python: &Path, profile: &[&str], out: &Path) -> Option<PathBuf> {
    let _ = fs::remove_dir_all(out);
    let maturin = ["-m", "maturin", "build", "--quiet", "--locked", "--out"];
    run(Command::new(python).args(maturin).arg(out).args(profile)).then_some(())?;
    let mut files = fs::read_dir(out).ok()?.flatten().map(|entry| entry.path());
    let wheel = files.find(|path| path.extension().is_some_and(|extension| extension == "whl"))?;
    std::path::absolute(wheel).ok()
}

fn run(command: &mut Command) -> bool {
    println!("xtask: {command:?}");
    command.status().is_ok_and(|status| status.success())
}
