//! Joining score files takes memory for their values, and not for a path per value.
//!
//! This is a program of its own, because it counts what its allocator is asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use storymeter_core::read::{join_scores, scores};
use storymeter_core::{Catalogue, ScoreTable};

struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
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
fn a_long_path_is_not_copied_for_every_value() {
    const ROWS: usize = 500;
    const COLUMNS: usize = 20;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join([&"long".repeat(50)[..]; 15].join("/"));
    std::fs::create_dir_all(&folder).unwrap();
    let file = |name: &str| -> (std::path::PathBuf, ScoreTable) {
        let mut text = "id".to_owned();
        (0..COLUMNS).for_each(|column| write!(text, ",{name}{column}").unwrap());
        for row in 0..ROWS {
            write!(text, "\n{row}{}", ",0.5".repeat(COLUMNS)).unwrap();
        }
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        let table = scores(&path, &Catalogue::default()).unwrap();
        (path, table)
    };
    let files = [file("a"), file("b")];
    let before = BYTES.load(Ordering::Relaxed);
    let (table, rows) = join_scores(&files).unwrap();
    let used = BYTES.load(Ordering::Relaxed) - before;
    assert_eq!((table.rows().len(), table.columns().len()), (ROWS, 2 * COLUMNS));
    assert_eq!(rows[1][7], 7);
    let path = files[0].0.as_os_str().len();
    assert!(path > 3000 && used < 2 * ROWS * COLUMNS * path / 10, "{used} bytes, path of {path}");
}
