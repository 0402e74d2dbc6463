//! Common sense: events contradict what everybody knows.
//!
//! - `triples`: a noun that a fact of the user's table connects with its verb becomes another noun
//!   of the table that nothing connects with it. With the facts "dog CapableOf bark" and "umbrella
//!   UsedFor rain", "the dog barked" becomes "the umbrella barked".
//!
//! The released code replaces every noun and verb of such a fact by another word of its facts. What
//! is connected with a word tends to fit in its place ("ate food" and "ate pizza"), and verbs in
//! the place of nouns are no English, so few of its examples are against common sense. Here the
//! fact says where to look: at a subject directly before its verb, or at an object directly after
//! it. What stands there instead must be foreign to both, and no person acts in place of a thing.

use std::collections::BTreeSet;

use storymeter_text::lexicon::PartOfSpeech;
use storymeter_text::morphology::noun;
use storymeter_text::tagger::Tag;

use super::character::PERSONS;
use super::consistency::with_article;
use super::passage::{Passage, Words};
use super::{Plan, Sources, Triples};
use crate::draw::Draw;
use crate::style::match_case;

/// The largest number of words that change.
const MOST: usize = 2;

/// How often another noun is drawn until one is foreign enough.
const ATTEMPTS: usize = 40;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let triples = sources.triples?;
    let mut places = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        // "Never ate the moon" and "like a moon" are no nonsense.
        let harmless = ["not", "n't", "never", "like", "no"];
        if (0..words.len()).any(|at| words.is(at, &harmless)) {
            continue;
        }
        places.extend((0..words.len()).filter_map(|at| {
            let verb = connected_verb(&words, at, triples)?;
            Some((sentence, at, verb))
        }));
    }
    draw.shuffle(&mut places);
    let mut changes = Vec::new();
    for (sentence, at, verb) in places {
        if changes.len() == MOST {
            break;
        }
        let words = passage.tokens(sentence);
        let own = &words.keyword(at)?.lemma;
        if let Some(other) = foreign_noun(passage, draw, sources, (own, verb)) {
            let form = match words.tag(at)? {
                Tag::Nns => noun::plural(other),
                _ => other.to_owned(),
            };
            let after = match_case(&form, words.word(at));
            changes.push(with_article(&words, sentence, at, after));
        }
    }
    changes.sort_by_key(|change| change.span.start);
    (!changes.is_empty()).then(|| Plan::new("triples", changes))
}

/// The lemma of the verb that a noun stands beside, as its subject or object, if a fact connects
/// the two.
fn connected_verb<'a>(words: &Words<'a>, at: usize, triples: &Triples) -> Option<&'a str> {
    let noun = words.keyword(at)?;
    let is_part = words.tag(at + 1).is_some_and(Tag::is_noun)
        || words.tag_before(at).is_some_and(Tag::is_noun)
        || matches!(words.word(at + 1), "-" | "'s" | "’s");
    // "Drank water" has no article, and "drank hospital" is no English.
    let counted = matches!(words.tag_before(at), Some(Tag::Dt | Tag::Prps))
        || words.tag(at) == Some(Tag::Nns)
        || words.tag_before(at) == Some(Tag::Jj)
            && at > 1
            && matches!(words.tag(at - 2), Some(Tag::Dt | Tag::Prps));
    if !matches!(words.tag(at), Some(Tag::Nn | Tag::Nns)) || is_part || !counted {
        return None;
    }
    let verb_at = |place: usize| {
        let keyword = words.keyword(place)?;
        (keyword.pos == PartOfSpeech::Verb).then_some(keyword.lemma.as_str())
    };
    let connected = |verb: &&str| triples.of(&noun.lemma).iter().any(|other| other == verb);
    // "The dog barked", "the dog quickly barked".
    let next = (at + 1..words.len()).find(|&i| !words.tag(i).is_some_and(Tag::is_adverb));
    let subject = next
        .filter(|&i| matches!(words.tag(i), Some(Tag::Vbd | Tag::Vbz | Tag::Vbp)))
        .and_then(verb_at)
        .filter(connected);
    // "Baked the bread", "baked fresh bread".
    let before = (0..at)
        .rev()
        .find(|&i| !matches!(words.tag(i), Some(Tag::Dt | Tag::Prps | Tag::Jj | Tag::Cd)));
    let is_choosy = |verb: &&str| CHOOSY.contains(verb);
    let object = before.and_then(verb_at).filter(connected).filter(is_choosy);
    subject.filter(|verb| !UNDEMANDING.contains(verb)).or(object)
}

/// A noun of the table that no fact connects with the noun or the verb, directly or by one other
/// word, and that is in no sentence of the story.
fn foreign_noun<'a>(
    passage: &Passage<'_>,
    draw: &mut Draw,
    sources: &Sources<'a>,
    (own, verb): (&str, &str),
) -> Option<&'a str> {
    let triples = sources.triples?;
    let near: BTreeSet<&str> = [own, verb]
        .into_iter()
        .flat_map(|word| triples.of(word))
        .flat_map(|other| triples.of(other).iter().map(String::as_str).chain([other.as_str()]))
        .chain([own, verb])
        .collect();
    (0..ATTEMPTS).find_map(|_| {
        let word = draw.pick(triples.things())?.as_str();
        // "Teeth", "clothes" and "riding" have no singular, or name no thing.
        let countable = !word.ends_with('s')
            && !word.ends_with("ing")
            && noun::lemma(word) == word
            && !UNCOUNTED.contains(&word);
        let fits = countable
            && !near.contains(word)
            && !PERSONS.contains(&word)
            && is_noun(word, sources)
            && !(0..passage.len()).any(|at| passage.tokens(at).has_keyword(word));
        fits.then_some(word)
    })
}

/// Whether a word is a noun at least three times as often as a verb or an adjective.
fn is_noun(word: &str, sources: &Sources<'_>) -> bool {
    let uses =
        |pos| -> u32 { sources.lexicon.senses(word, pos).iter().map(|sense| sense.count).sum() };
    let noun = uses(PartOfSpeech::Noun);
    let others = uses(PartOfSpeech::Verb) + uses(PartOfSpeech::Adjective);
    sources.lexicon.is_keyword(word, PartOfSpeech::Noun) && noun > 0 && noun >= 3 * others
}

/// Verbs that few things can be the object of.
#[rustfmt::skip]
const CHOOSY: &[&str] = &[
    "bake", "bite", "chew", "cook", "drink", "eat", "feed", "fly", "hire", "kick", "kiss", "knit",
    "marry", "mow", "pet", "read", "ride", "sew", "sing", "smoke", "swallow", "type",
    "wear", "write",
];

/// Verbs that nearly everything can be the subject of.
#[rustfmt::skip]
const UNDEMANDING: &[&str] = &[
    "arrive", "be", "begin", "break", "burn", "close", "come", "cost", "drive", "end", "fall",
    "get", "go", "grow", "have", "help", "hit", "hurt", "leave", "look", "make", "move", "need",
    "open", "play", "ride", "seem", "start", "stay", "stop", "travel", "turn", "wait", "win",
    "work",
];

/// Nouns that have no plural, or that name no thing.
#[rustfmt::skip]
const UNCOUNTED: &[&str] = &[
    "accident", "beer", "bone", "coffee", "cold", "computer", "drunk", "food", "fun", "homework",
    "juice", "milk", "money", "mountain", "music", "news", "paint", "rain", "short", "soccer",
    "surgery", "tea", "water", "work",
];
