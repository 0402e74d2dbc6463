//! A copy of a masked-word model learns a text.

use storymeter_encoder::train::{
    AdamW, Backend, ForwardOptions, MaskedWordHead, MaskedWordWeights, Network, Optimiser,
    warm_up_then_linear,
};
use storymeter_encoder::{Batch, Result, Stream};

use super::most_probable;
use super::question::Question;

/// The number of times that the lessons are read.
const EPOCHS: u64 = 10;
/// The learning rate of the first step. It falls to 0 in a straight line.
const RATE: f32 = 5e-5;
/// The number of hidden words that are predicted at once. Each needs one number per word of the
/// vocabulary.
const PREDICTED_AT_ONCE: usize = 128;
/// The number of the sum in which the network gathers the loss.
const LOSS: usize = 0;

/// A copy of a model that can learn.
pub(super) struct Pupil<B: Backend> {
    network: Network<B>,
    head: MaskedWordHead,
}

impl<B: Backend> Pupil<B> {
    pub(super) fn new(backend: B, weights: &MaskedWordWeights) -> Result<Self> {
        let MaskedWordWeights { config, encoder, head } = weights;
        let network = Network::new(backend, config.clone(), encoder, head)?;
        let head = network.masked_word_head(0);
        Ok(Self { network, head })
    }

    /// Learns from lessons, `batch` of them at a time, and returns the loss of each step. The
    /// random numbers of dropout come from `dropout`; `None` turns dropout off.
    pub(super) fn learn(
        &mut self,
        lessons: &[Question],
        batch: usize,
        dropout: Option<Stream>,
    ) -> Result<Vec<f64>> {
        let mut optimiser = Optimiser::new(AdamW { clip: f32::INFINITY, ..AdamW::default() });
        let batches: Vec<&[Question]> = lessons.chunks(batch).collect();
        let steps = EPOCHS * batches.len() as u64;
        let mut losses = Vec::with_capacity(steps as usize);
        for step in 0..steps {
            let lessons = batches[step as usize % batches.len()];
            let dropout = dropout.map(|stream| stream.child(step));
            self.network.clear_gradients();
            losses.push(self.read(lessons, ForwardOptions { dropout, ..Default::default() })?);
            optimiser.step(&mut self.network, warm_up_then_linear(RATE, step, 0, steps));
        }
        Ok(losses)
    }

    /// The loss of some lessons: the mean over their hidden words. Gradients are added.
    fn read(&mut self, lessons: &[Question], options: ForwardOptions) -> Result<f64> {
        let (batch, rows) = packed(lessons);
        let targets: Vec<u32> =
            lessons.iter().flat_map(|lesson| lesson.answers.iter().copied()).collect();
        let weights = vec![1.0 / rows.len() as f32; rows.len()];
        let trace = self.network.forward(&batch, options)?;
        let mut states = self.network.states(&trace);
        self.network.masked_word_loss(&mut states, self.head, (&rows, &targets, &weights), LOSS);
        let gradient = states.into_gradient();
        self.network.backward(trace, gradient);
        Ok(self.network.take_losses()?[LOSS])
    }

    /// The most probable word at each hidden place, for all questions in order.
    pub(super) fn predictions(&self, questions: &[Question]) -> Result<Vec<u32>> {
        let mut predictions = Vec::new();
        self.each_logits(questions, |logits| predictions.push(most_probable(logits)))?;
        Ok(predictions)
    }

    /// Calls `take` with the logits of each hidden word, in order.
    pub(super) fn each_logits(
        &self,
        questions: &[Question],
        mut take: impl FnMut(&[f32]),
    ) -> Result<()> {
        let mut questions = questions;
        while !questions.is_empty() {
            let mut hidden = 0;
            let enough = questions.iter().position(|question| {
                hidden += question.masked.hidden.len();
                hidden >= PREDICTED_AT_ONCE
            });
            let (now, later) = questions.split_at(enough.map_or(questions.len(), |at| at + 1));
            let (batch, rows) = packed(now);
            let logits = self.network.masked_word_logits(&batch, self.head, &rows)?;
            logits.chunks_exact(self.network.config().vocabulary).for_each(&mut take);
            questions = later;
        }
        Ok(())
    }
}

/// Questions as a batch, and the rows of their hidden words in it.
fn packed(questions: &[Question]) -> (Batch, Vec<u32>) {
    let batch: Batch = questions.iter().map(|question| question.masked.ids.as_slice()).collect();
    let mut rows = Vec::new();
    for (at, question) in questions.iter().enumerate() {
        let start = batch.span(at).start;
        rows.extend(question.masked.hidden.iter().map(|place| (start + place) as u32));
    }
    (batch, rows)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;
    use storymeter_encoder::train::Cpu;

    use super::*;
    use crate::masked::Masked;
    use crate::support;

    fn list(values: &Value) -> Vec<f64> {
        values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    }

    fn questions(values: &Value) -> Vec<Question> {
        let ids = |values: &Value| list(values).into_iter().map(|id| id as u32).collect();
        let question = |value: &Value| Question {
            masked: Masked {
                ids: ids(&value["ids"]),
                hidden: list(&value["hidden"]).into_iter().map(|at| at as usize).collect(),
            },
            answers: ids(&value["answers"]),
        };
        values.as_array().unwrap().iter().map(question).collect()
    }

    fn pupil() -> Pupil<Cpu> {
        pupil_on(Cpu::default())
    }

    fn pupil_on<B: Backend>(backend: B) -> Pupil<B> {
        let folder = tempfile::tempdir().unwrap();
        support::write_masked_model(folder.path());
        let weights = MaskedWordWeights::open(folder.path()).unwrap();
        Pupil::new(backend, &weights).unwrap()
    }

    fn fixture() -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tuning.json");
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    /// Lets a copy of the tiny model learn for sixty steps without dropout, and compares guesses,
    /// logits and losses with PyTorch's.
    fn learns_like_pytorch<B: Backend>(mut pupil: Pupil<B>, tolerance: f64) {
        let fixture = fixture();
        let (lessons, asked) = (questions(&fixture["lessons"]), questions(&fixture["questions"]));
        let check = |pupil: &Pupil<B>, predictions: &str, logits: &str| {
            let found: Vec<f64> =
                pupil.predictions(&asked).unwrap().into_iter().map(f64::from).collect();
            assert_eq!(found, list(&fixture[predictions]), "{predictions}");
            let mut expected = list(&fixture[logits]).into_iter();
            pupil
                .each_logits(&asked, |row| {
                    let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
                    let expected = expected.next().unwrap();
                    assert!((largest - expected).abs() < tolerance, "{largest} {expected}");
                })
                .unwrap();
            assert_eq!(expected.next(), None, "a row per hidden word");
        };
        check(&pupil, "predictions_before", "largest_logits_before");
        let losses = pupil.learn(&lessons, 1, None).unwrap();
        let expected = list(&fixture["losses"]);
        assert_eq!(losses.len(), expected.len());
        for (step, (loss, expected)) in losses.iter().zip(&expected).enumerate() {
            assert!((loss - expected).abs() < tolerance, "step {step}: {loss}, not {expected}");
        }
        check(&pupil, "predictions_after", "largest_logits_after");
    }

    #[test]
    fn sixty_steps_without_dropout_are_pytorchs() {
        learns_like_pytorch(pupil(), 1e-4);
    }

    #[cfg(feature = "cuda")]
    #[test]
    #[ignore = "needs an NVIDIA GPU"]
    fn sixty_steps_on_a_gpu_are_pytorchs() {
        let gpu = storymeter_encoder::cuda::Cuda::<f32>::open(0).unwrap();
        learns_like_pytorch(pupil_on(gpu), 2e-3);
    }

    #[test]
    fn dropout_and_larger_batches_change_what_is_learnt_and_equal_streams_do_not() {
        let fixture = fixture();
        let lessons = questions(&fixture["lessons"]);
        let learn = |batch, dropout| pupil().learn(&lessons, batch, dropout).unwrap();
        let with_dropout = learn(1, Some(Stream::new(3)));
        assert_eq!(with_dropout, learn(1, Some(Stream::new(3))));
        assert_ne!(with_dropout, learn(1, Some(Stream::new(4))));
        assert_ne!(with_dropout, list(&fixture["losses"]));
        assert_eq!(learn(24, None).len(), 10, "all six lessons are one batch");
        assert_eq!(learn(4, None).len(), 20);
        assert_eq!(pupil().learn(&[], 1, None).unwrap(), Vec::<f64>::new());
    }
}
