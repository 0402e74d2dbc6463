//! Several batches at once on all threads, whose results are taken one after the other, in order.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvError, TryRecvError, sync_channel};

/// How much may be under way at once.
pub struct Limit<'a, T> {
    /// The most items that are being worked on or wait to be taken. With two or more, a thread that
    /// has nothing left to do for one item begins the next. With one, all threads would wait for
    /// the slowest at the end of every item.
    pub items: usize,
    /// What an item weighs.
    pub weight: &'a dyn Fn(&T) -> usize,
    /// The most that these items may weigh together. An item that weighs more is worked on alone.
    pub most: usize,
}

impl<T> Limit<'_, T> {
    /// So many items, whatever they weigh.
    pub fn of_items(items: usize) -> Self {
        Self { items, weight: &|_| 0, most: 0 }
    }
}

/// Does `work` on each item on the threads of rayon's pool, and hands the results to `take` on this
/// thread, in the order of the items.
///
/// Items are taken from the iterator when they are needed: not before the limit allows it, except
/// for one that waits.
///
/// ```
/// use storymeter_metrics::{Limit, in_order};
/// let mut squares = Vec::new();
/// in_order(1..=4, Limit::of_items(2), |n| n * n, |square| {
///     squares.push(square);
///     Ok::<_, ()>(())
/// })?;
/// assert_eq!(squares, [1, 4, 9, 16]);
/// # Ok::<(), ()>(())
/// ```
///
/// # Errors
/// The first error of `take`. Nothing more is taken after it.
///
/// # Panics
/// If `work` panics.
pub fn in_order<T: Send, R: Send, E>(
    items: impl IntoIterator<Item = T>,
    limit: Limit<'_, T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let work = &work;
    rayon::in_place_scope_fifo(|scope| {
        let mut under_way = VecDeque::new();
        let mut items = items.into_iter().fuse();
        let (mut waiting, mut weight) = (None, 0usize);
        loop {
            while under_way.len() < limit.items.max(1)
                && let Some(item) = waiting.take().or_else(|| items.next())
            {
                let own = (limit.weight)(&item);
                if !under_way.is_empty() && weight.saturating_add(own) > limit.most {
                    waiting = Some(item);
                    break;
                }
                let (done, result) = sync_channel(1);
                // After an error nobody receives the result any more.
                scope.spawn_fifo(move |_| drop(done.send(work(item))));
                under_way.push_back((result, own));
                weight = weight.saturating_add(own);
            }
            let Some((oldest, own)) = under_way.pop_front() else { return Ok(()) };
            // If there is no result, `work` has panicked, and the scope will panic as well.
            let Ok(result) = wait(&oldest) else { return Ok(()) };
            take(result)?;
            weight -= own;
        }
    })
}

/// Waits for a result. A thread of the pool works meanwhile, because it may be the only one.
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
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads can be started")
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
                in_order(0..50, Limit::of_items(4), work, |n| {
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
            Limit::of_items(3),
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
    fn heavy_items_are_worked_on_alone_and_light_ones_together() {
        let weights = [1, 1, 1, 9, 1, 20, 1, 1];
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |weight: usize| {
            let sum = now.fetch_add(weight, Ordering::SeqCst) + weight;
            most.fetch_max(sum, Ordering::SeqCst);
            assert!(sum <= 10 || sum == weight, "{sum}");
            std::thread::sleep(Duration::from_millis(5));
            now.fetch_sub(weight, Ordering::SeqCst);
            weight
        };
        let mut taken = Vec::new();
        let all = pool(4).install(|| {
            let limit = Limit { items: 4, weight: &|weight| *weight, most: 10 };
            in_order(weights, limit, work, |weight| {
                taken.push(weight);
                Ok::<_, ()>(())
            })
        });
        assert_eq!((all, taken, most.into_inner()), (Ok(()), weights.to_vec(), 20));
    }

    #[test]
    fn the_first_error_in_order_ends_it() {
        let mut taken = 0;
        let ended = in_order(
            0..,
            Limit::of_items(4),
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
        let _ = in_order(0..10, Limit::of_items(2), work, |()| Ok::<_, ()>(()));
    }
}
