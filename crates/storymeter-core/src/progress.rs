//! How far a long piece of work has come, for whoever wants to show it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far a long piece of work has come.
///
/// Whoever works says so here, from any thread. Whoever shows a progress bar looks at
/// [`Progress::now`] a few times per second. All clones are about the same work.
///
/// ```
/// use storymeter_core::Progress;
/// let progress = Progress::watched();
/// progress.begin("scoring");
/// progress.expect(40);
/// progress.advance(30);
/// let stage = progress.now().unwrap();
/// assert_eq!((stage.what, stage.done, stage.total), ("scoring", 30, Some(40)));
/// ```
///
/// Whoever watches can also end the work ([`Progress::cancel`]).
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<Arc<Watched>>);

#[derive(Debug, Default)]
struct Watched {
    state: Mutex<State>,
    cancelled: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    stage: Option<Stage>,
    begun: u64,
}

/// A stage of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// 1 for the first stage, 2 for the second, and so on.
    pub number: u64,
    /// What is being done, such as "scoring".
    pub what: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is to do, as far as is known. It can be an estimate, which changes.
    pub total: Option<u64>,
}

impl Progress {
    /// Progress that somebody shows. The work is cut into portions that are small enough for it.
    pub fn watched() -> Self {
        Self(Some(Arc::default()))
    }

    /// Progress that nobody looks at. Telling it anything costs nothing.
    pub fn unwatched() -> Self {
        Self(None)
    }

    /// Whether somebody looks.
    pub fn is_watched(&self) -> bool {
        self.0.is_some()
    }

    /// Asks the work to end. It does so at the next opportunity, usually within half a second, with
    /// [`MetricError::Interrupted`](crate::MetricError::Interrupted). Work that nobody watches
    /// cannot be ended.
    ///
    /// ```
    /// use storymeter_core::Progress;
    /// let progress = Progress::watched();
    /// progress.clone().cancel();
    /// assert!(progress.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        if let Some(watched) = &self.0 {
            watched.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the work should end.
    pub fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_some_and(|watched| watched.cancelled.load(Ordering::Relaxed))
    }

    /// A stage begins. The one before it is over.
    pub fn begin(&self, what: &'static str) {
        let Some(mut state) = self.state() else { return };
        state.begun += 1;
        state.stage = Some(Stage { number: state.begun, what, done: 0, total: None });
    }

    /// The stage has so much to do.
    pub fn expect(&self, total: u64) {
        self.change(|stage| stage.total = Some(total));
    }

    /// So much more of the stage is done.
    pub fn advance(&self, by: u64) {
        self.change(|stage| stage.done += by);
    }

    /// The stage is over.
    pub fn end(&self) {
        if let Some(mut state) = self.state() {
            state.stage = None;
        }
    }

    /// The stage that is under way, if there is one and somebody looks.
    pub fn now(&self) -> Option<Stage> {
        self.state().and_then(|state| state.stage)
    }

    fn change(&self, change: impl FnOnce(&mut Stage)) {
        if let Some(mut state) = self.state() {
            state.stage.as_mut().map(change);
        }
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        // Every change is a single assignment, so a panic elsewhere leaves nothing half done.
        self.0.as_ref().map(|watched| watched.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
