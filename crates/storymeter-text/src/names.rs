//! Person names replaced by `[MALE]`, `[FEMALE]` and `[NEUTRAL]`, and put back.
//!
//! UNION's authors train and score on stories whose names are masked, so that a story is not judged by what its
//! people are called. The names are the first names of the 1990 United States census. Many are words too: those
//! count only where the text shows that a name is meant (see [`Delexicaliser::delexicalise`]). Nothing in
//! this project masks names unless it is asked to.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

use crate::Span;
use crate::morphology::verb::{self, VerbForm};

/// Whose name it is, as far as the name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gender {
    /// Mostly men have it.
    Male,
    /// Mostly women have it.
    Female,
    /// Both have it; the rarer use is at least a tenth of the commoner.
    Neutral,
}

impl Gender {
    /// What stands in the name's place.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Male => "[MALE]",
            Self::Female => "[FEMALE]",
            Self::Neutral => "[NEUTRAL]",
        }
    }
}

/// What else a name can be, and so how much evidence it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing else: Susan.
    Plain,
    /// A month: May.
    Month,
    /// A place: Paris.
    Place,
    /// A word that begins sentences without an article: Hope.
    Mass,
    /// Another word: Mark.
    Count,
}

/// A text without its names, and the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delexicalised {
    /// The text with placeholders.
    pub text: String,
    /// Where the placeholders are in `text`, in order, and what they replaced.
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

fn groups(
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
    /// It begins a sentence or a quotation.
    first: bool,
    /// Part of something that is no word: `@tom`, `O'Neil`, `tom_7`.
    attached: bool,
}

/// Before a month these speak of time.
const TIME_WORDS: [&str; 24] = [
    "a", "by", "during", "each", "early", "every", "for", "from", "in", "last", "late", "mid",
    "next", "of", "on", "one", "past", "since", "the", "this", "through", "till", "to", "until",
];
/// Before the name of a place these speak of the place.
const PLACE_WORDS: [&str; 20] = [
    "across", "around", "at", "east", "from", "in", "into", "left", "near", "new", "north", "of",
    "outside", "south", "through", "to", "toward", "visit", "visited", "west",
];
/// Before any name these make a place or thing of it: San Jose, Lake Charles.
const OF_PLACES: [&str; 11] =
    ["fort", "lake", "los", "mount", "new", "port", "puerto", "saint", "san", "santa", "st"];
/// Behind a word that begins a sentence these show that it is not the subject: Will you, Mark the, Bob it.
const NOT_BEHIND_A_NAME: [&str; 18] = [
    "a", "an", "he", "her", "his", "i", "it", "me", "my", "our", "she", "that", "the", "their",
    "they", "this", "we", "you",
];

impl Delexicaliser {
    /// The names that come with the crate.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// Whose first name a word is, whatever else it may be; `None` if it is none. Letter case does not matter.
    pub fn gender(&self, word: &str) -> Option<Gender> {
        self.names.get(word.to_lowercase().as_str()).map(|&(gender, _)| gender)
    }

    /// The text with first names masked.
    ///
    /// A name is written with a capital; only in a text without any capital letter do lower-case names count,
    /// and only those that are nothing else. A name that is also a word counts inside a sentence, and at
    /// its beginning where the same text has it inside one, or where a verb follows that shows a subject ("Mark
    /// was", but not "Hope was"). Months and places do not count behind words of time and place ("in May", "to
    /// Paris").
    ///
    /// ```
    /// use storymeter_text::names::Delexicaliser;
    /// let masked = Delexicaliser::embedded().delexicalise("Will told Susan's cat that he will stay until May.");
    /// assert_eq!(masked.text, "[MALE] told [FEMALE]'s cat that he will stay until May.");
    /// assert_eq!(masked.restore(), "Will told Susan's cat that he will stay until May.");
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

    /// Whether the word at a place is a name by itself, might be one, or (`None`) is not.
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
            && OF_PLACES.contains(&before)
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
            Kind::Count if word.first && NOT_BEHIND_A_NAME.contains(&after) => return None,
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

/// Whether a word can only be the verb of the subject before it: a past or a third person.
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
    // Until a letter says otherwise, the next word is the first of a sentence.
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
