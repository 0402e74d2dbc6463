//! In the steady state, a run allocates its results and nothing else.
//!
//! This is a program of its own, because it counts what its allocator is asked for.

use rayon::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use storymeter_encoder::{Batch, Device, Model, Outputs, Pooling, Precision};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn the_second_time_a_batch_is_read_only_its_results_are_allocated() {
    /// The vectors, the sums that they are made of, and the lists of layers and of bounds.
    const RESULTS: usize = 5;
    let outputs = Outputs::new().pooled(Pooling::Mean);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mpnet");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    // A thread of the pool allocates when it starts, and when it first takes work from another.
    // Both should be over before anything is counted.
    for _ in 0..20 {
        pool.broadcast(|_| (0..100).into_par_iter().for_each(|_| std::thread::yield_now()));
    }
    for precision in [Precision::F32, Precision::Int8] {
        let model = Model::open(&folder, Device::Cpu, precision).unwrap();
        for stories in [1, 3, 80] {
            let batch: Batch = (0..stories)
                .map(|i| &[0u32, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 2][i % 3..])
                .collect();
            let long: Batch = (0..stories).map(|_| &[9u32; 60][..]).collect();
            pool.install(|| {
                let run = |batch| drop(model.run(batch, &outputs).unwrap());
                run(&long);
                run(&batch);
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                for _ in 0..20 {
                    run(&long);
                    run(&batch);
                }
                let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
                assert!(made <= 40 * RESULTS, "{precision:?}, {stories} stories: {made}");
            });
        }
    }
}
