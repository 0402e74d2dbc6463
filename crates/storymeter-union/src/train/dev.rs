//! Evaluates the model on the dev stories, and fits its temperature on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use storymeter_encoder::train::{Backend, Network};
use storymeter_encoder::{Batch, portions};
use storymeter_perturb::Technique;

use super::example::Example;
use super::objective::heads_of;
use crate::{Heads, Pooling, Result};

/// The mean loss (equation 3) and the accuracy over some examples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Quality {
    /// The number of examples.
    pub examples: usize,
    /// The mean of equation 3.
    pub loss: f64,
    /// The share of examples whose probability is on the right side of one half.
    pub accuracy: f64,
}

/// The quality of the model on the dev stories.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DevReport {
    /// Over human stories and negatives.
    pub all: Quality,
    /// Over human stories only.
    pub human: Quality,
    /// Over the negatives of each technique. A negative with two techniques counts for both.
    pub by_technique: BTreeMap<String, Quality>,
}

/// The logit of each example. The network computes on its own device, and only one vector per story
/// is copied back.
pub(super) fn logits<B: Backend>(
    network: &Network<B>,
    pooling: Pooling,
    examples: &[Example],
    tokens_a_batch: usize,
) -> Result<Vec<f64>> {
    let heads = heads_of(network)?;
    let mut logits = Vec::with_capacity(examples.len());
    for now in portions(examples, tokens_a_batch, |example| example.ids.len()) {
        let batch: Batch = now.iter().map(|example| example.ids.as_slice()).collect();
        logits.extend(batch_logits(network, &heads, pooling, &batch)?);
    }
    Ok(logits)
}

/// The logit of each story in a batch.
pub(super) fn batch_logits<B: Backend>(
    network: &Network<B>,
    heads: &Heads,
    pooling: Pooling,
    batch: &Batch,
) -> Result<Vec<f64>> {
    let (backend, width) = (network.backend(), network.config().hidden);
    let hidden = network.encode(batch)?;
    let pooled = match pooling {
        Pooling::Cls | Pooling::Pooler => {
            let firsts: Vec<u32> =
                batch.bounds()[..batch.len()].iter().map(|at| *at as u32).collect();
            backend.gather(&hidden, &backend.lookups(&firsts), width)
        }
        Pooling::Mean => backend.story_means(&hidden, &backend.stories(batch.bounds()), width),
    };
    let vectors = backend.download(&pooled)?;
    Ok(vectors.chunks_exact(width).map(|vector| heads.logit(vector)).collect())
}

/// The negative logarithm of the probability of the right label.
fn loss(logit: f64, human: bool) -> f64 {
    let z = if human { logit } else { -logit };
    (-z).max(0.0) + (-z.abs()).exp().ln_1p()
}

pub(super) fn report(examples: &[Example], logits: &[f64]) -> DevReport {
    let quality = |wanted: &dyn Fn(&Example) -> bool| {
        let chosen: Vec<(&Example, f64)> = examples
            .iter()
            .zip(logits.iter().copied())
            .filter(|(example, _)| wanted(example))
            .collect();
        let count = chosen.len().max(1) as f64;
        let right =
            chosen.iter().filter(|(example, logit)| (*logit > 0.0) == example.human).count();
        Quality {
            examples: chosen.len(),
            loss: chosen.iter().map(|(example, logit)| loss(*logit, example.human)).sum::<f64>()
                / count,
            accuracy: right as f64 / count,
        }
    };
    let by_technique = Technique::ALL.map(|technique| {
        (technique.name().to_owned(), quality(&|example| example.damage[technique.index()]))
    });
    DevReport {
        all: quality(&|_| true),
        human: quality(&|example| example.human),
        by_technique: BTreeMap::from(by_technique),
    }
}

/// The temperature between 0.05 and 20 that gives the smallest loss on these logits.
pub(super) fn temperature(examples: &[Example], logits: &[f64]) -> f64 {
    let at = |log: f64| -> f64 {
        examples
            .iter()
            .zip(logits)
            .map(|(example, logit)| loss(logit / log.exp(), example.human))
            .sum()
    };
    // The loss is convex in the inverse of the temperature, so it has one minimum in its logarithm.
    let (mut low, mut high) = (0.05f64.ln(), 20f64.ln());
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if at(a) < at(b) { high = b } else { low = a }
    }
    ((low + high) / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(human: bool, damage: [bool; 4]) -> Example {
        Example { ids: vec![2, 3], first: 1, targets: vec![], human, damage, taught: vec![] }
    }

    #[test]
    fn accuracy_counts_each_technique_and_the_temperature_undoes_a_factor() {
        let examples = [example(true, [false; 4]), example(false, [true, false, true, false])];
        let found = report(&examples, &[2.0, 1.0]);
        assert_eq!((found.all.accuracy, found.human.accuracy), (0.5, 1.0));
        assert_eq!(
            (found.by_technique["repetition"].examples, found.by_technique["negation"].examples),
            (1, 0)
        );
        // Logits of 1 that are right with probability sigmoid(1) are calibrated. So logits of 10
        // need a temperature of 10.
        let share = 1.0 / (1.0 + (-1f64).exp());
        let many: Vec<Example> =
            (0..1000).map(|i| example(f64::from(i) < 1000.0 * share, [false; 4])).collect();
        let found = temperature(&many, &[10.0; 1000]);
        assert!((found - 10.0).abs() < 0.05, "{found}");
    }
}
