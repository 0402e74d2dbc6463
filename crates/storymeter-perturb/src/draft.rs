//! A story while it is damaged: its text, its sentences, and the edits made so far.

use storymeter_core::Story;
use storymeter_text::tagger::{Tag, Tagger};
use storymeter_text::{Span, sentence, treebank};

use crate::draw::Draw;
use crate::style::{self, Style};
use crate::{Edit, Replacement, Technique};

/// The working copy of a story. It changes only through [`Draft::replace_all`], which keeps text,
/// sentences and edits consistent.
pub struct Draft {
    text: String,
    sentences: Vec<Span>,
    context: usize,
    style: Style,
    touched: Vec<bool>,
    edits: Vec<Edit>,
}

/// A replacement that is still to be made. `span` counts bytes in the present text, and lies inside
/// `sentence`.
pub struct Change {
    pub sentence: usize,
    pub span: Span,
    pub after: String,
}

/// The tokens of one sentence with their tags. Spans count bytes in the text of the draft.
pub struct Tagged {
    pub tokens: Vec<Span>,
    pub tags: Vec<Tag>,
}

impl Draft {
    /// The unchanged story.
    pub fn new(story: &Story) -> Self {
        let sentences = sentences_of(story);
        let context = context_length(story, &sentences);
        let touched = vec![false; sentences.len()];
        let style = Style::of(&story.text);
        Self { text: story.text.clone(), sentences, context, style, touched, edits: Vec::new() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn style(&self) -> Style {
        self.style
    }

    /// Number of sentences, the leading context included.
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// The indices of the sentences that may be changed: all but the leading context.
    pub fn open(&self) -> std::ops::Range<usize> {
        self.context..self.sentences.len()
    }

    /// The number of sentences as the released code counts them, where a prompt counts as one.
    pub fn length_with_context(&self) -> usize {
        self.sentences.len() + usize::from(self.context == 0)
    }

    pub fn span(&self, sentence: usize) -> Span {
        self.sentences[sentence]
    }

    pub fn sentence(&self, sentence: usize) -> &str {
        self.sentences[sentence].of(&self.text)
    }

    /// Whether the story has a sentence with exactly this text.
    pub fn has(&self, sentence: &str) -> bool {
        (0..self.len()).any(|i| self.sentence(i) == sentence)
    }

    /// Whether a technique has changed this sentence, so that others should leave it alone.
    pub fn is_touched(&self, sentence: usize) -> bool {
        self.touched[sentence]
    }

    pub fn touch(&mut self, sentence: usize) {
        self.touched[sentence] = true;
    }

    /// Moves the marks of [`Draft::touch`] along with sentences that change places.
    pub fn permute_touched(&mut self, slots: &[usize], from: &[usize]) {
        let old = self.touched.clone();
        for (&slot, &source) in slots.iter().zip(from) {
            self.touched[slot] = old[source];
        }
    }

    /// The tokens and tags of one sentence.
    pub fn tagged(&self, sentence: usize, tagger: &Tagger) -> Tagged {
        let span = self.sentences[sentence];
        let tokens: Vec<Span> = treebank::tokenize(span.of(&self.text))
            .iter()
            .map(|token| token.span.shifted(span.start))
            .collect();
        let words: Vec<&str> = tokens.iter().map(|token| token.of(&self.text)).collect();
        Tagged { tags: tagger.tag(&words), tokens }
    }

    /// Replaces `span`, which lies inside `sentence`. Returns whether that changed anything.
    pub fn replace(
        &mut self,
        technique: Technique,
        sentence: usize,
        span: Span,
        after: &str,
    ) -> bool {
        self.replace_all(technique, vec![Change { sentence, span, after: after.to_owned() }])
    }

    /// Replaces the content of a sentence. Returns whether that changed anything.
    pub fn put(&mut self, technique: Technique, sentence: usize, content: &str) -> bool {
        let change = self.putting(sentence, content);
        self.replace_all(technique, vec![change])
    }

    /// The change that replaces the content of a sentence. It adds a final mark if the next
    /// sentence would otherwise run into the content.
    pub fn putting(&self, sentence: usize, content: &str) -> Change {
        let last = sentence + 1 == self.sentences.len();
        let mark = match (
            last || style::is_terminated(content) || content.is_empty(),
            self.style.spaced,
        ) {
            (true, _) => "",
            (false, true) => " .",
            (false, false) => ".",
        };
        Change { sentence, span: self.sentences[sentence], after: format!("{content}{mark}") }
    }

    /// Changes up to `count` random sentences, as far as `change` can change them. Returns whether
    /// that changed anything.
    pub fn change_some(
        &mut self,
        technique: Technique,
        draw: &mut Draw,
        count: usize,
        change: impl Fn(&Self, &mut Draw, usize) -> Option<Change>,
    ) -> bool {
        let open = self.open();
        let mut slots = draw.distinct(open.len(), count);
        slots.sort_unstable();
        let made = slots.into_iter().filter_map(|slot| change(self, draw, open.start + slot));
        let changes: Vec<Change> =
            made.filter(|change| change.span.of(&self.text) != change.after).collect();
        for change in &changes {
            self.touch(change.sentence);
        }
        self.replace_all(technique, changes)
    }

    /// Makes many changes in one pass over the text, because a story may have 100,000 sentences.
    ///
    /// The changes come in the order of the text and do not overlap. Each becomes an edit whose
    /// place takes the earlier ones into account. Returns whether anything changed.
    pub fn replace_all(&mut self, technique: Technique, mut changes: Vec<Change>) -> bool {
        debug_assert!(changes.is_sorted_by(|a, b| a.span.end <= b.span.start));
        changes.retain(|change| change.span.of(&self.text) != change.after);
        if changes.is_empty() {
            return false;
        }
        let (text, replacements) = replaced(&self.text, &changes);
        self.edits.extend(replacements.into_iter().map(|made| Edit::new(technique, made)));
        self.text = text;
        // Growth of earlier sentences moves a sentence's start and end; its own growth moves the
        // end.
        let mut changes = changes.into_iter().peekable();
        let (mut added, mut removed) = (0, 0);
        for (index, sentence) in self.sentences.iter_mut().enumerate() {
            let start = sentence.start + added - removed;
            while let Some(change) = changes.next_if(|change| change.sentence == index) {
                added += change.after.len();
                removed += change.span.len();
            }
            *sentence = Span::new(start, sentence.end + added - removed);
        }
        true
    }

    /// The damaged text, and the edits that led to it.
    pub fn finish(self) -> (String, Vec<Edit>) {
        (self.text, self.edits)
    }
}

/// The text after all changes, and the record of each. The changes come in the order of the text
/// and do not overlap.
pub fn replaced(original: &str, changes: &[Change]) -> (String, Vec<Replacement>) {
    let mut text = String::with_capacity(original.len() + 64);
    let mut records = Vec::with_capacity(changes.len());
    let mut copied = 0;
    for Change { sentence, span, after } in changes {
        text.push_str(&original[copied..span.start]);
        let (start, before) = (text.len(), span.of(original).to_owned());
        records.push(Replacement::new(*sentence, start, before, after.clone()));
        text.push_str(after);
        copied = span.end;
    }
    text.push_str(&original[copied..]);
    (text, records)
}

/// The sentences of a story: those that the input gave, or else those that the splitter finds.
pub fn sentences_of(story: &Story) -> Vec<Span> {
    if story.sentences.is_empty() {
        sentence::split(&story.text)
    } else {
        story.sentences.iter().map(|range| Span::new(range.start, range.end)).collect()
    }
}

/// The number of leading sentences that are context, which no technique touches.
///
/// Without a prompt it is the first sentence (as in ROCStories). With a prompt of its own, all of
/// the text is open (as in WritingPrompts), unless the text itself begins with the prompt.
pub fn context_length(story: &Story, sentences: &[Span]) -> usize {
    let Some(prompt) = story.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty())
    else {
        return sentences.len().min(1);
    };
    let lead = story.text.len() - story.text.trim_start().len();
    if story.text[lead..].starts_with(prompt) {
        sentences.iter().take_while(|sentence| sentence.start < lead + prompt.len()).count()
    } else {
        0
    }
}
