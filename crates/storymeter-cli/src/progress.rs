//! A progress bar on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// A bar for `total` units of work. If the total is not known, it is a spinner with a count.
///
/// indicatif draws nothing if standard error is not a terminal. `--quiet` and `--no-progress` hide
/// the bar everywhere.
pub fn bar(common: &Common, what: &'static str, total: Option<u64>) -> ProgressBar {
    if common.quiet || common.no_progress {
        return ProgressBar::hidden();
    }
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta} left",
        ),
        None => (ProgressBar::new_spinner(), "{msg} {spinner} {human_pos} {per_sec}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what);
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
