//! Whole analyses: numbers against scipy, absent cells, hostile names, settings, folders, files.
#![allow(missing_docs)]

mod absent_cells;
mod acts;
mod correlate;
mod directions;
mod folders;
mod names;
mod openmeva;
mod scipy_systems;
mod settings;
mod support;
mod sureness;
mod systems;
mod union;
