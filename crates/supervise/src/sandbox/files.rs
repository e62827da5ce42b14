//! What a confined FMU may read and write.

use std::path::{Path, PathBuf};

use costep_core::Result;
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope, path_beneath_rules,
};

use super::missing;

/// Libraries of the system and what they need: nothing of a user is there.
const SYSTEM: [&str; 17] = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
];
const NOWHERE: &str = "/dev/null";

/// The newest rules that are asked for; of those that a kernel does not know the rest is left.
const NEWEST: ABI = ABI::V6;

/// Folders and files that may be opened.
#[derive(Clone)]
pub(super) struct Allowed {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Allowed {
    pub(super) fn new(unpacked: &Path, scratch: &Path) -> Self {
        let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let libraries = std::env::split_paths(&libraries).filter(|path| path.is_absolute());
        let system = SYSTEM.into_iter().map(PathBuf::from).chain(libraries);
        let real = |path: PathBuf| std::fs::canonicalize(&path).ok();
        let read = [unpacked.to_owned()].into_iter().chain(system).filter_map(real).collect();
        let write = [scratch.to_owned(), NOWHERE.into()].into_iter().filter_map(real).collect();
        Self { read, write }
    }

    /// Whether opening this is allowed, and how it is called, `(fmu)/resources/table.csv`; nothing if there is no such file.
    pub(super) fn judge(&self, path: &Path, writes: bool) -> Option<(bool, String)> {
        let is_new = || Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
        let real = match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(_) if writes => is_new()?,
            Err(_) => return None,
        };
        let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| real.starts_with(folder));
        let is_allowed = is_in(&self.write) || !writes && is_in(&self.read);
        let own = [(self.read.first()?, "(fmu)"), (self.write.first()?, "(scratch)")];
        let name = |(folder, name): (&PathBuf, &str)| {
            real.strip_prefix(folder).ok().map(|rest| Path::new(name).join(rest).display().to_string())
        };
        Some((is_allowed, own.into_iter().find_map(name).unwrap_or_else(|| real.display().to_string())))
    }
}

/// Lets this thread, and those that it starts, open nothing else. False if the kernel knows only some of the rules.
pub(super) fn restrict(allowed: &Allowed) -> Result<bool> {
    let build = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?
            .add_rules(path_beneath_rules(&allowed.read, AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(&allowed.write, AccessFs::from_all(NEWEST)))?
            .restrict_self()
    };
    let status = build().map_err(|cause| missing("Landlock", cause))?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(true),
        // Older kernels know no rules for the network, for signals, for files that are shortened by name: all of that is
        // refused by calls as well.
        RulesetStatus::PartiallyEnforced => Ok(false),
        RulesetStatus::NotEnforced => {
            Err(missing("Landlock", "it came with Linux 5.13 and has to be switched on (`lsm=landlock`)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_judged_by_where_they_really_are() {
        let folder = tempfile::tempdir().unwrap();
        let [unpacked, scratch, outside] =
            ["unpacked", "scratch", "outside"].map(|name| folder.path().join(name));
        [&unpacked, &scratch, &outside].iter().for_each(|path| std::fs::create_dir(path).unwrap());
        std::fs::write(unpacked.join("a"), "a").unwrap();
        std::fs::write(outside.join("b"), "b").unwrap();
        std::os::unix::fs::symlink(outside.join("b"), unpacked.join("link")).unwrap();
        let allowed = Allowed::new(&unpacked, &scratch);
        let judged = |path: &Path, writes| allowed.judge(path, writes);
        let outside = std::fs::canonicalize(outside).unwrap().join("b").display().to_string();
        assert_eq!(judged(&unpacked.join("a"), false), Some((true, "(fmu)/a".into())));
        assert_eq!(judged(&unpacked.join("a"), true), Some((false, "(fmu)/a".into())));
        assert_eq!(judged(&unpacked.join("link"), false), Some((false, outside.clone())));
        assert_eq!(judged(&unpacked.join("../outside/b"), false), Some((false, outside)));
        assert_eq!(judged(&scratch.join("new"), true), Some((true, "(scratch)/new".into())));
        assert_eq!(judged(&unpacked.join("nothing"), false), None);
        assert_eq!(judged(Path::new("/dev/null"), true), Some((true, "/dev/null".into())));
    }
}
