//! Finds all lemmas of a form by WordNet's own rules, as NLTK applies them.
//!
//! The other modules choose the most likely lemma. This one gives every lemma that WordNet's rules
//! of detachment lead to, because metrics that compare all senses of a word need them all.

use crate::lexicon::{PartOfSpeech, compiled};

/// The endings of a part of speech, each with its replacement.
fn endings(pos: PartOfSpeech) -> &'static [(&'static str, &'static str)] {
    match pos {
        PartOfSpeech::Noun => &[
            ("s", ""),
            ("ses", "s"),
            ("ves", "f"),
            ("xes", "x"),
            ("zes", "z"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("men", "man"),
            ("ies", "y"),
        ],
        PartOfSpeech::Verb => &[
            ("s", ""),
            ("ies", "y"),
            ("es", "e"),
            ("es", ""),
            ("ed", "e"),
            ("ed", ""),
            ("ing", "e"),
            ("ing", ""),
        ],
        PartOfSpeech::Adjective => &[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
        PartOfSpeech::Adverb => &[],
    }
}

/// Whether WordNet lists a form as an exception only so that its ending is kept: "bed" is not the
/// past form of "be".
fn is_kept_whole(form: &str, pos: PartOfSpeech) -> bool {
    let kept = match pos {
        PartOfSpeech::Noun => "anabases anus arses fortes gas genus gps his irs is",
        PartOfSpeech::Verb => {
            "bed bing bitted bitting co-opted co-opting co-opts popes seed sulphuretted sulphuretting taxis \
         testes weed"
        }
        PartOfSpeech::Adjective => {
            "acer after all-arounder archer backer bayer beater boner bother bounder britisher buster camper cer \
         coder counterfeiter cracker customer dimer downer dresser easter eastsider faker feller first-rater \
         first-stringer flasher fore-and-after foreigner forest founder goer goner guest halter homer insider \
         jointer layer leer left-hander left-winger ler leveler liter liver loather loner lowlander mainer \
         maligner mariner matter meeter milcher minter mocker modeler modest multiplexer muster \
         northeasterner norther northerner number old-timer oliver opener outsider overnighter owner \
         part-timer passer paster pater pedaler peter planer plumber polisher porter presenter pretender \
         primer privateer prompter puffer ranker right-hander right-winger roaster rusher salter second-rater \
         seconder serer signaler signer skewer slaver sneaker snuffer solder souther southerner spreader \
         stapler starer starest stocker stretcher submariner teenager teetotaler third-rater toper trimer \
         vest waster welsher wholesaler"
        }
        PartOfSpeech::Adverb => "",
    };
    kept.split(' ').any(|word| word == form)
}

/// Every single-word lemma that a lower-case form may have as this part of speech, without repeats.
/// The form itself may be one of them.
///
/// An irregular form has the lemmas of WordNet's list of exceptions. For any other form, they
/// follow from its endings.
///
/// ```
/// use storymeter_text::lexicon::PartOfSpeech;
/// use storymeter_text::morphology::lemmas;
/// assert_eq!(lemmas("axes", PartOfSpeech::Noun), ["ax", "axis"]);
/// assert_eq!(lemmas("hoping", PartOfSpeech::Verb), ["hope", "hop"]);
/// ```
pub fn lemmas(form: &str, pos: PartOfSpeech) -> Vec<String> {
    let exceptions: Vec<&str> = compiled::find(form)
        .map(|entry| entry.exceptions(pos).words().collect())
        .unwrap_or_default();
    let mut candidates = vec![form.to_owned()];
    if is_kept_whole(form, pos) {
        // The form itself is the only lemma.
    } else if exceptions.is_empty() {
        let detach =
            |(ending, other): &(&str, &str)| Some(format!("{}{other}", form.strip_suffix(ending)?));
        candidates.extend(endings(pos).iter().filter_map(detach));
    } else {
        candidates.extend(exceptions.into_iter().map(str::to_owned));
    }
    let mut found: Vec<String> = Vec::new();
    for candidate in candidates {
        let known = compiled::find(&candidate).is_some_and(|entry| entry.is_lemma(pos));
        if known && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_is_a_lemma_too_keeps_both() {
        assert_eq!(lemmas("leaves", PartOfSpeech::Noun), ["leaf", "leave"]);
        assert_eq!(lemmas("bed", PartOfSpeech::Verb), ["bed"]);
        assert_eq!(lemmas("better", PartOfSpeech::Adjective), ["better", "good", "well"]);
    }

    #[test]
    fn no_word_has_no_lemma() {
        assert_eq!(lemmas("happi", PartOfSpeech::Adjective), Vec::<String>::new());
        assert_eq!(lemmas("", PartOfSpeech::Noun), Vec::<String>::new());
    }
}
