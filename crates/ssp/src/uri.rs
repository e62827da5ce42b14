//! References to files: relative URIs inside of the package, and nothing else.

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
    /// followed.
    pub(crate) fn parse(uri: &str, folder: &str) -> Result<Self, String> {
        let (path, fragment) = match uri.split_once('#') {
            Some((path, fragment)) => (path, Some(decode(fragment)?)),
            None => (uri, None),
        };
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
            if part != ".." {
                parts.push(part);
            } else if parts.pop().is_none() {
                return Err("it leads out of the package by `..`".into());
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
        let path = |uri: &str| Reference::parse(uri, "").map(|reference| reference.path);
        assert_eq!(path("resources/a.fmu").as_deref(), Ok("resources/a.fmu"));
        assert_eq!(path("./resources//a%20b.fmu").as_deref(), Ok("resources/a b.fmu"));
        assert_eq!(path("resources/x/../a.fmu").as_deref(), Ok("resources/a.fmu"));
        assert_eq!(path("").as_deref(), Ok(""));
        let nested = Reference::parse("b.ssv", "resources/sub").unwrap();
        assert_eq!(nested.path, "resources/sub/b.ssv");
        let variant = Reference::parse("resources/sub.ssp#VariantB.ssd", "").unwrap();
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
            assert!(Reference::parse(uri, "").is_err(), "{uri}");
        }
        assert_eq!(Reference::parse("../a.ssv", "resources").unwrap().path, "a.ssv");
        assert!(Reference::parse("../../a.ssv", "resources").is_err());
    }
}
