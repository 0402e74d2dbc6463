//! Names are masked.

use storymeter_core::Story;
use storymeter_perturb::delexicalised;

#[test]
fn sentences_stay_where_their_words_are() {
    let mut story = Story::default();
    for sentence in ["Susan met Robert.", "They sat down.", "The dog liked Robert", "Susan left."] {
        story.push_sentence(sentence);
    }
    let masked = delexicalised(&story);
    let sentences: Vec<&str> =
        masked.sentences.iter().map(|range| &masked.text[range.clone()]).collect();
    assert_eq!(
        sentences,
        ["[FEMALE] met [MALE].", "They sat down.", "The dog liked [MALE]", "[FEMALE] left."]
    );
}
