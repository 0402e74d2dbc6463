//! The word lists of the sentence splitter.

/// What an abbreviation tells about the full stop after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// A title or a linking word, which never ends a sentence.
    BeforeName,
    /// An abbreviation only before a number: `no. 5`, but `She said no.`
    BeforeNumber,
    /// An abbreviation that may also be the last word of a sentence.
    Anywhere,
}

/// Abbreviations if they have a capital, or in a text without capitals.
const TITLES: &str = "adm brig capt cmdr col cpl dr fr gen gov hon lt maj messrs mlle mme mr mrs ms mt pres prof pvt rep \
    rev sen sgt";

/// Abbreviations in any letter case.
const LINKS: &str = "approx cf e.g i.e viz vs al";

const NUMBERED: &str = "art ch fig nr no nos op p pp vol";

const ENDINGS: &str = "assn ave bldg blvd bros co corp dept dist est etc ft hrs inc jr ltd mfg mins ph.d rd sr st tel univ \
    yrs hwy";

/// Abbreviations with a capital, but ordinary words in lower case ("He sat.").
const DATES: &str = "apr aug dec feb fri jan jul jun mar mon nov oct sat sep sept sun thurs tues";

/// Capitalised words that begin sentences and are hardly ever part of a name.
const STARTERS: &str = "a after all although an and another are as at because before both but by can did do does during each \
    even every everyone few finally for from had has have he her here his how however i i'd i'll i'm \
    i've if in instead is it it's its just later many maybe meanwhile most my no nobody not now on once \
    one only our she since so some soon suddenly that the their then there these they this those though \
    to until was we were what when where while why you";

const SPEECH: &str = "added answered asked begged called continued cried exclaimed explained gasped laughed mumbled \
    muttered replied said says screamed shouted sighed told thought whispered wondered yelled";

/// The length of the longest entry of the lists above. Longer words are not looked up.
const LONGEST: usize = 10;

/// The kind of abbreviation that a word before a full stop is, if it is one. The word comes without
/// the full stop.
pub(super) fn abbreviation(word: &str, lower_cased: bool) -> Option<Abbreviation> {
    if is_dotted(word) {
        let link = word.eq_ignore_ascii_case("e.g") || word.eq_ignore_ascii_case("i.e");
        return Some(if link { Abbreviation::BeforeName } else { Abbreviation::Anywhere });
    }
    let capital = word.starts_with(char::is_uppercase) || lower_cased;
    lowered(word, |word| {
        let listed = |list| is_listed(list, word);
        if (capital && listed(TITLES)) || listed(LINKS) {
            Some(Abbreviation::BeforeName)
        } else if listed(NUMBERED) {
            Some(Abbreviation::BeforeNumber)
        } else if listed(ENDINGS) || (capital && !lower_cased && listed(DATES)) {
            Some(Abbreviation::Anywhere)
        } else {
            None
        }
    })
}

pub(super) fn is_starter(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && lowered(word, |word| is_listed(STARTERS, word))
}

pub(super) fn is_speech_verb(word: &str) -> bool {
    lowered(word, |word| is_listed(SPEECH, word))
}

pub(super) fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// `U.S`, `a.m`, `J.R.R`: single letters with full stops between them.
pub(super) fn is_dotted(word: &str) -> bool {
    word.contains('.')
        && word.len() <= 16
        && word.split('.').all(|part| {
            let mut letters = part.chars();
            letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
        })
}

/// Calls `ask` with the word in lower case, without allocating. A word that is longer than any
/// listed one gives the default.
fn lowered<T: Default>(word: &str, ask: impl FnOnce(&str) -> T) -> T {
    let mut buffer = [0; LONGEST];
    let Some(buffer) = buffer.get_mut(..word.len()) else { return T::default() };
    buffer.copy_from_slice(word.as_bytes());
    buffer.make_ascii_lowercase();
    std::str::from_utf8(buffer).map(ask).unwrap_or_default()
}
