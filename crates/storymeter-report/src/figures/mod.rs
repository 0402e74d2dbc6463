//! The figures of a report: those of both papers, on any data.

mod bars;
mod captions;
mod forest;
mod heatmap;
mod lines;
mod ranking;
mod suite;
mod systems;
mod violin;

use std::collections::HashSet;

use storymeter_meta::study::RatingDistribution;
use storymeter_meta::view::{BiasedSetsPart, Cell, Form, Sheet, Subject, unique_stems};
use storymeter_meta::{Coefficient, Finding, Study};

use crate::heat::Heat;
use crate::inputs::{Inputs, StudyRun};
use crate::palette;
use crate::report::Report;
use crate::scatter;
use crate::svg::Figure;
use crate::training::{Quantity, TrainingLog};
use lines::{Axis, Chart, Curve, Panel, PanelScale};

pub(crate) use heatmap::MEAN;
pub(crate) use ranking::{MOST_METRICS, first_places};

/// Sheets with more cells are not drawn: nobody could read them, and a study has dozens of them.
const MOST_CELLS: usize = 100_000;

/// The colour of every system, the same in all figures of a report.
#[derive(Debug, Clone, Default)]
pub struct SystemColours {
    names: Vec<String>,
}

impl SystemColours {
    /// Gives a colour to every system of the inputs, in order of appearance.
    pub fn new(inputs: &Inputs) -> Self {
        let rated = inputs.runs.iter().flat_map(|run| rated_systems(&run.study));
        let compared = inputs.runs.iter().flat_map(|run| &run.study.systems).map(String::as_str);
        let scored = inputs.stories().map(|stories| stories.scores().systems());
        let all = rated.chain(compared).chain(scored.into_iter().flatten());
        let mut seen = HashSet::new();
        Self { names: all.filter(|name| seen.insert(*name)).map(str::to_owned).collect() }
    }

    /// All systems, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The colour of a system.
    pub fn get(&self, system: &str) -> &'static str {
        palette::category(self.names.iter().position(|name| name == system).unwrap_or(0))
    }
}

/// The systems that people rated, which may be more than those that a study compares.
fn rated_systems(study: &Study) -> impl Iterator<Item = &str> {
    study.findings.iter().flat_map(|finding| match finding {
        Finding::SystemAverages(averages) => {
            averages.systems.iter().map(|(system, _)| system.as_str()).collect()
        }
        _ => Vec::new(),
    })
}

/// Which figures of a report are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FigureSet {
    /// The few that answer the usual questions.
    #[default]
    Main,
    /// All of them: every level, coefficient, criterion and test.
    All,
}

/// A figure that can be drawn, and the name that it has on the page and as a file.
pub(crate) struct Planned<'a> {
    /// A name that no other figure of the report has.
    pub id: String,
    pub source: Source<'a>,
    /// Whether it is one of the main figures.
    pub is_main: bool,
}

/// What a figure is drawn from.
pub(crate) enum Source<'a> {
    /// The ranked metrics of the run at this position.
    Ranking { run: usize },
    /// The means of the systems, by position among the comparisons of the report.
    Intervals { at: usize },
    /// Every two systems.
    Pairs { at: usize },
    /// All scores of all systems.
    Distribution { at: usize },
    /// The largest changes, by position among the changes of the report.
    Changes { at: usize },
    /// The best metrics at one level, from the sheet of all.
    Best { run: usize, sheet: &'a Sheet },
    /// A sheet of the run at this position.
    Sheet { run: usize, sheet: &'a Sheet },
    /// A training log.
    Log(&'a TrainingLog),
    /// All criteria of the stories, each against the metric that fits it best.
    Scatters,
    /// The best metric for a criterion of the stories, given by the position of its column.
    Scatter { criterion: usize },
    /// What metrics see, by position among the test suites of the report.
    Suite { suite: usize },
}

impl Source<'_> {
    /// The run that the figure belongs to.
    pub fn run(&self) -> Option<usize> {
        match self {
            Self::Ranking { run } | Self::Best { run, .. } | Self::Sheet { run, .. } => Some(*run),
            _ => None,
        }
    }
}

/// All figures of a report in reading order, with unique names.
///
/// Where there are several runs, the names begin with that of the run.
pub(crate) fn plan<'a>(report: &Report<'a>) -> Vec<Planned<'a>> {
    let inputs = report.inputs();
    let mut found: Vec<(String, Source<'a>, bool)> = Vec::new();
    for at in 0..report.changes().len() {
        found.push((format!("changes-{}", at + 1), Source::Changes { at }, true));
    }
    for (at, one) in report.comparisons().found.iter().enumerate() {
        let named = |id: &str| match at {
            0 => id.to_owned(),
            _ => format!("{id}-{}", one.column.key),
        };
        found.push((named("intervals"), Source::Intervals { at }, at == 0));
        if one.pairs.len() > 1 {
            found.push((named("pairs"), Source::Pairs { at }, at == 0));
        }
        found.push((named("distribution"), Source::Distribution { at }, at == 0));
    }
    for (at, run) in inputs.runs.iter().enumerate() {
        let named = |id: &str| match inputs.runs.len() {
            1 => id.to_owned(),
            _ => format!("{}-{id}", run.name),
        };
        if !run.study.metric_rankings().is_empty() {
            found.push((named("ranking"), Source::Ranking { run: at }, true));
        }
        let mut seen: Vec<&Subject> = Vec::new();
        for sheet in run.shown_sheets().filter(|s| s.form != Form::Table && !s.rows.is_empty()) {
            let is_first = !seen.contains(&&sheet.subject);
            seen.push(&sheet.subject);
            // The sheet of the best metrics stands for the whole one among the main figures.
            let is_against =
                matches!(sheet.subject, Subject::Against { coefficient: Coefficient::Pearson, .. });
            if is_first && is_against {
                found.push((
                    named(&format!("best-{}", sheet.id)),
                    Source::Best { run: at, sheet },
                    true,
                ));
            }
            let is_main = is_first && is_main(&sheet.subject) && !is_repeated(&seen);
            found.push((named(&sheet.id), Source::Sheet { run: at, sheet }, is_main));
        }
    }
    for log in &inputs.logs {
        let name = format!("training-{}", log.name.split('.').next().unwrap_or_default());
        found.push((name, Source::Log(log), true));
    }
    if let Some(stories) = inputs.stories() {
        let criteria = scatter::criteria(stories);
        if !criteria.is_empty() {
            found.push(("scatter".into(), Source::Scatters, true));
        }
        for criterion in criteria {
            let name = format!("scatter-{}", stories.scores().columns()[criterion].key);
            found.push((name, Source::Scatter { criterion }, false));
        }
    }
    for (at, suite) in inputs.suites.iter().enumerate() {
        let name = match inputs.suites.len() {
            1 => suite::ID.to_owned(),
            _ => format!("{}-{}", suite.name, suite::ID),
        };
        found.push((name, Source::Suite { suite: at }, true));
    }
    let ids = unique_stems(found.iter().map(|(name, ..)| name.as_str()), &[]);
    let planned = ids.into_iter().zip(found);
    planned.map(|(id, (_, source, is_main))| Planned { id, source, is_main }).collect()
}

/// Whether a main figure before the last subject shows the same for another level or criterion. One
/// of a kind is enough.
fn is_repeated(seen: &[&Subject]) -> bool {
    let Some((last, before)) = seen.split_last() else { return false };
    let is_alike = |other: &&Subject| {
        std::mem::discriminant(*other) == std::mem::discriminant(*last) && is_main(other)
    };
    before.iter().any(is_alike)
}

/// Whether the first sheet of a subject is one of the main figures. The same numbers with other
/// coefficients, all metrics against each other and the tests between them are not.
fn is_main(subject: &Subject) -> bool {
    match subject {
        Subject::Between { role, coefficient, .. } => {
            *role == storymeter_core::Role::Human && *coefficient == Coefficient::Pearson
        }
        Subject::Pairwise | Subject::TopSystems | Subject::Ratings | Subject::HumanScores => true,
        Subject::BiasedSets { part, .. } => *part == BiasedSetsPart::Means,
        _ => false,
    }
}

/// Draws a figure of the plan; `None` where its numbers cannot be drawn.
pub(crate) fn draw(planned: &Planned<'_>, report: &Report<'_>) -> Option<Figure> {
    let (inputs, colours) = (report.inputs(), report.colours());
    let highlight = inputs.highlight.as_ref();
    let mut figure = match planned.source {
        Source::Ranking { run } => ranking::metrics(&inputs.runs[run].study, highlight)?,
        Source::Intervals { at } => systems::intervals(&report.comparisons().found[at], colours)?,
        Source::Pairs { at } => systems::pairs(&report.comparisons().found[at])?,
        Source::Distribution { at } => {
            systems::distribution(&report.comparisons().found[at], inputs.stories()?, colours)?
        }
        Source::Changes { at } => ranking::changes(&report.changes()[at])?,
        Source::Best { run, sheet } => {
            let run = &inputs.runs[run];
            let best = ranking::best_rows(&run.study, sheet, highlight)?;
            from_sheet(run, &best, colours)?
        }
        Source::Sheet { run, sheet } => from_sheet(&inputs.runs[run], sheet, colours)?,
        Source::Log(log) => from_log(log),
        Source::Scatters => {
            let stories = inputs.stories()?;
            with_notes(scatter::draw_all(stories, highlight, colours)?, captions::scatter(stories))
        }
        Source::Scatter { criterion } => {
            let stories = inputs.stories()?;
            let figure = scatter::draw(stories, criterion, highlight, colours)?;
            with_notes(figure, captions::scatter(stories))
        }
        Source::Suite { suite } => suite::draw(&inputs.suites[suite].result, highlight)?,
    };
    figure.id.clone_from(&planned.id);
    Some(figure)
}

/// Puts notes before those that a figure has.
fn with_notes(mut figure: Figure, mut notes: Vec<String>) -> Figure {
    notes.append(&mut figure.notes);
    figure.notes = notes;
    figure
}

/// The figures of a set, in reading order. Their ids are unique file names.
pub(crate) fn all(report: &Report<'_>, set: FigureSet) -> Vec<Figure> {
    let plan = plan(report);
    let wanted = plan.iter().filter(|planned| set == FigureSet::All || planned.is_main);
    wanted.filter_map(|planned| draw(planned, report)).collect()
}

fn from_sheet(run: &StudyRun, sheet: &Sheet, colours: &SystemColours) -> Option<Figure> {
    if sheet.rows.len() * sheet.columns.len() > MOST_CELLS {
        return None;
    }
    let mut figure = match sheet.form {
        Form::Heatmap => heatmap::draw(sheet, &Heat::new(&run.study, sheet)?),
        Form::Lines => lines::draw(&chart(sheet)?, &sheet.title),
        Form::Bars if sheet.subject == Subject::Ratings => {
            violin::draw(ratings(&run.study)?, &sheet.title, colours)
        }
        Form::Bars => bars::draw(sheet),
        Form::Table => return None,
    };
    figure.notes = captions::sheet(&run.study, sheet);
    figure.notes.extend(sheet.notes.iter().cloned());
    figure.signature.clone_from(&sheet.signature);
    Some(figure)
}

/// The distribution of single ratings.
fn ratings(study: &Study) -> Option<&RatingDistribution> {
    study.findings.iter().find_map(|finding| match finding {
        Finding::Ratings(ratings) => Some(ratings),
        _ => None,
    })
}

/// The curves of a sheet, by what it shows.
fn chart(sheet: &Sheet) -> Option<Chart> {
    let width = sheet.columns.len();
    // Names first, then the points, then a summary of the points.
    let (names, points) = match &sheet.subject {
        Subject::TopSystems => (2, 2..width),
        Subject::BiasedSets { part, .. } => match part {
            BiasedSetsPart::Stories => (1, 1..width),
            BiasedSetsPart::Means => (1, 1..width - 1),
            BiasedSetsPart::Variances => (1, 1..1 + (width - 1) / 2),
        },
        _ => return None,
    };
    let mut panels: Vec<Panel> = Vec::new();
    for row in &sheet.rows {
        let title = if names == 2 { row[0].text() } else { "" };
        let curve = Curve {
            name: row[names - 1].text().to_owned(),
            values: row[points.clone()].iter().map(number).collect(),
        };
        match panels.iter_mut().find(|panel| panel.title == title) {
            Some(panel) => panel.curves.push(curve),
            None => panels.push(Panel { title: title.to_owned(), curves: vec![curve] }),
        }
    }
    let labels = sheet.columns[points].iter().map(|head| head.name.clone()).collect();
    let (title, quantity) = match &sheet.subject {
        Subject::TopSystems => ("the k best systems", "|correlation|"),
        Subject::BiasedSets { part: BiasedSetsPart::Stories, .. } => ("set", "mean stories"),
        Subject::BiasedSets { part: BiasedSetsPart::Variances, .. } => ("set", "variance"),
        _ => ("set", "mean correlation"),
    };
    let axis = Axis::even(title, labels);
    Some(Chart { axis, panels, scale: PanelScale::Shared, quantity: quantity.into() })
}

fn number(cell: &Cell) -> Option<f64> {
    Some(cell.value()).filter(|value| value.is_finite())
}

/// Training curves: one panel per quantity.
fn from_log(log: &TrainingLog) -> Figure {
    let panel = |quantity: &Quantity| Panel {
        title: quantity.name.clone(),
        curves: vec![Curve { name: quantity.name.clone(), values: quantity.values.clone() }],
    };
    let chart = Chart {
        axis: Axis::numeric("step", log.steps.clone()),
        panels: log.quantities.iter().map(panel).collect(),
        scale: PanelScale::PerPanel,
        quantity: String::new(),
    };
    let mut figure = lines::draw(&chart, &format!("Training curves: {}", log.name));
    figure.notes.clone_from(&log.notes);
    figure
}
