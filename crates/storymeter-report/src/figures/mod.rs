//! The figures of a report: those of both papers, on any data.

mod bars;
mod heatmap;
mod lines;
mod violin;

use std::collections::HashSet;

use storymeter_meta::study::RatingDistribution;
use storymeter_meta::view::{BiasedSetsPart, Cell, Form, Sheet, Subject, unique_stems};
use storymeter_meta::{Finding, Study};

use crate::heat::Heat;
use crate::inputs::{Inputs, Run};
use crate::palette;
use crate::scatter;
use crate::svg::Figure;
use crate::training::{Quantity, TrainingLog};
use lines::{Axis, Chart, Curve, Panel, PanelScale};

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

/// A figure that can be drawn, and the name that it has on the page and as a file.
pub(crate) struct Planned<'a> {
    /// A name that no other figure of the report has.
    pub id: String,
    pub source: Source<'a>,
}

/// What a figure is drawn from.
pub(crate) enum Source<'a> {
    /// A sheet of the run at this position.
    Sheet { run: usize, sheet: &'a Sheet },
    /// A training log.
    Log(&'a TrainingLog),
    /// The best metric for a criterion of the stories, given by the position of its column.
    Scatter { criterion: usize },
}

/// All figures of a report in reading order, with unique names.
///
/// Where there are several runs, the names begin with that of the run.
pub(crate) fn plan(inputs: &Inputs) -> Vec<Planned<'_>> {
    let mut sources = Vec::new();
    let mut names = Vec::new();
    for (at, run) in inputs.runs.iter().enumerate() {
        let drawn = run.shown_sheets().filter(|s| s.form != Form::Table && !s.rows.is_empty());
        for sheet in drawn {
            names.push(match inputs.runs.len() {
                1 => sheet.id.clone(),
                _ => format!("{}-{}", run.name, sheet.id),
            });
            sources.push(Source::Sheet { run: at, sheet });
        }
    }
    for log in &inputs.logs {
        names.push(format!("training-{}", log.name.split('.').next().unwrap_or_default()));
        sources.push(Source::Log(log));
    }
    if let Some(stories) = inputs.stories() {
        for criterion in scatter::criteria(stories) {
            names.push(format!("scatter-{}", stories.scores().columns()[criterion].key));
            sources.push(Source::Scatter { criterion });
        }
    }
    let ids = unique_stems(names.iter().map(String::as_str), &[]);
    ids.into_iter().zip(sources).map(|(id, source)| Planned { id, source }).collect()
}

/// Draws a figure of the plan; `None` where its numbers cannot be drawn.
pub(crate) fn draw(
    planned: &Planned<'_>,
    inputs: &Inputs,
    colours: &SystemColours,
) -> Option<Figure> {
    let mut figure = match planned.source {
        Source::Sheet { run, sheet } => from_sheet(&inputs.runs[run], sheet, colours)?,
        Source::Log(log) => from_log(log),
        Source::Scatter { criterion } => scatter::draw(inputs.stories()?, criterion, colours)?,
    };
    figure.id.clone_from(&planned.id);
    Some(figure)
}

/// Every figure of a report, in reading order. Their ids are unique file names.
pub fn all(inputs: &Inputs) -> Vec<Figure> {
    let colours = SystemColours::new(inputs);
    plan(inputs).iter().filter_map(|planned| draw(planned, inputs, &colours)).collect()
}

fn from_sheet(run: &Run, sheet: &Sheet, colours: &SystemColours) -> Option<Figure> {
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
    figure.notes.clone_from(&sheet.notes);
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
    Some(Chart { axis: Axis::even(labels), panels, scale: PanelScale::Shared })
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
        axis: Axis::numeric(log.steps.clone()),
        panels: log.quantities.iter().map(panel).collect(),
        scale: PanelScale::PerPanel,
    };
    let mut figure = lines::draw(&chart, &format!("Training curves: {}", log.name));
    figure.notes.clone_from(&log.notes);
    figure
}
