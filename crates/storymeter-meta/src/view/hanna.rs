//! The sheets of HANNA's tables and figures, numbered as in the paper.

use storymeter_core::read::hanna_metric_name;
use storymeter_core::{Key, Role};
use storymeter_stats::Coefficient;

use super::correlations::{against, between_title, find_between, list, square};
use super::rankings::{best, ranking, rankings, votes};
use super::systems::study_pairs;
use super::tests::{matrices, pair_accuracy, pairwise, title, top_systems, top_systems_title};
use super::{Label, Sheet, label, ratings};
use crate::hanna::{FIGURE_8, SELECTED};
use crate::level::Level;
use crate::study::{Ballot, Edition, Finding, Pairwise, RankMethod, Study, TopSystems};

/// Levels and coefficients in the order of the appendix.
const APPENDIX: [(Level, Coefficient); 6] = [
    (Level::Story, Coefficient::Kendall),
    (Level::System, Coefficient::Kendall),
    (Level::Story, Coefficient::Spearman),
    (Level::System, Coefficient::Spearman),
    (Level::Story, Coefficient::Pearson),
    (Level::System, Coefficient::Pearson),
];

pub(super) fn sheets(study: &Study) -> Vec<Sheet> {
    let mut sheets = ratings::sheets(study, ["table-3", "table-4", "figure-9"]);
    sheets.extend(tables(study));
    sheets.extend(figures(study));
    for finding in &study.findings {
        match finding {
            Finding::SystemPairs(found) => sheets.push(study_pairs(found)),
            Finding::PairAccuracy(found) => {
                let title = "Pairwise accuracy with tie calibration";
                sheets.push(pair_accuracy(label("pair-accuracy", title), found));
            }
            _ => {}
        }
    }
    sheets
}

/// Tables 5, 6, 8 and 9, the published ranking files, and the rankings over all correlations.
fn tables(study: &Study) -> Vec<Sheet> {
    let kendall_first = [Coefficient::Kendall, Coefficient::Spearman, Coefficient::Pearson];
    let both = [Level::Story, Level::System];
    let table = |number: usize, title: &str| label(format!("table-{number}"), title);
    let borda = rankings(study, RankMethod::Borda);
    let of = |wanted: &dyn Fn(&Ballot) -> bool| -> Vec<_> {
        borda.iter().copied().filter(|ranking| wanted(&ranking.ballot)).collect()
    };
    let levels = of(&|ballot| matches!(ballot, Ballot::Level(_)));
    let global = of(&|ballot| *ballot == Ballot::Global);
    let metrics = study.metrics().len();
    let leaders_of = |number, title, coefficients: &[Coefficient], levels: &[Level], most| {
        best(study, table(number, title), coefficients, levels, most).brief()
    };
    let mut sheets = vec![
        leaders_of(
            5,
            match study.edition {
                Edition::Published => {
                    "The three metrics with the highest |Pearson| by level and criterion"
                }
                Edition::Corrected => {
                    "The three metrics with the highest Pearson correlation by level and criterion"
                }
            },
            &[Coefficient::Pearson],
            &both,
            3,
        ),
        ranking(
            study,
            table(6, "The five metrics with the highest Borda count by level"),
            &levels,
            5,
        )
        .brief(),
        leaders_of(
            8,
            "The five metrics with the highest story-level correlation",
            &kendall_first,
            &[Level::Story],
            5,
        ),
        leaders_of(
            9,
            "The five metrics with the highest system-level correlation",
            &kendall_first,
            &[Level::System],
            5,
        ),
        ranking(
            study,
            label("borda", "The five metrics with the highest Borda count, by ranking"),
            &borda,
            5,
        ),
        ranking(
            study,
            label("borda-global", "All metrics by global Borda count"),
            &global,
            metrics,
        ),
    ];
    for (method, id, title) in [
        (RankMethod::MeanRank, "mean-rank", "All metrics by global mean rank"),
        (RankMethod::Kemeny, "kemeny", "All metrics by global Kemeny consensus"),
    ] {
        let found = rankings(study, method);
        sheets.push(ranking(study, label(id, title), &found, metrics));
    }
    sheets.push(list(study));
    sheets.extend(borda.iter().map(|ranking| votes(study, ranking)));
    sheets
}

fn figure(number: usize, title: impl Into<String>) -> Label {
    label(format!("figure-{number}"), title)
}

/// The positions of these metrics, in that order; all metrics where the file has none of them.
fn choose(metrics: &[&Key], names: &[&str]) -> Vec<usize> {
    let find =
        |name: &&str| metrics.iter().position(|metric| hanna_metric_name(metric.as_str()) == *name);
    let found: Vec<usize> = names.iter().filter_map(find).collect();
    if found.is_empty() { (0..metrics.len()).collect() } else { found }
}

/// The numbers behind Figures 1 to 8 and 10 to 38. Figure 9 needs single ratings.
fn figures(study: &Study) -> Vec<Sheet> {
    let metrics = study.metrics();
    let selected = choose(&metrics, &SELECTED);
    let selected = Some(selected.as_slice());
    let criteria = |number, (level, coefficient)| {
        let label = figure(number, between_title(level, coefficient, "criteria"));
        let between = find_between(study, Role::Human, level, coefficient);
        between.map(|between| square(study, label, between, None))
    };
    let metrics_and_criteria = |number, (level, coefficient), chosen| {
        let label = figure(number, between_title(level, coefficient, "metrics and criteria"));
        Some(against(study, label, level, coefficient, chosen))
    };
    let between_metrics = |number, (level, coefficient), chosen| {
        let label = figure(number, between_title(level, coefficient, "metrics"));
        let between = find_between(study, Role::Metric, level, coefficient);
        between.map(|between| square(study, label, between, chosen))
    };
    let [story, system] = [APPENDIX[0], APPENDIX[1]];
    let mut sheets = vec![
        criteria(1, story).map(Sheet::brief),
        criteria(2, system).map(Sheet::brief),
        metrics_and_criteria(3, story, selected).map(Sheet::brief),
        metrics_and_criteria(4, system, selected).map(Sheet::brief),
        between_metrics(5, story, selected),
        between_metrics(6, system, selected),
        figure_7(study, selected),
        figure_8(study, &metrics),
    ];
    let appendix = |first: usize| APPENDIX.iter().copied().zip(first..);
    sheets.extend(APPENDIX[2..].iter().zip(10..).map(|(&which, number)| criteria(number, which)));
    sheets.extend(appendix(14).map(|(which, number)| metrics_and_criteria(number, which, None)));
    sheets.extend(appendix(20).map(|(which, number)| between_metrics(number, which, None)));
    let mut sheets: Vec<Sheet> = sheets.into_iter().flatten().collect();
    sheets.extend(find_pairwise(study).map(|found| {
        pairwise(figure(26, "Weighted macro F1 (%), all metrics"), &study.criteria(), found, None)
    }));
    sheets.extend(tests(study));
    // Not in the paper: all stories in one pool, as the authors do in their later work.
    for coefficient in Coefficient::ALL {
        let title = between_title(Level::Pooled, coefficient, "metrics and criteria");
        let label = label(format!("pooled-{coefficient}"), title);
        sheets.push(against(study, label, Level::Pooled, coefficient, None));
    }
    sheets
}

fn find_pairwise(study: &Study) -> Option<&Pairwise> {
    study.findings.iter().find_map(|finding| match finding {
        Finding::Pairwise(found) => Some(found),
        _ => None,
    })
}

fn figure_7(study: &Study, selected: Option<&[usize]>) -> Option<Sheet> {
    let what = match study.edition {
        Edition::Corrected => "verdicts on pairs of systems",
        Edition::Published => "paired bootstrap resampling",
    };
    let label = figure(7, format!("Weighted macro F1 (%) of {what}"));
    let found = find_pairwise(study)?;
    Some(pairwise(label, &study.criteria(), found, selected).brief())
}

fn figure_8(study: &Study, metrics: &[&Key]) -> Option<Sheet> {
    let found: &TopSystems = study.findings.iter().find_map(|finding| match finding {
        Finding::TopSystems(found) => Some(found),
        _ => None,
    })?;
    let chosen: Vec<&Key> = choose(metrics, &FIGURE_8).into_iter().map(|at| metrics[at]).collect();
    let label = figure(8, top_systems_title(study.edition));
    let sheet = top_systems(label, found, &|metric| chosen.contains(&metric));
    Some(sheet.note("Spearman: the paper's caption says Pearson, but its numbers are Spearman's"))
}

/// Figures 27 to 32 at story level, and 33 to 38 at system level.
fn tests(study: &Study) -> Vec<Sheet> {
    let mut sheets = Vec::new();
    for (level, first) in [(Level::Story, 27), (Level::System, 33)] {
        for (matrix, number) in study.tests().filter(|m| m.level == level).zip(first..) {
            let made = matrices(study.edition, matrix, figure(number, title(matrix)));
            sheets.extend(made.into_iter().map(|sheet| match level {
                Level::Story => {
                    sheet.note("without oracle: the authors' code does not produce this matrix")
                }
                _ => sheet,
            }));
        }
    }
    sheets
}
