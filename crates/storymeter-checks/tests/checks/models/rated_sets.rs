//! The rated sets that criteria are learned from, as `recipes/criteria/rated_sets.py` writes them.

use std::path::{Path, PathBuf};
use std::process::Command;

use storymeter_checks::{Error, Result, shared};
use storymeter_core::Story;
use storymeter_core::read::{ReadOptions, open};

/// The sets and their numbers of stories.
const SETS: [(&str, usize); 9] = [
    ("hanna", 528),
    ("union_roc", 400),
    ("nextchapter_crowdsource_roc", 120),
    ("nextchapter_crowdsource_wp", 80),
    ("nextchapter_inhouse_roc", 120),
    ("nextchapter_inhouse_wp", 80),
    ("storyer_story_correlation", 200),
    ("storyer_scary_story_correlation", 200),
    ("scratchplot", 300),
];

/// What a model of criteria predicts.
const HEADS: [&str; 7] =
    ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity", "overall"];

fn recipes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/criteria")
}

/// The stories of each set, in the order of [`SETS`].
pub(super) fn sets() -> Result<Vec<Vec<Story>>> {
    let folder = tempfile::tempdir()?;
    let script = recipes().join("rated_sets.py");
    let run = Command::new("python3").arg(script).arg(shared("data")?).arg(folder.path()).output();
    let run = run.map_err(|_| Error::Absent("there is no python3 on this machine".to_owned()))?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(std::fs::read_dir(folder.path())?.count(), SETS.len());
    let read = |(name, _): (&str, usize)| {
        let path = folder.path().join(format!("{name}.jsonl"));
        open(&[path], &ReadOptions::default())?.map(|record| Ok(record?.story)).collect()
    };
    SETS.into_iter().map(read).collect()
}

fn the_recipe_writes_the_2028_stories_of_nine_sets() -> Result {
    let sets = sets()?;
    assert_eq!(sets.iter().map(Vec::len).sum::<usize>(), 2028);
    for ((name, count), stories) in SETS.into_iter().zip(&sets) {
        assert_eq!(stories.len(), count, "{name}");
        for story in stories {
            assert!(story.id.starts_with(&format!("{name}-")), "{}", story.id);
            assert!(story.item.is_some() && !story.ratings.is_empty(), "{}", story.id);
        }
    }
    let same_as_published = |stories: &[Story], path: &str| -> Result {
        let published = super::stories(path)?;
        assert_eq!(published.len(), stories.len());
        for (story, published) in stories.iter().zip(&published) {
            assert_eq!(story.text, published.text, "{}", story.id);
            let means = |story: &Story| -> Vec<Option<f64>> {
                story.ratings.iter().map(|(name, _)| story.ratings.mean(name)).collect()
            };
            assert_eq!(means(story), means(published), "{}", story.id);
        }
        Ok(())
    };
    same_as_published(&sets[0], "data/annotated/hanna/stories_first48.jsonl.gz")?;
    same_as_published(&sets[1], "data/annotated/union_roc/ant_data.txt")
}

fn every_criterion_of_the_sets_has_a_head() -> Result {
    let map = std::fs::read_to_string(recipes().join("map.toml"))?;
    for ((name, _), stories) in SETS.into_iter().zip(sets()?) {
        let heading = format!("[{name}]\n");
        let table = map.split(&heading).nth(1).and_then(|rest| rest.split("\n[").next());
        let table = table.unwrap_or_else(|| panic!("no {heading}"));
        for (criterion, _) in stories.iter().flat_map(|story| story.ratings.iter()) {
            let line = table.lines().find(|line| line.starts_with(&format!("{criterion} = \"")));
            let head = line.and_then(|line| line.split('"').nth(1));
            let head = head.unwrap_or_else(|| panic!("{name}: {criterion} has no head"));
            assert!(HEADS.contains(&head), "{name}: {head}");
        }
    }
    Ok(())
}

storymeter_checks::checks!(
    the_recipe_writes_the_2028_stories_of_nine_sets,
    every_criterion_of_the_sets_has_a_head,
);
