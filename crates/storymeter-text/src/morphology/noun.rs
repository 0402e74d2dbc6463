//! Singulars and plurals of nouns.

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::spelling::{ends_in_consonant_y, in_case_of, is_vowel};
use super::usage;
use crate::lexicon::{PartOfSpeech, compiled, lower_case};

struct Tables {
    plurals: HashMap<&'static str, &'static str>,
    singulars: HashMap<&'static str, &'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { plurals: HashMap::new(), singulars: HashMap::new() };
    for line in
        include_str!("../../data/irregular_nouns.txt").lines().filter(|line| !line.starts_with('#'))
    {
        let Some((singular, plurals)) = line.split_once(' ') else { continue };
        for (rank, plural) in plurals.split('/').enumerate() {
            if rank == 0 {
                tables.plurals.insert(singular, plural);
            }
            tables.singulars.entry(plural).or_insert(singular);
        }
    }
    tables
});

/// The singular of a plural noun, in its letter case. Any other word is returned unchanged.
///
/// An unknown word is read as a regular plural, unless it begins with a capital: then it is a name.
///
/// ```
/// use storymeter_text::morphology::noun::lemma;
/// assert_eq!([lemma("Wolves"), lemma("buses"), lemma("gas")], ["Wolf", "bus", "gas"]);
/// assert_eq!(lemma("blorps"), "blorp");
/// assert_eq!(lemma("Kvothes"), "Kvothes");
/// ```
pub fn lemma(word: &str) -> Cow<'_, str> {
    let lower = lower_case(word);
    match known_lemma(&lower) {
        Some(lemma) => in_case_of(word, Cow::Owned(lemma.into_owned())),
        None if word.starts_with(char::is_uppercase) => Cow::Borrowed(word),
        None => in_case_of(word, Cow::Owned(guessed_lemma(&lower))),
    }
}

/// The lemma of a lower-case form, if WordNet has it as a noun.
///
/// The candidates are those of WordNet's rules of detachment and the word itself, and the most used
/// one wins: "gas" is more used than "ga", and "glass" more than "glasses".
pub(crate) fn known_lemma(word: &str) -> Option<Cow<'_, str>> {
    if let Some(&singular) = TABLES.singulars.get(word) {
        return Some(Cow::Borrowed(singular));
    }
    let entry = compiled::find(word);
    if let Some(lemma) = entry.and_then(|entry| entry.exceptions(PartOfSpeech::Noun).words().next())
    {
        return Some(Cow::Borrowed(lemma));
    }
    let mut best = usage(word, PartOfSpeech::Noun).map(|used| (used, Cow::Borrowed(word)));
    let mut consider = |singular: Cow<'_, str>| {
        // No story means the singular of a word of two letters ("as", "us").
        let used = usage(&singular, PartOfSpeech::Noun).filter(|_| singular.len() > 1);
        if let Some(used) = used
            && best.as_ref().is_none_or(|(most, _)| used > *most)
        {
            best = Some((used, Cow::Owned(singular.into_owned())));
        }
    };
    if let Some(stem) = word.strip_suffix("ies") {
        consider(Cow::Owned(format!("{stem}y")));
    }
    if let Some(stem) = word.strip_suffix("men") {
        consider(Cow::Owned(format!("{stem}man")));
    }
    if let Some(stem) = word.strip_suffix('s').filter(|stem| !stem.ends_with('s')) {
        consider(Cow::Borrowed(stem));
        if let Some(stem) = stem.strip_suffix('e').filter(|stem| takes_es(stem)) {
            consider(Cow::Borrowed(stem));
        }
    }
    best.map(|(_, lemma)| lemma)
}

fn guessed_lemma(word: &str) -> String {
    let Some(stem) = word.strip_suffix('s').filter(|stem| stem.len() > 2) else {
        return word.to_owned();
    };
    if ["s", "u", "i", "'"].iter().any(|ending| stem.ends_with(ending)) {
        return word.to_owned();
    }
    match stem.strip_suffix('e') {
        Some(short) if short.len() > 2 && short.ends_with('i') => {
            format!("{}y", &short[..short.len() - 1])
        }
        Some(short) if takes_es(short) && !short.ends_with('o') => short.to_owned(),
        _ => stem.to_owned(),
    }
}

fn takes_es(singular: &str) -> bool {
    ["s", "x", "z", "ch", "sh", "o"].iter().any(|ending| singular.ends_with(ending))
}

/// Nouns that end in a consonant and o and take -es. All others of this kind take -s.
const O_ES: [&str; 14] = [
    "buffalo", "cargo", "domino", "echo", "embargo", "go", "hero", "mango", "mosquito", "no",
    "potato", "tomato", "tornado", "torpedo",
];
/// Nouns that end in -man and are not compounds of "man".
const NOT_MEN: [&str; 12] = [
    "brahman",
    "caiman",
    "cayman",
    "german",
    "human",
    "ottoman",
    "norman",
    "roman",
    "shaman",
    "talisman",
    "toman",
    "mussulman",
];

/// The plural of a noun, in its letter case.
///
/// ```
/// use storymeter_text::morphology::noun::plural;
/// assert_eq!(["baby", "Fox", "wolf"].map(plural), ["babies", "Foxes", "wolves"]);
/// assert_eq!(["fireman", "potato"].map(plural), ["firemen", "potatoes"]);
/// ```
pub fn plural(word: &str) -> String {
    let lower = lower_case(word);
    in_case_of(word, Cow::Owned(plural_lower(&lower))).into_owned()
}

fn plural_lower(word: &str) -> String {
    if let Some(plural) = TABLES.plurals.get(word) {
        return (*plural).to_owned();
    }
    let bytes = word.as_bytes();
    if let Some(stem) =
        word.strip_suffix("man").filter(|stem| !stem.is_empty() && !NOT_MEN.contains(&word))
    {
        return format!("{stem}men");
    }
    for (singular, plural) in
        [("wife", "wives"), ("self", "selves"), ("tooth", "teeth"), ("foot", "feet")]
    {
        if let Some(stem) = word.strip_suffix(singular).filter(|stem| stem.is_ascii()) {
            return format!("{stem}{plural}");
        }
    }
    if ends_in_consonant_y(word) {
        return format!("{}ies", &word[..word.len() - 1]);
    }
    let hissing = takes_es(word)
        && !word.ends_with('o')
        && word != "stomach"
        && word != "monarch"
        && word != "patriarch";
    let o_es = bytes.len() > 1
        && word.ends_with('o')
        && !is_vowel(bytes, bytes.len() - 2)
        && O_ES.contains(&word);
    if hissing || o_es { format!("{word}es") } else { format!("{word}s") }
}
