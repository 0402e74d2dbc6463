//! How a criteria model reads a story and its prompt. Training and scoring share it.

use storymeter_core::Story;
use storymeter_encoder::Tokenizer;
use storymeter_perturb::sentences_of;

use crate::Card;
use crate::normalise::normalised;
use crate::window::windows as cut;

/// The token ids of all windows of a story, special tokens included, as a model with this card
/// reads them. The prompt is not part of them.
///
/// The story is normalised as the card asks. The tokeniser must know the name tokens of the card
/// ([`Card::add_name_tokens`]).
pub fn windows(tokenizer: &Tokenizer, card: &Card, story: &Story) -> Vec<Vec<u32>> {
    let (story, _) = normalised(&without_prompt(story), card);
    let windows = cut(tokenizer, None, &story.text, &sentences_of(&story), card.max_tokens);
    windows.into_iter().map(|window| window.ids).collect()
}

/// The token ids of all windows of a story's prompt, as [`windows`] gives those of a story. There
/// are none if the story has no prompt, or one without a letter or digit.
///
/// They depend on the prompt alone, so that the stories of a prompt can share its vector.
pub fn prompt_windows(tokenizer: &Tokenizer, card: &Card, story: &Story) -> Vec<Vec<u32>> {
    match prompt_as_story(story) {
        Some(prompt) => windows(tokenizer, card, &prompt),
        None => Vec::new(),
    }
}

/// The prompt of a story as a story of its own, if it has a letter or digit.
pub(super) fn prompt_as_story(story: &Story) -> Option<Story> {
    let prompt = story.prompt.as_deref().filter(|text| text.contains(char::is_alphanumeric))?;
    Some(Story { text: prompt.to_owned(), ..Story::default() })
}

/// The story without what the model does not read, so that none of it is normalised.
fn without_prompt(story: &Story) -> Story {
    Story { text: story.text.clone(), sentences: story.sentences.clone(), ..Story::default() }
}
