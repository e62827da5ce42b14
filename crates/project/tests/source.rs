//! What a user may name.

mod common;

use common::WHOLE;
use costep_core::Code;
use costep_project::{Source, load};

#[test]
fn models_files_and_folders_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (project, empty) = (folder.path().join("my-rig"), folder.path().join("empty"));
    std::fs::create_dir(&project).unwrap();
    std::fs::create_dir(&empty).unwrap();
    let file = project.join("system.toml");
    std::fs::write(&file, WHOLE).unwrap();

    let find = |path: &std::path::Path| Source::find(path.to_str().unwrap());
    assert_eq!(Source::find("dual-mass").unwrap(), Source::Builtin("dual-mass".into()));
    assert_eq!(find(&project).unwrap(), Source::File(file.clone()));
    assert_eq!(find(&file).unwrap(), Source::File(file.clone()));
    assert_eq!(find(&empty).unwrap_err().code(), Code::FileNotReadable);
    let error = find(folder.path()).unwrap_err();
    assert!(error.help().contains("`my-rig`: name one, such as `"), "{error}");
    assert_eq!(load(&Source::File(project), &[]).unwrap().name, "my-rig");
}

#[test]
fn what_does_not_exist_is_explained() {
    for (text, code, part) in [
        ("dual-mas", Code::UnknownModel, "did you mean `dual-mass`?"),
        ("rig", Code::UnknownModel, "a TOML file or a folder with a system.toml"),
        ("rig.toml", Code::FileNotReadable, "`rig.toml` does not exist"),
        ("some/rig", Code::FileNotReadable, "`some/rig` does not exist"),
        ("", Code::UnknownModel, "a TOML file or a folder with a system.toml"),
    ] {
        let error = Source::find(text).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(load(&Source::Builtin("nothing".into()), &[]).err().unwrap()[0].code(), Code::UnknownModel);
}
