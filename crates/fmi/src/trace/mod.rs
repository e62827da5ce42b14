//! Which FMU is in which call, for whoever watches this process.
//!
//! Every call into an FMU is shown in a [`Slot`] while it lasts, at the price of two stores. A watcher hands in
//! memory that it sees ([`show`]) before the first FMU is loaded, and reads it as [`SlotData`]; without one the
//! slots are memory that nobody reads.

mod call;
mod slots;

pub use call::Call;
pub use slots::{BatchMember, BatchSlot, MessageSlot, Round, Slot, SlotData, SlotView, show};
