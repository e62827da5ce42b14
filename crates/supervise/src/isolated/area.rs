//! Where numbers and bytes lie in the shared memory of an isolated subsystem.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use costep_core::{
    Description, InputPolynomials, InputSegment, LocalModel, MicroBuffer, SolverCounts, Telemetry,
};

use super::facts::MOST_DIAGNOSTICS;
use super::mailbox::{END, Mailbox};

/// Highest order of input polynomials.
const MAX_ORDER: usize = 16;
/// Bytes for what has no fixed length: it goes in pieces.
const PIECE: usize = 64 << 10;
/// Micro samples that a piece holds at least.
const ROWS: usize = 64;
const WORD: usize = size_of::<u64>();
/// Words for telemetry: which of the others count, energy, counts of the integrator, diagnostics.
const TELEMETRY: usize = DIAGNOSTICS_AT + MOST_DIAGNOSTICS;
const DIAGNOSTICS_AT: usize = 7;
const HAS_ENERGY: u64 = 1;
const HAS_COUNTS: u64 = 2;

/// Numbers of signals, by which the layout is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) states: usize,
    /// Highest order of input polynomials.
    pub(super) order: usize,
}

impl Sizes {
    pub(super) fn of(description: &Description, states: usize) -> Self {
        Self {
            inputs: description.inputs.len(),
            outputs: description.outputs.len(),
            states,
            order: description.input_order.min(MAX_ORDER),
        }
    }
}

/// Places in the memory, in words behind its head.
#[derive(Clone, Debug)]
pub(super) struct Area {
    pub(super) sizes: Sizes,
    inputs: usize,
    outputs: usize,
    telemetry: usize,
    model: usize,
    piece: usize,
    end: usize,
}

impl Area {
    /// Nothing if no memory is large enough.
    pub(super) fn new(sizes: Sizes) -> Option<Self> {
        let Sizes { inputs: m, outputs: r, states: n, order } = sizes;
        let place = |start: usize, length: Option<usize>| start.checked_add(length?);
        let outputs = m.checked_mul(order + 1)?;
        let telemetry = place(outputs, Some(r))?;
        let model = place(telemetry, Some(TELEMETRY))?;
        let vectors = n.checked_mul(3)?.checked_add(1)?;
        let matrices = n.checked_add(r)?.checked_mul(n.checked_add(m)?);
        let piece = place(place(model, matrices)?, Some(vectors))?;
        let row = r.checked_add(1)?.checked_mul(ROWS)?;
        let end = place(piece, Some(row.max(PIECE / WORD)))?;
        // The length in bytes is a number too.
        end.checked_mul(WORD)?.checked_add(END)?;
        Some(Self { sizes, inputs: 0, outputs, telemetry, model, piece, end })
    }

    /// Length of the memory, to which `extra` bytes are added.
    pub(super) fn length(&self, extra: usize) -> usize {
        self.extra_at() + extra
    }

    /// Where those bytes lie.
    pub(super) fn extra_at(&self) -> usize {
        END + self.end * WORD
    }

    fn words<'a>(&self, mailbox: &'a Mailbox, range: Range<usize>) -> &'a [AtomicU64] {
        mailbox.memory.values(END + range.start * WORD, range.len())
    }

    fn store(&self, mailbox: &Mailbox, place: usize, values: &[f64]) {
        let to = self.words(mailbox, place..place + values.len());
        to.iter().zip(values).for_each(|(to, from)| to.store(from.to_bits(), Relaxed));
    }

    fn load(&self, mailbox: &Mailbox, place: usize, values: &mut [f64]) {
        let from = self.words(mailbox, place..place + values.len());
        values.iter_mut().zip(from).for_each(|(to, from)| *to = f64::from_bits(from.load(Relaxed)));
    }

    pub(super) fn store_segment(&self, mailbox: &Mailbox, u: InputSegment<'_>) {
        for a in 0..=u.order() {
            self.store(mailbox, self.inputs + a * self.sizes.inputs, u.coefficients(a));
        }
    }

    pub(super) fn load_segment(&self, mailbox: &Mailbox, order: usize, u: &mut InputPolynomials) {
        for a in 0..=order {
            self.load(mailbox, self.inputs + a * self.sizes.inputs, u.coefficients_mut(a));
        }
    }

    pub(super) fn store_inputs(&self, mailbox: &Mailbox, u: &[f64]) {
        self.store(mailbox, self.inputs, u);
    }

    pub(super) fn load_inputs(&self, mailbox: &Mailbox, u: &mut [f64]) {
        self.load(mailbox, self.inputs, u);
    }

    pub(super) fn store_outputs(&self, mailbox: &Mailbox, y: &[f64]) {
        self.store(mailbox, self.outputs, y);
    }

    pub(super) fn load_outputs(&self, mailbox: &Mailbox, y: &mut [f64]) {
        self.load(mailbox, self.outputs, y);
    }

    /// Energy, counts and diagnostics; the latter by way of `diagnostics`, which has room for all of them.
    pub(super) fn store_telemetry(&self, mailbox: &Mailbox, from: &dyn Telemetry, diagnostics: &mut [f64]) {
        let (energy, counts) = (from.energy(), from.solver_counts());
        let flag = |is_there: bool, flag: u64| if is_there { flag } else { 0 };
        let SolverCounts { steps, evaluations, jacobians, error_failures, convergence_failures } =
            counts.unwrap_or_default();
        let words = [
            flag(energy.is_some(), HAS_ENERGY) | flag(counts.is_some(), HAS_COUNTS),
            energy.unwrap_or(0.0).to_bits(),
            steps,
            evaluations,
            jacobians,
            error_failures,
            convergence_failures,
        ];
        let to = self.words(mailbox, self.telemetry..self.telemetry + words.len());
        to.iter().zip(words).for_each(|(to, word)| to.store(word, Relaxed));
        from.diagnostics(diagnostics);
        self.store(mailbox, self.telemetry + DIAGNOSTICS_AT, diagnostics);
    }

    fn telemetry_word(&self, mailbox: &Mailbox, index: usize) -> u64 {
        self.words(mailbox, self.telemetry + index..self.telemetry + index + 1)[0].load(Relaxed)
    }

    pub(super) fn load_energy(&self, mailbox: &Mailbox) -> Option<f64> {
        let is_there = self.telemetry_word(mailbox, 0) & HAS_ENERGY > 0;
        is_there.then(|| f64::from_bits(self.telemetry_word(mailbox, 1)))
    }

    pub(super) fn load_counts(&self, mailbox: &Mailbox) -> Option<SolverCounts> {
        let is_there = self.telemetry_word(mailbox, 0) & HAS_COUNTS > 0;
        let word = |index| self.telemetry_word(mailbox, index);
        is_there.then(|| SolverCounts {
            steps: word(2),
            evaluations: word(3),
            jacobians: word(4),
            error_failures: word(5),
            convergence_failures: word(6),
        })
    }

    pub(super) fn load_diagnostics(&self, mailbox: &Mailbox, row: &mut [f64]) {
        self.load(mailbox, self.telemetry + DIAGNOSTICS_AT, row);
    }

    /// The states and their derivatives, at the place of the local model.
    pub(super) fn store_states(&self, mailbox: &Mailbox, x: &[f64], x_dot: &[f64]) {
        self.store(mailbox, self.model, x);
        self.store(mailbox, self.model + x.len(), x_dot);
    }

    pub(super) fn load_states(&self, mailbox: &Mailbox, x: &mut [f64], x_dot: &mut [f64]) {
        self.load(mailbox, self.model, x);
        self.load(mailbox, self.model + x.len(), x_dot);
    }

    pub(super) fn store_model(&self, mailbox: &Mailbox, model: &LocalModel) {
        let LocalModel { a, b, c, d, x, x_dot, nominal, euler_step, .. } = model;
        let mut place = self.model;
        for values in [a, b, c, d, x, x_dot, nominal] {
            self.store(mailbox, place, values);
            place += values.len();
        }
        self.store(mailbox, place, &[*euler_step]);
    }

    pub(super) fn load_model(&self, mailbox: &Mailbox, model: &mut LocalModel) {
        let LocalModel { a, b, c, d, x, x_dot, nominal, euler_step, .. } = model;
        let mut place = self.model;
        for values in [a, b, c, d, x, x_dot, nominal] {
            self.load(mailbox, place, values);
            place += values.len();
        }
        let mut last = [0.0];
        self.load(mailbox, place, &mut last);
        *euler_step = last[0];
    }

    /// Rows of micro samples that a piece holds.
    pub(super) fn rows(&self) -> usize {
        (self.end - self.piece) / (1 + self.sizes.outputs)
    }

    fn row(&self, index: usize) -> usize {
        self.piece + index * (1 + self.sizes.outputs)
    }

    pub(super) fn store_row(&self, mailbox: &Mailbox, index: usize, time: f64, outputs: &[f64]) {
        self.store(mailbox, self.row(index), &[time]);
        self.store(mailbox, self.row(index) + 1, outputs);
    }

    pub(super) fn load_row(&self, mailbox: &Mailbox, index: usize, samples: &mut MicroBuffer) {
        let mut time = [0.0];
        self.load(mailbox, self.row(index), &mut time);
        self.load(mailbox, self.row(index) + 1, samples.push(time[0]));
    }

    /// Bytes that a piece holds.
    pub(super) fn piece_bytes(&self) -> usize {
        (self.end - self.piece) * WORD
    }

    /// As many of these bytes as a piece holds.
    pub(super) fn store_bytes(&self, mailbox: &Mailbox, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.piece_bytes());
        store_bytes(mailbox, END + self.piece * WORD, &bytes[..count]);
        count
    }

    /// Up to this many bytes of a piece.
    pub(super) fn load_bytes(&self, mailbox: &Mailbox, count: usize) -> Vec<u8> {
        load_bytes(mailbox, END + self.piece * WORD, count.min(self.piece_bytes()))
    }
}

pub(super) fn store_bytes(mailbox: &Mailbox, place: usize, bytes: &[u8]) {
    let to: &[AtomicU8] = mailbox.memory.values(place, bytes.len());
    to.iter().zip(bytes).for_each(|(to, from)| to.store(*from, Relaxed));
}

pub(super) fn load_bytes(mailbox: &Mailbox, place: usize, count: usize) -> Vec<u8> {
    let from: &[AtomicU8] = mailbox.memory.values(place, count);
    from.iter().map(|byte| byte.load(Relaxed)).collect()
}

#[cfg(test)]
mod tests {
    use costep_core::MicroSamples;

    use super::*;

    /// Telemetry of which every number is another one.
    struct Told;

    impl Telemetry for Told {
        fn micro_samples(&self) -> Option<MicroSamples<'_>> {
            None
        }

        fn input_at_end(&self) -> Option<&[f64]> {
            None
        }

        fn diagnostic_names(&self) -> &[&'static str] {
            &["a", "b", "c"]
        }

        fn diagnostics(&self, row: &mut [f64]) {
            row.copy_from_slice(&[4.0, 5.0, 6.0]);
        }

        fn solver_counts(&self) -> Option<SolverCounts> {
            Some(SolverCounts {
                steps: 11,
                evaluations: 12,
                jacobians: 13,
                error_failures: 14,
                convergence_failures: u64::MAX,
            })
        }

        fn energy(&self) -> Option<f64> {
            Some(-0.5)
        }
    }

    #[test]
    fn numbers_lie_where_they_are_found() {
        let area = Area::new(Sizes { inputs: 2, outputs: 3, states: 4, order: 1 }).unwrap();
        let mailbox = Mailbox::create(area.length(5)).unwrap();
        let mut polynomials = InputPolynomials::new(2, 1);
        polynomials.raw_mut().copy_from_slice(&[1.0, 2.0, 3.0, -0.0]);
        let mut model = LocalModel::new(4, 2, 3);
        let mut next = 0.0;
        for values in [
            &mut model.a,
            &mut model.b,
            &mut model.c,
            &mut model.d,
            &mut model.x,
            &mut model.x_dot,
            &mut model.nominal,
        ] {
            values.iter_mut().for_each(|value| {
                next += 1.0;
                *value = next;
            });
        }
        model.euler_step = 0.5;
        area.store_telemetry(&mailbox, &Told, &mut [0.0; 3]);
        area.store_segment(&mailbox, polynomials.segment(0..2, 1));
        area.store_outputs(&mailbox, &[7.0, 8.0, 9.0]);
        area.store_model(&mailbox, &model);
        for row in 0..area.rows() {
            area.store_row(&mailbox, row, row as f64, &[0.0; 3]);
        }
        assert_eq!(area.store_bytes(&mailbox, &vec![1; PIECE + 1]), PIECE);
        store_bytes(&mailbox, area.extra_at(), b"order");

        let mut u = InputPolynomials::new(2, 1);
        area.load_segment(&mailbox, 1, &mut u);
        assert_eq!(u.raw(), polynomials.raw());
        let mut y = [0.0; 3];
        area.load_outputs(&mailbox, &mut y);
        assert_eq!(y, [7.0, 8.0, 9.0]);
        assert_eq!(area.load_energy(&mailbox), Some(-0.5));
        assert_eq!(area.load_counts(&mailbox), Told.solver_counts());
        let mut diagnostics = [0.0; 3];
        area.load_diagnostics(&mailbox, &mut diagnostics);
        assert_eq!(diagnostics, [4.0, 5.0, 6.0]);
        let mut copy = LocalModel::new(4, 2, 3);
        area.load_model(&mailbox, &mut copy);
        assert_eq!(copy, model);
        assert_eq!(area.load_bytes(&mailbox, usize::MAX).len(), PIECE);
        assert_eq!(load_bytes(&mailbox, area.extra_at(), 5), b"order");
    }

    #[test]
    fn sizes_beyond_memory_are_refused() {
        let sizes = Sizes { inputs: 1 << 40, outputs: 1 << 40, states: 0, order: 1 };
        assert!(Area::new(sizes).is_none());
    }
}
