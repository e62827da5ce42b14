//! References to files: relative URIs, and nothing else. Those of an archive stay inside of it; those of a
//! folder may begin with `..`, and [`Reach`] decides.

use std::path::{Component, Path, PathBuf};

use costep_core::{Code, Error, Result as CoreResult};

use crate::elsewhere::is_windows_path;

/// Folders above that of a structure that its references may lead to: tools keep FMUs beside it, and packages of
/// examples have a folder of FMUs for all of them.
const LEVELS: usize = 3;

/// How far references of files on disk may lead.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Below one of these; nothing = anywhere.
    roots: Option<Vec<PathBuf>>,
}

impl Reach {
    /// Below the folder of the file.
    pub fn beside(file: &Path) -> Self {
        Self { roots: Some(vec![file.parent().unwrap_or(Path::new("")).to_owned()]) }
    }

    /// Around a file that somebody named, however it was spelt: below the folder three levels above its own, but not as far
    /// as folders that hold everything (home folders, the folder of temporary files, the root). Whoever names more
    /// of its path from where he is means more: also below the first folder of a relative path, `data` of
    /// `data/a/b/c/d/system.ssd`.
    pub fn named(file: &Path) -> Self {
        let mut roots = vec![around(file)];
        let mut parts = file.parent().into_iter().flat_map(Path::components).peekable();
        if file.is_relative() && parts.peek().is_some() {
            let up: PathBuf =
                parts.clone().take_while(|part| !matches!(part, Component::Normal(_))).collect();
            let first = parts.find(|part| matches!(part, Component::Normal(_)));
            roots.extend(first.map(|first| up.join(first)));
        }
        Self { roots: Some(roots) }
    }

    /// Anywhere.
    pub fn anywhere() -> Self {
        Self { roots: None }
    }

    /// An error if a file lies outside. Links are followed, since what counts is where they lead.
    pub fn check(&self, file: &Path) -> CoreResult<()> {
        let Some(roots) = &self.roots else { return Ok(()) };
        let file_at = real(file);
        let here =
            |root: &PathBuf| if root.as_os_str().is_empty() { PathBuf::from(".") } else { root.clone() };
        if roots.iter().any(|root| file_at.starts_with(real(&here(root)))) {
            return Ok(());
        }
        let message = format!(
            "`{}` is outside of `{}`: it is opened with `--allow-outside` only",
            file.display(),
            roots.first().map(here).unwrap_or_default().display()
        );
        Err(Error::new(Code::SspReference, message))
    }
}

/// The folder that references of a file may lead to the contents of, wherever it is named from.
fn around(file: &Path) -> PathBuf {
    let own = real(file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let home = std::env::home_dir().map(|home| real(&home));
    let temporary = real(&std::env::temp_dir());
    let holds_everything = |folder: &Path| {
        folder.parent().is_none()
            || folder == temporary
            || home.as_ref().is_some_and(|home| home.starts_with(folder))
    };
    let above = own.ancestors().skip(1).take(LEVELS).take_while(|folder| !holds_everything(folder));
    above.last().unwrap_or(&own).to_owned()
}

/// Where a path leads: by the system as far as it exists, by its parts beyond.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut real = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.into()).components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            part => real.push(part),
        }
        real = real.canonicalize().unwrap_or(real);
    }
    real
}

/// The file that a `proxyfmu://localhost?file=a.fmu` names: an FMU that runs in a process of its own.
/// Nothing for other references.
pub fn proxied(uri: &str) -> Option<Result<&str, String>> {
    let rest = uri.strip_prefix("proxyfmu://")?;
    let (host, query) = rest.split_once('?').unwrap_or((rest, ""));
    let machine = host.trim_end_matches('/').split(':').next().unwrap_or_default();
    Some(match query.strip_prefix("file=") {
        _ if !["localhost", "127.0.0.1", ""].contains(&machine) => {
            Err(format!("it runs on another machine, `{}`", costep_fmu_file::short(machine)))
        }
        Some(file) if !file.is_empty() => Ok(file),
        _ => Err("it names no file (`?file=`)".into()),
    })
}

/// A checked reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Path inside the package, parts separated by `/`; empty for the document itself.
    pub(crate) path: String,
    /// What follows the `#`.
    pub(crate) fragment: Option<String>,
}

impl Reference {
    /// Reads a URI, resolved against the folder of the document that names it. The error says why it is not
    /// followed. A reference that `may_leave` the package starts with `..` then.
    pub(crate) fn parse(uri: &str, folder: &str, may_leave: bool) -> Result<Self, String> {
        let (path, fragment) = match uri.split_once('#') {
            Some((path, fragment)) => (path, Some(decode(fragment)?)),
            None => (uri, None),
        };
        if is_windows_path(path) {
            return Err("it is an absolute path of Windows; only files of the package are read".into());
        }
        let scheme = path.split(['/', '?']).next().unwrap_or_default();
        if let Some((scheme, _)) = scheme.split_once(':') {
            return Err(format!(
                "it is an absolute reference (`{}:`); only files of the package are read",
                costep_fmu_file::short(scheme)
            ));
        }
        if path.starts_with('/') {
            return Err("it is an absolute path; only files of the package are read".into());
        }
        if path.contains('?') {
            return Err("it has a query, which files do not understand".into());
        }
        let path = decode(path)?;
        if path.contains(['\\', '\0']) || path.chars().any(char::is_control) {
            return Err("it has a character that no name of a file has".into());
        }
        if path.is_empty() {
            return Ok(Self { path, fragment });
        }
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match parts.last() {
                Some(inner) if part == ".." && *inner != ".." => drop(parts.pop()),
                _ if part == ".." && !may_leave => return Err("it leads out of the package by `..`".into()),
                _ => parts.push(part),
            }
        }
        Ok(Self { path: parts.join("/"), fragment })
    }
}

/// The folder of a path inside a package.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Replaces `%20` and the like.
fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or("it has a `%` that is not followed by two digits")?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| "it is not text in UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_package_are_found() {
        let path = |uri: &str| Reference::parse(uri, "", false).map(|reference| reference.path);
        assert_eq!(path("resources/a.fmu").as_deref(), Ok("resources/a.fmu"));
        assert_eq!(path("./resources//a%20b.fmu").as_deref(), Ok("resources/a b.fmu"));
        assert_eq!(path("resources/x/../a.fmu").as_deref(), Ok("resources/a.fmu"));
        assert_eq!(path("").as_deref(), Ok(""));
        let nested = Reference::parse("b.ssv", "resources/sub", false).unwrap();
        assert_eq!(nested.path, "resources/sub/b.ssv");
        let variant = Reference::parse("resources/sub.ssp#VariantB.ssd", "", false).unwrap();
        assert_eq!(
            (variant.path.as_str(), variant.fragment.as_deref()),
            ("resources/sub.ssp", Some("VariantB.ssd"))
        );
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for uri in [
            "http://example.org/a.fmu",
            "file:///etc/passwd",
            "C:/a.fmu",
            "/etc/passwd",
            "../a.fmu",
            "resources/../../a.fmu",
            "%2e%2e/a.fmu",
            "%2Fetc/passwd/..%2f..%2f..",
            "a\\b.fmu",
            "a%00.fmu",
            "a%zz.fmu",
            "a.fmu?x=1",
        ] {
            assert!(Reference::parse(uri, "", false).is_err(), "{uri}");
        }
        assert_eq!(Reference::parse("../a.ssv", "resources", false).unwrap().path, "a.ssv");
        assert!(Reference::parse("../../a.ssv", "resources", false).is_err());
    }

    #[test]
    fn references_of_folders_may_begin_with_dots() {
        let path =
            |uri: &str, folder: &str| Reference::parse(uri, folder, true).map(|reference| reference.path);
        assert_eq!(path("../../a/b.fmu", "x").as_deref(), Ok("../a/b.fmu"));
        assert_eq!(path("../b.fmu", "../a").as_deref(), Ok("../b.fmu"));
        assert_eq!(path("../../b.fmu", "../a").as_deref(), Ok("../../b.fmu"));
        assert!(path("/etc/passwd", "").is_err());
    }

    #[test]
    fn reach_is_around_the_file_however_it_is_named() {
        let outer = tempfile::tempdir().unwrap();
        let data = outer.path().join("data/inner");
        std::fs::create_dir_all(&data).unwrap();
        std::fs::write(outer.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink(outer.path(), data.join("link")).unwrap();
        let beside = Reach::beside(&data.join("x.ssd"));
        for (file, fine) in
            [("a.fmu", true), ("../inner/a.fmu", true), ("../a.fmu", false), ("link/secret", false)]
        {
            assert_eq!(beside.check(&data.join(file)).is_ok(), fine, "{file}");
            assert!(Reach::anywhere().check(&data.join(file)).is_ok());
        }
        let roots = |file: &str| Reach::named(Path::new(file)).roots.unwrap();
        assert_eq!(roots("data/inner/x.ssd")[1..], [Path::new("data")]);
        assert_eq!(roots("../../data/inner/x.ssd")[1..], [Path::new("../../data")]);
        assert_eq!((roots("/data/inner/x.ssd").len(), roots("x.ssd").len()), (1, 1));
        // From inside and by its whole path: the same.
        let here = std::env::current_dir().unwrap();
        assert_eq!(roots("x.ssd"), roots(&here.join("x.ssd").display().to_string()));
        let deep = outer.path().join("1/2/3/4/5");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(around(&deep.join("x.ssd")), real(&outer.path().join("1/2")));
        // Not as far as where everything is.
        assert_eq!(around(&outer.path().join("1/x.ssd")), real(outer.path()));
        assert_eq!(around(&std::env::temp_dir().join("x.ssd")), real(&std::env::temp_dir()));
    }

    #[test]
    fn proxies_on_this_machine_are_processes() {
        assert_eq!(proxied("proxyfmu://localhost?file=../a.fmu"), Some(Ok("../a.fmu")));
        assert_eq!(proxied("proxyfmu://localhost:9090/?file=a.fmu"), Some(Ok("a.fmu")));
        assert!(matches!(proxied("proxyfmu://there?file=a.fmu"), Some(Err(why)) if why.contains("there")));
        assert!(matches!(proxied("proxyfmu://localhost"), Some(Err(_))));
        assert_eq!(proxied("a.fmu"), None);
    }
}
