//! Reordering, which puts effects before their causes.
//!
//! The paper, section 3.2: "Conflicting logic usually results from wrong causal relationship and
//! temporal dependency in the context. Therefore, we randomly reorder the sentences in a story to
//! create negative stories with conflicting plot."
//!
//! Beyond the paper, words can change places inside a sentence: weak models also make mistakes in
//! grammar, which no technique of the paper imitates.

use storymeter_text::Span;
use storymeter_text::tagger::{Tag, Tagger};

use crate::Technique::Reordering;
use crate::draft::{Change, Draft};
use crate::draw::Draw;
use crate::style::{capitalised, uncapitalised};
use crate::words::{ends_a_sentence_inside, words};

/// The number of words in the longest stretch that moves inside a sentence.
const LONGEST: usize = 3;

/// The share of garbled sentences that lose a stretch of words instead of moving it.
const LOST: f64 = 0.3;

/// Puts all sentences but the leading context into a random order.
pub fn paper(draft: &mut Draft, draw: &mut Draw) -> bool {
    let slots: Vec<usize> = draft.open().collect();
    shuffle(draft, draw, &slots)
}

/// Follows the released code: of the L - 1 sentences after the context, 2 to L - 1 change places.
pub fn released_code(draft: &mut Draft, draw: &mut Draw) -> bool {
    let open = draft.open();
    let count = draw.between(2, draft.length_with_context() - 1);
    let mut slots: Vec<usize> =
        draw.distinct(open.len(), count).into_iter().map(|i| i + open.start).collect();
    slots.sort_unstable();
    shuffle(draft, draw, &slots)
}

/// Garbles one or two sentences: two neighbouring stretches of one to three words change places, or
/// the first of them is lost.
///
/// A capital at the beginning of the sentence stays there. Punctuation between the stretches is
/// removed.
pub fn garble(draft: &mut Draft, draw: &mut Draw, tagger: &Tagger) -> bool {
    let count = draw.between(1, 2);
    draft.change_some(Reordering, draw, count, |draft, draw, sentence| {
        garbling(draft, draw, sentence, tagger)
    })
}

/// The change that garbles a sentence; `None` if it has fewer than five words, or a full stop
/// between the stretches.
fn garbling(draft: &Draft, draw: &mut Draw, sentence: usize, tagger: &Tagger) -> Option<Change> {
    let text = draft.sentence(sentence);
    let words = words(text);
    let end = words.len().checked_sub(1).filter(|end| *end > LONGEST)?;
    let first = draw.below(end - 1);
    let second = draw.between(first + 1, (first + LONGEST).min(end));
    let last = draw.between(second, (second + LONGEST).min(end));
    if ends_a_sentence_inside(text, &words[first..=last]) {
        return None;
    }
    let mut left = text[words[first].start..words[second - 1].end].to_owned();
    let mut right = text[words[second].start..words[last].end].to_owned();
    if first == 0 && left.starts_with(char::is_uppercase) {
        right = capitalised(&right);
        if !is_always_capital(words[0].of(text), draft.tagged(sentence, tagger).tags.first()) {
            left = uncapitalised(&left);
        }
    }
    let after = if draw.chance(LOST) { right } else { format!("{right} {left}") };
    let span = Span::new(words[first].start, words[last].end).shifted(draft.span(sentence).start);
    Some(Change { sentence, span, after })
}

/// Whether a word has its capital for another reason than its place in the sentence.
fn is_always_capital(word: &str, tag: Option<&Tag>) -> bool {
    let is_name = tag.is_some_and(|tag| matches!(tag.as_str(), "NNP" | "NNPS"));
    is_name || word == "I" || word.starts_with("I'") || word.starts_with("I’")
}

/// Shuffles the contents of these places until the story changes, at most ten times.
fn shuffle(draft: &mut Draft, draw: &mut Draw, slots: &[usize]) -> bool {
    let contents: Vec<String> = slots.iter().map(|&slot| draft.sentence(slot).to_owned()).collect();
    let mut order: Vec<usize> = (0..slots.len()).collect();
    for _ in 0..10 {
        draw.shuffle(&mut order);
        if order.iter().enumerate().any(|(to, &from)| contents[to] != contents[from]) {
            return rearrange(draft, slots, &order);
        }
    }
    false
}

/// Gives `slots[i]` the content that `slots[order[i]]` has now.
pub fn rearrange(draft: &mut Draft, slots: &[usize], order: &[usize]) -> bool {
    let contents: Vec<String> = slots.iter().map(|&slot| draft.sentence(slot).to_owned()).collect();
    let sources: Vec<usize> = order.iter().map(|&from| slots[from]).collect();
    draft.permute_touched(slots, &sources);
    let changes = slots
        .iter()
        .zip(order)
        .map(|(&slot, &from)| draft.putting(slot, &contents[from]))
        .collect();
    draft.replace_all(Reordering, changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::Story;
    use storymeter_core::rng::StreamId;

    #[test]
    fn words_move_inside_a_sentence_or_are_lost_and_short_sentences_stay() {
        let story = Story {
            text: "Mira lost a kite. It flew. Then she looked in the old barn near the river."
                .into(),
            ..Story::default()
        };
        let (mut moved, mut lost) = (0, 0);
        for number in 0..200 {
            let mut draft = Draft::new(&story);
            let mut draw = Draw::new(StreamId::Draw { record: number, draw: 0 }.rng(1));
            if !garble(&mut draft, &mut draw, Tagger::embedded()) {
                continue;
            }
            assert!(draft.text().starts_with("Mira lost a kite. It flew. "), "{}", draft.text());
            let garbled = &draft.sentence(2)[1..];
            assert!(draft.sentence(2).starts_with(char::is_uppercase), "{}", draft.text());
            assert!(!garbled.contains(char::is_uppercase), "{}", draft.text());
            let sorted = |text: &str| {
                let words =
                    text.split_whitespace().map(|word| word.replace('.', "").to_lowercase());
                let mut words: Vec<String> = words.collect();
                words.sort_unstable();
                words
            };
            if sorted(draft.text()) == sorted(&story.text) {
                moved += 1;
            } else {
                assert!(draft.text().len() < story.text.len());
                lost += 1;
            }
        }
        assert!(moved > lost && lost > 10, "{moved} moved, {lost} lost");
    }

    #[test]
    fn sentences_change_places_and_the_first_stays() {
        let story = Story { text: "A came. B sat. C ran. D left".into(), ..Story::default() };
        let mut draft = Draft::new(&story);
        assert!(rearrange(&mut draft, &[1, 2, 3], &[2, 0, 1]));
        // A sentence without a final mark gets one where another follows.
        assert_eq!(draft.text(), "A came. D left. B sat. C ran.");
        let (text, edits) = draft.finish();
        assert_eq!(crate::undo(&text, &edits).unwrap(), story.text);
    }
}
