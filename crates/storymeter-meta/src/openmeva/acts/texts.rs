//! Reads the lines of the files, and puts originals and twins together.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use storymeter_core::read::{self, DuplicateIds, Format, ReadOptions};
use storymeter_core::terminal::excerpt;
use storymeter_core::{AspectTest, Error as CoreError, Place};

use super::{
    AspectTexts, Design, Origin, Originals, SkipReason, SkippedLines, TestFiles, Text, Twin,
};
use crate::error::Result;

/// The corpus whose changed texts are in small letters.
const LOWER_CASED: &str = "wp";

/// The most characters of an id in a message.
const SHOWN: usize = 60;

/// Reads the texts of one aspect.
///
/// # Errors
/// If a file cannot be read, or a line does not have the form of the layout. The error names file
/// and line.
pub fn read(test: &TestFiles) -> Result<AspectTexts> {
    let mut texts = AspectTexts {
        corpus: test.corpus.clone(),
        aspect: test.aspect,
        origin: test.origin,
        design: Design::Unpaired,
        originals: Vec::new(),
        twins: Vec::new(),
        skipped: Vec::new(),
        renumbered: 0,
        unlike_contexts: 0,
        lower_cased: false,
    };
    let mut skipped = Skips::default();
    let twins = rows(&test.twins, &mut skipped)?;
    match (test.aspect.test(), &test.originals) {
        (AspectTest::Discrimination, Originals::Rows(file)) => {
            texts.originals =
                rows(file, &mut skipped)?.into_iter().map(|row| row.twin.text).collect();
            texts.twins = twins.into_iter().map(|row| row.twin).collect();
            texts.renumbered += unique(texts.originals.iter_mut());
        }
        (_, originals) => {
            texts.design = Design::Paired;
            texts.lower_cased = test.corpus == LOWER_CASED && test.origin == Origin::Human;
            pair(originals, &test.twins, twins, &mut texts, &mut skipped)?;
        }
    }
    texts.renumbered += unique(texts.twins.iter_mut().map(|twin| &mut twin.text));
    if texts.design == Design::Paired {
        for (original, twin) in texts.originals.iter_mut().zip(&texts.twins) {
            original.id.clone_from(&twin.text.id);
        }
    }
    texts.skipped = skipped.0;
    Ok(texts)
}

/// Finds the original of every twin.
fn pair(
    originals: &Originals,
    file: &Path,
    twins: Vec<Row>,
    texts: &mut AspectTexts,
    skipped: &mut Skips,
) -> Result<()> {
    let mut numbers: Vec<u64> = Vec::with_capacity(twins.len());
    for row in &twins {
        let number: u64 = row.twin.text.id.parse().map_err(|_| {
            let problem = format!(
                "{} is not the number of a line, which the ids of this file must be",
                excerpt(&row.twin.text.id, SHOWN)
            );
            CoreError::invalid(Place::file(file).at_line(row.line).in_field("id"), problem)
        })?;
        numbers.push(number);
    }
    let lines = lines_of(originals, &numbers.iter().copied().collect())?;
    let find = |number: u64, offset: u64| lines.get(&number.checked_sub(offset)?);
    let alike =
        |original: &Text, twin: &Twin| letters(&original.context).eq(letters(&twin.text.context));
    // Lines are counted from 0, or else from 1: then the contexts are those of the lines before.
    let matching = |offset: u64| {
        let both = numbers.iter().zip(&twins);
        both.filter(|(number, row)| {
            find(**number, offset).is_some_and(|original| alike(original, &row.twin))
        })
        .count()
    };
    let offset = u64::from(matching(1) > matching(0));
    for (number, Row { line, twin }) in numbers.iter().zip(twins) {
        let Some(original) = find(*number, offset) else {
            skipped.add(file, SkipReason::NoOriginal, line);
            continue;
        };
        if blank(&original.context, &original.story).is_some() {
            skipped.add(file, SkipReason::BlankOriginal, line);
            continue;
        }
        texts.unlike_contexts += usize::from(!alike(original, &twin));
        let mut original = original.clone();
        if texts.lower_cased {
            original.context = original.context.to_lowercase();
            original.story = original.story.to_lowercase();
        }
        texts.originals.push(original);
        texts.twins.push(twin);
    }
    Ok(())
}

/// The letters and digits of a text, without their case.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The originals of these lines, and of the lines before them, by number from 0.
fn lines_of(originals: &Originals, wanted: &HashSet<u64>) -> Result<HashMap<u64, Text>> {
    let mut lines = HashMap::new();
    let is_wanted = |number: u64| wanted.contains(&number) || wanted.contains(&(number + 1));
    match originals {
        Originals::TwoFiles(contexts, stories) => {
            two_files(contexts, stories, |number, context, story| {
                if is_wanted(number) {
                    lines.insert(number, Text { id: number.to_string(), context, story });
                }
            })?;
        }
        Originals::Rows(file) => {
            for line in open(file)? {
                let (line, text) = line?;
                if is_wanted(line - 1) {
                    lines.insert(line - 1, numbered_row(&text, file, line)?.twin.text);
                }
            }
        }
    }
    Ok(lines)
}

/// A line `id|||context|||story|||rule`, and its number from 1.
struct Row {
    line: u64,
    twin: Twin,
}

fn row(text: &str, file: &Path, line: u64) -> Result<Row> {
    let parts: Vec<&str> = text.split("|||").map(str::trim).collect();
    let (id, context, story, rule) = match parts.as_slice() {
        [id, context, story] => (id, context, story, None),
        [id, context, story, rule] => (id, context, story, Some(*rule)),
        [blank] if blank.is_empty() => (blank, blank, blank, None),
        parts => {
            let problem = format!(
                "the line does not have the form `id|||context|||story|||rule`: it has {} of these \
                 4 fields",
                parts.len()
            );
            return Err(CoreError::invalid(Place::file(file).at_line(line), problem).into());
        }
    };
    let [id, context, story] = [id, context, story].map(|part| (*part).to_owned());
    let rule = rule.filter(|rule| !rule.is_empty()).map(str::to_owned);
    Ok(Row { line, twin: Twin { text: Text { id, context, story }, rule } })
}

/// A line that is found by its number, so that its own id may be missing.
fn numbered_row(text: &str, file: &Path, line: u64) -> Result<Row> {
    match text.matches("|||").count() {
        1 => row(&format!("{}|||{text}", line - 1), file, line),
        _ => row(text, file, line),
    }
}

/// The rows of a file. Those without a context or a story are skipped.
fn rows(file: &Path, skipped: &mut Skips) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for line in open(file)? {
        let (line, text) = line?;
        if text.trim().is_empty() {
            skipped.add(file, SkipReason::BlankLine, line);
            continue;
        }
        let row = row(&text, file, line)?;
        match blank(&row.twin.text.context, &row.twin.text.story) {
            Some(reason) => skipped.add(file, reason, line),
            None => rows.push(row),
        }
    }
    Ok(rows)
}

/// Why a text is left out, if it is.
pub(super) fn blank(context: &str, story: &str) -> Option<SkipReason> {
    match (context.trim().is_empty(), story.trim().is_empty()) {
        (true, true) => Some(SkipReason::BlankLine),
        (true, false) => Some(SkipReason::BlankContext),
        (false, true) => Some(SkipReason::BlankStory),
        (false, false) => None,
    }
}

/// Goes through two files together, line by line, with the number of the line from 0.
pub(super) fn two_files(
    contexts: &Path,
    stories: &Path,
    mut each: impl FnMut(u64, String, String),
) -> Result<()> {
    let (mut first, mut second) = (open(contexts)?, open(stories)?);
    for number in 0.. {
        let (context, story) = match (first.next().transpose()?, second.next().transpose()?) {
            (None, None) => break,
            (Some((_, context)), Some((_, story))) => (context, story),
            (context, _) => {
                let (short, long) =
                    if context.is_none() { (contexts, stories) } else { (stories, contexts) };
                let problem = format!(
                    "the file ends after {number} lines, but {} has more; their lines must belong \
                     together",
                    long.display()
                );
                return Err(CoreError::invalid(Place::file(short), problem).into());
            }
        };
        each(number, context.trim().to_owned(), story.trim().to_owned());
    }
    Ok(())
}

/// The lines of a file, with their numbers from 1.
fn open(file: &Path) -> Result<impl Iterator<Item = Result<(u64, String)>>> {
    let options = ReadOptions::default().with(|it| {
        it.format = Some(Format::Lines);
        it.duplicates = DuplicateIds::Allow;
        it.allow_empty = true;
        it.allow_none = true;
    });
    let records = read::open(&[file.to_owned()], &options)?;
    Ok(records.map(|record| {
        let record = record?;
        Ok((record.place.line.unwrap_or(record.number + 1), record.story.text))
    }))
}

/// Makes ids unique. Returns how many were changed.
fn unique<'a>(texts: impl Iterator<Item = &'a mut Text>) -> usize {
    let (mut seen, mut changed) = (HashSet::new(), 0);
    let mut last: HashMap<String, u64> = HashMap::new();
    for text in texts {
        if !seen.contains(&text.id) {
            seen.insert(text.id.clone());
            continue;
        }
        let suffix = last.entry(text.id.clone()).or_insert(1);
        let new = loop {
            *suffix += 1;
            let new = format!("{}#{suffix}", text.id);
            if seen.insert(new.clone()) {
                break new;
            }
        };
        text.id = new;
        changed += 1;
    }
    changed
}

/// Counts skipped lines by file and reason.
#[derive(Default)]
pub(super) struct Skips(pub Vec<SkippedLines>);

impl Skips {
    pub fn add(&mut self, file: &Path, reason: SkipReason, line: u64) {
        let known = self.0.iter_mut().find(|known| known.reason == reason && known.file == file);
        match known {
            Some(known) => known.lines += 1,
            None => {
                self.0.push(SkippedLines { file: file.to_owned(), reason, lines: 1, first: line });
            }
        }
    }
}
