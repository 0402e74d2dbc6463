//! The progress of long work.

use storymeter_core::{Progress, Stage};

#[test]
fn a_new_stage_starts_from_nothing() {
    let progress = Progress::watched();
    assert_eq!(progress.now(), None);
    progress.begin("reading");
    progress.expect(3);
    progress.advance(2);
    progress.begin("scoring");
    let stage = Stage { number: 2, what: "scoring", done: 0, total: None };
    assert_eq!(progress.clone().now(), Some(stage));
    progress.end();
    progress.advance(1);
    assert_eq!(progress.now(), None);
}

#[test]
fn nobody_sees_what_is_not_watched() {
    let progress = Progress::unwatched();
    progress.begin("scoring");
    progress.cancel();
    assert!(!progress.is_watched() && !progress.is_cancelled());
    assert_eq!(progress.now(), None);
}
