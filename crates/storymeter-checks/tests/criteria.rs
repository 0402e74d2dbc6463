//! The rated sets that criteria are learned from, and what `evaluate --criteria` says about
//! predictions whose figures are known beforehand.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use storymeter::core::Story;
use storymeter::core::read::{ReadOptions, hanna_metric_name, hanna_scores, open};
use storymeter::union::criteria::Scorer;
use storymeter::union::{Agreement, EmbeddedModel};
use storymeter_checks::criteria::{
    CRITERIA, CrossValidation, Draws, Inputs, Judged, Layout, LeftOut, Level, MODEL, OVERALL,
    Packed, Published, Sampled, Scores, evaluate, folds, nine_sets, page, unseen_sets,
};
use storymeter_checks::evaluate::Rated;
use storymeter_checks::{Error, Result, shared};
use storymeter_stats::Coefficient;
use tempfile::TempDir;

/// Runs `recipes/criteria/rated_sets.py` into a folder.
fn recipe(out: &Path) -> Result {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/criteria/rated_sets.py");
    let run = Command::new("python3").arg(script).arg(shared("data")?).arg(out).output();
    let run = run.map_err(|_| Error::Absent("there is no python3 on this machine".to_owned()))?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(())
}

fn the_recipe_writes_the_2028_stories_of_nine_sets() -> Result {
    let folder = TempDir::new()?;
    recipe(folder.path())?;
    let sets = nine_sets()?;
    assert_eq!((sets.len(), std::fs::read_dir(folder.path())?.count()), (9, 9));
    let mut total = 0;
    for Judged { set, aside } in sets {
        let path = folder.path().join(format!("{}.jsonl", set.name));
        let written: Vec<Story> = open(&[path], &ReadOptions::default())?
            .map(|record| record.map(|record| record.story))
            .collect::<std::result::Result<_, _>>()?;
        total += written.len();
        let (rest, judged): (Vec<&Story>, Vec<&Story>) =
            written.iter().partition(|story| aside.iter().any(|other| other.id == story.id));
        assert_eq!(rest.len(), aside.len(), "{}", set.name);
        assert_eq!(judged.len(), set.stories.len(), "{}", set.name);
        for ((story, ours), mean) in judged.iter().zip(&set.stories).zip(set.mean()) {
            assert_eq!((&story.id, &story.text), (&ours.id, &ours.text));
            assert_eq!((story.item(), &story.prompt), (ours.item(), &ours.prompt), "{}", story.id);
            let criteria: Vec<f64> = story
                .ratings
                .iter()
                .filter_map(|(criterion, _)| story.ratings.mean(criterion))
                .collect();
            let rated = criteria.iter().sum::<f64>() / criteria.len() as f64;
            assert!((rated - mean).abs() < 1e-9, "{}: {rated} {mean}", story.id);
        }
    }
    assert_eq!(total, 2028);
    Ok(())
}

fn every_criterion_of_the_sets_has_a_head() -> Result {
    let map = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/criteria/map.toml"),
    )?;
    for Judged { set, .. } in nine_sets()? {
        let heading = format!("[{}]\n", set.name);
        let table = map.split(&heading).nth(1).and_then(|rest| rest.split("\n[").next());
        let table = table.unwrap_or_else(|| panic!("no {heading}"));
        for (criterion, _) in set.criteria.iter().filter(|(criterion, _)| criterion != "mean") {
            let line = table.lines().find(|line| line.starts_with(&format!("{criterion} = \"")));
            let head = line.and_then(|line| line.split('"').nth(1));
            let head = head.unwrap_or_else(|| panic!("{}: {criterion} has no head", set.name));
            assert!(CRITERIA.contains(&head) || head == OVERALL, "{}: {head}", set.name);
        }
    }
    Ok(())
}

/// Files of predictions that are the ratings themselves: four folds of HANNA's prompts, and one
/// file for each set.
fn perfect(folder: &Path, sets: &[Judged]) -> Result<Inputs> {
    let lines = |judged: &Judged, kept: &dyn Fn(&Story) -> bool| -> String {
        let set = &judged.set;
        let line = |at: usize| {
            let mut ratings = serde_json::Map::new();
            for (criterion, values) in &set.criteria {
                ratings.insert(criterion.clone(), json!(values[at]));
            }
            ratings.insert(OVERALL.to_owned(), json!(set.mean()[at]));
            let Story { id, .. } = &set.stories[at];
            let item = set.stories[at].item();
            let cosine = set.criteria[0].1[at] / 5.0;
            json!({"set": set.name, "id": id, "item": item, "raw": ratings, "cosine": cosine,
                "rating": ratings})
        };
        let kept = (0..set.stories.len()).filter(|&at| kept(&set.stories[at]));
        kept.map(|at| format!("{}\n", line(at))).collect()
    };
    let mut inputs = Inputs::default();
    let write = |name: String, text: String| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    for fold in 0..4 {
        let in_fold =
            |story: &Story| story.item().parse().is_ok_and(|item: usize| item % 4 == fold);
        inputs.held_out.push(write(format!("fold-{fold}.jsonl"), lines(&sets[0], &in_fold))?);
    }
    for judged in sets {
        let name = format!("{}.jsonl", judged.set.name);
        inputs.left_out.push(write(name, lines(judged, &|_| true))?);
    }
    Ok(inputs)
}

/// Whether a row is about the model of criteria at a level.
fn is_model(row: &&Agreement, level: Level) -> bool {
    row.metric == MODEL && row.level == level.name()
}

fn predictions_that_are_the_ratings_have_correlation_1() -> Result {
    let (folder, sets) = (TempDir::new()?, nine_sets()?);
    let inputs = perfect(folder.path(), &sets)?;
    let held_out = folds(&inputs.held_out, &sets[0])?;
    let found = CrossValidation::new(&held_out, &sets[0].set, &[], &Published::of_hanna()?)?;
    assert_eq!((found.stories, found.prompts, found.folds, found.runs), (480, 48, 4, 1));
    for level in Level::ALL {
        let rows: Vec<&Agreement> = found.rows.iter().filter(|row| is_model(row, level)).collect();
        assert_eq!(rows.len(), 8, "six, their mean, and overall");
        for row in rows {
            assert!(row.pearson.low > 0.9999, "{row:?}");
            // Predicted ratings of relevance are rounded, which breaks ties between equal ones.
            let least = if row.criterion == "relevance" { 0.9 } else { 0.98 };
            assert!(row.spearman.low > least, "{row:?}");
        }
    }
    for row in &found.nearness {
        assert!(row.coverage.value > 0.999 && row.distance.value < 1e-6, "{row:?}");
    }
    let scores: Vec<Vec<Scores>> = sets
        .iter()
        .map(|judged| {
            let words = |story: &Story| story.text.split_whitespace().count() as f64;
            let values: Vec<f64> = judged.set.stories.iter().map(words).collect();
            let named = |name| Scores::new(name, values.clone());
            vec![named("union-compact"), named("length"), named("distinct-2")]
        })
        .collect();
    let found = LeftOut::new(&unseen_sets(&inputs.left_out, &sets)?, &sets, &scores)?;
    assert_eq!((found.differences.len(), found.above), (9, 9));
    assert!(found.missing.is_empty());
    assert!(found.means[0].1.low > 0.9999, "{:?}", found.means);
    Ok(())
}

fn correlations_of_the_72_metrics_are_the_authors() -> Result {
    let table = hanna_scores(&shared("data/annotated/hanna/hanna_metric_scores.csv")?)?;
    let machine: Vec<usize> = (0..table.rows().len())
        .filter(|&row| table.rows()[row].system.as_deref() != Some("Human"))
        .collect();
    let stories: Vec<Story> = machine
        .iter()
        .map(|&row| &table.rows()[row])
        .map(|row| Story {
            system: row.system.clone(),
            item: Some(row.item.clone()),
            ..Story::default()
        })
        .collect();
    let column = |at: usize| -> Result<Vec<f64>> {
        let values = table.values(at);
        let values = machine.iter().map(|&row| values[row].clone());
        Ok(values.collect::<std::result::Result<_, _>>()?)
    };
    let layout = Layout::new(&stories);
    assert_eq!((layout.stories(), layout.items()), (960, 96));
    let draws = Draws::none(layout.items());

    let text = std::fs::read_to_string(shared("data/annotated/hanna/rankings_global.csv")?)?;
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap_or_default();
    let named = |name: &str| {
        let is_named = |at: &usize| {
            hanna_metric_name(table.columns()[*at].key.as_str()).eq_ignore_ascii_case(name)
        };
        let found = (0..table.columns().len()).find(is_named);
        found.unwrap_or_else(|| panic!("no column {name}"))
    };
    let mut published = Published::default();
    let mut compared = 0;
    for cells in lines {
        let name = hanna_metric_name(cells[0]);
        let scores = column(named(name))?;
        for (head, cell) in heads.iter().zip(&cells).skip(1) {
            let parts: Vec<&str> = head.split('_').collect();
            let level = if parts[1] == "story" { Level::Story } else { Level::System };
            let coefficient: Coefficient = parts[2].parse().map_err(Error::Failed)?;
            let pair = (scores.as_slice(), &column(named(parts[0]))?[..]);
            let ours = Sampled::correlation(level, coefficient, pair, &layout, &draws).value;
            assert!((ours.abs() - cell.parse::<f64>()?).abs() < 1e-12, "{name} {head}: {ours}");
            compared += 1;
        }
        published.names.push(name.to_owned());
        published.columns.push(scores);
    }
    assert_eq!(compared, 72 * 36);
    let relevance = column(named("relevance"))?;
    let best = published.best(Level::Story, Coefficient::Pearson, &[&relevance], &layout);
    assert_eq!(best.map(|best| best.name).as_deref(), Some("BARTScore-SP"));
    Ok(())
}

fn a_whole_report_is_made_from_files() -> Result {
    let (folder, sets) = (TempDir::new()?, nine_sets()?);
    let mut inputs = perfect(folder.path(), &sets)?;
    // A set of short stories is enough here.
    inputs.left_out.retain(|path| path.ends_with("nextchapter_inhouse_roc.jsonl"));
    let report = evaluate(&inputs)?;
    let text = page(&report);
    for expected in [
        "HANNA, 480 machine-written stories, cross-validated over 48 prompts",
        "criteria is above union-compact on 1 of 1 sets",
        "was chosen on seven of these sets (annotated/other) and on half of union_roc",
        "It was chosen on these ratings, so its figure is flattering.",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // What `storymeter model pack --figures` takes, so no figure of it may be absent.
    let figures = &serde_json::to_value(&report)?["agreement"];
    let rows: Vec<Agreement> = serde_json::from_value(figures.clone())?;
    assert_eq!(rows.len(), 21, "{text}");
    assert_eq!((rows[0].criterion.as_str(), rows[0].metric.as_str()), ("mean of six", MODEL));
    // The agreement of the embedded model with the mean rating is known from its card.
    let found = report.cross_validation.iter().flat_map(|found| &found.rows);
    let union = found
        .filter(|row| row.metric == "union-compact" && row.criterion == OVERALL)
        .find(|row| row.level == Level::Pooled.name());
    let union = union.ok_or_else(|| Error::Failed("no row of union-compact".to_owned()))?;
    assert!((union.spearman.value - 0.426).abs() < 0.002, "{union:?}");
    Ok(())
}

/// The report on the criteria model that is part of the program.
fn embedded() -> Result<Packed> {
    if !EmbeddedModel::Criteria.is_included() {
        let absent = "the program was built without the criteria model";
        return Err(Error::Absent(absent.to_owned()));
    }
    // Short stories are enough for a test; `evaluate --criteria --model` takes HANNA's too.
    let sets = nine_sets()?.into_iter().filter(|judged| judged.set.name != "hanna");
    Packed::new(&Scorer::embedded()?, &sets.map(a_part).collect::<Vec<_>>())
}

/// At most about a hundred stories of a set.
fn a_part(judged: Judged) -> Judged {
    let Rated { name, stories, criteria } = judged.set;
    let step = stories.len().div_ceil(120);
    let part = |(name, values): (String, Vec<f64>)| {
        (name, values.into_iter().step_by(step).collect::<Vec<f64>>())
    };
    let criteria = criteria.into_iter().map(part).collect();
    let set = Rated { name, stories: stories.into_iter().step_by(step).collect(), criteria };
    Judged { set, ..judged }
}

fn predictions_hardly_depend_on_how_a_story_is_written_down() -> Result {
    let found = embedded()?;
    assert!(!found.robustness.is_empty());
    for row in &found.robustness {
        assert!(row.spearman >= 0.9, "{row:?}");
    }
    Ok(())
}

storymeter_checks::checks!(
    the_recipe_writes_the_2028_stories_of_nine_sets,
    every_criterion_of_the_sets_has_a_head,
    predictions_that_are_the_ratings_have_correlation_1,
    correlations_of_the_72_metrics_are_the_authors,
    a_whole_report_is_made_from_files,
    predictions_hardly_depend_on_how_a_story_is_written_down,
);
