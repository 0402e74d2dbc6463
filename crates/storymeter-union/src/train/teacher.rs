//! Teachers: trained models whose scores a smaller model learns instead of the plain labels
//! (distillation, Hinton, Vinyals and Dean 2015).
//!
//! A teacher's score tells a slightly damaged story from a badly damaged one. The label does not.

use std::path::Path;

use storymeter_encoder::train::{Backend, Network};
use storymeter_encoder::{Batch, Tokenizer};

use super::dev::batch_logits;
use super::objective::head_tensors;
use super::settings::Settings;
use super::task::Task;
use crate::logistic::sigmoid;
use crate::window::lead;
use crate::{Error, Heads, Kind, Model, Pooling, Result};

/// How a teacher reads stories. The threads that make examples use it.
pub(super) struct Reader {
    tokenizer: Tokenizer,
    limit: usize,
    prompts: bool,
}

impl Reader {
    /// The tokens `[CLS] prompt text [SEP]` for the teacher. The prompt is left out if the teacher
    /// does not read prompts.
    pub fn ids(&self, prompt: Option<&str>, text: &str) -> Vec<u32> {
        let mut ids = lead(&self.tokenizer, prompt.filter(|_| self.prompts), self.limit);
        let room = self.limit - ids.len() - 1;
        ids.extend(self.tokenizer.tokenize(text).iter().take(room).map(|token| token.id));
        ids.extend(self.tokenizer.end());
        ids
    }
}

/// A teacher on the device.
pub(super) struct Teacher<B: Backend> {
    network: Network<B>,
    heads: Heads,
    pooling: Pooling,
}

/// Loads a teacher from its folder. Returns the teacher, how it reads, and its fingerprint.
pub(super) fn load<B: Backend>(
    folder: &Path,
    settings: &Settings,
    backend: B,
) -> Result<(Teacher<B>, Reader, String)> {
    let model = Model::load(folder)?;
    let problem =
        |problem: &str| Error::Model { path: folder.to_owned(), problem: problem.to_owned() };
    if model.card.kind != Kind::Union {
        return Err(problem("the teacher was trained on stories of machines, not on damaged ones"));
    }
    if model.card.normalise != settings.normalise {
        return Err(problem("the teacher reads stories in another way: normalise differs"));
    }
    if model.card.max_tokens < settings.max_tokens {
        return Err(problem("the teacher reads fewer tokens per story than max_tokens"));
    }
    let mut tokenizer = model.tokenizer(folder)?;
    for (text, id) in &model.card.name_tokens {
        tokenizer.add_token(text, *id);
    }
    // The teacher's tokeniser may make more pieces of a text than that of the model.
    let limit = model.config.max_tokens();
    let fingerprint = model.fingerprint();
    let tensors = head_tensors(&model.heads, model.config.hidden);
    let network =
        Network::new(backend, model.config.clone(), &model.scoring_parameters(), &tensors)?;
    let teacher = Teacher { network, heads: model.heads, pooling: model.card.pooling };
    Ok((teacher, Reader { tokenizer, limit, prompts: model.card.prompts }, fingerprint))
}

/// Mixes the mean score of the teachers into the labels of a batch.
pub(super) fn advise<B: Backend>(
    teachers: &[Teacher<B>],
    settings: &Settings,
    task: &mut Task,
) -> Result<()> {
    let Some(count) = std::num::NonZero::new(teachers.len()) else { return Ok(()) };
    let mut sums = vec![0.0; task.human.values.len()];
    for (teacher, batch) in teachers.iter().zip(&task.taught) {
        let logits = teacher.logits(batch)?;
        sums.iter_mut().zip(logits).for_each(|(sum, logit)| *sum += logit);
    }
    for (label, sum) in task.human.values.iter_mut().zip(sums) {
        let logit = sum / count.get() as f64 / settings.teacher_temperature;
        let share = settings.teacher_share;
        *label = (share * sigmoid(logit) + (1.0 - share) * f64::from(*label)) as f32;
    }
    Ok(())
}

impl<B: Backend> Teacher<B> {
    fn logits(&self, batch: &Batch) -> Result<Vec<f64>> {
        batch_logits(&self.network, &self.heads, self.pooling, batch)
    }
}
