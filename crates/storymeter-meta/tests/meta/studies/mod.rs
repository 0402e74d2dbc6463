//! Whole analyses: numbers against scipy, absent cells, hostile names, settings, folders, files.

mod absent_cells;
mod acts;
mod changes;
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
mod text;
mod union;
mod verdict;
mod verdict_words;
