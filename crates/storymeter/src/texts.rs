//! Looks at texts before they are scored: how many words they have, what in them is not story, and
//! whether there is a story to score at all.

use rayon::prelude::*;
use storymeter_core::read::Record;
use storymeter_core::{Absence, Story};
use storymeter_text::flags::{self, Finding, Flag};

/// What is done with texts before they are scored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextRules {
    /// Whether what surrounds a story is removed.
    pub clean: bool,
    /// Whether texts that are no stories are scored nevertheless.
    pub keep_refusals: bool,
}

/// What is known about a text that is scored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextCheck {
    /// How many words the text has, separated by white space, after it was cleaned.
    pub words: u64,
    /// What it has that is not story, after it was cleaned. Each flag is there once.
    pub flags: Vec<Flag>,
    /// What was removed from it ([`Scorer::clean`](crate::Scorer::clean)). Each flag is there once.
    pub removed: Vec<Flag>,
    /// Why the text has no score, if it has none because it is no story.
    pub no_score: Option<Absence>,
}

impl TextCheck {
    /// The names of the flags, as score files have them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.flags.iter().map(|flag| flag.name().to_owned()).collect()
    }

    /// The flag that says why there is no score, if there is none.
    pub(crate) fn no_story(&self) -> Option<Flag> {
        let mut flags = self.flags.iter().copied();
        self.no_score.as_ref().and_then(|_| flags.find(|flag| flag.is_no_story()))
    }
}

impl TextRules {
    /// Looks at a text, and cleans it if that is asked for.
    fn check(self, story: &mut Story) -> TextCheck {
        let mut removed = Vec::new();
        if self.clean {
            let cleaned = flags::clean(&story.text, story.prompt.as_deref());
            if !cleaned.removed.is_empty() {
                removed = each_once(&cleaned.removed);
                story.text = cleaned.text.into_owned();
                // They were parts of the text as it was.
                story.sentences.clear();
            }
        }
        let flags = each_once(&flags::find(&story.text, story.prompt.as_deref()));
        let no_story = flags.iter().find(|flag| flag.is_no_story() && !self.keep_refusals);
        TextCheck {
            words: story.text.split_whitespace().count() as u64,
            no_score: no_story.map(|flag| Absence::because(reason(*flag))),
            flags,
            removed,
        }
    }

    /// Looks at all texts, on all threads.
    pub(crate) fn check_all(self, records: &mut [Record]) -> Vec<TextCheck> {
        records.par_iter_mut().map(|record| self.check(&mut record.story)).collect()
    }

    /// The records that have a story, as they are scored.
    pub(crate) fn stories(self, mut records: Vec<Record>) -> Vec<Record> {
        let checks = self.check_all(&mut records);
        let is_story =
            |(record, check): (Record, TextCheck)| check.no_score.is_none().then_some(record);
        records.into_iter().zip(checks).filter_map(is_story).collect()
    }
}

/// Why a text with this flag has no score.
fn reason(flag: Flag) -> &'static str {
    match flag {
        Flag::Empty => "the text is empty",
        _ => "the text is a refusal",
    }
}

/// The flags that were found, in the order of the flags.
fn each_once(findings: &[Finding]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = findings.iter().map(|finding| finding.flag).collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}
