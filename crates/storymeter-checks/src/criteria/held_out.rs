//! Reads the predictions that training wrote for stories which it had left out, and refuses files
//! that cannot be what they should be: a story that is held out twice or never, or a prompt whose
//! stories are in two folds.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use storymeter_core::terminal;
use storymeter_core::{Place, file};

use super::Judged;
use crate::{Error, Result};

/// The most bytes of a file of predictions. All nine sets take less than 2 MB.
const LARGEST: u64 = 1 << 28;

/// What models that have not seen a story predict for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prediction {
    /// The output of each head, in standard units.
    pub raw: BTreeMap<String, f64>,
    /// The cosine of the vectors of prompt and story, where there is a prompt.
    pub cosine: Option<f64>,
}

impl Prediction {
    /// The mean of the predictions of several models for one story.
    fn mean(several: &[&Self]) -> Self {
        let count = several.len() as f64;
        let mut raw = BTreeMap::new();
        for (name, value) in several.iter().flat_map(|one| &one.raw) {
            *raw.entry(name.clone()).or_insert(0.0) += value / count;
        }
        let cosines: Option<Vec<f64>> = several.iter().map(|one| one.cosine).collect();
        Self { raw, cosine: cosines.map(|all| all.iter().sum::<f64>() / count) }
    }
}

/// Predictions for all stories of a set, in the order of the set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Folds {
    /// One prediction per story: the mean over the runs of its fold.
    pub predictions: Vec<Prediction>,
    /// The number of the fold that each story was held out with.
    pub fold: Vec<usize>,
    /// The number of folds.
    pub folds: usize,
    /// The number of runs, with different seeds, of every fold.
    pub runs: usize,
}

impl Folds {
    /// The outputs of a head.
    ///
    /// # Errors
    /// If a prediction has no such head.
    pub fn head(&self, name: &str) -> Result<Vec<f64>> {
        let value = |prediction: &Prediction| prediction.raw.get(name).copied();
        let values: Option<Vec<f64>> = self.predictions.iter().map(value).collect();
        values.ok_or_else(|| Error::failed(format!("the predictions have no head \"{name}\"")))
    }

    /// The cosines of prompt and story, if every story has one.
    pub fn cosines(&self) -> Option<Vec<f64>> {
        self.predictions.iter().map(|prediction| prediction.cosine).collect()
    }
}

/// A line of a file of predictions. The ratings in it are not used: those of the shared data are.
#[derive(Debug, Deserialize)]
struct Line {
    set: String,
    id: String,
    item: Option<String>,
    raw: BTreeMap<String, f64>,
    cosine: Option<f64>,
}

/// The predictions of one file for the stories of one set.
struct Run<'a> {
    path: &'a Path,
    /// By id, the stories that are not judged among them.
    predictions: BTreeMap<String, Prediction>,
}

/// Reads the files of a cross-validation, and takes the predictions for one set.
///
/// Files with the same stories are runs of one fold with different seeds, and their predictions are
/// averaged.
///
/// # Errors
/// If a file cannot be read or is not of that layout; if a story of the set is in two folds or in
/// none, or stories of one item are in different folds; if there is only one fold; or if folds
/// differ in their number of runs.
pub fn folds(files: &[PathBuf], judged: &Judged) -> Result<Folds> {
    let mut by_fold: Vec<Vec<Run<'_>>> = Vec::new();
    for path in files {
        let mut sets = read(path, std::slice::from_ref(judged))?;
        let Some(predictions) = sets.remove(&judged.set.name) else {
            return Err(said(path, format!("no story of the set {} is held out", judged.set.name)));
        };
        let run = Run { path, predictions };
        let same = |fold: &&mut Vec<Run<'_>>| {
            fold.iter().all(|other| other.predictions.keys().eq(run.predictions.keys()))
        };
        match by_fold.iter_mut().find(same) {
            Some(fold) => fold.push(run),
            None => by_fold.push(vec![run]),
        }
    }
    if by_fold.len() < 2 {
        let problem = "there is only one fold, so it cannot be a cross-validation";
        return Err(Error::failed(problem));
    }
    if let Some(fold) = by_fold.iter().find(|fold| fold.len() != by_fold[0].len()) {
        let (found, wanted) = (fold.len(), by_fold[0].len());
        let problem = format!("its fold has {found} runs, and the fold of the first file {wanted}");
        return Err(said(fold[0].path, problem));
    }
    let mut fold_of_item: HashMap<&str, usize> = HashMap::new();
    let (mut predictions, mut fold) = (Vec::new(), Vec::new());
    for story in &judged.set.stories {
        let has = |number: &usize| by_fold[*number][0].predictions.contains_key(&story.id);
        let holding: Vec<usize> = (0..by_fold.len()).filter(has).collect();
        let [number] = holding[..] else {
            return Err(match holding[..] {
                [first, second, ..] => said(
                    by_fold[second][0].path,
                    format!(
                        "the story {} is also held out in another fold, that of {}",
                        story.id,
                        by_fold[first][0].path.display()
                    ),
                ),
                _ => Error::failed(format!("the story {} is held out in no fold", story.id)),
            });
        };
        if *fold_of_item.entry(story.item()).or_insert(number) != number {
            let item = quoted(story.item());
            let problem = format!("stories of the item {item} are held out in another fold too");
            return Err(said(by_fold[number][0].path, problem));
        }
        predictions.push(mean_of(&by_fold[number], &story.id));
        fold.push(number);
    }
    Ok(Folds { predictions, fold, folds: by_fold.len(), runs: by_fold[0].len() })
}

/// Reads files that have one set each, predicted by models that have not seen it. Several files of
/// one set are runs with different seeds, and their predictions are averaged.
///
/// The answer has the position of each set in `sets`, in their order, and its predictions.
///
/// # Errors
/// If a file cannot be read or is not of that layout, or if it does not have one set, which is
/// complete.
pub fn unseen_sets(files: &[PathBuf], sets: &[Judged]) -> Result<Vec<(usize, Folds)>> {
    let mut by_set: BTreeMap<usize, Vec<Run<'_>>> = BTreeMap::new();
    for path in files {
        let mut found = read(path, sets)?.into_iter();
        let (Some((name, predictions)), None) = (found.next(), found.next()) else {
            return Err(said(path, "the file must have the stories of exactly one set"));
        };
        let position = sets.iter().position(|judged| judged.set.name == name);
        let at = position.ok_or_else(|| unknown_set(&Place::file(path), &name))?;
        if let Some(story) =
            sets[at].set.stories.iter().find(|story| !predictions.contains_key(&story.id))
        {
            return Err(said(path, format!("the story {} of the set {name} is missing", story.id)));
        }
        by_set.entry(at).or_default().push(Run { path, predictions });
    }
    let joined = |(at, runs): (usize, Vec<Run<'_>>)| {
        let stories = &sets[at].set.stories;
        let predictions = stories.iter().map(|story| mean_of(&runs, &story.id)).collect();
        (at, Folds { predictions, fold: vec![0; stories.len()], folds: 1, runs: runs.len() })
    };
    Ok(by_set.into_iter().map(joined).collect())
}

/// The mean prediction of runs that all have the story.
fn mean_of(runs: &[Run<'_>], id: &str) -> Prediction {
    Prediction::mean(&runs.iter().map(|run| &run.predictions[id]).collect::<Vec<_>>())
}

/// Reads one file: predictions by id, by set. Of the sets that are not named, the stories are not
/// checked.
fn read(path: &Path, sets: &[Judged]) -> Result<BTreeMap<String, BTreeMap<String, Prediction>>> {
    let text = file::read_text(path, LARGEST)?;
    let mut items: HashMap<&str, HashMap<&str, Option<&str>>> = HashMap::new();
    for Judged { set, aside } in sets {
        let judged = set.stories.iter().map(|story| (story.id.as_str(), Some(story.item())));
        let known = judged.chain(aside.iter().map(|id| (id.as_str(), None))).collect();
        items.insert(&set.name, known);
    }
    let mut found: BTreeMap<String, BTreeMap<String, Prediction>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place::file(path).at_line(number);
        let wrong = |problem: String| Error::failed(format!("{place}: {problem}"));
        let line: Line = serde_json::from_str(line).map_err(|error| {
            wrong(format!("this is not a line of held-out predictions: {error}"))
        })?;
        let id = quoted(&line.id);
        if let Some(known) = items.get(line.set.as_str()) {
            let Some(item) = known.get(line.id.as_str()) else {
                return Err(wrong(format!("the set {} has no story {id}", line.set)));
            };
            if let (Some(item), Some(given)) = (item, &line.item)
                && item != given
            {
                let (given, item) = (quoted(given), quoted(item));
                return Err(wrong(format!("the item of the story {id} is {item} and not {given}")));
            }
        }
        let prediction = Prediction { raw: line.raw, cosine: line.cosine };
        if found.entry(line.set).or_default().insert(line.id, prediction).is_some() {
            return Err(wrong(format!("the file has two predictions for the story {id}")));
        }
    }
    Ok(found)
}

/// The beginning of a text of the user, for messages.
fn quoted(text: &str) -> String {
    terminal::excerpt(text, 60)
}

fn unknown_set(place: &Place, name: &str) -> Error {
    Error::failed(format!("{place}: there is no rated set {}", quoted(name)))
}

fn said(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::failed(format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests;
