//! A progress bar on standard error, if that is a terminal.
//!
//! A bar has no line end, so whatever is printed while it is drawn would continue its line. All
//! bars belong to one screen for that reason, and all other lines are printed by [`beside`].

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{
    HumanCount, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use storymeter_core::{Progress, Stage};

use crate::args::Common;

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(120);

/// Work that is over sooner than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// With a total: what is done, of how much, how fast, and how long the rest will take.
const WITH_TOTAL: &str = "{msg} {wide_bar} {human_pos}/{human_len} {rate}/s {eta} left";

/// Without a total, as for a pipe: what is done so far, and how fast.
const WITHOUT_TOTAL: &str = "{msg} {spinner} {human_pos} {rate}/s";

/// The bars that are drawn now.
static SCREEN: LazyLock<MultiProgress> = LazyLock::new(|| {
    let bars = MultiProgress::new();
    bars.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    bars
});

/// Prints something on a terminal while bars may be drawn: they are removed first, and drawn again
/// below it.
pub fn beside<T>(print: impl FnOnce() -> T) -> T {
    // indicatif also holds its lock while this runs, so no bar is drawn in between.
    SCREEN.suspend(print)
}

/// Removes all bars for good, because the program ends.
pub fn end() {
    // Where nothing can be drawn any more, nothing needs to be removed.
    let _ = SCREEN.clear();
    SCREEN.set_draw_target(ProgressDrawTarget::hidden());
}

/// Shows the progress of some work until it is dropped.
pub struct Shown {
    progress: Progress,
    over: Arc<AtomicBool>,
    painter: Option<JoinHandle<()>>,
}

impl Shown {
    /// Shows progress, if standard error is a terminal and the user did not forbid it.
    pub fn new(common: &Common) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        if !is_wanted(common) {
            return Self { progress: Progress::unwatched(), over, painter: None };
        }
        let progress = Progress::watched();
        let (seen, finished) = (progress.clone(), Arc::clone(&over));
        // Without a thread there is no bar, and the work goes on.
        let painter = thread::Builder::new().spawn(move || paint(&seen, &finished)).ok();
        Self { progress, over, painter }
    }

    /// What the work reports to.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Drop for Shown {
    /// Removes the bar.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(painter) = self.painter.take() {
            painter.thread().unpark();
            // A painter that panicked leaves no bar either.
            let _ = painter.join();
        }
    }
}

/// Looks at the progress again and again, and draws it.
fn paint(progress: &Progress, over: &AtomicBool) {
    let mut drawn: Option<(u64, Instant, Option<ProgressBar>)> = None;
    while !over.load(Ordering::Relaxed) {
        thread::park_timeout(TICK);
        let stage = progress.now();
        if let Some((number, _, bar)) = &drawn
            && stage.is_none_or(|stage| stage.number != *number)
        {
            bar.iter().for_each(ProgressBar::finish_and_clear);
            drawn = None;
        }
        let Some(stage) = stage else { continue };
        let (_, begun, bar) = drawn.get_or_insert_with(|| (stage.number, Instant::now(), None));
        if bar.is_some() || begun.elapsed() >= PATIENCE {
            draw(bar.get_or_insert_with(|| counter(stage.what)), &stage);
        }
    }
    drawn.and_then(|(_, _, bar)| bar).iter().for_each(ProgressBar::finish_and_clear);
}

/// Brings a bar up to date.
fn draw(bar: &ProgressBar, stage: &Stage) {
    if let Some(total) = stage.total {
        if bar.length().is_none() {
            bar.set_style(style(WITH_TOTAL));
        }
        // An estimate can be too small.
        bar.set_length(total.max(stage.done));
    }
    bar.set_position(stage.done);
    bar.tick();
}

/// A bar for `total` units of work that the caller moves himself.
///
/// Nothing is drawn if standard error is not a terminal. `--quiet` and `--no-progress` hide
/// the bar everywhere.
pub fn bar(common: &Common, what: &'static str, total: u64) -> ProgressBar {
    if !is_wanted(common) {
        return ProgressBar::hidden();
    }
    let bar = counter(what);
    bar.set_style(style(WITH_TOTAL));
    bar.set_length(total);
    bar.enable_steady_tick(TICK);
    bar
}

/// A bar without a total.
fn counter(what: &'static str) -> ProgressBar {
    let bar = SCREEN.add(ProgressBar::no_length());
    bar.set_style(style(WITHOUT_TOTAL));
    bar.set_message(what);
    bar
}

fn style(template: &str) -> ProgressStyle {
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be written is not drawn.
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

/// A speed with three digits at least, and no more after the point than that takes.
fn rate(per_second: f64) -> String {
    match per_second {
        slow if slow < 9.995 => format!("{slow:.2}"),
        slow if slow < 99.95 => format!("{slow:.1}"),
        fast => HumanCount(fast.round() as u64).to_string(),
    }
}

fn is_wanted(common: &Common) -> bool {
    !common.quiet && !common.no_progress && std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_speed_has_three_digits() {
        let shown = [0.0, 0.257, 9.996, 57.59, 99.96, 575.9605, 208_941.6].map(rate);
        assert_eq!(shown, ["0.00", "0.26", "10.0", "57.6", "100", "576", "208,942"]);
    }
}
