//! Predicts ratings with a loaded model.

use std::path::Path;

use rayon::prelude::*;
use storymeter_core::{Signature, Story};
use storymeter_encoder::Precision;

use super::cover::covered;
use super::read::{has_words, windows};
use super::similarity::Comparer;
use super::{CriteriaCard, Criterion, SentenceScorer};
#[cfg(feature = "cuda")]
use crate::GpuPrecision;
use crate::opened::Opened;
use crate::{Card, EmbeddedModel, Kind, Result, StoredModel, UnionScorer};

/// The outputs of a model for one story, before calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// The output for each criterion in standard units, in the order of the card: that of its head,
    /// which is the mean over the windows, weighted by tokens, and the share of UNION's score.
    pub outputs: Vec<f64>,
    /// How close the story is to its prompt ([`super::SentenceScorer::closeness`]). `None`
    /// if the model has no sentence encoder, or the story has no prompt with a letter or digit.
    pub cosine: Option<f64>,
    /// The number of windows in which the story was read. A text is never cut off.
    pub windows: usize,
}

/// A predicted rating.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The rating, on the scale of the readers. It is the output of the head itself if the model is
    /// not calibrated.
    pub value: f64,
    /// The range that held 80% of the ratings of held-out stories with such a prediction. `None` if
    /// nobody has measured it.
    pub interval: Option<[f64; 2]>,
}

/// Why there is no prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.reason())]
pub enum Unpredicted {
    /// The story has no letter or digit.
    NoWords,
    /// The criterion is about story and prompt, and there is no prompt with a letter or digit.
    NoPrompt,
}

impl Unpredicted {
    /// The reason in words, as tables and files give it.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoWords => "the text has no words",
            Self::NoPrompt => "the story has no prompt",
        }
    }
}

/// The predictions for one story, in the order of the card.
pub type Predictions = Vec<Result<Prediction, Unpredicted>>;

/// A loaded model that predicts ratings.
///
/// ```
/// use storymeter_core::Story;
/// use storymeter_union::{EmbeddedModel, criteria::CriteriaScorer};
///
/// # if !EmbeddedModel::Criteria.is_included() { return Ok(()); }
/// let scorer = CriteriaScorer::embedded()?;
/// let story = Story {
///     prompt: Some("A kite that nobody can find".into()),
///     ..Story::from("Ken lost his kite. He looked in the barn. It hung there.")
/// };
/// let predictions = scorer.score(&[&story])?;
/// for (criterion, prediction) in scorer.criteria().heads.iter().zip(&predictions[0]) {
///     println!("{} {:?}", criterion.name, prediction);
/// }
/// # Ok::<(), storymeter_union::Error>(())
/// ```
pub struct CriteriaScorer {
    pub(super) model: Opened,
    criteria: CriteriaCard,
}

/// The mean of the vectors of a text's tokens.
pub(super) struct TextVector {
    pub mean: Vec<f64>,
    pub windows: usize,
}

impl CriteriaScorer {
    /// Loads the criteria model that is part of the program. If the program was built without it
    /// ([`EmbeddedModel::is_included`]), the file `criteria.smq` is read from one of the
    /// [`crate::search_folders`].
    ///
    /// # Errors
    /// Returns [`Error::MissingModel`](crate::Error::MissingModel) if the program has no such model
    /// and no folder has its file.
    pub fn embedded() -> Result<Self> {
        Self::new(Opened::from_stored(&StoredModel::embedded_model(EmbeddedModel::Criteria)?)?)
    }

    /// Loads a model from a folder that training wrote, or from a model file.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model, if a model file is asked to compute in f32,
    /// or if the model does not predict ratings.
    pub fn load(path: &Path, precision: Precision) -> Result<Self> {
        Self::new(Opened::load(path, precision)?)
    }

    /// Loads a model to predict on the NVIDIA GPU with this number. In int8 the predictions are
    /// those of the CPU, byte for byte.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model, if there is no such GPU or no driver, or if
    /// the model does not fit into the GPU's memory.
    #[cfg(feature = "cuda")]
    pub fn load_on_gpu(path: &Path, gpu: usize, precision: GpuPrecision) -> Result<Self> {
        Self::new(Opened::load_on_gpu(path, gpu, precision)?)
    }

    /// Makes a model file ready to predict.
    ///
    /// # Errors
    /// Returns an error if its parts do not fit together, or if the model does not predict ratings.
    pub fn from_stored(model: &StoredModel) -> Result<Self> {
        Self::new(Opened::from_stored(model)?)
    }

    /// A scorer of an open model.
    pub(crate) fn new(model: Opened) -> Result<Self> {
        let model = model.of_kind(&[Kind::Criteria])?;
        // A card of this kind without criteria is refused when it is read.
        let criteria = model.card.criteria.clone().unwrap_or_default();
        Ok(Self { model, criteria })
    }

    /// The same model with windows of another size, in tokens.
    ///
    /// # Errors
    /// Returns [`Error::Window`](crate::Error::Window) if the encoder cannot read windows of this
    /// size.
    pub fn with_window(self, max_tokens: usize) -> Result<Self> {
        Ok(Self { model: self.model.with_window(max_tokens)?, ..self })
    }

    /// The model's card.
    pub fn card(&self) -> &Card {
        &self.model.card
    }

    /// The criteria of the model, in the order of its predictions.
    pub fn criteria(&self) -> &CriteriaCard {
        &self.criteria
    }

    /// Everything that a prediction depends on besides the story and its prompt.
    pub fn signature(&self) -> Signature {
        self.model.signature()
    }

    /// The number of tokens that have gone through the model so far, its sentence encoder included.
    pub fn tokens_read(&self) -> u64 {
        let sentences = self.model.sentences.as_deref();
        self.model.tokens_read() + sentences.map_or(0, SentenceScorer::tokens_read)
    }

    /// Predicts the ratings of stories, and returns one list of predictions per story in the same
    /// order.
    ///
    /// On the CPU, and in int8 on a GPU, the predictions for a story do not depend on the other
    /// stories or on the number of threads.
    ///
    /// # Errors
    /// Fails only on a GPU, as [`crate::UnionScorer::score`] does.
    pub fn score(&self, stories: &[&Story]) -> Result<Vec<Predictions>> {
        self.score_beside(stories, |union| plain_probabilities(union, stories))
    }

    /// As [`CriteriaScorer::score`], where `probabilities` gives UNION's scores of the stories.
    pub(super) fn score_beside(
        &self,
        stories: &[&Story],
        probabilities: impl FnOnce(&UnionScorer) -> Result<Vec<f64>> + Send,
    ) -> Result<Vec<Predictions>> {
        let raw = self.outputs_of(stories, self.criteria.needs_prompt(), probabilities)?;
        Ok(raw.iter().map(|raw| self.predictions(raw.as_ref())).collect())
    }

    /// The outputs of the heads and the similarity of prompt and story, before calibration. `None`
    /// for a story without a letter or digit.
    ///
    /// # Errors
    /// As [`CriteriaScorer::score`].
    pub fn raw(&self, stories: &[&Story]) -> Result<Vec<Option<Raw>>> {
        self.outputs_of(stories, true, |union| plain_probabilities(union, stories))
    }

    fn outputs_of(
        &self,
        stories: &[&Story],
        with_prompts: bool,
        probabilities: impl FnOnce(&UnionScorer) -> Result<Vec<f64>> + Send,
    ) -> Result<Vec<Option<Raw>>> {
        let Opened { tokenizer, card, sentences, .. } = &self.model;
        let read = |story: &&Story| match has_words(&story.text) {
            true => windows(tokenizer, card, story),
            false => Vec::new(),
        };
        let read: Vec<Vec<Vec<u32>>> = stories.par_iter().map(read).collect();
        let sequences: Vec<&[u32]> = read.iter().flatten().map(Vec::as_slice).collect();
        let closeness = || match sentences.as_ref().filter(|_| with_prompts) {
            Some(sentences) => sentences.closeness(stories),
            None => Ok(vec![None; stories.len()]),
        };
        // The three models work side by side, so that no thread waits for the end of a batch.
        let (union, (vectors, closeness)) = rayon::join(
            || self.union(stories.len(), probabilities),
            || rayon::join(|| self.model.vectors(&sequences), closeness),
        );
        let (union, mut closeness, mut vectors) = (union?, closeness?, vectors?.into_iter());
        let of_story = |windows: &Vec<Vec<u32>>| vectors.by_ref().take(windows.len()).collect();
        let vectors: Vec<Vec<Vec<f32>>> = read.iter().map(of_story).collect();
        if with_prompts && !self.model.heads.sentence.is_empty() {
            closeness = self.own_closeness(stories, &vectors)?;
        }
        let raw = |(((windows, vectors), cosine), union): (((&Vec<_>, Vec<_>), _), f64)| {
            let lengths = windows.iter().map(Vec::<u32>::len);
            let vector = TextVector::new(lengths.zip(vectors))?;
            Some(self.raw_of(&vector, cosine, union))
        };
        Ok(read.iter().zip(vectors).zip(closeness).zip(union).map(raw).collect())
    }

    /// How close stories are to their prompts, by the sentence vectors of the model itself
    /// ([`CriteriaCard::sentence`]). `None` where there is no prompt, and for all stories if the
    /// model makes no such vectors.
    ///
    /// # Errors
    /// As [`CriteriaScorer::score`].
    pub fn closeness(&self, stories: &[&Story]) -> Result<Vec<Option<f64>>> {
        if self.criteria.sentence == 0 {
            return Ok(vec![None; stories.len()]);
        }
        // UNION's score has no part in the closeness, so any number will do and it is not computed.
        let any = |_: &UnionScorer| Ok(vec![0.5; stories.len()]);
        let raw = self.outputs_of(stories, true, any)?;
        Ok(raw.into_iter().map(|raw| raw?.cosine).collect())
    }

    /// The same from the vectors of the stories' windows, which are not read again.
    fn own_closeness(
        &self,
        stories: &[&Story],
        vectors: &[Vec<Vec<f32>>],
    ) -> Result<Vec<Option<f64>>> {
        let comparer = Comparer { model: &self.model };
        let prompts = comparer.prompts(stories)?;
        let similar = |(prompt, windows): (&Option<usize>, &Vec<Vec<f32>>)| {
            comparer.similarity(&prompts.vectors[(*prompt)?], windows)
        };
        let similarities: Vec<Option<f64>> = prompts.of.iter().zip(vectors).map(similar).collect();
        Ok(covered(&self.model, stories, &similarities))
    }

    /// What compares stories with prompts, if the model can.
    pub(super) fn comparer(&self) -> Option<Comparer<'_>> {
        let own = Comparer { model: &self.model };
        match &self.model.sentences {
            Some(sentences) => Some(sentences.comparer()),
            None => (!self.model.heads.sentence.is_empty()).then_some(own),
        }
    }

    /// UNION's scores of stories in standard units, or 0 if they do not count.
    pub(super) fn union(
        &self,
        stories: usize,
        probabilities: impl FnOnce(&UnionScorer) -> Result<Vec<f64>>,
    ) -> Result<Vec<f64>> {
        match (&self.model.union, &self.criteria.union) {
            (Some(union), Some(share)) => Ok(share.of(&probabilities(union)?)),
            _ => Ok(vec![0.0; stories]),
        }
    }

    /// The outputs for the vector of a story, its similarity with the prompt, and UNION's score.
    pub(super) fn raw_of(&self, story: &TextVector, cosine: Option<f64>, union: f64) -> Raw {
        Raw { outputs: self.outputs(&story.mean, union), cosine, windows: story.windows }
    }

    /// The predictions for the outputs of a story, or for one without a letter or digit.
    pub(super) fn predictions(&self, raw: Option<&Raw>) -> Predictions {
        let predicted = |(place, criterion): (usize, &Criterion)| {
            let raw = raw.ok_or(Unpredicted::NoWords)?;
            if criterion.needs_prompt() && raw.cosine.is_none() {
                return Err(Unpredicted::NoPrompt);
            }
            Ok(criterion.prediction(raw.outputs[place], raw.cosine))
        };
        self.criteria.heads.iter().enumerate().map(predicted).collect()
    }

    /// The output for each criterion, given the mean vector of a text and UNION's score.
    pub(super) fn outputs(&self, mean: &[f64], union: f64) -> Vec<f64> {
        let heads = &self.model.heads;
        let rows = heads.criteria.chunks_exact(mean.len()).zip(&heads.criteria_bias);
        let own = rows.map(|(row, bias)| dot(row, mean) + f64::from(*bias));
        own.zip(&self.criteria.heads).map(|(own, head)| own + head.union * union).collect()
    }
}

impl Criterion {
    /// The rating that is predicted for an output of the head and the cosine of prompt and story.
    fn prediction(&self, output: f64, cosine: Option<f64>) -> Prediction {
        match &self.calibration {
            Some(calibration) => {
                let value = calibration.prediction(output, cosine.unwrap_or(f64::NAN));
                Prediction { value, interval: calibration.interval(value) }
            }
            None => Prediction { value: output, interval: None },
        }
    }
}

impl TextVector {
    /// The mean of the vectors of windows, weighted by their tokens. `None` if there is none.
    pub fn new(windows: impl Iterator<Item = (usize, Vec<f32>)>) -> Option<Self> {
        let (mut mean, mut tokens, mut count) = (Vec::new(), 0.0, 0);
        for (length, vector) in windows {
            mean.resize(vector.len(), 0.0);
            let weight = length as f64;
            mean.iter_mut().zip(&vector).for_each(|(sum, x)| *sum += weight * f64::from(*x));
            tokens += weight;
            count += 1;
        }
        mean.iter_mut().for_each(|sum| *sum /= tokens);
        (count > 0).then_some(Self { mean, windows: count })
    }
}

/// UNION's scores of stories.
pub(super) fn plain_probabilities(union: &UnionScorer, stories: &[&Story]) -> Result<Vec<f64>> {
    Ok(union.score(stories)?.iter().map(|score| score.probability).collect())
}

/// The scalar product of a row of weights and a vector. It is summed in order, so that it does not
/// depend on the machine's vector width.
pub(super) fn dot(row: &[f32], vector: &[f64]) -> f64 {
    row.iter().zip(vector).map(|(weight, x)| f64::from(*weight) * x).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_windows_is_weighted_by_their_tokens() {
        let windows = [(1, vec![4.0, 0.0]), (3, vec![0.0, 8.0])];
        let vector = TextVector::new(windows.into_iter()).unwrap();
        assert_eq!((vector.mean, vector.windows), (vec![1.0, 6.0], 2));
        assert!(TextVector::new(std::iter::empty()).is_none());
    }
}
