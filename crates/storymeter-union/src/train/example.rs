//! From stories to what the network learns from.

use rayon::prelude::*;
use storymeter_core::{Story, rng};
use storymeter_encoder::Tokenizer;
use storymeter_perturb::{Perturber, Technique};

/// One input with everything it is asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Example {
    /// `[CLS] prompt story [SEP]`.
    pub ids: Vec<u32>,
    /// The human story's pieces, position by position after `[CLS]` (r_i of equation 5): as many as both have.
    pub targets: Vec<u32>,
    /// Whether a human wrote it: y of equation 3.
    pub human: bool,
    /// Which techniques damaged it, in the order of `Technique::ALL`.
    pub damage: [bool; 4],
}

/// A human story and where it stood in the whole input: its record number decides its part and its negatives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub story: &'a Story,
    pub number: u64,
}

/// Makes the examples of some stories: each human story with one negative of draw `draw`.
///
/// A story that cannot be damaged has no pair and is left out, so that both labels are equally frequent.
pub(super) fn examples(
    records: &[Record<'_>],
    tokenizer: &Tokenizer,
    perturber: &Perturber<'_>,
    (seed, draw): (u64, u64),
    limit: usize,
) -> Vec<[Example; 2]> {
    let pair = |record: &Record<'_>| {
        let negative = perturber.perturb(record.story, seed, record.number, draw).ok()?;
        let read =
            |text: &str| match record.story.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty()) {
                Some(prompt) => tokenizer.encode(&format!("{prompt} {text}"), limit).0,
                None => tokenizer.encode(text, limit).0,
            };
        let (human, damaged) = (read(&record.story.text), read(&negative.story));
        if human == damaged {
            // Cut off, or lost in normalisation: the model could not tell them apart either.
            return None;
        }
        let inner = |ids: &[u32]| ids.len() - 2;
        let targets = |ids: &[u32]| human[1..=inner(ids).min(inner(&human))].to_vec();
        let damage = Technique::ALL.map(|technique| negative.techniques.contains(&technique));
        let negative = Example { targets: targets(&damaged), ids: damaged, human: false, damage };
        Some([Example { targets: targets(&human), ids: human, human: true, damage: [false; 4] }, negative])
    };
    records.par_iter().map(pair).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Puts pairs into batches of at most `tokens`: neighbours in length together, batches in random order.
///
/// The order follows from the seed and the epoch alone.
pub(super) fn batches(
    mut pairs: Vec<[Example; 2]>,
    tokens: usize,
    (seed, epoch): (u64, u64),
) -> Vec<Vec<Example>> {
    use rand_chacha::rand_core::Rng;
    // A draw that no story's own streams count up to.
    let mut random = rng::stream(seed, u64::MAX, epoch);
    let mut shuffle = |len: usize| -> Vec<usize> {
        let mut keys: Vec<(u64, usize)> = (0..len).map(|i| (random.next_u64(), i)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, i)| i).collect()
    };
    // Shuffled before the stable sort, so that stories of one length meet different neighbours every epoch.
    let order = shuffle(pairs.len());
    let mut shuffled: Vec<Option<[Example; 2]>> = pairs.drain(..).map(Some).collect();
    let mut pairs: Vec<[Example; 2]> = order.into_iter().filter_map(|i| shuffled[i].take()).collect();
    pairs.sort_by_key(size);
    let mut groups: Vec<Vec<Example>> = Vec::new();
    let mut room = 0;
    for pair in pairs {
        let size = size(&pair);
        if groups.is_empty() || size > room {
            groups.push(Vec::new());
            room = tokens;
        }
        room = room.saturating_sub(size);
        if let Some(group) = groups.last_mut() {
            group.extend(pair);
        }
    }
    let order = shuffle(groups.len());
    order.into_iter().map(|i| std::mem::take(&mut groups[i])).collect()
}

fn size(pair: &[Example; 2]) -> usize {
    pair.iter().map(|example| example.ids.len()).sum()
}
