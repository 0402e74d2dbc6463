//! Metrics in order.

use storymeter_core::Key;
use storymeter_stats::Coefficient;

use super::{Cell, Form, Label, Sheet, Subject};
use crate::analysis::round_half_even;
use crate::level::Level;
use crate::study::{Ballot, Edition, Leaders, RankMethod, Ranking, Study, Voter};

/// What a ranking of metrics ranks by, in words, one note each.
fn ranked_by(study: &Study) -> Vec<String> {
    match study.edition {
        Edition::Published => vec!["directions are ignored, as published".to_owned()],
        Edition::Corrected => {
            let mut notes = vec![
                "correlations are signed; those of metrics where less is better are turned round \
                 first"
                    .to_owned(),
            ];
            let undirected: Vec<&str> = study.undirected().iter().map(|key| key.as_str()).collect();
            if !undirected.is_empty() {
                notes.push(format!(
                    "it is not known whether more is better, so that the size of r counts: {}",
                    undirected.join(", ")
                ));
            }
            notes
        }
    }
}

/// The same sheet with what it ranks by.
fn explained(sheet: Sheet, study: &Study) -> Sheet {
    ranked_by(study).into_iter().fold(sheet, |sheet, note| sheet.note(note))
}

/// The name of a ballot, as in the published files: `global`, `story_pearson`, `Relevance`.
pub fn ballot_name(ballot: &Ballot) -> String {
    match ballot {
        Ballot::Global => "global".into(),
        Ballot::Level(level) => level.name().into(),
        Ballot::Coefficient(coefficient) => coefficient.name().into(),
        Ballot::Block(level, coefficient) => format!("{level}_{coefficient}"),
        Ballot::Criterion(criterion) => criterion.to_string(),
    }
}

/// All rankings of a study by one method.
pub(super) fn rankings(study: &Study, method: RankMethod) -> Vec<&Ranking> {
    let rankings = study.findings.iter().filter_map(|finding| match finding {
        crate::Finding::Ranking(ranking) if ranking.method == method => Some(ranking),
        _ => None,
    });
    rankings.collect()
}

/// The leaders of a study.
fn leaders(study: &Study) -> Vec<&Leaders> {
    let leaders = study.findings.iter().filter_map(|finding| match finding {
        crate::Finding::Leaders(leaders) => Some(leaders),
        _ => None,
    });
    leaders.flatten().collect()
}

/// The best so many metrics of some rankings.
pub(super) fn ranking(study: &Study, label: Label, rankings: &[&Ranking], best: usize) -> Sheet {
    let Some(method) = rankings.first().map(|ranking| ranking.method) else {
        return label.sheet(Subject::Ranking { method: RankMethod::Borda }, Form::Table);
    };
    let mut sheet = label
        .sheet(Subject::Ranking { method }, Form::Table)
        .column("ranking", 0)
        .column("place", 0)
        .column("metric", 0);
    sheet = match method {
        RankMethod::Borda => sheet.column("Borda count", 1),
        RankMethod::MeanRank => sheet.column("mean rank", 2),
        RankMethod::Kemeny => sheet,
    };
    sheet = match (method, study.edition) {
        (RankMethod::Borda, Edition::Published) => {
            sheet.note("equal correlations stand as numpy 1.23's unstable sort left them")
        }
        (RankMethod::Borda | RankMethod::MeanRank, _) => {
            sheet.note("equal correlations share their ranks")
        }
        (RankMethod::Kemeny, _) => {
            let exact = rankings.iter().all(|ranking| ranking.exact == Some(true));
            sheet.note(match exact {
                true => "the order that contradicts the fewest pairwise preferences of the voters",
                false => "an order that no single move improves; a better one may exist",
            })
        }
    };
    sheet = explained(sheet, study);
    for ranking in rankings {
        let name = ballot_name(&ranking.ballot);
        if ranking.unranked > 0 {
            sheet = sheet.note(format!(
                "{name}: {} metrics lack a correlation and are not ranked",
                ranking.unranked
            ));
        }
        for (place, one) in ranking.places.iter().take(best).enumerate() {
            let mut row = vec![Cell::from(&name), (place + 1).into(), (&one.metric).into()];
            row.extend(one.score.map(Cell::from));
            sheet.push(row);
        }
    }
    sheet
}

/// The numbers that a ballot ranks by, in the layout of the published ranking files: the
/// correlations, turned by the direction of each metric, one row per metric and one column per
/// voter.
pub(super) fn votes(study: &Study, ranking: &Ranking) -> Sheet {
    let name = ballot_name(&ranking.ballot);
    let head = |voter: &Voter| {
        let Voter { level, coefficient, criterion } = voter;
        format!("{criterion}_{level}_{coefficient}")
    };
    let title = match study.edition {
        Edition::Published => format!("Absolute correlations: {name}"),
        Edition::Corrected => format!("Correlations that are ranked: {name}"),
    };
    let subject = Subject::Votes(ranking.ballot.clone());
    let mut sheet =
        explained(Sheet::new(format!("rankings_{name}"), subject, title, Form::Table), study)
            .column("Model", 0)
            .columns(ranking.voters.iter().map(head), 4);
    let index = Index::of(study);
    for metric in study.metrics() {
        let turn = study.turn(metric);
        let mut row = vec![Cell::from(metric)];
        row.extend(ranking.voters.iter().map(|voter| match index.get(metric, voter) {
            Some(one) => Cell::from(one.value.map(|estimate| turn.apply(estimate.value))),
            None => Cell::missing("not computed"),
        }));
        sheet.push(row);
    }
    sheet
}

/// Agreements by what they are about.
struct Index<'a>(
    std::collections::HashMap<(&'a Key, &'a Key, Level, Coefficient), &'a crate::Agreement>,
);

impl<'a> Index<'a> {
    fn of(study: &'a Study) -> Self {
        let entry = |one: &'a crate::Agreement| {
            ((&one.metric, &one.criterion, one.level, one.coefficient), one)
        };
        Self(study.agreements().map(entry).collect())
    }

    fn get(&self, metric: &'a Key, voter: &'a Voter) -> Option<&'a crate::Agreement> {
        self.0.get(&(metric, &voter.criterion, voter.level, voter.coefficient)).copied()
    }
}

/// The best so many metrics for each level, criterion and coefficient.
pub(super) fn best(
    study: &Study,
    label: Label,
    coefficients: &[Coefficient],
    levels: &[Level],
    best: usize,
) -> Sheet {
    let edition = study.edition;
    let decimals = if best > 3 { 2 } else { 1 };
    let number = if edition == Edition::Published { "|r| (%)" } else { "r (%)" };
    let sheet = label
        .sheet(Subject::Leaders, Form::Table)
        .columns(["level", "criterion", "coefficient", "place", "metric"], 0)
        .column(number, decimals);
    let mut sheet = explained(sheet, study);
    let leaders = leaders(study);
    let here: Vec<&&Leaders> = leaders.iter().filter(|one| levels.contains(&one.level)).collect();
    // Leaders come with the coefficients in a fixed order; a table may want another one.
    for block in here.chunk_by(|a, b| (a.level, &a.criterion) == (b.level, &b.criterion)) {
        for &coefficient in coefficients {
            for one in block.iter().filter(|one| one.coefficient == coefficient) {
                for (place, leader) in one.order.iter().take(best).enumerate() {
                    sheet.push(vec![
                        one.level.name().into(),
                        (&one.criterion).into(),
                        coefficient.name().into(),
                        (place + 1).into(),
                        (&leader.metric).into(),
                        percent(edition, leader.strength, decimals).into(),
                    ]);
                }
            }
        }
    }
    sheet
}

/// A correlation in percent. The published tables are rounded to two decimals, and those with one
/// decimal were rounded from these again, with halves going up.
fn percent(edition: Edition, strength: f64, decimals: u8) -> f64 {
    match (edition, decimals) {
        (Edition::Corrected, _) => 100.0 * strength,
        (Edition::Published, 1) => {
            (round_half_even(100.0 * strength, 2) * 10.0 + 0.5 + 1e-9).floor() / 10.0
        }
        (Edition::Published, _) => round_half_even(100.0 * strength, 2),
    }
}
