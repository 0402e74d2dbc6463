//! Parallel work whose results come in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storymeter_executor::{Limit, in_order};

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
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
