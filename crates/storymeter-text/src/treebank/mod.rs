//! Cuts a sentence into Penn Treebank tokens, and writes tokens as text again.
//!
//! The rules are those of the treebank's own tokeniser, as NLTK's `word_tokenize` applies them to
//! one sentence: clitics are cut off (`did n't`, `Ann 's`), words like `cannot` are two tokens, a
//! full stop is a token only at the end of the sentence, and brackets stay as they are written.
//! Text that is already tokenised keeps its tokens.
//!
//! It differs from NLTK on purpose in these ways:
//! - `[MALE]`, `[FEMALE]` and `[NEUTRAL]`, which stand for masked names, are single tokens;
//! - a typographic apostrophe is an apostrophe (`don’t` is `do n’t`, where NLTK gives `don ’ t`);
//! - a single quote that opens a word (`'hello there'`) is a token, except in elisions such as
//!   `'em` and `'90s`;
//! - straight double quotes between spaces open and close in turn.
//!
//! ```
//! use storymeter_text::treebank;
//!
//! let text = "She said, \"I can't go.\"";
//! let tokens = treebank::tokenize(text);
//! let words: Vec<&str> = tokens.iter().map(|t| t.text(text)).collect();
//! assert_eq!(words, ["She", "said", ",", "\"", "I", "ca", "n't", "go", ".", "\""]);
//! let normal: Vec<_> = tokens.iter().map(|t| t.normal(text)).collect();
//! assert_eq!(normal[3], "``");
//! assert_eq!(normal[9], "''");
//! assert_eq!(treebank::detokenize(&words), text);
//! ```

mod detokenize;
mod split;

use std::borrow::Cow;

use crate::Span;
pub use detokenize::detokenize;

/// The placeholders for masked names.
pub const PLACEHOLDERS: [&str; 3] = ["[MALE]", "[FEMALE]", "[NEUTRAL]"];

/// One token: where it is in the text, and whether it opens or closes a quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it is in the text that was tokenised.
    pub span: Span,
    quote: Quote,
}

/// Whether a token opens or closes a quotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Opens,
    Closes,
}

impl Token {
    /// The token as it is written in the text.
    pub fn text<'a>(&self, original: &'a str) -> &'a str {
        self.span.of(original)
    }

    /// The token in the treebank's spelling: double quotes of any kind as ` `` ` and `''`, single
    /// ones as `` ` `` and `'`, typographic apostrophes as `'`.
    pub fn normal<'a>(&self, original: &'a str) -> Cow<'a, str> {
        let text = self.text(original);
        let single = matches!(text, "'" | "`" | "‘" | "’");
        match self.quote {
            Quote::Opens => Cow::Borrowed(if single { "`" } else { "``" }),
            Quote::Closes => Cow::Borrowed(if single { "'" } else { "''" }),
            Quote::None if text.contains('’') => Cow::Owned(text.replace('’', "'")),
            Quote::None => Cow::Borrowed(text),
        }
    }
}

/// The tokens of one sentence, in order. The time is linear in its length.
///
/// In a text of several sentences, only the very last full stop would become a token. Use
/// [`tokenize_sentence`] with the spans of [`crate::sentence::split`] for such a text.
pub fn tokenize(sentence: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(sentence.len() / 4);
    tokenize_into(sentence, Span::new(0, sentence.len()), &mut tokens);
    tokens
}

/// The tokens of one sentence of `text`, with spans into `text`.
///
/// ```
/// use storymeter_text::{sentence, treebank};
///
/// let text = "It rained. Ann didn't mind.";
/// let second = sentence::split(text)[1];
/// let tokens = treebank::tokenize_sentence(text, second);
/// let words: Vec<&str> = tokens.iter().map(|token| token.text(text)).collect();
/// assert_eq!(words, ["Ann", "did", "n't", "mind", "."]);
/// ```
pub fn tokenize_sentence(text: &str, sentence: Span) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(sentence.len() / 4);
    tokenize_into(text, sentence, &mut tokens);
    tokens
}

/// Does the same as [`tokenize_sentence`], but appends to `tokens`.
pub fn tokenize_into(text: &str, sentence: Span, tokens: &mut Vec<Token>) {
    split::Splitter::new(text, sentence, tokens).run();
}
