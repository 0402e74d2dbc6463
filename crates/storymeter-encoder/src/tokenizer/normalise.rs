//! BERT's normaliser and pre-tokeniser, as Hugging Face's `BertNormalizer` and `BertPreTokenizer`.
//!
//! They remove control characters, separate Chinese characters, strip accents, write in lower case,
//! and cut the text into words at white space and punctuation.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The switches of the normaliser: the fields of `BertNormalizer` in `tokenizer.json`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Normaliser {
    pub(crate) clean_text: bool,
    pub(crate) handle_chinese_chars: bool,
    pub(crate) strip_accents: bool,
    pub(crate) lowercase: bool,
}

/// A normalised word, with the bytes of the text that each of its characters came from.
#[derive(Default)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) spans: Vec<(usize, usize)>,
}

impl Word {
    fn push(&mut self, c: char, span: (usize, usize)) {
        self.text.push(c);
        self.spans.push(span);
    }
}

impl Normaliser {
    /// Calls `each` with every word of `text`, in order. `offset` is added to the spans.
    pub(crate) fn words(
        &self,
        text: &str,
        offset: usize,
        word: &mut Word,
        each: &mut impl FnMut(&Word),
    ) {
        let mut splitter = Splitter { word, each };
        let mut rest = text.char_indices().peekable();
        while let Some((start, c)) = rest.next() {
            if c.is_ascii() && rest.peek().is_none_or(|(_, next)| next.is_ascii()) {
                // The fast path for plain English. The next character decides whether this one has
                // accents.
                let span = (offset + start, offset + start + 1);
                if !(self.clean_text && c.is_ascii_control() && !c.is_ascii_whitespace()) {
                    splitter.take(if self.lowercase { c.to_ascii_lowercase() } else { c }, span);
                }
                continue;
            }
            // A character is normalised together with the marks on it, because decomposition never
            // looks further.
            let mut end = start + c.len_utf8();
            while let Some((_, next)) =
                rest.next_if(|(_, next)| canonical_combining_class(*next) != 0)
            {
                end += next.len_utf8();
            }
            let span = (offset + start, offset + end);
            let cleaned = text[start..end].chars().filter_map(|c| self.clean(c));
            if self.strip_accents {
                let decomposed = cleaned
                    .nfd()
                    .filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
                decomposed.for_each(|c| self.lower(c, span, &mut splitter));
            } else {
                cleaned.for_each(|c| self.lower(c, span, &mut splitter));
            }
        }
        splitter.finish();
    }

    fn clean(&self, c: char) -> Option<char> {
        if !self.clean_text {
            return Some(c);
        }
        if matches!(c, '\t' | '\n' | '\r') || c.is_whitespace() {
            return Some(' ');
        }
        let control = c.general_category_group() == GeneralCategoryGroup::Other;
        (c != '\0' && c != '\u{fffd}' && !control).then_some(c)
    }

    fn lower(&self, c: char, span: (usize, usize), splitter: &mut Splitter<'_, impl FnMut(&Word)>) {
        let alone = self.handle_chinese_chars && is_chinese(c);
        if alone {
            splitter.finish();
        }
        if self.lowercase {
            c.to_lowercase().for_each(|c| splitter.take(c, span));
        } else {
            splitter.take(c, span);
        }
        if alone {
            splitter.finish();
        }
    }
}

/// Cuts the stream of characters into words.
struct Splitter<'a, F: FnMut(&Word)> {
    word: &'a mut Word,
    each: &'a mut F,
}

impl<F: FnMut(&Word)> Splitter<'_, F> {
    fn take(&mut self, c: char, span: (usize, usize)) {
        if c.is_whitespace() {
            self.finish();
        } else if is_punctuation(c) {
            self.finish();
            self.word.push(c, span);
            self.finish();
        } else {
            self.word.push(c, span);
        }
    }

    fn finish(&mut self) {
        if !self.word.text.is_empty() {
            (self.each)(self.word);
            self.word.text.clear();
            self.word.spans.clear();
        }
    }
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_punctuation()
    } else {
        c.general_category_group() == GeneralCategoryGroup::Punctuation
    }
}

/// The CJK ideographs that BERT treats as words of their own.
fn is_chinese(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F
        | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
