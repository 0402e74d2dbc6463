//! Weights of language models in GGUF files, as llama.cpp uses them.
//!
//! A file has everything in one: facts about the model, its vocabulary and its tensors, most of
//! which are stored in blocks of small whole numbers. They are given out under the names and in the
//! layouts of Hugging Face's files, and only when they are asked for.

mod blocks;
mod header;
mod names;

pub(crate) use header::Fact;

use super::Tensors;
use super::content::{Content, elements};
use crate::Result;
use crate::error::excerpt;
use crate::parameters::Tensor;
use blocks::Kind;
use header::{Header, Listed};
use names::{Arrangement, Family};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// One file, of which the header has been read.
#[derive(Debug)]
pub(crate) struct GgufFile {
    content: Content<'static>,
    facts: BTreeMap<String, Fact>,
    /// Where the numbers begin.
    data: u64,
    tensors: Vec<Found>,
    /// The places of the tensors by their Hugging Face names.
    places: HashMap<String, usize>,
    config: Map<String, Value>,
}

/// A tensor of the file.
#[derive(Debug)]
struct Found {
    /// The name in Hugging Face's files.
    name: String,
    listed: Listed,
    arrangement: Arrangement,
}

impl GgufFile {
    /// Reads the header, and translates it to what Hugging Face's files say.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or a part of several files, or if the architecture
    /// is not supported.
    pub(crate) fn open(content: Content<'static>) -> Result<GgufFile> {
        let Header { facts, tensors, data } = header::read(content.reader(), content.length())
            .map_err(|problem| content.broken(problem))?;
        if matches!(facts.get("split.count"), Some(Fact::Whole(count)) if *count > 1) {
            return Err(content
                .broken("this is one of several files: join them with llama.cpp's gguf-split"));
        }
        let family = Family::of(&facts).map_err(|problem| content.broken(problem))?;
        let config = family.config(&facts, &tensors).map_err(|problem| content.broken(problem))?;
        let mut found: Vec<Found> = Vec::new();
        let mut places = HashMap::new();
        for listed in tensors {
            if let Some((name, arrangement)) = family.translate(&listed.name, &config) {
                if places.insert(name.clone(), found.len()).is_some() {
                    return Err(content.tensor_error(&listed.name, "is listed twice"));
                }
                found.push(Found { name, listed, arrangement });
            }
        }
        let mut file = GgufFile { content, facts, data, tensors: found, places, config };
        if let Some(factors) = file.get("rope_freqs.weight")?
            && let Some(scaling) = names::llama3_scaling(&factors.data, &file.config)
        {
            file.config.insert("rope_scaling".into(), scaling);
        }
        Ok(file)
    }

    /// The fields of a `config.json`.
    pub(crate) fn config(&self) -> &Map<String, Value> {
        &self.config
    }

    /// The facts about the tokeniser.
    pub(crate) fn tokenizer_facts(&self) -> BTreeMap<String, Fact> {
        let own = |name: &String| name.starts_with("tokenizer.");
        self.facts
            .iter()
            .filter(|(name, _)| own(name))
            .map(|(n, f)| (n.clone(), f.clone()))
            .collect()
    }

    pub(crate) fn content(&self) -> &Content<'static> {
        &self.content
    }

    fn read(&self, found: &Found) -> Result<Tensor> {
        let Listed { dimensions, kind, offset, .. } = &found.listed;
        let error = |problem: String| self.content.tensor_error(&found.listed.name, problem);
        let Some(kind) = Kind::of(*kind) else {
            return Err(error(format!(
                "has ggml's type {kind}, expected F32, F16, BF16, F64, Q4_0 to Q8_0 or Q2_K to Q6_K"
            )));
        };
        let shape: Vec<usize> =
            dimensions.iter().rev().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect();
        let (numbers, bytes) = kind.block();
        let count = elements(&shape).ok_or_else(|| error(format!("has the shape {shape:?}")))?;
        let width = shape.last().map_or(1, |width| *width as u64);
        if !width.is_multiple_of(numbers) {
            return Err(error(format!("a row of {shape:?} is no whole number of blocks")));
        }
        // No product overflows, because there are fewer than 2^48 numbers of at most 8 bytes.
        let length = count / numbers * bytes;
        let start = self.data.checked_add(*offset);
        let Some(start) = start.filter(|start| {
            start.checked_add(length).is_some_and(|end| end <= self.content.length())
        }) else {
            return Err(error("reaches beyond the end of the file".into()));
        };
        let data = kind.decode(&self.content.read(start, length)?);
        let (shape, data) =
            found.arrangement.undo(shape, data).map_err(|problem| error(problem.to_owned()))?;
        self.content.tensor(&found.name, shape, data)
    }
}

impl Tensors for GgufFile {
    fn path(&self) -> &Path {
        self.content.path()
    }

    fn names(&self) -> Vec<String> {
        self.tensors.iter().map(|found| found.name.clone()).collect()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(place) = self.places.get(name) else { return Ok(None) };
        self.read(&self.tensors[*place]).map(Some)
    }
}

/// A fact that should be a text.
fn text<'a>(facts: &'a BTreeMap<String, Fact>, name: &str) -> Result<&'a str, String> {
    match facts.get(name) {
        Some(Fact::Text(text)) => Ok(text),
        _ => Err(format!("{} is missing or not a text", excerpt(name))),
    }
}
