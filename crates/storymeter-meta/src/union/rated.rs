//! A rated set in the layout of the UNION authors.
//!
//! ```text
//! ant_data.txt          ID ||| story ||| r1 .. r7       1 = reasonable, 0 = not; required
//! ant_data_all.txt      ID ||| story ||| t1 .. t7       the error type each rater named
//! metric_output/*.txt   one number a line, in the order of ant_data.txt
//! drift_output/*.txt    the same, from metrics trained on another dataset
//! edits.txt             1 where the model changed the story, 0 where not; or the story as it came out
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::read::{self, Format, ReadOptions};
use storymeter_core::{Error as CoreError, Place};

use super::names::{self, Known};
use crate::error::{Error, Result};
use crate::error_types::ErrorTypes;
use crate::scale::Scale;
use crate::sheet::Warning;

/// The error types a rater can choose from, as the paper abbreviates them; 0 is "reasonable", 1 the first of these.
const ERROR_TYPES: [&str; 5] = ["Repe", "Cohe", "Conf", "Chao", "Others"];

/// The error types before "Others".
const SPECIFIC: usize = 4;

/// Stories with their ratings and scores.
#[derive(Debug, Clone)]
pub struct RatedSet {
    /// The folder's name.
    pub name: String,
    /// The story as it was rated.
    pub texts: Vec<String>,
    /// Each story's ratings.
    pub ratings: Vec<Vec<f64>>,
    /// Each story's mean rating.
    pub human: Vec<f64>,
    /// The most raters a story has.
    pub raters: usize,
    /// The error type each rater named; absent without `ant_data_all.txt`.
    pub errors: Option<ErrorTypes>,
    /// The metrics, in the order of the paper's Table 5, unknown ones last.
    pub metrics: Vec<Scores>,
    /// What a reader must know about the files.
    pub warnings: Vec<Warning>,
}

/// One metric's scores, turned so that more is better.
#[derive(Debug, Clone)]
pub struct Scores {
    /// What is known about the metric.
    pub metric: Known,
    /// One score a story; NaN where the file says so.
    pub values: Vec<f64>,
}

impl RatedSet {
    /// Reads a folder.
    pub fn read(folder: &Path, scale: Scale) -> Result<Self> {
        let path = folder.join("ant_data.txt");
        let annotated = annotations(&path)?;
        let mut warnings = Vec::new();
        for story in &annotated {
            scale.check(&story.numbers, &story.place)?;
        }
        let raters = annotated.iter().map(|story| story.numbers.len()).max().unwrap_or(0);
        let fewer = annotated.iter().filter(|story| story.numbers.len() < raters).count();
        if fewer > 0 {
            let message =
                format!("{fewer} of {} stories have fewer than {raters} ratings", annotated.len());
            warnings.push(Warning::new("missing", "ant_data.txt", message));
        }
        let mut set = Self {
            name: folder_name(folder),
            human: annotated.iter().map(|s| mean(&s.numbers)).collect(),
            raters,
            errors: None,
            metrics: Vec::new(),
            warnings,
            ratings: annotated.iter().map(|s| s.numbers.clone()).collect(),
            texts: annotated.iter().map(|s| s.text.clone()).collect(),
        };
        let all = folder.join("ant_data_all.txt");
        if all.exists() {
            set.errors = Some(error_types(&all, &annotated)?);
        } else {
            let message = "not there: no error types, so no Table 2 and no Table 7";
            set.warnings.push(Warning::new("absent", "ant_data_all.txt", message));
        }
        set.metrics = set.scores(&folder.join("metric_output"))?;
        if set.metrics.is_empty() {
            let message = "not there or empty: no metrics, so no Table 5";
            set.warnings.push(Warning::new("absent", "metric_output", message));
        }
        Ok(set)
    }

    /// How many stories there are.
    pub fn len(&self) -> usize {
        self.human.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.human.is_empty()
    }

    /// Each story's quality level, from 0 to the number of raters.
    pub fn levels(&self) -> Vec<usize> {
        self.human.iter().map(|mean| (mean * self.raters as f64).round() as usize).collect()
    }

    /// Reads every score file of a folder; none where the folder is absent.
    pub fn scores(&mut self, folder: &Path) -> Result<Vec<Scores>> {
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        let io = |source| CoreError::io(Place::file(folder), source);
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
            .map_err(io)?;
        files.retain(|path| path.extension().is_some_and(|e| e == "txt") && path.is_file());
        files.sort();
        let mut scores = Vec::new();
        for file in &files {
            let metric = names::known(&file.file_stem().unwrap_or_default().to_string_lossy());
            let mut values = numbers(file)?;
            if values.len() != self.len() {
                let problem = format!(
                    "{} numbers for {} stories: one number a line, in the order of ant_data.txt",
                    values.len(),
                    self.len()
                );
                return Err(CoreError::invalid(Place::file(file), problem).into());
            }
            if metric.negated {
                values.iter_mut().for_each(|v| *v = -*v);
            }
            scores.push(Scores { metric, values });
        }
        self.add_hybrid_ruber(&mut scores);
        scores.sort_by_key(|s| s.metric.order);
        Ok(scores)
    }

    /// RUBER is the arithmetic mean of its two halves; it is derived where its own file is absent, and checked
    /// where it is there.
    fn add_hybrid_ruber(&mut self, scores: &mut Vec<Scores>) {
        let find = |id: &str| scores.iter().find(|s| s.metric.id == id).map(|s| s.values.clone());
        let (Some(r), Some(u)) = (find("ruber_ref_score"), find("ruber_unref_score")) else {
            return;
        };
        let mean: Vec<f64> = r.iter().zip(&u).map(|(a, b)| (a + b) / 2.0).collect();
        match find("ruber_score") {
            None => scores.push(Scores { metric: names::known("ruber_score"), values: mean }),
            Some(hybrid) => {
                let gap = hybrid.iter().zip(&mean).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                if gap > 1e-5 {
                    let message =
                        format!("differs by up to {gap:.2e} from the mean of its two halves");
                    self.warnings.push(Warning::new("hybrid", "ruber_score.txt", message));
                }
            }
        }
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn folder_name(folder: &Path) -> String {
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    absolute.file_name().map_or_else(|| "set".into(), |name| name.to_string_lossy().into_owned())
}

/// One line of an annotation file.
struct Annotated {
    id: String,
    text: String,
    numbers: Vec<f64>,
    place: Place,
}

fn annotations(path: &Path) -> Result<Vec<Annotated>> {
    let options = ReadOptions { format: Some(Format::UnionAnnotations), ..ReadOptions::default() };
    let mut stories = Vec::new();
    for record in read::open(&[path.to_owned()], &options)? {
        let record = record?;
        let numbers: Vec<f64> =
            record.story.ratings.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        stories.push(Annotated {
            id: record.story.id,
            text: record.story.text,
            numbers,
            place: record.place,
        });
    }
    Ok(stories)
}

fn error_types(path: &Path, rated: &[Annotated]) -> Result<ErrorTypes> {
    let typed = annotations(path)?;
    if typed.len() != rated.len() {
        let problem = format!("{} stories, ant_data.txt has {}", typed.len(), rated.len());
        return Err(CoreError::invalid(Place::file(path), problem).into());
    }
    let mut all = Vec::with_capacity(typed.len());
    for (story, rated) in typed.iter().zip(rated) {
        let wrong = |problem: String| Error::from(CoreError::invalid(story.place.clone(), problem));
        if (&story.id, &story.text) != (&rated.id, &rated.text) {
            return Err(wrong(format!("not the story of {}", rated.place)));
        }
        let mut types = Vec::with_capacity(story.numbers.len());
        for &number in &story.numbers {
            let last = ERROR_TYPES.len();
            if number.fract() != 0.0 || !(0.0..=last as f64).contains(&number) {
                return Err(wrong(format!(
                    "error type {number}: must be 0 (reasonable) to {last}"
                )));
            }
            types.push((number as usize).checked_sub(1));
        }
        all.push(types);
    }
    Ok(ErrorTypes::new(ERROR_TYPES.map(String::from).to_vec(), SPECIFIC, all))
}

/// One number a line; blank lines at the end do not count.
pub fn numbers(path: &Path) -> Result<Vec<f64>> {
    let text =
        fs::read_to_string(path).map_err(|source| CoreError::io(Place::file(path), source))?;
    let mut values = Vec::new();
    for (at, line) in text.trim_end().lines().enumerate() {
        let value: f64 = line.trim().parse().map_err(|_| {
            let place = Place::file(path).at_line(at as u64 + 1);
            CoreError::invalid(place, format!("\"{}\" is not a number", line.trim()))
        })?;
        values.push(value);
    }
    Ok(values)
}
