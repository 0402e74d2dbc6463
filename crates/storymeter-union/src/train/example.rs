//! From stories to what the network learns from.

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_encoder::Tokenizer;
use storymeter_perturb::{DEFAULT_SAMPLE, DonorSampler, Donors, Perturber, Technique};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};

use super::settings::Settings;
use super::teacher::Reader;
use super::view::{View, written_down};
use crate::window::prompt_of;

/// One input with everything it is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    /// `[CLS] prompt story [SEP]`.
    pub ids: Vec<u32>,
    /// Where in `ids` the first target belongs.
    pub first: usize,
    /// The human story's pieces, position by position from `first` on (r_i of equation 5): as many as both have.
    pub targets: Vec<u32>,
    /// Whether a human wrote it: y of equation 3.
    pub human: bool,
    /// Which techniques damaged it, in the order of `Technique::ALL`.
    pub damage: [bool; 4],
    /// `ids` as each teacher reads them.
    pub taught: Vec<Vec<u32>>,
}

/// A human story and where it stood in the whole input: its record number decides its part and its negatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub story: &'a Story,
    pub number: u64,
}

/// A human story with its negative.
pub(super) type Pair = [Example; 2];

/// What some stories gave.
#[derive(Default)]
pub(super) struct Made {
    pub pairs: Vec<Pair>,
    /// Stories that could not be damaged, or not so that the model could see it.
    pub left_out: usize,
    /// Pairs that are windows of longer stories.
    pub windows: usize,
}

/// Makes examples.
pub(super) struct Maker<'a> {
    pub settings: &'a Settings,
    pub tokenizer: &'a Tokenizer,
    pub perturber: Perturber<'a>,
    pub readers: Vec<Reader>,
}

impl Maker<'_> {
    /// The pairs of some stories for an epoch, with negatives that are drawn anew in every epoch.
    pub fn make_epoch(&self, records: &[Record<'_>], epoch: u64) -> Made {
        self.make(records, |record| StreamId::Draw { record, draw: epoch })
    }

    /// The pairs of the dev stories, the same in every epoch.
    pub fn make_dev(&self, records: &[Record<'_>]) -> Made {
        self.make(records, |record| StreamId::DevNegative { record })
    }

    /// The pairs of some stories, each with the negative of the stream that belongs to its record.
    ///
    /// A story that cannot be damaged has no pair and is left out, so that both labels are equally frequent.
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
        let (settings, tokenizer) = (self.settings, self.tokenizer);
        let view = View::of(record, stream, tokenizer, settings);
        let negative = self.perturber.perturb(&view.story, settings.seed, stream).ok()?;
        let (human, _) = view.ids(&view.story.text, tokenizer, settings);
        // Damage may bring back what was made alike: a tokenised "did n't".
        let text = Story { text: negative.story, ..Story::default() };
        let text = &written_down(&text, settings, false).text;
        let (damaged, was_cut) = view.ids(text, tokenizer, settings);
        let undamaged =
            human == damaged || (was_cut && human.starts_with(&damaged[..damaged.len() - 1]));
        if undamaged {
            // Cut off, or lost in normalisation: the model could not tell them apart either.
            return None;
        }
        let first = if settings.reconstruct_context { 1 } else { view.context(tokenizer) };
        let targets = |ids: &[u32]| {
            let end = ids.len().min(human.len()) - 1;
            human.get(first..end).unwrap_or_default().to_vec()
        };
        let damage = Technique::ALL.map(|technique| negative.techniques.contains(&technique));
        let taught = |text: &str| {
            self.readers.iter().map(|reader| reader.ids(prompt_of(&view.story), text)).collect()
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

/// The stories that foreign words and sentences come from. They are matched by how they are written down, so masked
/// stories must be among them where stories are masked.
pub(super) fn donors(
    records: &[Record<'_>],
    settings: &Settings,
    tagger: &Tagger,
    lexicon: &Lexicon,
) -> Donors {
    let mut sampler = DonorSampler::new(settings.seed, DEFAULT_SAMPLE);
    let mut offer = |number: u64, story: &Story, mask: bool| {
        if sampler.wants(number) {
            sampler.offer(number, &written_down(story, settings, mask));
        }
    };
    for record in records {
        offer(record.number, record.story, false);
        if settings.delexicalise > 0.0 {
            // A record number of its own, so that it is drawn independently.
            offer(record.number | 1 << 63, record.story, true);
        }
    }
    sampler.finish(tagger, lexicon)
}
