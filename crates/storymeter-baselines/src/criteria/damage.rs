//! Human stories and damaged ones, to learn from beside the ratings.
//!
//! A model that learns from ratings alone forgets what it knew about damage, and agrees less with
//! readers of other stories. So whole and damaged stories are mixed with the rated ones.

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::{StreamId, shuffled};
use storymeter_encoder::Tokenizer;
use storymeter_perturb::{DEFAULT_SAMPLE, DonorSampler, Perturber};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;
use storymeter_union::criteria::windows;
use storymeter_union::{Card, normalise};

use super::settings::Settings;
use crate::{Error, Result};

/// The first window of a story, and whether the story is whole.
pub(super) struct Damaged {
    pub ids: Vec<u32>,
    pub whole: bool,
}

/// Makes pairs of a whole and a damaged story, as many as the settings ask for. A story that cannot
/// be damaged, or whose damage is beyond the first window, is left out.
pub(super) fn pairs(
    stories: &[Story],
    settings: &Settings,
    tokenizer: &Tokenizer,
    card: &Card,
) -> Result<Vec<Damaged>> {
    if stories.is_empty() {
        return Ok(Vec::new());
    }
    let damage = settings.perturb.clone().checked();
    let damage = damage
        .map_err(|problem| Error::Setting { field: "perturb", problem: problem.to_string() })?;
    let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
    let read: Vec<Story> = stories.par_iter().map(|story| normalise(story, card)).collect();
    let mut sampler = DonorSampler::new(settings.seed, DEFAULT_SAMPLE);
    for (number, story) in (0..).zip(&read) {
        if sampler.wants(number) {
            sampler.offer(number, story);
        }
    }
    let donors = sampler.finish(tagger, lexicon);
    let perturber = Perturber::new(damage, &donors, lexicon, tagger);
    let wanted = if settings.damage_pairs == 0 { stories.len() } else { settings.damage_pairs };
    let order = shuffled(read.len(), StreamId::EpochOrder { epoch: u64::MAX }.rng(settings.seed));
    let first_window = |story: &Story| windows(tokenizer, card, story).into_iter().next();
    let pair = |number: &usize| -> Option<[Damaged; 2]> {
        let story = &read[*number];
        let stream = StreamId::Draw { record: *number as u64, draw: 0 };
        let negative = perturber.perturb(story, settings.seed, stream).ok()?;
        let whole = first_window(story)?;
        let ids = first_window(&Story { text: negative.story, ..Story::default() })?;
        let differ = whole != ids;
        differ.then_some([Damaged { ids: whole, whole: true }, Damaged { ids, whole: false }])
    };
    let chosen = &order[..wanted.min(order.len())];
    let pairs: Vec<Option<[Damaged; 2]>> = chosen.par_iter().map(pair).collect();
    Ok(pairs.into_iter().flatten().flatten().collect())
}
