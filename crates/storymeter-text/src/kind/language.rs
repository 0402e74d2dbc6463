//! Tells other languages from English by their letters and their small words.

use crate::stopwords::is_stop_word;

/// A language other than English, as far as it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Dutch.
    Dutch,
    /// Any language that is not written in Latin letters.
    OtherLetters,
    /// Latin letters, but hardly any small word of English or of the languages above.
    Unknown,
}

impl Language {
    /// The name for counts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::German => "German",
            Self::French => "French",
            Self::Spanish => "Spanish",
            Self::Italian => "Italian",
            Self::Portuguese => "Portuguese",
            Self::Dutch => "Dutch",
            Self::OtherLetters => "not in Latin letters",
            Self::Unknown => "not English",
        }
    }

    /// See [`super::TextKind::looks`].
    pub(super) fn looks(self) -> &'static str {
        match self {
            Self::German => "looks like German",
            Self::French => "looks like French",
            Self::Spanish => "looks like Spanish",
            Self::Italian => "looks like Italian",
            Self::Portuguese => "looks like Portuguese",
            Self::Dutch => "looks like Dutch",
            Self::OtherLetters => "is not written in Latin letters",
            Self::Unknown => "does not look like English: it has few of the small English words",
        }
    }
}

/// The share of letters outside the Latin alphabet from which on a text is not English. A story may
/// quote some words of Russian.
const OTHER_LETTERS: f64 = 0.3;

/// The share of small English words from which on a text is English. Everyday stories have 0.5.
const ENGLISH: f64 = 0.25;

/// Below this share of small English words a text is not English.
const NOT_ENGLISH: f64 = 0.12;

/// The share of small words of another language that names it. Its own prose has 0.3 and more.
const NAMED: f64 = 0.15;

/// Fewer words say too little about their language.
const FEWEST_WORDS: usize = 6;

/// The most frequent small words of each language. A word that two languages share counts for both.
#[rustfmt::skip]
const SMALL_WORDS: [(Language, &[&str]); 6] = [
    (Language::German, &[
        "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "das", "dass", "dem", "den", "der", "des", "die",
        "doch", "du", "durch", "ein", "eine", "einem", "einen", "einer", "er", "es", "für", "hat", "hatte", "ich",
        "ihm", "ihn", "ihr", "ihre", "im", "in", "ist", "kein", "keine", "man", "mehr", "mit", "nach", "nicht",
        "noch", "nur", "oder", "sehr", "sein", "seine", "seinen", "sich", "sie", "sind", "so", "über", "um", "und",
        "uns", "vom", "von", "vor", "war", "waren", "was", "wenn", "wie", "wieder", "wir", "wurde", "zu", "zum",
        "zur",
    ]),
    (Language::French, &[
        "à", "ai", "au", "aux", "avait", "avec", "ce", "ces", "cette", "dans", "de", "des", "du", "elle", "elles",
        "en", "est", "et", "était", "ils", "il", "je", "la", "le", "les", "leur", "lui", "mais", "mon", "ne",
        "nous", "on", "ont", "ou", "où", "par", "pas", "plus", "pour", "qu'il", "que", "qui", "sa", "sans", "se",
        "ses", "si", "son", "sont", "sur", "très", "tu", "un", "une", "vous", "y",
    ]),
    (Language::Spanish, &[
        "a", "al", "como", "con", "cuando", "de", "del", "el", "ella", "en", "era", "es", "esta", "estaba", "este",
        "fue", "había", "la", "las", "le", "lo", "los", "más", "me", "mi", "muy", "no", "para", "pero", "por",
        "que", "se", "sin", "sobre", "su", "sus", "también", "todo", "un", "una", "y", "ya", "yo",
    ]),
    (Language::Italian, &[
        "a", "al", "alla", "anche", "aveva", "che", "chi", "come", "con", "da", "dal", "dalla", "dei", "del",
        "della", "di", "e", "è", "era", "gli", "ha", "i", "il", "in", "io", "l'altro", "la", "le", "lei", "lo",
        "lui", "ma", "mi", "nel", "nella", "non", "per", "più", "quando", "questo", "se", "si", "sono", "su", "sua",
        "suo", "un", "una", "uno",
    ]),
    (Language::Portuguese, &[
        "a", "ao", "as", "com", "como", "da", "das", "de", "dela", "dele", "do", "dos", "e", "é", "ela", "ele",
        "em", "era", "estava", "eu", "foi", "isso", "mais", "mas", "me", "muito", "na", "não", "no", "nos", "o",
        "os", "ou", "para", "pela", "pelo", "por", "quando", "que", "se", "seu", "sua", "também", "um", "uma",
    ]),
    (Language::Dutch, &[
        "aan", "al", "als", "bij", "dat", "de", "deze", "die", "dit", "door", "een", "en", "er", "had", "haar",
        "heeft", "het", "hij", "hun", "ik", "in", "is", "je", "kon", "maar", "met", "naar", "niet", "nog", "of",
        "om", "ook", "op", "over", "te", "toen", "uit", "van", "voor", "waren", "was", "werd", "ze", "zich", "zij",
        "zijn", "zo",
    ]),
];

/// The language of a text, unless it is English or too short to tell.
pub(super) fn find(text: &str, words: &[String]) -> Option<Language> {
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    let other = letters().filter(|c| !is_latin(*c)).count();
    if other as f64 > OTHER_LETTERS * letters().count() as f64 {
        return Some(Language::OtherLetters);
    }
    if words.len() < FEWEST_WORDS {
        return None;
    }
    let share = |is_one: &dyn Fn(&str) -> bool| {
        words.iter().filter(|word| is_one(word)).count() as f64 / words.len() as f64
    };
    let english = share(&|word| is_english(word));
    if english >= ENGLISH {
        return None;
    }
    let mut best = (NAMED.max(english), None);
    for (language, list) in SMALL_WORDS {
        let found = share(&|word| list.contains(&word));
        if found > best.0 {
            best = (found, Some(language));
        }
    }
    best.1.or((english < NOT_ENGLISH).then_some(Language::Unknown))
}

/// Whether a word is a small word of English, also as the first part of a contraction: "didn't".
fn is_english(word: &str) -> bool {
    is_stop_word(word) || word.split_once('\'').is_some_and(|(first, _)| is_stop_word(first))
}

fn is_latin(c: char) -> bool {
    matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff21}'..='\u{ff5a}')
}
