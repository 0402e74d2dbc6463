//! OpenMEVA's own data: rated stories and texts made by rule, in the layout in which it was
//! released.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use storymeter_core::read::{Format, ReadOptions};
use storymeter_core::{Aspect, Error as CoreError, Place, Progress, ScoreTable};
use storymeter_meta::openmeva::acts::{self, AspectTexts, Corpus, Design, Origin};
use storymeter_meta::openmeva::{Dataset, HumanTasks, Options, analyse};
use storymeter_meta::suite::{LeftOut, MissingAspect, Pairing, RuleCount};
use storymeter_meta::table::with_stories;

use super::read::{Suite, SuiteAspect, SuiteText};
use crate::input::Inputs;
use crate::{ReadyScorer, Result};

/// What a folder has of OpenMEVA's data.
#[derive(Debug, Clone, Default)]
pub struct OpenMeva {
    /// The files of rated stories (`mags_roc.json`).
    pub rated: Vec<PathBuf>,
    /// The corpora of texts made by rule (`acts_data/roc`).
    pub corpora: Vec<Corpus>,
}

/// The texts of one corpus, as a suite.
#[derive(Debug, Clone)]
pub struct NamedSuite {
    /// The name of the corpus, with `-damaged` where the originals are damaged stories themselves.
    pub name: String,
    /// The texts.
    pub suite: Suite,
    /// What was left out or is odd, for the user.
    pub notes: Vec<String>,
}

/// Rated stories with scores.
#[derive(Debug, Clone)]
pub struct RatedScores {
    /// The name of the dataset: `roc` of `mags_roc.json`.
    pub name: String,
    /// The scores and the ratings.
    pub scores: ScoreTable,
}

impl OpenMeva {
    /// Looks for the data: a file of rated stories, or a folder that has such files or corpora, by
    /// itself or in its folders `mags_data` and `acts_data`. `None` if there is nothing of it.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, or a corpus is not in the layout.
    pub fn find(path: &Path) -> Result<Option<Self>> {
        let mut found = Self::default();
        if path.is_file() {
            found.rated.push(path.to_owned());
        } else {
            for folder in [path.to_owned(), path.join("mags_data")] {
                found.rated.extend(rated_files(&folder)?);
            }
            if acts::holds_corpora(path) {
                found.corpora = acts::find(path)?;
            }
        }
        Ok((!found.rated.is_empty() || !found.corpora.is_empty()).then_some(found))
    }

    /// The texts of each corpus. Human and damaged originals are suites of their own.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or a line is not in the layout.
    pub fn suites(&self, wanted: &[Aspect]) -> Result<Vec<NamedSuite>> {
        let mut suites = Vec::new();
        for corpus in &self.corpora {
            for origin in [Origin::Human, Origin::Damaged] {
                suites.extend(suite_of(corpus, origin, wanted)?);
            }
        }
        Ok(suites)
    }

    /// Scores the rated stories of each file.
    ///
    /// # Errors
    /// Returns an error if a file is not in the layout, or a metric fails.
    pub fn score_rated(
        &self,
        scorer: &ReadyScorer,
        progress: &Progress,
    ) -> Result<Vec<RatedScores>> {
        let mut all = Vec::with_capacity(self.rated.len());
        for file in &self.rated {
            let options = ReadOptions::default().with(|it| it.format = Some(Format::Mags));
            let inputs = Inputs::new(vec![file.clone()], options);
            progress.begin("scoring rated stories");
            let mut checker = inputs.checker();
            let stories = inputs.stories(&mut checker, progress)?;
            all.push(RatedScores { name: dataset_name(file), scores: scorer.run(stories)? });
        }
        Ok(all)
    }

    /// Joins scores of other programs with the rated stories, by system and id.
    ///
    /// # Errors
    /// Returns an error if there are several files of rated stories, so that it is not clear which
    /// the scores belong to, or no story has both.
    pub fn join_rated(&self, table: &ScoreTable) -> Result<RatedScores> {
        let [file] = self.rated.as_slice() else {
            let problem = "scores of other programs belong to one file of rated stories; name the \
                           file instead of the folder";
            let place = self.rated.first().map_or_else(Place::default, Place::file);
            return Err(CoreError::invalid(place, problem).into());
        };
        let (scores, _) = with_stories(table, file)?;
        Ok(RatedScores { name: dataset_name(file), scores })
    }
}

/// How metrics agree with people, over all stories, by error type, inside generators and across
/// datasets.
///
/// # Errors
/// Returns an error if there is no rating or no score.
pub fn human_tasks(rated: &[RatedScores], options: &Options) -> Result<HumanTasks> {
    let datasets: Vec<Dataset<'_>> =
        rated.iter().map(|RatedScores { name, scores }| Dataset { name, scores }).collect();
    Ok(analyse(&datasets, options)?)
}

/// The files `mags_*.json` of a folder, by name.
fn rated_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |e| CoreError::io(Place::file(folder), e);
    let mut files = storymeter_core::file::list(folder).map_err(failed)?;
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("mags_") && name.contains(".json") && path.is_file()
    });
    Ok(files)
}

/// `roc` for `mags_roc.json`.
fn dataset_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    name.strip_prefix("mags_").unwrap_or(name).to_owned()
}

fn suite_of(corpus: &Corpus, origin: Origin, wanted: &[Aspect]) -> Result<Option<NamedSuite>> {
    let mut suite = Suite::default();
    let mut notes = Vec::new();
    let own = |aspect: Aspect, from: Origin| from == origin && wanted.contains(&aspect);
    for test in corpus.tests.iter().filter(|test| own(test.aspect, test.origin)) {
        let texts = acts::read(test)?;
        notes.extend(texts.skipped.iter().map(ToString::to_string));
        notes.extend(oddities(&texts));
        suite.aspects.push(add(&mut suite.texts, &texts));
    }
    for missing in corpus.missing.iter().filter(|missing| own(missing.aspect, missing.origin)) {
        // An aspect of which nothing is there is simply not part of the data.
        if !missing.unused.is_empty() {
            notes.push(missing.to_string());
        }
        let reason = "a file of it is missing".to_owned();
        suite.missing.push(MissingAspect { aspect: missing.aspect, reason });
    }
    if suite.aspects.is_empty() {
        return Ok(None);
    }
    let suffix = if origin == Origin::Damaged { "-damaged" } else { "" };
    Ok(Some(NamedSuite { name: format!("{}{suffix}", corpus.name), suite, notes }))
}

fn oddities(texts: &AspectTexts) -> Vec<String> {
    let place = format!("{}, {}", texts.corpus, texts.aspect);
    let mut notes = Vec::new();
    if texts.unlike_contexts > 0 {
        let (unlike, all) = (texts.unlike_contexts, texts.twins.len());
        notes.push(format!("{place}: in {unlike} of {all} pairs the contexts differ"));
    }
    if texts.renumbered > 0 {
        notes.push(format!("{place}: {} ids occur again and were changed", texts.renumbered));
    }
    if texts.lower_cased {
        notes.push(format!("{place}: originals are in small letters, as the twins are"));
    }
    notes
}

/// Adds the texts of an aspect to those of a suite.
fn add(all: &mut Vec<SuiteText>, texts: &AspectTexts) -> SuiteAspect {
    let mut push = |aspect: Option<Aspect>, story| {
        all.push(SuiteText { aspect, story });
        all.len() - 1
    };
    let originals: Vec<usize> =
        texts.originals.iter().map(|text| push(None, text.to_story())).collect();
    let twins: Vec<usize> =
        texts.twins.iter().map(|twin| push(Some(texts.aspect), twin.text.to_story())).collect();
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for twin in &texts.twins {
        // A rule may have details after a colon.
        let rule = twin.rule.as_deref().and_then(|rule| rule.split(':').next());
        *rules.entry(rule.map_or("not given", str::trim)).or_default() += 1;
    }
    let left_out = texts
        .skipped
        .iter()
        .map(|lines| LeftOut { reason: lines.reason.to_string(), stories: lines.lines });
    SuiteAspect {
        aspect: texts.aspect,
        pairing: match texts.design {
            Design::Paired => Pairing::Paired,
            Design::Unpaired => Pairing::Unpaired,
        },
        originals,
        twins,
        stories: texts.originals.len(),
        left_out: left_out.collect(),
        rules: rules
            .into_iter()
            .map(|(rule, pairs)| RuleCount { rule: rule.to_owned(), pairs })
            .collect(),
        pairs: Vec::new(),
    }
}
