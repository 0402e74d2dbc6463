//! Batches under way: several at once on all threads, and what comes of them taken one after the other, in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvError, TryRecvError, sync_channel};

/// Does `work` on each item on the threads of rayon's pool and hands the results to `take`, in the order of the items,
/// on this thread. The first error of `take` ends it.
///
/// Items are taken from the iterator when they are needed: at most `ahead` of them are being worked on or wait to be
/// taken. With two or more, a thread that finds nothing left to do in one item begins the next, where one item at a
/// time would have all threads wait for the slowest at every item's end.
///
/// # Panics
/// If `work` does.
pub fn in_order<T: Send, R: Send, E>(
    items: impl IntoIterator<Item = T>,
    ahead: usize,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let work = &work;
    rayon::in_place_scope_fifo(|scope| {
        let mut under_way = VecDeque::new();
        let mut items = items.into_iter().fuse();
        loop {
            while under_way.len() < ahead.max(1)
                && let Some(item) = items.next()
            {
                let (done, result) = sync_channel(1);
                // Nobody listens any more after an error.
                scope.spawn_fifo(move |_| drop(done.send(work(item))));
                under_way.push_back(result);
            }
            let Some(oldest) = under_way.pop_front() else { return Ok(()) };
            // Without a result `work` has panicked, and so will the scope.
            let Ok(result) = wait(&oldest) else { return Ok(()) };
            take(result)?;
        }
    })
}

/// Waits for a result; a thread of the pool works meanwhile, as it may be the only one.
fn wait<R>(result: &Receiver<R>) -> Result<R, RecvError> {
    loop {
        match result.try_recv() {
            Ok(result) => return Ok(result),
            Err(TryRecvError::Disconnected) => return Err(RecvError),
            Err(TryRecvError::Empty) => match rayon::yield_now() {
                None => return result.recv(),
                Some(rayon::Yield::Executed) => {}
                Some(rayon::Yield::Idle) => std::thread::yield_now(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had")
    }

    #[test]
    fn results_come_in_order_however_long_each_takes() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let work = |n: u64| {
                std::thread::sleep(Duration::from_micros((n * 7) % 11 * 100));
                n
            };
            pool(threads).install(|| {
                in_order(0..50, 4, work, |n| {
                    taken.push(n);
                    Ok::<_, ()>(())
                })
                .expect("nothing fails");
            });
            assert_eq!(taken, (0..50).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn no_more_items_are_read_than_may_be_under_way() {
        let (read, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items = (0..40).inspect(|_| {
            let ahead = read.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
            assert!(ahead <= 3, "{ahead} under way");
        });
        in_order(
            items,
            3,
            |n| n,
            |_| {
                taken.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ()>(())
            },
        )
        .expect("nothing fails");
        assert_eq!(taken.into_inner(), 40);
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        let mut taken = 0;
        let ended = in_order(
            0..,
            4,
            |n| n,
            |n| {
                taken = n;
                if n == 7 { Err("seven") } else { Ok(()) }
            },
        );
        assert_eq!((ended, taken), (Err("seven"), 7));
    }

    #[test]
    #[should_panic(expected = "the fourth")]
    fn a_panic_in_a_worker_is_a_panic_here() {
        let work = |n| assert!(n != 3, "the fourth");
        let _ = in_order(0..10, 2, work, |()| Ok::<_, ()>(()));
    }
}
