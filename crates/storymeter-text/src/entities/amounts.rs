//! Numbers, dates, times, money, measures and ordinals.

use super::lists::{
    ABOUT, DAYS, LARGE, LONG_TIMES, LONG_UNITS, MEASURES, MONEY, NUMBERS, ORDINALS, SHORT_UNITS,
    TIMES, WHICH,
};
use super::{Label, Word};
use crate::tagger::Tag;

/// The amount or date that begins with a word: its first word, the word after its last, and its
/// kind.
pub(super) fn at(words: &[Word<'_>], at: usize) -> Option<(usize, usize, Label)> {
    let found = with_unit(words, at)
        .or_else(|| clock(words, at))
        .or_else(|| day(words, at))
        .or_else(|| ordinal(words, at))
        .or_else(|| number_alone(words, at))?;
    Some((at, found.0, found.1))
}

fn is(words: &[Word<'_>], at: usize, list: &[&str]) -> bool {
    words.get(at).is_some_and(|word| word.is(list))
}

/// Whether a word is a number in digits or letters: `3,000`, `twenty-five`, `million`.
fn is_number(words: &[Word<'_>], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let digits = word.text.starts_with(|c: char| c.is_ascii_digit())
        && word.text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '/'));
    digits || word.lower.split('-').all(|part| NUMBERS.contains(&part))
}

/// The end of a number of several words: `two hundred and five`, `hundreds of thousands`.
fn number(words: &[Word<'_>], at: usize) -> Option<usize> {
    let article = is(words, at, &["a", "an"]) && is(words, at + 1, &LARGE);
    let mut end = at + usize::from(article);
    if !is_number(words, end) {
        return None;
    }
    while is_number(words, end) {
        end += 1;
        let joined = is(words, end, &["and", "of", "to", "or", "-"]) && is_number(words, end + 1);
        let plural = is(words, end - 1, &["hundreds", "thousands", "millions", "tens", "dozens"]);
        // "one of two" are two numbers, and "hundreds of thousands" is one.
        if joined && (plural || !is(words, end, &["of"])) {
            end += 1;
        }
    }
    Some(end)
}

/// Words such as `about` and `more than` before an amount.
fn inexact(words: &[Word<'_>], at: usize) -> usize {
    if is(words, at, &["more", "less"]) && is(words, at + 1, &["than"]) {
        return at + 2;
    }
    if is(words, at, &["at"]) && is(words, at + 1, &["least", "most"]) {
        return at + 2;
    }
    at + usize::from(is(words, at, &ABOUT))
}

/// A number or a word such as `every` with a unit: `about two years ago`, `the next day`.
fn with_unit(words: &[Word<'_>], at: usize) -> Option<(usize, Label)> {
    if words[at].text == "$" {
        return Some((number(words, at + 1)?, Label::Money));
    }
    let start = inexact(words, at);
    if let Some(end) = number(words, start) {
        if is(words, end, &["%", "percent"]) {
            return Some((end + 1, Label::Percent));
        }
        if is(words, end, &MONEY) {
            return Some((end + 1, Label::Money));
        }
        if is(words, end, &MEASURES) {
            return Some((end + 1, Label::Quantity));
        }
        // "two long years"
        let unit = end + usize::from(words.get(end).is_some_and(|w| w.tag == Tag::Jj));
        return unit_at(words, unit).map(|label| (tail(words, unit + 1), label));
    }
    // "years later"
    if is(words, at, &LONG_UNITS) && is(words, at + 1, &["ago", "later"]) {
        return Some((at + 2, Label::Date));
    }
    // "the last few days", "a couple of hours", "every single night"
    let mut unit = at;
    while is(words, unit, &WHICH) && unit < at + 3 {
        unit += 1;
    }
    if unit == at {
        return None;
    }
    if is(words, unit, &["of"]) && is(words, unit - 1, &["couple"]) {
        unit += 1;
    }
    let whole = is(words, unit, &["single", "whole", "long", "full", "entire"]);
    unit = number(words, unit).unwrap_or(unit + usize::from(whole));
    let label = unit_at(words, unit)?;
    let plain = ["the", "a", "an", "some", "many", "long", "full"];
    let strong = !words[at..unit].iter().all(|word| word.is(&plain));
    // "an hour" is a time, and "a night" and "the second" may be anything.
    let exact = is(words, unit, &["hour", "minute", "day", "week", "month", "year"]);
    (strong || exact || is(words, unit + 1, &["ago"])).then(|| (tail(words, unit + 1), label))
}

fn unit_at(words: &[Word<'_>], at: usize) -> Option<Label> {
    let word = words.get(at)?;
    if word.is(&LONG_UNITS) {
        return Some(Label::Date);
    }
    // "the second door" is no time.
    let counts = word.is(&["second"]) && word.tag != Tag::Nn;
    (word.is(&SHORT_UNITS) && !counts).then_some(Label::Time)
}

/// Words after a date that belong to it: `ago`, `later`, `old`.
fn tail(words: &[Word<'_>], end: usize) -> usize {
    end + usize::from(is(words, end, &["ago", "later", "old", "earlier"]))
}

/// A time of day: `7:30`, `3 pm`, `6 o'clock`.
fn clock(words: &[Word<'_>], at: usize) -> Option<(usize, Label)> {
    let word = &words[at];
    let digit = word.text.starts_with(|c: char| c.is_ascii_digit());
    let halves = word.lower.trim_end_matches(['a', 'p', 'm', '.']);
    let colon = halves.contains(':')
        && halves.split(':').all(|half| half.len() <= 2 && half.parse::<u8>().is_ok());
    let half_of_day = ["am", "pm", "a.m.", "p.m.", "o'clock"];
    if digit && (colon || (halves.len() <= 2 && halves.len() + 2 <= word.lower.len())) {
        return Some((at + 1 + usize::from(is(words, at + 1, &half_of_day)), Label::Time));
    }
    (is_number(words, at) && is(words, at + 1, &half_of_day)).then_some((at + 2, Label::Time))
}

/// A day, a month or a year by name.
fn day(words: &[Word<'_>], at: usize) -> Option<(usize, Label)> {
    let word = &words[at];
    if word.is(&TIMES) {
        return Some((at + 1, Label::Time));
    }
    let which = usize::from(word.is(&["last", "next", "this", "every"]));
    let named = |at: usize| {
        words.get(at).is_some_and(|word| {
            let month = word.text == "May" && at > 0 && is(words, at - 1, &["in", "of", "last"]);
            word.is(&DAYS) || (month && word.has_capital())
        })
    };
    if named(at + which) {
        let mut end = at + which + 1;
        // "tomorrow night", "July 4", "July 4, 1990"
        if is(words, end, &SHORT_UNITS) {
            return Some((end + 1, Label::Time));
        }
        if is_number(words, end) {
            end += 1;
            if is(words, end, &[","]) && is_year(words, end + 1) {
                end += 2;
            }
        }
        return Some((end, Label::Date));
    }
    if is_year(words, at) || word.is(&LONG_TIMES) {
        return Some((at + 1, Label::Date));
    }
    let decade = word.lower.strip_suffix("s").unwrap_or_default().trim_start_matches('\'');
    let tens = decade.len() >= 2 && decade.ends_with('0') && decade.parse::<u16>().is_ok();
    tens.then_some((at + 1, Label::Date))
}

fn is_year(words: &[Word<'_>], at: usize) -> bool {
    let year = words.get(at).and_then(|word| word.text.parse::<u16>().ok());
    year.is_some_and(|year| (1100..2100).contains(&year)) && words[at].text.len() == 4
}

fn ordinal(words: &[Word<'_>], at: usize) -> Option<(usize, Label)> {
    let word = &words[at];
    let digits = word.lower.trim_end_matches(char::is_alphabetic);
    let written = !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && ["st", "nd", "rd", "th"].contains(&&word.lower[digits.len()..]);
    let spelled = word.lower.rsplit('-').next().is_some_and(|last| ORDINALS.contains(&last));
    // "a second" is a time, and "seconds it" a verb.
    let time = word.is(&["second"]) && matches!(word.tag, Tag::Nn | Tag::Vb | Tag::Vbp);
    ((written || spelled) && !time).then_some((at + 1, Label::Ordinal))
}

/// A number without a unit.
fn number_alone(words: &[Word<'_>], at: usize) -> Option<(usize, Label)> {
    let start = inexact(words, at);
    let end = number(words, start)?;
    // "this one", "no one", "the one who": not a number.
    let counts_what = words.get(end).is_some_and(|next| {
        next.tag.is_noun() || next.tag.is_adjective() || next.is(&["of", "more"])
    });
    let pronoun = end == start + 1
        && is(words, start, &["one"])
        && (!counts_what
            || words[start].tag != Tag::Cd
            || (start > 0 && is(words, start - 1, &["no", "this", "that", "the", "which", "any"])));
    let half = end == start + 1 && is(words, start, &["half"]) && words[start].tag == Tag::Rb;
    (!pronoun && !half).then_some((end, Label::Cardinal))
}
