//! The meta-evaluation of the UNION paper (EMNLP 2020), on any rated set of its layout.
//!
//! It gives Tables 2, 5, 6, 7 and 11, Figures 2 and 3 and appendix D. What a folder lacks is left
//! out, and a warning says so.

mod edits;
mod misjudged;
pub(crate) mod names;
mod rated;

use std::path::{Path, PathBuf};

use storymeter_core::{Column, Direction, Key, Progress, Role, Signature};
use storymeter_stats::Coefficient;

pub use misjudged::MisjudgedOptions;
pub(crate) use rated::parse_numbers;
use rated::{RatedSet, Scores};

use crate::analysis::{
    Sample, Settings, agreement_of, associate, biased_sets, coefficient_only, compare_columns,
    with_interval,
};
use crate::error::{Error, Result};
use crate::level::Level;
use crate::ratings::{RatedStory, Raters, RatingTable};
use crate::scale::Scale;
use crate::study::{
    Agreement, Between, BiasedSets, Drift, Edition, Finding, HumanScores, Kind, Study, TestMatrix,
    Turn, Warning, WarningKind,
};
use crate::table::drift_row;

/// The name of the layout's only criterion.
pub(crate) const CRITERION: &str = "reasonable";

/// What to analyse beside the folder itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The scale of the ratings.
    pub scale: Scale,
    /// How metrics are compared, and how the biased sets of Figure 2 are drawn.
    pub settings: Settings,
    /// Table 6: rated folders, each with a folder of scores by metrics trained on another dataset.
    pub drift: Vec<(PathBuf, PathBuf)>,
    /// Appendix D: what the model edited; `edits.txt` in the folder where it is not given.
    pub edits: Option<PathBuf>,
    /// Appendix F: which misjudged stories are listed.
    pub misjudged: MisjudgedOptions,
    /// What hears how far the work has come.
    pub progress: Progress,
}

impl Options {
    /// The options after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: Scale::BINARY,
            settings: Settings::default(),
            drift: Vec::new(),
            edits: None,
            misjudged: MisjudgedOptions::default(),
            progress: Progress::unwatched(),
        }
    }
}

/// Runs the whole analysis of a folder.
///
/// # Errors
/// Returns an error if the folder has no `ant_data.txt`, or a file is not in the layout.
pub fn analyse(folder: &Path, options: &Options) -> Result<Study> {
    analyse_folder(folder, options).map_err(|error| error.in_file(Some(folder)))
}

/// The files that [`analyse`] reads, which no output may replace.
///
/// # Errors
/// Returns an error if a folder of scores cannot be read.
pub fn inputs(folder: &Path, options: &Options) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = rated::annotation_files(folder).into();
    files.extend(options.edits.clone());
    files.extend(rated::score_files(&folder.join("metric_output"))?);
    for (rated, scores) in drift_folders(folder, options) {
        files.extend(rated::annotation_files(&rated));
        files.extend(rated::score_files(&rated.join("metric_output"))?);
        files.extend(rated::score_files(&scores)?);
    }
    Ok(files)
}

/// Rated folders, each with a folder of scores by metrics that were trained elsewhere.
fn drift_folders(folder: &Path, options: &Options) -> Vec<(PathBuf, PathBuf)> {
    let own = Some(folder.join("drift_output")).filter(|own| own.is_dir());
    let own = own.map(|scores| (folder.to_owned(), scores));
    own.into_iter().chain(options.drift.iter().cloned()).collect()
}

fn analyse_folder(folder: &Path, options: &Options) -> Result<Study> {
    options.settings.check()?;
    let mut set = RatedSet::read(folder, options.scale)?;
    let drift = drift_folders(folder, options);
    let criterion = Key::new(CRITERION);
    let mut findings = Vec::new();
    if let Some(errors) = &set.errors {
        findings.push(Finding::ErrorTypes(errors.shares()?));
    }
    if !set.metrics.is_empty() {
        findings.extend(table_5(&set, &criterion, &options.settings, &options.progress)?);
    }
    let mut warnings = std::mem::take(&mut set.warnings);
    for (rated, scores) in &drift {
        let (table, more) = table_6(rated, scores, options.scale, &criterion)?;
        findings.push(Finding::Drift(table));
        // The rated set of Table 6 may be the one that was read for all the others.
        let unknown = more.into_iter().filter(|warning| !warnings.contains(warning));
        let unknown: Vec<Warning> = unknown.collect();
        warnings.extend(unknown);
    }
    let scores: Vec<(Key, Vec<f64>)> =
        set.metrics.iter().map(|s| (s.metric.clone(), s.values.clone())).collect();
    if let Some(errors) = &set.errors {
        findings.push(Finding::ByErrorType(errors.by_type(&criterion, &scores, &set.human)?));
    }
    let misjudged = misjudged::table_11(&set, &criterion, &options.misjudged)?;
    findings.push(Finding::BiasedSets(figure_2(&set, criterion, scores, &options.settings)?));
    findings.push(Finding::HumanScores(figure_3(&set)));
    if set.raters > 1 {
        findings.push(Finding::RaterAgreement(rating_table(&set).agreement()?));
    }
    let edits = options
        .edits
        .clone()
        .or_else(|| Some(folder.join("edits.txt")).filter(|path| path.exists()));
    if let Some(path) = edits {
        findings.push(Finding::Edits(edits::appendix_d(&set, &path)?));
    }
    if misjudged.most > 0 && !misjudged.metrics.is_empty() {
        findings.push(Finding::Misjudged(misjudged));
    }
    warnings.extend(metric_warnings(&set));
    let signature = Signature::new("meta-union")
        .with("set", "set", &set.name)
        .with("n", "n", set.len())
        .with("raters", "k", set.raters)
        .with("metrics", "m", set.metrics.len());
    let draws = options.settings.draws;
    let turned = set.metrics.iter().filter(|s| s.direction == Direction::Lower);
    let study = Study {
        kind: Kind::Union,
        edition: Edition::Corrected,
        signature: options.settings.sign(signature, draws.seed, draws.draws),
        warnings,
        columns: columns(&set),
        turned: turned.map(|s| s.metric.clone()).collect(),
        systems: vec![set.name.clone()],
        items: set.len(),
        findings,
    };
    Ok(study.with_metric_rankings().with_backwards_warned())
}

/// The criterion and the metrics, as the scores are after they were turned.
fn columns(set: &RatedSet) -> Vec<Column> {
    let count = |column: &mut Column, present: usize| {
        column.counts.present = present as u64;
        column.counts.absent = (set.len() - present) as u64;
    };
    let mut human = Column::criterion(CRITERION);
    count(&mut human, set.human.iter().filter(|v| !v.is_nan()).count());
    let metric = |scores: &Scores| {
        let mut column = Column::metric(scores.metric.clone(), turned(scores.direction));
        count(&mut column, scores.values.iter().filter(|v| !v.is_nan()).count());
        column
    };
    std::iter::once(human).chain(set.metrics.iter().map(metric)).collect()
}

/// The direction of scores that were turned so that more is better, where the direction is known.
fn turned(direction: Direction) -> Direction {
    match direction {
        Direction::None => Direction::None,
        Direction::Higher | Direction::Lower => Direction::Higher,
    }
}

/// Table 5: every metric against the mean human score, and the metrics against each other.
fn table_5(
    set: &RatedSet,
    criterion: &Key,
    settings: &Settings,
    progress: &Progress,
) -> Result<Vec<Finding>> {
    let mut agreements: Vec<Agreement> = Vec::new();
    for Scores { metric, values, .. } in &set.metrics {
        for coefficient in Coefficient::ALL {
            let found = associate(coefficient, values, &set.human)?;
            let found = with_interval(found, coefficient, (&set.human, values), &[], settings)?;
            agreements.push(agreement_of(found, metric, criterion, Level::Pooled, coefficient));
        }
    }
    let keys: Vec<Key> = set.metrics.iter().map(|s| s.metric.clone()).collect();
    let mut findings = vec![Finding::Agreements(agreements)];
    if keys.len() > 1 {
        findings.push(Finding::Tests(tests(set, criterion, &keys, settings, progress)?));
    }
    for coefficient in Coefficient::ALL {
        let mut cells = Vec::new();
        for (at, first) in set.metrics.iter().enumerate() {
            for second in &set.metrics[at..] {
                let found = coefficient_only(coefficient, &first.values, &second.values)?;
                cells.push(found.association());
            }
        }
        let (role, level, keys) = (Role::Metric, Level::Pooled, keys.clone());
        findings.push(Finding::Between(Between { role, level, coefficient, keys, cells }));
    }
    Ok(findings)
}

/// Whether one metric's correlation is really higher than another's on the same stories.
fn tests(
    set: &RatedSet,
    criterion: &Key,
    keys: &[Key],
    settings: &Settings,
    progress: &Progress,
) -> Result<TestMatrix> {
    let columns: Vec<&[f64]> = set.metrics.iter().map(|s| s.values.as_slice()).collect();
    let turn = |scores: &Scores| Turn::new(turned(scores.direction), Edition::Corrected);
    let turns: Vec<Turn> = set.metrics.iter().map(turn).collect();
    let Settings { test, sides, coefficient, correction, .. } = *settings;
    Ok(TestMatrix {
        test,
        criterion: criterion.clone(),
        level: Level::Pooled,
        coefficient,
        correction,
        sides,
        metrics: keys.to_vec(),
        pairs: compare_columns(&set.human, &columns, &turns, settings, progress)?,
    })
}

/// Table 6: scores of metrics that were trained on another dataset, beside those of the same
/// metrics trained on this one.
fn table_6(
    rated: &Path,
    scores: &Path,
    scale: Scale,
    criterion: &Key,
) -> Result<(Drift, Vec<Warning>)> {
    let mut set = RatedSet::read(rated, scale)?;
    let drifted = set.scores(scores)?;
    if drifted.is_empty() {
        return Err(Error::NoScoreFiles(scores.to_owned()));
    }
    let mut rows = Vec::new();
    for Scores { metric, values, .. } in &drifted {
        let home = set.metrics.iter().find(|home| home.metric == *metric);
        let home = home.map(|home| home.values.as_slice());
        rows.push(drift_row(metric, (values, home), (criterion, &set.human), &[])?);
    }
    let name = scores
        .file_name()
        .map_or_else(|| scores.display().to_string(), |name| name.to_string_lossy().into_owned());
    let (joined, stories) = (set.len(), set.len());
    Ok((Drift { scores: name, rated: set.name, joined, stories, rows }, set.warnings))
}

/// Figure 2: the biased sets, what they hold (left), and how each metric does on them (right).
fn figure_2(
    set: &RatedSet,
    criterion: Key,
    scores: Vec<(Key, Vec<f64>)>,
    settings: &Settings,
) -> Result<BiasedSets> {
    let (keys, values): (Vec<Key>, Vec<Vec<f64>>) = scores.into_iter().unzip();
    let levels = set.levels();
    let sample = Sample { levels: &levels, top: set.raters, human: &set.human, metrics: &values };
    Ok(BiasedSets {
        criterion,
        draws: settings.draws.draws,
        seed: settings.draws.seed,
        levels: (0..=set.raters).map(|level| format!("{level}/{}", set.raters)).collect(),
        metrics: keys,
        sets: biased_sets(&sample, settings.draws)?,
    })
}

/// The ratings on the one criterion there is. Their order says nothing about who gave them.
fn rating_table(set: &RatedSet) -> RatingTable {
    let story = |(at, ratings): (usize, &Vec<f64>)| RatedStory {
        id: at.to_string(),
        system: set.name.clone(),
        ratings: vec![ratings.iter().copied().map(Some).collect()],
    };
    RatingTable {
        criteria: vec![CRITERION.into()],
        stories: set.ratings.iter().enumerate().map(story).collect(),
        raters: Raters::Anonymous,
    }
}

/// Figure 3: how many stories have which human score.
fn figure_3(set: &RatedSet) -> HumanScores {
    let mut counts = vec![0usize; set.raters + 1];
    set.levels().into_iter().for_each(|level| counts[level.min(set.raters)] += 1);
    HumanScores { raters: set.raters, counts }
}

fn metric_warnings(set: &RatedSet) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (at, Scores { file, direction, values, .. }) in set.metrics.iter().enumerate() {
        let mut warn = |kind, message: String| {
            warnings.push(Warning::new(kind, file.as_str(), message));
        };
        let missing = values.iter().filter(|v| v.is_nan()).count();
        if missing > 0 {
            let message =
                format!("{missing} of {} stories have no score and are left out", values.len());
            warn(WarningKind::Missing, message);
        }
        if values.iter().all(|v| *v == values[0]) {
            let message = format!("it is always {} and cannot correlate with anything", values[0]);
            warn(WarningKind::Constant, message);
        }
        if *direction == Direction::None {
            let message = "it is not known whether more is better: tests compare the size of its \
                           correlations, and all else takes more to be better";
            warn(WarningKind::Direction, message.into());
        }
        if let Some(other) = set.metrics[..at].iter().find(|other| other.values == *values) {
            warn(WarningKind::Duplicate, format!("it has the same numbers as {}", other.file));
        }
    }
    warnings
}
