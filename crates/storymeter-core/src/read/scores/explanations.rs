//! The explanations that `score --explain` writes beside the scores, in JSONL.

use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::read::ReadOptions;
use crate::read::fields::describe;
use crate::read::lines::{Line, LineReader, is_blank};
use crate::read::source::Source;
use crate::{Error, Place, Result};

/// Reads the explanations in a score file, compressed or not, by the number of the row. Only JSONL
/// has some that are read here.
///
/// ```
/// use storymeter_core::read;
/// let lines = "{\"scores\": {\"m\": 1}}\n{\"scores\": {\"m\": 2}, \"explanation\": {}}\n";
/// let found = read::explanations("scores.jsonl", lines.as_bytes())?;
/// assert_eq!(found, [(1, serde_json::json!({}))]);
/// # Ok::<(), storymeter_core::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the file cannot be read, or an explanation is not valid JSON.
pub fn explanations(
    name: impl AsRef<Path>,
    input: impl Read + Send + 'static,
) -> Result<Vec<(usize, Value)>> {
    #[derive(Deserialize)]
    struct Explained {
        explanation: Option<Value>,
    }
    let path = name.as_ref();
    let source = Source::from_reader(path, Box::new(input))?;
    let mut lines = LineReader::new(source.into_stream(), path, ReadOptions::default().max_line);
    let (mut found, mut rows) = (Vec::new(), 0);
    while let Some(line) = lines.next()? {
        let place = || Place::file(path).at_line(lines.number());
        let bytes = match line {
            Line::Text(bytes) if is_blank(&bytes) => continue,
            Line::Text(bytes) => bytes,
            Line::Broken(problem) => return Err(Error::invalid(place(), problem)),
        };
        let row = rows;
        rows += 1;
        let is_explained = bytes.trim_ascii_start().starts_with(b"{")
            && memchr::memmem::find(&bytes, b"\"explanation\"").is_some();
        if is_explained {
            let explained: Explained = serde_json::from_slice(&bytes)
                .map_err(|e| Error::invalid(place().in_field("explanation"), describe(&e)))?;
            found.extend(explained.explanation.map(|explanation| (row, explanation)));
        }
    }
    Ok(found)
}
