//! A model with all its weights in memory, wherever it is, for training to start from.

use crate::{Location, Model, Result, StoredModel};

impl Location {
    /// Reads the whole model. The weights of a model file are the numbers that its few bits stand
    /// for.
    ///
    /// # Errors
    /// Returns an error if it is not a complete model.
    pub fn model(&self) -> Result<Model> {
        match self {
            Self::Embedded(own) => StoredModel::embedded_model(*own)?.unpack(),
            Self::Path(path) if path.is_file() => StoredModel::open(path)?.unpack(),
            Self::Path(folder) => Model::load(folder),
        }
    }
}

impl StoredModel {
    fn unpack(&self) -> Result<Model> {
        let (encoder, _, heads) = self.open_parts()?;
        Ok(Model {
            config: encoder.config().clone(),
            // Every int8 encoder has parameters.
            parameters: encoder.parameters().unwrap_or_default(),
            heads,
            card: self.card().clone(),
            tokenizer_files: self.tokenizer_files("")?,
            sentences: self.sentences()?,
        })
    }
}
