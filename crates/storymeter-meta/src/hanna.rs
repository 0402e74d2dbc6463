//! The meta-evaluation of the HANNA paper (COLING 2022): Tables 3 to 6, 8, 9 and the numbers behind
//! Figures 1 to 38.
//!
//! The published analysis has defects, which `docs/reproduction.md` lists. [`Edition::Published`]
//! repeats them and gives the published numbers. [`Edition::Corrected`] does not.

use std::path::{Path, PathBuf};

use storymeter_core::read::hanna_scores;
use storymeter_core::{Place, Progress, Role, ScoreTable, Signature};
use storymeter_stats::Coefficient;

use crate::analysis::{Analysis, Noise, Settings, SystemMeans, inspect};
use crate::error::Result;
use crate::grid::Grid;
use crate::level::Level;
use crate::ratings::RatingTable;
use crate::scale::Scale;
use crate::study::{Edition, Finding, Kind, RankMethod, Study, Warning, WarningKind};

/// The writers who do not compete. Correlations leave them out (section 4 of the paper).
const HUMAN: &str = "Human";

/// The levels of the paper.
const LEVELS: [Level; 2] = [Level::Story, Level::System];

/// The metrics of the figures in the paper's body, by name without glyphs.
pub(crate) const SELECTED: [&str; 17] = [
    "BLEU",
    "ROUGE-1 Recall",
    "METEOR",
    "chrF",
    "ROUGE-WE-3 Recall",
    "BERTScore Recall",
    "MoverScore",
    "DepthScore",
    "BaryScore-W",
    "S3-Pyramid",
    "SummaQA",
    "InfoLM-FisherRao",
    "BARTScore-SH",
    "Coverage",
    "Repetition-1",
    "SUPERT-PS",
    "BLANC-Tune-PS",
];

/// The metrics of Figure 8.
pub(crate) const FIGURE_8: [&str; 8] = [
    "BLEU",
    "ROUGE-1 Recall",
    "chrF",
    "BERTScore Recall",
    "BaryScore-W",
    "S3-Pyramid",
    "BARTScore-SH",
    "SUPERT-PS",
];

/// What to analyse and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The single ratings, for Tables 3 and 4 and Figure 9.
    pub ratings: Option<PathBuf>,
    /// The scale of the ratings.
    pub scale: Scale,
    /// Which analysis.
    pub edition: Edition,
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

impl Default for Options {
    fn default() -> Self {
        Self {
            ratings: None,
            scale: Scale::LIKERT_5,
            edition: Edition::Corrected,
            settings: Settings::default(),
            progress: Progress::unwatched(),
        }
    }
}

/// Runs the whole analysis of a file in the layout of `hanna_metric_scores.csv`.
///
/// # Errors
/// Returns an error if a file cannot be read, or the data do not allow the analysis.
pub fn analyse(path: &Path, options: &Options) -> Result<Study> {
    analyse_file(path, options).map_err(|error| error.in_file(Some(path)))
}

fn analyse_file(path: &Path, options: &Options) -> Result<Study> {
    let table = hanna_scores(path)?;
    check_scale(&table, options.scale, path)?;
    let all = Grid::from_table(&table)?;
    all.check_single(&table)?;
    let competing = all.without_systems(&[HUMAN]);
    let file = Some(path.to_owned());
    let watched = (options.settings, &options.progress);
    let human = [HUMAN.to_owned()];
    let comparisons = match options.edition {
        Edition::Corrected => {
            options.settings.compare_systems(&table, &human, &[], &options.progress)?
        }
        Edition::Published => Vec::new(),
    };
    let analysis = Analysis::new(competing, comparisons, options.edition, watched, file)?;
    let mut warnings = inspect(&analysis.grid, &analysis.correlations);
    let ratings = match &options.ratings {
        Some(path) => {
            let criteria = analysis.keys(&analysis.criteria);
            let ratings = RatingTable::read(path, &criteria, options.scale)?;
            ratings.check_systems(all.systems()).map_err(|e| e.in_file(Some(path)))?;
            warnings.extend(compare_means(&all, &ratings));
            Some(ratings)
        }
        None => None,
    };
    let mut findings = Vec::new();
    let rated = options.ratings.as_deref();
    match &ratings {
        Some(ratings) => findings.extend([
            Finding::RaterAgreement(ratings.agreement().map_err(|e| e.in_file(rated))?),
            Finding::SystemAverages(ratings.system_averages(options.edition, &human)),
            Finding::Ratings(ratings.distribution(options.scale)),
        ]),
        None => findings.push(Finding::SystemAverages(analysis.system_means())),
    }
    findings.push(Finding::Agreements(analysis.agreements()?));
    let ballots = analysis.ballots(&LEVELS);
    for ballot in &ballots {
        findings.push(Finding::Ranking(analysis.ranking(ballot, RankMethod::Borda)?));
    }
    for method in [RankMethod::MeanRank, RankMethod::Kemeny] {
        findings.push(Finding::Ranking(analysis.ranking(&ballots[0], method)?));
    }
    for role in [Role::Human, Role::Metric] {
        for level in LEVELS {
            for coefficient in Coefficient::ALL {
                findings.push(Finding::Between(analysis.between(role, level, coefficient)));
            }
        }
    }
    findings.extend(analysis.pairwise()?.map(Finding::Pairwise));
    if !analysis.comparisons.is_empty() {
        findings.push(Finding::SystemPairs(analysis.comparisons.clone()));
    }
    findings.push(Finding::PairAccuracy(analysis.pair_accuracy()?));
    findings.push(Finding::TopSystems(analysis.top_systems()?));
    for level in LEVELS {
        findings.extend(analysis.tests(level)?.into_iter().map(Finding::Tests));
    }
    let signature = signature(&analysis, ratings.as_ref(), options);
    Ok(analysis
        .study(Kind::Hanna, signature, warnings, findings)
        .with_metric_rankings()
        .with_backwards_warned())
}

fn signature(analysis: &Analysis, ratings: Option<&RatingTable>, options: &Options) -> Signature {
    let edition = match options.edition {
        Edition::Corrected => "corrected",
        Edition::Published => "published",
    };
    let signature = Signature::new("meta-hanna")
        .with("edition", "e", edition)
        .with("systems", "s", analysis.grid.systems().len())
        .with("items", "i", analysis.grid.items().len())
        .with("criteria", "c", analysis.criteria.len())
        .with("metrics", "m", analysis.metrics.len());
    let signature = match ratings {
        Some(ratings) => signature.with("rated", "r", ratings.stories.len()),
        None => signature,
    };
    let pairs = options.settings.pairs;
    options.settings.sign(signature, pairs.seed, pairs.draws(options.edition))
}

/// Mean ratings lie on the scale of the ratings.
fn check_scale(table: &ScoreTable, scale: Scale, path: &Path) -> Result<()> {
    for column in table.of_role(Role::Human) {
        let place = Place::file(path).in_field(table.columns()[column].key.as_str());
        scale.check(table.values(column).iter().filter_map(|value| value.clone().ok()), &place)?;
    }
    Ok(())
}

/// The criteria of the score file should be the means of the ratings.
fn compare_means(all: &Grid, ratings: &RatingTable) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let means = SystemMeans::of(all, Noise::Removed);
    for (at, column) in all.of_role(Role::Human).into_iter().enumerate() {
        for (row, system) in all.systems().iter().enumerate() {
            let given = ratings.of_system(system, at);
            let mean = given.iter().sum::<f64>() / given.len() as f64;
            let scored = means.means[column][row];
            if (mean - scored).abs() > 0.005 {
                let message = format!(
                    "the mean of the ratings is {mean:.4}, and the mean in the score file is \
                     {scored:.4}: are these the same data?"
                );
                let subject = format!("{system}, {}", all.columns()[column].key);
                warnings.push(Warning::new(WarningKind::Mismatch, subject, message));
            }
        }
    }
    warnings
}
