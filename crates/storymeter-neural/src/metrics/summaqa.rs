//! SummaQA: how surely a model finds facts of the reference in the story.
//!
//! Each named entity of the reference becomes a question: its sentence with the entity replaced by
//! the word MASKED. A model that was trained to answer questions (SQuAD) looks for the answer in
//! the story. The score says how sure of its answers it is.
//!
//! Definition: the model reads `[CLS] question [SEP] story [SEP]` and gives every token two logits:
//! one for the start of the answer and one for its end. Softmax over all tokens makes probabilities
//! of them. The answer is the part of the story with the largest product of its start's and its
//! end's probability, and that product is the value of the question. `summaqa` is the mean over all
//! questions. It measures confidence: a sure wrong answer counts as much as a right one. The option
//! `f` gives the mean F1 of the words of the answers and of the entities instead, as SQuAD defines
//! it (lower case, without punctuation and articles).
//!
//! Model: `bert-large-uncased-whole-word-masking-finetuned-squad`. Another model with a head for
//! answers can be given with `--weights summaqa=FOLDER`.
//!
//! Entities are found by rules, not by spaCy's network as in the released program. On HANNA's first
//! 200 stories, 79% of the entities found are exactly spaCy's (`en_core_web_sm` 3.8), and 73% of
//! spaCy's are found; `tools/entities_peer.py` measures it.
//!
//! Long texts: question and story have 384 tokens together. The longer of the two is cut at its
//! end, and stories that are cut are counted.
//!
//! The preset `hanna` repeats what the program does that computed HANNA's column: texts are filled
//! up to 384 tokens with padding, the softmax includes the padding, start and end are chosen
//! independently of each other and may be the last `[SEP]`, and without a question the score is 0.
//!
//! Several references: the questions of all of them are asked.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0, because nothing in it can be an answer. If the reference has no entity, there is
//! no value.
//!
//! Source: Scialom, Lamprier, Piwowarski and Staiano 2019, "Answers Unite! Unsupervised Metrics for
//! Reinforced Summarization Models", in the form of SummEval.
//!
//! Checked against: `transformers` 4.44 for the logits of a small model, and cases computed by
//! hand. HANNA's column itself needs spaCy's entities and is not repeated.

use std::ops::Range as Places;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use storymeter_core::{
    Absence, Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision,
    Prepared, Range, Request, Resources, Rows, Signature, Value, finite_or,
};
use storymeter_encoder::{Batch, Head, Outputs, TextPair, Token, Tokenizer};
use storymeter_text::entities;

use crate::models::{OpenModel, failed};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["summaqa"],
    choices: &[
        Choice::preset("hanna", "as HANNA's published column: softmax over padding too"),
        Choice::new("value", "probability", "the mean probability of the answers (the default)"),
        Choice::new("value", "f", "the mean F1 of the answers' words"),
    ],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::REFERENCE,
    source: include_str!("summaqa.rs"),
    build,
};

const USUAL_MODEL: &str = "bert-large-uncased-whole-word-masking-finetuned-squad";

/// The most tokens of a question and a story together.
const TOKENS: usize = 384;

/// What takes the place of an entity.
const MASKED: &str = "MASKED";

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let model = OpenModel::for_metric(request, USUAL_MODEL, Precision::F32)?;
    model.tokenizer(request.key)?;
    if !model.model().has(Head::Answer) {
        let problem = format!("the model {} has no head for answers", model.name());
        return Err(MetricError::Failed { metric: request.key.to_owned(), source: problem.into() });
    }
    let (hanna, f) = (request.has("hanna"), request.has("f"));
    let signature = model
        .sign(Signature::new("summaqa"))
        .with("entities", "e", "rules")
        .with("value", "val", if f { "f" } else { "probability" })
        .with("softmax", "sm", if hanna { "padded" } else { "tokens" })
        .with("answer", "a", if hanna { "start-and-end" } else { "span" })
        .with("long", "l", format!("cut-{}", TOKENS.min(model.longest())))
        .with("refs", "r", "all");
    let description = request.describe().width(3).in_batches().signature(signature);
    Ok(Box::new(SummaQa { description, model, hanna, f }))
}

struct SummaQa {
    description: Description,
    model: Arc<OpenModel>,
    hanna: bool,
    f: bool,
}

/// A question about a reference.
struct Question {
    ids: Vec<u32>,
    /// The entity.
    answer: String,
}

/// A question to a story, as the model reads it.
struct Task<'a> {
    story: usize,
    question: &'a Question,
    ids: Vec<u32>,
    /// Where the story's tokens are.
    tokens: Places<usize>,
}

impl Metric for SummaQa {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let metric = &self.description.key;
        let tokenizer = self.model.tokenizer(metric)?;
        let mut texts: Vec<&str> =
            stories.iter().flat_map(|story| &story.references).map(|text| text.text()).collect();
        texts.sort_unstable();
        texts.dedup();
        let ask = |text: &&str| questions(text, tokenizer);
        let asked: Vec<Vec<Question>> = texts.par_iter().map(ask).collect();
        let asked: FxHashMap<&str, Vec<Question>> = texts.into_iter().zip(asked).collect();
        let read = |story: &Prepared<'_>| tokenizer.tokenize(story.text.text());
        let tokens: Vec<Vec<Token>> = stories.par_iter().map(read).collect();

        let mut values = vec![0.0; 3 * stories.len()];
        let mut cut = vec![false; stories.len()];
        let most = self.model.tokens_at_once();
        let mut group: Vec<Task<'_>> = Vec::new();
        for (number, story) in stories.iter().enumerate() {
            let questions = story.references.iter().flat_map(|text| &asked[text.text()]);
            for question in questions {
                let (task, is_cut) = self.task(number, question, &tokens[number], tokenizer);
                cut[number] |= is_cut;
                group.push(task);
                if group.iter().map(|task| task.ids.len()).sum::<usize>() >= most {
                    self.answer(&group, stories, &tokens, tokenizer, &mut values)?;
                    group.clear();
                }
            }
        }
        if !group.is_empty() {
            self.answer(&group, stories, &tokens, tokenizer, &mut values)?;
        }
        let cut = cut.into_iter().filter(|&is_cut| is_cut).count() as u64;
        Ok(Rows::from_values(3, values).truncated(cut))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        let (sum, questions) = (if self.f { row[1] } else { row[0] }, row[2]);
        values[0] = if questions > 0.0 {
            finite_or(sum / questions, "the model gives no finite number")
        } else if self.hanna {
            Ok(0.0)
        } else {
            Err(Absence::because("the reference has no entity to ask about"))
        };
    }
}

/// The questions about a text.
fn questions(text: &str, tokenizer: &Tokenizer) -> Vec<Question> {
    let ask = |entity: &entities::Entity| {
        let before = &text[entity.sentence.start..entity.span.start];
        let after = &text[entity.span.end..entity.sentence.end];
        let ids = tokenizer.encode_plain(&format!("{before}{MASKED}{after}"));
        Question { ids, answer: entity.span.of(text).to_owned() }
    };
    entities::find(text).iter().map(ask).collect()
}

impl SummaQa {
    /// A question to a story, and whether something of either was cut.
    fn task<'a>(
        &self,
        story: usize,
        question: &'a Question,
        tokens: &[Token],
        tokenizer: &Tokenizer,
    ) -> (Task<'a>, bool) {
        let limit = TOKENS.min(self.model.longest());
        let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
        let TextPair { ids, second, kept } = tokenizer.pair(&question.ids, &ids, limit);
        let is_cut = kept != (question.ids.len(), tokens.len());
        (Task { story, question, ids, tokens: second..second + kept.1 }, is_cut)
    }

    /// Lets the model answer, and adds up what its answers are worth.
    fn answer(
        &self,
        tasks: &[Task<'_>],
        stories: &[Prepared<'_>],
        tokens: &[Vec<Token>],
        tokenizer: &Tokenizer,
        rows: &mut [f64],
    ) -> Result<(), MetricError> {
        let padded = TOKENS.min(self.model.longest());
        let mut batch = Batch::new();
        for task in tasks {
            let mut ids = task.ids.clone();
            if self.hanna {
                ids.resize(padded, tokenizer.pad().unwrap_or_default());
            }
            batch.push_padded(&ids, task.tokens.start, task.ids.len());
        }
        let all = (0..tasks.len()).flat_map(|at| (0..batch.span(at).len()).map(move |t| (at, t)));
        let run = self.model.model().run(&batch, &Outputs::new().logits(Head::Answer, all));
        let run = run.map_err(|error| failed(&self.description.key, error))?;
        for (at, task) in tasks.iter().enumerate() {
            let logits = batch.span(at).map(|n| run.logits(n));
            let (starts, ends): (Vec<f32>, Vec<f32>) = logits.map(|two| (two[0], two[1])).unzip();
            let (starts, ends) = (probabilities(&starts), probabilities(&ends));
            let row = &mut rows[3 * task.story..][..3];
            row[2] += 1.0;
            let answer = if self.hanna {
                // The last token of segment 1 is the separator.
                let places = task.tokens.start..task.tokens.end + 1;
                let (start, end) = (largest(&starts, places.clone()), largest(&ends, places));
                row[0] += starts[start] * ends[end];
                let pieces = task.ids.get(start..=end).unwrap_or_default();
                let pieces: Vec<&str> =
                    pieces.iter().filter_map(|&id| tokenizer.piece(id)).collect();
                pieces.join(" ")
            } else if let Some((start, end)) = best_span(&starts, &ends, task.tokens.clone()) {
                row[0] += starts[start] * ends[end];
                let token = |place: usize| tokens[task.story][place - task.tokens.start];
                stories[task.story].text.text()[token(start).start..token(end).end].to_owned()
            } else {
                String::new()
            };
            row[1] += f1(&answer, &task.question.answer);
        }
        Ok(())
    }
}

/// Softmax.
fn probabilities(logits: &[f32]) -> Vec<f64> {
    let most = f64::from(logits.iter().copied().fold(f32::MIN, f32::max));
    let powers: Vec<f64> = logits.iter().map(|&logit| (f64::from(logit) - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// The first place of the largest value.
fn largest(values: &[f64], places: Places<usize>) -> usize {
    places.clone().fold(places.start, |best, at| if values[at] > values[best] { at } else { best })
}

/// The start and the end with the largest product, the end not before the start.
fn best_span(starts: &[f64], ends: &[f64], places: Places<usize>) -> Option<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    let mut start = places.start;
    for end in places {
        if starts[end] > starts[start] {
            start = end;
        }
        let product = starts[start] * ends[end];
        if best.is_none_or(|(most, ..)| product > most) {
            best = Some((product, start, end));
        }
    }
    best.map(|(_, start, end)| (start, end))
}

/// The F1 of the words of an answer, as SQuAD defines it.
fn f1(answer: &str, expected: &str) -> f64 {
    let (answer, expected) = (normalised(answer), normalised(expected));
    let mut left: FxHashMap<&str, usize> = FxHashMap::default();
    expected.iter().for_each(|word| *left.entry(word).or_default() += 1);
    let mut same = 0.0;
    for word in &answer {
        if let Some(count) = left.get_mut(word.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            same += 1.0;
        }
    }
    if same == 0.0 { 0.0 } else { 2.0 * same / (answer.len() + expected.len()) as f64 }
}

/// The words of an answer in lower case, without ASCII punctuation and articles.
fn normalised(answer: &str) -> Vec<String> {
    let kept = answer.to_lowercase().replace(|c: char| c.is_ascii_punctuation(), "");
    let words = kept.split_whitespace().filter(|word| !["a", "an", "the"].contains(word));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_does_not_end_before_it_starts() {
        let starts = [0.1, 0.2, 0.4, 0.3];
        let ends = [0.05, 0.5, 0.25, 0.2];
        // 0.4 * 0.5 would be better, but the end is before the start; 0.2 * 0.5 ties with
        // 0.4 * 0.25, and comes first.
        assert_eq!(best_span(&starts, &ends, 1..4), Some((1, 1)));
        assert_eq!(best_span(&starts, &ends, 2..4), Some((2, 2)));
        assert_eq!(best_span(&starts, &ends, 2..2), None);
        assert_eq!((largest(&starts, 0..4), largest(&ends, 0..4)), (2, 1));
    }

    #[test]
    fn probabilities_add_up_to_one_also_for_large_logits() {
        let found = probabilities(&[1000.0, 1000.0, -1000.0]);
        assert_eq!(found, [0.5, 0.5, 0.0]);
    }

    #[test]
    fn answers_are_compared_without_articles_and_punctuation() {
        assert_eq!(f1("The old lamp.", "an old lamp"), 1.0);
        assert_eq!(f1("two years", "two years ago"), 0.8);
        assert_eq!(f1("lamp lamp", "lamp"), 2.0 / 3.0);
        assert_eq!(f1("", "lamp"), 0.0);
        assert_eq!(f1("the", "a"), 0.0);
    }
}
