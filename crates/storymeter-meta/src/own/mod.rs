//! The same analysis on a user's own scores: `storymeter meta table`.

mod assemble;
mod extras;

use std::path::PathBuf;

use storymeter_core::{Direction, Signature};
use storymeter_stats::Coefficient;

pub use assemble::{Assembled, assemble};

use crate::degenerate::inspect;
use crate::error::Result;
use crate::level::Level;
use crate::pairwise::BootstrapOptions;
use crate::quality::{self, DrawOptions};
use crate::ratings::{RatingTable, agreement, distributions, system_averages};
use crate::scale::Scale;
use crate::sheet::{Document, Form, Sheet};
use crate::study::heatmaps::Label;
use crate::study::{Edition, Study, ballots};

/// What to analyse and how.
pub struct Options<'a> {
    /// What `score` wrote.
    pub scores: PathBuf,
    /// Stories with ratings, systems and items, joined by id.
    pub stories: Option<PathBuf>,
    /// Systems that are shown and left out of correlations and comparisons, such as human writers.
    pub outsiders: Vec<String>,
    /// The scale of the ratings; the range they have unless given.
    pub scale: Option<Scale>,
    /// Error types that raters named, `{"id", "errors": [type or null, one a rater]}` a line.
    pub errors: Option<PathBuf>,
    /// Scores of metrics trained on other data, in the form of `scores`.
    pub drift: Option<PathBuf>,
    /// Which way a metric points, where that is known.
    pub direction: &'a dyn Fn(&str) -> Direction,
    /// The paired bootstrap between systems.
    pub bootstrap: BootstrapOptions,
    /// How biased sets are drawn.
    pub draws: DrawOptions,
}

/// Biased sets are drawn from this many quality levels after 0, as UNION's seven raters gave.
const TOP_LEVEL: usize = 7;

/// Runs everything the data allows.
pub fn analyse(options: &Options<'_>) -> Result<Document> {
    let Assembled { table, ratings, cells, mut warnings } = assemble(options)?;
    let outsiders: Vec<&str> = options.outsiders.iter().map(String::as_str).collect();
    let study =
        Study::new(table.without_systems(&outsiders), Edition::Corrected, options.bootstrap)?;
    warnings.extend(inspect(study.table(), study.correlations()));
    let levels = levels(&study);
    let scale = options.scale.unwrap_or_else(|| range(&ratings));
    let mut sheets = Vec::new();
    if ratings.most_raters() > 1 {
        sheets.extend(agreement(&ratings, "agreement")?);
    }
    sheets.push(system_averages(&ratings, "systems", Edition::Corrected, &outsiders));
    sheets.extend(distributions(&ratings, "ratings", scale)?);
    let best =
        Sheet::new("best-metrics", "The metrics with the strongest correlations", Form::Table)
            .brief();
    sheets.push(study.best_metrics(best, &levels, &Coefficient::ALL, 3));
    let rankings = ballots(&study, &levels);
    sheets.push(
        study
            .borda(
                "borda",
                "Metrics by Borda count over all correlations",
                &rankings[..1],
                study.metrics().len(),
            )?
            .brief(),
    );
    sheets.push(study.all_correlations()?);
    for &level in &levels {
        sheets.extend(heatmaps(&study, level));
    }
    if study.table().systems().len() > 1 {
        let label =
            label("pairwise".into(), "Weighted macro F1 (%) of paired bootstrap resampling".into());
        sheets.push(study.pairwise(label, study.metrics())?.brief());
    }
    if study.table().systems().len() > 3 {
        let title = "System-level |Spearman| among the k best systems";
        sheets.push(study.top_systems(label("top-systems".into(), title.into()), study.metrics())?);
    }
    for &level in &levels {
        sheets.extend(williams(&study, level)?);
    }
    sheets.extend(biased_sets(&study, scale, options.draws)?);
    if let Some(path) = &options.errors {
        sheets.extend(extras::error_types(path, &table, &cells, &mut warnings)?);
    }
    if let Some(path) = &options.drift {
        sheets.push(extras::drift(path, &table, &cells)?);
    }
    let signature = signature(&study, &ratings, options);
    sheets.iter_mut().for_each(|sheet| sheet.signature = format!("{}|{signature}", sheet.id));
    Ok(Document { kind: "table".into(), signature: signature.to_string(), warnings, sheets })
}

fn label(id: String, title: String) -> Label {
    Label { id, title }
}

/// Levels with at least one correlation.
fn levels(study: &Study) -> Vec<Level> {
    let defined = |level: &Level| {
        study.metrics().iter().any(|&m| {
            study.criteria().iter().any(|&c| {
                study.correlations().get(*level, Coefficient::Kendall, m, c).gap.is_none()
            })
        })
    };
    let levels: Vec<Level> = Level::ALL.into_iter().filter(defined).collect();
    // Where nothing is defined the pool still shows why.
    if levels.is_empty() { vec![Level::Pooled] } else { levels }
}

fn range(ratings: &RatingTable) -> Scale {
    let all = || {
        ratings
            .stories
            .iter()
            .flat_map(|s| s.ratings.iter().flatten().copied())
            .filter(|r| !r.is_nan())
    };
    let (low, high) =
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if low < high { Scale { low, high } } else { Scale { low, high: low + 1.0 } }
}

fn heatmaps(study: &Study, level: Level) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for coefficient in Coefficient::ALL {
        let make = |what: &str, between: &str| {
            let title = format!("{level}-level {coefficient} correlations between {between}");
            label(format!("{what}-{level}-{coefficient}"), title)
        };
        let against = study.against_criteria(
            make("against", "metrics and criteria"),
            level,
            coefficient,
            study.metrics(),
        );
        sheets.push(if coefficient == Coefficient::Spearman { against.brief() } else { against });
        sheets.push(study.square(
            make("criteria", "criteria"),
            level,
            coefficient,
            study.criteria(),
        ));
        sheets.push(study.square(make("metrics", "metrics"), level, coefficient, study.metrics()));
    }
    sheets
}

/// One matrix a criterion; the test needs four observations.
fn williams(study: &Study, level: Level) -> Result<Vec<Sheet>> {
    if study.observations(level) < 4 {
        return Ok(Vec::new());
    }
    let labels = study.criteria().iter().map(|&criterion| {
        let name = &study.table().columns()[criterion].name;
        let title = format!("Williams tests between metrics for {name}, {level}-level Pearson");
        label(format!("williams-{level}-{name}"), title)
    });
    study.williams_matrices(labels.collect(), level, Coefficient::Pearson)
}

/// UNION's biased sets for every criterion, its scale cut into eight levels.
fn biased_sets(study: &Study, scale: Scale, draws: DrawOptions) -> Result<Vec<Sheet>> {
    let table = study.table();
    let mut sheets = Vec::new();
    let oriented = |&metric: &usize| -> Vec<f64> {
        let sign = if table.columns()[metric].direction == Direction::Lower { -1.0 } else { 1.0 };
        table.values(metric).iter().map(|v| sign * v).collect()
    };
    let scores: Vec<Vec<f64>> = study.metrics().iter().map(oriented).collect();
    let names: Vec<String> =
        study.metrics().iter().map(|&m| table.columns()[m].name.clone()).collect();
    let step = (scale.high - scale.low) / TOP_LEVEL as f64;
    let labels: Vec<String> =
        (0..=TOP_LEVEL).map(|k| format!("{:.3}", scale.low + step * k as f64)).collect();
    for &criterion in study.criteria() {
        let rated: Vec<usize> = (0..table.values(criterion).len())
            .filter(|&i| !table.values(criterion)[i].is_nan())
            .collect();
        let pick = |values: &[f64]| rated.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let human = pick(table.values(criterion));
        let level = |h: &f64| (((h - scale.low) / step).round().max(0.0) as usize).min(TOP_LEVEL);
        let levels: Vec<usize> = human.iter().map(level).collect();
        let scores: Vec<Vec<f64>> = scores.iter().map(|values| pick(values)).collect();
        let sets = quality::biased_sets(&levels, TOP_LEVEL, &human, &scores, draws)?;
        let id = format!("drift-{}", table.columns()[criterion].name);
        let made = quality::sheets(&id, &sets, &labels, &names, draws);
        sheets.extend(made.into_iter().map(|sheet| Sheet { brief: false, ..sheet }));
    }
    Ok(sheets)
}

fn signature(study: &Study, ratings: &RatingTable, options: &Options<'_>) -> Signature {
    Signature::new("meta-table")
        .with("systems", "s", study.table().systems().len())
        .with("items", "i", study.table().items().len())
        .with("criteria", "c", study.criteria().len())
        .with("metrics", "m", study.metrics().len())
        .with("rated", "r", ratings.stories.len())
        .with("seed", "seed", options.bootstrap.seed)
        .with("draws", "d", options.bootstrap.draws)
        .with_version()
}
