//! The analysis of a user's own table of scores and ratings.

mod extras;
mod stories;

use std::path::PathBuf;

use storymeter_core::{Direction, Error as CoreError, Progress, Role, ScoreTable, Signature};
use storymeter_stats::Coefficient;

pub(crate) use extras::{drift_row, three};
pub use stories::with_stories;

use crate::analysis::{Analysis, Sample, Settings, biased_sets, inspect};
use crate::error::{Error, Result};
use crate::grid::{Grid, file_of, find_metric};
use crate::level::Level;
use crate::ratings::RatingTable;
use crate::scale::Scale;
use crate::study::{BiasedSets, Edition, Finding, Kind, RankMethod, Study, Warning, WarningKind};
use crate::systems::MOST_SYSTEMS;

/// What to analyse beside the table itself, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// Systems that are shown and left out of correlations and comparisons, such as human writers.
    pub without: Vec<String>,
    /// Metrics whose direction is another than the table says, or that the table does not know.
    pub directions: Vec<(String, Direction)>,
    /// The scale of the ratings; the range of the ratings where it is not given.
    pub scale: Option<Scale>,
    /// A file of error types that raters named:
    /// `{"id", "system", "errors": [type or null, one per rater]}` per line. The system may be
    /// absent where no two systems have the same id.
    pub errors: Option<PathBuf>,
    /// Scores of metrics that were trained on other data.
    pub drift: Option<ScoreTable>,
    /// What is already known to be wrong with the data.
    pub warnings: Vec<Warning>,
    /// How metrics are compared.
    pub settings: Settings,
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

/// Biased sets are drawn from this many quality levels above 0, as UNION's seven raters gave.
const TOP_LEVEL: usize = 7;

/// Runs every analysis that a table allows.
///
/// Directions come from the columns of the table, and [`Options::directions`] overrides them.
///
/// # Errors
/// Returns an error if the table has no criterion or no metric, a name in the options is not known,
/// a rating is outside the scale, or the stories cannot be arranged as systems and items.
pub fn analyse(table: &ScoreTable, options: &Options) -> Result<Study> {
    let file = file_of(table);
    analyse_table(table, options).map_err(|error| error.in_file(file.as_deref()))
}

fn analyse_table(table: &ScoreTable, options: &Options) -> Result<Study> {
    let file = file_of(table);
    if table.of_role(Role::Human).is_empty() {
        return Err(Error::NoCriterion { file });
    }
    check_scale(table, options.scale)?;
    let mut grid = Grid::from_table(table)?;
    if options.errors.is_some() || options.drift.is_some() {
        grid.check_single(table)?;
    }
    turn(&mut grid, table, &options.directions)?;
    check_left_out(&grid, &options.without)?;
    let competing = grid.without_systems(&options.without);
    let watched = (options.settings, &options.progress);
    let comparisons = options.settings.compare_systems(
        table,
        &options.without,
        &options.directions,
        &options.progress,
    )?;
    let analysis = Analysis::new(competing, comparisons, Edition::Corrected, watched, file)?;
    let ratings = RatingTable::of_rows(table.rows(), analysis.keys(&analysis.criteria));
    let scale = options.scale.unwrap_or_else(|| range(table, &ratings));

    let mut warnings = options.warnings.clone();
    let note = |note: &String| Warning::new(WarningKind::Header, "scores", note.as_str());
    warnings.extend(table.notes().iter().map(note));
    warnings.extend(averaged(&grid));
    warnings.extend(empty_cells(&analysis.grid));
    warnings.extend(too_many_systems(&analysis.grid));
    warnings.extend(inspect(&analysis.grid, &analysis.correlations));

    let mut findings = Vec::new();
    let single_ratings = ratings.most_raters() > 0;
    if ratings.most_raters() > 1 {
        findings.push(Finding::RaterAgreement(ratings.agreement()?));
    }
    if single_ratings {
        let averages = ratings.system_averages(Edition::Corrected, &options.without);
        findings.push(Finding::SystemAverages(averages));
        findings.push(Finding::Ratings(ratings.distribution(scale)));
    } else {
        findings.push(Finding::SystemAverages(analysis.system_means()));
    }
    findings.extend(compare(&analysis)?);
    findings.extend(biased(&analysis, scale)?);
    let scored = extras::Scored { table, grid: &grid };
    if let Some(path) = &options.errors {
        findings.extend(extras::error_types(path, scored, &mut warnings)?);
    }
    if let Some(drifted) = &options.drift {
        findings.push(Finding::Drift(extras::drift(drifted, scored)?));
    }
    let signature = signature(&analysis, &ratings);
    Ok(analysis
        .study(Kind::Table, signature, warnings, findings)
        .with_metric_rankings()
        .with_backwards_warned())
}

/// Everything that concerns metrics and systems.
fn compare(analysis: &Analysis) -> Result<Vec<Finding>> {
    let agreements = analysis.agreements()?;
    let defined =
        |level: &Level| agreements.iter().any(|one| one.level == *level && one.value.is_ok());
    let levels: Vec<Level> = Level::ALL.into_iter().filter(defined).collect();
    let mut findings = vec![Finding::Agreements(agreements)];
    if let Some(all) = analysis.ballots(&levels).first() {
        for method in [RankMethod::Borda, RankMethod::MeanRank, RankMethod::Kemeny] {
            if !levels.is_empty() {
                findings.push(Finding::Ranking(analysis.ranking(all, method)?));
            }
        }
    }
    for &level in &levels {
        for coefficient in Coefficient::ALL {
            for role in [Role::Human, Role::Metric] {
                findings.push(Finding::Between(analysis.between(role, level, coefficient)));
            }
        }
    }
    findings.extend(analysis.pairwise()?.map(Finding::Pairwise));
    if !analysis.comparisons.is_empty() {
        findings.push(Finding::SystemPairs(analysis.comparisons.clone()));
    }
    findings.push(Finding::PairAccuracy(analysis.pair_accuracy()?));
    if analysis.grid.systems().len() > 3 {
        findings.push(Finding::TopSystems(analysis.top_systems()?));
    }
    if analysis.metrics.len() > 1 {
        for &level in &levels {
            findings.extend(analysis.tests(level)?.into_iter().map(Finding::Tests));
        }
    }
    Ok(findings)
}

fn check_scale(table: &ScoreTable, scale: Option<Scale>) -> Result<()> {
    let Some(scale) = scale else { return Ok(()) };
    for (at, row) in table.rows().iter().enumerate() {
        for (criterion, values) in row.ratings.iter() {
            let place = table.place_of_rating(criterion, at).in_field(criterion);
            scale.check(values.iter().copied().flatten(), &place)?;
        }
    }
    Ok(())
}

fn turn(grid: &mut Grid, table: &ScoreTable, directions: &[(String, Direction)]) -> Result<()> {
    for (name, direction) in directions {
        grid.set_direction(find_metric(table, name)?, *direction);
    }
    Ok(())
}

fn check_left_out(grid: &Grid, without: &[String]) -> Result<()> {
    match without.iter().find(|name| !grid.systems().contains(name)) {
        None => Ok(()),
        Some(unknown) => {
            let known = grid.systems().iter().map(String::as_str);
            Err(CoreError::unknown("system", unknown, known).into())
        }
    }
}

fn averaged(grid: &Grid) -> Option<Warning> {
    let more = match grid.repeats() {
        1 => "1 story is a second or later one of its system and item".to_owned(),
        count => format!("{count} stories are a second or later one of their system and item"),
    };
    let message = format!("{more}: the mean of each system and item is analysed");
    (grid.repeats() > 0).then(|| Warning::new(WarningKind::Averaged, "table", message))
}

fn empty_cells(grid: &Grid) -> Option<Warning> {
    let size = grid.systems().len() * grid.items().len();
    let empty = size - grid.stories();
    let message = format!("{empty} of {size} pairs of a system and an item have no story");
    (empty > 0).then(|| Warning::new(WarningKind::Missing, "table", message))
}

fn too_many_systems(grid: &Grid) -> Option<Warning> {
    let found = grid.systems().len();
    let message = format!(
        "there are {found} systems, of which at most {MOST_SYSTEMS} can be compared with each other"
    );
    (found > MOST_SYSTEMS).then(|| Warning::new(WarningKind::Missing, "systems", message))
}

/// The range of the ratings, or of the criteria where there are no single ratings.
fn range(table: &ScoreTable, ratings: &RatingTable) -> Scale {
    let mut values: Vec<f64> = ratings.all().collect();
    if values.is_empty() {
        let human = table.of_role(Role::Human).into_iter();
        values =
            human.flat_map(|c| table.values(c).iter().filter_map(|v| v.clone().ok())).collect();
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match low < high {
        true => Scale { low, high },
        false if low.is_finite() => Scale { low, high: low + 1.0 },
        false => Scale::BINARY,
    }
}

/// UNION's biased sets for every criterion, whose scale is cut into eight levels.
fn biased(analysis: &Analysis, scale: Scale) -> Result<Vec<Finding>> {
    let grid = &analysis.grid;
    let options = analysis.settings.draws;
    let oriented: Vec<Vec<f64>> = analysis.metrics.iter().map(|&m| grid.oriented(m)).collect();
    let step = (scale.high - scale.low) / TOP_LEVEL as f64;
    let labels: Vec<String> =
        (0..=TOP_LEVEL).map(|k| format!("{:.3}", scale.low + step * k as f64)).collect();
    let mut findings = Vec::new();
    for &criterion in &analysis.criteria {
        let all = grid.values(criterion);
        let rated: Vec<usize> = (0..all.len()).filter(|&i| !all[i].is_nan()).collect();
        let pick = |values: &[f64]| rated.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let human = pick(all);
        let level = |h: &f64| (((h - scale.low) / step).round().max(0.0) as usize).min(TOP_LEVEL);
        let levels: Vec<usize> = human.iter().map(level).collect();
        let metrics: Vec<Vec<f64>> = oriented.iter().map(|values| pick(values)).collect();
        let sample = Sample { levels: &levels, top: TOP_LEVEL, human: &human, metrics: &metrics };
        findings.push(Finding::BiasedSets(BiasedSets {
            criterion: analysis.key(criterion),
            draws: options.draws,
            seed: options.seed,
            levels: labels.clone(),
            metrics: analysis.keys(&analysis.metrics),
            sets: biased_sets(&sample, options)?,
        }));
    }
    Ok(findings)
}

fn signature(analysis: &Analysis, ratings: &RatingTable) -> Signature {
    let signature = Signature::new("meta-table")
        .with("systems", "s", analysis.grid.systems().len())
        .with("items", "i", analysis.grid.items().len())
        .with("criteria", "c", analysis.criteria.len())
        .with("metrics", "m", analysis.metrics.len())
        .with("rated", "r", ratings.stories.len());
    let pairs = analysis.settings.pairs;
    analysis.settings.sign(signature, pairs.seed, pairs.draws(Edition::Corrected))
}
