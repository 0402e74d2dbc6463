//! Finds files that only the user can have: tables that may not travel with storymeter.

use std::path::PathBuf;

use storymeter_core::{MetricError, Request};

/// A file that a metric needs.
pub(crate) struct Wanted<'a> {
    /// The names under which the user may have named it, in the order in which they count.
    pub names: &'a [&'a str],
    /// Its usual places in a folder that the user names, or in a folder of models.
    pub files: &'a [&'a str],
    /// What it is, for the error that says that it is missing.
    pub description: &'a str,
}

/// Where the file is: at the path that the user named, in the folder that the user named, or in a
/// folder of `STORYMETER_MODELS`.
///
/// # Errors
/// Returns an error if it is nowhere. The error says where it was looked for.
pub(crate) fn find(request: &Request<'_>, wanted: &Wanted<'_>) -> Result<PathBuf, MetricError> {
    let weights = &request.resources.settings().weights;
    let folders = match wanted.names.iter().find_map(|&name| weights.get(name)) {
        Some(named) if named.is_file() => return Ok(named.clone()),
        Some(named) => vec![named.clone()],
        None => models_folders(),
    };
    let places =
        folders.iter().flat_map(|folder| wanted.files.iter().map(|file| folder.join(file)));
    let searched: Vec<PathBuf> = places.collect();
    if let Some(found) = searched.iter().find(|path| path.is_file()) {
        return Ok(found.clone());
    }
    Err(MetricError::NoWeights {
        metric: request.key.to_owned(),
        files: wanted.description.to_owned(),
        name: wanted.names.first().copied().unwrap_or(request.id).to_owned(),
        searched,
    })
}

/// The folders of `STORYMETER_MODELS`.
pub(crate) fn models_folders() -> Vec<PathBuf> {
    let variable = std::env::var_os("STORYMETER_MODELS").unwrap_or_default();
    std::env::split_paths(&variable).filter(|path| !path.as_os_str().is_empty()).collect()
}
