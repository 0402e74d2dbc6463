//! What the embedded UNION model must achieve.

use std::collections::BTreeMap;

use storymeter_checks::{Result, present, score, shared};
use storymeter_core::read::Record;
use storymeter_core::{Place, Settings, Story};
use storymeter_stats::{Coefficient, auc, mean, spearman};
use storymeter_union::{Score, UnionScorer};

use super::paper_examples::{self, Example};
use super::{ratings, rewritten, stories, union_roc};

fn scores(stories: &[Story]) -> Result<Vec<Score>> {
    Ok(UnionScorer::embedded()?.score(&stories.iter().collect::<Vec<_>>())?)
}

fn probabilities(stories: &[Story]) -> Result<Vec<f64>> {
    Ok(scores(stories)?.iter().map(|score| score.probability).collect())
}

fn it_agrees_with_the_readers_of_union_roc() -> Result {
    let stories = union_roc()?;
    let (scores, human) = (probabilities(&stories)?, ratings(&stories, "human"));
    for (coefficient, least) in
        [(Coefficient::Pearson, 0.33), (Coefficient::Spearman, 0.40), (Coefficient::Kendall, 0.28)]
    {
        let found = coefficient.value(&scores, &human)?;
        assert!(found >= least, "{coefficient:?}: {found}");
    }
    Ok(())
}

/// The mean over the items of the coefficient inside each of them: HANNA's story level.
fn inside_items(coefficient: Coefficient, items: &[&str], x: &[f64], y: &[f64]) -> f64 {
    let mut by_item: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let (own_x, own_y) = by_item.entry(item).or_default();
        own_x.push(x[at]);
        own_y.push(y[at]);
    }
    let each = by_item.values().filter_map(|(x, y)| coefficient.value(x, y).ok());
    mean(&each.filter(|value| !value.is_nan()).collect::<Vec<_>>())
}

fn it_agrees_better_with_hannas_coherence_than_repetition_does() -> Result {
    let mut stories = stories("data/annotated/hanna/stories_first48.jsonl.gz")?;
    stories.retain(|story| story.system.as_deref() != Some("Human"));
    assert_eq!(stories.len(), 480);
    let record = |(number, story): (u64, &Story)| Record {
        story: story.clone(),
        number,
        place: Place::default(),
    };
    let records: Vec<Record> = (0..).zip(&stories).map(record).collect();
    let (_, scored) = score(&["repetition-3"], Settings::default(), &records)?;
    let negated = |story| Ok(-present(scored.values(story))?[0]);
    let repetition: Vec<f64> = (0..records.len()).map(negated).collect::<Result<_>>()?;
    let (union, human) = (probabilities(&stories)?, ratings(&stories, "coherence"));
    let items: Vec<&str> = stories.iter().map(Story::item).collect();
    for coefficient in Coefficient::ALL {
        let pooled = [&union, &repetition].map(|scores| coefficient.value(scores, &human).unwrap());
        assert!(pooled[0] > pooled[1], "{coefficient:?}, all stories together: {pooled:?}");
        let inside = [&union, &repetition].map(|x| inside_items(coefficient, &items, x, &human));
        assert!(inside[0] > inside[1], "{coefficient:?}, inside the prompts: {inside:?}");
    }
    Ok(())
}

fn it_finds_repeated_plots() -> Result {
    let text = std::fs::read_to_string(shared("data/annotated/union_roc/ant_data_all.txt")?)?;
    // How many of the seven readers found the story reasonable (0), or its plot repeated (1).
    let count = |line: &str, answer: &str| {
        let answers = line.rsplit("|||").next().unwrap_or_default();
        answers.split_whitespace().filter(|given| *given == answer).count()
    };
    let repeats: Vec<bool> = text.lines().map(|line| count(line, "1") >= 3).collect();
    let reasonable: Vec<bool> = text.lines().map(|line| count(line, "0") == 7).collect();
    let damage: Vec<f64> = scores(&union_roc()?)?
        .iter()
        .map(|score| score.damage.expect("the model has a head for diagnosis")[0])
        .collect();
    assert_eq!((damage.len(), repeats.len()), (400, 400));
    let against_all = auc(&damage, &repeats)?;
    assert!(against_all.positives == 24 && against_all.value >= 0.80, "{against_all:?}");
    let kept: Vec<usize> = (0..400).filter(|&at| repeats[at] || reasonable[at]).collect();
    let damage: Vec<f64> = kept.iter().map(|&at| damage[at]).collect();
    let repeats: Vec<bool> = kept.iter().map(|&at| repeats[at]).collect();
    let against_reasonable = auc(&damage, &repeats)?;
    assert!(against_reasonable.value >= 0.90, "{against_reasonable:?}");
    Ok(())
}

/// How many pairs of a reasonable and an unreasonable story have their scores in the right order.
fn ordered_pairs(examples: &[Example], scores: &[f64]) -> usize {
    let scores_where = |reasonable: bool| {
        let both = examples.iter().zip(scores);
        both.filter(move |(example, _)| example.reasonable == reasonable).map(|(_, score)| *score)
    };
    scores_where(true).map(|good| scores_where(false).filter(|bad| good > *bad).count()).sum()
}

fn it_ranks_the_papers_examples_at_least_as_well_as_the_papers_baselines() -> Result {
    for examples in paper_examples::read()? {
        let stories: Vec<Story> =
            examples.iter().map(|example| Story::from(example.text.as_str())).collect();
        let own = ordered_pairs(&examples, &probabilities(&stories)?);
        for baseline in 0..2 {
            let scores: Vec<f64> = examples.iter().map(|e| e.baselines[baseline]).collect();
            assert!(own >= ordered_pairs(&examples, &scores), "{examples:?}: {own}");
        }
    }
    Ok(())
}

fn its_scores_hardly_depend_on_how_a_story_is_written_down() -> Result {
    // A quarter of the stories is enough here.
    let stories: Vec<Story> = union_roc()?.into_iter().step_by(4).collect();
    let original = probabilities(&stories)?;
    for (variant, rewrite) in rewritten::VARIANTS {
        let scores = probabilities(&rewritten::all(&stories, rewrite))?;
        let found = spearman(&original, &scores)?.coefficient;
        assert!(found >= 0.9, "{variant}: {found}");
    }
    Ok(())
}

storymeter_checks::checks!(
    it_agrees_with_the_readers_of_union_roc,
    it_agrees_better_with_hannas_coherence_than_repetition_does,
    it_finds_repeated_plots,
    it_ranks_the_papers_examples_at_least_as_well_as_the_papers_baselines,
    its_scores_hardly_depend_on_how_a_story_is_written_down,
);
