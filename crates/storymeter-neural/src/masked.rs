//! What a masked-word model predicts at hidden places, for many masked texts at a time.

use storymeter_encoder::{Batch, Head, Model, Outputs, Result};

/// The most tokens that the model reads at once.
const TOKENS_AT_ONCE: usize = 8 * 1024;
/// The most places that are predicted at once. Each needs one number per word of the vocabulary.
const PLACES_AT_ONCE: usize = 256;

/// A text in which some tokens are hidden, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Masked {
    /// The token ids, with the special tokens, and with the mask at the hidden places.
    pub ids: Vec<u32>,
    /// The places of the hidden tokens.
    pub hidden: Vec<usize>,
}

/// Predicts all hidden tokens of many texts, in batches of bounded size.
///
/// `take` gets the texts of a batch, and the logits of each of their hidden places, one text after
/// the other. All texts come once, in order.
///
/// # Errors
/// Returns an error if the model or its device fails.
pub(crate) fn predict<T: AsRef<Masked>>(
    model: &Model,
    texts: impl IntoIterator<Item = T>,
    mut take: impl FnMut(&[T], &[&[f32]]),
) -> Result<()> {
    let mut pending: Vec<T> = Vec::new();
    let (mut tokens, mut places) = (0, 0);
    let mut run = |texts: &mut Vec<T>| {
        if texts.is_empty() {
            return Ok(());
        }
        let batch: Batch = texts.iter().map(|text| text.as_ref().ids.as_slice()).collect();
        let hidden: Vec<(usize, usize)> = texts
            .iter()
            .enumerate()
            .flat_map(|(at, text)| text.as_ref().hidden.iter().map(move |&place| (at, place)))
            .collect();
        let count = hidden.len();
        let run = model.run(&batch, &Outputs::new().logits(Head::MaskedWord, hidden))?;
        let logits: Vec<&[f32]> = (0..count).map(|place| run.logits(place)).collect();
        take(texts, &logits);
        texts.clear();
        Ok(())
    };
    for text in texts {
        let Masked { ids, hidden } = text.as_ref();
        if tokens + ids.len() > TOKENS_AT_ONCE || places + hidden.len() > PLACES_AT_ONCE {
            run(&mut pending)?;
            (tokens, places) = (0, 0);
        }
        (tokens, places) = (tokens + ids.len(), places + hidden.len());
        pending.push(text);
    }
    run(&mut pending)
}
