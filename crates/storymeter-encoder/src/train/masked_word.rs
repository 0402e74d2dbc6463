//! The weights of a model that predicts hidden words, as training needs them.

use crate::config::Config;
use crate::model::Head;
use crate::parameters::{Parameters, Tensor};
use crate::source::{self, Named, Tensors};
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
    /// Returns an error if a file is missing or broken, and if the model has no head for hidden
    /// words that can be trained.
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
    let architecture = config.family.architecture();
    let Some(names) = &architecture.masked_word else {
        return Err(Error::NoOutput(format!("has no {}", Head::MaskedWord.name())));
    };
    let tensors = Named::new(tensors, architecture.words).whole();
    let (dense, norm, hidden) = (names.dense, names.norm, config.hidden);
    Ok(vec![
        tensors.tensor(&format!("{dense}.weight"), &[hidden, hidden])?,
        tensors.tensor(&format!("{dense}.bias"), &[hidden])?,
        tensors.tensor(&format!("{norm}.weight"), &[hidden])?,
        tensors.tensor(&format!("{norm}.bias"), &[hidden])?,
        tensors.tensor(names.bias, &[config.vocabulary])?,
    ])
}
