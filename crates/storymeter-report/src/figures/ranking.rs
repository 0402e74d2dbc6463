//! The pictures of the first screen: metrics by their agreement with people, and what changed.

use storymeter_core::Key;
use storymeter_meta::changes::Change;
use storymeter_meta::study::{Agreement, MetricRanking, RankedMetric};
use storymeter_meta::view::{Cell, Sheet, Subject, correlation_symbol, meaning_of_r};
use storymeter_meta::{Coefficient, Study};

use super::forest::{self, Forest, Mark, Row};
use crate::changes::{ShownChanges, verdict};
use crate::palette;
use crate::summary::{self, distinct};
use crate::svg::{Figure, Shape};

/// The metrics of the first screen.
pub(crate) const MOST_METRICS: usize = 8;
/// The rows of the heat-maps of the best metrics.
const MOST_ROWS: usize = 12;
/// The colour of the mark that counts most: that of the text.
const INK: &str = "currentColor";

/// The positions of the first metrics of a ranking, and of one more that the user wants to see.
pub(crate) fn first_places(
    ranking: &MetricRanking,
    most: usize,
    highlight: Option<&Key>,
) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..ranking.places.len().min(most)).collect();
    let wanted = highlight.and_then(|metric| ranking.position(metric));
    shown.extend(wanted.filter(|at| *at >= most));
    shown
}

/// The best metrics: a mark per criterion and one for the mean.
pub(super) fn metrics(study: &Study, highlight: Option<&Key>) -> Option<Figure> {
    let rankings = study.metric_rankings();
    let ranking = rankings.first()?;
    let shown = first_places(ranking, MOST_METRICS, highlight);
    let places = shown.iter().map(|&at| &ranking.places[at]);
    let rows: Vec<Row> = places.map(|place| row(study, ranking, place, highlight)).collect();
    let several = ranking.criteria.len() > 1;
    let mut legend = Vec::new();
    if several {
        let names = ranking.criteria.iter().enumerate();
        legend.extend(names.map(|(at, name)| {
            (Shape::of_kind(at), palette::category(at).to_owned(), name.to_string())
        }));
        legend.push((Shape::Diamond, INK.into(), "mean".into()));
    }
    let has_interval = rows.iter().any(|row| row.line.is_some());
    let line = match several {
        true => Some("lowest to highest criterion"),
        false => has_interval.then_some("95% interval"),
    };
    let r = correlation_symbol(study);
    let axis = match ranking.criteria.as_slice() {
        [only] => format!("{r} with {only} (0 none, 1 perfect)"),
        _ => format!("{r} with people's ratings (0 none, 1 perfect)"),
    };
    let title = format!("How well the best metrics agree with people, at {} level", ranking.level);
    let forest = Forest { title, axis, rows, legend, line, from_zero: true };
    let mut figure = forest::draw(&forest);
    figure.notes.push(format!("{} {}", meaning_of_r(study, ranking), ranking.level.observation()));
    let excluded = summary::excluded(study);
    if !excluded.is_empty() {
        figure.notes.push(format!("{} excluded", excluded.join(", ")));
    }
    figure.signature = study.signature.to_string();
    Some(figure)
}

fn row(
    study: &Study,
    ranking: &MetricRanking,
    place: &RankedMetric,
    highlight: Option<&Key>,
) -> Row {
    let r = correlation_symbol(study);
    let turn = study.turn(&place.metric);
    let agreement = |criterion: &Key| {
        let (metric, criterion) = (place.metric.as_str(), criterion.as_str());
        study.agreement(metric, criterion, ranking.level, Coefficient::Pearson)
    };
    let mut marks: Vec<Mark> = Vec::new();
    let (line, name) = match ranking.criteria.as_slice() {
        [only] => {
            let interval = |one: &Agreement| {
                let estimate = one.value.as_ref().ok()?;
                let turned = turn.interval(estimate.value, estimate.interval?);
                Some((turned.low, turned.high))
            };
            (agreement(only).and_then(interval), format!("{r} with {only}"))
        }
        several => {
            let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
            for (at, criterion) in several.iter().enumerate() {
                let found = agreement(criterion).and_then(|one| study.directed(one));
                let Some(value) = found else { continue };
                ends = (ends.0.min(value), ends.1.max(value));
                marks.push(Mark {
                    shape: Shape::of_kind(at),
                    colour: palette::category(at).into(),
                    value,
                    name: format!("{r} with {criterion}"),
                });
            }
            (Some(ends), format!("mean {r}"))
        }
    };
    marks.push(Mark { shape: Shape::Diamond, colour: INK.into(), value: place.mean, name });
    Row {
        label: place.metric.to_string(),
        line,
        marks,
        is_marked: Some(&place.metric) == highlight,
    }
}

/// The colour of what became of a correlation.
fn verdict_colour(verdict: &str) -> &'static str {
    match verdict {
        "stronger" => palette::category(0),
        "weaker" => palette::category(3),
        _ => palette::category(15),
    }
}

/// The largest changes, before and after.
pub(super) fn changes(changes: &ShownChanges) -> Option<Figure> {
    if changes.largest.is_empty() {
        return None;
    }
    let rows = changes.largest.iter().filter_map(|change| {
        let Change { metric, criterion, level, .. } = change;
        let (before, after) = (*change.before.as_ref().ok()?, *change.after.as_ref().ok()?);
        let mark = |shape, colour: &str, value, name: &str| Mark {
            shape,
            colour: colour.into(),
            value,
            name: name.into(),
        };
        let colour = verdict_colour(verdict(change));
        Some(Row {
            label: format!("{metric}: {criterion}, {level}"),
            line: Some((before, after)),
            marks: vec![
                mark(Shape::Ring, INK, before, "before"),
                mark(Shape::Diamond, colour, after, "after"),
            ],
            is_marked: false,
        })
    });
    let mut legend = vec![(Shape::Ring, INK.to_owned(), "before".to_owned())];
    for verdict in distinct(changes.largest.iter().map(verdict)) {
        let name = format!("after: {verdict}");
        legend.push((Shape::Diamond, verdict_colour(verdict).to_owned(), name));
    }
    let forest = Forest {
        title: format!("The largest changes {}", changes.between),
        axis: "Pearson's correlation with people's ratings".into(),
        rows: rows.collect(),
        legend,
        line: None,
        from_zero: false,
    };
    let mut figure = forest::draw(&forest);
    figure.notes.push(
        "A row is one metric and criterion at one level. Stronger means a higher correlation, or a \
         lower one for a metric where less is better"
            .into(),
    );
    Some(figure)
}

/// The rows of the best metrics from a sheet of all metrics against the criteria, best first.
pub(super) fn best_rows(study: &Study, all: &Sheet, highlight: Option<&Key>) -> Option<Sheet> {
    let Subject::Against { level, .. } = all.subject else { return None };
    let rankings = study.metric_rankings();
    let ranking = rankings.iter().find(|ranking| ranking.level == level)?;
    let mut best = all.clone();
    best.rows.clear();
    for at in first_places(ranking, MOST_ROWS, highlight) {
        let metric = ranking.places[at].metric.as_str();
        let is_own = |row: &&Vec<Cell>| row[0].text() == metric;
        best.rows.extend(all.rows.iter().find(is_own).cloned());
    }
    let count = best.rows.len();
    best.title = format!(
        "Pearson correlations of the best {count} metrics with each criterion, at {level} level"
    );
    (!best.rows.is_empty()).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_metric_is_shown_after_the_best_ones() {
        let study = crate::testing::compared();
        let ranking = study.metric_rankings()[0];
        assert_eq!(first_places(ranking, 2, Some(&Key::new("poor"))), [0, 1, 2]);
        assert_eq!(first_places(ranking, 2, Some(&Key::new("fair"))), [0, 1]);
        assert_eq!(first_places(ranking, 2, None), [0, 1]);
    }
}
