//! Makes the examples from which the network learns: stories and their negatives, as tokens.

use std::borrow::Cow;

use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::{ChaCha8Rng, CounterId, StreamId};
use storymeter_encoder::{Stream, Tokenizer};
use storymeter_perturb::aspect::mistyped;
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
    pub lexicon: &'a Lexicon,
    pub tagger: &'a Tagger,
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
        let (mut human, _) = view.ids(&view.story.text, tokenizer, settings);
        // Damage may bring back what was normalised, such as a tokenised "did n't".
        let text = Story { text: negative.story, ..Story::default() };
        let mut text = written_down(&text, settings, false).into_owned().text;
        let (mut damaged, was_cut) = view.ids(&text, tokenizer, settings);
        let undamaged =
            human == damaged || (was_cut && human.starts_with(&damaged[..damaged.len() - 1]));
        if undamaged {
            // The damage was cut off or undone by normalisation, so the model could not see it.
            return None;
        }
        let mut human_text = Cow::Borrowed(view.story.text.as_str());
        if let Some(typed) = self.with_typos([&human_text, &text], &view, stream) {
            let [(typed_human, human_ids), (typed_text, damaged_ids)] = typed;
            (human_text, text) = (Cow::Owned(typed_human), typed_text);
            (human, damaged) = (human_ids, damaged_ids);
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
            taught: taught(&text),
        };
        let human = Example {
            targets: targets(&human),
            ids: human,
            first,
            human: true,
            damage: [false; 4],
            taught: taught(&human_text),
        };
        Some(([human, negative], view.is_part))
    }

    /// A human text and its negative with typos, and their tokens. `None` if this stream shows its
    /// record without typos, or if one of the mistyped texts does not fit: typos must not push the
    /// damage out.
    fn with_typos(
        &self,
        texts: [&str; 2],
        view: &View<'_>,
        stream: StreamId,
    ) -> Option<[(String, Vec<u32>); 2]> {
        let chance =
            CounterId::Typos(stream).descend(Stream::new(self.settings.seed), Stream::child);
        if f64::from(chance.uniform(0)) >= self.settings.typos {
            return None;
        }
        let typed = |number: usize| {
            let numbers = chance.child(number as u64);
            let mut key = [0; 32];
            for (i, bytes) in key.chunks_exact_mut(8).enumerate() {
                bytes.copy_from_slice(&numbers.bits(i as u64).to_le_bytes());
            }
            let stream = ChaCha8Rng::from_seed(key);
            let text = mistyped(texts[number], self.lexicon, self.tagger, stream);
            let (ids, was_cut) = view.ids(&text, self.tokenizer, self.settings);
            (!was_cut).then_some((text, ids))
        };
        Some([typed(0)?, typed(1)?])
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storymeter_encoder::Config;

    use super::*;
    use crate::card::Reconstruction;

    /// All long words are in the vocabulary, so a typo changes the tokens.
    const TEXT: &str = "The baker lost her kite. She looked in the old barn. The brother helped \
                        again. They flew early. One baker came.";

    /// The pairs that some epochs make of the same story.
    fn pairs(settings: &Settings, epochs: std::ops::Range<u64>) -> Vec<Pair> {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        let tokenizer = Tokenizer::load(&folder, &Config::load(&folder).unwrap()).unwrap();
        let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
        let story = Story::from(TEXT);
        let records = [Record::new(&story, 5)];
        let donors = donors(&records, settings, tagger, lexicon);
        let damage = settings.perturb.clone().checked().unwrap();
        let perturber = Perturber::new(damage, &donors, lexicon, tagger);
        let readers = Vec::new();
        let maker = Maker { settings, tokenizer: &tokenizer, perturber, lexicon, tagger, readers };
        epochs.flat_map(|epoch| maker.make_epoch(&records, epoch).pairs).collect()
    }

    fn settings(typos: f64) -> Settings {
        // The words of these two techniques are those of the story.
        Settings { typos, reconstruction: Reconstruction::None, ..Settings::default() }
            .without_technique(Technique::Substitution)
            .without_technique(Technique::Negation)
    }

    #[test]
    fn typos_change_the_asked_for_share_of_pairs_and_always_both_texts() {
        let plain = pairs(&settings(0.0), 0..400);
        assert_eq!(plain.len(), 400);
        let changed = |typos: f64| -> usize {
            let typed = pairs(&settings(typos), 0..400);
            assert_eq!(typed, pairs(&settings(typos), 0..400), "the same seed, the same typos");
            let changes = typed.iter().zip(&plain).map(|(typed, plain)| {
                let [human, negative] = [0, 1].map(|i| typed[i].ids != plain[i].ids);
                assert_eq!(human, negative, "both texts or none");
                assert_eq!(typed[1].damage, plain[1].damage, "the damage is the same");
                usize::from(human)
            });
            changes.sum()
        };
        assert_eq!((changed(0.0), changed(1.0)), (0, 400));
        // 50 is five standard deviations of a binomial count.
        assert!(changed(0.5).abs_diff(200) < 50);
    }

    #[test]
    fn a_pair_that_does_not_fit_with_its_typos_is_shown_without_them() {
        let at = |typos: f64, max_tokens: usize| {
            pairs(&Settings { max_tokens, ..settings(typos) }, 0..60)
        };
        let human = at(0.0, 200)[0][0].ids.len();
        let (plain, typed) = (at(0.0, human), at(1.0, human));
        let mut shown = [0; 2];
        for (typed, plain) in typed.iter().zip(&plain) {
            assert!(typed.iter().all(|example| example.ids.len() <= human));
            shown[usize::from(typed[0].ids != plain[0].ids)] += 1;
            assert_eq!(typed[0].ids != plain[0].ids, typed[1].ids != plain[1].ids);
        }
        assert!(shown[0] > 0 && plain.len() == typed.len(), "{shown:?}");
    }
}
