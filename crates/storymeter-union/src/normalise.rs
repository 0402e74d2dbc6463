//! Writes a story in one standard way, so that its score does not depend on its spelling.
//!
//! The same story may be raw (`Ken didn’t go.`), tokenised and in lower case (`ken did n't go .`),
//! or have masked names (`[MALE] did n't go .`). The encoder's tokeniser ignores letter case and
//! the spaces around punctuation. The other differences are removed here, both in scoring and in
//! training:
//!
//! - curly, typewriter and treebank quotes (` ’ ” `` '' `) become `'` and `"`, an ellipsis becomes
//!   three dots, and `-LRB-` becomes a bracket;
//! - words that treebank tokenisers cut are joined: `did n't`, `can not`, `gon na`;
//! - placeholders of names are written in capitals: `[male]` becomes `[MALE]`;
//! - first names become placeholders if the model was trained so ([`Card::delexicalise`]).
//!
//! The card of a model says which of these steps it needs: [`Card::normalise`] and
//! [`Card::delexicalise`].

use std::ops::Range;

use storymeter_core::Story;
use storymeter_perturb::delexicalised_with_names;
use storymeter_text::Span;

use crate::Card;
use crate::origin::{Origin, Replaced};

/// Writes a story in the way that a model with this card reads it. Doing it twice changes nothing
/// more.
///
/// ```
/// use storymeter_core::Story;
/// use storymeter_union::{Card, normalise};
///
/// let card = Card { normalise: true, delexicalise: true, ..Card::default() };
/// let read = |text: &str| normalise(&Story { text: text.into(), ..Story::default() }, &card).text;
/// assert_eq!(read("“Robert didn’t go,” she said."), "\"[MALE] didn't go,\" she said.");
/// assert_eq!(read("`` robert did n't go , '' she said ."), "\" [MALE] didn't go , \" she said .");
/// ```
pub fn normalise(story: &Story, card: &Card) -> Story {
    normalised(story, card).0
}

/// Does what [`normalise`] does, and also returns where each part of the new text was in the old
/// one.
pub(crate) fn normalised(story: &Story, card: &Card) -> (Story, Origin) {
    let mut story = story.clone();
    let mut origin = Origin::default();
    if card.normalise {
        // Placeholders are in small letters while names are searched for: if the text had capital
        // letters, a lower-case word would not be treated as a name.
        let placeholders = if card.delexicalise { Case::Lower } else { Case::Upper };
        let edits = edits(&story.text, placeholders);
        let mut mover = Mover::new(&edits);
        for sentence in &mut story.sentences {
            *sentence = mover.moved_range(sentence);
        }
        story.text = rewritten(&story.text, &edits);
        origin.push(replaced(&edits));
        if let Some(prompt) = &mut story.prompt {
            *prompt = rewritten(prompt, &self::edits(prompt, placeholders));
        }
    }
    if card.delexicalise {
        let names;
        (story, names) = delexicalised_with_names(&story);
        origin.push(masked(&names));
        if card.normalise {
            story.text = capital_placeholders(&story.text);
            story.prompt = story.prompt.as_deref().map(capital_placeholders);
        }
    }
    (story, origin)
}

/// The places of edits in the old and in the new text.
fn replaced(edits: &[Edit]) -> Vec<Replaced> {
    let (mut added, mut removed) = (0, 0);
    let place = |edit: &Edit| {
        let start = edit.old.start + added - removed;
        added += edit.new.len();
        removed += edit.old.len();
        Replaced { new: start..start + edit.new.len(), old: edit.old.clone() }
    };
    edits.iter().map(place).collect()
}

/// The places of masked names in the old and in the new text.
fn masked(names: &[(Span, String)]) -> Vec<Replaced> {
    let (mut added, mut removed) = (0, 0);
    let place = |(span, name): &(Span, String)| {
        let start = span.start + removed - added;
        added += span.len();
        removed += name.len();
        Replaced { new: span.start..span.end, old: start..start + name.len() }
    };
    names.iter().map(place).collect()
}

/// How placeholders are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
}

const PLACEHOLDERS: [(&str, &str); 3] =
    [("[male]", "[MALE]"), ("[female]", "[FEMALE]"), ("[neutral]", "[NEUTRAL]")];

/// Words that treebank tokenisers cut in two. (`n't` is joined to any word before it.)
const CUT_WORDS: [(&str, &str); 6] =
    [("can", "not"), ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me")];

/// Characters and marks with their replacements. Longer ones come first.
const MARKS: [(&str, &str); 22] = [
    ("-LRB-", "("),
    ("-RRB-", ")"),
    ("-lrb-", "("),
    ("-rrb-", ")"),
    ("``", "\""),
    ("''", "\""),
    ("’’", "\""),
    ("‘‘", "\""),
    ("`", "'"),
    ("´", "'"),
    ("‘", "'"),
    ("’", "'"),
    ("‛", "'"),
    ("′", "'"),
    ("“", "\""),
    ("”", "\""),
    ("„", "\""),
    ("‟", "\""),
    ("«", "\""),
    ("»", "\""),
    ("″", "\""),
    ("…", "..."),
];

/// A stretch of the text, and its replacement.
struct Edit {
    old: Range<usize>,
    new: &'static str,
}

/// All replacements in a text, in order.
fn edits(text: &str, placeholders: Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let found = match next {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | ',' => None,
            '[' => placeholder(&text[at..], placeholders),
            ' ' if cut_word(text, at) => Some((1, "")),
            '\u{a0}' => Some((next.len_utf8(), " ")),
            _ => mark(&text[at..]),
        };
        match found {
            Some((len, new)) => {
                edits.push(Edit { old: at..at + len, new });
                at += len;
            }
            None => at += next.len_utf8(),
        }
    }
    edits
}

/// The length of the placeholder that a text begins with, and how it is written.
fn placeholder(text: &str, case: Case) -> Option<(usize, &'static str)> {
    let begins =
        |tag: &str| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    let (lower, upper) = PLACEHOLDERS.into_iter().find(|(tag, _)| begins(tag))?;
    Some((lower.len(), if case == Case::Lower { lower } else { upper }))
}

fn mark(text: &str) -> Option<(usize, &'static str)> {
    let (old, new) = MARKS.into_iter().find(|(old, _)| text.starts_with(old))?;
    Some((old.len(), new))
}

/// Whether the space at `at` cuts a word in two.
fn cut_word(text: &str, at: usize) -> bool {
    let before = text[..at].rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    if before.is_empty() {
        return false;
    }
    let rest = &text[at + 1..];
    let ends = |len: usize| !rest[len..].starts_with(char::is_alphanumeric);
    for clitic in ["n't", "n’t"] {
        let same = rest.get(..clitic.len()).is_some_and(|start| start.eq_ignore_ascii_case(clitic));
        if same && ends(clitic.len()) {
            return true;
        }
    }
    let after = rest.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let pair =
        |(a, b): &(&str, &str)| before.eq_ignore_ascii_case(a) && after.eq_ignore_ascii_case(b);
    CUT_WORDS.iter().any(pair) && ends(after.len())
}

fn rewritten(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        out.push_str(&text[done..edit.old.start]);
        out.push_str(edit.new);
        done = edit.old.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Finds where places of the old text are in the new one.
///
/// For places in ascending order, this takes one pass over the edits in all.
struct Mover<'a> {
    edits: &'a [Edit],
    /// The number of edits that begin before the last place.
    passed: usize,
    last_place: usize,
    removed: usize,
    added: usize,
}

impl<'a> Mover<'a> {
    fn new(edits: &'a [Edit]) -> Self {
        Self { edits, passed: 0, last_place: 0, removed: 0, added: 0 }
    }

    fn moved_range(&mut self, range: &Range<usize>) -> Range<usize> {
        self.moved(range.start)..self.moved(range.end)
    }

    /// A place inside an edit moves to its end.
    fn moved(&mut self, place: usize) -> usize {
        if place < self.last_place {
            *self = Self::new(self.edits);
        }
        self.last_place = place;
        while let Some(edit) = self.edits.get(self.passed).filter(|edit| edit.old.start < place) {
            self.removed += edit.old.len();
            self.added += edit.new.len();
            self.passed += 1;
        }
        let last_edit = self.edits[..self.passed].last();
        last_edit.map_or(place, |edit| place.max(edit.old.end)) + self.added - self.removed
    }
}

fn capital_placeholders(text: &str) -> String {
    PLACEHOLDERS
        .into_iter()
        .fold(text.to_owned(), |text, (lower, upper)| text.replace(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_new_text_is_found_in_the_old_one() {
        let text = "“Robert” did n't meet Susan… [male] can not stay , Anna-LRB-12-RRB- left .";
        let story = Story { text: text.into(), ..Story::default() };
        let (read, origin) =
            normalised(&story, &Card { normalise: true, delexicalise: true, ..Card::default() });
        assert_eq!(
            read.text,
            "\"[MALE]\" didn't meet [FEMALE]... [MALE] cannot stay , [FEMALE](12) left ."
        );
        for (new, old) in [
            ("\"[MALE]\"", "“Robert”"),
            ("[MALE]", "Robert"),
            ("MALE", "Robert"),
            ("didn't", "did n't"),
            ("[FEMALE]...", "Susan…"),
            ("cannot stay", "can not stay"),
            ("(12) left .", "-LRB-12-RRB- left ."),
            (" left ", " left "),
        ] {
            let start = read.text.find(new).unwrap();
            assert_eq!(&text[origin.old_range(start..start + new.len())], old, "{new}");
        }
        assert_eq!(origin.old_range(0..read.text.len()), 0..text.len());
        // A sentence that begins after a removed space does not begin with it.
        let cut = read.text.find("n't").unwrap();
        assert_eq!(&text[origin.old_range(cut..cut + 3)], "n't");
    }

    /// Scans the edits once per place.
    fn moved_by_scan(edits: &[Edit], place: usize) -> usize {
        let before = edits.iter().filter(|edit| edit.old.start < place);
        let end = before.clone().map(|edit| edit.old.end).max().unwrap_or(0).max(place);
        let added: usize = before.clone().map(|edit| edit.new.len()).sum();
        let removed: usize = before.map(|edit| edit.old.len()).sum();
        end + added - removed
    }

    #[test]
    fn places_move_as_one_scan_for_each_says_also_out_of_order() {
        let text = "`` [male] did n't -LRB- go -RRB- … '' «can not» …";
        let edits = edits(text, Case::Upper);
        assert_eq!(edits.len(), 11);
        let mut mover = Mover::new(&edits);
        let forwards = 0..=text.len();
        for place in forwards.clone().chain(forwards.clone().rev()).chain(forwards.step_by(7)) {
            assert_eq!(mover.moved(place), moved_by_scan(&edits, place), "{place}");
        }
    }
}
