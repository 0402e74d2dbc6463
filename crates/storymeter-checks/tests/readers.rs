//! The readers on the shared data: how many stories each file has, and what is known about them.

use std::path::PathBuf;

use storymeter_checks::shared;
use storymeter_core::read::{Format, ReadOptions, hanna_metric_name, hanna_scores, open};
use storymeter_core::{Direction, Role, Story};

fn stories(path: PathBuf) -> Vec<Story> {
    open(&[path], &ReadOptions::default())
        .and_then(|reader| reader.map(|record| record.map(|record| record.story)).collect())
        .unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn roc_has_60802_stories_of_five_sentences() {
    let Some(path) = shared("data/roc/stories.tsv.gz") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 60_802);
    for (number, story) in stories.iter().enumerate() {
        assert_eq!(story.id, number.to_string());
        assert_eq!(story.sentences.len(), 5);
        let sentences: Vec<&str> =
            story.sentences.iter().map(|range| &story.text[range.clone()]).collect();
        assert_eq!(sentences.join(" "), story.text);
    }
}

#[test]
fn the_long_stories_are_18515_with_prompts() {
    let Some(path) = shared("data/long/stories.jsonl.gz") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 18_515);
    assert!(stories.iter().all(|story| story.prompt.is_some()));
}

#[test]
fn the_generated_stories_are_28264_with_their_models() {
    let Some(path) = shared("data/generated/stories.jsonl.gz") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 28_264);
    assert!(stories.iter().all(|story| story.system.is_some()));
}

#[test]
fn union_rated_400_stories_seven_times() {
    let Some(path) = shared("data/annotated/union_roc/ant_data.txt") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 400);
    assert_eq!(stories[0].id, "151");
    for story in &stories {
        let ratings = story.ratings.get("human").expect("ratings");
        assert_eq!(ratings.len(), 7);
        assert!(ratings.iter().all(|&rating| rating == 0.0 || rating == 1.0));
    }
}

#[test]
fn hanna_has_528_stories_with_texts_rated_by_three() {
    let Some(path) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 528);
    for story in &stories {
        assert_eq!(story.ratings.iter().count(), 6);
        assert!(story.ratings.iter().all(|(_, given)| given.len() == 3));
        assert_eq!(story.references.len(), 1);
        assert!(story.system.is_some() && story.item.is_some());
    }
    let items: std::collections::BTreeSet<&str> = stories.iter().map(Story::item).collect();
    assert_eq!(items.len(), 48);
}

#[test]
fn the_smaller_studies_have_1100_rated_stories() {
    let Some(path) = shared("data/annotated/other/annotated.jsonl.gz") else { return };
    let stories = stories(path);
    assert_eq!(stories.len(), 1_100);
    assert!(stories.iter().all(|story| !story.ratings.is_empty() && story.system.is_some()));
}

#[test]
fn a_line_of_the_reference_file_is_a_story() {
    let Some(path) = shared("data/annotated/union_roc/reference_opt.txt") else { return };
    let options = ReadOptions { format: Some(Format::Lines), ..ReadOptions::default() };
    assert_eq!(open(&[path], &options).unwrap().filter(Result::is_ok).count(), 4_909);
}

#[test]
fn hannas_published_scores_are_11_systems_96_prompts_and_72_metrics() {
    let Some(path) = shared("data/annotated/hanna/hanna_metric_scores.csv") else { return };
    let table = hanna_scores(&path).unwrap();
    assert_eq!((table.systems().len(), table.items().len()), (11, 96));
    let count = |role| table.columns().iter().filter(|column| column.role == role).count();
    assert_eq!((count(Role::Human), count(Role::Metric)), (6, 72));
    assert!((0..78).all(|column| table.values(column).iter().all(|x| x.is_finite())));
    // One DepthScore, eight BaryScores, three InfoLMs, three repetition rates point down; four properties and
    // three novelty rates point nowhere.
    let pointing =
        |direction| table.columns().iter().filter(|column| column.direction == direction).count();
    assert_eq!((pointing(Direction::Lower), pointing(Direction::None)), (15, 7));
    assert!(table.columns().iter().all(|column| hanna_metric_name(&column.name).is_ascii()));
    // A story's human mean is the mean of its ratings in the file of texts.
    let Some(texts) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    for story in stories(texts) {
        let system =
            table.systems().iter().position(|name| Some(name) == story.system.as_ref()).unwrap();
        let item: usize = story.item().parse().unwrap();
        for (column, criterion) in table.columns().iter().enumerate().take(6) {
            let mean = story.ratings.mean(&criterion.name.to_lowercase()).unwrap();
            assert!((table.row(column, system)[item] - mean).abs() < 1e-12);
        }
    }
}
