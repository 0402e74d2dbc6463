//! Tokenisers, and the views of a text that metrics share.
//!
//! A [`Tokenizer`] is a type without values. [`Tokenised<T>`] is the view that it gives of a text,
//! and each view is built at most once per text. [`Lower`] and [`WithNewline`] change the text
//! before another tokeniser sees it, so `Tokenised<Lower<Mteval13a>>` is a view of its own. Two
//! more views are made from the tokens: [`Numbered<T>`] has them as numbers, and [`Indexed<T, N>`]
//! has all n-grams up to order N with their counts.
//!
//! ```
//! use storymeter_core::TextCache;
//! use storymeter_metrics::tokenize::{Indexed, Spacy, Tokenised};
//!
//! let text = TextCache::new("She didn't stay. She left.");
//! let tokens = text.view::<Tokenised<Spacy>>();
//! assert_eq!(tokens.iter().collect::<Vec<_>>()[..3], ["She", "did", "n't"]);
//! // The index is made from the same tokens. "She" and the full stop occur twice.
//! assert_eq!(text.view::<Indexed<Spacy, 2>>().counts(1), [2, 1, 1, 1, 2, 1]);
//! ```

mod chars;
mod index;
mod intl;
mod mteval;
mod spaces;
mod spacy;
mod tables;
mod tokens;
mod vocabulary;
mod words;

use std::marker::PhantomData;
use std::ops::Deref;

use storymeter_core::{TextCache, View};

pub use chars::CharNgrams;
pub use index::NgramIndex;
pub use intl::International;
pub use mteval::Mteval13a;
pub use spaces::{Characters, Whitespace, is_python_space};
pub use spacy::Spacy;
pub use tokens::Tokens;
pub(crate) use tokens::extend_hash;
pub use vocabulary::Vocabulary;
pub use words::{WordRuns, is_python_word};

/// A way to cut a text into tokens.
pub trait Tokenizer: Send + Sync + 'static {
    /// Cuts the text.
    fn tokenize(text: &str) -> Tokens;
}

/// The tokens of a text, as a view.
pub struct Tokenised<T> {
    tokens: Tokens,
    by: PhantomData<T>,
}

impl<T: Tokenizer> View for Tokenised<T> {
    fn build(text: &TextCache<'_>) -> Self {
        Self { tokens: T::tokenize(text.text()), by: PhantomData }
    }
}

impl<T> Deref for Tokenised<T> {
    type Target = Tokens;

    fn deref(&self) -> &Tokens {
        &self.tokens
    }
}

/// All n-grams of a text up to order `N`, as a view.
pub struct Indexed<T, const N: usize> {
    index: NgramIndex,
    by: PhantomData<T>,
}

impl<T: Tokenizer, const N: usize> View for Indexed<T, N> {
    fn build(text: &TextCache<'_>) -> Self {
        Self { index: NgramIndex::new(&[&text.view::<Tokenised<T>>()], N), by: PhantomData }
    }
}

impl<T, const N: usize> Deref for Indexed<T, N> {
    type Target = NgramIndex;

    fn deref(&self) -> &NgramIndex {
        &self.index
    }
}

/// The tokens of a text as numbers, as a view.
pub struct Numbered<T> {
    vocabulary: Vocabulary,
    by: PhantomData<T>,
}

impl<T: Tokenizer> View for Numbered<T> {
    fn build(text: &TextCache<'_>) -> Self {
        Self { vocabulary: Vocabulary::new(&text.view::<Tokenised<T>>()), by: PhantomData }
    }
}

impl<T> Deref for Numbered<T> {
    type Target = Vocabulary;

    fn deref(&self) -> &Vocabulary {
        &self.vocabulary
    }
}

/// Puts the text in lower case before another tokeniser sees it.
pub struct Lower<T>(PhantomData<T>);

impl<T: Tokenizer> Tokenizer for Lower<T> {
    fn tokenize(text: &str) -> Tokens {
        T::tokenize(&text.to_lowercase())
    }
}

/// Adds a newline to the text before another tokeniser sees it, as HANNA's metrics read lines of a
/// file.
pub struct WithNewline<T>(PhantomData<T>);

impl<T: Tokenizer> Tokenizer for WithNewline<T> {
    fn tokenize(text: &str) -> Tokens {
        T::tokenize(&format!("{text}\n"))
    }
}
