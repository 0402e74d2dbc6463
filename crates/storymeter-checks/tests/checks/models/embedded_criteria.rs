//! What the embedded model of criteria must achieve.

use storymeter_checks::{Error, Result};
use storymeter_core::Story;
use storymeter_core::read::{DuplicateIds, ReadOptions, open};
use storymeter_stats::spearman;
use storymeter_union::EmbeddedModel;
use storymeter_union::criteria::CriteriaScorer;

use super::{rewritten, union_roc};

/// The predictions of a model, one column per criterion; NaN where there is none.
fn columns(scorer: &CriteriaScorer, stories: &[Story]) -> Result<Vec<Vec<f64>>> {
    let mut columns = vec![Vec::new(); scorer.criteria().heads.len()];
    for predictions in scorer.score(&stories.iter().collect::<Vec<_>>())? {
        for (column, prediction) in columns.iter_mut().zip(predictions) {
            column.push(prediction.map_or(f64::NAN, |prediction| prediction.value));
        }
    }
    Ok(columns)
}

/// Stories with prompts, from the set `nextchapter_inhouse_roc`, which is the third of its file.
fn prompted() -> Result<Vec<Story>> {
    let path = storymeter_checks::shared("data/annotated/other/annotated.jsonl.gz")?;
    let options = ReadOptions::default().with(|it| it.duplicates = DuplicateIds::Renumber);
    let stories = open(&[path], &options)?.skip(200).take(120).step_by(2);
    stories.map(|record| Ok(record?.story)).collect()
}

fn its_predictions_hardly_depend_on_how_a_story_is_written_down() -> Result {
    if !EmbeddedModel::Criteria.is_included() {
        let absent = "the program was built without the criteria model";
        return Err(Error::Absent(absent.to_owned()));
    }
    let scorer = CriteriaScorer::embedded()?;
    // An eighth of the stories is enough here.
    let roc: Vec<Story> = union_roc()?.into_iter().step_by(8).collect();
    let mut compared = 0;
    for stories in [roc, prompted()?] {
        let original = columns(&scorer, &stories)?;
        for (variant, rewrite) in rewritten::VARIANTS {
            let changed = columns(&scorer, &rewritten::all(&stories, rewrite))?;
            for (head, (before, after)) in
                scorer.criteria().heads.iter().zip(original.iter().zip(&changed))
            {
                let both = before.iter().zip(after).filter(|(x, y)| !x.is_nan() && !y.is_nan());
                let (before, after): (Vec<f64>, Vec<f64>) = both.unzip();
                // Relevance needs a prompt.
                if before.is_empty() {
                    continue;
                }
                let found = spearman(&before, &after)?.coefficient;
                assert!(found >= 0.9, "{}, {variant}: {found}", head.name);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 5 * (6 + 7));
    Ok(())
}

storymeter_checks::checks!(its_predictions_hardly_depend_on_how_a_story_is_written_down);
