//! The head of models for classification and regression: a pooler and a linear map on it.

use std::path::Path;

use crate::config::Config;
use crate::family::Family;
use crate::parameters::{Parameters, Tensor};
use crate::source::{self, Named, Tensors};
use crate::{Error, Result};

/// A linear map: weight and bias.
pub type LinearWeights = [Tensor; 2];

/// What a model has of a head for labels. All weights are in single precision.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LabelParts {
    /// The linear map on the state of the first token, which a hyperbolic tangent follows.
    pub pooler: Option<LinearWeights>,
    /// The linear map from the pooled vector to one number per label.
    pub labels: Option<LinearWeights>,
}

/// An encoder and what it has of a head for labels, to train it or to use it.
pub struct LabelWeights {
    /// The sizes and choices of the encoder.
    pub config: Config,
    /// The weights of the encoder.
    pub encoder: Parameters,
    /// What the model has of the head.
    pub parts: LabelParts,
}

/// What files call the parts of the head. The two names of a pooler are that of the head itself
/// and, after the prefix of the encoder, that of an encoder without a head.
struct Names {
    prefix: &'static str,
    pooler: &'static str,
    encoder_pooler: &'static str,
    labels: &'static str,
    class: &'static str,
}

fn names(family: Family) -> Option<Names> {
    let own_pooler = |prefix, class| Names {
        prefix,
        pooler: "classifier.dense",
        encoder_pooler: "pooler.dense",
        labels: "classifier.out_proj",
        class,
    };
    match family {
        Family::Bert => Some(Names {
            prefix: "bert.",
            pooler: "bert.pooler.dense",
            encoder_pooler: "pooler.dense",
            labels: "classifier",
            class: "BertForSequenceClassification",
        }),
        Family::Mpnet => Some(own_pooler("mpnet.", "MPNetForSequenceClassification")),
        Family::Roberta => Some(own_pooler("roberta.", "RobertaForSequenceClassification")),
        _ => None,
    }
}

impl LabelParts {
    /// Reads the head of a model, or what there is of it.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, or if a part does not have the shape that
    /// it should have.
    pub fn open(path: &Path) -> Result<LabelParts> {
        let opened = source::open(path)?;
        let config = Config::from_fields(opened.config, opened.config_path)?;
        LabelParts::of(&config, &*opened.tensors)
    }

    fn of(config: &Config, tensors: &dyn Tensors) -> Result<LabelParts> {
        let Some(names) = names(config.family) else { return Ok(LabelParts::default()) };
        let encoder = Named::new(tensors, config.family.architecture().words);
        let (whole, h) = (encoder.whole(), config.hidden);
        let pair = |tensors: &Named<'_>, name: &str, outputs: usize| -> Result<LinearWeights> {
            Ok([
                tensors.tensor(&format!("{name}.weight"), &[outputs, h])?,
                tensors.tensor(&format!("{name}.bias"), &[outputs])?,
            ])
        };
        let weight = |name: &str| format!("{name}.weight");
        let pooler = if whole.has(&weight(names.pooler)) {
            Some(pair(&whole, names.pooler, h)?)
        } else if encoder.has(&weight(names.encoder_pooler)) {
            Some(pair(&encoder, names.encoder_pooler, h)?)
        } else {
            None
        };
        let labels = match whole.find(&weight(names.labels))? {
            Some(found) => {
                let outputs = found.shape.first().copied().unwrap_or_default();
                Some(pair(&whole, names.labels, outputs)?)
            }
            None => None,
        };
        Ok(LabelParts { pooler, labels })
    }

    /// The outputs of the head for the state of a sequence's first token, one per label; `None` if
    /// a part is missing. Computed in double precision, so that they are the same on every device
    /// for the same state.
    pub fn outputs(&self, state: &[f32]) -> Option<Vec<f64>> {
        let (pooler, labels) = (self.pooler.as_ref()?, self.labels.as_ref()?);
        let state: Vec<f64> = state.iter().map(|x| f64::from(*x)).collect();
        let pooled: Vec<f64> = linear(pooler, &state).map(f64::tanh).collect();
        Some(linear(labels, &pooled).collect())
    }
}

impl LabelWeights {
    /// Reads the weights of a model.
    ///
    /// # Errors
    /// Returns an error if a file is missing or broken, and if the model is not an encoder.
    pub fn open(path: &Path) -> Result<LabelWeights> {
        let opened = source::open(path)?;
        let config = Config::from_fields(opened.config, opened.config_path)?;
        let encoder = Parameters::of(&config, &*opened.tensors)?;
        let parts = LabelParts::of(&config, &*opened.tensors)?;
        Ok(LabelWeights { config, encoder, parts })
    }

    /// The configuration and the tensors of a model with this head, as `transformers` names them.
    ///
    /// # Errors
    /// Returns an error if models of this family have no such head, or if a part is missing.
    pub fn to_file(self) -> Result<(Config, Parameters)> {
        let LabelWeights { mut config, encoder, parts } = self;
        let none = || Error::NoOutput("has no head for labels".into());
        let names = names(config.family).ok_or_else(none)?;
        let (Some(pooler), Some(labels)) = (parts.pooler, parts.labels) else {
            return Err(none());
        };
        let count = labels[1].data.len();
        let named = |name: &str, [weight, bias]: LinearWeights| {
            let called =
                |end: &str, tensor: Tensor| Tensor { name: format!("{name}.{end}"), ..tensor };
            [called("weight", weight), called("bias", bias)]
        };
        let in_encoder =
            |tensor: Tensor| Tensor { name: format!("{}{}", names.prefix, tensor.name), ..tensor };
        let mut tensors: Vec<Tensor> = encoder.tensors.into_iter().map(in_encoder).collect();
        tensors.extend(named(names.pooler, pooler));
        tensors.extend(named(names.labels, labels));
        let label = |i: usize| format!("LABEL_{i}");
        let ids = (0..count).map(|i| (i.to_string(), label(i).into())).collect();
        let labels = (0..count).map(|i| (label(i), i.into())).collect();
        let model_type = config.family.architecture().model_types[0];
        let fields = &mut config.source;
        fields.remove("_name_or_path");
        fields.insert("architectures".into(), vec![names.class].into());
        fields.insert("model_type".into(), model_type.into());
        fields.insert("num_labels".into(), count.into());
        fields.insert("id2label".into(), serde_json::Value::Object(ids));
        fields.insert("label2id".into(), serde_json::Value::Object(labels));
        Ok((config, Parameters { tensors }))
    }
}

/// The outputs of a linear map.
fn linear<'a>([weight, bias]: &'a LinearWeights, x: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    weight.data.chunks_exact(x.len().max(1)).zip(&bias.data).map(move |(row, bias)| {
        row.iter().zip(x).map(|(w, x)| f64::from(*w) * x).sum::<f64>() + f64::from(*bias)
    })
}
