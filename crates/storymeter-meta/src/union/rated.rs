//! A rated set in the layout of the UNION authors.
//!
//! ```text
//! ant_data.txt          ID ||| story ||| r1 .. r7       1 = reasonable, 0 = not; required
//! ant_data_all.txt      ID ||| story ||| t1 .. t7       the error type that each rater named
//! metric_output/*.txt   one number per line, in the order of ant_data.txt
//! drift_output/*.txt    the same, from metrics trained on another dataset
//! edits.txt             1 where the model changed the story and 0 elsewhere, or its output
//! ```

use std::path::{Path, PathBuf};

use storymeter_core::read::{self, Format, ReadOptions};
use storymeter_core::terminal::excerpt;
use storymeter_core::{Direction, Error as CoreError, Key, Place, file};

use super::names;
use crate::analysis::ErrorTypes;
use crate::error::{Error, Result};
use crate::grid::{LARGEST, too_large};
use crate::scale::Scale;
use crate::study::{Warning, WarningKind};

/// The error types that a rater can choose from, as the paper abbreviates them. In the file, 0 is
/// "reasonable" and 1 the first of these.
const ERROR_TYPES: [&str; 5] = ["Repe", "Cohe", "Conf", "Chao", "Others"];

/// The most metrics. Every two of them are compared.
const MOST_METRICS: usize = 1000;
/// The most raters of a story. A biased set is drawn for each number of raters who call a story
/// reasonable.
const MOST_RATERS: usize = 1000;
/// The largest file of one line per story that is read.
pub(crate) const MOST_BYTES: u64 = 1 << 30;
/// The most characters of a bad line that a message quotes.
const SHOWN: usize = 80;

/// The error types before "Others".
const SPECIFIC: usize = 4;

/// Stories with their ratings and scores.
#[derive(Debug, Clone)]
pub struct RatedSet {
    /// The folder's name.
    pub name: String,
    /// Each story's id.
    pub ids: Vec<String>,
    /// The stories as they were rated.
    pub texts: Vec<String>,
    /// Each story's ratings.
    pub ratings: Vec<Vec<f64>>,
    /// Each story's mean rating.
    pub human: Vec<f64>,
    /// The largest number of raters of a story.
    pub raters: usize,
    /// The scale of the ratings.
    scale: Scale,
    /// The error type that each rater named; `None` without `ant_data_all.txt`.
    pub errors: Option<ErrorTypes>,
    /// The metrics, in the order of the paper's Table 5, with unknown ones last.
    pub metrics: Vec<Scores>,
    /// What a reader must know about the files.
    pub warnings: Vec<Warning>,
}

/// The scores of one metric, turned so that more is better.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The name of the metric in the paper, or of its file where the paper does not have it.
    pub metric: Key,
    /// The name of the file, for warnings.
    pub file: String,
    /// Which way the scores in the file point.
    pub direction: Direction,
    /// One score per story; NaN where the file says so.
    pub values: Vec<f64>,
    order: usize,
}

impl Scores {
    /// The score of a story as it stands in the file.
    pub fn as_given(&self, story: usize) -> f64 {
        let value = self.values[story];
        if self.direction == Direction::Lower { -value } else { value }
    }
}

impl RatedSet {
    /// Reads a folder.
    ///
    /// # Errors
    /// Returns an error if `ant_data.txt` is missing, or a file is not in the layout.
    pub fn read(folder: &Path, scale: Scale) -> Result<Self> {
        let path = folder.join("ant_data.txt");
        let annotated = annotations(&path)?;
        let mut warnings = Vec::new();
        for story in &annotated {
            scale.check(story.numbers.iter().copied(), &story.place)?;
        }
        let raters = annotated.iter().map(|story| story.numbers.len()).max().unwrap_or(0);
        if raters > MOST_RATERS {
            let (what, found, most) = ("ratings of one story", raters, MOST_RATERS);
            return Err(Error::TooLarge { file: Some(path), what, found, most });
        }
        let fewer = annotated.iter().filter(|story| story.numbers.len() < raters).count();
        if fewer > 0 {
            let message =
                format!("{fewer} of {} stories have fewer than {raters} ratings", annotated.len());
            warnings.push(Warning::new(WarningKind::Missing, "ant_data.txt", message));
        }
        let mut set = Self {
            name: folder_name(folder),
            human: annotated.iter().map(|s| mean(&s.numbers)).collect(),
            raters,
            scale,
            errors: None,
            metrics: Vec::new(),
            warnings,
            ratings: annotated.iter().map(|s| s.numbers.clone()).collect(),
            ids: annotated.iter().map(|s| s.id.clone()).collect(),
            texts: annotated.iter().map(|s| s.text.clone()).collect(),
        };
        let all = folder.join("ant_data_all.txt");
        if all.exists() {
            set.errors = Some(error_types(&all, &annotated)?);
        } else {
            let message = "it is not there, so there are no error types, no Table 2 and no Table 7";
            set.warnings.push(Warning::new(WarningKind::Absent, "ant_data_all.txt", message));
        }
        set.metrics = set.scores(&folder.join("metric_output"))?;
        if set.metrics.is_empty() {
            let message = "it is not there or empty, so there are no metrics and no Table 5";
            set.warnings.push(Warning::new(WarningKind::Absent, "metric_output", message));
        }
        Ok(set)
    }

    /// How many stories there are.
    pub fn len(&self) -> usize {
        self.human.len()
    }

    /// Each story's quality level: its mean rating on a scale from 0 to the number of raters.
    pub fn levels(&self) -> Vec<usize> {
        let Scale { low, high } = self.scale;
        let share = |mean: f64| (mean - low) / (high - low);
        let level = |&mean: &f64| (share(mean) * self.raters as f64).round() as usize;
        self.human.iter().map(level).collect()
    }

    /// Reads every score file of a folder. An absent folder has none.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or does not have one number per story.
    pub fn scores(&mut self, folder: &Path) -> Result<Vec<Scores>> {
        let files = score_files(folder)?;
        if files.len() > MOST_METRICS {
            let (what, found, most) = ("score files", files.len(), MOST_METRICS);
            return Err(Error::TooLarge { file: Some(folder.to_owned()), what, found, most });
        }
        let mut scores = Vec::new();
        for file in &files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let names::Known { name, direction, order, .. } = names::known(&stem);
            let mut values = numbers(file)?;
            if values.len() != self.len() {
                let problem = format!(
                    "{} numbers for {} stories: it must have one number per line, in the order of \
                     ant_data.txt",
                    values.len(),
                    self.len()
                );
                return Err(CoreError::invalid(Place::file(file), problem).into());
            }
            if scores.iter().any(|other: &Scores| other.metric.as_str() == name) {
                return Err(Error::TwiceTheMetric { file: file.clone(), key: name });
            }
            if direction == Direction::Lower {
                values.iter_mut().for_each(|v| *v = -*v);
            }
            let file = format!("{stem}.txt");
            scores.push(Scores { metric: name.into(), file, direction, values, order });
        }
        self.add_hybrid_ruber(&mut scores);
        scores.sort_by_key(|scores| scores.order);
        Ok(scores)
    }

    /// RUBER is the arithmetic mean of its two halves. It is derived where its own file is absent,
    /// and checked where it is there.
    fn add_hybrid_ruber(&mut self, scores: &mut Vec<Scores>) {
        let find = |stem: &str| {
            let name = names::known(stem).name;
            scores.iter().find(|s| s.metric.as_str() == name).map(|s| s.values.clone())
        };
        let (Some(r), Some(u)) = (find("ruber_ref_score"), find("ruber_unref_score")) else {
            return;
        };
        let mean: Vec<f64> = r.iter().zip(&u).map(|(a, b)| (a + b) / 2.0).collect();
        match find("ruber_score") {
            None => {
                let names::Known { name, direction, order, .. } = names::known("ruber_score");
                let file = "ruber_score.txt".to_owned();
                scores.push(Scores { metric: name.into(), file, direction, values: mean, order });
            }
            Some(hybrid) => {
                let gap = hybrid.iter().zip(&mean).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                if gap > 1e-5 {
                    let message =
                        format!("it differs by up to {gap:.2e} from the mean of its two halves");
                    self.warnings.push(Warning::new(
                        WarningKind::Hybrid,
                        "ruber_score.txt",
                        message,
                    ));
                }
            }
        }
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The files of a rated set that an analysis reads where they exist, but for its scores.
pub(super) fn annotation_files(folder: &Path) -> [PathBuf; 3] {
    ["ant_data.txt", "ant_data_all.txt", "edits.txt"].map(|name| folder.join(name))
}

/// The score files of a folder, by name. An absent folder has none.
pub(super) fn score_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |source| CoreError::io(Place::file(folder), source);
    let mut files = file::list(folder).map_err(failed)?;
    files.retain(|path| path.extension().is_some_and(|e| e == "txt") && path.is_file());
    Ok(files)
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
    let options = ReadOptions::default().with(|it| it.format = Some(Format::UnionAnnotations));
    let mut stories = Vec::new();
    for record in read::open(&[path.to_owned()], &options)? {
        let record = record?;
        let numbers =
            record.story.ratings.iter().flat_map(|(_, values)| values.iter().copied().flatten());
        let numbers = numbers.collect();
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
        let problem = format!("{} stories, but ant_data.txt has {}", typed.len(), rated.len());
        return Err(CoreError::invalid(Place::file(path), problem).into());
    }
    let mut all = Vec::with_capacity(typed.len());
    for (story, rated) in typed.iter().zip(rated) {
        let wrong = |problem: String| Error::from(CoreError::invalid(story.place.clone(), problem));
        if (&story.id, &story.text) != (&rated.id, &rated.text) {
            return Err(wrong(format!("it is not the story of {}", rated.place)));
        }
        let mut types = Vec::with_capacity(story.numbers.len());
        for &number in &story.numbers {
            let last = ERROR_TYPES.len();
            if number.fract() != 0.0 || !(0.0..=last as f64).contains(&number) {
                return Err(wrong(format!(
                    "error type {number} is not one of 0 (reasonable) to {last}"
                )));
            }
            types.push((number as usize).checked_sub(1));
        }
        all.push(types);
    }
    Ok(ErrorTypes::new(ERROR_TYPES.map(String::from).to_vec(), SPECIFIC, all))
}

/// One number per line. Blank lines at the end do not count.
fn numbers(path: &Path) -> Result<Vec<f64>> {
    parse_numbers(&file::read_text(path, MOST_BYTES)?, path)
}

/// The numbers of a text, one per line; NaN where the text says so.
///
/// # Errors
/// For a line that is no number, and for an infinite number, also one such as 1e400 that becomes
/// infinite: an infinite score has no correlation with anything.
pub(crate) fn parse_numbers(text: &str, path: &Path) -> Result<Vec<f64>> {
    let number = |(at, line): (usize, &str)| {
        let (line, place) = (line.trim(), Place::file(path).at_line(at as u64 + 1));
        let wrong = |problem: &str| {
            let problem = format!("{} {problem}", excerpt(line, SHOWN));
            Error::from(CoreError::invalid(place.clone(), problem))
        };
        match line.parse::<f64>() {
            Err(_) => Err(wrong("is not a number")),
            Ok(value) if value.is_infinite() => Err(wrong("is not a finite number")),
            Ok(value) if value.abs() > LARGEST => Err(too_large(value, place)),
            Ok(value) => Ok(value),
        }
    };
    text.trim_start_matches('\u{feff}').trim_end().lines().enumerate().map(number).collect()
}
