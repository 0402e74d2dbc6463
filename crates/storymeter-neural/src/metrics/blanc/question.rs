//! Sentences with hidden words, as a masked-word model is asked for them.

use storymeter_encoder::{Stream, Tokenizer};
use storymeter_text::sentence::{PunktQuotes, split_like_punkt};
use unicode_normalization::UnicodeNormalization;

use super::masking;
use crate::masked::Masked;

/// The share of hidden words in lessons that are replaced by another word, and the share that stay
/// visible.
const REPLACED: f32 = 0.1;
const VISIBLE: f32 = 0.1;
/// The ids of replacements, from the first to one past the last. In BERT's vocabulary these are
/// words and pieces of words, and no special tokens.
const REPLACEMENTS: (u32, u32) = (1000, 30_000);

/// A text with hidden words, and the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub masked: Masked,
    /// The ids of the hidden words, one per hidden place.
    pub answers: Vec<u32>,
}

impl AsRef<Masked> for Question {
    fn as_ref(&self) -> &Masked {
        &self.masked
    }
}

/// The tokens that questions are made of.
#[derive(Clone, Copy)]
pub(super) struct Vocabulary<'a> {
    tokenizer: &'a Tokenizer,
    /// What stands before and after every question.
    ends: [u32; 2],
    mask: u32,
    /// What stands in place of the helping text.
    filler: u32,
    /// The most tokens of a question, special tokens included.
    longest: usize,
    /// The quotation marks at which sentences may end.
    quotes: PunktQuotes,
}

/// The questions about a document, and whether all of it and of the helping text was used.
pub(super) struct Asked {
    pub questions: Vec<Question>,
    pub cut: bool,
}

impl<'a> Vocabulary<'a> {
    /// The vocabulary of a model, unless it has no token for hidden words or for the ends of a
    /// text.
    pub(super) fn new(
        tokenizer: &'a Tokenizer,
        longest: usize,
        quotes: PunktQuotes,
    ) -> Option<Self> {
        let filler = tokenizer.id(".").or(tokenizer.unk())?;
        let ends = [tokenizer.start()?, tokenizer.end()?];
        Some(Self { tokenizer, ends, mask: tokenizer.mask()?, filler, longest, quotes })
    }

    /// The tokens of a text, without special tokens.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.encode_plain(text)
    }

    /// The tokens of each sentence of a text.
    pub(super) fn sentences(&self, text: &str) -> Vec<Vec<u32>> {
        let text: String = text.nfkd().collect();
        let sentences = split_like_punkt(&text, self.quotes);
        sentences.iter().map(|span| self.tokens(span.of(&text))).collect()
    }

    /// The questions about a document without help.
    pub(super) fn questions(&self, document: &[Vec<u32>]) -> Asked {
        let (asked, _) = self.with_and_without_help(document, &[]);
        asked
    }

    /// The questions about a document with a helping text before each, and the same questions with
    /// meaningless tokens in place of the helping text.
    pub(super) fn with_and_without_help(
        &self,
        document: &[Vec<u32>],
        help: &[Vec<u32>],
    ) -> (Asked, Vec<Question>) {
        let lengths: Vec<usize> = help.iter().map(Vec::len).collect();
        let help = help.concat();
        let mut asked = Asked { questions: Vec::new(), cut: false };
        let mut without = Vec::new();
        for sentence in document {
            let (kept, helping) = masking::fit(sentence.len(), &lengths, self.longest);
            asked.cut |= kept < sentence.len() || helping.len() < help.len();
            let questions = self.ask(&help[helping.clone()], &sentence[..kept]);
            without.extend(questions.iter().cloned().map(|mut question| {
                question.masked.ids[1..=helping.len()].fill(self.filler);
                question
            }));
            asked.questions.extend(questions);
        }
        (asked, without)
    }

    /// The masked copies of a sentence.
    fn ask(&self, help: &[u32], sentence: &[u32]) -> Vec<Question> {
        let names: Vec<&str> =
            sentence.iter().map(|&id| self.tokenizer.piece(id).unwrap_or_default()).collect();
        let first = 1 + help.len();
        let question = |places: Vec<usize>| {
            let mut ids = Vec::with_capacity(first + sentence.len() + 1);
            ids.push(self.ends[0]);
            ids.extend_from_slice(help);
            ids.extend_from_slice(sentence);
            ids.push(self.ends[1]);
            let hidden: Vec<usize> = places.iter().map(|place| first + place).collect();
            let answers = hidden.iter().map(|&at| std::mem::replace(&mut ids[at], self.mask));
            let answers = answers.collect();
            Question { masked: Masked { ids, hidden }, answers }
        };
        masking::maskings(&names).into_iter().map(question).collect()
    }

    /// The masked chunks of a text, from which a model learns it. Some of the hidden words are
    /// replaced by other words or stay visible, as `random` decides.
    pub(super) fn lessons(&self, text: &[u32], random: Stream) -> Vec<Question> {
        let chunks = masking::chunks(text.len());
        let mut lessons: Vec<Question> =
            chunks.into_iter().flat_map(|chunk| self.ask(&[], &text[chunk])).collect();
        let mut number = 0;
        for Question { masked: Masked { ids, hidden }, answers } in &mut lessons {
            for (&at, &answer) in hidden.iter().zip(answers.iter()) {
                let chance = random.uniform(number);
                if chance < REPLACED {
                    ids[at] = self.replacement(random.bits(number + 1));
                } else if chance < REPLACED + VISIBLE {
                    ids[at] = answer;
                }
                number += 2;
            }
        }
        lessons
    }

    fn replacement(&self, bits: u64) -> u32 {
        let all = self.tokenizer.vocabulary() as u32;
        let (first, end) = match REPLACEMENTS {
            (first, end) if all > first => (first, end.min(all)),
            _ => (0, all.max(1)),
        };
        first + (bits % u64::from(end - first)) as u32
    }
}
