//! The meta-evaluation of the HANNA paper (COLING 2022): Tables 3 to 6, 8, 9 and the numbers behind Figures 1 to 38,
//! numbered as in the paper.
//!
//! The published analysis has defects (docs/reproduction.md lists them). [`Edition::Published`] repeats them and
//! gives the published numbers; [`Edition::Corrected`] does not, and a sheet says where the two differ.

mod figures;

use std::path::{Path, PathBuf};

use storymeter_core::read::{hanna_metric_name, hanna_scores};
use storymeter_core::{Role, ScoreTable, Signature};
use storymeter_stats::Coefficient;

use crate::correlations::{Noise, SystemMeans, columns_of};
use crate::degenerate::inspect;
use crate::error::Result;
use crate::level::Level;
use crate::pairwise::BootstrapOptions;
use crate::ratings::{RatingTable, agreement, distributions, system_averages};
use crate::scale::Scale;
use crate::sheet::{Document, Form, Sheet, Warning};
use crate::study::{Ballot, Edition, Study, ballots};

/// The writers who do not compete: correlations leave them out (section 4).
const HUMAN: &str = "Human";

/// The metrics of the figures in the paper's body, by name without glyphs.
const SELECTED: [&str; 17] = [
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

/// The levels of the paper.
const LEVELS: [Level; 2] = [Level::Story, Level::System];

/// The metrics of Figure 8.
const FIGURE_8: [&str; 8] = [
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
pub struct Options {
    /// The single ratings, for Tables 3 and 4 and Figure 9.
    pub ratings: Option<PathBuf>,
    /// The scale of the ratings.
    pub scale: Scale,
    /// Which analysis.
    pub edition: Edition,
    /// The paired bootstrap of Figures 7 and 26.
    pub bootstrap: BootstrapOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ratings: None,
            scale: Scale::LIKERT_5,
            edition: Edition::Corrected,
            bootstrap: BootstrapOptions::default(),
        }
    }
}

/// Runs the whole analysis of a file in the layout of `hanna_metric_scores.csv`.
pub fn analyse(path: &Path, options: &Options) -> Result<Document> {
    let all = hanna_scores(path)?;
    check_scale(&all, options.scale, path)?;
    let study = Study::new(all.without_systems(&[HUMAN]), options.edition, options.bootstrap)?;
    let mut warnings = inspect(study.table(), study.correlations());
    let ratings = match &options.ratings {
        Some(path) => {
            let criteria: Vec<String> =
                study.criteria().iter().map(|&c| all.columns()[c].name.clone()).collect();
            let ratings = RatingTable::read(path, &criteria, options.scale)?;
            ratings.check_systems(all.systems())?;
            warnings.extend(compare_means(&all, &ratings));
            Some(ratings)
        }
        None => None,
    };
    let mut sheets = Vec::new();
    match &ratings {
        Some(ratings) => {
            sheets.extend(agreement(ratings, "table-3")?);
            sheets.push(system_averages(ratings, "table-4", options.edition, &[HUMAN]));
            sheets.extend(distributions(ratings, "figure-9", options.scale)?);
        }
        None => {
            let label =
                figures::label("table-4", "Mean scores by system (intervals need --ratings)");
            sheets.push(study.system_means(label).brief());
        }
    }
    sheets.extend(tables(&study)?);
    let chosen = |names: &[&str]| choose(&study, names);
    sheets.extend(figures::all(&study, &chosen(&SELECTED), &chosen(&FIGURE_8))?);
    sheets.push(differences(&study, &chosen(&FIGURE_8))?);
    let signature = signature(&study, ratings.as_ref(), options);
    sheets.iter_mut().for_each(|sheet| sheet.signature = format!("{}|{signature}", sheet.id));
    Ok(Document { kind: "hanna".into(), signature: signature.to_string(), warnings, sheets })
}

fn signature(study: &Study, ratings: Option<&RatingTable>, options: &Options) -> Signature {
    let signature = Signature::new("meta-hanna")
        .with(
            "edition",
            "e",
            match options.edition {
                Edition::Corrected => "corrected",
                Edition::Published => "published",
            },
        )
        .with("systems", "s", study.table().systems().len())
        .with("items", "i", study.table().items().len())
        .with("criteria", "c", study.criteria().len())
        .with("metrics", "m", study.metrics().len());
    let signature = match ratings {
        Some(ratings) => signature.with("rated", "r", ratings.stories.len()),
        None => signature,
    };
    signature
        .with("seed", "seed", options.bootstrap.seed)
        .with("draws", "d", options.bootstrap.draws)
        .with_version()
}

/// Mean ratings lie on the scale of the ratings.
fn check_scale(table: &ScoreTable, scale: Scale, path: &Path) -> Result<()> {
    for column in columns_of(table, Role::Human) {
        let name = &table.columns()[column].name;
        let place = storymeter_core::Place::file(path).in_field(name);
        scale.check(table.values(column), &place)?;
    }
    Ok(())
}

/// The columns of these metrics, in that order; all metrics where the file has none of them.
fn choose(study: &Study, names: &[&str]) -> Vec<usize> {
    let find = |name: &&str| {
        let is =
            |&&column: &&usize| hanna_metric_name(&study.table().columns()[column].name) == *name;
        study.metrics().iter().find(is).copied()
    };
    let found: Vec<usize> = names.iter().filter_map(find).collect();
    if found.is_empty() { study.metrics().to_vec() } else { found }
}

/// Tables 5, 6, 8, 9, the ranking files and the Borda counts.
fn tables(study: &Study) -> Result<Vec<Sheet>> {
    let table = |id: &str, title: &str| Sheet::new(id, title, Form::Table);
    let kendall_first = [Coefficient::Kendall, Coefficient::Spearman, Coefficient::Pearson];
    let all = ballots(study, &LEVELS);
    let levels: Vec<Ballot> =
        all.iter().filter(|b| b.name == "story" || b.name == "system").cloned().collect();
    let mut sheets = vec![
        study.best_metrics(
            table("table-5", "The three metrics with the highest |Pearson| by level and criterion")
                .brief(),
            &LEVELS,
            &[Coefficient::Pearson],
            3,
        ),
        study
            .borda("table-6", "The five metrics with the highest Borda count by level", &levels, 5)?
            .brief(),
        study.best_metrics(
            table("table-8", "The five metrics with the highest story-level correlation").brief(),
            &[Level::Story],
            &kendall_first,
            5,
        ),
        study.best_metrics(
            table("table-9", "The five metrics with the highest system-level correlation").brief(),
            &[Level::System],
            &kendall_first,
            5,
        ),
        study.borda(
            "borda",
            "The five metrics with the highest Borda count, by ranking",
            &all,
            5,
        )?,
        study.borda(
            "borda-global",
            "All metrics by global Borda count",
            &all[..1],
            study.metrics().len(),
        )?,
        study.all_correlations()?,
    ];
    sheets.extend(all.iter().map(|ballot| study.ranking_file(ballot)));
    Ok(sheets)
}

/// Where the published and the corrected analysis differ.
fn differences(study: &Study, figure_8: &[usize]) -> Result<Sheet> {
    let mut sheet = Sheet::new(
        "differences",
        "Where the published and the corrected analysis differ",
        Form::Table,
    )
    .brief()
    .columns(["what", "subject", "published", "corrected"], 0);
    let general = [
        [
            "heat-maps (Figures 1-6, 10-25)",
            "every cell",
            "rounded percent, no sign; Avg of rounded values",
            "signed, not rounded",
        ],
        [
            "agreement (Table 3)",
            "ICC2k",
            "raters put into three columns by worker id",
            "needs worker ids; ICC1k does not",
        ],
    ];
    general.into_iter().for_each(|row| sheet.push(row.map(Into::into).to_vec()));
    study.tie_differences(&mut sheet);
    study.pairwise_differences(&mut sheet)?;
    for level in [Level::System, Level::Story] {
        study.williams_differences(level, Coefficient::Pearson, &mut sheet)?;
    }
    study.borda_differences(&ballots(study, &LEVELS), &mut sheet)?;
    study.top_systems_differences(figure_8, &mut sheet)?;
    Ok(sheet)
}

/// The criteria of the score file should be the means of the ratings.
fn compare_means(table: &ScoreTable, ratings: &RatingTable) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let means = SystemMeans::of(table, Noise::Removed);
    for (at, column) in columns_of(table, Role::Human).into_iter().enumerate() {
        for (row, system) in table.systems().iter().enumerate() {
            let given = ratings.of_system(system, at);
            let mean = given.iter().sum::<f64>() / given.len() as f64;
            let scored = means.means[column][row];
            if (mean - scored).abs() > 0.005 {
                let message = format!(
                    "mean of the ratings {mean:.4}, mean in the score file {scored:.4}: not the same data?"
                );
                let subject = format!("{system}, {}", table.columns()[column].name);
                warnings.push(Warning::new("mismatch", subject, message));
            }
        }
    }
    warnings
}
