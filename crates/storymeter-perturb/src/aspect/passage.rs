//! A story as the rules see it: sentences, words and tags, found once for all aspects.

use std::borrow::Cow;
use std::ops::Range;

use storymeter_core::Story;
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::tagger::{Tag, Tagger};
use storymeter_text::{Span, treebank};

use crate::draft::{Change, context_length, sentences_of};
use crate::style::{self, Style, capitalised, uncapitalised};
use crate::substitution::keyword_lemma;

/// A word or mark of the story, with its tag.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub span: Span,
    pub tag: Tag,
}

/// What a token is if it carries the content of the story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyword {
    pub lemma: String,
    pub pos: PartOfSpeech,
}

/// A story with its sentences and tokens.
pub struct Passage<'a> {
    pub text: &'a str,
    pub style: Style,
    sentences: Vec<Span>,
    /// The tokens of all sentences.
    tokens: Vec<Token>,
    /// For each token, its keyword if it is one.
    keywords: Vec<Option<Keyword>>,
    /// The tokens of each sentence, as places in `tokens`.
    ranges: Vec<Range<usize>>,
    first_open: usize,
}

impl<'a> Passage<'a> {
    /// Reads a story.
    pub fn new(story: &'a Story, tagger: &Tagger, lexicon: &Lexicon) -> Self {
        let text = story.text.as_str();
        let sentences = sentences_of(story);
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut ranges = Vec::with_capacity(sentences.len());
        let (mut cut, mut tags) = (Vec::new(), Vec::new());
        for &sentence in &sentences {
            cut.clear();
            treebank::tokenize_into(text, sentence, &mut cut);
            let words: Vec<&str> = cut.iter().map(|token| token.text(text)).collect();
            tagger.tag_into(&words, &mut tags);
            let from = tokens.len();
            tokens
                .extend(cut.iter().zip(&tags).map(|(token, &tag)| Token { span: token.span, tag }));
            ranges.push(from..tokens.len());
        }
        let keyword = |token: &Token| {
            let (lemma, pos) = keyword_lemma(lexicon, token.span.of(text), token.tag)?;
            Some(Keyword { lemma, pos })
        };
        let keywords = tokens.iter().map(keyword).collect();
        // The first sentence is never changed, with or without a prompt.
        let first_open = context_length(story, &sentences).max(1).min(sentences.len());
        Self { text, style: Style::of(text), sentences, tokens, keywords, ranges, first_open }
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// The sentences that may be changed: all but the leading context, which is at least the first
    /// sentence.
    pub fn open(&self) -> Range<usize> {
        self.first_open..self.sentences.len()
    }

    /// The text of a sentence.
    pub fn sentence(&self, sentence: usize) -> &'a str {
        self.sentences[sentence].of(self.text)
    }

    /// Where a sentence stands.
    pub fn span(&self, sentence: usize) -> Span {
        self.sentences[sentence]
    }

    /// The tokens of a sentence.
    pub fn tokens(&self, sentence: usize) -> Words<'_> {
        let range = self.ranges[sentence].clone();
        Words {
            text: self.text,
            tokens: &self.tokens[range.clone()],
            keywords: &self.keywords[range],
        }
    }

    /// Whether a sentence of these has the keyword.
    pub fn mentions(&self, sentences: Range<usize>, keyword: &Keyword) -> bool {
        sentences
            .into_iter()
            .any(|at| self.tokens(at).keywords.iter().flatten().any(|own| own == keyword))
    }

    /// The change that gives a sentence another content. It adds a final mark if the next sentence
    /// would otherwise run into the content.
    pub fn putting(&self, sentence: usize, content: &str) -> Change {
        let last = sentence + 1 == self.sentences.len();
        let ends = last || content.is_empty() || style::is_terminated(content);
        let mark = match (ends, self.style.spaced) {
            (true, _) => "",
            (false, true) => " .",
            (false, false) => ".",
        };
        Change { sentence, span: self.sentences[sentence], after: format!("{content}{mark}") }
    }

    /// A stretch of text as the beginning of a sentence.
    pub fn as_beginning(&self, text: &str) -> String {
        if self.style.cased { capitalised(text) } else { text.to_owned() }
    }

    /// A stretch of text that began a sentence, as it reads inside one. `tag` is the tag of its
    /// first word: names keep their capital.
    pub fn as_inside(&self, text: &str, tag: Tag) -> String {
        let first = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let keeps = matches!(tag, Tag::Nnp | Tag::Nnps)
            || first == "I"
            || first.chars().count() > 1 && first.chars().all(char::is_uppercase);
        if keeps { text.to_owned() } else { uncapitalised(text) }
    }
}

/// The tokens of one sentence. Places outside of the sentence have no word and no tag, so that
/// rules can look at neighbours without asking whether there are any.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    keywords: &'a [Option<Keyword>],
}

impl<'a> Words<'a> {
    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Where a token stands.
    pub fn span(&self, at: usize) -> Span {
        self.tokens[at].span
    }

    /// A token as it is written.
    pub fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.span.of(self.text))
    }

    /// The keyword that a token is, if it is one.
    pub fn keyword(&self, at: usize) -> Option<&'a Keyword> {
        self.keywords.get(at)?.as_ref()
    }

    /// Whether the sentence has a keyword with this lemma.
    pub fn has_keyword(&self, lemma: &str) -> bool {
        self.keywords.iter().flatten().any(|keyword| keyword.lemma == lemma)
    }

    /// A token in lower case, with plain apostrophes.
    pub fn lower(&self, at: usize) -> Cow<'a, str> {
        let word = self.word(at);
        if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            Cow::Borrowed(word)
        } else {
            Cow::Owned(word.to_lowercase().replace('’', "'"))
        }
    }

    /// Whether a token is one of these words, which are in lower case.
    pub fn is(&self, at: usize, words: &[&str]) -> bool {
        let lower = self.lower(at);
        words.contains(&lower.as_ref())
    }

    /// The same for the token before.
    pub fn is_before(&self, at: usize, words: &[&str]) -> bool {
        at > 0 && self.is(at - 1, words)
    }

    /// The tag of a token, if there is such a token.
    pub fn tag(&self, at: usize) -> Option<Tag> {
        self.tokens.get(at).map(|token| token.tag)
    }

    /// The tag of the token before.
    pub fn tag_before(&self, at: usize) -> Option<Tag> {
        at.checked_sub(1).and_then(|before| self.tag(before))
    }

    /// Whether a token is a mark that ends a clause.
    pub fn is_mark(&self, at: usize) -> bool {
        matches!(self.word(at), "." | "," | "!" | "?" | ";" | ":" | "…" | "..." | "--" | "—")
    }

    /// Whether the sentence ends before this token, if marks and quotes at its end are left out.
    pub fn is_end(&self, at: usize) -> bool {
        (at..self.len()).all(|i| !self.word(i).chars().any(char::is_alphanumeric))
    }

    /// The place after the last word: the end of the sentence without its marks and quotes.
    pub fn end_of_words(&self) -> usize {
        let is_word = |at: &usize| self.word(*at).chars().any(char::is_alphanumeric);
        (0..self.len()).rev().find(is_word).map_or(0, |at| at + 1)
    }

    /// The first verb with a tense, or modal, in a range of tokens.
    pub fn finite_verb(&self, mut range: Range<usize>) -> Option<usize> {
        range.find(|&at| matches!(self.tag(at), Some(Tag::Vbd | Tag::Vbz | Tag::Vbp | Tag::Md)))
    }

    /// The text from one token up to another, which is left out.
    pub fn text_of(&self, range: Range<usize>) -> &'a str {
        self.span_of(range).of(self.text)
    }

    /// Where a range of tokens stands. The range is not empty.
    pub fn span_of(&self, range: Range<usize>) -> Span {
        Span::new(self.tokens[range.start].span.start, self.tokens[range.end - 1].span.end)
    }
}
