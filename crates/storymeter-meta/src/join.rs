//! Scores from files beside human judgments from a file: what `storymeter correlate` does.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Map, Value, json};
use storymeter_core::read::{self, ReadOptions, Scored};
use storymeter_core::{Error as CoreError, Place, Ratings, Signature};
use storymeter_stats::Coefficient;

use crate::correlations::associate;
use crate::error::{Error, Result};
use crate::level::Association;
use crate::sheet::{Cell, Form, Sheet};
use crate::union::numbers;

/// `NAME=FILE[#METRIC]`: a score file, and which of its metrics where it has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScoreSource {
    /// The name the result goes by.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The metric's key in a JSONL file.
    pub metric: Option<String>,
}

impl FromStr for ScoreSource {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let Some((name, rest)) =
            text.split_once('=').filter(|(name, rest)| !name.is_empty() && !rest.is_empty())
        else {
            return Err(format!("\"{text}\" is not of the form NAME=FILE or NAME=FILE#METRIC"));
        };
        // A file name may hold a `#`; a file that is there as written has no metric in its name.
        let (file, metric) = match rest.rsplit_once('#') {
            Some((file, metric)) if !Path::new(rest).exists() => (file, Some(metric.to_owned())),
            _ => (rest, None),
        };
        Ok(Self { name: name.into(), file: file.into(), metric })
    }
}

impl fmt::Display for ScoreSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.file.display())?;
        self.metric.iter().try_for_each(|metric| write!(f, "#{metric}"))
    }
}

/// One human score a story.
#[derive(Debug, Clone)]
pub struct HumanScores {
    file: PathBuf,
    criterion: String,
    ids: Vec<String>,
    /// NaN where nobody rated the story on the criterion.
    values: Vec<f64>,
}

/// A score file joined with the human scores.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Pearson, Spearman, Kendall.
    pub found: Vec<Association>,
    /// Stories with a human score and no score in the file.
    pub without_score: usize,
    /// Scores in the file for stories without a human score.
    pub without_human: usize,
    /// The metric's key, where the file is JSONL.
    pub metric: Option<String>,
}

impl HumanScores {
    /// Reads ratings and takes their mean, story by story.
    ///
    /// With several criteria, one must be named.
    pub fn read(file: &Path, criterion: Option<&str>) -> Result<Self> {
        let rated = ratings(file)?;
        let mut criteria: Vec<&str> = Vec::new();
        for (_, ratings, _) in &rated {
            for (name, _) in ratings.iter() {
                if !criteria.contains(&name) {
                    criteria.push(name);
                }
            }
        }
        let listed = criteria.join(", ");
        let wrong = |problem: String| Error::from(CoreError::invalid(Place::file(file), problem));
        let criterion = match (criterion, criteria.as_slice()) {
            (_, []) => return Err(wrong("no story has human ratings".into())),
            (Some(wanted), all) if all.contains(&wanted) => wanted.to_owned(),
            (Some(wanted), _) => {
                return Err(wrong(format!("no criterion \"{wanted}\"; there are: {listed}")));
            }
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                return Err(wrong(format!(
                    "several criteria ({listed}): name one with --criterion"
                )));
            }
        };
        let ids = rated.iter().map(|(id, ..)| id.clone()).collect();
        let values = rated.iter().map(|(_, r, _)| r.mean(&criterion).unwrap_or(f64::NAN)).collect();
        Ok(Self { file: file.to_owned(), criterion, ids, values })
    }

    /// Reads a score file and correlates it: a JSONL file is joined by id, numbers by order.
    pub fn join(&self, source: &ScoreSource) -> Result<Joined> {
        let (scores, without_human, metric) = if is_jsonl(&source.file)? {
            self.by_id(source)?
        } else {
            (self.by_order(source)?, 0, None)
        };
        let found: Result<Vec<_>> =
            Coefficient::ALL.iter().map(|c| associate(*c, &scores, &self.values)).collect();
        let missing = |(score, human): (&f64, &f64)| score.is_nan() && !human.is_nan();
        let without_score = scores.iter().zip(&self.values).filter(|&pair| missing(pair)).count();
        Ok(Joined { found: found?, without_score, without_human, metric })
    }

    fn by_order(&self, source: &ScoreSource) -> Result<Vec<f64>> {
        let values = numbers(&source.file)?;
        if values.len() != self.values.len() {
            let problem = format!(
                "{} numbers, {} has {} stories",
                values.len(),
                self.file.display(),
                self.ids.len()
            );
            return Err(CoreError::invalid(Place::file(&source.file), problem).into());
        }
        Ok(values)
    }

    fn by_id(&self, source: &ScoreSource) -> Result<(Vec<f64>, usize, Option<String>)> {
        let records = read::scored(&source.file)?;
        let metric = pick_metric(&records, source)?;
        let at = positions(self.ids.iter().map(String::as_str)).map_err(|id| {
            CoreError::invalid(
                Place::file(&self.file),
                format!("id \"{id}\" is there twice; cannot join by id"),
            )
        })?;
        let mut scores = vec![f64::NAN; self.ids.len()];
        let (mut strangers, mut seen) = (0, vec![false; self.ids.len()]);
        for record in &records {
            let Some(&story) = at.get(record.id.as_str()) else {
                strangers += 1;
                continue;
            };
            if std::mem::replace(&mut seen[story], true) {
                let problem = format!("id \"{}\" was here before", record.id);
                return Err(CoreError::invalid(record.place.clone(), problem).into());
            }
            scores[story] = record
                .scores
                .iter()
                .find(|(name, _)| *name == metric)
                .map_or(f64::NAN, |(_, value)| *value);
        }
        if strangers == records.len() {
            let problem = format!("none of its ids is in {}", self.file.display());
            return Err(CoreError::invalid(Place::file(&source.file), problem).into());
        }
        Ok((scores, strangers, Some(metric)))
    }
}

/// Where each id stands; the first id that is there twice is the error.
fn positions<'a>(
    ids: impl Iterator<Item = &'a str>,
) -> std::result::Result<HashMap<&'a str, usize>, &'a str> {
    let mut at = HashMap::new();
    for (position, id) in ids.enumerate() {
        if at.insert(id, position).is_some() {
            return Err(id);
        }
    }
    Ok(at)
}

fn pick_metric(records: &[Scored], source: &ScoreSource) -> Result<String> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in records.iter().flat_map(|record| &record.scores) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let wrong =
        |problem: String| Error::from(CoreError::invalid(Place::file(&source.file), problem));
    let listed = names.join(", ");
    match (&source.metric, names.as_slice()) {
        (_, []) => Err(wrong("no line has scores".into())),
        (Some(metric), names) if names.contains(&metric.as_str()) => Ok(metric.clone()),
        (Some(metric), _) => Err(wrong(format!("no metric \"{metric}\"; there are: {listed}"))),
        (None, [only]) => Ok((*only).to_owned()),
        // The name the user gave is as good as a `#METRIC` where it is a metric of the file.
        (None, names) if names.contains(&source.name.as_str()) => Ok(source.name.clone()),
        (None, _) => Err(wrong(format!("several metrics ({listed}): name one as FILE#METRIC"))),
    }
}

/// Whether a file holds JSON objects rather than plain numbers or annotated lines.
fn is_jsonl(file: &Path) -> Result<bool> {
    use std::io::{BufRead as _, BufReader};
    let name = file.to_string_lossy();
    if name.ends_with(".jsonl") || name.ends_with(".jsonl.gz") {
        return Ok(true);
    }
    let io = |source| CoreError::io(Place::file(file), source);
    let mut first = String::new();
    let mut lines = BufReader::new(std::fs::File::open(file).map_err(io)?);
    while first.trim().is_empty() {
        first.clear();
        match lines.read_line(&mut first) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            // Not text, so not JSON as it stands; the reader that knows formats will say what it is.
            Err(_) => return Ok(false),
        }
    }
    Ok(first.trim_start().starts_with('{'))
}

/// Every story's id and ratings.
fn ratings(file: &Path) -> Result<Vec<(String, Ratings, Place)>> {
    if is_jsonl(file)? {
        let records = read::scored(file)?;
        return Ok(records
            .into_iter()
            .map(|record| (record.id, record.ratings, record.place))
            .collect());
    }
    read::open(&[file.to_owned()], &ReadOptions::default())?
        .map(|record| {
            let record = record?;
            Ok((record.story.id, record.story.ratings, record.place))
        })
        .collect()
}

fn signature(human: &HumanScores, joined: &Joined) -> Signature {
    let signature = Signature::new("correlate").with("criterion", "c", &human.criterion);
    let signature = match &joined.metric {
        Some(metric) => signature.with("metric", "m", metric),
        None => signature,
    };
    signature.with("n", "n", joined.found[0].n).with_version()
}

/// The result as one JSON object: `{"NAME": {"n", "pearson", ..., "p_pearson", ...}}`.
pub fn to_json(human: &HumanScores, rows: &[(String, Joined)]) -> Value {
    let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
    let mut all = Map::new();
    for (name, joined) in rows {
        let mut one = Map::new();
        one.insert("n".into(), json!(joined.found[0].n));
        for (coefficient, found) in Coefficient::ALL.iter().zip(&joined.found) {
            one.insert(coefficient.name().into(), number(found.value));
        }
        for (coefficient, found) in Coefficient::ALL.iter().zip(&joined.found) {
            one.insert(format!("p_{coefficient}"), number(found.p_value));
        }
        one.insert("without_score".into(), json!(joined.without_score));
        one.insert("without_human".into(), json!(joined.without_human));
        if let Some(gap) = joined.found.iter().find_map(|found| found.gap) {
            one.insert("reason".into(), json!(gap.to_string()));
        }
        one.insert("signature".into(), json!(signature(human, joined).to_string()));
        all.insert(name.clone(), Value::Object(one));
    }
    Value::Object(all)
}

/// The result as a table.
pub fn to_sheet(human: &HumanScores, rows: &[(String, Joined)]) -> Sheet {
    let title = format!("Correlation with \"{}\" of {}", human.criterion, human.file.display());
    let mut sheet = Sheet::new("correlate", title, Form::Table)
        .columns(["scores", "n", "without score", "without human"], 0)
        .columns(["pearson", "spearman", "kendall"], 4)
        .columns(["p_pearson", "p_spearman", "p_kendall"], 4);
    for (name, joined) in rows {
        let mut row = vec![Cell::from(name), joined.found[0].n.into()];
        row.extend([Cell::from(joined.without_score), joined.without_human.into()]);
        row.extend(joined.found.iter().map(|found| Cell::number(found.value, &found.reason())));
        row.extend(joined.found.iter().map(|found| Cell::number(found.p_value, &found.reason())));
        sheet.push(row);
    }
    let signatures: Vec<String> =
        rows.iter().map(|(_, joined)| signature(human, joined).to_string()).collect();
    sheet.signature = signatures.join("\n  ");
    sheet
}
