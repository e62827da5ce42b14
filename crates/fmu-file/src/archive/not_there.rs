//! Files that do not exist: which one may be meant.

use std::fs;
use std::path::{Component, Path, PathBuf};

use costep_core::suggest::nearest;
use costep_core::{Code, Error};

/// Files and folders that are looked at.
const LOOKED_AT: usize = 1000;
/// Files that are named.
const NAMED: usize = 3;

/// The error of a file that does not exist: which other name may be meant, or where a file of its name lies.
pub fn not_there(path: &Path) -> Error {
    let folder = folder_of(path);
    let error = Error::new(Code::FileNotReadable, format!("`{}` does not exist", path.display()))
        .in_file(path)
        .looked_for(path);
    let plain = name_hint(path).or_else(|| several_names(path)).or_else(|| pattern_hint(path));
    if let Some(hint) = plain.or_else(|| with_ending(path)).or_else(|| folder_of_stem(path)) {
        return error.hint(hint);
    }
    if !folder.exists() {
        return error.hint(missing_folder(path, folder));
    }
    if let Some(elsewhere) = in_folders_below(path, folder).or_else(|| further_up(path)) {
        return error.hint(elsewhere);
    }
    let hint = match path.extension() {
        Some(ending) => {
            format!("no .{} in this folder has a name like this: check name and folder", ending.display())
        }
        None => "check name and folder".into(),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = names_beside(path, folder);
    error.hint(hint).suggest(&name, names.iter().map(String::as_str))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().take(LOOKED_AT).flatten().map(|file| file.path())
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn did_you_mean(path: &Path) -> String {
    format!("did you mean `{}`?", path.strip_prefix(".").unwrap_or(path).display())
}

/// Names of files beside it that end alike.
fn names_beside(path: &Path, folder: &Path) -> Vec<String> {
    let alike = inside(folder).filter(|file| file.extension() == path.extension());
    let mut names: Vec<_> = alike.filter_map(|file| name_of(&file)).collect();
    names.sort_unstable();
    names
}

/// A file of this name with an ending.
fn with_ending(path: &Path) -> Option<String> {
    let name = name_of(path).filter(|_| path.extension().is_none())?;
    let is_it = |file: &PathBuf| file.is_file() && file.file_stem().is_some_and(|stem| *stem == *name);
    let other = name_of(&inside(folder_of(path)).find(is_it)?)?;
    Some(format!("did you mean `{other}`?"))
}

/// A folder of this name without the ending.
fn folder_of_stem(path: &Path) -> Option<String> {
    let folder = path.extension().map(|_| path.with_extension(""))?;
    folder.is_dir().then(|| format!("did you mean the folder `{}`?", folder.display()))
}

/// Several files in one name, separated by commas.
fn several_names(path: &Path) -> Option<String> {
    let parts: Vec<&str> = path.to_str()?.split(',').map(str::trim).collect();
    let all_there = parts.len() > 1 && parts.iter().all(|part| Path::new(part).is_file());
    all_there.then(|| format!("names of files are separated by blanks: `{}`", parts.join(" ")))
}

/// A pattern that the shell has left as it is.
fn pattern_hint(path: &Path) -> Option<String> {
    let name = name_of(path)?;
    let folder = folder_of(path);
    (name.contains('*') && folder.is_dir()).then(|| {
        let names = inside(folder).filter(|file| file.is_file()).filter_map(|file| name_of(&file));
        let mut names: Vec<_> = names.take(NAMED + 1).collect();
        names.sort_unstable();
        let dots = if names.len() > NAMED { ", ..." } else { "" };
        names.truncate(NAMED);
        match &names[..] {
            [] => format!("no file fits this pattern: `{}` has none", folder.display()),
            names => format!("no file fits this pattern, among `{}`{dots}", names.join("`, `")),
        }
    })
}

/// What may be meant by a path through a folder that does not exist.
fn missing_folder(path: &Path, folder: &Path) -> String {
    if let Some(hint) = further_up(path) {
        return hint;
    }
    let missing = folder.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let gone = missing.last().unwrap_or(folder);
    let beside = inside(folder_of(gone)).filter(|file| file.is_dir());
    let names: Vec<String> = beside.filter_map(|folder| name_of(&folder)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = name_of(gone).and_then(|name| nearest(&name, &names)).map(|near| gone.with_file_name(near));
    match near {
        None => format!("there is no folder `{}`", folder.display()),
        Some(near) => match near.join(path.strip_prefix(gone).unwrap_or(path)) {
            file if file.is_file() => did_you_mean(&file),
            _ => format!("there is no folder `{}`: did you mean `{}`?", gone.display(), near.display()),
        },
    }
}

/// A file of its name in the folders below.
fn in_folders_below(path: &Path, folder: &Path) -> Option<String> {
    let name = path.file_name()?;
    let mut found: Vec<_> =
        inside(folder).map(|inner| inner.join(name)).filter(|file| file.is_file()).collect();
    found.sort_unstable();
    match &found[..] {
        [] => None,
        [only] => Some(did_you_mean(only)),
        [first, ..] => {
            let shown: Vec<_> =
                found.iter().take(NAMED).map(|file| format!("`{}`", file.display())).collect();
            let dots = if found.len() > NAMED { ", ..." } else { "" };
            let first = first.strip_prefix(".").unwrap_or(first).display();
            Some(format!("did you mean `{first}`? There are {}{dots}", shown.join(", ").replace("`./", "`")))
        }
    }
}

/// The end of a path, where that exists: somebody is already in the folder that it begins with.
fn further_up(path: &Path) -> Option<String> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let is_plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let ends = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
    ends.filter(|_| is_plain).find(|end| end.is_file()).map(|end| did_you_mean(&end))
}

/// What is wrong with the name of a file that a shell or a browser would have understood.
pub fn name_hint(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if let Some(local) = text.strip_prefix("file://") {
        return Some(format!("write the path alone: `{local}`"));
    }
    if text.contains("://") {
        return Some("nothing is fetched from the network: download the file, and name the copy".into());
    }
    if cfg!(unix) && is_of_drive(text) {
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        return Some(format!(
            "there are no drives such as `{}` here: copy the file beside what names it, and write `{name}`",
            &text[..2]
        ));
    }
    if text == "~" || text.starts_with("~/") {
        return Some("`~` is a home folder in shells only, without quotes: write the whole path".into());
    }
    if text.starts_with('$') || text.starts_with('%') {
        return Some("variables of the shell are not replaced here: write the whole path".into());
    }
    text.contains('\\').then(|| format!("folders are separated by `/` here: `{}`", text.replace('\\', "/")))
}

/// Whether a path begins with the letter of a drive: `C:/parts`.
fn is_of_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(path: &Path) -> String {
        not_there(path).help().to_owned()
    }

    #[test]
    fn files_in_other_folders_are_named() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for file in ["fmus/s1.fmu", "pair/system.toml", "rig/deep/x.fmu"] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "x").unwrap();
        }
        let mean = |name: &str| format!("did you mean `{}`?", at(name).display());
        assert_eq!(hint(&at("system.toml")), mean("pair/system.toml"));
        assert_eq!(hint(&at("s1.fmu")), mean("fmus/s1.fmu"));
        assert_eq!(hint(&at("fmu/s1.fmu")), mean("fmus/s1.fmu"));
        assert_eq!(hint(&at("rg/deep/x.fmu")), mean("rig/deep/x.fmu"));
        assert!(hint(&at("fmu/s9.fmu")).ends_with(&mean("fmus")), "{}", hint(&at("fmu/s9.fmu")));
        assert!(hint(&at("others/s9.fmu")).starts_with("there is no folder"));
        assert!(hint(&at("fmus/*.fm")).ends_with("among `s1.fmu`"), "{}", hint(&at("fmus/*.fm")));
        fs::write(at("rig/system.toml"), "x").unwrap();
        let (first, other) = (at("pair/system.toml"), at("rig/system.toml"));
        let several = hint(&at("system.toml"));
        assert!(
            several.starts_with(&format!("did you mean `{}`? There are `", first.display())),
            "{several}"
        );
        assert!(several.ends_with(&format!("`{}`", other.display())), "{several}");
        let both = format!("{},{}", first.display(), other.display());
        assert!(hint(Path::new(&both)).starts_with("names of files are separated by blanks"));
    }
}
