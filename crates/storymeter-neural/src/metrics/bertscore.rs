//! BERTScore: similar tokens of story and reference, matched by their vectors.
//!
//! Each token of the story looks for the most similar token of the reference, and the other way
//! round.
//!
//! Tokens are compared by the vectors that an encoder such as BERT gives them in their contexts.
//! Paraphrases therefore match, which n-grams do not see.
//!
//! Definition: both texts go through the encoder, and the hidden states after one of its layers,
//! divided by their norms, are the vectors of the tokens. With `w` the weight of a token, P is the
//! precision (how much of the story is in the reference), R the recall, and F their harmonic mean:
//!
//! ```text
//! P = sum over tokens x of the story of w(x) * max over tokens y of the reference of x . y / sum w
//! R = the same with the two texts exchanged
//! F = 2 * P * R / (P + R)
//! ```
//!
//! The special tokens at both ends of a text weigh 0, but other tokens may match them. Without the
//! option `idf`, all other tokens weigh 1. With it, a token weighs `ln((N + 1) / (df + 1))`: N is
//! the number of references in the input, and df the number of those that have the token.
//!
//! Model: `roberta-large`, layer 17, which is the default of bert-score for English. For another
//! model, name its folder as the weights of `bertscore`, or give the usual name of a model instead
//! of a folder. The layer follows from the name of the model or of its folder:
//!
//! ```text
//! bert-base-uncased 9        roberta-base 10         facebook/bart-base 6
//! bert-base-cased 9          roberta-large 17        facebook/bart-large 10
//! bert-large-uncased 18      roberta-large-mnli 19   facebook/bart-large-cnn 10
//! distilbert-base-uncased 5  distilroberta-base 5    facebook/bart-large-mnli 11
//! microsoft/mpnet-base 8     bert-base-multilingual-cased 9
//! ```
//!
//! and some more. With a model that is not in the table, the option `layer-N` is needed.
//!
//! Rescaling: unrelated sentences already get high scores, such as 0.83 by `roberta-large`. The
//! option `rescale` maps this baseline to 0: `(x - b) / (1 - b)`, with one b for each of P, R and
//! F. The baselines are read from a file of bert-score, such as
//! `rescale_baseline/en/roberta-large.tsv` of its package: a header `LAYER,P,R,F`, then one line
//! per layer. The file is named as the weights of `bertscore-baseline`, or lies in the folder of
//! the model as `rescale_baseline.tsv`.
//!
//! Long texts: what exceeds the model's maximum (512 tokens for most) is cut off, as by bert-score,
//! and such stories are counted. With the option `whole`, a long text is read in windows of that
//! length that overlap by half. Each token gets its vector from the window in which it is farthest
//! from an end.
//!
//! Several references: each of P, R and F takes its own maximum over the references.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0 for P, R and F. With `idf`, a text whose tokens all weigh 0 has no value, and
//! neither has a story of an input with only one reference.
//!
//! Source: Zhang et al., ICLR 2020.
//!
//! Checked against: bert-score 0.3.13 with MiniLM, within 2e-5. One thing differs on purpose:
//! bert-score fills up shorter texts of a batch, and a negative best match then becomes 0, so that
//! its scores depend on the other texts. Here only real tokens are matched.

use std::io;
use std::path::Path;
use std::sync::Arc;

use storymeter_core::terminal::excerpt;
use storymeter_core::{
    Choice, CorpusReader, CorpusWriter, Description, Direction, Entry, Error, Metric, MetricError,
    Needs, Place, Precision, Prepared, Range, Request, Resources, Rows, Signature, Survey, Value,
    file,
};

use crate::absent::{better, reasons, row_values};
use crate::idf::{CorpusIdf, Idf, IdfSurvey, ReferenceDocument};
use crate::matching::best_matches;
use crate::models::OpenModel;
use crate::states::{Reader, StoryStates, TextStates};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["bertscore"],
    choices: &[
        Choice::preset("hanna", "as HANNA: bert-base-uncased, layer 8, all tokens weigh the same"),
        Choice::new("layer", "layer-N", "vectors of layer N; 0 is the output of the embeddings"),
        Choice::new("weights", "idf", "rare tokens weigh more, by the references of the input"),
        Choice::new("scale", "rescale", "the baseline of the model becomes 0"),
        Choice::new("length", "whole", "long texts are read in windows instead of being cut"),
    ],
    direction: Direction::Higher,
    range: Range::between(-1.0, 1.0),
    needs: Needs::REFERENCE,
    source: include_str!("bertscore.rs"),
    build: |request| Ok(Box::new(BertScore::new(request)?)),
};

/// The layers that were found best on translations (WMT 2016), by the last part of a model's name.
/// They are those of bert-score 0.3.13, for the architectures that the engine knows.
const LAYERS: &[(&str, usize)] = &[
    ("bert-base-uncased", 9),
    ("bert-large-uncased", 18),
    ("bert-base-cased-finetuned-mrpc", 9),
    ("bert-base-multilingual-cased", 9),
    ("bert-base-chinese", 8),
    ("roberta-base", 10),
    ("roberta-large", 17),
    ("roberta-large-mnli", 19),
    ("roberta-base-openai-detector", 7),
    ("roberta-large-openai-detector", 15),
    ("distilbert-base-uncased", 5),
    ("distilbert-base-uncased-distilled-squad", 4),
    ("distilbert-base-multilingual-cased", 5),
    ("distilroberta-base", 5),
    ("mpnet-base", 8),
    ("bart-base", 6),
    ("bart-large", 10),
    ("bart-large-cnn", 10),
    ("bart-large-mnli", 11),
    ("bart-large-xsum", 9),
    ("scibert_scivocab_uncased", 8),
    ("scibert_scivocab_cased", 9),
    ("sup-simcse-bert-base-uncased", 10),
    ("unsup-simcse-bert-base-uncased", 10),
    ("bert_uncased_L-2_H-768_A-12", 2),
    ("bert_uncased_L-4_H-768_A-12", 3),
    ("bert_uncased_L-6_H-768_A-12", 5),
    ("bert_uncased_L-8_H-768_A-12", 7),
    ("bert_uncased_L-10_H-768_A-12", 8),
    ("bert_uncased_L-12_H-768_A-12", 9),
];

/// The largest file of baselines that is read.
const LARGEST_BASELINE: u64 = 1 << 20;

const COLUMNS: [&str; 3] = ["p", "r", "f"];

/// One number per column, and one that says why it has no value.
const WIDTH: usize = 2 * COLUMNS.len();

reasons! {
    Why {
        NoWeight = "all tokens of a text have the idf weight 0: they are common",
        SingleReference = "idf weights need at least two references in the input",
        NotFinite = "the vectors of the model are not finite numbers",
    }
}

#[derive(Clone)]
struct BertScore {
    description: Description,
    reader: Arc<Reader>,
    layer: usize,
    /// For P, R and F.
    baseline: Option<[f64; 3]>,
    weights: Weights,
}

/// How much tokens weigh.
#[derive(Clone)]
enum Weights {
    /// All the same.
    Equal,
    /// By document frequencies, which are not known yet.
    Unknown,
    /// By document frequencies of the references.
    Idf(Arc<Idf>),
}

impl BertScore {
    fn new(request: &Request<'_>) -> Result<Self, MetricError> {
        let hanna = request.has("hanna");
        let usual_name = if hanna { "bert-base-uncased" } else { "roberta-large" };
        let model = OpenModel::for_metric(request, usual_name, Precision::F32)?;
        let layer = match request.number("layer-N") {
            Some(layer) => layer,
            None if hanna => 8,
            None => usual_layer(model.name()).ok_or_else(|| MetricError::Failed {
                metric: request.key.to_owned(),
                source: format!(
                    "the best layer of the model {} is not known: choose one with the option \
                     layer-N, such as bertscore:layer-9",
                    excerpt(model.name(), 60)
                )
                .into(),
            })?,
        };
        let baseline =
            request.has("rescale").then(|| baseline(request, &model, layer)).transpose()?;
        let reader = Reader::shared(request, model, request.has("whole"))?;
        reader.want(request.key, [layer])?;
        let idf = request.has("idf");
        let mut description = request.describe().width(WIDTH).in_portions().family(COLUMNS);
        description.needs.corpus = idf;
        if baseline.is_some() {
            description = description.range(Range::ANY);
        }
        let weights = if idf { Weights::Unknown } else { Weights::Equal };
        let mut metric = Self { description, reader, layer, baseline, weights };
        metric.description.signature = metric.signature();
        Ok(metric)
    }

    /// The metric that knows the corpus.
    fn knowing(self, references: Idf) -> Box<dyn Metric> {
        let mut metric = Self { weights: Weights::Idf(Arc::new(references)), ..self };
        metric.description.signature = metric.signature();
        Box::new(metric)
    }

    fn signature(&self) -> Signature {
        let signature =
            self.reader.sign(Signature::new("bertscore")).with("layer", "L", self.layer);
        let signature = match &self.weights {
            Weights::Equal => signature.with("idf", "idf", "no"),
            Weights::Unknown => signature.with("idf", "idf", "references[0]"),
            Weights::Idf(idf) => {
                signature.with("idf", "idf", format!("references[{}]", idf.documents()))
            }
        };
        let signature = match self.baseline {
            Some([p, r, f]) => signature.with("rescale", "b", format!("{p}/{r}/{f}")),
            None => signature.with("rescale", "b", "no"),
        };
        self.reader.sign_length(signature)
    }

    /// The weight of each token of a text.
    fn weights(&self, text: &TextStates) -> Vec<f64> {
        let ids = &text.tokens.ids;
        match &self.weights {
            Weights::Idf(idf) => ids.iter().map(|&id| idf.weight(id)).collect(),
            Weights::Equal | Weights::Unknown => {
                // The special tokens weigh nothing, wherever they occur.
                let special = self.reader.special();
                ids.iter().map(|id| if special.contains(id) { 0.0 } else { 1.0 }).collect()
            }
        }
    }

    /// P, R and F of a story: each the largest over its references.
    fn score(&self, texts: &StoryStates) -> [Result<f64, Why>; 3] {
        if let Weights::Idf(idf) = &self.weights
            && idf.documents() < 2
        {
            return [Err(Why::SingleReference); 3];
        }
        let weights = self.weights(&texts.story);
        let mut best = [Err(Why::NoWeight); 3];
        for reference in &texts.references {
            let scores = self.compare(&texts.story, &weights, reference);
            for (best, score) in best.iter_mut().zip(scores) {
                *best = better(*best, score, |known, new| if known >= new { known } else { new });
            }
        }
        if let Some(baseline) = self.baseline {
            for (best, b) in best.iter_mut().zip(baseline) {
                *best = best.map(|score| (score - b) / (1.0 - b));
            }
        }
        best
    }

    /// P, R and F against one reference.
    fn compare(
        &self,
        story: &TextStates,
        weights: &[f64],
        reference: &TextStates,
    ) -> [Result<f64, Why>; 3] {
        if story.is_empty() || reference.is_empty() {
            return [Ok(0.0); 3];
        }
        let (left, right) = (story.layer(self.layer), reference.layer(self.layer));
        let (of_story, of_reference) = best_matches(left, right, story.width());
        let precision = weighted_mean(&of_story, weights);
        let recall = weighted_mean(&of_reference, &self.weights(reference));
        let f = precision.and_then(|precision| {
            let recall = recall?;
            let sum = precision + recall;
            Ok(if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum })
        });
        [precision, recall, f]
    }
}

/// The mean of numbers with weights.
fn weighted_mean(numbers: &[f32], weights: &[f64]) -> Result<f64, Why> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return Err(Why::NoWeight);
    }
    let products = numbers.iter().zip(weights).map(|(&number, weight)| f64::from(number) * weight);
    let mean = products.sum::<f64>() / sum;
    if mean.is_finite() { Ok(mean) } else { Err(Why::NotFinite) }
}

impl Metric for BertScore {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        if let Weights::Unknown = self.weights {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        }
        self.reader.rows(&self.description.key, stories, |texts| self.score(texts))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Why>(row, values);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        let Weights::Unknown = self.weights else { return None };
        let (reader, metric) = (Arc::clone(&self.reader), self.clone());
        Some(Box::new(IdfSurvey::new(
            self.reader.vocabulary(),
            ReferenceDocument::Each,
            move |text| reader.tokens(text).ids.clone(),
            move |CorpusIdf { references, .. }| metric.knowing(references),
        )))
    }

    fn save_corpus(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        match &self.weights {
            Weights::Idf(idf) => idf.save(out),
            Weights::Equal | Weights::Unknown => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn with_corpus(&self, input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        Ok(self.clone().knowing(Idf::load(input)?))
    }
}

/// The layer of a model in the table, by its name with or without the organisation.
fn usual_layer(name: &str) -> Option<usize> {
    let short = name.rsplit('/').next().unwrap_or(name);
    LAYERS.iter().find(|(known, _)| *known == short).map(|&(_, layer)| layer)
}

/// The baselines of P, R and F for a layer.
fn baseline(
    request: &Request<'_>,
    model: &OpenModel,
    layer: usize,
) -> Result<[f64; 3], MetricError> {
    let named = request.resources.settings().weights.get(BASELINE_NAME);
    let path = named.cloned().unwrap_or_else(|| model.path().join("rescale_baseline.tsv"));
    if !path.exists() {
        return Err(MetricError::NoWeights {
            metric: request.key.to_owned(),
            files: format!(
                "a file of baselines for the model {} in the format of bert-score",
                excerpt(model.name(), 60)
            ),
            name: BASELINE_NAME.to_owned(),
            searched: vec![path],
        });
    }
    Ok(read_baseline(&path, layer)?)
}

/// The name under which the user gives a file of baselines.
const BASELINE_NAME: &str = "bertscore-baseline";

/// Reads a file with the header `LAYER,P,R,F` and one line per layer.
fn read_baseline(path: &Path, layer: usize) -> Result<[f64; 3], Error> {
    let text = file::read_text(path, LARGEST_BASELINE)?;
    for (number, line) in text.lines().enumerate().skip(1) {
        let place = || Place::file(path).at_line(number as u64 + 1);
        let mut fields = line.split([',', '\t']).map(str::trim);
        if fields.next().and_then(|first| first.parse().ok()) != Some(layer) {
            continue;
        }
        let numbers: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
        return match numbers[..] {
            [p, r, f] if [p, r, f].iter().all(|b| b.is_finite() && *b < 1.0) => Ok([p, r, f]),
            _ => Err(Error::invalid(place(), "expected a layer and three numbers below 1")),
        };
    }
    Err(Error::invalid(Place::file(path), format!("there is no line for layer {layer}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_follows_from_the_name_of_the_model() {
        assert_eq!(usual_layer("roberta-large"), Some(17));
        assert_eq!(usual_layer("google-bert/bert-base-uncased"), Some(9));
        assert_eq!(usual_layer("minilm"), None);
    }

    #[test]
    fn baselines_are_read_from_the_line_of_the_layer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rescale_baseline.tsv");
        std::fs::write(&path, "LAYER,P,R,F\n0,0.3,0.31,0.32\n1,0.4,0.41,0.42\n2,0.5,1.5,0\n")
            .unwrap();
        assert_eq!(read_baseline(&path, 1).unwrap(), [0.4, 0.41, 0.42]);
        let problem = read_baseline(&path, 7).unwrap_err().to_string();
        assert!(problem.ends_with("there is no line for layer 7"), "{problem}");
        let problem = read_baseline(&path, 2).unwrap_err().to_string();
        assert!(problem.contains(":4: expected a layer and three numbers below 1"), "{problem}");
    }

    #[test]
    fn weights_that_are_all_zero_give_no_mean() {
        assert_eq!(weighted_mean(&[0.5, 1.0], &[1.0, 3.0]), Ok(0.875));
        assert_eq!(weighted_mean(&[0.5, 1.0], &[0.0, 0.0]), Err(Why::NoWeight));
    }
}
