//! What training on ratings starts from: an encoder, or a model that was trained before.

use std::collections::BTreeMap;
use std::path::Path;

use storymeter_core::rng::CounterId;
use storymeter_encoder::{
    Config, Parameters, Stream, Tensor, Tokenizer, load_parameters, tokenizer_files,
};
use storymeter_union::train::{name_tokens, start_name_tokens};
use storymeter_union::{Location, Model};

use crate::{Error, Result};

/// The file that a folder of a learned model has, and that of an encoder has not.
const CARD: &str = "storymeter.json";

/// An encoder before training.
pub(super) struct Beginning {
    pub config: Config,
    pub parameters: Parameters,
    pub tokenizer: Tokenizer,
    pub tokenizer_files: Vec<(&'static str, Vec<u8>)>,
    /// The placeholders of masked names, and their tokens.
    pub name_tokens: BTreeMap<String, u32>,
    /// The head that tells whole stories from damaged ones, if the model has one.
    score: Option<(Vec<f32>, f32)>,
}

impl Beginning {
    /// Opens the folder of an encoder, or a learned model by its folder, file or name, and keeps
    /// its first `layers` layers, or all of them if that is 0.
    pub fn open(init: &Path, layers: usize) -> Result<Self> {
        let is_encoder = init.is_dir() && !init.join(CARD).exists();
        let mut beginning = if is_encoder { Self::encoder(init)? } else { Self::model(init)? };
        if layers > beginning.config.layers {
            let problem = format!("must be at most {}", beginning.config.layers);
            return Err(Error::Setting { field: "layers", problem });
        }
        if layers > 0 {
            beginning.config = beginning.config.with_layers(layers);
            beginning.parameters = beginning.parameters.with_layers_of(&beginning.config);
        }
        Ok(beginning)
    }

    fn encoder(folder: &Path) -> Result<Self> {
        let config = Config::load(folder)?;
        let mut tokenizer = Tokenizer::load(folder, &config)?;
        let mut parameters = load_parameters(folder, &config)?;
        let names = name_tokens(&tokenizer);
        // The first tensor of an encoder holds the word embeddings.
        if let Some(words) = parameters.tensors.first_mut() {
            start_name_tokens(&names, &tokenizer, &mut words.data, config.hidden);
        }
        for (text, id) in &names {
            tokenizer.add_token(text, *id);
        }
        let tokenizer_files = tokenizer_files(folder)?;
        Ok(Self { config, parameters, tokenizer, tokenizer_files, name_tokens: names, score: None })
    }

    fn model(init: &Path) -> Result<Self> {
        let location = match init.to_str() {
            Some(typed) => Location::find(typed)?,
            None => Location::Path(init.to_owned()),
        };
        let model = location.model()?;
        let mut tokenizer = model.tokenizer(init)?;
        model.card.add_name_tokens(&mut tokenizer);
        let Model { config, parameters, heads, card, tokenizer_files, .. } = model;
        let score = (!heads.score.is_empty()).then_some((heads.score, heads.score_bias));
        let name_tokens = card.name_tokens;
        Ok(Self { config, parameters, tokenizer, tokenizer_files, name_tokens, score })
    }

    /// The head that tells whole stories from damaged ones: that of the model, or a new one.
    pub fn damage_head(&self) -> [Tensor; 2] {
        let stream = CounterId::NewHeads.descend(Stream::new(0), Stream::child);
        let width = self.config.hidden;
        let new = || (0..width as u64).map(|i| 0.02 * stream.child(0).normal(i)).collect();
        let (weight, bias) = self.score.clone().unwrap_or_else(|| (new(), 0.0));
        [
            Tensor { name: "score.weight".to_owned(), shape: vec![1, width], data: weight },
            Tensor { name: "score.bias".to_owned(), shape: vec![1], data: vec![bias] },
        ]
    }
}
