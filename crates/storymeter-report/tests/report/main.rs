//! Pages and figures of whole studies.

mod common;
mod figures;
mod hostile;
mod suite;
