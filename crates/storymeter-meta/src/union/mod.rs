//! The meta-evaluation of the UNION paper (EMNLP 2020) on any rated set of its layout.
//!
//! Tables 2, 5, 6, 7, Figures 2 and 3 and appendix D, numbered as in the paper. What a folder lacks is left out
//! and said so.

mod correlation;
mod edits;
mod names;
mod rated;

use std::path::{Path, PathBuf};

use storymeter_core::{Direction, Signature};

pub use names::Known;
pub use rated::{RatedSet, Scores, numbers};

use crate::error::Result;
use crate::quality::DrawOptions;
use crate::ratings::{RatedStory, Raters, RatingTable, agreement};
use crate::scale::Scale;
use crate::sheet::{Document, Form, Sheet, Warning};

/// What to analyse beside the folder itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// The scale of the ratings.
    pub scale: Scale,
    /// How the biased sets of Figure 2 are drawn.
    pub draws: DrawOptions,
    /// Table 6: rated folders, each with a folder of scores by metrics trained on another dataset.
    pub drift: Vec<(PathBuf, PathBuf)>,
    /// Appendix D: what the model edited; `edits.txt` in the folder unless given.
    pub edits: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { scale: Scale::BINARY, draws: DrawOptions::default(), drift: Vec::new(), edits: None }
    }
}

/// Runs the whole analysis of a folder.
pub fn analyse(folder: &Path, options: &Options) -> Result<Document> {
    let mut set = RatedSet::read(folder, options.scale)?;
    let mut drift = options.drift.clone();
    let own_drift = folder.join("drift_output");
    if own_drift.is_dir() {
        drift.insert(0, (folder.to_owned(), own_drift));
    }
    let mut sheets = Vec::new();
    if let Some(errors) = &set.errors {
        sheets.extend(errors.shares("table-2")?);
        let note = "the paper says \"less than 0.15, p > 0.01\" of its ROC set: true over all stories, not over the unreasonable";
        sheets
            .iter_mut()
            .filter(|s| s.id == "table-2-correlations")
            .for_each(|s| s.notes.push(note.into()));
    }
    if !set.metrics.is_empty() {
        sheets.extend(correlation::table_5(&set)?);
    }
    let mut warnings = std::mem::take(&mut set.warnings);
    for (rated, scores) in &drift {
        let (sheet, more) = correlation::table_6(rated, scores, options.scale)?;
        sheets.push(Sheet {
            id: numbered("table-6", sheets.iter().filter(|s| s.id.starts_with("table-6")).count()),
            ..sheet
        });
        // The rated set of Table 6 may be the one that was read for all the others.
        let news: Vec<Warning> =
            more.into_iter().filter(|warning| !warnings.contains(warning)).collect();
        warnings.extend(news);
    }
    if let Some(errors) = &set.errors {
        let metrics = set.metrics.iter().map(|s| (s.metric.name.as_str(), s.values.as_slice()));
        sheets.push(errors.by_type("table-7", metrics, &set.human)?);
    }
    sheets.extend(correlation::figure_2(&set, options.draws)?);
    sheets.push(figure_3(&set));
    if set.raters > 1 {
        sheets.extend(agreement(&rating_table(&set), "agreement")?);
    }
    let edits = options
        .edits
        .clone()
        .or_else(|| Some(folder.join("edits.txt")).filter(|path| path.exists()));
    if let Some(path) = edits {
        sheets.push(edits::appendix_d(&set, &path)?);
    }
    warnings.extend(metric_warnings(&set));
    let signature = Signature::new("meta-union")
        .with("set", "set", &set.name)
        .with("n", "n", set.len())
        .with("raters", "k", set.raters)
        .with("metrics", "m", set.metrics.len())
        .with("seed", "s", options.draws.seed)
        .with("draws", "d", options.draws.draws)
        .with_version();
    sheets.iter_mut().for_each(|sheet| sheet.signature = format!("{}|{signature}", sheet.id));
    Ok(Document { kind: "union".into(), signature: signature.to_string(), warnings, sheets })
}

fn numbered(id: &str, before: usize) -> String {
    if before == 0 { id.to_owned() } else { format!("{id}-{}", before + 1) }
}

/// The ratings on the one criterion there is; their order says nothing about who gave them.
fn rating_table(set: &RatedSet) -> RatingTable {
    let story = |(at, ratings): (usize, &Vec<f64>)| RatedStory {
        id: at.to_string(),
        system: set.name.clone(),
        ratings: vec![ratings.clone()],
    };
    RatingTable {
        criteria: vec!["reasonable".into()],
        stories: set.ratings.iter().enumerate().map(story).collect(),
        raters: Raters::Anonymous,
    }
}

/// Figure 3: how many stories have which human score.
fn figure_3(set: &RatedSet) -> Sheet {
    let mut counts = vec![0usize; set.raters + 1];
    set.levels().into_iter().for_each(|level| counts[level.min(set.raters)] += 1);
    let mut sheet = Sheet::new("figure-3", "Stories by human score", Form::Bars)
        .brief()
        .column("score", 0)
        .column("mean rating", 4)
        .column("stories", 0);
    for (level, count) in counts.into_iter().enumerate() {
        let score = format!("{level}/{}", set.raters);
        sheet.push(vec![score.into(), (level as f64 / set.raters as f64).into(), count.into()]);
    }
    sheet
}

fn metric_warnings(set: &RatedSet) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (at, Scores { metric, values }) in set.metrics.iter().enumerate() {
        let mut warn = |kind: &str, message: String| {
            warnings.push(Warning::new(kind, format!("{}.txt", metric.id), message));
        };
        let missing = values.iter().filter(|v| v.is_nan()).count();
        if missing > 0 {
            warn(
                "missing",
                format!("{missing} of {} stories have no score and are left out", values.len()),
            );
        }
        if values.iter().all(|v| *v == values[0]) {
            warn("constant", format!("always {}; it cannot correlate with anything", values[0]));
        }
        if metric.direction == Direction::None {
            warn("direction", "not known whether more is better; taken to be".into());
        }
        if let Some(other) = set.metrics[..at].iter().find(|other| other.values == *values) {
            warn("duplicate", format!("the same numbers as {}.txt", other.metric.id));
        }
    }
    warnings
}
