//! Contrasts: what something is not, and then what it is.
//!
//! The patterns look at words and marks alone. They were made by looking at stories of models and
//! of people; `docs/slop.md` says how often each side has them.

use super::words::{Kind, Token, Words};
use super::{Hit, HitKind};

const NOT_BUT: &str = "not X but Y";
const NOT_JUST: &str = "not just X but Y";
const DENIED: &str = "it was not X, it was Y";
const NOT_NOT: &str = "Not X. Not Y.";

/// The most words between the two halves.
const NEAR: usize = 8;
const FAR: usize = 12;

const JUST: [&str; 5] = ["just", "only", "merely", "simply", "solely"];
const PRONOUNS: [&str; 12] =
    ["it", "this", "that", "he", "she", "they", "these", "those", "there", "we", "i", "you"];
/// Pronouns that may stand for the same thing.
const THINGS: [&str; 7] = ["it", "this", "that", "they", "these", "those", "there"];
const BE: [&str; 4] = ["was", "is", "were", "are"];
const NOT_BE: [&str; 4] = ["wasn't", "isn't", "weren't", "aren't"];
const SHORT_BE: [&str; 6] = ["it's", "that's", "he's", "she's", "they're", "this's"];
/// A "not" after one of these denies a verb: "did not leave, but ...".
const AUXILIARIES: [&str; 14] = [
    "do", "does", "did", "can", "could", "would", "will", "should", "have", "has", "had", "might",
    "may", "must",
];

/// All contrasts of a text from left to right. No two share a word.
pub(super) fn find(words: &Words) -> Vec<Hit<'static>> {
    let tokens = words.tokens();
    let (mut hits, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let found = not_but(words, at).or_else(|| denied(words, at)).or_else(|| not_not(words, at));
        let Some((entry, last)) = found else {
            at += 1;
            continue;
        };
        let range = tokens[at].range.start..tokens[last].range.end;
        hits.push(Hit { range, kind: HitKind::Contrast, entry });
        at = last + 1;
    }
    hits
}

type Found = (&'static str, usize);

fn is_end(token: &Token) -> bool {
    matches!(token.kind, Kind::Stop | Kind::Line)
}

/// "not just a door but", "not a door, but". It ends at the "but".
fn not_but(words: &Words, at: usize) -> Option<Found> {
    let word = words.lower(at);
    if word != "not" && !word.ends_with("n't") {
        return None;
    }
    let just = JUST.contains(&words.lower(at + 1));
    let denies_verb = at > 0 && AUXILIARIES.contains(&words.lower(at - 1));
    if !just && (word != "not" || denies_verb) {
        return None;
    }
    let mut between = 0;
    for (place, token) in words.tokens().iter().enumerate().skip(at + 1) {
        match token.kind {
            Kind::Stop | Kind::Line | Kind::Pause => return None,
            Kind::Word if words.lower(place) == "but" => {
                // "He was not hungry, but he ate" is no contrast.
                let clause = PRONOUNS.contains(&words.lower(place + 1));
                let entry = if just { NOT_JUST } else { NOT_BUT };
                return (between > 0 && (just || !clause)).then_some((entry, place));
            }
            Kind::Word => between += 1,
            _ => {}
        }
        if between > if just { FAR } else { NEAR } {
            return None;
        }
    }
    None
}

/// "It wasn't a door. It was", "This isn't a door; it's". It ends at the second verb.
fn denied(words: &Words, at: usize) -> Option<Found> {
    let first = words.lower(at);
    let after = if PRONOUNS.contains(&first) {
        match words.lower(at + 1) {
            verb if NOT_BE.contains(&verb) => at + 2,
            verb if BE.contains(&verb) && words.lower(at + 2) == "not" => at + 3,
            _ => return None,
        }
    } else if SHORT_BE.contains(&first) && words.lower(at + 1) == "not" {
        at + 2
    } else {
        return None;
    };
    let tokens = words.tokens();
    let mut between = 0;
    for (place, token) in tokens.iter().enumerate().skip(after) {
        if token.kind == Kind::Word {
            between += 1;
            if between > FAR {
                return None;
            }
            continue;
        }
        // Marks between the halves, such as quotation marks and empty lines, are skipped.
        let skipped = |t: &&Token| matches!(t.kind, Kind::Quote | Kind::Line);
        let next = place + 1 + tokens[place + 1..].iter().take_while(skipped).count();
        let is_mark = matches!(token.kind, Kind::Comma | Kind::Pause) || is_end(token);
        if is_mark && between > 0 {
            if let Some(last) = affirmed(words, next, first) {
                return Some((DENIED, last));
            }
        }
        if is_end(token) {
            return None;
        }
    }
    None
}

/// The place of the verb of "it was" or "it's" at this place, if it is about the same thing as the
/// first pronoun and no "not" follows.
fn affirmed(words: &Words, at: usize, first: &str) -> Option<usize> {
    let pronoun = |word: &str| word.split('\'').next().unwrap_or_default().to_owned();
    let (before, now) = (pronoun(first), pronoun(words.lower(at)));
    let is_thing = |word: &str| THINGS.contains(&word);
    if now != before && !(is_thing(&now) && is_thing(&before)) {
        return None;
    }
    let last = if SHORT_BE.contains(&words.lower(at)) {
        at
    } else if BE.contains(&words.lower(at + 1)) {
        at + 1
    } else {
        return None;
    };
    (!now.is_empty() && words.lower(last + 1) != "not").then_some(last)
}

/// "Not a door. Not", "Not a door. But". It ends at the first word of the second sentence.
fn not_not(words: &Words, at: usize) -> Option<Found> {
    let tokens = words.tokens();
    if words.lower(at) != "not" || !tokens[at].capital {
        return None;
    }
    let mut between = 0;
    for (place, token) in tokens.iter().enumerate().skip(at + 1) {
        if token.kind == Kind::Stop {
            let next = tokens.get(place + 1)?;
            let follows = ["not", "but", "just", "only"].contains(&words.lower(place + 1));
            return (between > 0 && next.capital && follows).then_some((NOT_NOT, place + 1));
        }
        between += usize::from(token.kind == Kind::Word);
        if is_end(token) || between > FAR {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, &'static str)> {
        let hits = find(&Words::new(text));
        hits.into_iter().map(|hit| (text[hit.range].to_owned(), hit.entry)).collect()
    }

    #[test]
    fn each_construction_is_found() {
        for (text, part, entry) in [
            ("They were not ink, but memory.", "not ink, but", NOT_BUT),
            ("He came not to rob but to pray.", "not to rob but", NOT_BUT),
            ("It isn’t just a map, but a vow", "isn’t just a map, but", NOT_JUST),
            ("It wasn’t peace. It was rain.", "It wasn’t peace. It was", DENIED),
            ("“This is not a charm—it’s a key.”", "This is not a charm—it’s", DENIED),
            ("They were not birds; they were kites", "They were not birds; they were", DENIED),
            ("Not a door. Not a window.", "Not a door. Not", NOT_NOT),
            ("Not forever. But long.", "Not forever. But", NOT_NOT),
        ] {
            assert_eq!(found(text), [(part.to_owned(), entry)], "{text}");
        }
    }

    #[test]
    fn ordinary_denials_are_not_found() {
        for text in [
            "He was not hungry, but he ate.",
            "She did not leave but stayed.",
            "It wasn't late. He was tired of it, though she was not.",
            "It wasn't red. It was not blue.",
            "not. But",
            "It was nothing but rain.",
            "Not now.",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn the_halves_are_near_and_in_one_sentence() {
        assert_eq!(found("not a b c d e f g h but this one"), []);
        assert_eq!(found("not a thing. A but b"), []);
        assert_eq!(found("not a x, but b, not a y, but c").len(), 2);
    }
}
