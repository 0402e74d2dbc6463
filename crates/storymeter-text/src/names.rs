//! Replaces first names by `[MALE]`, `[FEMALE]` and `[NEUTRAL]`, and restores them.
//!
//! UNION's authors train and score on stories whose names are masked (section 4.2), so that a story
//! is not judged by the names of its people. The names are the first names of the 1990 United
//! States census. Many of them are ordinary words too; those are masked only if the text shows that
//! a name is meant (see [`Delexicaliser::delexicalise`]).

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use crate::Span;
use crate::morphology::verb::{self, VerbForm};

/// Whether men or women mostly have a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gender {
    /// Mostly men have it.
    Male,
    /// Mostly women have it.
    Female,
    /// Both have it: the rarer use is at least a tenth as frequent as the other.
    Neutral,
}

impl Gender {
    /// The text that replaces a name.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Male => "[MALE]",
            Self::Female => "[FEMALE]",
            Self::Neutral => "[NEUTRAL]",
        }
    }
}

/// What else a name can mean, which decides how much evidence is needed to mask it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is only a name: Susan.
    Plain,
    /// It is also a month: May.
    Month,
    /// It is also a place: Paris.
    Place,
    /// It is also a word that can begin a sentence without an article: Hope.
    Mass,
    /// It is also another word: Mark.
    Count,
}

/// A text whose names are masked, together with the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delexicalised {
    /// The text with placeholders.
    pub text: String,
    /// Where the placeholders are in `text`, in order, and the names that they replaced.
    pub names: Vec<(Span, String)>,
}

impl Delexicalised {
    /// The original text, byte for byte.
    pub fn restore(&self) -> String {
        let mut original = String::with_capacity(self.text.len());
        let mut done = 0;
        for (span, name) in &self.names {
            original.push_str(&self.text[done..span.start]);
            original.push_str(name);
            done = span.end;
        }
        original.push_str(&self.text[done..]);
        original
    }
}

/// Finds first names and masks them.
#[derive(Debug)]
pub struct Delexicaliser {
    names: HashMap<&'static str, (Gender, Kind)>,
}

static EMBEDDED: LazyLock<Delexicaliser> = LazyLock::new(|| {
    let mut names = HashMap::with_capacity(8192);
    for (group, words) in groups(include_str!("../data/first_names.txt")) {
        let gender = match group {
            "male" => Gender::Male,
            "female" => Gender::Female,
            _ => Gender::Neutral,
        };
        names.extend(words.map(|name| (name, (gender, Kind::Plain))));
    }
    for (group, words) in groups(include_str!("../data/name_words.txt")) {
        let kind = match group {
            "month" => Kind::Month,
            "place" => Kind::Place,
            "mass" => Kind::Mass,
            "count" => Kind::Count,
            _ => {
                for name in words {
                    names.remove(name);
                }
                continue;
            }
        };
        for name in words {
            names.entry(name).and_modify(|(_, known)| *known = kind);
        }
    }
    Delexicaliser { names }
});

pub(crate) fn groups(
    text: &'static str,
) -> impl Iterator<Item = (&'static str, std::str::SplitWhitespace<'static>)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .map(|(group, words)| (group, words.split_whitespace()))
}

/// A run of letters in the text.
struct Word<'a> {
    span: Span,
    text: &'a str,
    lower: String,
    /// Whether it begins a sentence or a quotation.
    first: bool,
    /// Whether it is a part of something longer: `@tom`, `O'Neil`, `tom_7`.
    attached: bool,
}

/// After one of these words, the name of a month means the month: "in May".
const TIME_WORDS: [&str; 24] = [
    "a", "by", "during", "each", "early", "every", "for", "from", "in", "last", "late", "mid",
    "next", "of", "on", "one", "past", "since", "the", "this", "through", "till", "to", "until",
];
/// After one of these words, the name of a place means the place: "to Paris".
const PLACE_WORDS: [&str; 20] = [
    "across", "around", "at", "east", "from", "in", "into", "left", "near", "new", "north", "of",
    "outside", "south", "through", "to", "toward", "visit", "visited", "west",
];
/// After one of these words, with a capital, any name is part of a place: San Jose, Lake Charles.
const PLACE_PREFIXES: [&str; 11] =
    ["fort", "lake", "los", "mount", "new", "port", "puerto", "saint", "san", "santa", "st"];
/// Before one of these words, the first word of a sentence is not a name: "Will you", "Mark the".
const NOT_AFTER_A_NAME: [&str; 18] = [
    "a", "an", "he", "her", "his", "i", "it", "me", "my", "our", "she", "that", "the", "their",
    "they", "this", "we", "you",
];

impl Delexicaliser {
    /// The names that are embedded in the crate.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Who has a first name, in any letter case, whatever else the word may mean; `None` if it is
    /// no name.
    pub fn gender(&self, word: &str) -> Option<Gender> {
        self.names.get(word.to_lowercase().as_str()).map(|&(gender, _)| gender)
    }

    /// Masks the first names of a text. The time is linear in its length.
    ///
    /// If the text uses capital letters at all, a lower-case word is not treated as a name. In a
    /// text without capital letters, only names that are no other word are masked.
    ///
    /// A name that is also a word is masked inside a sentence. At the beginning of a sentence it is
    /// masked only if the same text also has it inside a sentence, or if the next word is a verb
    /// that needs it as its subject ("Mark was", but not "Hope was"). Months and places are not
    /// masked after words of time and place ("in May", "to Paris").
    ///
    /// ```
    /// use storymeter_text::names::Delexicaliser;
    ///
    /// let text = "Will told Susan's cat that he will stay until May.";
    /// let masked = Delexicaliser::embedded().delexicalise(text);
    /// assert_eq!(masked.text, "[MALE] told [FEMALE]'s cat that he will stay until May.");
    /// assert_eq!(masked.restore(), text);
    /// ```
    pub fn delexicalise(&self, text: &str) -> Delexicalised {
        let words = words(text);
        let lower_case_text = !text.chars().any(char::is_uppercase);
        let verdicts: Vec<Option<Evidence>> =
            (0..words.len()).map(|at| self.judge(text, &words, at, lower_case_text)).collect();
        let evident: HashSet<&str> = words
            .iter()
            .zip(&verdicts)
            .filter(|(_, verdict)| verdict.is_some_and(|found| found.certain))
            .map(|(word, _)| word.lower.as_str())
            .collect();

        let mut masked = String::with_capacity(text.len());
        let mut names = Vec::new();
        let mut done = 0;
        for (word, verdict) in words.iter().zip(&verdicts) {
            let Some(found) =
                verdict.filter(|found| found.certain || evident.contains(word.lower.as_str()))
            else {
                continue;
            };
            masked.push_str(&text[done..word.span.start]);
            let start = masked.len();
            masked.push_str(found.gender.placeholder());
            names.push((Span::new(start, masked.len()), word.text.to_owned()));
            done = word.span.end;
        }
        masked.push_str(&text[done..]);
        Delexicalised { text: masked, names }
    }

    /// Whether the word with this index is certainly a name, may be one, or (`None`) is not one.
    fn judge(
        &self,
        text: &str,
        words: &[Word<'_>],
        at: usize,
        lower_case_text: bool,
    ) -> Option<Evidence> {
        let word = &words[at];
        let &(gender, kind) = self.names.get(word.lower.as_str()).filter(|_| !word.attached)?;
        if !word.text.starts_with(char::is_uppercase) {
            return (lower_case_text && kind == Kind::Plain)
                .then_some(Evidence { gender, certain: true });
        }
        let before = at.checked_sub(1).map_or("", |before| words[before].lower.as_str());
        let after = words.get(at + 1).map_or("", |after| after.lower.as_str());
        if !word.first
            && PLACE_PREFIXES.contains(&before)
            && words[at - 1].text.starts_with(char::is_uppercase)
        {
            return None;
        }
        let shouted = word.text.len() > 1 && !word.text.chars().any(char::is_lowercase);
        let certain = match kind {
            Kind::Plain => true,
            _ if shouted => return None,
            Kind::Month if followed_by_digit(text, word.span.end) => return None,
            Kind::Month if !word.first && TIME_WORDS.contains(&before) => return None,
            Kind::Place if !word.first && PLACE_WORDS.contains(&before) => return None,
            Kind::Month | Kind::Mass if word.first => false,
            Kind::Count if word.first && NOT_AFTER_A_NAME.contains(&after) => return None,
            Kind::Count if word.first => {
                text[word.span.end..].starts_with(' ') && shows_a_subject(after)
            }
            Kind::Month | Kind::Place | Kind::Mass | Kind::Count => true,
        };
        Some(Evidence { gender, certain })
    }
}

#[derive(Clone, Copy)]
struct Evidence {
    gender: Gender,
    certain: bool,
}

/// Whether a word can only be the verb of the subject before it: a past form or a third person.
fn shows_a_subject(word: &str) -> bool {
    [VerbForm::Past, VerbForm::ThirdSingular].iter().any(|&form| {
        let base = verb::base_as(word, form);
        *base != *word && verb::inflect(&base, form) == word
    })
}

fn followed_by_digit(text: &str, at: usize) -> bool {
    text[at..].trim_start_matches([' ', ',']).starts_with(|c: char| c.is_ascii_digit())
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut letters = text.char_indices().peekable();
    // Whether the next word is the first of a sentence.
    let mut first = true;
    let mut previous = ' ';
    while let Some((start, letter)) = letters.next() {
        if !letter.is_alphabetic() {
            first |= matches!(letter, '.' | '!' | '?' | ':' | '…' | '"' | '“' | '‘' | '`' | '\n');
            previous = letter;
            continue;
        }
        let mut end = start + letter.len_utf8();
        let mut last = letter;
        while let Some((at, next)) = letters.next_if(|(_, next)| next.is_alphabetic()) {
            end = at + next.len_utf8();
            last = next;
        }
        let mut rest = text[end..].chars();
        let (next, second) = (rest.next().unwrap_or(' '), rest.next().unwrap_or(' '));
        let attached = previous.is_numeric()
            || matches!(previous, '_' | '@' | '#' | '\'' | '’' | '/')
            || next.is_numeric()
            || matches!(next, '_' | '@')
            || (next == '.' && second.is_alphanumeric());
        let text = &text[start..end];
        let title = matches!(text, "Mr" | "Mrs" | "Ms" | "Dr" | "Prof" | "Aunt" | "Uncle");
        words.push(Word {
            span: Span::new(start, end),
            text,
            lower: text.to_lowercase(),
            first,
            attached,
        });
        first = false;
        previous = last;
        // The full stop of a title does not end a sentence.
        if title && next == '.' {
            letters.next();
            previous = '.';
        }
    }
    words
}
