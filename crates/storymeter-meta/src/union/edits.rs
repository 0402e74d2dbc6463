//! Appendix D: does the reconstruction head change the stories that people find bad?

use std::path::Path;

use storymeter_core::{Error as CoreError, Place, file};
use storymeter_stats::Coefficient;

use super::rated::{MOST_BYTES, RatedSet};
use crate::analysis::associate;
use crate::error::Result;
use crate::study::{Edits, EditsRow};

/// Spearman between human scores and whether the model edited the story, on all stories and by
/// error type.
pub(super) fn appendix_d(set: &RatedSet, path: &Path) -> Result<Edits> {
    let edited = read(set, path)?;
    let mut sets = vec![("All".to_owned(), (0..set.len()).collect::<Vec<_>>())];
    if let Some(errors) = &set.errors {
        sets.extend(
            errors.specific().map(|(at, name)| (name.to_owned(), errors.evaluation_set(at))),
        );
    }
    let row = |(name, stories): (String, Vec<usize>)| -> Result<EditsRow> {
        let pick = |values: &[f64]| stories.iter().map(|&i| values[i]).collect::<Vec<_>>();
        let found = associate(Coefficient::Spearman, &pick(&edited), &pick(&set.human))?;
        Ok(EditsRow { set: name, value: found.value, n: found.n })
    };
    Ok(Edits {
        stories: set.len(),
        edited: edited.iter().filter(|&&e| e == 1.0).count(),
        rows: sets.into_iter().map(row).collect::<Result<_>>()?,
    })
}

/// One line per story: 0 or 1, or the story as the model gave it back, compared word for word.
fn read(set: &RatedSet, path: &Path) -> Result<Vec<f64>> {
    let text = file::read_text(path, MOST_BYTES)?;
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim).collect();
    if lines.len() != set.len() {
        let problem = format!("{} lines for {} stories", lines.len(), set.len());
        return Err(CoreError::invalid(Place::file(path), problem).into());
    }
    if lines.iter().all(|line| matches!(*line, "0" | "1")) {
        return Ok(lines.iter().map(|line| f64::from(u8::from(*line == "1"))).collect());
    }
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    Ok(lines
        .iter()
        .zip(&set.texts)
        .map(|(line, story)| f64::from(u8::from(!same(line, story))))
        .collect())
}
