//! Typos: a few letters are mistyped, and a reader still knows every word.
//!
//! - `letters`: one letter in fifty, at least one, is exchanged with the next one (with
//!   probability one half), doubled or left out (one quarter each).
//!
//! The released code mistypes any character, blanks and marks too. Here only letters inside words
//! of four letters or more are mistyped, at most once per word, and the first letter stays. Only
//! words of the lexicon are mistyped, because a mistyped name is another name, and the result is
//! never another word of English: "form" for "from" would change the meaning.

use std::collections::BTreeMap;
use std::ops::Range;

use storymeter_core::Story;
use storymeter_core::rng::ChaCha8Rng;
use storymeter_text::Span;
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::{Tag, Tagger};

use super::passage::Passage;
use super::{Plan, Sources};
use crate::draft::{Change, replaced};
use crate::draw::Draw;

/// The share of characters that are mistyped at most.
const SHARE: f64 = 0.02;

/// The length in characters of the part that may be changed, below which there is only one typo.
const SHORT: usize = 150;

/// The number of letters in the shortest word that is mistyped.
const SHORTEST_WORD: usize = 4;

/// How often a place is drawn for each typo.
const ATTEMPTS: usize = 20;

pub fn plan(passage: &Passage<'_>, draw: &mut Draw, sources: &Sources<'_>) -> Option<Plan> {
    let made = typos(passage, passage.open(), draw, sources.lexicon);
    (!made.is_empty()).then(|| Plan::new("letters", made))
}

/// The text with a few letters mistyped, by the rule of [`Aspect::Typo`](storymeter_core::Aspect):
/// at most one letter in fifty, and at least one if the text has a word that can be mistyped. The
/// first sentence is mistyped like the others. The same stream always gives the same typos.
///
/// ```
/// use storymeter_core::rng::StreamId;
/// use storymeter_perturb::aspect::mistyped;
/// use storymeter_text::{lexicon::Lexicon, tagger::Tagger};
///
/// let stream = StreamId::Draw { record: 0, draw: 0 }.rng(7);
/// let text = mistyped("The garden was wet.", Lexicon::embedded(), Tagger::embedded(), stream);
/// assert!(text.starts_with("The g") && text != "The garden was wet.");
/// ```
pub fn mistyped(text: &str, lexicon: &Lexicon, tagger: &Tagger, stream: ChaCha8Rng) -> String {
    let story = Story::from(text);
    let passage = Passage::new(&story, tagger, lexicon);
    let made = typos(&passage, 0..passage.len(), &mut Draw::new(stream), lexicon);
    replaced(text, &made).0
}

/// The typos in some sentences, in the order of the text.
fn typos(
    passage: &Passage<'_>,
    sentences: Range<usize>,
    draw: &mut Draw,
    lexicon: &Lexicon,
) -> Vec<Change> {
    let mut words: Vec<(usize, Span)> = Vec::new();
    let mut length = 0;
    for sentence in sentences {
        length += passage.sentence(sentence).chars().count();
        let tokens = passage.tokens(sentence);
        words.extend(tokens.tokens.iter().filter_map(|token| {
            let word = token.span.of(passage.text);
            let is_placeholder = passage.text[..token.span.start].ends_with('[');
            let fits = word.chars().count() >= SHORTEST_WORD
                && word.chars().all(char::is_alphabetic)
                && !is_placeholder
                && !matches!(token.tag, Tag::Add | Tag::Nnp | Tag::Nnps)
                && lexicon.is_known_form(word);
            fits.then_some((sentence, token.span))
        }));
    }
    let most = ((SHARE * length as f64) as usize).max(2) - 1;
    let count = if length < SHORT { 1 } else { draw.between(1, most) };
    // In the order of the text, and one typo per word.
    let mut made: BTreeMap<usize, Change> = BTreeMap::new();
    for _ in 0..count {
        for _ in 0..ATTEMPTS {
            let Some(&(sentence, span)) = draw.pick(&words) else { return Vec::new() };
            if made.contains_key(&span.start) {
                continue;
            }
            let word = span.of(passage.text);
            let after = mistyped_word(word, draw);
            if after != word && !lexicon.is_known_form(&after) {
                made.insert(span.start, Change { sentence, span, after });
                break;
            }
        }
    }
    made.into_values().collect()
}

fn mistyped_word(word: &str, draw: &mut Draw) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    // The first letter stays, and the last one has no next one to change places with.
    let at = draw.between(1, letters.len() - 2);
    match draw.below(4) {
        0 | 1 => letters.swap(at, at + 1),
        // A letter less is hard to guess in a short word.
        _ if letters.len() == SHORTEST_WORD => letters.insert(at, letters[at]),
        2 => letters.insert(at, letters[at]),
        _ => {
            letters.remove(at);
        }
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use storymeter_core::rng::StreamId;

    use super::*;

    fn typed(text: &str, record: u64) -> String {
        let stream = StreamId::Draw { record, draw: 0 }.rng(3);
        mistyped(text, Lexicon::embedded(), Tagger::embedded(), stream)
    }

    #[test]
    fn a_whole_text_has_one_typo_in_fifty_letters_at_most_and_its_first_sentence_too() {
        let text = "[FEMALE] wanted another garden behind the house. Robert walked to the market \
                    and bought seven little trees. They planted them before the winter came. In \
                    the spring every flower was yellow, and their neighbours admired them.";
        let lexicon = Lexicon::embedded();
        let before: Vec<&str> = text.split(' ').collect();
        let (mut in_the_first_sentence, mut counts) = (false, [0; 4]);
        for record in 0..200 {
            let after = typed(text, record);
            assert_eq!(after, typed(text, record), "the same stream gives the same typos");
            let after: Vec<&str> = after.split(' ').collect();
            assert_eq!(after.len(), before.len());
            let changed: Vec<usize> =
                (0..before.len()).filter(|i| before[*i] != after[*i]).collect();
            for &at in &changed {
                let word = |word: &'static str| word.trim_matches(['.', ',']);
                let is_new = !lexicon.is_known_form(after[at].trim_matches(['.', ',']));
                assert!(is_new && word(before[at]).len() >= SHORTEST_WORD, "{after:?}");
                assert!(!["[FEMALE]", "Robert"].contains(&before[at]), "{after:?}");
                in_the_first_sentence |= at < 7;
            }
            counts[changed.len()] += 1;
        }
        assert!(in_the_first_sentence);
        assert!(counts[0] == 0 && counts[1..].iter().all(|count| *count > 0), "{counts:?}");
    }

    #[test]
    fn a_text_without_a_word_to_mistype_stays() {
        for text in ["", "He ran.", "[MALE] met Robert. So did I!"] {
            assert_eq!(typed(text, 1), text);
        }
    }
}
