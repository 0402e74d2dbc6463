//! Words that negate a sentence by themselves.
//!
//! They are the single-token entries of the UNION authors' list. Its entries of two tokens ("did
//! n't") all contain one of these.

/// The negation words, in lower case.
pub const NEGATION_WORDS: [&str; 14] = [
    "no", "not", "n't", "none", "never", "nobody", "nothing", "nowhere", "neither", "hardly",
    "scarcely", "barely", "seldom", "cannot",
];

/// Whether a token is a negation word, in any letter case; the apostrophe of "n't" may be curly.
///
/// ```
/// use storymeter_text::negation::is_negation_word;
/// assert!(is_negation_word("Never") && is_negation_word("n’t") && !is_negation_word("ever"));
/// ```
pub fn is_negation_word(token: &str) -> bool {
    // Almost all tokens begin with another letter.
    if !token.starts_with(['n', 'N', 'h', 'H', 's', 'S', 'b', 'B', 'c', 'C']) {
        return false;
    }
    token.eq_ignore_ascii_case("n’t")
        || NEGATION_WORDS.iter().any(|word| token.eq_ignore_ascii_case(word))
}
