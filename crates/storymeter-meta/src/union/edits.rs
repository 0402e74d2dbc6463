//! Appendix D: does the reconstruction head change the stories that people find bad?

use std::fs;
use std::path::Path;

use storymeter_core::{Error as CoreError, Place};
use storymeter_stats::Coefficient;

use super::rated::RatedSet;
use crate::correlations::associate;
use crate::error::Result;
use crate::sheet::{Cell, Form, Sheet};

/// Spearman between human scores and whether the model edited the story, on all stories and by error type.
pub(super) fn appendix_d(set: &RatedSet, path: &Path) -> Result<Sheet> {
    let edited = read(set, path)?;
    let count = edited.iter().filter(|&&e| e == 1.0).count();
    let mut sheet = Sheet::new("appendix-d", "Editing behaviour against human scores (Spearman)", Form::Table)
        .brief()
        .columns(["set", "stories"], 0)
        .column("rho", 4)
        .column("p", 4)
        .note(format!("{count} of {} stories were edited", set.len()))
        .note("edited = 1, so a model that edits bad stories has a negative value; the paper prints it without sign");
    let mut sets = vec![("All".to_owned(), (0..set.len()).collect::<Vec<_>>())];
    if let Some(errors) = &set.errors {
        sets.extend(
            errors.specific().map(|(at, name)| (name.to_owned(), errors.evaluation_set(at))),
        );
    }
    for (name, stories) in sets {
        let pick = |values: &[f64]| stories.iter().map(|&i| values[i]).collect::<Vec<_>>();
        let found = associate(Coefficient::Spearman, &pick(&edited), &pick(&set.human))?;
        let number = |value| Cell::number(value, &found.reason());
        sheet.push(vec![name.into(), found.n.into(), number(found.value), number(found.p_value)]);
    }
    Ok(sheet)
}

/// One line a story: 0 or 1, or the story as the model gave it back, compared word for word.
fn read(set: &RatedSet, path: &Path) -> Result<Vec<f64>> {
    let text =
        fs::read_to_string(path).map_err(|source| CoreError::io(Place::file(path), source))?;
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
