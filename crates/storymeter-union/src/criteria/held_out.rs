//! What a model says about stories that it has not learned from, beside what readers said.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use storymeter_core::{Error as CoreError, Place, file};

use crate::Result;
use crate::error::brief;

/// The most bytes of a file of held-out stories. A story takes about 400.
const LARGEST_FILE: u64 = 1 << 28;

/// A line of `held-out.jsonl`, which training writes: what a model says about a story that it has
/// not learned from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HeldOut {
    /// The set of the story.
    pub set: String,
    /// The id of the story.
    pub id: String,
    /// The item of the story, such as its prompt.
    pub item: String,
    /// The system that wrote it, if it is known.
    #[serde(default)]
    pub system: Option<String>,
    /// The outputs of the heads in standard units, by the name of the criterion.
    pub raw: BTreeMap<String, f64>,
    /// The cosine of the vectors of prompt and story, if there is a prompt.
    #[serde(default)]
    pub cosine: Option<f64>,
    /// The mean ratings on the scale of the set, by the name of the criterion.
    pub rating: BTreeMap<String, f64>,
}

impl HeldOut {
    /// Reads a file with one story per line.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or a line is not such a story; the error names
    /// the line.
    pub fn read(path: &Path) -> Result<Vec<Self>> {
        let text = file::read_text(path, LARGEST_FILE)?;
        let mut stories = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let story = serde_json::from_str(line).map_err(|e| {
                // The line of the parser is that within this one line.
                let problem = brief(e);
                let problem = problem.split(" at line 1 ").next().unwrap_or_default();
                CoreError::invalid(
                    Place::file(path).at_line(number),
                    format!("this is not a held-out story as training writes it: {problem}"),
                )
            })?;
            stories.push(story);
        }
        Ok(stories)
    }
}
