//! The weights of a model that predicts hidden words, as training needs them.

use crate::config::{Config, Family};
use crate::parameters::{Parameters, Tensor};
use crate::source::{self, Tensors};
use crate::{Error, Result};
use std::path::Path;

/// The weights of an encoder and of its head for hidden words, in full precision.
#[derive(Clone, PartialEq, Debug)]
pub struct MaskedWordWeights {
    /// The sizes and choices of the encoder.
    pub config: Config,
    /// The weights of the encoder.
    pub encoder: Parameters,
    /// The five tensors of the head, in the order of
    /// [`masked_word_head`](super::Network::masked_word_head).
    pub head: Vec<Tensor>,
}

impl MaskedWordWeights {
    /// Reads the weights of a model.
    ///
    /// # Errors
    /// If a file is missing or broken, and if the model has no head for hidden words that can be
    /// trained.
    pub fn open(path: &Path) -> Result<MaskedWordWeights> {
        let opened = source::open(path)?;
        let config = Config::from_fields(opened.config, opened.config_path)?;
        let tensors = &*opened.tensors;
        let encoder = Parameters::of(&config, tensors)?;
        let head = head(&config, tensors)?;
        Ok(MaskedWordWeights { config, encoder, head })
    }
}

/// The tensors of the head.
fn head(config: &Config, tensors: &dyn Tensors) -> Result<Vec<Tensor>> {
    let (dense, norm, bias) = match config.family {
        Family::Bert => (
            "cls.predictions.transform.dense",
            "cls.predictions.transform.LayerNorm",
            "cls.predictions.bias",
        ),
        _ => return Err(Error::NoOutput("has no head for masked words".into())),
    };
    let hidden = config.hidden;
    let wanted = [
        (format!("{dense}.weight"), vec![hidden, hidden]),
        (format!("{dense}.bias"), vec![hidden]),
        (format!("{norm}.weight"), vec![hidden]),
        (format!("{norm}.bias"), vec![hidden]),
        (bias.to_owned(), vec![config.vocabulary]),
    ];
    let tensor = |(name, shape): (String, Vec<usize>)| match tensors.get(&name)? {
        Some(tensor) if tensor.shape == shape => Ok(tensor),
        Some(tensor) => {
            let problem =
                format!("has shape {:?}, expected {shape:?} by config.json", tensor.shape);
            Err(Error::Tensor { path: tensors.path().into(), name, problem })
        }
        None => {
            let path = tensors.path().into();
            Err(Error::MissingTensor { path, name, shape: Some(shape) })
        }
    };
    wanted.into_iter().map(tensor).collect()
}
