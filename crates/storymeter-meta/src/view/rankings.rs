//! Metrics in order.

use storymeter_core::Key;
use storymeter_stats::Coefficient;

use super::{Cell, Form, Label, Sheet, Subject};
use crate::analysis::round_half_even;
use crate::level::Level;
use crate::outcome::Absence;
use crate::study::{
    AgainstFirst, Ballot, Edition, MetricRanking, RankMethod, Ranking, Study, Voter,
};

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

/// What correlations that rank metrics are called: `r`, or `|r|` where all are absolute values.
pub fn correlation_symbol(study: &Study) -> &'static str {
    match study.edition {
        Edition::Published => "|r|",
        Edition::Corrected => "r",
    }
}

/// What the correlations that rank these metrics are, in one sentence or two.
pub fn meaning_of_r(study: &Study, ranking: &MetricRanking) -> String {
    if study.edition == Edition::Published {
        return "|r| is the absolute value of Pearson's correlation with people's ratings, as \
                published."
            .to_owned();
    }
    let meaning = "r is Pearson's correlation with people's ratings, turned round where less is \
                   better: a metric below zero runs against its direction.";
    let undirected = study.undirected();
    let ranked = ranking.places.iter().map(|place| &place.metric);
    let names: Vec<&str> =
        ranked.filter(|metric| undirected.contains(metric)).map(|key| key.as_str()).collect();
    match names.as_slice() {
        [] => meaning.to_owned(),
        names => format!(
            "{meaning} It is not known whether more is better for {}: {} |r| counts.",
            names.join(", "),
            if names.len() == 1 { "its" } else { "their" }
        ),
    }
}

/// The metrics in order of their agreement with people at the first level that has a ranking, with
/// their means at the other levels; all metrics, or those at these positions. `None` where no
/// metric has a correlation with a criterion.
pub fn metric_ranking(study: &Study, id: &str, positions: Option<&[usize]>) -> Option<Sheet> {
    let rankings = study.metric_rankings();
    let (first, others) = rankings.split_first()?;
    let count = first.places.len();
    let all: Vec<usize> = (0..count).collect();
    let positions = positions.unwrap_or(&all);
    let best = positions.iter().filter(|at| **at < positions.len()).count();
    let r = correlation_symbol(study);
    let title = match positions.len() == count {
        true => format!("All {count} metrics by mean {r} with people's ratings"),
        false => format!("The best {best} of {count} metrics by mean {r} with people's ratings"),
    };
    let mut sheet = Sheet::new(id, Subject::MetricRanking, title, Form::Table)
        .brief()
        .columns(["rank", "metric"], 0)
        .columns(rankings.iter().map(|one| format!("{} level", one.level)), 3);
    if first.test.is_some() {
        sheet = sheet.column("certainly weaker?", 0);
    }
    for &at in positions {
        let place = &first.places[at];
        let mut cells: Vec<Cell> = vec![(at + 1).into(), (&place.metric).into(), place.mean.into()];
        cells.extend(others.iter().map(|other| match other.position(&place.metric) {
            Some(at) => Cell::from(other.places[at].mean),
            None => Cell::missing(Absence::LacksCorrelation),
        }));
        if first.test.is_some() {
            cells.push(match (at, place.against_first) {
                (0, _) => "is the first".into(),
                (_, Some(found)) => certainly_weaker(found).into(),
                (_, None) => Cell::missing(Absence::NotTested),
            });
        }
        sheet.push(cells);
    }
    if first.unranked > 0 {
        let more = first.unranked;
        sheet = sheet.note(format!(
            "{more} more metrics lack a correlation with a criterion and are not ranked"
        ));
    }
    Some(sheet.note(meaning_of_r(study, first).trim_end_matches('.')))
}

/// Whether a metric is certainly weaker than the first, in words.
fn certainly_weaker(AgainstFirst { weaker, stronger, tested }: AgainstFirst) -> String {
    let but = match stronger {
        0 => String::new(),
        count => format!(", stronger on {count}"),
    };
    match (weaker, tested) {
        (0, _) => format!("no{but}"),
        (_, 1) => "yes".into(),
        (weaker, tested) => format!("on {weaker} of {tested} criteria{but}"),
    }
}

/// The name of a ballot, as in the published files: `global`, `story_pearson`, `Relevance`.
fn ballot_name(ballot: &Ballot) -> String {
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
            Some(one) => Cell::from(one.value.clone().map(|estimate| turn.apply(estimate.value))),
            None => Cell::missing(Absence::NotComputed),
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
    for &level in levels {
        for criterion in study.criteria() {
            for &coefficient in coefficients {
                let leaders = study.leaders(level, criterion, coefficient);
                for (place, leader) in leaders.iter().take(best).enumerate() {
                    sheet.push(vec![
                        level.name().into(),
                        criterion.into(),
                        coefficient.name().into(),
                        (place + 1).into(),
                        leader.metric.into(),
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
