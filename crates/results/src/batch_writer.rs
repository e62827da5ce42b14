//! Full batches are written by a thread while the next one gathers: neither the copy to the operating system nor a
//! slow disk stops the run. The thread owns the file while it writes, so nothing is shared and nothing is locked.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use costep_core::{Code, Error, Result};

use crate::file::BatchFile;

/// Rows that gather for a batch: as many as one has, of which the first `length` values count.
pub(crate) struct Rows {
    values: Vec<f64>,
    length: usize,
}

impl Rows {
    /// Room for so many values.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { values: vec![0.0; capacity], length: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.length == self.values.len()
    }

    /// How many there are of this width.
    pub(crate) fn rows(&self, width: usize) -> usize {
        self.length / width
    }

    /// The place of the next row, which counts from now on. There must be room for it.
    #[inline]
    pub(crate) fn next(&mut self, width: usize) -> &mut [f64] {
        let row = &mut self.values[self.length..self.length + width];
        self.length += width;
        row
    }

    fn taken(&self) -> &[f64] {
        &self.values[..self.length]
    }
}

/// A batch on its way to the thread, and back with what came of it.
struct WriteJob {
    file: BatchFile,
    rows: Rows,
    outcome: Result<()>,
}

/// The file of a recording, and the thread that has it at times.
pub(crate) struct BatchWriter {
    /// Here, unless the thread has it.
    file: Option<BatchFile>,
    thread: Option<Writer>,
    /// Where the next rows gather while the thread has the last ones.
    spare: Option<Rows>,
}

impl BatchWriter {
    pub(crate) fn new(file: BatchFile) -> Self {
        Self { file: Some(file), thread: None, spare: None }
    }

    /// Writes a batch; it is with the operating system when this returns.
    pub(crate) fn write(&mut self, rows: &mut Rows) -> Result<()> {
        self.file()?.append(rows.taken())?;
        rows.length = 0;
        Ok(())
    }

    /// Has a full batch written by the thread. Fails if the one before it has failed.
    pub(crate) fn hand_over(&mut self, rows: &mut Rows) -> Result<()> {
        self.wait()?;
        if self.thread.is_none() {
            self.thread = Writer::start();
            self.spare = Some(Rows::new(rows.values.len()));
        }
        let (Some(thread), Some(spare)) = (&self.thread, self.spare.take()) else {
            // No thread is to be had: the run waits for its writing.
            return self.write(rows);
        };
        let rows = std::mem::replace(rows, spare);
        let file = self.file.take().ok_or_else(lost)?;
        thread.orders.send(WriteJob { file, rows, outcome: Ok(()) }).map_err(|_| lost())
    }

    /// The file, after all that was handed over is written.
    pub(crate) fn file(&mut self) -> Result<&mut BatchFile> {
        self.wait()?;
        self.file.as_mut().ok_or_else(lost)
    }

    fn wait(&mut self) -> Result<()> {
        let (None, Some(thread)) = (&self.file, &self.thread) else { return Ok(()) };
        let WriteJob { file, mut rows, outcome } = thread.done.recv().map_err(|_| lost())?;
        rows.length = 0;
        (self.file, self.spare) = (Some(file), Some(rows));
        outcome
    }
}

/// A thread that writes batches.
struct Writer {
    orders: SyncSender<WriteJob>,
    done: Receiver<WriteJob>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start() -> Option<Self> {
        let (orders, from_recording) = sync_channel::<WriteJob>(1);
        let (to_recording, done) = sync_channel(1);
        let write = move || {
            for mut order in from_recording {
                order.outcome = order.file.append(order.rows.taken());
                if to_recording.send(order).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("recording".into()).spawn(write).ok()?;
        Some(Self { orders, done, thread: Some(thread) })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It ends when nobody orders any more.
        drop(std::mem::replace(&mut self.orders, sync_channel(0).0));
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell: its last order was waited for.
            let _ = thread.join();
        }
    }
}

#[cold]
fn lost() -> Error {
    Error::new(Code::Bug, "the thread that writes the recording has ended unexpectedly")
}
