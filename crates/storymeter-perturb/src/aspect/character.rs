//! Character behaviour: the wrong character acts.
//!
//! - `pronouns`: where at least three pronouns such as "he", "she" and "they" occur in the story,
//!   each of them is replaced everywhere by the same case of another one that occurs.
//! - `roles`: the person who acts and the thing that is acted on change places. "She ate the cake"
//!   becomes "The cake ate her".
//!
//! Each rule is tried first with probability one half. The released code finds subjects and objects
//! with a parser. Here a subject is a pronoun or a name directly before a verb, and an object is
//! the short noun phrase directly after it; things are preferred to persons, because "His friend
//! called him" for "He called his friend" damages nothing. Verbs are made to agree with their new
//! subjects, so that the twin has the wrong characters and no wrong grammar.

use std::ops::Range;

use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::tagger::Tag;

use super::Plan;
use super::passage::{Passage, Words};
use super::pronoun::{Case, Group, pronoun};
use crate::draft::Change;
use crate::draw::Draw;
use crate::style::match_case;

/// The number of pronoun groups from which on pronouns are exchanged.
const FEWEST_GROUPS: usize = 3;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    if draw.chance(0.5) {
        pronouns(passage, draw).or_else(|| roles(passage, draw))
    } else {
        roles(passage, draw).or_else(|| pronouns(passage, draw))
    }
}

fn pronouns(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut groups: Vec<Group> = (0..passage.len())
        .flat_map(|sentence| {
            let words = passage.tokens(sentence);
            (0..words.len()).filter_map(move |at| Some(pronoun(&words, at)?.0))
        })
        .collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.len() < FEWEST_GROUPS {
        return None;
    }
    let others: Vec<Group> = groups
        .iter()
        .map(|&own| {
            let differs = |other: &Group| *other != own && !stands_for(*other, own);
            let other: Vec<Group> = groups.iter().copied().filter(differs).collect();
            draw.pick(&other).copied().unwrap_or(own)
        })
        .collect();
    let mut changes = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        for at in 0..words.len() {
            let Some((group, case)) = pronoun(&words, at) else { continue };
            let Ok(place) = groups.binary_search(&group) else { continue };
            let other = others[place];
            // "Thank you" speaks of nobody in the story.
            if other == group || words.is_before(at, &["thank"]) {
                continue;
            }
            let after = written(passage, other.form(case), words.word(at), at == 0);
            changes.push(Change { sentence, span: words.span(at), after });
            if case == Case::Subject {
                changes.extend(agreeing(passage, sentence, at, group, other));
            }
        }
    }
    (!changes.is_empty()).then(|| Plan::new("pronouns", changes))
}

/// Whether a story may make sense with one pronoun for the other: "they" is said of one person too,
/// "we" includes "I", and what happened to me may as well have happened to her.
fn stands_for(other: Group, own: Group) -> bool {
    let teller = |group: Group| matches!(group, Group::I | Group::We | Group::You);
    let person = |group: Group| matches!(group, Group::He | Group::She | Group::They);
    teller(other) && teller(own)
        || teller(other) && person(own)
        || person(other) && teller(own)
        || other == Group::They && person(own)
        || other == Group::They && own == Group::It
}

/// A pronoun as it is written in this text and at this place.
fn written(passage: &Passage<'_>, form: &str, old: &str, first: bool) -> String {
    match form {
        "I" if passage.style.cased => "I".to_owned(),
        "I" => "i".to_owned(),
        _ if first && old.starts_with(char::is_uppercase) => passage.as_beginning(form),
        // "I" has a capital inside a sentence too.
        _ if old == "I" => form.to_owned(),
        _ => match_case(form, old),
    }
}

/// The change that makes the verb after a pronoun agree with another pronoun.
fn agreeing(
    passage: &Passage<'_>,
    sentence: usize,
    subject: usize,
    old: Group,
    new: Group,
) -> Option<Change> {
    let words = passage.tokens(sentence);
    let at = (subject + 1..words.len()).find(|&i| !words.tag(i).is_some_and(Tag::is_adverb))?;
    let word = words.lower(at);
    let (third, first) = (new.is_third_singular(), new == Group::I);
    let after = match (word.as_ref(), words.tag(at)?) {
        ("was" | "were", _) => if third || first { "was" } else { "were" }.to_owned(),
        ("am" | "is" | "are", _) => if third {
            "is"
        } else if first {
            "am"
        } else {
            "are"
        }
        .to_owned(),
        ("'m" | "'s" | "'re", Tag::Vbp | Tag::Vbz) => {
            let mark = words.word(at).chars().next()?;
            format!(
                "{mark}{}",
                if third {
                    "s"
                } else if first {
                    "m"
                } else {
                    "re"
                }
            )
        }
        ("has" | "have", Tag::Vbp | Tag::Vbz) => if third { "has" } else { "have" }.to_owned(),
        ("'ve", _) if third => "'s".to_owned(),
        ("do" | "does", Tag::Vbp | Tag::Vbz) => if third { "does" } else { "do" }.to_owned(),
        (word, Tag::Vbz) if !third && old.is_third_singular() => {
            verb::base_as(word, VerbForm::ThirdSingular).into_owned()
        }
        (word, Tag::Vbp) if third && !old.is_third_singular() => {
            verb::inflect(word, VerbForm::ThirdSingular)
        }
        _ => return None,
    };
    let after = match_case(&after, words.word(at));
    (after != words.word(at)).then(|| Change { sentence, span: words.span(at), after })
}

/// A clause in which a person does something to a thing.
struct Deed {
    sentence: usize,
    subject: Range<usize>,
    object: Range<usize>,
}

fn roles(passage: &Passage<'_>, draw: &mut Draw) -> Option<Plan> {
    let mut deeds = Vec::new();
    for sentence in passage.open() {
        let words = passage.tokens(sentence);
        deeds.extend((1..words.len()).filter_map(|at| deed(&words, sentence, at)));
    }
    let Deed { sentence, subject, object } =
        (!deeds.is_empty()).then(|| deeds.swap_remove(draw.below(deeds.len())))?;
    let words = passage.tokens(sentence);
    let begins = subject.start == 0;
    let actor = match pronoun(&words, subject.start) {
        Some((group, _)) => match group.form(Case::Object) {
            form if words.word(subject.start).chars().count() > 1
                && words.word(subject.start).chars().all(char::is_uppercase) =>
            {
                form.to_uppercase()
            }
            form => form.to_owned(),
        },
        None => {
            let text = words.text_of(subject.clone());
            let tag = words.tag(subject.start)?;
            if begins { passage.as_inside(text, tag) } else { text.to_owned() }
        }
    };
    let thing = words.text_of(object.clone());
    let thing = if begins { passage.as_beginning(thing) } else { thing.to_owned() };
    Some(Plan::new(
        "roles",
        vec![
            Change { sentence, span: words.span_of(subject), after: thing },
            Change { sentence, span: words.span_of(object), after: actor },
        ],
    ))
}

/// The clause whose verb is at a place, if a person does something to a thing there.
fn deed(words: &Words<'_>, sentence: usize, at: usize) -> Option<Deed> {
    let tag = words.tag(at)?;
    if !matches!(tag, Tag::Vbd | Tag::Vbz) || words.is(at, NO_DEEDS) || words.is_mark(at) {
        return None;
    }
    let subject = subject_before(words, at)?;
    let object = thing_after(words, at + 1)?;
    let head = words.tag(object.end - 1)?;
    // "He eats the cakes" would need "The cakes eat him".
    if tag == Tag::Vbz && head == Tag::Nns {
        return None;
    }
    let follows = words.tag(object.end);
    let ends_well = words.is_mark(object.end)
        || matches!(follows, None | Some(Tag::Rb))
        || follows == Some(Tag::Cc)
            && matches!(words.tag(object.end + 1), Some(Tag::Vbd | Tag::Vbz | Tag::Prp))
        || follows == Some(Tag::In) && !words.is(object.end, &["of", "that", "if", "as", "like"]);
    ends_well.then_some(Deed { sentence, subject, object })
}

/// The pronoun or name directly before a verb, where a clause begins.
fn subject_before(words: &Words<'_>, verb: usize) -> Option<Range<usize>> {
    let last = verb - 1;
    let person = match pronoun(words, last) {
        Some((group, Case::Subject)) => !matches!(group, Group::It | Group::You),
        Some(_) => return None,
        None => words.tag(last) == Some(Tag::Nnp),
    };
    let mut start = last;
    while start > 0 && words.tag(start) == Some(Tag::Nnp) && words.tag(start - 1) == Some(Tag::Nnp)
    {
        start -= 1;
    }
    let opens = start == 0
        || words.is_mark(start - 1)
        || words
            .is_before(start, &["and", "but", "so", "then", "because", "when", "after", "before"]);
    (person && opens).then_some(start..verb)
}

/// The short noun phrase of a thing that begins at a place.
fn thing_after(words: &Words<'_>, start: usize) -> Option<Range<usize>> {
    let mut at = start;
    if words.is(at, &["it"]) {
        return Some(start..start + 1);
    }
    let determined = matches!(words.tag(at), Some(Tag::Dt | Tag::Prps))
        && !words.is(at, &["all", "every", "each", "no", "that", "this", "another", "any"]);
    if !determined {
        return None;
    }
    at += 1;
    while matches!(words.tag(at), Some(Tag::Jj | Tag::Cd)) {
        at += 1;
    }
    let nouns = at;
    while matches!(words.tag(at), Some(Tag::Nn | Tag::Nns)) {
        at += 1;
    }
    let head = at.checked_sub(1)?;
    let lower = words.lower(head);
    let is_person = words.is(head, PERSONS)
        || ["ist", "ian", "man", "men", "woman"].iter().any(|ending| lower.ends_with(ending));
    let is_thing = !is_person && !words.is(head, NO_THINGS);
    (at > nouns && is_thing).then_some(start..at)
}

/// Verbs that say what somebody is, has, thinks or says, or that help another verb, and verbs of
/// which a thing may well be the subject ("hit").
#[rustfmt::skip]
const NO_DEEDS: &[&str] = &[
    "was", "were", "is", "are", "had", "has", "did", "does", "became", "becomes", "seemed",
    "seems", "felt", "feels", "looked", "looks", "stayed", "stays", "remained", "got", "gets",
    "said", "says", "thought", "thinks", "knew", "knows", "told", "tells", "decided", "decides",
    "realized", "realised", "hoped", "wished", "waited", "slept", "turned", "went", "goes",
    "came", "comes", "took", "takes", "spent", "spends", "lived", "lives", "weighed", "cost",
    "lasted", "walked", "meant", "worked", "asked", "let", "made", "makes", "gave", "gives", "'s",
    "'d", "kept", "joined", "hit", "hurt", "struck", "surprised", "scared", "helped", "followed",
    "visited", "met", "saw", "called", "hugged", "kissed", "missed", "caught", "reached",
    "entered", "passed", "touched", "impressed", "excited", "bothered", "annoyed", "killed",
    "woke", "changed",
];

/// Nouns for persons and animals, which can act themselves.
#[rustfmt::skip]
pub const PERSONS: &[&str] = &[
    "mother", "mom", "mum", "father", "dad", "parents", "parent", "brother", "sister", "son",
    "daughter", "wife", "husband", "friend", "friends", "girlfriend", "boyfriend", "girl",
    "girls", "boy", "boys", "man", "men", "woman", "women", "child", "children", "kid", "kids",
    "baby", "teacher", "teachers", "boss", "coach", "doctor", "nurse", "police", "officer", "cop",
    "cops", "neighbor", "neighbors", "neighbour", "neighbours", "grandma", "grandpa",
    "grandmother", "grandfather", "uncle", "aunt", "cousin", "cousins", "class", "team", "family",
    "people", "person", "manager", "owner", "waiter", "waitress", "customer", "customers",
    "student", "students", "dog", "dogs", "cat", "cats", "puppy", "kitten", "horse", "bear",
    "bird", "snake", "spider", "roommate", "classmates", "driver", "thief", "company", "guy",
    "guys", "lady", "niece", "nephew", "babies", "lawyer", "crowd", "group", "couple",
];

/// Nouns for times, ways and places, which nobody acts on.
#[rustfmt::skip]
const NO_THINGS: &[&str] = &[
    "day", "days", "night", "nights", "morning", "evening", "afternoon", "week", "weeks", "month",
    "months", "year", "years", "hour", "hours", "minute", "minutes", "time", "times", "moment",
    "while", "way", "lot", "bit", "home", "weekend", "summer", "winter", "second", "seconds",
    "mile", "miles", "dollars", "decision", "mind", "birthday", "one", "ones", "fun", "age",
];
