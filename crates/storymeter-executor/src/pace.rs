//! How many stories go to slow metrics at once while somebody watches a progress bar.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storymeter_core::{MetricError, Progress};

/// The first portion, before anything is known about the speed of a metric.
const FIRST: usize = 8;

/// How long a portion should take, so that a progress bar moves.
const WANTED: Duration = Duration::from_millis(400);

/// Cuts a batch for slow metrics into portions that take about half a second each, and reports the
/// stories of each portion when it is done. Where nobody watches, nothing is cut.
///
/// Scores do not depend on the portions: on the CPU, the numbers of a story do not depend on the
/// stories beside it. [`MetricSet`](crate::MetricSet) does not cut batches for a GPU, where they
/// may.
#[derive(Debug)]
pub struct Pace {
    progress: Progress,
    stories: AtomicUsize,
}

impl Pace {
    /// A pace for this progress.
    pub fn new(progress: &Progress) -> Self {
        Self { progress: progress.clone(), stories: AtomicUsize::new(FIRST) }
    }

    /// No pace: everything at once.
    pub(crate) fn none() -> Self {
        Self::new(&Progress::unwatched())
    }

    /// How many of the remaining stories to take now.
    pub(crate) fn portion(&self, remaining: usize) -> usize {
        if self.progress.is_watched() {
            remaining.min(self.stories.load(Ordering::Relaxed))
        } else {
            remaining
        }
    }

    /// Hears how long a portion took.
    pub(crate) fn took(&self, stories: usize, time: Duration) {
        let fitting = stories as f64 * WANTED.as_secs_f64() / time.as_secs_f64().max(1e-6);
        // A first portion is slow for reasons that do not come again, so the size changes slowly.
        let (least, most) = ((stories / 2).max(1), stories.max(1) * 4);
        self.stories.store((fitting as usize).clamp(least, most), Ordering::Relaxed);
    }

    /// Ends the work if somebody asked for it.
    pub(crate) fn go_on(&self) -> Result<(), MetricError> {
        if self.progress.is_cancelled() { Err(MetricError::Interrupted) } else { Ok(()) }
    }

    /// Reports stories that are done.
    pub(crate) fn advance(&self, stories: usize) {
        self.progress.advance(stories as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_grow_and_shrink_with_the_speed() {
        let pace = Pace::new(&Progress::watched());
        assert_eq!(pace.portion(1000), FIRST);
        pace.took(FIRST, Duration::from_millis(1));
        assert_eq!(pace.portion(1000), 32, "fast, so four times as many");
        pace.took(32, Duration::from_secs(100));
        assert_eq!(pace.portion(1000), 16, "slow, so half as many");
        pace.took(16, WANTED);
        assert_eq!(pace.portion(1000), 16);
        pace.took(1, Duration::from_secs(100));
        assert_eq!(pace.portion(1000), 1, "never none");
        assert_eq!(pace.portion(0), 0);
    }

    #[test]
    fn work_goes_on_until_it_is_cancelled() {
        let progress = Progress::watched();
        let pace = Pace::new(&progress);
        assert!(pace.go_on().is_ok());
        progress.cancel();
        assert!(matches!(pace.go_on(), Err(MetricError::Interrupted)));
    }

    #[test]
    fn nothing_is_cut_where_nobody_watches() {
        assert_eq!(Pace::none().portion(1000), 1000);
    }
}
