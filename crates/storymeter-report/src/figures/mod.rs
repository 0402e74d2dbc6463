//! The figures of a report: those of both papers, on any data.

mod bars;
mod heatmap;
mod lines;
mod violin;

use storymeter_meta::study::{BiasedSets, RatingDistribution, TopSystems};
use storymeter_meta::view::{BiasedSetsPart, Form, Sheet, Subject, unique_stems};
use storymeter_meta::{Finding, Outcome, Study};

use crate::heat::Heat;
use crate::inputs::{Inputs, Run};
use crate::palette;
use crate::scatter;
use crate::svg::Figure;
use crate::training::TrainingLog;
use lines::{Axis, Chart, Curve, Panel, PanelScale};

/// The colour of every system, the same in all figures of a report.
#[derive(Debug, Clone, Default)]
pub struct SystemColours {
    names: Vec<String>,
}

impl SystemColours {
    /// Gives a colour to every system of the inputs, in order of appearance.
    pub fn new(inputs: &Inputs) -> Self {
        let mut names: Vec<String> = Vec::new();
        let rated = inputs.runs.iter().flat_map(|run| rated_systems(&run.study));
        let compared = inputs.runs.iter().flat_map(|run| &run.study.systems).map(String::as_str);
        let scored = inputs.stories().map(|stories| stories.scores().systems());
        for name in rated.chain(compared).chain(scored.into_iter().flatten()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        Self { names }
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
    let mut findings = run.study.findings.iter();
    let mut figure = match &sheet.subject {
        Subject::Ratings => {
            let ratings = findings.find_map(|finding| match finding {
                Finding::Ratings(ratings) => Some(ratings),
                _ => None,
            })?;
            from_ratings(ratings, sheet, colours)?
        }
        Subject::TopSystems => {
            let top = findings.find_map(|finding| match finding {
                Finding::TopSystems(top) => Some(top),
                _ => None,
            })?;
            lines::draw(&top_systems(top), &sheet.title)
        }
        Subject::BiasedSets { criterion, part: BiasedSetsPart::Means } => {
            let sets = findings.find_map(|finding| match finding {
                Finding::BiasedSets(sets) if sets.criterion == *criterion => Some(sets),
                _ => None,
            })?;
            lines::draw(&biased_sets(sets), &sheet.title)
        }
        _ => match sheet.form {
            Form::Heatmap => heatmap::draw(sheet, &Heat::new(&run.study, sheet)?),
            Form::Bars => bars::draw(sheet),
            Form::Lines | Form::Table => return None,
        },
    };
    figure.notes.clone_from(&sheet.notes);
    figure.signature.clone_from(&sheet.signature);
    Some(figure)
}

fn from_ratings(
    ratings: &RatingDistribution,
    sheet: &Sheet,
    colours: &SystemColours,
) -> Option<Figure> {
    let is_drawn = ratings.rows.iter().any(|row| row.density.is_ok()) && ratings.grid.len() > 1;
    is_drawn.then(|| violin::draw(ratings, &sheet.title, colours))
}

/// Correlations among the k best systems: one panel per criterion, one curve per metric.
fn top_systems(top: &TopSystems) -> Chart {
    let mut panels: Vec<Panel> = Vec::new();
    for row in &top.rows {
        let curve = Curve { name: row.metric.to_string(), values: present(&row.strength) };
        match panels.iter_mut().find(|panel| panel.title == row.criterion.as_str()) {
            Some(panel) => panel.curves.push(curve),
            None => {
                panels.push(Panel { title: row.criterion.to_string(), curves: vec![curve] });
            }
        }
    }
    let labels = top.k.iter().map(|k| format!("k={k}")).collect();
    Chart { axis: Axis::even(labels), panels, scale: PanelScale::Shared }
}

/// Correlations on biased sets: one curve per metric over the sets.
fn biased_sets(sets: &BiasedSets) -> Chart {
    let curve = |(at, metric): (usize, &storymeter_core::Key)| Curve {
        name: metric.to_string(),
        values: sets.sets.iter().map(|set| set.metrics.get(at)?.mean.ok()).collect(),
    };
    let curves = sets.metrics.iter().enumerate().map(curve).collect();
    let labels = sets.sets.iter().map(|set| format!("#{}", set.index)).collect();
    let panels = vec![Panel { title: String::new(), curves }];
    Chart { axis: Axis::even(labels), panels, scale: PanelScale::Shared }
}

fn present(outcomes: &[Outcome<f64>]) -> Vec<Option<f64>> {
    outcomes.iter().map(|outcome| outcome.ok()).collect()
}

/// Training curves: one panel per quantity.
fn from_log(log: &TrainingLog) -> Figure {
    let panel = |quantity: &crate::training::Quantity| Panel {
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
