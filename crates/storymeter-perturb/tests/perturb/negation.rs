//! The rules of Table 8 of the paper in both directions, and their effect on ordinary sentences.

use storymeter_perturb::negation::{Alteration, alterations};
use storymeter_text::tagger::Tagger;
use storymeter_text::{Span, treebank};

fn found(sentence: &str) -> Vec<Alteration> {
    let tokens: Vec<Span> = treebank::tokenize(sentence).iter().map(|token| token.span).collect();
    let words: Vec<&str> = tokens.iter().map(|token| token.of(sentence)).collect();
    let spaced = sentence.ends_with(" .");
    alterations(sentence, &tokens, &Tagger::embedded().tag(&words), spaced)
}

fn written(sentence: &str, span: Span, after: &str) -> String {
    format!("{}{after}{}", &sentence[..span.start], &sentence[span.end..])
}

/// All sentences that the rules make of this one, long forms first.
fn altered(sentence: &str) -> Vec<String> {
    let found = found(sentence);
    let long = found.iter().map(|a| written(sentence, a.span, &a.plain));
    let short = found.iter().filter_map(|a| Some(written(sentence, a.span, a.short.as_deref()?)));
    long.chain(short).collect()
}

#[track_caller]
fn becomes(sentence: &str, expected: &str) {
    let altered = altered(sentence);
    assert!(
        altered.iter().any(|text| text == expected),
        "{sentence:?} gives {altered:#?}, not {expected:?}"
    );
}

#[test]
fn table_8_comes_out() {
    becomes("Failure was an option.", "Failure was not an option.");
    becomes("I can walk well.", "I can not walk well.");
    becomes("I go through the park.", "I do not go through the park.");
    becomes("He goes through the park.", "He does not go through the park.");
    becomes("He went through the park.", "He did not go through the park.");
    becomes("His insurance rate had gone up.", "His insurance rate had not gone up.");
    becomes("She ended up going elsewhere.", "She ended up not going elsewhere.");
}

#[test]
fn table_8_goes_back() {
    becomes("Failure was not an option.", "Failure was an option.");
    becomes("I can not walk well.", "I can walk well.");
    becomes("I do not go through the park.", "I go through the park.");
    becomes("He does not go through the park.", "He goes through the park.");
    becomes("He did not go through the park.", "He went through the park.");
    becomes("His insurance rate had not gone up.", "His insurance rate had gone up.");
    becomes("She ended up not going elsewhere.", "She ended up going elsewhere.");
}

#[test]
fn the_negation_of_table_3_comes_out() {
    becomes(
        "Ken went several more miles out of his way.",
        "Ken did not go several more miles out of his way.",
    );
}

#[test]
fn short_forms_are_spelt_as_english_spells_them() {
    becomes("He will come.", "He won't come.");
    becomes("He can swim.", "He can't swim.");
    becomes("They were late.", "They weren't late.");
    becomes("She went home.", "She didn't go home.");
    becomes("He won't come.", "He will come.");
    becomes("He can't swim.", "He can swim.");
    becomes("She cannot swim.", "She can swim.");
    becomes("They don't know him.", "They know him.");
    becomes("He hasn't slept.", "He has slept.");
}

#[test]
fn tokenised_text_keeps_its_clitics_apart() {
    becomes("she went home .", "she did n't go home .");
    becomes("he will come .", "he wo n't come .");
    becomes("he did n't like the soup .", "he liked the soup .");
    becomes("he ca n't swim .", "he can swim .");
    becomes("[MALE] was happy .", "[MALE] was n't happy .");
}

#[test]
fn adverbs_stay_where_they_are() {
    becomes("He did not even try.", "He even tried.");
    becomes("She had already left.", "She had not already left.");
}

#[test]
fn capital_letters_move_to_the_new_first_word() {
    becomes("Don't go there.", "Go there.");
    becomes("Did not sleep well.", "Slept well.");
}

#[test]
fn questions_keep_their_order() {
    becomes("Was he late?", "Was he not late?");
    becomes("Was he late?", "Wasn't he late?");
    becomes("Was he not late?", "Was he late?");
}

#[test]
fn a_verb_with_an_auxiliary_is_negated_once() {
    for text in altered("He was going home.") {
        assert!(text == "He was not going home." || text == "He wasn't going home.", "{text}");
    }
    for text in altered("She had to leave.") {
        assert!(!text.contains("had not to") && !text.contains("hadn't to"), "{text}");
    }
}

#[test]
fn what_has_a_negation_does_not_get_another_at_the_same_verb() {
    for sentence in ["He did not go.", "He never went.", "She isn't here."] {
        for alteration in found(sentence) {
            let text = written(sentence, alteration.span, &alteration.plain);
            assert!(!text.contains("not not") && !text.contains("n't not"), "{text}");
            assert!(alteration.removes || !sentence.contains("n't"), "{text}");
        }
    }
}

#[test]
fn a_sentence_without_a_verb_has_nothing_to_alter() {
    assert_eq!(found("A long day."), []);
    assert_eq!(found(""), []);
}

#[test]
fn typographic_apostrophes_stay_typographic() {
    becomes("It’s cold and he went home.", "It’s cold and he didn’t go home.");
    becomes("He didn’t sleep.", "He slept.");
}
