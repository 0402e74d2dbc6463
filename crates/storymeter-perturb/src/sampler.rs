//! Which techniques, in which order, on which story (section 3.2, last paragraph).

use serde::Serialize;
use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

use crate::donors::Donors;
use crate::draft::Draft;
use crate::draw::Draw;
use crate::substitution::Sources;
use crate::{Config, Edit, Preset, Technique};
use crate::{negation, reordering, repetition, substitution};

/// How often a sample that came out wrong is drawn again with the same techniques.
const ATTEMPTS: u32 = 10;

/// A damaged story and exactly what was damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Perturbation {
    /// The damaged story.
    pub story: String,
    /// The techniques that changed something, in the order applied.
    pub techniques: Vec<Technique>,
    /// The changes, in the order applied; see [`crate::apply`].
    pub edits: Vec<Edit>,
    /// Techniques that were drawn and could change nothing in this story.
    #[serde(skip)]
    pub ineffective: Vec<Technique>,
    /// How often the sample was drawn, the last time included.
    #[serde(skip)]
    pub attempts: u32,
}

/// Why a story has no negative sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchanged {
    /// It has nothing but its leading context, so nothing may be changed.
    OnlyContext,
    /// Nothing that was drawn could change it.
    NoEffect,
}

/// Makes negative samples.
///
/// ```
/// use storymeter_core::{Story, rng::StreamId};
/// use storymeter_perturb::{Config, DonorSampler, Perturber, undo};
/// use storymeter_text::{lexicon::Lexicon, tagger::Tagger};
///
/// let story = Story { text: "Ken woke up. He went out. The rain was cold. He ran home.".into(), ..Story::default() };
/// let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
/// let mut sampler = DonorSampler::new(7, 100);
/// sampler.offer(0, &story);
/// let donors = sampler.finish(tagger, lexicon);
///
/// let perturber = Perturber::new(Config::default(), &donors, lexicon, tagger);
/// let stream = StreamId::Draw { record: 0, draw: 0 };
/// let negative = perturber.perturb(&story, 7, stream).expect("four sentences can be damaged");
/// assert_ne!(negative.story, story.text);
/// assert!(negative.story.starts_with("Ken woke up."));
/// assert_eq!(undo(&negative.story, &negative.edits)?, story.text);
/// # Ok::<(), storymeter_perturb::Error>(())
/// ```
pub struct Perturber<'a> {
    config: Config,
    sources: Sources<'a>,
}

impl<'a> Perturber<'a> {
    /// A sampler with these settings; foreign words and sentences come from `donors`.
    pub fn new(
        config: Config,
        donors: &'a Donors,
        lexicon: &'a Lexicon,
        tagger: &'a Tagger,
    ) -> Self {
        Self { config, sources: Sources { donors, lexicon, tagger } }
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A negative sample of `story`. The same seed and stream always give the same sample.
    ///
    /// # Errors
    /// [`Unchanged`] where the story cannot be damaged.
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

    /// The number of techniques, then the techniques without replacement.
    fn draw_techniques(&self, draw: &mut Draw) -> Vec<Technique> {
        let drawn = draw.weighted(&self.config.counts).map_or(1, |index| index + 1);
        let mut weights = self.config.weights;
        (0..drawn.min(self.config.enabled()))
            .filter_map(|_| {
                let index = draw.weighted(&weights)?;
                weights[index] = 0.0;
                Some(Technique::ALL[index])
            })
            .collect()
    }

    fn apply(&self, technique: Technique, draft: &mut Draft, draw: &mut Draw) -> bool {
        let (sources, share) = (self.sources, self.config.keyword_share);
        // Without a share nothing is drawn, so that the paper's samples of a seed do not depend on these settings.
        let chosen = |share: f64, draw: &mut Draw| share > 0.0 && draw.chance(share);
        let beyond_the_paper = match technique {
            Technique::Reordering => {
                chosen(self.config.garbled, draw) && reordering::garble(draft, draw, sources.tagger)
            }
            Technique::Substitution => {
                chosen(self.config.spliced, draw) && substitution::splice(draft, draw, sources)
            }
            Technique::Repetition | Technique::Negation => false,
        };
        if beyond_the_paper {
            return true;
        }
        match (self.config.preset, technique) {
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
