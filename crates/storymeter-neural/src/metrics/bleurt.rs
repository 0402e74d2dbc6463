//! BLEURT: how a model that learned from human ratings rates the story.
//!
//! Definition: BERT reads `[CLS] reference [SEP] story [SEP]`, with segments 0 and 1. The state of
//! `[CLS]` after the last layer goes through BERT's pooler (a linear map and the hyperbolic
//! tangent) and one more linear map, whose only output is the score (Sellam, Das and Parikh, ACL
//! 2020). An MPNet may take the place of BERT. It has no segments.
//!
//! Model: there is no usual one. `--weights bleurt=FOLDER` names a folder with a model for
//! classification that has one label: one that `storymeter train --kind bleurt` saved, or a
//! checkpoint of BLEURT that was converted for `transformers`, such as `Elron/bleurt-base-128` and
//! `lucadiliello/bleurt-base-128`. BLEURT-20, whose word embeddings are narrower than its layers,
//! is not supported.
//!
//! Long texts: reference and story have together at most as many tokens as the model was trained
//! for: what the training of storymeter wrote into `config.json`, or else what the tokeniser and
//! the model allow, usually 512. The options `128` and `512` set the limit of the released
//! checkpoints, whose folders do not name it. Tokens leave the end of the longer of the two texts,
//! and of the story if both are equally long, as in the authors' code. Stories whose pair is cut
//! are counted. With 128 tokens, about 60 pieces of each text are read.
//!
//! Several references: the largest score.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: it has a score, because the model reads the reference and the special tokens. A
//! story without a reference is an error.
//!
//! Reading the score: it has the scale of the ratings that the model learned from. Released
//! checkpoints mostly give numbers between 0 and 1. UNION (Guan and Huang, EMNLP 2020, section 4)
//! fine-tunes a checkpoint on stories with ratings, as `storymeter train --kind bleurt` does.
//!
//! Checked against: transformers 4.44.2, `BertForSequenceClassification` with a tiny BERT whose
//! weights are known, within 0.00001.

use std::sync::Arc;

use rayon::prelude::*;
use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision, Prepared, Range,
    Request, Resources, Rows, Value, finite_or,
};
use storymeter_encoder::{Batch, Config, LabelParts, Outputs, Pooling, TextPair, portions};

use crate::models::{OpenModel, failed};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["bleurt"],
    choices: &[
        Choice::new("tokens", "128", "Read 128 tokens of reference and story together"),
        Choice::new("tokens", "512", "Read 512 tokens of reference and story together"),
    ],
    direction: Direction::Higher,
    range: Range::ANY,
    needs: Needs::REFERENCE,
    source: include_str!("bleurt.rs"),
    build,
};

/// What models are looked for by if the user names none.
const MODEL: &str = "bleurt";

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let model = OpenModel::for_metric(request, MODEL, Precision::F32)?;
    model.tokenizer(request.key)?;
    let head = LabelParts::open(model.path()).map_err(|error| failed(request.key, error))?;
    match &head {
        LabelParts { pooler: None, .. } => {
            return Err(model.unfit(request.key, "it has no pooler"));
        }
        LabelParts { labels: None, .. } => {
            return Err(model.unfit(request.key, "it has no head that gives a score"));
        }
        LabelParts { labels: Some([_, bias]), .. } if bias.data.len() != 1 => {
            let count = bias.data.len();
            let why = format!("its head gives {count} numbers, and a score is one");
            return Err(model.unfit(request.key, &why));
        }
        _ => {}
    }
    let wanted = match request.chosen("tokens") {
        Some("128") => Some(128),
        Some("512") => Some(512),
        _ => trained_length(model.model().config()),
    };
    let longest = wanted.map_or(model.longest(), |wanted| wanted.min(model.longest()));
    let description = request.describe().width(1).in_batches();
    let signature = model
        .sign(description.signature.clone())
        .with("long", "l", format!("cut-{longest}"))
        .with("references", "r", "max");
    let description = description.signature(signature);
    Ok(Box::new(Bleurt { model, head, longest, description }))
}

/// The number of tokens that training wrote into the configuration.
fn trained_length(config: &Config) -> Option<usize> {
    let settings = config.source.get("task_specific_params")?.get("bleurt")?;
    let tokens = usize::try_from(settings.get("max_tokens")?.as_u64()?).ok()?;
    Some(tokens).filter(|tokens| *tokens >= 8)
}

struct Bleurt {
    model: Arc<OpenModel>,
    head: LabelParts,
    longest: usize,
    description: Description,
}

impl Metric for Bleurt {
    fn description(&self) -> &Description {
        &self.description
    }

    /// The row of a story is its score.
    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let tokenizer = self.model.tokenizer(&self.description.key)?;
        let pairs = |story: &Prepared<'_>| -> (Vec<TextPair>, bool) {
            let own = tokenizer.encode_plain(story.text.text());
            let mut is_cut = false;
            let pair = |reference: &str| {
                let reference = tokenizer.encode_plain(reference);
                let pair = tokenizer.pair(&reference, &own, self.longest);
                is_cut |= pair.kept != (reference.len(), own.len());
                pair
            };
            let pairs = story.references.iter().map(|text| text.text()).map(pair).collect();
            (pairs, is_cut)
        };
        let pairs: Vec<(Vec<TextPair>, bool)> = stories.par_iter().map(pairs).collect();
        let truncated = pairs.iter().filter(|(_, is_cut)| *is_cut).count() as u64;
        let all: Vec<(usize, &TextPair)> = pairs
            .iter()
            .enumerate()
            .flat_map(|(story, (pairs, _))| pairs.iter().map(move |pair| (story, pair)))
            .collect();
        let mut scores: Vec<Option<f64>> = vec![None; stories.len()];
        for now in portions(&all, self.model.tokens_at_once(), |(_, pair)| pair.ids.len()) {
            for ((story, _), score) in now.iter().zip(self.scores(now)?) {
                let best = scores[*story].map_or(score, |best| best.max(score));
                scores[*story] = Some(best);
            }
        }
        let values = scores.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Rows::from_values(1, values).truncated(truncated))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        values[0] = finite_or(row[0], "the model gives no finite number");
    }
}

impl Bleurt {
    /// The score of each pair.
    fn scores(&self, pairs: &[(usize, &TextPair)]) -> Result<Vec<f64>, MetricError> {
        let segments = self.model.model().config().segments;
        let mut batch = Batch::new();
        for (_, pair) in pairs {
            match segments {
                0 | 1 => batch.push(&pair.ids),
                _ => batch.push_pair(&pair.ids, pair.second),
            }
        }
        let run = self.model.model().run(&batch, &Outputs::new().pooled(Pooling::First));
        let run = run.map_err(|error| failed(&self.description.key, error))?;
        let score = |at: usize| {
            let outputs = self.head.outputs(run.pooled(at));
            // `build` has checked that there is one output.
            outputs.and_then(|outputs| outputs.first().copied()).unwrap_or_default()
        };
        Ok((0..pairs.len()).into_par_iter().map(score).collect())
    }
}
