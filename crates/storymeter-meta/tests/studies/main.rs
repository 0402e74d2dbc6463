//! Whole analyses: numbers against scipy, absent cells, hostile names, settings, folders, files.
#![allow(missing_docs)]

mod absent_cells;
mod correlate;
mod folders;
mod names;
mod settings;
mod support;
mod systems;
mod union;
