//! A progress bar on stderr when it is a terminal, and nothing when it is not.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// A bar for `total` units of work (`None`: unknown, a spinner with a count).
///
/// indicatif draws nothing where stderr is not a terminal; `--quiet` and `--no-progress` silence it everywhere.
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
