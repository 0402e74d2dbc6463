//! Morphology and lexicon answer for any word, and answer consistently.

use proptest::prelude::*;
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::verb::{VerbForm, base, base_as, inflect};
use storymeter_text::morphology::{adjective, noun};

/// Words of any script, with the endings that the rules look for.
fn any_word() -> impl Strategy<Value = String> {
    let stem = prop_oneof![
        "[a-z]{0,8}",
        "[A-Za-z'-]{0,6}",
        "[a-zéßİöñ]{0,4}",
        "\\PC{0,5}",
        "[’'][a-z]{0,3}"
    ];
    let ending = prop_oneof![
        "", "s", "es", "ies", "ed", "ied", "d", "ing", "ying", "er", "est", "ier", "men", "man",
        "y", "e", "c", "o"
    ];
    (stem, ending).prop_map(|(stem, ending)| stem + &ending)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_word_is_refused(word in any_word()) {
        let lexicon = Lexicon::embedded();
        base(&word);
        noun::lemma(&word);
        noun::plural(&word);
        adjective::lemma(&word);
        adjective::comparative(&word);
        adjective::superlative(&word);
        lexicon.is_keyword_word(&word);
        lexicon.synsets_of_form(&word);
        for form in VerbForm::ALL {
            base_as(&word, form);
            inflect(&word, form);
        }
        for pos in PartOfSpeech::ALL {
            lexicon.antonyms(&word, pos);
            lexicon.synonyms(&word, pos);
            prop_assert!(!lexicon.is_keyword(&word, pos) || lexicon.is_keyword_word(&word));
        }
    }

    #[test]
    fn the_guessed_base_of_a_made_up_verb_has_the_form(verb in "[b-df-hj-npr-tv-z][aeiou][a-z]{1,5}") {
        // As a base, what happens to be a form of a known verb (met) goes to that verb.
        for form in VerbForm::ALL.into_iter().skip(1) {
            let word = inflect(&verb, form);
            let found = base_as(&word, form);
            // A form that a real verb does not have can still mean that verb: "falled" means
            // "fall".
            let real = !Lexicon::embedded().synsets(&found).is_empty();
            prop_assert!(real || inflect(&found, form) == word, "{} {}", word, found);
        }
    }
}
