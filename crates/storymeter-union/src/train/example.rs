//! Makes the examples from which the network learns: stories and their negatives, as tokens.

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_encoder::Tokenizer;
use storymeter_perturb::{DEFAULT_SAMPLE, DonorSampler, Donors, Perturber, Technique};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use super::settings::Settings;
use super::teacher::Reader;
use super::view::{View, beginning, written_down};

/// One input of the network, and everything that it is to predict.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    /// `[CLS] prompt story [SEP]`.
    pub ids: Vec<u32>,
    /// The place in `ids` to which the first target belongs.
    pub first: usize,
    /// The tokens of the human story from `first` on (r_i in equation 5), as far as both stories
    /// have tokens.
    pub targets: Vec<u32>,
    /// Whether a human wrote it: y in equation 3.
    pub human: bool,
    /// Which techniques damaged it, in the order of `Technique::ALL`.
    pub damage: [bool; 4],
    /// The tokens of the same text for each teacher.
    pub taught: Vec<Vec<u32>>,
}

/// A human story and its place in the whole input. The record number decides whether the story is
/// for training, and which negatives are made of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub story: &'a Story,
    pub number: u64,
    /// The story of a machine that takes the place of a damaged one.
    pub machine: Option<&'a Story>,
}

impl<'a> Record<'a> {
    pub fn new(story: &'a Story, number: u64) -> Self {
        Self { story, number, machine: None }
    }
}

/// A human story with its negative.
pub(super) type Pair = [Example; 2];

/// The examples of some stories.
#[derive(Default)]
pub(super) struct Made {
    pub pairs: Vec<Pair>,
    /// The number of stories that could not be damaged, or whose damage the model could not see.
    pub left_out: usize,
    /// The number of pairs that are windows of longer stories.
    pub windows: usize,
}

/// Makes examples on all threads.
pub(super) struct Maker<'a> {
    pub settings: &'a Settings,
    pub tokenizer: &'a Tokenizer,
    pub perturber: Perturber<'a>,
    pub readers: Vec<Reader>,
}

impl Maker<'_> {
    /// The pairs of some stories for an epoch. The negatives are those of the epoch, or the same in
    /// all epochs if the settings say so.
    pub fn make_epoch(&self, records: &[Record<'_>], epoch: u64) -> Made {
        let draw = if self.settings.fresh_negatives { epoch } else { 0 };
        self.make(records, |record| StreamId::Draw { record, draw })
    }

    /// The pairs of the dev stories, the same in every epoch.
    pub fn make_dev(&self, records: &[Record<'_>]) -> Made {
        self.make(records, |record| StreamId::DevNegative { record })
    }

    /// The pairs of some stories, each with the negative of the stream that belongs to its record.
    ///
    /// A story that cannot be damaged is left out, so that both labels are equally frequent.
    fn make(&self, records: &[Record<'_>], stream: impl Fn(u64) -> StreamId + Sync) -> Made {
        let pairs: Vec<Option<(Pair, bool)>> =
            records.par_iter().map(|record| self.pair(*record, stream(record.number))).collect();
        let mut made = Made::default();
        for pair in pairs {
            match pair {
                Some((pair, is_window)) => {
                    made.pairs.push(pair);
                    made.windows += usize::from(is_window);
                }
                None => made.left_out += 1,
            }
        }
        made
    }

    fn pair(&self, record: Record<'_>, stream: StreamId) -> Option<(Pair, bool)> {
        match record.machine {
            Some(machine) => Some(self.human_and_machine(record, machine, stream)),
            None => self.human_and_damaged(record, stream),
        }
    }

    /// A human story and one of a machine, which have nothing in common.
    fn human_and_machine(
        &self,
        record: Record<'_>,
        machine: &Story,
        stream: StreamId,
    ) -> (Pair, bool) {
        let mut is_part = false;
        let mut example = |record: Record<'_>, human: bool| {
            let view = View::of(record, stream, self.tokenizer, self.settings);
            is_part |= view.is_part;
            let (ids, _) = view.ids(&view.story.text, self.tokenizer, self.settings);
            Example { ids, first: 1, targets: vec![], human, damage: [false; 4], taught: vec![] }
        };
        let pair = [example(record, true), example(Record::new(machine, record.number), false)];
        (pair, is_part)
    }

    fn human_and_damaged(&self, record: Record<'_>, stream: StreamId) -> Option<(Pair, bool)> {
        let (settings, tokenizer) = (self.settings, self.tokenizer);
        let view = View::of(record, stream, tokenizer, settings);
        let negative = self.perturber.perturb(&view.story, settings.seed, stream).ok()?;
        let (human, _) = view.ids(&view.story.text, tokenizer, settings);
        // Damage may bring back what was normalised, such as a tokenised "did n't".
        let text = Story { text: negative.story, ..Story::default() };
        let text = &written_down(&text, settings, false).text;
        let (damaged, was_cut) = view.ids(text, tokenizer, settings);
        let undamaged =
            human == damaged || (was_cut && human.starts_with(&damaged[..damaged.len() - 1]));
        if undamaged {
            // The damage was cut off or undone by normalisation, so the model could not see it.
            return None;
        }
        let first = if settings.reconstruct_context { 1 } else { view.context(tokenizer) };
        let targets = |ids: &[u32]| {
            let end = ids.len().min(human.len()) - 1;
            human.get(first..end).unwrap_or_default().to_vec()
        };
        let damage = Technique::ALL.map(|technique| negative.techniques.contains(&technique));
        let taught = |text: &str| {
            self.readers.iter().map(|reader| reader.ids(view.prompt.as_deref(), text)).collect()
        };
        let negative = Example {
            targets: targets(&damaged),
            ids: damaged,
            first,
            human: false,
            damage,
            taught: taught(text),
        };
        let human = Example {
            targets: targets(&human),
            ids: human,
            first,
            human: true,
            damage: [false; 4],
            taught: taught(&view.story.text),
        };
        Some(([human, negative], view.is_part))
    }
}

/// The stories from which foreign words and sentences are taken. A masked story takes them from
/// masked stories, so these must be among the donors if stories are masked.
pub(super) fn donors(
    records: &[Record<'_>],
    settings: &Settings,
    tagger: &Tagger,
    lexicon: &Lexicon,
) -> Donors {
    let mut sampler = DonorSampler::new(settings.seed, DEFAULT_SAMPLE);
    let mut offer = |number: u64, story: &Story, mask: bool| {
        if sampler.wants(number) {
            sampler.offer(number, &beginning(written_down(story, settings, mask), settings));
        }
    };
    for record in records {
        offer(record.number, record.story, false);
        if settings.delexicalise > 0.0 {
            // The masked version has its own record number, so that it is drawn independently.
            offer(record.number | 1 << 63, record.story, true);
        }
    }
    sampler.finish(tagger, lexicon)
}
