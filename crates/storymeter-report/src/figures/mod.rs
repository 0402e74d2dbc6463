//! The figures of both papers, from any data.

mod bars;
mod heatmap;
mod lines;
mod violin;

use storymeter_meta::{Document, Form, Sheet};

use crate::facets::Facets;
use crate::inputs::Inputs;
use crate::palette;
use crate::scatter;
use crate::svg::Figure;

/// The colour of every system, the same in all figures of a report.
#[derive(Debug, Clone, Default)]
pub struct SystemColours {
    names: Vec<String>,
}

impl SystemColours {
    /// Systems in order of appearance, over everything a report shows.
    pub fn of(inputs: &Inputs) -> Self {
        let mut names: Vec<String> = Vec::new();
        let rated = inputs
            .runs
            .iter()
            .flat_map(|run| &run.document.sheets)
            .filter(|sheet| names_systems(sheet));
        let rated = rated.flat_map(|sheet| sheet.rows.iter().map(|row| row[0].text()));
        for name in rated.chain(inputs.stories.system_names()) {
            if !name.is_empty() && !names.iter().any(|known| known == name) {
                names.push(name.into());
            }
        }
        Self { names }
    }

    /// All systems, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A system's colour.
    pub fn get(&self, system: &str) -> &'static str {
        palette::category(self.names.iter().position(|name| name == system).unwrap_or(0))
    }
}

fn names_systems(sheet: &Sheet) -> bool {
    sheet.columns.first().is_some_and(|head| head.name == "system")
}

/// Every figure of a report, in reading order. Where there are several runs, ids begin with the run's name.
pub fn all(inputs: &Inputs) -> Vec<Figure> {
    let colours = SystemColours::of(inputs);
    let mut figures = Vec::new();
    for run in &inputs.runs {
        let mut own = of_document(&run.document, &colours);
        if inputs.runs.len() > 1 {
            own.iter_mut().for_each(|figure| figure.id = format!("{}-{}", run.name, figure.id));
        }
        figures.append(&mut own);
    }
    figures.extend(of_logs(inputs));
    figures.extend(scatter::of_best(&inputs.stories, &colours));
    figures
}

/// The training curves.
pub fn of_logs(inputs: &Inputs) -> Vec<Figure> {
    inputs
        .logs
        .iter()
        .filter(|log| !log.rows.is_empty())
        .map(|log| labelled(log, lines::draw(log)))
        .collect()
}

/// Every figure of one result.
pub fn of_document(document: &Document, colours: &SystemColours) -> Vec<Figure> {
    document.sheets.iter().filter_map(|sheet| of_sheet(document, sheet, colours)).collect()
}

/// The figure of a sheet; `None` where it is a table to read, or belongs to another sheet's figure.
pub fn of_sheet(document: &Document, sheet: &Sheet, colours: &SystemColours) -> Option<Figure> {
    if sheet.rows.is_empty() {
        return None;
    }
    let figure = match sheet.form {
        Form::Table => return None,
        Form::Heatmap => heatmap::draw(sheet, &Facets::of(sheet)?),
        Form::Lines if sheet.id.ends_with("-density") => return None,
        Form::Lines => lines::draw(sheet),
        Form::Bars => match document.sheet(&format!("{}-density", sheet.id)) {
            Some(outline) if names_systems(sheet) => violin::draw(sheet, outline, colours),
            _ => bars::draw(sheet),
        },
    };
    Some(labelled(sheet, figure))
}

fn labelled(sheet: &Sheet, mut figure: Figure) -> Figure {
    figure.notes = sheet.notes.clone();
    figure.signature = sheet.signature.clone();
    figure
}
