//! A report: what was read, and what was computed from it for the page and the figures.

use crate::changes::{self, ShownChanges};
use crate::figures::{self, FigureSet, SystemColours};
use crate::inputs::Inputs;
use crate::page;
use crate::svg::Figure;
use crate::systems::Comparisons;

/// Everything that the page and the figures show, computed once.
#[derive(Debug)]
pub struct Report<'a> {
    inputs: &'a Inputs,
    colours: SystemColours,
    changes: Vec<ShownChanges>,
    comparisons: Comparisons,
}

impl<'a> Report<'a> {
    /// Compares what can be compared in the inputs.
    pub fn new(inputs: &'a Inputs) -> Self {
        Self {
            inputs,
            colours: SystemColours::new(inputs),
            changes: changes::all(inputs),
            comparisons: Comparisons::new(inputs),
        }
    }

    /// The page: one HTML file that needs no other file and no network.
    pub fn html(&self) -> String {
        page::html(self)
    }

    /// The figures of a set, in reading order. Their ids are unique file names.
    pub fn figures(&self, set: FigureSet) -> Vec<Figure> {
        figures::all(self, set)
    }

    pub(crate) fn inputs(&self) -> &'a Inputs {
        self.inputs
    }

    pub(crate) fn colours(&self) -> &SystemColours {
        &self.colours
    }

    pub(crate) fn comparisons(&self) -> &Comparisons {
        &self.comparisons
    }

    pub(crate) fn changes(&self) -> &[ShownChanges] {
        &self.changes
    }
}
