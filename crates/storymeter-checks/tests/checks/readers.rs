//! The readers on the shared data: how many stories each file has, and what is known about each.

use std::collections::BTreeSet;
use std::path::PathBuf;

use storymeter_checks::{Result, shared};
use storymeter_core::read::{
    DuplicateIds, Format, ReadOptions, hanna_metric_name, hanna_scores, open,
};
use storymeter_core::{Direction, Role, Row, Story};

fn stories(path: PathBuf) -> Result<Vec<Story>> {
    open(&[path], &ReadOptions::default())?.map(|record| Ok(record?.story)).collect()
}

fn roc_has_60802_stories_of_five_sentences() -> Result {
    let path = shared("data/roc/stories.tsv.gz")?;
    let stories = stories(path)?;
    assert_eq!(stories.len(), 60_802);
    for (number, story) in stories.iter().enumerate() {
        assert_eq!(story.id, number.to_string());
        assert_eq!(story.sentences.len(), 5);
        let sentences: Vec<&str> =
            story.sentences.iter().map(|range| &story.text[range.clone()]).collect();
        assert_eq!(sentences.join(" "), story.text);
    }
    Ok(())
}

fn the_long_stories_are_18515_with_prompts() -> Result {
    let path = shared("data/long/stories.jsonl.gz")?;
    let stories = stories(path)?;
    assert_eq!(stories.len(), 18_515);
    assert!(stories.iter().all(|story| story.prompt.is_some()));
    Ok(())
}

fn the_generated_stories_are_28264_with_their_models() -> Result {
    let path = shared("data/generated/stories.jsonl.gz")?;
    let stories = stories(path)?;
    assert_eq!(stories.len(), 28_264);
    assert!(stories.iter().all(|story| story.system.is_some()));
    Ok(())
}

fn union_rated_400_stories_seven_times() -> Result {
    let path = shared("data/annotated/union_roc/ant_data.txt")?;
    let stories = stories(path)?;
    assert_eq!(stories.len(), 400);
    assert_eq!(stories[0].id, "151");
    for story in &stories {
        let ratings = story.ratings.get("human").expect("ratings");
        assert_eq!(ratings.len(), 7);
        assert!(ratings.iter().all(|rating| matches!(rating, Some(0.0 | 1.0))));
    }
    Ok(())
}

fn hanna_has_528_stories_with_texts_rated_by_three() -> Result {
    let path = shared("data/annotated/hanna/stories_first48.jsonl.gz")?;
    let stories = stories(path)?;
    assert_eq!(stories.len(), 528);
    for story in &stories {
        assert_eq!(story.ratings.iter().count(), 6);
        assert!(story.ratings.iter().all(|(_, given)| given.len() == 3));
        assert_eq!(story.references.len(), 1);
        assert!(story.system.is_some() && story.item.is_some());
    }
    let items: BTreeSet<&str> = stories.iter().map(Story::item).collect();
    assert_eq!(items.len(), 48);
    Ok(())
}

fn the_smaller_studies_have_1100_rated_stories() -> Result {
    // Several sets stand in one file, and each counts its stories anew.
    let path = shared("data/annotated/other/annotated.jsonl.gz")?;
    let error = stories(path.clone()).unwrap_err().to_string();
    assert!(error.contains("duplicate id"), "{error}");
    let options = ReadOptions::default().with(|it| it.duplicates = DuplicateIds::Renumber);
    let stories: Vec<Story> =
        open(&[path], &options)?.map(|record| Ok(record?.story)).collect::<Result<_>>()?;
    assert_eq!(stories.len(), 1_100);
    assert!(stories.iter().all(|story| !story.ratings.is_empty() && story.system.is_some()));
    Ok(())
}

fn a_line_of_the_reference_file_is_a_story() -> Result {
    let path = shared("data/annotated/union_roc/reference_opt.txt")?;
    let options = ReadOptions::default().with(|it| it.format = Some(Format::Lines));
    assert_eq!(open(&[path], &options).unwrap().filter(|record| record.is_ok()).count(), 4_909);
    Ok(())
}

fn hannas_published_scores_are_11_systems_96_prompts_and_72_metrics() -> Result {
    let table = hanna_scores(&shared("data/annotated/hanna/hanna_metric_scores.csv")?)?;
    let items: BTreeSet<&str> = table.rows().iter().map(|row| row.item.as_str()).collect();
    assert_eq!((table.systems().len(), items.len(), table.rows().len()), (11, 96, 1_056));
    assert_eq!((table.of_role(Role::Human).len(), table.of_role(Role::Metric).len()), (6, 72));
    for (at, column) in table.columns().iter().enumerate() {
        assert!(table.values(at).iter().all(|value| value.is_ok()), "{}", column.key);
        assert!(hanna_metric_name(column.key.as_str()).is_ascii(), "{}", column.key);
    }
    // One DepthScore, eight BaryScores, three InfoLMs and three repetition rates point down. Four
    // properties and three novelty rates point nowhere.
    let pointing =
        |direction| table.columns().iter().filter(|column| column.direction == direction).count();
    assert_eq!((pointing(Direction::Lower), pointing(Direction::None)), (15, 7));
    Ok(())
}

/// In the file of scores, the human value of a story is the mean of its ratings in the file of
/// texts.
fn hannas_two_files_agree_on_what_people_said() -> Result {
    let table = hanna_scores(&shared("data/annotated/hanna/hanna_metric_scores.csv")?)?;
    let mut compared = 0;
    for story in stories(shared("data/annotated/hanna/stories_first48.jsonl.gz")?)? {
        let same = |row: &Row| row.system == story.system && row.item == story.item();
        let row = table.rows().iter().position(same).expect("a row for each story");
        for column in table.of_role(Role::Human) {
            let criterion = table.columns()[column].key.as_str().to_lowercase();
            let mean = story.ratings.mean(&criterion).expect("three ratings");
            assert!((table.values(column)[row].clone()? - mean).abs() < 1e-12, "{criterion}");
            compared += 1;
        }
    }
    assert_eq!(compared, 528 * 6);
    Ok(())
}

storymeter_checks::checks!(
    roc_has_60802_stories_of_five_sentences,
    the_long_stories_are_18515_with_prompts,
    the_generated_stories_are_28264_with_their_models,
    union_rated_400_stories_seven_times,
    hanna_has_528_stories_with_texts_rated_by_three,
    the_smaller_studies_have_1100_rated_stories,
    a_line_of_the_reference_file_is_a_story,
    hannas_published_scores_are_11_systems_96_prompts_and_72_metrics,
    hannas_two_files_agree_on_what_people_said,
);
