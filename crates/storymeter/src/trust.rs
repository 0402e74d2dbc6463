//! How far the scores of a table can be trusted: the cards of its learned columns in one sentence
//! each, which is a warning if the stories are of another kind.

use storymeter_core::number::percent;
use storymeter_core::{ScoreColumn, Validity, terminal};
use storymeter_text::flags::Flag;

use crate::Run;

/// The most characters of a line of text.
const WIDTH: usize = 100;

/// From this share of stories of another kind on, the sentence is a warning.
const MANY: f64 = 0.1;

/// The cards of columns, each with the names of the columns that share it.
pub(crate) fn cards(columns: &[ScoreColumn]) -> Vec<(&Validity, Vec<&str>)> {
    let mut cards: Vec<(&Validity, Vec<&str>)> = Vec::new();
    for column in columns {
        let Some(validity) = &column.validity else { continue };
        match cards.iter_mut().find(|(known, _)| *known == validity) {
            Some((_, names)) => names.push(column.key.as_str()),
            None => cards.push((validity, vec![column.key.as_str()])),
        }
    }
    cards
}

/// The most frequent flag and the share of the texts that have it. Endings that are cut and
/// Markdown are frequent in stories by people too, and tell nothing about their kind.
fn most_frequent(run: &Run) -> Option<(Flag, f64)> {
    let flags = run.texts().flags.iter().filter_map(|(name, count)| {
        let flag = Flag::from_name(name)?;
        (!matches!(flag, Flag::Cut | Flag::Markdown)).then_some((flag, *count))
    });
    let (flag, count) = flags.max_by_key(|(flag, count)| (*count, std::cmp::Reverse(*flag)))?;
    Some((flag, count as f64 / run.score_rows().texts() as f64))
}

/// How far the scores of a run can be trusted.
pub(crate) struct Trust {
    /// One sentence per card, broken into lines.
    pub sentences: Vec<String>,
    /// All of them in one line, if there are any.
    pub brief: Option<String>,
}

impl Trust {
    /// Looks at the cards of the columns of a run, and at its stories.
    pub fn new(run: &Run) -> Self {
        let columns = run.columns();
        let texts = run.score_rows().texts() as f64;
        let flagged = most_frequent(run).filter(|(_, share)| *share > MANY);
        let mut is_warning = false;
        let mut sentence = |(validity, names): &(&Validity, Vec<&str>)| {
            let column = columns.iter().find(|column| column.validity.as_ref() == Some(validity));
            let outside = column.map_or(0.0, |one| one.counts.outside as f64 / texts.max(1.0));
            let mut unlike = Vec::new();
            if outside > MANY {
                unlike.push(format!("{} of these stories have other lengths", percent(outside)));
            }
            if let Some((flag, share)) = flagged {
                let (share, name) = (percent(share), flag.name());
                unlike.push(format!("{share} of the texts have the flag {name}"));
            }
            let unlike: Vec<&str> = unlike.iter().map(String::as_str).collect();
            let sentence = validity.sentence(&listed(names));
            is_warning |= !unlike.is_empty();
            let text = match unlike.is_empty() {
                true => sentence,
                false => format!("Warning: {sentence} Here, {}.", listed(&unlike)),
            };
            wrapped(&terminal::plain(&text))
        };
        let cards = cards(run.metrics().columns());
        let sentences = cards.iter().map(&mut sentence).collect();
        let names: Vec<&str> = cards.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let brief = match (names.is_empty(), is_warning) {
            (true, _) => None,
            (_, true) => Some(format!(
                "Warning: many of these texts are of another kind than those that {} tested on.",
                was(&names)
            )),
            (_, false) => Some(format!(
                "{} only tested on some kinds of story, and may be wrong on others.",
                was(&names)
            )),
        };
        Self { sentences, brief }
    }
}

/// `a was`, or `a and b were`.
pub(crate) fn was(names: &[&str]) -> String {
    format!("{} {}", listed(names), if names.len() == 1 { "was" } else { "were" })
}

/// `a`, `a and b`, or `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// Breaks a text at spaces into lines.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let own = word.chars().count();
        if length > 0 && length + 1 + own > WIDTH {
            lines.push('\n');
            length = 0;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += own;
    }
    lines
}
