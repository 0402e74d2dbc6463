//! Weights in several files, of which an index says which tensor is where.

use super::Tensors;
use super::content::{Content, digits};
use crate::error::excerpt;
use crate::file::{LARGEST_CONFIG, read_model_file};
use crate::parameters::Tensor;
use crate::{Error, Result};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The most files that one model may have. The largest models have two hundred.
const MOST_FILES: usize = 500;

/// All files of a model.
pub(super) struct Shards {
    /// The index, which errors name.
    path: PathBuf,
    files: Vec<Box<dyn Tensors + Send + Sync>>,
    /// The file of each tensor.
    places: HashMap<String, usize>,
    /// The tensors in the order of the index.
    names: Vec<String>,
}

impl Shards {
    /// Reads an index (`weight_map`: names of tensors and of files) and opens its files, which are
    /// in the same folder. Also returns the fingerprint of all files in the order of their names.
    ///
    /// # Errors
    /// Returns an error if the index or a file is missing or broken.
    pub(super) fn open(
        path: &Path,
        open: impl Fn(Content<'static>) -> Result<Box<dyn Tensors + Send + Sync>>,
    ) -> Result<(Shards, String)> {
        let problem = |problem: String| Error::Weights { path: path.into(), problem };
        let index: Value = serde_json::from_slice(&read_model_file(path, LARGEST_CONFIG)?)
            .map_err(|source| Error::Json { path: path.into(), source })?;
        let map = index.get("weight_map").and_then(Value::as_object);
        let map = map.ok_or_else(|| problem("the index has no weight_map".into()))?;
        let numbers = file_names(map).map_err(problem)?;
        let mut files = Vec::new();
        let mut sum = Sha256::new();
        for name in numbers.keys() {
            let file = path.with_file_name(name);
            files.push(open(Content::open(&file)?)?);
            Content::open(&file)?.add_to(&mut sum)?;
        }
        let place =
            |(name, file): (&String, &Value)| Some((name.clone(), *numbers.get(file.as_str()?)?));
        let places: HashMap<String, usize> = map.iter().filter_map(place).collect();
        // Tensors of whole numbers are in the index too.
        let listed: Vec<HashSet<String>> =
            files.iter().map(|file| file.names().into_iter().collect()).collect();
        let is_listed = |name: &String| places.get(name).is_some_and(|&n| listed[n].contains(name));
        let names = map.keys().filter(|name| is_listed(name)).cloned().collect();
        Ok((Shards { path: path.into(), files, places, names }, digits(sum)))
    }
}

/// The names of the files with their numbers. A name with a folder in it could lead anywhere.
fn file_names(map: &Map<String, Value>) -> std::result::Result<BTreeMap<&str, usize>, String> {
    let mut names = BTreeMap::new();
    for (tensor, file) in map {
        let name = file.as_str().filter(|name| {
            !name.is_empty() && *name != ".." && !name.contains(['/', '\\', '\0', ':'])
        });
        let Some(name) = name else {
            let (tensor, file) = (excerpt(tensor), excerpt(&file.to_string()));
            return Err(format!("the tensor {tensor:?} is in {file}, which is no name of a file"));
        };
        names.insert(name, 0);
        if names.len() > MOST_FILES {
            return Err(format!("the index names more than {MOST_FILES} files"));
        }
    }
    for (number, place) in names.values_mut().enumerate() {
        *place = number;
    }
    Ok(names)
}

impl Tensors for Shards {
    fn path(&self) -> &Path {
        &self.path
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        match self.places.get(name) {
            Some(file) => self.files[*file].get(name),
            None => Ok(None),
        }
    }
}
