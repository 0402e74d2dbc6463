//! A story as one epoch sees it: its names masked or not, and of a long one a window.

use std::borrow::Cow;

use storymeter_core::Story;
use storymeter_encoder::{Stream, Tokenizer};
use storymeter_perturb::sentences_of;
use storymeter_text::{Span, sentence};

use super::example::Record;
use super::settings::{LongStories, Settings};
use crate::window::{lead, prompt_of, sentence_ends};
use crate::{Card, normalise};

/// Streams of the seed that nothing else counts up to.
const VIEWS: u64 = u64::MAX - 2;

/// A story as one epoch sees it.
pub(super) struct View<'a> {
    pub story: Cow<'a, Story>,
    /// `[CLS]` and the prompt.
    pub lead: Vec<u32>,
    /// Whether it is a part of a longer story.
    pub is_part: bool,
}

impl<'a> View<'a> {
    /// The view of draw `draw`: the same whoever asks, and when.
    pub fn of(record: Record<'a>, draw: u64, tokenizer: &Tokenizer, settings: &Settings) -> Self {
        let chance = Stream::new(settings.seed).child(VIEWS).child(record.number).child(draw);
        let mask = f64::from(chance.uniform(0)) < settings.delexicalise;
        let story = written_down(record.story, settings, mask);
        let lead = lead(tokenizer, prompt_of(&story), settings.max_tokens);
        let mut view = Self { story, lead, is_part: false };
        if settings.long_stories == LongStories::Window {
            view.narrow(tokenizer, settings.max_tokens, chance.bits(1));
        }
        view
    }

    /// Takes a window of whole sentences where the story does not fit. Every first sentence from which the window can be
    /// filled is as likely.
    fn narrow(&mut self, tokenizer: &Tokenizer, limit: usize, chance: u64) {
        let room = limit - self.lead.len() - 1;
        let pieces = tokenizer.tokenize(&self.story.text);
        if pieces.len() <= room {
            return;
        }
        let ends = sentence_ends(&pieces, &sentences_of(&self.story), room);
        let begin = |sentence: usize| if sentence == 0 { 0 } else { ends[sentence - 1] };
        let starts = (0..ends.len()).take_while(|first| {
            // The last start is the first one from which the rest of the story fits.
            *first == 0 || pieces.len() - begin(first - 1) > room
        });
        let first = (chance % starts.count() as u64) as usize;
        let last = (first..ends.len()).take_while(|last| ends[*last] - begin(first) <= room).last();
        let last = last.unwrap_or(first);
        let place = |piece: usize| pieces[piece].start;
        let (start, end) = (place(begin(first)), pieces[ends[last] - 1].end);
        let mut part = Story { prompt: self.story.prompt.clone(), ..Story::default() };
        if first > 0 && prompt_of(&self.story).is_none() {
            // The prompt was the story's own beginning.
            part.prompt = None;
        }
        part.text = self.story.text[start..end].to_owned();
        part.sentences = (first..=last)
            .map(|sentence| place(begin(sentence)) - start..pieces[ends[sentence] - 1].end - start)
            .collect();
        self.story = Cow::Owned(part);
        self.is_part = true;
    }

    /// `[CLS] prompt text [SEP]` of the view's own text or a damaged one, and whether something had to be left out.
    ///
    /// Of a window whole sentences are left out: an end in the middle of a sentence would tell a damaged story from a
    /// human one.
    pub fn ids(&self, text: &str, tokenizer: &Tokenizer, settings: &Settings) -> (Vec<u32>, bool) {
        let room = settings.max_tokens - self.lead.len() - 1;
        let pieces = tokenizer.tokenize(text);
        let kept = if pieces.len() <= room {
            pieces.len()
        } else if settings.long_stories == LongStories::Cut {
            room
        } else {
            let ends = sentence_ends(&pieces, &sentence::split(text), room);
            ends.into_iter().take_while(|end| *end <= room).last().unwrap_or(room)
        };
        let mut ids = self.lead.clone();
        ids.extend(pieces[..kept].iter().map(|token| token.id));
        ids.push(tokenizer.end());
        (ids, kept < pieces.len())
    }

    /// Where in the ids the part begins that may be damaged.
    pub fn context(&self, tokenizer: &Tokenizer) -> usize {
        if self.lead.len() > 1 {
            return self.lead.len();
        }
        let first = sentences_of(&self.story).first().copied().unwrap_or(Span::new(0, 0));
        1 + tokenizer.tokenize(first.of(&self.story.text)).len()
    }
}

/// The story as scoring will write it down.
pub(super) fn written_down<'a>(story: &'a Story, settings: &Settings, mask: bool) -> Cow<'a, Story> {
    if !settings.normalise && !mask {
        return Cow::Borrowed(story);
    }
    Cow::Owned(normalise(
        story,
        &Card { normalise: settings.normalise, delexicalise: mask, ..Card::default() },
    ))
}
