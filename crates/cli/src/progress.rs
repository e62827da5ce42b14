//! Progress on long work: time, real-time factor, coupling error.

use std::io::{IsTerminal, Result};
use std::time::{Duration, Instant};

use costep::Step;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::style::Output;
use crate::supervision;

/// Positions of the bar.
const PER_MILLE: u64 = 1000;
/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
const REFRESH: Duration = Duration::from_millis(100);

fn wanted(output: Output) -> bool {
    !output.json && !output.quiet && terminal_width().is_some()
}

/// How wide the terminal is that standard error goes to, if it is one.
pub(crate) fn terminal_width() -> Option<u16> {
    if supervision::is_watched() {
        return std::env::var(supervision::TERMINAL).ok()?.parse().ok();
    }
    let width = || terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0);
    std::io::stderr().is_terminal().then(width)
}

/// A bar for so many pieces of work.
fn bar(length: u64) -> ProgressBar {
    let target = match (supervision::is_watched(), terminal_width()) {
        (true, Some(width)) => ProgressDrawTarget::term_like(Box::new(TerminalElsewhere { width })),
        _ => ProgressDrawTarget::stderr(),
    };
    ProgressBar::with_draw_target(Some(length), target)
}

/// The terminal of the process that watches this one.
#[derive(Debug)]
struct TerminalElsewhere {
    width: u16,
}

impl TerminalElsewhere {
    fn send(&self, text: &str) -> Result<()> {
        supervision::say(text);
        Ok(())
    }

    fn move_by(&self, count: usize, direction: char) -> Result<()> {
        if count > 0 { self.send(&format!("\x1b[{count}{direction}")) } else { Ok(()) }
    }
}

impl TermLike for TerminalElsewhere {
    fn width(&self) -> u16 {
        self.width
    }

    fn move_cursor_up(&self, n: usize) -> Result<()> {
        self.move_by(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> Result<()> {
        self.move_by(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> Result<()> {
        self.move_by(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> Result<()> {
        self.move_by(n, 'D')
    }

    fn write_line(&self, text: &str) -> Result<()> {
        self.send(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> Result<()> {
        self.send(text)
    }

    fn clear_line(&self) -> Result<()> {
        self.send("\r\x1b[2K")
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("##-")
}

/// Watches a run and draws its bar.
pub(crate) struct RunProgress {
    bar: Option<ProgressBar>,
    wanted: bool,
    start: Instant,
    start_time: Option<f64>,
    next: Duration,
    /// The clock is read every so many steps, so that short steps do not pay for it.
    stride: u64,
    left: u64,
    last_read: Duration,
}

impl RunProgress {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            bar: None,
            wanted: wanted(output),
            start: Instant::now(),
            start_time: None,
            next: PATIENCE,
            stride: 1,
            left: 1,
            last_read: Duration::ZERO,
        }
    }

    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Whether there is somebody to see a bar.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Sees a communication point, where a bar is wanted.
    pub(crate) fn see(&mut self, step: &Step<'_>) {
        self.start_time.get_or_insert_with(|| step.time());
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.draw(step);
        }
    }

    #[inline(never)]
    fn draw(&mut self, step: &Step<'_>) {
        let engine = step.engine();
        let elapsed = self.start.elapsed();
        // Aim at reading the clock about every 10 ms.
        let since = elapsed.saturating_sub(self.last_read);
        self.stride = match since.as_millis() {
            0..5 => (2 * self.stride).min(1 << 20),
            5..20 => self.stride,
            _ => (self.stride / 4).max(1),
        };
        (self.left, self.last_read) = (self.stride, elapsed);
        if elapsed < self.next {
            return;
        }
        self.next = elapsed + REFRESH;
        let experiment = engine.experiment();
        let bar = self.bar.get_or_insert_with(|| {
            let bar = bar(PER_MILLE);
            bar.set_style(style("[{bar:20}] {percent:>3} %   {msg}"));
            bar
        });
        bar.set_position((engine.progress() * PER_MILLE as f64) as u64);
        let simulated = engine.time() - self.start_time.unwrap_or(experiment.start);
        bar.set_message(format!(
            "t {:.4} / {} s   {:.3}x real time   coupling error {:.1e}",
            engine.time(),
            experiment.stop,
            simulated / elapsed.as_secs_f64(),
            step.coupling_error(),
        ));
    }
}

/// A bar over several runs, with the time that is left.
pub(crate) fn many_runs(output: Output, runs: usize) -> ProgressBar {
    if !wanted(output) || runs < 2 {
        return ProgressBar::hidden();
    }
    let bar = bar(runs as u64);
    bar.set_style(style("[{bar:20}] {pos}/{len} runs   {eta} left   {msg}"));
    bar
}

/// A bar over a budget of wall time: how much of it is spent, and what is being done.
pub(crate) struct BudgetProgress {
    bar: ProgressBar,
    budget: Duration,
}

impl BudgetProgress {
    pub(crate) fn new(output: Output, budget: Duration) -> Self {
        if !wanted(output) {
            return Self { bar: ProgressBar::hidden(), budget };
        }
        let bar = bar(PER_MILLE);
        bar.set_style(style("[{bar:20}] {msg}"));
        Self { bar, budget }
    }

    /// What is done next, with so much of the budget left.
    pub(crate) fn see(&self, doing: &str, left: Duration) {
        let spent = 1.0 - left.as_secs_f64() / self.budget.as_secs_f64().max(1e-9);
        self.bar.set_position((spent * PER_MILLE as f64) as u64);
        self.bar.set_message(format!("at most {:.0} s left   {doing}", left.as_secs_f64()));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
