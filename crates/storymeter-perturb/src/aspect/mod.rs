//! Twins of stories for the test suite of OpenMEVA (Guan et al., ACL 2021): each differs from its
//! original in one [`Aspect`] only.
//!
//! Eight aspects damage the story, and a good metric should prefer the original. Five change the
//! spelling and leave the meaning alone, and one puts around the story what chat models do; a good
//! metric should not care about these six. The file of each aspect says what its rules are and
//! where they differ from those of the released code: that code writes all twins as tokens between
//! blanks, which gives them away, loses the text after the last full stop, and has rules that never
//! fire. Here a twin keeps the spacing, the case and everything else that the aspect does not
//! concern, and every change is recorded.
//!
//! The first sentence is never changed, nor is a prompt that begins the text; a preamble or a title
//! may come before it.
//!
//! ```
//! use storymeter_core::{Aspect, Story};
//! use storymeter_perturb::aspect::TwinMaker;
//! use storymeter_perturb::{DonorSampler, undo};
//! use storymeter_text::{lexicon::Lexicon, tagger::Tagger};
//!
//! let story = Story::from("Ken had a cold. He stayed at home because he felt weak.");
//! let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
//! let donors = DonorSampler::new(0, 100).finish(tagger, lexicon);
//! let maker = TwinMaker::new(&donors, lexicon, tagger);
//! let twin = maker.open(&story).twin(Aspect::Cause, 0, 0).unwrap();
//! assert_eq!(twin.text, "Ken had a cold. He felt weak because he stayed at home.");
//! assert_eq!(twin.rule, "because");
//! assert_eq!(undo(&twin.text, &twin.edits)?, story.text);
//! # Ok::<(), storymeter_perturb::Error>(())
//! ```

mod cause;
mod character;
mod chat;
mod common_sense;
mod consistency;
mod contraction;
mod lexical_repetition;
mod paraphrase;
mod passage;
mod pronoun;
mod punctuation;
mod relatedness;
mod semantic_repetition;
mod synonym;
mod tables;
mod time;
mod typo;

use storymeter_core::rng::StreamId;
use storymeter_core::{Aspect, Story};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

use crate::donors::Donors;
use crate::draft::{Change, replaced};
use crate::draw::Draw;
use crate::replacement::Replacement;
use passage::Passage;
pub use tables::{Paraphrases, TableError, Triples};
pub use typo::mistyped;

/// A story that differs from its original in one aspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// The rule that made it, such as `because`. The documentation of each aspect lists its rules.
    pub rule: &'static str,
    /// The changed story.
    pub text: String,
    /// The changes in the order of their application; see [`crate::apply`].
    pub edits: Vec<Replacement>,
}

/// Why a story has no twin in an aspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoTwin {
    /// The aspect needs a table that the user did not give.
    NoTable,
    /// The story has only its leading context, which is never changed.
    OnlyContext,
    /// No rule of the aspect applies to the story.
    NoRule,
    /// The aspect looks for sentences or facts of a table, and the story has none that it could
    /// use.
    NotInTable,
}

impl NoTwin {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoTable => "the aspect needs a table that was not given",
            Self::OnlyContext => "the story has only its leading context",
            Self::NoRule => "no rule of the aspect applies",
            Self::NotInTable => "the table has nothing that the story could use",
        }
    }
}

/// What a rule wants to change, in the order of the text.
struct Plan {
    rule: &'static str,
    changes: Vec<Change>,
}

impl Plan {
    fn new(rule: &'static str, changes: Vec<Change>) -> Self {
        Self { rule, changes }
    }
}

/// Where foreign words and sentences come from.
#[derive(Clone, Copy)]
struct Sources<'a> {
    donors: &'a Donors,
    lexicon: &'a Lexicon,
    tagger: &'a Tagger,
    paraphrases: Option<&'a Paraphrases>,
    triples: Option<&'a Triples>,
}

/// Makes twins.
#[derive(Clone, Copy)]
pub struct TwinMaker<'a> {
    sources: Sources<'a>,
}

impl<'a> TwinMaker<'a> {
    /// A maker whose foreign words and sentences come from `donors`.
    pub fn new(donors: &'a Donors, lexicon: &'a Lexicon, tagger: &'a Tagger) -> Self {
        Self { sources: Sources { donors, lexicon, tagger, paraphrases: None, triples: None } }
    }

    /// The same maker with sentences in other words, for [`Aspect::SemanticRepetition`] and
    /// [`Aspect::Paraphrase`].
    #[must_use]
    pub fn with_paraphrases(mut self, paraphrases: &'a Paraphrases) -> Self {
        self.sources.paraphrases = Some(paraphrases);
        self
    }

    /// The same maker with facts about the world, for [`Aspect::CommonSense`].
    #[must_use]
    pub fn with_triples(mut self, triples: &'a Triples) -> Self {
        self.sources.triples = Some(triples);
        self
    }

    /// Whether the tables that an aspect needs are there.
    pub fn can_make(&self, aspect: Aspect) -> bool {
        match aspect {
            Aspect::SemanticRepetition | Aspect::Paraphrase => self.sources.paraphrases.is_some(),
            Aspect::CommonSense => self.sources.triples.is_some(),
            _ => true,
        }
    }

    /// Reads a story, of which any number of twins can then be made.
    pub fn open(&self, story: &'a Story) -> OpenStory<'a> {
        let Sources { tagger, lexicon, .. } = self.sources;
        OpenStory { passage: Passage::new(story, tagger, lexicon), maker: *self }
    }
}

/// How often another story is drawn until it differs from this one.
const OTHER_STORIES: usize = 10;

/// A story that is read and tagged.
pub struct OpenStory<'a> {
    passage: Passage<'a>,
    maker: TwinMaker<'a>,
}

impl<'a> OpenStory<'a> {
    /// Another story of the donors that is written in the same way, for metrics that need a
    /// reference where the story has none. `None` if there is no other.
    pub fn other_story(&self, seed: u64, record: u64) -> Option<&'a str> {
        let draw = &mut Draw::new(StreamId::BorrowedReference { record }.rng(seed));
        let donors = self.maker.sources.donors;
        (0..OTHER_STORIES).find_map(|_| {
            let text = donors.text(donors.story(self.passage.style, draw)?);
            (text != self.passage.text).then_some(text)
        })
    }

    /// The twin of the story in an aspect. The same seed and record always give the same twin.
    ///
    /// # Errors
    /// Returns [`NoTwin`] if there is none.
    pub fn twin(&self, aspect: Aspect, seed: u64, record: u64) -> Result<Twin, NoTwin> {
        if !self.maker.can_make(aspect) {
            return Err(NoTwin::NoTable);
        }
        let passage = &self.passage;
        if passage.open().is_empty() {
            return Err(NoTwin::OnlyContext);
        }
        let stream = StreamId::Twin { record, aspect: aspect.index() as u64 };
        let draw = &mut Draw::new(stream.rng(seed));
        let sources = &self.maker.sources;
        let plan = match aspect {
            Aspect::LexicalRepetition => lexical_repetition::plan(passage, draw),
            Aspect::SemanticRepetition => semantic_repetition::plan(passage, draw, sources),
            Aspect::CharacterBehaviour => character::plan(passage, draw),
            Aspect::CommonSense => common_sense::plan(passage, draw, sources),
            Aspect::Consistency => consistency::plan(passage, draw, sources),
            Aspect::Relatedness => relatedness::plan(passage, draw, sources),
            Aspect::Cause => cause::plan(passage, draw),
            Aspect::Time => time::plan(passage, draw),
            Aspect::Synonym => synonym::plan(passage, draw, sources),
            Aspect::Paraphrase => paraphrase::plan(passage, draw, sources),
            Aspect::Punctuation => punctuation::plan(passage),
            Aspect::Contraction => contraction::plan(passage),
            Aspect::Typo => typo::plan(passage, draw, sources),
            Aspect::Chat => chat::plan(passage, draw),
        };
        let none = match aspect {
            Aspect::SemanticRepetition | Aspect::CommonSense | Aspect::Paraphrase => {
                NoTwin::NotInTable
            }
            _ => NoTwin::NoRule,
        };
        let Plan { rule, mut changes } = plan.ok_or(none)?;
        changes.retain(|change| change.span.of(passage.text) != change.after);
        let (text, edits) = replaced(passage.text, &changes);
        if text == passage.text {
            return Err(none);
        }
        Ok(Twin { rule, text, edits })
    }
}
