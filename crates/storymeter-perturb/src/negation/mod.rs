//! Negation alteration, which adds or removes a "not" (section 3.2, appendix A).
//!
//! Table 8 of the paper has the rules from affirmative to negative; "in reverse, from negative
//! sentences to affirmative, we removed the negation words ("not" or "n't") and altered the
//! corresponding forms of the verbs". The rules are in [`alterations`]. This module chooses the
//! sentence, the verb and the form.

mod rules;

pub use rules::{Alteration, alterations};

use storymeter_text::tagger::Tagger;
use storymeter_text::{Span, negation as words};

use crate::Technique::Negation;
use crate::draft::{Change, Draft, Tagged};
use crate::draw::Draw;

/// Alters one random sentence: removes a negation if there is one, or else adds one.
pub fn paper(draft: &mut Draft, draw: &mut Draw, tagger: &Tagger) -> bool {
    let mut order: Vec<usize> = draft.open().collect();
    draw.shuffle(&mut order);
    // A sentence that another technique wrote is altered only if no other can be.
    order.sort_by_key(|&sentence| draft.is_touched(sentence));
    for sentence in order {
        let tagged = draft.tagged(sentence, tagger);
        let mut found =
            alterations(draft.text(), &tagged.tokens, &tagged.tags, draft.style().spaced);
        if found.iter().any(|alteration| alteration.removes) {
            found.retain(|alteration| alteration.removes);
        }
        if let Some(alteration) = draw.pick(&found) {
            let short = alteration.short.as_deref().filter(|_| draw.chance(0.5));
            draft.touch(sentence);
            return draft.replace(
                Negation,
                sentence,
                alteration.span,
                short.unwrap_or(&alteration.plain),
            );
        }
    }
    false
}

/// Follows the released code: alters 1 to L - 1 random sentences at their first negation word, or
/// else their first auxiliary, or else their first verb. Makes up to ten attempts until something
/// changes.
pub fn released_code(draft: &mut Draft, draw: &mut Draw, tagger: &Tagger) -> bool {
    let open = draft.open();
    for _ in 0..10 {
        let count = draw.between(1, draft.length_with_context() - 1);
        let mut slots = draw.distinct(open.len(), count);
        slots.sort_unstable();
        let changes = slots
            .iter()
            .filter_map(|slot| altering(draft, draw, tagger, slot + open.start))
            .collect();
        if draft.replace_all(Negation, changes) {
            return true;
        }
    }
    false
}

/// The auxiliaries that the released code looks for.
const RELEASED_AUXILIARIES: [&str; 18] = [
    "would", "will", "can", "could", "may", "might", "shall", "should", "do", "does", "did", "am",
    "is", "are", "was", "were", "be", "been",
];

/// The change that the released code makes to a sentence; `None` if the sentence has no verb.
fn altering(draft: &Draft, draw: &mut Draw, tagger: &Tagger, sentence: usize) -> Option<Change> {
    let tagged = draft.tagged(sentence, tagger);
    let text = draft.text();
    let lower: Vec<String> =
        tagged.tokens.iter().map(|token| token.of(text).to_ascii_lowercase()).collect();
    if let Some(at) = lower.iter().position(|word| words::is_negation_word(word)) {
        return Some(Change { sentence, span: with_a_blank(&tagged, at), after: String::new() });
    }
    let auxiliary = lower.iter().position(|word| RELEASED_AUXILIARIES.contains(&word.as_str()));
    let verb = auxiliary.or_else(|| tagged.tags.iter().position(|tag| tag.is_verb()))?;
    let short = draw.chance(0.5);
    let after =
        rules::released(text, &tagged.tokens, &tagged.tags, verb, short, draft.style().spaced);
    Some(Change { sentence, span: tagged.tokens[verb], after })
}

/// A token with the space before it, or with the space after it if it is the first token.
fn with_a_blank(tagged: &Tagged, at: usize) -> Span {
    let token = tagged.tokens[at];
    match (at.checked_sub(1), tagged.tokens.get(at + 1)) {
        (Some(previous), _) => Span::new(tagged.tokens[previous].end, token.end),
        (None, Some(next)) => Span::new(token.start, next.start),
        (None, None) => token,
    }
}
