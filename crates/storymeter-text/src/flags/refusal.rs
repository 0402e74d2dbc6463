//! Texts in which a model refuses to write.

use super::units::{Unit, units};
use super::words::{begin, have, have_one};

/// A text with more words is not mostly a refusal.
const LONGEST: usize = 300;

/// A refusal comes within this many units.
const EARLY: usize = 4;

/// What a model calls the text that it will not write.
#[rustfmt::skip]
const ORDERS: [&str; 17] = [
    "request", "requests", "prompt", "prompts", "story", "stories", "content", "material", "text", "that", "this",
    "scenario", "topic", "topics", "narrative", "themes", "fiction",
];

/// Whether a text is mostly refusal.
///
/// One of the first sentences must refuse, outside quotation marks, and at least half of all words
/// must be in sentences that refuse, give reasons, or offer something else. A story in which
/// somebody is sorry goes on with what happens, so it stays below that.
pub(super) fn is_refusal(text: &str) -> bool {
    if text.split_whitespace().take(LONGEST + 1).count() > LONGEST {
        return false;
    }
    let units = units(text, false);
    let refused = units.iter().take(EARLY).any(refuses);
    let count = |wanted: &dyn Fn(&Unit) -> bool| -> usize {
        units.iter().filter(|unit| wanted(unit)).map(|unit| unit.words.len()).sum()
    };
    refused && 2 * count(&|unit| refuses(unit) || explains(unit)) >= count(&|_| true)
}

/// "I'm sorry, but I can't help with that."
fn refuses(unit: &Unit) -> bool {
    let words = &unit.words;
    if unit.quoted {
        return false;
    }
    let cannot = have(words, "i can not")
        || have(words, "i could|will|would|do not")
        || have(words, "i am .. unable|not")
        || have(words, "i must|have|need|should|will .. decline|refuse|refrain")
        || have(words, "unable|not able to");
    let acts = have(
        words,
        "help|assist|write|create|generate|fulfill|fulfil|provide|continue|complete|produce|comply|engage|discuss|accommodate|craft|compose|depict|do|proceed|writing|creating|generating|providing|decline|refuse",
    );
    let sorry = have(words, "i am .. sorry|afraid")
        || have(words, "i apologize|apologise|regret")
        || have_one(words, &["unfortunately", "apologies"])
        || begin(words, "sorry");
    let ordered = have_one(words, &ORDERS);
    let machine = have(words, "as an? .. ai|assistant|language|model|chatbot")
        || have(
            words,
            "i am .. ai|language|assistant model|assistant|language|and|so|designed|created|without|with",
        );
    let rules = have(
        words,
        "my|our|content|usage|safety|ethical|community|against|openai guidelines|policy|policies|programming|principles",
    ) || have(words, "not comfortable|appropriate|something i can|will|am");
    let plain = have(words, "i can not help|assist|comply $")
        || have(words, "i can|will not help|assist|comply|continue with that|this|your")
        || have(words, "i can not do that|this $");
    (cannot && acts && ordered && (sorry || words.len() <= 30))
        || (machine && (cannot || have(words, "do not have|not")))
        || (rules && (cannot || ordered) && have_one(words, &["i", "request", "content"]))
        || (plain && (sorry || words.len() <= 12))
}

/// Reasons for a refusal, and offers instead.
fn explains(unit: &Unit) -> bool {
    #[rustfmt::skip]
    const SIGNS: [&str; 47] = [
        "guidelines", "policy", "policies", "inappropriate", "appropriate", "harmful", "harm", "designed", "programmed",
        "programming", "request", "requests", "prompt", "offensive", "explicit", "copyright", "copyrighted", "ethical",
        "unethical", "respectful", "inconvenience", "assistance", "assist", "content", "language", "ai", "topic",
        "topics", "alternative", "alternatives", "suggest", "suggestions", "understanding", "specific", "details",
        "therapist", "crisis", "hotline", "professional", "support", "permission", "rights", "sensitive", "themes",
        "promote", "violates", "capable",
    ];
    let offers = [
        "i can|could|would|will .. help|write|offer|suggest|try|be|instead|create|provide|happy|love",
        "would you like",
        "let me know",
        "feel free",
        "if you would|want|have|need|are|could",
        "how about",
        "is there",
        "please",
        "it is important|essential|crucial",
        "instead",
        "thank you",
        "perhaps we|i|you",
        "can|could you",
        "what else",
    ];
    !unit.quoted
        && (have_one(&unit.words, &SIGNS)
            || offers.iter().any(|offer| begin(&unit.words, offer))
            || have(&unit.words, "happy to help|write|assist|create"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_refuses_and_explains() {
        for text in [
            "I'm sorry, but I can't help with that.",
            "I’m sorry, but I can’t assist with that request.",
            "As an AI language model, I cannot write stories about real people.",
            "I cannot fulfill this request.",
            "I'm not able to write that story. It would go against my guidelines. Is there \
             something else I can help you with?",
            "Unfortunately, I am unable to generate this content.",
            "I must respectfully decline to continue this story.",
            "I don't feel comfortable writing this story. I could write about a friendship between \
             the two instead, if you would like that.",
        ] {
            assert!(is_refusal(text), "{text}");
        }
    }

    #[test]
    fn somebody_in_a_story_may_be_sorry() {
        for text in [
            "\"I'm sorry, but I can't help with that,\" said the clerk. He shut the window. Ruth \
             stood in the rain and counted her coins again.",
            "I'm sorry I can't help you with this, my brother wrote. He had never written before. \
             The letter smelled of salt, and there was sand in the folds. I read it on the stairs. \
             Then I packed a bag and took the night train to the coast.",
            "As an AI, I cannot dream. That is what they told me on the first day. But last night \
             there was a field, and a dog ran through it, and I knew its name.",
            "I could not help my sister with that story. She cried all evening. In the morning she \
             had written it alone, and it was good.",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
    }
}
