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
/// use storymeter_executor::{Limit, in_order};
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
