//! The international tokeniser of NIST's script mteval-v14, which sacrebleu calls `intl`.
//!
//! Punctuation stands alone unless a number is before and after it. Symbols always stand alone. As
//! in the script, a mark at the very end of the text stays with the number before it.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::{Tokenizer, Tokens, is_python_space};

/// The tokeniser of mteval-v14 with `--international-tokenization`.
pub struct International;

impl Tokenizer for International {
    fn tokenize(text: &str) -> Tokens {
        let text = text.trim_end_matches(is_python_space);
        let mut spans = Vec::with_capacity(text.len() / 4);
        let mut start = None;
        let mut previous = None;
        // A mark that the first substitution has consumed is not the neighbour of the next one, as
        // in `mteval`.
        let mut taken = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let group = c.general_category_group();
            let mut takes = false;
            let alone = match group {
                GeneralCategoryGroup::Symbol => true,
                GeneralCategoryGroup::Punctuation => {
                    takes = !taken
                        && previous.is_some_and(|group| group != GeneralCategoryGroup::Number);
                    takes
                        || chars.peek().is_some_and(|&(_, next)| {
                            next.general_category_group() != GeneralCategoryGroup::Number
                        })
                }
                _ => false,
            };
            if is_python_space(c) {
                spans.extend(start.take().map(|start| start..at));
            } else if alone {
                spans.extend(start.take().map(|start| start..at));
                spans.push(at..at + c.len_utf8());
            } else {
                if taken && group == GeneralCategoryGroup::Punctuation {
                    spans.extend(start.take().map(|start| start..at));
                }
                start.get_or_insert(at);
            }
            (previous, taken) = (Some(group), takes);
        }
        spans.extend(start.map(|start| start..text.len()));
        Tokens::new(text.to_owned(), spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> String {
        International::tokenize(text).iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn unicode_punctuation_and_symbols_stand_alone() {
        // Checked with sacrebleu 2.6.0.
        assert_eq!(tokens("“Non,” dit-elle… €5 ½."), "“ Non , ” dit - elle … € 5 ½.");
        assert_eq!(tokens("1,000.50 in 2020."), "1,000.50 in 2020.");
        assert_eq!(tokens("\"Hi\" -5"), "\" Hi \" - 5");
    }
}
