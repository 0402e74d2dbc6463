//! Reads the predictions that training wrote for stories which it had left out, and refuses files
//! that cannot be what they should be: a story that is held out twice or never, or a prompt whose
//! stories are in two folds.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use storymeter::union::criteria::HeldOut;
use storymeter_core::terminal;

use super::Judged;
use crate::{Error, Result};

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
    fn mean(several: &[&HeldOut]) -> Self {
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
    /// The lines that were read about the stories of the set, fold by fold.
    pub lines: Vec<Vec<HeldOut>>,
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

    /// Gives every story the cosine that belongs to its id, if there is one.
    pub fn set_cosines(&mut self, judged: &Judged, by_id: &HashMap<String, f64>) {
        for (prediction, story) in self.predictions.iter_mut().zip(&judged.set.stories) {
            prediction.cosine = by_id.get(&story.id).copied();
        }
        for line in self.lines.iter_mut().flatten() {
            line.cosine = by_id.get(&line.id).copied();
        }
    }

    /// The cosines of prompt and story, if every story has one.
    pub fn cosines(&self) -> Option<Vec<f64>> {
        self.predictions.iter().map(|prediction| prediction.cosine).collect()
    }
}

/// The lines of one file about the stories of one set.
struct Run<'a> {
    path: &'a Path,
    /// By id, the stories that are not judged among them.
    lines: BTreeMap<String, HeldOut>,
}

/// Reads the files of a cross-validation, and takes the predictions for one set.
///
/// Files with the same stories are runs of one fold with different seeds, and their predictions are
/// averaged.
///
/// # Errors
/// If a file cannot be read or is not of that layout; if a story of the set is in two folds or in
/// none, or stories of one item are in different folds; if there is only one fold; if folds differ
/// in their number of runs; or if ratings are not those of the set.
pub fn folds(files: &[PathBuf], judged: &Judged) -> Result<Folds> {
    let mut by_fold: Vec<Vec<Run<'_>>> = Vec::new();
    for path in files {
        let mut sets = read(path, std::slice::from_ref(judged))?;
        let Some(lines) = sets.remove(&judged.set.name) else {
            return Err(said(path, format!("no story of the set {} is held out", judged.set.name)));
        };
        let run = Run { path, lines };
        let same = |fold: &&mut Vec<Run<'_>>| {
            fold.iter().all(|other| other.lines.keys().eq(run.lines.keys()))
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
        let has = |number: &usize| by_fold[*number][0].lines.contains_key(&story.id);
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
    by_fold.iter().flatten().try_for_each(|run| check_ratings(run, judged))?;
    let (folds, runs) = (by_fold.len(), by_fold[0].len());
    let lines = by_fold
        .into_iter()
        .map(|runs| runs.into_iter().flat_map(|run| run.lines.into_values()).collect::<Vec<_>>());
    Ok(Folds { predictions, fold, folds, runs, lines: lines.collect() })
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
        let (Some((name, lines)), None) = (found.next(), found.next()) else {
            return Err(said(path, "the file must have the stories of exactly one set"));
        };
        let position = sets.iter().position(|judged| judged.set.name == name);
        let unknown = || said(path, format!("there is no rated set {}", quoted(&name)));
        let at = position.ok_or_else(unknown)?;
        if let Some(story) =
            sets[at].set.stories.iter().find(|story| !lines.contains_key(&story.id))
        {
            return Err(said(path, format!("the story {} of the set {name} is missing", story.id)));
        }
        by_set.entry(at).or_default().push(Run { path, lines });
    }
    let joined = |(at, runs): (usize, Vec<Run<'_>>)| {
        let stories = &sets[at].set.stories;
        let folds = Folds {
            predictions: stories.iter().map(|story| mean_of(&runs, &story.id)).collect(),
            fold: vec![0; stories.len()],
            folds: 1,
            runs: runs.len(),
            lines: vec![runs.into_iter().flat_map(|run| run.lines.into_values()).collect()],
        };
        (at, folds)
    };
    Ok(by_set.into_iter().map(joined).collect())
}

/// The mean prediction of runs that all have the story.
fn mean_of(runs: &[Run<'_>], id: &str) -> Prediction {
    Prediction::mean(&runs.iter().map(|run| &run.lines[id]).collect::<Vec<_>>())
}

/// The ratings of a file must be those that the figures are about. Otherwise the ids were mixed up.
fn check_ratings(run: &Run<'_>, Judged { set, .. }: &Judged) -> Result<()> {
    for (at, story) in set.stories.iter().enumerate() {
        let Some(line) = run.lines.get(&story.id) else { continue };
        for (criterion, ratings) in &set.criteria {
            let given = line.rating.get(criterion).copied().unwrap_or(ratings[at]);
            if (given - ratings[at]).abs() > 1e-6 {
                let (id, rating) = (&story.id, ratings[at]);
                let problem = format!(
                    "the rating of {criterion} of the story {id} is {rating} and not {given}"
                );
                return Err(said(run.path, problem));
            }
        }
    }
    Ok(())
}

/// Reads one file: lines by id, by set. Stories of sets that are not given are not checked.
fn read(path: &Path, sets: &[Judged]) -> Result<BTreeMap<String, BTreeMap<String, HeldOut>>> {
    let mut items: HashMap<&str, HashMap<&str, Option<&str>>> = HashMap::new();
    for Judged { set, aside } in sets {
        let judged = set.stories.iter().map(|story| (story.id.as_str(), Some(story.item())));
        let known = judged.chain(aside.iter().map(|story| (story.id.as_str(), None))).collect();
        items.insert(&set.name, known);
    }
    let mut found: BTreeMap<String, BTreeMap<String, HeldOut>> = BTreeMap::new();
    for line in HeldOut::read(path)? {
        let id = quoted(&line.id);
        if let Some(known) = items.get(line.set.as_str()) {
            let Some(item) = known.get(line.id.as_str()) else {
                return Err(said(path, format!("the set {} has no story {id}", line.set)));
            };
            if let Some(item) = item.filter(|item| **item != line.item) {
                let (item, given) = (quoted(item), quoted(&line.item));
                let problem = format!("the item of the story {id} is {item} and not {given}");
                return Err(said(path, problem));
            }
        }
        let lines = found.entry(line.set.clone()).or_default();
        if lines.insert(line.id.clone(), line).is_some() {
            return Err(said(path, format!("there are two predictions for the story {id}")));
        }
    }
    Ok(found)
}

/// The beginning of a text of the user, for messages.
fn quoted(text: &str) -> String {
    terminal::excerpt(text, 60)
}

fn said(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::failed(format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests;
