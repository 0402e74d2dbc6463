//! Repetition, the most visible fault of language models: they say again what they just said.
//!
//! The paper, section 3.2: "we introduce lexical and sentence-level repetition to construct
//! negative samples using two policies—we either repeat an N-gram (N=1,2,3,4) in a random sentence,
//! or randomly select a sentence to repeat and remove the following sentence to keep the sentence
//! number unchanged."

use storymeter_text::Span;

use crate::Technique::Repetition;
use crate::draft::Draft;
use crate::draw::Draw;
use crate::words::{ends_a_sentence_inside, words};

/// The longest n-gram that is repeated.
const LONGEST: usize = 4;

/// The largest number of n-grams that are repeated by the rules of the released code. It bounds the
/// time for a story of 100,000 sentences.
const MOST_REPEATS: usize = 100;

/// Repeats an n-gram or a sentence by the rules of the paper. The paper gives no weights for the
/// two, so each has a probability of one half.
pub fn paper(draft: &mut Draft, draw: &mut Draw) -> bool {
    let mut levels = [repeat_some_sentence, repeat_some_ngram];
    if draw.chance(0.5) {
        levels.reverse();
    }
    // If the first choice finds nothing to change, the other one is tried.
    levels.into_iter().any(|level| level(draft, draw))
}

/// Follows the released code.
///
/// With probability 0.7, the earliest of 1 + L/2 random sentences is copied over the others.
/// Otherwise there are L/2 attempts to repeat an n-gram. An attempt succeeds only if the chosen
/// n-gram would run beyond the end of the sentence, and then repeats the n words before its start.
/// So repeats are near the ends of sentences, and often there are none.
pub fn released_code(draft: &mut Draft, draw: &mut Draw) -> bool {
    let open = draft.open();
    let half = draft.length_with_context() / 2;
    if draw.chance(0.7) {
        let mut slots: Vec<usize> =
            draw.distinct(open.len(), 1 + half).into_iter().map(|i| i + open.start).collect();
        slots.sort_unstable();
        let Some((&source, targets)) = slots.split_first() else { return false };
        let content = draft.sentence(source).to_owned();
        let changes = targets.iter().map(|&slot| draft.putting(slot, &content)).collect();
        draft.replace_all(Repetition, changes)
    } else {
        let mut changed = false;
        for _ in 0..half.min(MOST_REPEATS) {
            changed |= repeat_near_an_end(draft, draw);
        }
        changed
    }
}

fn repeat_near_an_end(draft: &mut Draft, draw: &mut Draw) -> bool {
    let open = draft.open();
    for _ in 0..10 {
        let sentence = open.start + draw.below(open.len());
        let words = words(draft.sentence(sentence));
        if words.is_empty() {
            continue;
        }
        let n = draw.between(1, LONGEST);
        let start = draw.below(words.len());
        if start + n > words.len() && start >= n {
            return repeat_ngram(draft, sentence, &words[start - n..start]);
        }
    }
    false
}

/// Copies a random sentence over the next one. A sentence that another technique has changed is
/// overwritten only if there is no other.
fn repeat_some_sentence(draft: &mut Draft, draw: &mut Draw) -> bool {
    let open = draft.open();
    let fits = |i: &usize| i + 1 < open.end && draft.sentence(*i) != draft.sentence(i + 1);
    let mut sources: Vec<usize> = open.clone().filter(fits).collect();
    let fresh: Vec<usize> = sources.iter().copied().filter(|i| !draft.is_touched(i + 1)).collect();
    if !fresh.is_empty() {
        sources = fresh;
    }
    let Some(&source) = draw.pick(&sources) else { return false };
    let content = draft.sentence(source).to_owned();
    draft.touch(source);
    draft.touch(source + 1);
    draft.put(Repetition, source + 1, &content)
}

/// Repeats a random n-gram of a random sentence.
fn repeat_some_ngram(draft: &mut Draft, draw: &mut Draw) -> bool {
    let mut order: Vec<usize> = draft.open().collect();
    draw.shuffle(&mut order);
    let n = draw.between(1, LONGEST);
    for sentence in order {
        let words = words(draft.sentence(sentence));
        let n = n.min(words.len());
        let text = draft.sentence(sentence);
        // An n-gram with a full stop inside would turn one sentence into two.
        let grams: Vec<&[Span]> =
            words.windows(n.max(1)).filter(|gram| !ends_a_sentence_inside(text, gram)).collect();
        if let Some(gram) = draw.pick(&grams) {
            draft.touch(sentence);
            return repeat_ngram(draft, sentence, gram);
        }
    }
    false
}

/// Writes an n-gram a second time directly after itself. It is given by its words in the sentence.
pub fn repeat_ngram(draft: &mut Draft, sentence: usize, gram: &[Span]) -> bool {
    let (Some(first), Some(last)) = (gram.first(), gram.last()) else { return false };
    let span = Span::new(first.start, last.end).shifted(draft.span(sentence).start);
    let text = span.of(draft.text());
    let twice = format!("{text} {text}");
    draft.replace(Repetition, sentence, span, &twice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::Story;
    use storymeter_core::rng::StreamId;

    fn draft(text: &str) -> Draft {
        Draft::new(&Story { text: text.into(), ..Story::default() })
    }

    #[test]
    fn the_bigram_of_table_3_is_repeated() {
        let mut draft = draft("Ken was out jogging one morning. The weather was crisp and cool.");
        let words = words(draft.sentence(1));
        assert!(repeat_ngram(&mut draft, 1, &words[4..6]));
        assert_eq!(draft.sentence(1), "The weather was crisp and cool and cool.");
    }

    #[test]
    fn a_repeated_sentence_replaces_the_following_one() {
        let mut draft = draft("One came. Two went. Three sat.");
        let mut draw = Draw::new(StreamId::Draw { record: 0, draw: 0 }.rng(1));
        assert!(repeat_some_sentence(&mut draft, &mut draw));
        assert_eq!(draft.text(), "One came. Two went. Two went.");
    }
}
