//! Views of a text: the tokenisations that metrics share.

mod tokens;
mod whitespace;

pub use tokens::Tokens;
pub use whitespace::WhitespaceTokens;
