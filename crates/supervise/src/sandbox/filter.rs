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
const REFUSED_NEWER: &[Named] =
    &[(452, "fchmodat2"), (463, "setxattrat"), (466, "removexattrat"), (469, "file_setattr")];

/// Refused where Landlock does not: it looks at files that are shortened by name from Linux 6.2 on.
const SHORTENING: &[Named] = &calls! { SYS_truncate truncate };

/// Commands of `fcntl` by which the kernel sends signals to another process.
const OWNERS: [u64; 2] = [libc::F_SETOWN as u64, F_SETOWN_EX];
const F_SETOWN_EX: u64 = 15;

/// Calls that are refused unless their first argument is this process.
const ABOUT_OTHERS: &[Named] = &calls! {
    SYS_kill kill SYS_tgkill tgkill SYS_rt_sigqueueinfo rt_sigqueueinfo SYS_rt_tgsigqueueinfo rt_tgsigqueueinfo
};

/// How the filter marks calls that the listener hears of; seccompiler has no such action.
const MARK: u32 = 0x0c05;

/// The name of a call.
pub(super) fn name(call: i64) -> &'static str {
    let rest = [(libc::SYS_clone, "clone"), (libc::SYS_prlimit64, "prlimit64"), (libc::SYS_fcntl, "fcntl")];
    let all = [OPENING, OPENING_TOO, REFUSED, REFUSED_TOO, REFUSED_NEWER, SHORTENING, ABOUT_OTHERS, &rest];
    all.into_iter().flatten().find(|(number, _)| *number == call).map_or("another call", |(_, name)| name)
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
    let others = vec![condition(0, SeccompCmpOp::Ne, own)?, condition(0, SeccompCmpOp::Ne, 0)?];
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(others)?]);
    let owners = OWNERS.map(|command| SeccompRule::new(vec![condition(1, SeccompCmpOp::Eq, command)?]));
    rules.insert(libc::SYS_fcntl, owners.into_iter().collect::<std::result::Result<_, _>>()?);
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
