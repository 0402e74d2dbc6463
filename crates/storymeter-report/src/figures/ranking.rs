//! The pictures of the first screen: metrics by their agreement with people, and what changed.

use storymeter_core::Key;
use storymeter_meta::Study;
use storymeter_meta::view::{Cell, Sheet, Subject};

use super::captions::observation;
use super::forest::{self, Forest, Mark, Row};
use crate::compare::{Changes, LargeChange};
use crate::leaderboard::{Leaderboard, Ranked, distinct, level_name};
use crate::palette;
use crate::summary;
use crate::svg::{Figure, Shape};

/// The metrics of the first screen.
pub(crate) const MOST_METRICS: usize = 8;
/// The rows of the heat-maps of the best metrics.
const MOST_ROWS: usize = 12;
/// The colour of the mark that counts most: that of the text.
const INK: &str = "currentColor";

/// The best metrics: a mark per criterion and one for the mean.
pub(super) fn metrics(study: &Study, highlight: Option<&Key>) -> Option<Figure> {
    let boards = Leaderboard::all(study);
    let board = boards.first()?;
    let shown = board.shown(MOST_METRICS, highlight);
    let rows: Vec<Row> = shown.iter().map(|&at| row(board, &board.rows[at], highlight)).collect();
    let several = board.criteria.len() > 1;
    let mut legend = Vec::new();
    if several {
        let names = board.criteria.iter().enumerate();
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
    let r = board.symbol;
    let axis = match board.criteria.as_slice() {
        [only] => format!("{r} with {only} (0 none, 1 perfect)"),
        _ => format!("{r} with people's ratings (0 none, 1 perfect)"),
    };
    let title =
        format!("How well the best metrics agree with people, at {}", level_name(board.level));
    let forest = Forest { title, axis, rows, legend, line, from_zero: true };
    let mut figure = forest::draw(&forest);
    figure.notes.push(format!("{} {}", board.meaning_of_r(), observation(board.level)));
    let excluded = summary::excluded(study);
    if !excluded.is_empty() {
        figure.notes.push(format!("{} excluded", excluded.join(", ")));
    }
    figure.signature = study.signature.to_string();
    Some(figure)
}

fn row(board: &Leaderboard<'_>, ranked: &Ranked<'_>, highlight: Option<&Key>) -> Row {
    let counted = ranked.counted();
    let r = board.symbol;
    let mut marks: Vec<Mark> = Vec::new();
    let line = match ranked.correlations.as_slice() {
        [only] => ranked.interval(only),
        _ => {
            let named = counted.clone().zip(&board.criteria).enumerate();
            marks.extend(named.map(|(at, (value, name))| Mark {
                shape: Shape::of_kind(at),
                colour: palette::category(at).into(),
                value,
                name: format!("{r} with {name}"),
            }));
            let ends = counted.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
            Some(ends)
        }
    };
    let name = match board.criteria.as_slice() {
        [only] => format!("{r} with {only}"),
        _ => format!("mean {r}"),
    };
    marks.push(Mark { shape: Shape::Diamond, colour: INK.into(), value: ranked.mean, name });
    Row {
        label: ranked.metric.to_string(),
        line,
        marks,
        is_marked: Some(ranked.metric) == highlight,
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
pub(super) fn changes(changes: &Changes) -> Option<Figure> {
    if changes.largest.is_empty() {
        return None;
    }
    let rows = changes.largest.iter().map(|change| {
        let LargeChange { metric, criterion, level, before, after, .. } = change;
        let mark = |shape, colour: &str, value, name: &str| Mark {
            shape,
            colour: colour.into(),
            value,
            name: name.into(),
        };
        let colour = verdict_colour(change.verdict());
        Row {
            label: format!("{metric}: {criterion}, {level}"),
            line: Some((*before, *after)),
            marks: vec![
                mark(Shape::Ring, INK, *before, "before"),
                mark(Shape::Diamond, colour, *after, "after"),
            ],
            is_marked: false,
        }
    });
    let mut legend = vec![(Shape::Ring, INK.to_owned(), "before".to_owned())];
    for verdict in distinct(changes.largest.iter().map(LargeChange::verdict)) {
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
    let boards = Leaderboard::all(study);
    let board = boards.iter().find(|board| board.level == level)?;
    let mut best = all.clone();
    best.rows.clear();
    for at in board.shown(MOST_ROWS, highlight) {
        let metric = board.rows[at].metric.as_str();
        let is_own = |row: &&Vec<Cell>| row[0].text() == metric;
        best.rows.extend(all.rows.iter().find(is_own).cloned());
    }
    let count = best.rows.len();
    best.title = format!(
        "Pearson correlations of the best {count} metrics with each criterion, at {}",
        level_name(level)
    );
    (!best.rows.is_empty()).then_some(best)
}
