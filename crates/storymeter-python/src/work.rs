//! Runs work on threads of its own, while the calling thread listens for signals.
//!
//! After a `fork`, the threads of the parent do not exist in the child, and work that is given to
//! them would wait forever. Therefore nothing here uses rayon's global pool: pools belong to the
//! process that made them, and a child makes new ones.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use storymeter_core::Progress;

use crate::errors::{self, Failure};

/// How often signals are looked at, and progress is shown.
const TICK: Duration = Duration::from_millis(50);

/// How long interrupted work may take to end. Then it is left to itself: it owns all its data, and
/// ends when it sees that it was cancelled.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pools of one process, by their number of threads.
struct Pools {
    process: u32,
    by_threads: Mutex<HashMap<usize, Arc<ThreadPool>>>,
}

static POOLS: AtomicPtr<Pools> = AtomicPtr::new(std::ptr::null_mut());

/// The pools of this process.
fn pools() -> &'static Pools {
    let process = std::process::id();
    let known = POOLS.load(Ordering::Acquire);
    // SAFETY: the pointer is null or comes from `Box::leak` below, so it is valid forever.
    if let Some(known) = unsafe { known.as_ref() }
        && known.process == process
    {
        return known;
    }
    // The pools of the parent are never dropped, because their threads could not be waited for, and
    // their lock is not touched, because a thread that is gone may hold it.
    let fresh = Box::leak(Box::new(Pools { process, by_threads: Mutex::default() }));
    match POOLS.compare_exchange(known, fresh, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => fresh,
        // Another thread was faster. The few bytes are lost.
        // SAFETY: as above, and only the first exchange of a process succeeds, so it is not null.
        Err(faster) => unsafe { &*faster },
    }
}

/// A pool with this number of threads; 0 is one per core.
fn pool(threads: usize) -> Result<Arc<ThreadPool>, Failure> {
    let mut pools = pools().by_threads.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("storymeter-{number}"))
        .build()
        .map_err(|error| Failure::Internal(format!("cannot start the worker threads: {error}")))?;
    let pool = Arc::new(pool);
    pools.insert(threads, Arc::clone(&pool));
    Ok(pool)
}

/// Does some work without the interpreter's lock and on other threads.
///
/// The calling thread looks at signals meanwhile. If one of them raises an exception, as Ctrl-C
/// does, the work is cancelled, and the exception is what comes out. `show` is called with the name
/// of the stage, how much is done, and how much there is, if that is known.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    show: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Progress) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let progress = Progress::watched();
    let seen = progress.clone();
    let (sender, mut receiver) = sync_channel(1);
    let spawned = thread::Builder::new().name("storymeter".to_owned()).spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let pool = pool(threads)?;
            pool.install(|| work(&seen))
        }));
        // If the caller has left, nobody wants the result.
        let _ = sender.send(done.unwrap_or_else(|panic| Err(panicked(panic.as_ref()))));
    });
    spawned.map_err(|e| errors::raise(py, Failure::Internal(format!("cannot work: {e}"))))?;
    loop {
        let waiting = &mut receiver;
        let received = py.detach(move || waiting.recv_timeout(TICK));
        match received {
            Ok(done) => return done.map_err(|failure| errors::raise(py, failure)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(py, Failure::Internal("the work was lost".to_owned())));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let shown = show.map_or(Ok(()), |show| shown(show, &progress));
        if let Err(interrupt) = py.check_signals().and(shown) {
            progress.cancel();
            py.detach(move || receiver.recv_timeout(PATIENCE).map(drop)).ok();
            return Err(interrupt);
        }
    }
}

/// Shows how far the work has come.
fn shown(show: &Bound<'_, PyAny>, progress: &Progress) -> PyResult<()> {
    let Some(stage) = progress.now() else { return Ok(()) };
    show.call1((stage.what, stage.done, stage.total)).map(drop)
}

/// The failure that a panic is.
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let message = panic_message(panic);
    Failure::Internal(format!("this is a mistake in storymeter itself: {message}"))
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
