//! English tokens as spaCy's blank English pipeline (version 3) cuts them.
//!
//! The text is split at white space. A single blank disappears, and any other white space is a
//! token. Each piece is then peeled. If it is a special case ("don't", "U.S.", ":-)"), it is taken
//! as it is. Otherwise a prefix and a suffix come off, and what is left is tried again, until
//! nothing comes off. What remains is a URL, or is cut at infixes such as hyphens. At the end,
//! special cases that the peeling tore apart, such as ":)" after a word without a blank, are put
//! together again.
//!
//! This is written from spaCy's documentation of the algorithm and compared with its output.
//! Character classes follow Unicode's categories, where spaCy lists ranges.

mod affixes;
mod exceptions;
mod url;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::{Tokenizer, Tokens, is_python_space};
use exceptions::Exceptions;

/// The tokeniser of spaCy's blank English pipeline.
///
/// ```
/// use storymeter_metrics::tokenize::{Spacy, Tokenizer};
/// let tokens = Spacy::tokenize("\"I can't,\" she said.");
/// let expected = ["\"", "I", "ca", "n't", ",", "\"", "she", "said", "."];
/// assert_eq!(tokens.iter().collect::<Vec<_>>(), expected);
/// ```
pub struct Spacy;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::new);

impl Tokenizer for Spacy {
    fn tokenize(text: &str) -> Tokens {
        let mut spans = Vec::with_capacity(text.len() / 4);
        RULES.pieces(text, true, &mut spans);
        RULES.mend(text, &mut spans);
        Tokens::new(text.to_owned(), spans)
    }
}

/// The special cases, and those among them that peeling would tear apart.
struct Rules {
    exceptions: Exceptions,
    /// The special cases that would be torn apart, by the first token that they would give.
    torn: BTreeMap<String, Vec<Torn>>,
    /// The first bytes of the keys of `torn`. Most tokens begin with another byte and need no
    /// lookup.
    first_bytes: [bool; 256],
}

/// A special case, and the tokens that it would be torn into.
struct Torn {
    whole: String,
    tokens: Vec<String>,
}

impl Rules {
    fn new() -> Self {
        let mut rules = Self {
            exceptions: Exceptions::english(),
            torn: BTreeMap::new(),
            first_bytes: [false; 256],
        };
        let mut torn: BTreeMap<String, Vec<Torn>> = BTreeMap::new();
        for whole in rules.exceptions.iter() {
            let touched = affixes::prefix(whole) > 0
                || affixes::suffix(whole) > 0
                || affixes::infixes(whole).next().is_some();
            if !touched {
                continue;
            }
            let mut spans = Vec::new();
            rules.pieces(whole, false, &mut spans);
            let tokens: Vec<String> =
                spans.into_iter().map(|span| whole[span].to_owned()).collect();
            torn.entry(tokens[0].clone())
                .or_default()
                .push(Torn { whole: whole.to_owned(), tokens });
        }
        torn.keys().for_each(|first| rules.first_bytes[usize::from(first.as_bytes()[0])] = true);
        rules.torn = torn;
        rules
    }

    /// Splits at white space and cuts every piece.
    fn pieces(&self, text: &str, specials: bool, spans: &mut Vec<Range<usize>>) {
        let mut start = 0;
        let mut in_space = text.chars().next().is_some_and(is_python_space);
        for (at, c) in text.char_indices() {
            if is_python_space(c) == in_space {
                continue;
            }
            if start < at {
                self.piece(text, start..at, specials, spans);
            }
            // A single blank between two words belongs to no token.
            start = if c == ' ' { at + 1 } else { at };
            in_space = !in_space;
        }
        if start < text.len() {
            self.piece(text, start..text.len(), specials, spans);
        }
    }

    /// Cuts one piece.
    fn piece(
        &self,
        text: &str,
        mut rest: Range<usize>,
        specials: bool,
        spans: &mut Vec<Range<usize>>,
    ) {
        let special = |span: Range<usize>| specials && self.exceptions.contains(&text[span]);
        let mut suffixes = Vec::new();
        // Everything from `rest.start` up to here is a letter. It only moves forward, so that a
        // long word is read once and not once for every mark that comes off its end.
        let mut letters = rest.start;
        while !rest.is_empty() && !special(rest.clone()) {
            letters = letters.max(rest.start);
            while letters < rest.end && text.as_bytes()[letters].is_ascii_alphabetic() {
                letters += 1;
            }
            if letters >= rest.end {
                break;
            }
            let before = rest.len();
            let prefix = affixes::prefix(&text[rest.clone()]);
            let without_prefix = rest.start + prefix..rest.end;
            if prefix > 0 && !without_prefix.is_empty() && special(without_prefix.clone()) {
                spans.push(rest.start..without_prefix.start);
                rest = without_prefix;
                break;
            }
            let suffix = affixes::suffix(&text[without_prefix]);
            let without_suffix = rest.start..rest.end - suffix;
            if suffix > 0 && !without_suffix.is_empty() && special(without_suffix.clone()) {
                suffixes.push(without_suffix.end..rest.end);
                rest = without_suffix;
                break;
            }
            if prefix > 0 {
                spans.push(rest.start..rest.start + prefix);
                rest.start += prefix;
            }
            if suffix > 0 {
                suffixes.push(rest.end - suffix..rest.end);
                rest.end -= suffix;
            }
            if rest.len() == before {
                break;
            }
        }
        if !rest.is_empty() {
            self.core(text, rest, specials, spans);
        }
        spans.extend(suffixes.into_iter().rev());
    }

    /// Cuts what is left when nothing more can be peeled off.
    fn core(&self, text: &str, rest: Range<usize>, specials: bool, spans: &mut Vec<Range<usize>>) {
        let string = &text[rest.clone()];
        if let Some(parts) = self.exceptions.get(string).filter(|_| specials) {
            push_parts(rest.start, parts, spans);
        } else if string.bytes().all(|byte| byte.is_ascii_alphabetic()) || url::matches(string) {
            spans.push(rest);
        } else {
            let mut start = 0;
            for infix in affixes::infixes(string) {
                if infix.start == 0 {
                    continue;
                }
                if infix.start != start {
                    spans.push(rest.start + start..rest.start + infix.start);
                }
                spans.push(rest.start + infix.start..rest.start + infix.end);
                start = infix.end;
            }
            if start < string.len() {
                spans.push(rest.start + start..rest.end);
            }
        }
    }

    /// Puts special cases together again that were torn apart. Longer ones come first, and among
    /// equally long ones the earlier.
    fn mend(&self, text: &str, spans: &mut Vec<Range<usize>>) {
        let mut found: Vec<(Range<usize>, &Torn)> = Vec::new();
        for (at, span) in spans.iter().enumerate() {
            if !self.first_bytes[usize::from(text.as_bytes()[span.start])] {
                continue;
            }
            let Some(candidates) = self.torn.get(&text[span.clone()]) else { continue };
            for torn in candidates {
                let here = &spans[at..spans.len().min(at + torn.tokens.len())];
                if here.len() == torn.tokens.len()
                    && here
                        .iter()
                        .zip(&torn.tokens)
                        .all(|(span, token)| &text[span.clone()] == token)
                {
                    found.push((at..at + here.len(), torn));
                }
            }
        }
        if found.is_empty() {
            return;
        }
        found.sort_by_key(|(range, _)| (std::cmp::Reverse(range.len()), range.start));
        let mut seen = vec![false; spans.len()];
        found.retain(|(range, _)| {
            let free = !seen[range.start] && !seen[range.end - 1];
            seen[range.clone()].fill(true);
            free
        });
        found.sort_by_key(|(range, _)| range.start);
        let mut mended = Vec::with_capacity(spans.len());
        let mut next = 0;
        for (range, torn) in found {
            let whole = spans[range.start].start..spans[range.end - 1].end;
            // If there is a blank between the tokens, they only look like the special case.
            let Some(parts) =
                self.exceptions.get(&torn.whole).filter(|_| text[whole.clone()] == *torn.whole)
            else {
                continue;
            };
            mended.extend_from_slice(&spans[next..range.start]);
            push_parts(whole.start, parts, &mut mended);
            next = range.end;
        }
        mended.extend_from_slice(&spans[next..]);
        *spans = mended;
    }
}

/// Adds the tokens of a special case that begins at `start`, given by their lengths.
fn push_parts(start: usize, lengths: &[u8], spans: &mut Vec<Range<usize>>) {
    let mut start = start;
    for &length in lengths {
        spans.push(start..start + usize::from(length));
        start += usize::from(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        Spacy::tokenize(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn contractions_and_punctuation_come_apart() {
        assert_eq!(
            tokens("\"I can't,\" she'd said."),
            ["\"", "I", "ca", "n't", ",", "\"", "she", "'d", "said", "."]
        );
    }

    #[test]
    fn one_blank_is_no_token_but_other_white_space_is() {
        assert_eq!(tokens("a  b\n"), ["a", " ", "b", "\n"]);
        assert_eq!(tokens(" a \n\n b "), [" ", "a", "\n\n ", "b"]);
        assert_eq!(tokens(""), Vec::<String>::new());
    }

    #[test]
    fn a_special_case_torn_apart_is_mended() {
        assert_eq!(tokens("Fine:) Go!:-("), ["Fine", ":)", "Go!:-", "("]);
    }
}
