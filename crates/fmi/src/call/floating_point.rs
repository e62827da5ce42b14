//! The mode of floating-point numbers: rounding, flushing of denormals, traps. FMUs that change it would change the
//! numbers of everything computed after them, so it is put back.
#![allow(unsafe_code)]

use std::hint::black_box;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[cfg(target_arch = "x86_64")]
mod mode {
    use std::arch::asm;

    /// Round to nearest, no flushing, no traps; the flags of past exceptions masked out.
    const MXCSR: u32 = 0x1f80;
    const MXCSR_FLAGS: u32 = 0x3f;
    /// The same for the x87 unit, in extended precision.
    const X87: u16 = 0x037f;

    /// Half the distance of 1 to the next number.
    const U: f64 = f64::EPSILON / 2.0;
    const TINY: f64 = f64::MIN_POSITIVE;
    const DENORMAL: f64 = TINY / 2.0;

    /// Sums that come out otherwise when denormals are flushed or rounding is not to the nearest: three pairs of numbers
    /// a, b, a + b each for two tests. First: a denormal result, a denormal argument. Second: rounding up, rounding down.
    #[repr(align(16))]
    struct Probe([f64; 12]);
    static PROBE: Probe = Probe([
        1.5 * TINY,
        DENORMAL,
        -TINY,
        TINY,
        DENORMAL,
        1.5 * TINY,
        1.0,
        1.0,
        1.5 * U,
        0.5 * U,
        1.0 + 2.0 * U,
        1.0,
    ]);

    /// Whether numbers are computed as they should be, and the x87 unit is in its usual mode. The functions of C for
    /// rounding and traps change both units, so that the second one tells of traps in the first; traps that are set there
    /// and nowhere else are not seen. On some processors this takes a tenth of the time of [`is_usual`], on others, where
    /// denormals are computed by microcode, a hundred times as long.
    #[inline(always)]
    pub(super) fn computes_as_usual() -> bool {
        let differs: u32;
        let mut x87 = 0_u16;
        // SAFETY: reads the twelve aligned numbers and changes nothing but registers and flags of past exceptions.
        unsafe {
            asm!(
                "movapd {x}, [{probe}]",
                "movapd {y}, [{probe} + 48]",
                "addpd {x}, [{probe} + 16]",
                "addpd {y}, [{probe} + 64]",
                "cmpneqpd {x}, [{probe} + 32]",
                "cmpneqpd {y}, [{probe} + 80]",
                "orpd {x}, {y}",
                "movmskpd {differs:e}, {x}",
                probe = in(reg) PROBE.0.as_ptr(),
                x = out(xmm_reg) _,
                y = out(xmm_reg) _,
                differs = out(reg) differs,
                options(nostack, readonly),
            );
            asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        differs == 0 && x87 == X87
    }

    /// Whether the mode is the one that Rust expects, in every detail.
    #[inline(always)]
    pub(super) fn is_usual() -> bool {
        let (mut mxcsr, mut x87) = (0_u32, 0_u16);
        // SAFETY: both instructions write to the place they are given and touch nothing else.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags));
            asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags));
        }
        mxcsr & !MXCSR_FLAGS == MXCSR && x87 == X87
    }

    #[cold]
    pub(super) fn set_usual() {
        let (mxcsr, x87) = (MXCSR, X87);
        // SAFETY: the mode that Rust expects is set; pending exceptions of the x87 unit are dropped first, because they
        // would be raised when traps change.
        unsafe {
            asm!("fnclex", "fldcw [{}]", in(reg) &raw const x87, options(nostack));
            asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack));
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod mode {
    use std::arch::asm;

    #[inline(always)]
    pub(super) fn computes_as_usual() -> bool {
        is_usual()
    }

    #[inline(always)]
    pub(super) fn is_usual() -> bool {
        let mode: u64;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode == 0
    }

    #[cold]
    pub(super) fn set_usual() {
        // SAFETY: sets the mode that Rust expects.
        unsafe { asm!("msr fpcr, xzr", options(nomem, nostack, preserves_flags)) };
    }
}

/// Other processors: FMUs are trusted with the mode.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod mode {
    #[inline(always)]
    pub(super) fn computes_as_usual() -> bool {
        true
    }

    #[inline(always)]
    pub(super) fn is_usual() -> bool {
        true
    }

    pub(super) fn set_usual() {}
}

/// Whether this processor reads its mode faster than it computes with denormals.
static READS_FASTER: AtomicBool = AtomicBool::new(false);

/// Finds out how [`restore_results`] looks at the mode, once per process and before its first use: both ways see whatever
/// changes results, and which one is faster depends on the processor.
pub(crate) fn choose_faster_look() {
    const LOOKS: u32 = 100;
    const ROUNDS: u32 = 5;
    static CHOSEN: Once = Once::new();
    fn time(look: impl Fn() -> bool) -> Duration {
        let start = Instant::now();
        (0..LOOKS).for_each(|_| {
            black_box(look());
        });
        start.elapsed()
    }
    CHOSEN.call_once(|| {
        let [mut reading, mut computing] = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            reading = reading.min(time(mode::is_usual));
            computing = computing.min(time(mode::computes_as_usual));
        }
        READS_FASTER.store(reading < computing, Ordering::Relaxed);
    });
}

/// Puts the mode back if numbers are not computed as usual, or the x87 unit or traps were changed by functions of C: after
/// calls that are made often.
#[inline(always)]
pub(crate) fn restore_results() {
    let reads = READS_FASTER.load(Ordering::Relaxed);
    let is_usual = if reads { mode::is_usual() } else { mode::computes_as_usual() };
    if !is_usual {
        mode::set_usual();
    }
}

/// Puts the mode back if anything of it was changed, traps and the x87 unit too: after calls that are made once.
pub(crate) fn restore() {
    if !mode::is_usual() {
        mode::set_usual();
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{Ordering, READS_FASTER, mode, restore, restore_results};
    use std::arch::asm;

    fn set(mxcsr: u32, x87: u16) {
        // SAFETY: put back by the callers before anything is computed with Rust's numbers.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack));
            asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack));
        }
    }

    #[test]
    fn whatever_changes_results_is_seen_by_them() {
        // Flush to zero, denormals are zero, round down, up, to zero; by both looks.
        for (bits, reads) in [0x8000, 0x0040, 0x2000, 0x4000, 0x6000, 0xe040]
            .map(|bits| [(bits, false), (bits, true)])
            .as_flattened()
        {
            READS_FASTER.store(*reads, Ordering::Relaxed);
            set(0x1f80 | bits, 0x037f);
            let seen = [mode::computes_as_usual(), mode::is_usual()] == [false; 2];
            restore_results();
            assert!(seen && mode::is_usual() && mode::computes_as_usual(), "{bits:x}");
        }
    }

    #[test]
    fn traps_of_both_units_and_precision_are_seen_after_steps() {
        // As `feenableexcept` does it; single precision; rounding up as `fesetround` does it.
        for (mxcsr, x87) in [(0x1f80 & !0x0280, 0x037f & !0x05), (0x1f80, 0x007f), (0x5f80, 0x0b7f)] {
            set(mxcsr, x87);
            restore_results();
            assert!(mode::is_usual(), "{mxcsr:x} {x87:x}");
        }
    }

    #[test]
    fn traps_and_precision_are_put_back() {
        // Traps on division by zero and on invalid operations; x87 in single precision.
        for (mxcsr, x87) in [(0x1f80 & !0x0280, 0x037f), (0x1f80, 0x007f)] {
            set(mxcsr, x87);
            let seen = !mode::is_usual();
            restore();
            assert!(seen && mode::is_usual());
        }
    }
}
