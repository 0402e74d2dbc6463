//! A story as one epoch sees it: with names masked or not, and as one window if it is long.

use std::borrow::Cow;

use storymeter_core::Story;
use storymeter_core::rng::{CounterId, StreamId};
use storymeter_encoder::{Stream, Tokenizer};
use storymeter_perturb::sentences_of;
use storymeter_text::{Span, sentence};

use super::example::Record;
use super::settings::{LongStories, Settings};
use crate::window::{lead, prompt_of, sentence_ends};
use crate::{Card, normalise};

/// A story as one epoch sees it.
pub(super) struct View<'a> {
    /// The text. Its prompt is there only if the model reads prompts, or the text begins with it.
    pub story: Cow<'a, Story>,
    /// The prompt, unless the text begins with it. Teachers may read it even if the model does not.
    pub prompt: Option<String>,
    /// `[CLS]`, and the prompt if the model reads prompts.
    pub lead: Vec<u32>,
    /// Whether the text is a part of a longer story.
    pub is_part: bool,
}

impl<'a> View<'a> {
    /// The view that goes with the negative sample of `stream`. The same stream always gives the
    /// same view.
    pub fn of(
        record: Record<'a>,
        stream: StreamId,
        tokenizer: &Tokenizer,
        settings: &Settings,
    ) -> Self {
        let chance = CounterId::View(stream).descend(Stream::new(settings.seed), Stream::child);
        let mask = f64::from(chance.uniform(0)) < settings.delexicalise;
        let mut story = beginning(written_down(record.story, settings, mask), settings);
        let prompt = prompt_of(&story).map(str::to_owned);
        if prompt.is_some() && !settings.prompts {
            story.to_mut().prompt = None;
        }
        let lead = lead(tokenizer, prompt_of(&story), settings.max_tokens);
        let mut view = Self { story, prompt, lead, is_part: false };
        if settings.long_stories == LongStories::Window {
            view.narrow(tokenizer, settings.max_tokens, chance.bits(1));
        }
        view
    }

    /// Takes a window of whole sentences if the story does not fit. Every sentence from which the
    /// window can be filled is equally likely to be its first.
    fn narrow(&mut self, tokenizer: &Tokenizer, limit: usize, chance: u64) {
        let room = limit - self.lead.len() - 1;
        let pieces = tokenizer.tokenize(&self.story.text);
        if pieces.len() <= room {
            return;
        }
        let ends = sentence_ends(&pieces, &sentences_of(&self.story), room);
        let begin = |sentence: usize| if sentence == 0 { 0 } else { ends[sentence - 1] };
        let starts = (0..ends.len()).take_while(|first| {
            // The last possible start is the first sentence from which the story fits to its end.
            *first == 0 || pieces.len() - begin(first - 1) > room
        });
        let first = (chance % starts.count() as u64) as usize;
        let last = (first..ends.len()).take_while(|last| ends[*last] - begin(first) <= room).last();
        let last = last.unwrap_or(first);
        let place = |piece: usize| pieces[piece].start;
        let (start, end) = (place(begin(first)), pieces[ends[last] - 1].end);
        let mut part = Story { prompt: self.story.prompt.clone(), ..Story::default() };
        if first > 0 && prompt_of(&self.story).is_none() {
            // The prompt was the beginning of the story, which is not in this window.
            part.prompt = None;
        }
        part.text = self.story.text[start..end].to_owned();
        part.sentences = (first..=last)
            .map(|sentence| place(begin(sentence)) - start..pieces[ends[sentence] - 1].end - start)
            .collect();
        self.story = Cow::Owned(part);
        self.is_part = true;
    }

    /// The tokens `[CLS] prompt text [SEP]` for the view's own text or a damaged version of it, and
    /// whether some of the text had to be left out.
    ///
    /// From a window, whole sentences are left out: an end in the middle of a sentence would reveal
    /// which story is the damaged one.
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
        ids.extend(tokenizer.end());
        (ids, kept < pieces.len())
    }

    /// The place in the tokens at which the part begins that may be damaged.
    pub fn context(&self, tokenizer: &Tokenizer) -> usize {
        if self.lead.len() > 1 {
            return self.lead.len();
        }
        let first = sentences_of(&self.story).first().copied().unwrap_or(Span::new(0, 0));
        1 + tokenizer.tokenize(first.of(&self.story.text)).len()
    }
}

/// The first sentences of a story that has more words than the settings allow, or else all of it.
/// The paper, section 4.2: "we retained about 200 words (with correct sentence boundary) from the
/// start and truncated the rest".
pub(super) fn beginning<'a>(story: Cow<'a, Story>, settings: &Settings) -> Cow<'a, Story> {
    let most = settings.first_words;
    if most == 0 || story.text.split_whitespace().nth(most).is_none() {
        return story;
    }
    let sentences = sentences_of(&story);
    let mut words = 0;
    let kept = sentences.iter().take_while(|sentence| {
        let is_first = words == 0;
        words += sentence.of(&story.text).split_whitespace().count();
        is_first || words <= most
    });
    let kept: Vec<Span> = kept.copied().collect();
    let Some(last) = kept.last() else { return story };
    let text = story.text[..last.end].to_owned();
    let sentences = kept.iter().map(|sentence| sentence.start..sentence.end).collect();
    Cow::Owned(Story { text, sentences, ..story.into_owned() })
}

/// The story in the form in which scoring will read it.
pub(super) fn written_down<'a>(
    story: &'a Story,
    settings: &Settings,
    mask: bool,
) -> Cow<'a, Story> {
    if !settings.normalise && !mask {
        return Cow::Borrowed(story);
    }
    Cow::Owned(normalise(
        story,
        &Card { normalise: settings.normalise, delexicalise: mask, ..Card::default() },
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use storymeter_encoder::Config;

    use super::*;

    const TEXT: &str = "Mira lost her red kite. She looked in the old barn. It hung in the barn. They flew again. \
                        The baker came.";

    fn tokenizer() -> Tokenizer {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        Tokenizer::load(&folder, &Config::load(&folder).unwrap()).unwrap()
    }

    fn stream(record: u64, draw: u64) -> StreamId {
        StreamId::Draw { record, draw }
    }

    fn story(text: &str, prompt: Option<&str>) -> Story {
        Story { text: text.into(), prompt: prompt.map(Into::into), ..Story::default() }
    }

    /// The different texts that a hundred epochs see. Each of them is checked to fit.
    fn seen(story: &Story, settings: &Settings) -> BTreeSet<String> {
        let tokenizer = tokenizer();
        let look = |draw: u64| {
            let view = View::of(Record::new(story, 5), stream(5, draw), &tokenizer, settings);
            let (ids, was_cut) = view.ids(&view.story.text, &tokenizer, settings);
            assert!(ids.len() <= settings.max_tokens && !was_cut);
            assert_eq!(view.is_part, view.story.text != story.text);
            for range in &view.story.sentences {
                assert!(view.story.text[range.clone()].ends_with('.'));
            }
            view.story.text.clone()
        };
        assert_eq!(look(3), look(3), "the same epoch sees the same");
        (0..100).map(look).collect()
    }

    #[test]
    fn a_long_story_is_seen_through_windows_of_whole_sentences_up_to_its_end() {
        let settings = Settings { max_tokens: 16, ..Settings::default() };
        let windows = seen(&story(TEXT, None), &settings);
        let expected = [
            "It hung in the barn. They flew again. The baker came.",
            "Mira lost her red kite. She looked in the old barn.",
            "She looked in the old barn. It hung in the barn.",
        ];
        assert_eq!(windows, expected.map(String::from).into());
    }

    #[test]
    fn a_story_that_fits_is_seen_whole_and_a_prompt_takes_its_room() {
        let settings = Settings { max_tokens: 40, ..Settings::default() };
        assert_eq!(seen(&story(TEXT, None), &settings).len(), 1);
        let settings = Settings { max_tokens: 32, prompts: true, ..Settings::default() };
        assert!(seen(&story(TEXT, Some("the old red kite hung in the barn")), &settings).len() > 1);
    }

    #[test]
    fn a_sentence_too_long_for_a_window_is_cut() {
        let settings = Settings { max_tokens: 8, ..Settings::default() };
        let tokenizer = tokenizer();
        let story = story(&"kite ".repeat(40), None);
        let view = View::of(Record::new(&story, 0), stream(0, 0), &tokenizer, &settings);
        assert_eq!(view.ids(&view.story.text, &tokenizer, &settings).0.len(), 8);
    }

    #[test]
    fn the_asked_for_share_of_views_has_its_names_masked() {
        let settings = Settings { delexicalise: 0.25, ..Settings::default() };
        let (tokenizer, story) = (tokenizer(), story("Robert lost her kite. Susan looked.", None));
        let masked = (0..2000).filter(|draw| {
            let view = View::of(Record::new(&story, 1), stream(1, *draw), &tokenizer, &settings);
            view.story.text == "[MALE] lost her kite. [FEMALE] looked."
        });
        // 97 is five standard deviations of a binomial count.
        assert!(masked.count().abs_diff(500) < 97);
    }

    #[test]
    fn the_context_is_the_prompt_or_else_the_first_sentence() {
        let tokenizer = tokenizer();
        let context = |story: &Story, prompts: bool| {
            let settings = Settings { prompts, ..Settings::default() };
            View::of(Record::new(story, 0), stream(0, 0), &tokenizer, &settings).context(&tokenizer)
        };
        assert_eq!(context(&story("the old kite. it hung.", None), true), 1 + 4);
        assert_eq!(context(&story("the old kite. it hung.", Some("red barn")), true), 1 + 2);
        assert_eq!(context(&story("the old kite. it hung.", Some("red barn")), false), 1 + 4);
    }

    #[test]
    fn a_long_story_keeps_its_first_words_to_the_end_of_a_sentence() {
        let begin = |words: usize, text: &str| {
            let settings = Settings { first_words: words, ..Settings::default() };
            let story = story(text, None);
            let cut = beginning(Cow::Borrowed(&story), &settings).into_owned();
            let sentences = cut.sentences.iter().map(|range| &cut.text[range.clone()]);
            assert!(cut.sentences.is_empty() || sentences.clone().all(|s| s.ends_with('.')));
            cut.text
        };
        // The sentences have 5, 6, 5, 3 and 3 words.
        assert_eq!(begin(0, TEXT), TEXT);
        assert_eq!(begin(22, TEXT), TEXT);
        assert_eq!(begin(21, TEXT), TEXT.strip_suffix(" The baker came.").unwrap());
        assert_eq!(begin(12, TEXT), "Mira lost her red kite. She looked in the old barn.");
        assert_eq!(begin(3, TEXT), "Mira lost her red kite.", "at least one sentence");
    }

    #[test]
    fn a_prompt_is_read_only_if_the_settings_say_so() {
        let tokenizer = tokenizer();
        let view = |story: &Story, prompts: bool| {
            let settings = Settings { prompts, ..Settings::default() };
            let view = View::of(Record::new(story, 0), stream(0, 0), &tokenizer, &settings);
            (view.lead.len(), view.story.prompt.clone(), view.prompt)
        };
        let prompt = Some("red barn".to_owned());
        let with_prompt = story("the old kite. it hung.", prompt.as_deref());
        assert_eq!(view(&with_prompt, true), (3, prompt.clone(), prompt.clone()));
        assert_eq!(view(&with_prompt, false), (1, None, prompt.clone()));
        // The text begins with its prompt, which is read as part of the text.
        let continued = story("red barn. it hung.", prompt.as_deref());
        assert_eq!(view(&continued, true), (1, prompt.clone(), None));
        assert_eq!(view(&continued, false), (1, prompt, None));
    }
}
