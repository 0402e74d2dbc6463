//! Draws techniques and applies them to a story (section 3.2, last paragraph).

use serde::Serialize;
use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

use crate::donors::Donors;
use crate::draft::Draft;
use crate::draw::Draw;
use crate::substitution::Sources;
use crate::{CheckedConfig, Edit, Preset, Technique};
use crate::{negation, reordering, repetition, substitution};

/// How often a sample is drawn again with the same techniques if one of them had no effect.
const ATTEMPTS: u32 = 10;

/// A damaged story, with a record of all changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Perturbation {
    /// The damaged story.
    pub story: String,
    /// The techniques that changed something, in the order of their application.
    pub techniques: Vec<Technique>,
    /// The changes in the order of their application; see [`crate::apply`].
    pub edits: Vec<Edit>,
    /// Techniques that were drawn and could change nothing in this story.
    #[serde(skip)]
    pub ineffective: Vec<Technique>,
    /// How many times the sample was drawn, including the last one.
    #[serde(skip)]
    pub attempts: u32,
}

/// Why a story has no negative sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unchanged {
    /// The story has only its leading context, which must not be changed.
    OnlyContext,
    /// None of the chosen techniques could change the story.
    NoEffect,
}

/// Makes negative samples.
///
/// ```
/// use storymeter_core::{Story, rng::StreamId};
/// use storymeter_perturb::{CheckedConfig, DonorSampler, Perturber, undo};
/// use storymeter_text::{lexicon::Lexicon, tagger::Tagger};
///
/// let text = "Ken woke up. He went out. The rain was cold. He ran home.";
/// let story = Story { text: text.into(), ..Story::default() };
/// let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
/// let mut sampler = DonorSampler::new(7, 100);
/// sampler.offer(0, &story);
/// let donors = sampler.finish(tagger, lexicon);
///
/// let perturber = Perturber::new(CheckedConfig::default(), &donors, lexicon, tagger);
/// let stream = StreamId::Draw { record: 0, draw: 0 };
/// let negative = perturber.perturb(&story, 7, stream).expect("four sentences can be damaged");
/// assert_ne!(negative.story, story.text);
/// assert!(negative.story.starts_with("Ken woke up."));
/// assert_eq!(undo(&negative.story, &negative.edits)?, story.text);
/// # Ok::<(), storymeter_perturb::Error>(())
/// ```
pub struct Perturber<'a> {
    config: CheckedConfig,
    sources: Sources<'a>,
}

impl<'a> Perturber<'a> {
    /// A sampler with these settings. Foreign words and sentences come from `donors`.
    pub fn new(
        config: CheckedConfig,
        donors: &'a Donors,
        lexicon: &'a Lexicon,
        tagger: &'a Tagger,
    ) -> Self {
        Self { config, sources: Sources { donors, lexicon, tagger } }
    }

    /// The settings.
    pub fn config(&self) -> &CheckedConfig {
        &self.config
    }

    /// Makes a negative sample of `story`. The same seed and stream always give the same sample.
    ///
    /// # Errors
    /// Returns [`Unchanged`] if the story cannot be damaged.
    pub fn perturb(
        &self,
        story: &Story,
        seed: u64,
        stream: StreamId,
    ) -> Result<Perturbation, Unchanged> {
        let mut draw = Draw::new(stream.rng(seed));
        let techniques = self.draw_techniques(&mut draw);
        let mut best: Option<Perturbation> = None;
        for attempt in 1..=ATTEMPTS {
            let mut draft = Draft::new(story);
            if draft.open().is_empty() {
                return Err(Unchanged::OnlyContext);
            }
            let (applied, ineffective): (Vec<_>, Vec<_>) = techniques
                .iter()
                .partition(|technique| self.apply(**technique, &mut draft, &mut draw));
            if draft.text() == story.text {
                continue;
            }
            let complete = ineffective.is_empty();
            if best.as_ref().is_none_or(|b| ineffective.len() < b.ineffective.len()) {
                let (story, edits) = draft.finish();
                best = Some(Perturbation {
                    story,
                    techniques: applied,
                    edits,
                    ineffective,
                    attempts: attempt,
                });
            }
            if complete {
                break;
            }
        }
        best.ok_or(Unchanged::NoEffect)
    }

    /// Draws the number of techniques, and then the techniques without replacement.
    fn draw_techniques(&self, draw: &mut Draw) -> Vec<Technique> {
        let config = self.config.config();
        let drawn = draw.weighted(&config.counts).map_or(1, |index| index + 1);
        let mut weights = config.weights;
        (0..drawn.min(self.config.enabled()))
            .filter_map(|_| {
                let index = draw.weighted(&weights)?;
                weights[index] = 0.0;
                Some(Technique::ALL[index])
            })
            .collect()
    }

    fn apply(&self, technique: Technique, draft: &mut Draft, draw: &mut Draw) -> bool {
        let (sources, config) = (self.sources, self.config.config());
        let share = config.keyword_share;
        // A share of 0 takes no random number, so that the samples of the paper's settings stay the
        // same.
        let chosen = |share: f64, draw: &mut Draw| share > 0.0 && draw.chance(share);
        let beyond_the_paper = match technique {
            Technique::Reordering => {
                chosen(config.garbled, draw) && reordering::garble(draft, draw, sources.tagger)
            }
            Technique::Substitution => {
                chosen(config.spliced, draw) && substitution::splice(draft, draw, sources)
            }
            Technique::Repetition | Technique::Negation => false,
        };
        if beyond_the_paper {
            return true;
        }
        match (config.preset, technique) {
            (Preset::Paper, Technique::Repetition) => repetition::paper(draft, draw),
            (Preset::Paper, Technique::Substitution) => {
                substitution::paper(draft, draw, sources, share)
            }
            (Preset::Paper, Technique::Reordering) => reordering::paper(draft, draw),
            (Preset::Paper, Technique::Negation) => negation::paper(draft, draw, sources.tagger),
            (Preset::ReleasedCode, Technique::Repetition) => repetition::released_code(draft, draw),
            (Preset::ReleasedCode, Technique::Substitution) => {
                substitution::released_code(draft, draw, sources, share)
            }
            (Preset::ReleasedCode, Technique::Reordering) => reordering::released_code(draft, draw),
            (Preset::ReleasedCode, Technique::Negation) => {
                negation::released_code(draft, draw, sources.tagger)
            }
        }
    }
}
