//! BLANC: how much one text helps a model to guess hidden words of another.
//!
//! A text that says the same as another makes its words easier to guess. BLANC was made for
//! summaries without references; here the prompt, the story and the reference take the roles of
//! summary and document.
//!
//! Definition: D is the text whose words are hidden, U the text that may help. A masked-word model
//! guesses every eligible word of D twice, without U (base) and with it (assisted). `S01` counts
//! the words that are guessed only with U, `S10` those that are guessed only without, and n is the
//! number of eligible words:
//!
//! ```text
//! BLANC = (S01 - S10) / n
//! ```
//!
//! | column | D | U | how U helps |
//! |---|---|---|---|
//! | `help-ps` | story | prompt | help |
//! | `help-ss` | prompt | story | help |
//! | `tune-ps` | story | prompt | tune |
//! | `tune-ss` | prompt | story | tune |
//! | `golden` | reference | story | tune |
//!
//! *Help*: the model reads `[CLS] U sentence [SEP]`, and for the base as many full stops as U has
//! tokens in place of U. *Tune*: the model reads `[CLS] sentence [SEP]`; for the assisted guess a
//! copy of it has learnt U before.
//!
//! Words: D is split into sentences as NLTK's Punkt does it, and they are guessed one by one. A
//! word is eligible if it has at least four characters, or if it is made of several pieces and the
//! first has at least two; then the first piece is hidden. Of each sentence there are two masked
//! copies: one hides the eligible pieces at even places, the other those at odd places.
//!
//! Learning: U is cut into chunks of 64 pieces that begin 32 pieces apart, and the first 32 pieces
//! are a chunk of their own, so that all pieces are learnt twice. Chunks are masked like sentences,
//! but of the hidden pieces one in ten is replaced by a random piece and one in ten stays visible.
//! The copy reads these lessons ten times in order, one per step: AdamW with learning rate 5e-5,
//! which falls to 0 in a straight line, weight decay 0.01 except for biases and norms, dropout as
//! the configuration of the model says (0.1), no clipping. It computes in 32 bits on every device.
//!
//! Random numbers follow from the seed and from the tokens of U. The same texts therefore get the
//! same score in any order and in any file. The published values of Tune cannot be repeated to the
//! last word, because the released code sets no seed.
//!
//! Cost: Help reads each sentence of D four times. A text of 400 pieces that is learnt takes 280
//! steps of training, so Tune takes minutes per story with `bert-base-uncased` on a processor.
//! `blanc:help` leaves Tune out. A text that several columns or stories have to learn is learnt
//! once per batch.
//!
//! Long texts: D is read sentence by sentence, and Tune learns all of U. What does not fit into the
//! 512 tokens of the model is cut: the sentence from its end down to 100 pieces, then U by whole
//! sentences from its end. Such stories are counted as truncated.
//!
//! Several references: the mean over the references that have eligible words.
//!
//! Many stories: the mean of their scores.
//!
//! A story without a prompt has only `golden`, and one without a reference lacks `golden`; the
//! other cells are absent with the reason. A column is also absent if D has no eligible word. If U
//! is empty or has nothing to learn from, it does not help, and the score is 0.
//!
//! Preset `hanna`: the columns of HANNA, as SummEval's class computes them: 24 lessons per step
//! instead of one, 0 instead of an absent value where D has no eligible word, and sentences that do
//! not end at typographic quotation marks.
//!
//! Reading the score: -1 to 1 in steps of 1/n. A prompt often has only 5 to 40 eligible words, so
//! the columns whose D is the prompt are coarse.
//!
//! Checked against: blanc 0.3.4 on a tiny model. Questions and guesses are equal, and a model that
//! has learnt a text without dropout has the same logits to 1e-3. Sentences follow the rules of
//! NLTK's Punkt with shorter lists of abbreviations.
//!
//! Model: `bert-base-uncased` with its head for masked words.
//!
//! Source: Vasilyev et al., Eval4NLP 2020; the columns are those of Chhun et al., COLING 2022.

mod masking;
#[cfg(test)]
mod peer_tests;
mod question;
#[cfg(test)]
mod tests;
mod tune;
mod tutor;

use std::collections::BTreeMap;
use std::sync::Arc;

use storymeter_core::rng::CounterId;
use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision, Prepared, Range,
    Request, Resources, Rows, Signature, Value,
};
use storymeter_encoder::train::MaskedWordWeights;
use storymeter_encoder::{Head, Stream};
use storymeter_text::sentence::PunktQuotes;

use crate::absent::{Reason as _, reasons, row_values};
use crate::masked;
use crate::models::{OpenModel, failed};
use question::{Question, Vocabulary};
use tutor::{Course, Tutor};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["blanc"],
    choices: &[
        Choice::new("columns", "help", "only the columns of Help, which are cheap"),
        Choice::new("columns", "tune", "only the columns of Tune, `golden` among them"),
        Choice::preset("hanna", "as published by HANNA"),
    ],
    direction: Direction::Higher,
    range: Range::between(-1.0, 1.0),
    needs: Needs::STORY,
    source: include_str!("blanc.rs"),
    build: |request| Ok(Box::new(Blanc::new(request)?)),
};

/// The usual name of the model.
const MODEL: &str = "bert-base-uncased";
/// The number of lessons per step in SummEval's class.
const LESSONS_PER_STEP_OF_HANNA: usize = 24;

/// A column: which text is guessed, which one helps, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    HelpPs,
    HelpSs,
    TunePs,
    TuneSs,
    Golden,
}

impl Column {
    const ALL: [Self; 5] = [Self::HelpPs, Self::HelpSs, Self::TunePs, Self::TuneSs, Self::Golden];

    fn name(self) -> &'static str {
        match self {
            Self::HelpPs => "help-ps",
            Self::HelpSs => "help-ss",
            Self::TunePs => "tune-ps",
            Self::TuneSs => "tune-ss",
            Self::Golden => "golden",
        }
    }

    fn is_help(self) -> bool {
        matches!(self, Self::HelpPs | Self::HelpSs)
    }

    /// Each text to guess with the text that helps, or why there are none.
    fn pairs<'a>(self, story: &Prepared<'a>) -> Result<Vec<(&'a str, &'a str)>, Gap> {
        let text = story.text.text();
        let prompt = || story.prompt.as_ref().map(|prompt| prompt.text()).ok_or(Gap::NoPrompt);
        match self {
            Self::HelpPs | Self::TunePs => Ok(vec![(text, prompt()?)]),
            Self::HelpSs | Self::TuneSs => Ok(vec![(prompt()?, text)]),
            Self::Golden if story.references.is_empty() => Err(Gap::NoReference),
            Self::Golden => {
                Ok(story.references.iter().map(|reference| (reference.text(), text)).collect())
            }
        }
    }
}

reasons! {
    Gap {
        NoPrompt = "the story has no prompt",
        NoReference = "the story has no reference",
        NothingHidden = "the text to guess has no word of at least four letters",
    }
}

/// A text whose words are guessed for one column of a story.
struct Task<'a> {
    story: usize,
    column: usize,
    document: &'a str,
    helper: &'a str,
}

/// What came of a task.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Outcome {
    /// Words that were guessed only with the helping text.
    gained: usize,
    /// Words that were guessed only without it.
    lost: usize,
    /// All words that were hidden.
    hidden: usize,
    /// Whether something did not fit into the model.
    cut: bool,
}

impl Outcome {
    /// Compares two lists of guesses with the right answers.
    fn new(questions: &[Question], base: &[u32], assisted: &[u32], cut: bool) -> Self {
        let answers = questions.iter().flat_map(|question| &question.answers);
        let mut outcome = Self { cut, ..Self::default() };
        for ((answer, base), assisted) in answers.zip(base).zip(assisted) {
            outcome.hidden += 1;
            match (base == answer, assisted == answer) {
                (false, true) => outcome.gained += 1,
                (true, false) => outcome.lost += 1,
                _ => {}
            }
        }
        outcome
    }

    fn score(self) -> Option<f64> {
        let net = self.gained as f64 - self.lost as f64;
        (self.hidden > 0).then(|| net / self.hidden as f64)
    }
}

struct Blanc {
    description: Description,
    columns: Vec<Column>,
    model: Arc<OpenModel>,
    /// Where copies of the model learn, if a column needs any.
    tutor: Option<Tutor>,
    lessons_per_step: usize,
    /// The value where nothing could be hidden, if it is not absent.
    nothing_hidden: Option<f64>,
    /// The number of tokens that the model can read.
    longest: usize,
    quotes: PunktQuotes,
    seed: u64,
}

impl Blanc {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let model = OpenModel::for_metric(request, MODEL, Precision::F32)?;
        let (longest, hanna) = (model.longest(), request.has("hanna"));
        let quotes = if hanna { PunktQuotes::Straight } else { PunktQuotes::All };
        let vocabulary = Vocabulary::new(model.tokenizer(request.key)?, longest, quotes);
        if vocabulary.is_none() || !model.model().has(Head::MaskedWord) {
            return Err(no_head(request.key, model.name()));
        }
        let is_wanted = |column: &Column| match request.chosen("columns") {
            Some("help") => column.is_help(),
            Some(_) => !column.is_help(),
            None => true,
        };
        let columns: Vec<Column> = Column::ALL.into_iter().filter(is_wanted).collect();
        let tunes = columns.iter().any(|column| !column.is_help());
        let tutor = if tunes {
            let open = || {
                MaskedWordWeights::open(model.path()).map_err(|error| failed(request.key, error))
            };
            let weights = request.resources.shared(&model.path().display().to_string(), open)?;
            let tutor = Tutor::open(model.device(), weights);
            Some(tutor.map_err(|error| failed(request.key, error))?)
        } else {
            None
        };
        let seed = request.resources.settings().seed;
        let lessons_per_step = if hanna { LESSONS_PER_STEP_OF_HANNA } else { 1 };
        let sentences = if hanna { "punkt-2022" } else { "punkt" };
        let signature = model.sign(Signature::new(request.id));
        let mut signature = signature.with("sentences", "s", sentences);
        if tunes {
            signature = signature.with("batch", "b", lessons_per_step).with("seed", "seed", seed);
        }
        let names = columns.iter().map(|column| column.name());
        let description = request.describe().family(names).width(2 * columns.len()).in_batches();
        Ok(Self {
            description: description.signature(signature),
            columns,
            model,
            tutor,
            lessons_per_step,
            nothing_hidden: hanna.then_some(0.0),
            longest,
            quotes,
            seed,
        })
    }

    fn failed(&self, error: storymeter_encoder::Error) -> MetricError {
        failed(&self.description.key, error)
    }

    /// The outcomes of the tasks of Help, in order.
    fn helped(
        &self,
        tasks: &[&Task<'_>],
        vocabulary: Vocabulary<'_>,
    ) -> Result<Vec<Outcome>, MetricError> {
        let asked: Vec<_> = tasks
            .iter()
            .map(|task| {
                let document = vocabulary.sentences(task.document);
                let help = vocabulary.sentences(task.helper);
                vocabulary.with_and_without_help(&document, &help)
            })
            .collect();
        let questions =
            asked.iter().flat_map(|(with, without)| with.questions.iter().chain(without));
        let mut guesses = Vec::new();
        masked::predict(self.model.model(), questions, |_: &[&Question], logits| {
            guesses.extend(logits.iter().map(|logits| most_probable(logits)));
        })
        .map_err(|error| self.failed(error))?;
        let mut guesses = guesses.as_slice();
        let mut next = |count: usize| {
            let (now, later) = guesses.split_at(count);
            guesses = later;
            now
        };
        let outcome = |(with, without): &(question::Asked, Vec<Question>)| {
            let hidden = without.iter().map(|question| question.answers.len()).sum();
            let (assisted, base) = (next(hidden), next(hidden));
            Outcome::new(without, base, assisted, with.cut)
        };
        Ok(asked.iter().map(outcome).collect())
    }

    /// The outcomes of the tasks of Tune, in order, on the device of the model.
    fn tuned(
        &self,
        tasks: &[&Task<'_>],
        vocabulary: Vocabulary<'_>,
    ) -> Result<Vec<Outcome>, MetricError> {
        let Some(tutor) = &self.tutor else { return Ok(Vec::new()) };
        let mut outcomes = vec![Outcome::default(); tasks.len()];
        let mut by_helper: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, task) in tasks.iter().enumerate() {
            by_helper.entry(task.helper).or_default().push(number);
        }
        for (helper, numbers) in by_helper {
            let asked: Vec<_> = numbers
                .iter()
                .map(|&number| vocabulary.questions(&vocabulary.sentences(tasks[number].document)))
                .collect();
            let learnt = vocabulary.tokens(helper);
            let root = CounterId::Tuning.descend(Stream::new(self.seed), Stream::child);
            let random = learnt.iter().fold(root, |stream, &token| stream.child(u64::from(token)));
            let lessons = vocabulary.lessons(&learnt, random.child(0));
            let is_idle = lessons.is_empty() || asked.iter().all(|one| one.questions.is_empty());
            let guesses = if is_idle {
                // Nothing is learnt or asked. Any guess that is the same twice will do.
                let unmoved = |one: &question::Asked| {
                    one.questions.iter().flat_map(|question| question.answers.clone()).collect()
                };
                asked.iter().map(unmoved).map(|same: Vec<u32>| (same.clone(), same)).collect()
            } else {
                let course = Course {
                    asked: asked.iter().map(|one| one.questions.clone()).collect(),
                    lessons,
                    lessons_per_step: self.lessons_per_step,
                    dropout: random.child(1),
                };
                tutor.teach(course).map_err(|error| self.failed(error))?
            };
            for ((number, one), (base, assisted)) in numbers.iter().zip(&asked).zip(guesses) {
                outcomes[*number] = Outcome::new(&one.questions, &base, &assisted, one.cut);
            }
        }
        Ok(outcomes)
    }
}

fn no_head(metric: &str, model: &str) -> MetricError {
    MetricError::Failed {
        metric: metric.to_owned(),
        source: format!("the model {model} cannot predict hidden words").into(),
    }
}

/// The place of the largest number, the first one of several.
fn most_probable(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (place, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = place;
        }
    }
    best as u32
}

impl Metric for Blanc {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let tokenizer = self.model.tokenizer(&self.description.key)?;
        let Some(vocabulary) = Vocabulary::new(tokenizer, self.longest, self.quotes) else {
            return Err(no_head(&self.description.key, self.model.name()));
        };
        let width = 2 * self.columns.len();
        let mut rows = vec![0.0; stories.len() * width];
        let mut tasks = Vec::new();
        for (number, story) in stories.iter().enumerate() {
            for (at, column) in self.columns.iter().enumerate() {
                match column.pairs(story) {
                    Ok(pairs) => tasks.extend(pairs.into_iter().map(|(document, helper)| Task {
                        story: number,
                        column: at,
                        document,
                        helper,
                    })),
                    Err(gap) => rows[number * width + 2 * at + 1] = gap.number() as f64,
                }
            }
        }
        let (help, tune): (Vec<&Task<'_>>, Vec<&Task<'_>>) =
            tasks.iter().partition(|task| self.columns[task.column].is_help());
        let mut outcomes = self.helped(&help, vocabulary)?;
        outcomes.extend(self.tuned(&tune, vocabulary)?);

        // The tasks of one cell are its references.
        let mut cells: BTreeMap<(usize, usize), Vec<Outcome>> = BTreeMap::new();
        let mut cut = vec![false; stories.len()];
        for (task, outcome) in help.iter().chain(&tune).zip(outcomes) {
            cells.entry((task.story, task.column)).or_default().push(outcome);
            cut[task.story] |= outcome.cut;
        }
        for ((story, column), outcomes) in cells {
            let scores: Vec<f64> = outcomes.into_iter().filter_map(Outcome::score).collect();
            let cell = &mut rows[story * width + 2 * column..][..2];
            match (scores.is_empty(), self.nothing_hidden) {
                (false, _) => cell[0] = scores.iter().sum::<f64>() / scores.len() as f64,
                (true, Some(value)) => cell[0] = value,
                (true, None) => cell[1] = Gap::NothingHidden.number() as f64,
            }
        }
        let cut = cut.into_iter().filter(|cut| *cut).count() as u64;
        Ok(Rows::from_values(width, rows).truncated(cut))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        for (cell, value) in row.chunks_exact(2).zip(values) {
            row_values::<Gap>(cell, std::slice::from_mut(value));
        }
    }
}
