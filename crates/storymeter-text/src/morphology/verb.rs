//! Inflects verbs, and finds the base of an inflected form.
//!
//! Forms are made by the regular spelling rules and a table of irregular verbs
//! (`data/irregular_verbs.txt`). To find a base, the rules are undone in every possible way; a
//! candidate counts if WordNet lists it as a verb and if it gives the form again. So "hoped" is a
//! form of "hope", because the past form of "hop" is "hopped".

use std::borrow::Cow;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::spelling::{
    ends_in_consonant_y, ends_in_vowel_consonant, in_case_of, is_vowel, syllables, without_doubled,
};
use crate::lexicon::{PartOfSpeech, compiled, lower_case};

/// The forms of an English verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerbForm {
    /// "go"; also the present tense of all persons but the third singular.
    Base,
    /// "goes"
    ThirdSingular,
    /// "went"
    Past,
    /// "gone"
    PastParticiple,
    /// "going"
    Gerund,
}

impl VerbForm {
    /// All five.
    pub const ALL: [Self; 5] =
        [Self::Base, Self::ThirdSingular, Self::Past, Self::PastParticiple, Self::Gerund];

    /// The form that a Penn Treebank tag names; `None` for modals and for tags of other words.
    pub fn from_penn(tag: &str) -> Option<Self> {
        match tag {
            "VB" | "VBP" => Some(Self::Base),
            "VBZ" => Some(Self::ThirdSingular),
            "VBD" => Some(Self::Past),
            "VBN" => Some(Self::PastParticiple),
            "VBG" => Some(Self::Gerund),
            _ => None,
        }
    }
}

/// A verb whose present tense is irregular too: base, third singular, past, participle, and all
/// other forms with what they are.
type Special =
    (&'static str, &'static str, &'static str, &'static str, &'static [(&'static str, VerbForm)]);
const SPECIAL: [Special; 3] = [
    (
        "be",
        "is",
        "was",
        "been",
        &[
            ("am", VerbForm::Base),
            ("are", VerbForm::Base),
            ("'m", VerbForm::Base),
            ("'re", VerbForm::Base),
            ("'s", VerbForm::ThirdSingular),
            ("were", VerbForm::Past),
        ],
    ),
    ("have", "has", "had", "had", &[("'ve", VerbForm::Base), ("'d", VerbForm::Past)]),
    ("do", "does", "did", "done", &[]),
];

struct Irregular {
    past: Vec<&'static str>,
    participle: Vec<&'static str>,
}

struct Tables {
    by_base: HashMap<&'static str, Irregular>,
    by_form: HashMap<&'static str, Vec<(&'static str, VerbForm)>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { by_base: HashMap::new(), by_form: HashMap::new() };
    for line in include_str!("../../data/irregular_verbs.txt").lines() {
        let mut fields = line.split(' ');
        let (Some(base), Some(past), Some(participle), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let verb = Irregular {
            past: past.split('/').collect(),
            participle: participle.split('/').collect(),
        };
        for (forms, kind) in
            [(&verb.past, VerbForm::Past), (&verb.participle, VerbForm::PastParticiple)]
        {
            for &form in forms {
                tables.by_form.entry(form).or_default().push((base, kind));
            }
        }
        tables.by_base.insert(base, verb);
    }
    for (base, third, past, participle, others) in SPECIAL {
        let regular = [
            (third, VerbForm::ThirdSingular),
            (past, VerbForm::Past),
            (participle, VerbForm::PastParticiple),
        ];
        for &(form, kind) in regular.iter().chain(others) {
            tables.by_form.entry(form).or_default().push((base, kind));
        }
    }
    tables
});

/// Inflects a verb, in the letter case of its base.
///
/// ```
/// use storymeter_text::morphology::verb::{VerbForm, inflect};
/// assert_eq!(inflect("go", VerbForm::Past), "went");
/// assert_eq!(inflect("Stop", VerbForm::Gerund), "Stopping");
/// assert_eq!(inflect("be", VerbForm::ThirdSingular), "is");
/// ```
pub fn inflect(base: &str, form: VerbForm) -> String {
    let lower = lower_case(base);
    in_case_of(base, Cow::Owned(inflect_lower(&lower, form))).into_owned()
}

fn inflect_lower(base: &str, form: VerbForm) -> String {
    if let Some((_, third, past, participle, _)) = SPECIAL.iter().find(|special| special.0 == base)
    {
        match form {
            VerbForm::ThirdSingular => return (*third).to_owned(),
            VerbForm::Past => return (*past).to_owned(),
            VerbForm::PastParticiple => return (*participle).to_owned(),
            VerbForm::Base | VerbForm::Gerund => {}
        }
    }
    if let Some(verb) = TABLES.by_base.get(base) {
        match form {
            VerbForm::Past => return verb.past[0].to_owned(),
            VerbForm::PastParticiple => return verb.participle[0].to_owned(),
            VerbForm::Base | VerbForm::ThirdSingular | VerbForm::Gerund => {}
        }
    }
    match form {
        VerbForm::Base => base.to_owned(),
        VerbForm::ThirdSingular => third_singular(base),
        VerbForm::Past | VerbForm::PastParticiple => regular_past(base),
        VerbForm::Gerund => gerund(base),
    }
}

fn third_singular(base: &str) -> String {
    let hissing = ["s", "x", "z", "ch", "sh"].iter().any(|ending| base.ends_with(ending));
    if ends_in_consonant_y(base) {
        format!("{}ies", &base[..base.len() - 1])
    } else if (base.ends_with('z') || base.ends_with('s')) && doubles(base) {
        format!("{base}{}es", &base[base.len() - 1..])
    } else if (hissing && base != "stomach") || ends_in_consonant_o(base) {
        format!("{base}es")
    } else {
        format!("{base}s")
    }
}

fn ends_in_consonant_o(base: &str) -> bool {
    let bytes = base.as_bytes();
    bytes.len() > 1 && bytes.ends_with(b"o") && !is_vowel(bytes, bytes.len() - 2)
}

fn regular_past(base: &str) -> String {
    if base.ends_with('e') {
        format!("{base}d")
    } else if ends_in_consonant_y(base) {
        format!("{}ied", &base[..base.len() - 1])
    } else {
        with_vowel_ending(base, "ed")
    }
}

fn gerund(base: &str) -> String {
    // The e is kept if it is a vowel sound (see, hoe, dye) or softens the g of -inge (singe).
    let keeps_e = ["ee", "oe", "ye", "inge"].iter().any(|ending| base.ends_with(ending))
        && !["cringe", "fringe", "hinge", "infringe", "impinge"].contains(&base);
    if base.len() > 2 && base.ends_with("ie") {
        format!("{}ying", &base[..base.len() - 2])
    } else if base.len() > 2 && base.ends_with('e') && !keeps_e {
        format!("{}ing", &base[..base.len() - 1])
    } else {
        with_vowel_ending(base, "ing")
    }
}

/// Appends an ending to the base. Doubles the last consonant or adds a k if the spelling needs it.
fn with_vowel_ending(base: &str, ending: &str) -> String {
    if doubles(base) {
        format!("{base}{}{ending}", &base[base.len() - 1..])
    } else if base.ends_with("ic") || base.ends_with("ac") {
        format!("{base}k{ending}")
    } else {
        format!("{base}{ending}")
    }
}

/// Verbs that end in -l and are stressed on the last syllable. American English doubles no other l.
#[rustfmt::skip]
const STRESSED_L: [&str; 20] = [
    "annul", "appal", "cabal", "compel", "control", "decontrol", "dispel", "distil", "enrol", "enthral", "excel",
    "expel", "extol", "fulfil", "impel", "instil", "patrol", "propel", "rebel", "repel",
];

/// Verbs that WordNet lists with a doubled consonant, but American English mostly writes with one.
const UNSTRESSED: [&str; 7] =
    ["ballot", "bayonet", "benefit", "combat", "gossip", "hiccup", "worship"];

/// Whether the final consonant is doubled before -ed and -ing.
///
/// It is in words of one syllable, and in longer words that are stressed on the last one. WordNet's
/// list of exceptions has the longer ones; its British spellings are left out here.
fn doubles(base: &str) -> bool {
    if !ends_in_vowel_consonant(base) {
        return false;
    }
    let last = base.as_bytes()[base.len() - 1];
    if syllables(base) == 1 {
        return base != "bus" && last != b'c';
    }
    match last {
        b'l' => STRESSED_L.contains(&base),
        b'c' | b's' => false,
        _ => {
            let listed = |ending: &str| {
                compiled::find(&format!("{base}{}{ending}", char::from(last))).is_some_and(
                    |entry| entry.exceptions(PartOfSpeech::Verb).words().any(|verb| verb == base),
                )
            };
            // Irregular verbs such as "begin" have no form in -ed.
            !UNSTRESSED.contains(&base)
                && (listed("ed") || listed("ing") || is_prefixed_short_verb(base))
        }
    }
}

/// Whether the verb is a prefix and a verb of one syllable: "unclip", "replan".
fn is_prefixed_short_verb(base: &str) -> bool {
    ["un", "re", "over", "under", "out", "mis", "fore"].iter().any(|prefix| {
        base.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() > 2 && syllables(rest) == 1 && verb_usage(rest).is_some()
        })
    })
}

/// The base of a verb form, in its letter case. If it is a form of several verbs ("lay", "found"),
/// the most used of them is taken.
///
/// ```
/// use storymeter_text::morphology::verb::base;
/// assert_eq!(base("hoped"), "hope");
/// assert_eq!(base("hopped"), "hop");
/// assert_eq!(base("Went"), "Go");
/// ```
pub fn base(form: &str) -> Cow<'_, str> {
    base_of(form, None)
}

/// The base of a word that is known to be this form of a verb: "found" is the past form of "find",
/// and a base of its own.
///
/// ```
/// use storymeter_text::morphology::verb::{VerbForm, base_as};
/// assert_eq!(base_as("found", VerbForm::Past), "find");
/// assert_eq!(base_as("found", VerbForm::Base), "found");
/// ```
pub fn base_as(word: &str, form: VerbForm) -> Cow<'_, str> {
    base_of(word, Some(form))
}

fn base_of(word: &str, form: Option<VerbForm>) -> Cow<'_, str> {
    match lower_case(word) {
        Cow::Borrowed(lower) => base_of_lower(lower, form),
        Cow::Owned(lower) => in_case_of(word, Cow::Owned(base_of_lower(&lower, form).into_owned())),
    }
}

fn base_of_lower(word: &str, form: Option<VerbForm>) -> Cow<'_, str> {
    if let Some(rest) = word.strip_prefix('’') {
        return Cow::Owned(base_of_lower(&format!("'{rest}"), form).into_owned());
    }
    // If the word is known only as another form, that is better than a guess.
    known_base(word, form)
        .or_else(|| form.and_then(|_| known_base(word, None)))
        .unwrap_or_else(|| Cow::Owned(guessed_base(word, form)))
}

/// One way to read a word as a form of a verb.
struct Reading<'a> {
    base: Cow<'a, str>,
    form: VerbForm,
    rank: Rank,
}

/// How good a reading is. Among equally good ones, the most used verb wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The rules were undone, but applying them gives another spelling.
    Regular,
    /// WordNet lists the form as an exception. These are British and rare spellings.
    Exception,
    /// The rules give exactly this form.
    SpeltAlike,
    /// The word itself is a base, or it is a form of an irregular verb: "feed" is not a form of
    /// "fee", and "skied" not one of "sky".
    Listed,
}

/// The base of a lower-case form among the verbs of WordNet and of the table of irregular verbs:
/// the best by rank, then the most used verb, then the earlier reading.
pub(crate) fn known_base<'a>(word: &'a str, form: Option<VerbForm>) -> Option<Cow<'a, str>> {
    let mut known: Vec<(Reading<'a>, u8)> = Vec::with_capacity(4);
    let mut consider = |reading: Reading<'a>| {
        // A regular past form is a participle as well.
        let wanted = form.is_none_or(|form| {
            let participle = form == VerbForm::PastParticiple && reading.form == VerbForm::Past;
            form == reading.form || (participle && reading.rank != Rank::Listed)
        });
        if wanted && let Some(usage) = verb_usage(&reading.base) {
            known.push((reading, usage));
        }
    };
    for &(base, form) in TABLES.by_form.get(word).into_iter().flatten() {
        consider(Reading { base: Cow::Borrowed(base), form, rank: Rank::Listed });
    }
    consider(Reading { base: Cow::Borrowed(word), form: VerbForm::Base, rank: Rank::Listed });
    for_each_regular_reading(word, &mut consider);
    if let Some(entry) = compiled::find(word) {
        let form = if word.ends_with("ing") {
            VerbForm::Gerund
        } else if word.ends_with('s') {
            VerbForm::ThirdSingular
        } else {
            VerbForm::Past
        };
        for base in entry.exceptions(PartOfSpeech::Verb).words() {
            consider(Reading { base: Cow::Borrowed(base), form, rank: Rank::Exception });
        }
    }
    if known.len() > 1 {
        for (reading, _) in &mut known {
            if reading.rank == Rank::Regular && inflect_lower(&reading.base, reading.form) == word {
                reading.rank = Rank::SpeltAlike;
            }
        }
    }
    // `max_by_key` takes the last of equals.
    known
        .into_iter()
        .rev()
        .max_by_key(|(reading, usage)| (reading.rank, *usage))
        .map(|(reading, _)| reading.base)
}

fn verb_usage(base: &str) -> Option<u8> {
    super::usage(base, PartOfSpeech::Verb)
        .or_else(|| TABLES.by_base.contains_key(base).then_some(0))
}

/// All ways to undo the regular spelling rules. The likelier ones come first.
fn for_each_regular_reading<'a>(word: &'a str, take: &mut impl FnMut(Reading<'a>)) {
    let mut read = |base, form| take(Reading { base, form, rank: Rank::Regular });
    if let Some(stem) = word.strip_suffix("ed").filter(|stem| !stem.is_empty()) {
        if let Some(stem) = stem.strip_suffix('i').filter(|stem| stem.len() > 1) {
            read(Cow::Owned([stem, "y"].concat()), VerbForm::Past);
        }
        read(Cow::Borrowed(&word[..word.len() - 1]), VerbForm::Past);
        for_each_stem(stem, |base| read(Cow::Borrowed(base), VerbForm::Past));
    } else if let Some(stem) = word.strip_suffix("ing").filter(|stem| !stem.is_empty()) {
        if let Some(stem) = stem.strip_suffix('y').filter(|stem| !stem.is_empty()) {
            read(Cow::Owned([stem, "ie"].concat()), VerbForm::Gerund);
        }
        read(Cow::Owned([stem, "e"].concat()), VerbForm::Gerund);
        for_each_stem(stem, |base| read(Cow::Borrowed(base), VerbForm::Gerund));
    } else if let Some(stem) = word.strip_suffix('s').filter(|stem| stem.len() > 1) {
        if let Some(stem) = stem.strip_suffix("ie").filter(|stem| stem.len() > 1) {
            read(Cow::Owned([stem, "y"].concat()), VerbForm::ThirdSingular);
        }
        read(Cow::Borrowed(stem), VerbForm::ThirdSingular);
        if let Some(stem) = stem.strip_suffix('e') {
            for_each_stem(stem, |base| read(Cow::Borrowed(base), VerbForm::ThirdSingular));
        }
    }
}

/// All stems that may stand before an ending that begins with a vowel: with one consonant instead
/// of two, without a final k, and unchanged.
fn for_each_stem<'a>(stem: &'a str, mut take: impl FnMut(&'a str)) {
    if let Some(single) = without_doubled(stem) {
        take(single);
    }
    if let Some(hard) = stem.strip_suffix('k').filter(|hard| hard.ends_with('c')) {
        take(hard);
    }
    take(stem);
}

/// The base of an unknown verb: the reading whose spelling is the most common in English.
fn guessed_base(word: &str, form: Option<VerbForm>) -> String {
    let mut readings = Vec::new();
    for_each_regular_reading(word, &mut |reading: Reading<'_>| {
        let read = match form {
            Some(VerbForm::PastParticiple) => Some(VerbForm::Past),
            other => other,
        };
        let possible = read.is_none_or(|form| form == reading.form) && syllables(&reading.base) > 0;
        if possible && inflect_lower(&reading.base, reading.form) == word {
            readings.push(reading.base.into_owned());
        }
    });
    let likely = |base: &&String| match base.strip_suffix('e') {
        // An e is added for google, inflate, digitise, solve, judge and argue, but not for blorp,
        // zonk or fest.
        Some(stem) => {
            let single = stem.ends_with(|c| "cgsuvz".contains(c))
                && without_doubled(stem).is_none()
                && !stem.ends_with("ng");
            let cluster = stem.len() > 1
                && stem.ends_with('l')
                && !is_vowel(stem.as_bytes(), stem.len() - 2)
                && !stem.ends_with("ll");
            single
                || cluster
                || (ends_in_vowel_consonant(stem) && !stem.ends_with("er") && !stem.ends_with("en"))
        }
        None => true,
    };
    let found = readings.iter().find(likely).or(readings.first());
    found.cloned().unwrap_or_else(|| word.to_owned())
}
