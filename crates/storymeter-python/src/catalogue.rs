//! The catalogue of metrics: its list, and the page of one metric.

use pyo3::prelude::*;
use storymeter::{Listing, catalogue};

use crate::errors;

/// The list of all metrics, as JSON and as the text that the command line prints.
#[pyfunction]
pub fn list_metrics(py: Python<'_>) -> PyResult<(String, String)> {
    let listing = Listing::new(&catalogue());
    let json = serde_json::to_string(&listing.lines);
    let json = json.map_err(|error| errors::raise(py, error.into()))?;
    Ok((json, listing.to_string()))
}

/// The page of a metric, as the command line prints it.
#[pyfunction]
pub fn metric_page(py: Python<'_>, id: &str) -> PyResult<String> {
    let entry = catalogue().find(id).map_err(|error| errors::error(py, error))?;
    Ok(entry.manual())
}
