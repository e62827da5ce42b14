//! Which calls to the system are refused or looked at.

use std::collections::BTreeMap;

use costep_core::Result;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::missing;

/// A call by its number and name.
type Named = (i64, &'static str);

macro_rules! calls {
    ($($name:ident $call:ident)*) => { [$((libc::$name, stringify!($call))),*] };
}

/// Calls that open files: they go on, and are noted.
pub(super) const OPENING: &[Named] = &calls! { SYS_openat openat SYS_openat2 openat2 };
#[cfg(target_arch = "x86_64")]
pub(super) const OPENING_TOO: &[Named] = &calls! { SYS_open open SYS_creat creat };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OPENING_TOO: &[Named] = &[];

/// Calls that are refused always.
const REFUSED: &[Named] = &calls! {
    SYS_socket socket SYS_connect connect SYS_bind bind SYS_listen listen SYS_accept accept SYS_accept4 accept4
    SYS_execve execve SYS_execveat execveat SYS_clone3 clone3
    SYS_ptrace ptrace SYS_process_vm_readv process_vm_readv SYS_process_vm_writev process_vm_writev
    SYS_process_madvise process_madvise SYS_kcmp kcmp SYS_migrate_pages migrate_pages SYS_move_pages move_pages
    SYS_tkill tkill SYS_pidfd_open pidfd_open SYS_pidfd_getfd pidfd_getfd SYS_pidfd_send_signal pidfd_send_signal
    SYS_shmget shmget SYS_msgget msgget SYS_semget semget SYS_mq_open mq_open
    SYS_fchmod fchmod SYS_fchmodat fchmodat SYS_fchown fchown SYS_fchownat fchownat SYS_utimensat utimensat
    SYS_setxattr setxattr SYS_lsetxattr lsetxattr SYS_fsetxattr fsetxattr
    SYS_removexattr removexattr SYS_lremovexattr lremovexattr SYS_fremovexattr fremovexattr
    SYS_mount mount SYS_umount2 umount2 SYS_pivot_root pivot_root SYS_chroot chroot SYS_setns setns SYS_unshare unshare
    SYS_move_mount move_mount SYS_open_tree open_tree SYS_fsopen fsopen SYS_fsmount fsmount SYS_fsconfig fsconfig
    SYS_mount_setattr mount_setattr SYS_fanotify_init fanotify_init SYS_fanotify_mark fanotify_mark
    SYS_open_by_handle_at open_by_handle_at SYS_io_uring_setup io_uring_setup SYS_bpf bpf
    SYS_perf_event_open perf_event_open SYS_userfaultfd userfaultfd SYS_keyctl keyctl SYS_add_key add_key
    SYS_request_key request_key SYS_init_module init_module SYS_finit_module finit_module
    SYS_delete_module delete_module SYS_kexec_load kexec_load SYS_kexec_file_load kexec_file_load SYS_reboot reboot SYS_swapon swapon SYS_swapoff swapoff
    SYS_settimeofday settimeofday SYS_clock_settime clock_settime SYS_clock_adjtime clock_adjtime SYS_adjtimex adjtimex
    SYS_sethostname sethostname SYS_setdomainname setdomainname SYS_syslog syslog SYS_acct acct SYS_quotactl quotactl
};
#[cfg(target_arch = "x86_64")]
const REFUSED_TOO: &[Named] = &calls! {
    SYS_fork fork SYS_vfork vfork SYS_chmod chmod SYS_chown chown SYS_lchown lchown SYS_utime utime SYS_utimes utimes
    SYS_futimesat futimesat SYS_iopl iopl SYS_ioperm ioperm
};
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_TOO: &[Named] = &[];

/// Newer calls of the same kinds, whose numbers are the same on all machines.
const REFUSED_NEWER: &[Named] = &[
    (452, "fchmodat2"),
    (463, "setxattrat"),
    (466, "removexattrat"),
    (467, "open_tree_attr"),
    (469, "file_setattr"),
];

/// Refused where Landlock does not: it looks at files that are shortened by name from Linux 6.2 on.
const SHORTENING: &[Named] = &calls! { SYS_truncate truncate };

/// Commands of `fcntl` by which the kernel sends signals to another process, or lets others wait for a file.
const OWNERS: [u64; 3] = [libc::F_SETOWN as u64, F_SETOWN_EX, libc::F_SETLEASE as u64];
const F_SETOWN_EX: u64 = 15;

/// Commands of `ioctl` that change attributes of files which may only be read, stop a whole file system, type into a
/// terminal, or have the kernel send signals to another process.
const CONTROLS: [u64; 11] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0xc004_5877, // FIFREEZE
    0xc004_5878, // FITHAW
    0xc018_5879, // FITRIM
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
    0x8901,      // FIOSETOWN
    0x8902,      // SIOCSPGRP
];

/// Calls that are refused unless their first argument is this process.
const ABOUT_OTHERS: &[Named] = &calls! {
    SYS_kill kill SYS_tgkill tgkill SYS_rt_sigqueueinfo rt_sigqueueinfo SYS_rt_tgsigqueueinfo rt_tgsigqueueinfo
};

/// Calls about priority and cores that are refused unless this argument is this process or zero, the thread that calls.
const PRIORITIES: &[(u8, Named)] = &[
    (0, (libc::SYS_sched_setaffinity, "sched_setaffinity")),
    (0, (libc::SYS_sched_setscheduler, "sched_setscheduler")),
    (0, (libc::SYS_sched_setparam, "sched_setparam")),
    (0, (libc::SYS_sched_setattr, "sched_setattr")),
    (1, (libc::SYS_setpriority, "setpriority")),
    (1, (libc::SYS_ioprio_set, "ioprio_set")),
    (0, (libc::SYS_prlimit64, "prlimit64")),
];

/// How the filter marks calls that the listener hears of; seccompiler has no such action.
const MARK: u32 = 0x0c05;

/// The name of a call.
pub(super) fn name(call: i64) -> &'static str {
    let rest = [(libc::SYS_clone, "clone"), (libc::SYS_fcntl, "fcntl"), (libc::SYS_ioctl, "ioctl")];
    let all = [OPENING, OPENING_TOO, REFUSED, REFUSED_TOO, REFUSED_NEWER, SHORTENING, ABOUT_OTHERS, &rest];
    let priorities = PRIORITIES.iter().map(|(_, named)| named);
    all.into_iter()
        .flatten()
        .chain(priorities)
        .find(|(number, _)| *number == call)
        .map_or("another call", |(_, name)| name)
}

/// The filter of this process, which shortens no files by name unless other rules look at that.
pub(super) fn program(shortening_is_ruled: bool) -> Result<BpfProgram> {
    build(shortening_is_ruled).map_err(|cause| missing("filter of calls", cause))
}

fn build(shortening_is_ruled: bool) -> std::result::Result<BpfProgram, seccompiler::BackendError> {
    let condition =
        |argument, operator, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value);
    let own = u64::from(std::process::id());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let shortening = if shortening_is_ruled { &[] } else { SHORTENING };
    for (call, _) in
        [OPENING, OPENING_TOO, REFUSED, REFUSED_TOO, REFUSED_NEWER, shortening].into_iter().flatten()
    {
        rules.insert(*call, Vec::new());
    }
    for (call, _) in ABOUT_OTHERS {
        rules.insert(*call, vec![SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, own)?])?]);
    }
    // Threads are no processes.
    let thread = libc::CLONE_THREAD as u64;
    let no_thread = SeccompCmpOp::MaskedEq(thread);
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![condition(0, no_thread, 0)?])?]);
    for (argument, (call, _)) in PRIORITIES {
        let others = [own, 0].map(|me| condition(*argument, SeccompCmpOp::Ne, me));
        let others = others.into_iter().collect::<std::result::Result<_, _>>()?;
        rules.insert(*call, vec![SeccompRule::new(others)?]);
    }
    // By group or user it may be about any process, whatever the number.
    for (call, one) in [(libc::SYS_setpriority, libc::PRIO_PROCESS as u64), (libc::SYS_ioprio_set, 1)] {
        let rule = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, one)?])?;
        rules.entry(call).or_default().push(rule);
    }
    for (call, commands) in [(libc::SYS_fcntl, &OWNERS[..]), (libc::SYS_ioctl, &CONTROLS)] {
        let rule = |command: &u64| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, *command)?]);
        rules.insert(call, commands.iter().map(rule).collect::<std::result::Result<_, _>>()?);
    }
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Trace(MARK), machine)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(without_other_numbers().into_iter().chain(program.into_iter().map(heard)).collect())
}

/// Hands marked calls to the listener.
fn heard(step: sock_filter) -> sock_filter {
    let k = if step.k == libc::SECCOMP_RET_TRACE | MARK { libc::SECCOMP_RET_USER_NOTIF } else { step.k };
    sock_filter { k, ..step }
}

/// Refuses the second set of numbers that the same calls have on x86-64 (x32).
fn without_other_numbers() -> Vec<sock_filter> {
    const FIRST: u32 = 0x4000_0000;
    let step = |code: u32, jf: u8, k: u32| sock_filter { code: code as u16, jt: 0, jf, k };
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, FIRST),
        step(libc::BPF_RET | libc::BPF_K, 0, refuse),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rules_make_one_program_and_calls_have_names() {
        let program = program(true).unwrap();
        assert!(program.len() < super::program(false).unwrap().len());
        assert!(program.len() < 4096);
        assert!(program.iter().any(|step| step.k == libc::SECCOMP_RET_USER_NOTIF));
        assert!(!program.iter().any(|step| step.k == libc::SECCOMP_RET_TRACE | MARK));
        assert_eq!(
            (name(libc::SYS_socket), name(libc::SYS_kill), name(-1)),
            ("socket", "kill", "another call")
        );
    }
}
