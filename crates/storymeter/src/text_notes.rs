//! What was found in the texts of a run, for people: a table of flags by system, and sentences.

use std::cmp::Ordering;
use std::fmt;

use storymeter_core::{FlagCounts, TextTotals};
use storymeter_text::flags::Flag;

use crate::Run;

/// A sentence about the texts of a run. The caller knows what a user can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextNote {
    /// Texts have no score, because they are no stories
    /// ([`Scorer::keep_refusals`](crate::Scorer::keep_refusals)).
    NoScore(String),
    /// Texts have words to the user around the story, which are scored too
    /// ([`Scorer::clean`](crate::Scorer::clean)).
    ToUser(String),
    /// What was removed from texts.
    Removed(String),
}

impl fmt::Display for TextNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NoScore(sentence) | Self::ToUser(sentence) | Self::Removed(sentence)) = self;
        f.write_str(sentence)
    }
}

/// Flags in their order, and after them those of other versions.
fn order(a: &str, b: &str) -> Ordering {
    let place = |name: &str| Flag::from_name(name).map_or((true, None), |flag| (false, Some(flag)));
    place(a).cmp(&place(b)).then_with(|| a.cmp(b))
}

/// What is removed with a flag, in words.
fn removed_words(name: &str) -> &str {
    match Flag::from_name(name) {
        Some(Flag::Preamble) => "words to the user before the story",
        Some(Flag::Outro) => "words to the user after it",
        Some(Flag::Prompt) => "the repeated prompt",
        Some(Flag::Markdown) => "Markdown",
        Some(Flag::Token) => "tokens of a model",
        Some(Flag::TheEnd) => "\"The End.\"",
        _ => name,
    }
}

/// A count and its share of all texts.
fn share(count: u64, texts: u64) -> String {
    match 100.0 * count as f64 / texts.max(1) as f64 {
        _ if count == 0 => "0".to_owned(),
        percent if percent < 1.0 => format!("{count} (<1%)"),
        percent if percent > 99.0 && count < texts => format!("{count} (>99%)"),
        percent => format!("{count} ({percent:.0}%)"),
    }
}

/// The cells of the table of flags, the names of its columns first: one row per system and one
/// column per flag that occurs. Without any flag there is no row. Names of users are as they are.
pub(crate) fn rows(run: &Run) -> Vec<Vec<String>> {
    let (found, score_rows) = (run.texts(), run.score_rows());
    let mut names: Vec<&str> = found.flags.keys().map(String::as_str).collect();
    if names.is_empty() {
        return Vec::new();
    }
    names.sort_by(|a, b| order(a, b));
    let row = |system: &str, texts: u64, counts: Option<&FlagCounts>| -> Vec<String> {
        let count = |name: &&str| counts.and_then(|counts| counts.get(*name)).copied();
        let cells = names.iter().map(|name| share(count(name).unwrap_or(0), texts));
        [system.to_owned(), texts.to_string()].into_iter().chain(cells).collect()
    };
    let header = ["system", "texts"].into_iter().chain(names.iter().copied());
    let mut rows = vec![header.map(str::to_owned).collect()];
    rows.push(row("all", score_rows.texts() as u64, Some(&found.flags)));
    if let Some(systems) = found.systems.as_deref().filter(|_| !score_rows.systems().is_empty()) {
        let counts = score_rows.texts_by_system();
        let counts = score_rows.systems().iter().zip(counts);
        for (name, texts) in counts {
            let own =
                systems.binary_search_by(|own| own.system.as_deref().cmp(&Some(name.as_str())));
            rows.push(row(name, texts, own.ok().map(|own| &systems[own].flags)));
        }
    }
    rows
}

impl Run {
    /// What a reader of the scores should know about the texts, one sentence each.
    pub fn text_notes(&self) -> Vec<TextNote> {
        let (found, texts) = (self.texts(), self.score_rows().texts() as u64);
        let mut notes = Vec::new();
        notes.extend(no_score(found, texts).map(TextNote::NoScore));
        if !found.cleaned {
            notes.extend(to_user(found, texts).map(TextNote::ToUser));
        }
        notes.extend(removed(found, texts).map(TextNote::Removed));
        notes
    }
}

fn no_score(found: &TextTotals, texts: u64) -> Option<String> {
    let mut reasons: Vec<(&String, &u64)> = found.no_stories.iter().collect();
    reasons.sort_by(|(a, _), (b, _)| order(a, b));
    let what = |name: &str, count: u64| match (Flag::from_name(name), count) {
        (Some(Flag::Empty), 1) => "is empty".to_owned(),
        (Some(Flag::Empty), _) => "are empty".to_owned(),
        (Some(Flag::Refusal), 1) => "is a refusal".to_owned(),
        (Some(Flag::Refusal), _) => "are refusals".to_owned(),
        (_, 1) => format!("is of the kind \"{name}\""),
        _ => format!("are of the kind \"{name}\""),
    };
    if reasons.is_empty() {
        return None;
    }
    if let (1, [(name, _)]) = (texts, reasons.as_slice()) {
        return Some(format!("the text has no score: it {}", what(name, 1)));
    }
    let reasons: Vec<String> =
        reasons.iter().map(|(name, count)| format!("{count} {}", what(name, **count))).collect();
    let have = if found.unscored() == 1 { "has" } else { "have" };
    Some(format!("{} of {texts} texts {have} no score: {}", found.unscored(), reasons.join(", ")))
}

fn to_user(found: &TextTotals, texts: u64) -> Option<String> {
    let count = |flag: Flag| found.flags.get(flag.name()).copied().unwrap_or(0);
    let verb = |count: u64, one: &str, many: &str| match count {
        1 => format!("{count} of {texts} texts {one}"),
        _ => format!("{count} of {texts} texts {many}"),
    };
    match (count(Flag::Preamble), count(Flag::Outro)) {
        (0, 0) => None,
        (_, _) if texts == 1 => Some("the text has words to the user around the story".to_owned()),
        (begin, 0) => Some(verb(begin, "begins", "begin") + " with words to the user"),
        (0, end) => Some(verb(end, "ends", "end") + " with words to the user"),
        (begin, end) => Some(format!(
            "{} with words to the user, and {end} {} with them",
            verb(begin, "begins", "begin"),
            if end == 1 { "ends" } else { "end" }
        )),
    }
}

fn removed(found: &TextTotals, texts: u64) -> Option<String> {
    let mut parts: Vec<(&String, &u64)> = found.removed.iter().collect();
    parts.sort_by(|(a, _), (b, _)| order(a, b));
    let shown: Vec<String> =
        parts.iter().map(|(name, count)| format!("{} ({count})", removed_words(name))).collect();
    let were = if found.changed == 1 { "was" } else { "were" };
    (found.changed > 0).then(|| {
        format!(
            "{} of {texts} texts {were} cleaned: removed were {}",
            found.changed,
            shown.join(", ")
        )
    })
}
