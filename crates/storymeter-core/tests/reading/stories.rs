//! A story and its ratings.

use storymeter_core::{Ratings, Story};

#[test]
fn the_item_falls_back_to_the_prompt_and_then_to_the_id() {
    let mut story = Story { id: "3".into(), ..Story::default() };
    assert_eq!(story.item(), "3");
    story.prompt = Some("A door opens.".into());
    assert_eq!(story.item(), "A door opens.");
    story.item = Some("door".into());
    assert_eq!(story.item(), "door");
}

#[test]
fn a_missing_rating_does_not_count_in_the_mean() {
    let mut ratings = Ratings::new();
    ratings.push("coherence", Some(2.0));
    ratings.push("coherence", None);
    ratings.push("coherence", Some(5.0));
    assert_eq!(ratings.mean("coherence"), Some(3.5));
    assert_eq!(ratings.mean("surprise"), None);
    ratings.push("huge", Some(f64::MAX));
    ratings.push("huge", Some(f64::MAX));
    assert_eq!(ratings.mean("huge"), Some(f64::MAX));
}
