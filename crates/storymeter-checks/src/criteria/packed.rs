//! A finished model: whether its predictions depend on how a story is written down, and its
//! predictions for HANNA's systems.

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::criteria::Scorer;
use storymeter_stats::spearman;

use super::calibrated::{SystemMean, system_means};
use super::{CRITERIA, Judged, OVERALL};
use crate::evaluate::VARIANTS;
use crate::{Error, Result};

/// The sets whose stories are written down differently: tokenised stories in small letters with
/// placeholders for names, such stories with prompts, and long ones as people write, with prompts.
const REWRITTEN: [&str; 3] = ["union_roc", "nextchapter_inhouse_roc", "hanna"];

/// Figures on a finished model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Packed {
    /// The signature of the model.
    pub signature: String,
    /// How well predictions for rewritten stories keep the order of the original ones.
    pub robustness: Vec<Robustness>,
    /// Mean predictions for HANNA's systems beside the mean ratings, for each criterion. The model
    /// was trained on these stories.
    pub systems: Vec<(String, Vec<SystemMean>)>,
}

/// Spearman's correlation of the predictions for stories with those for the same stories, written
/// down differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Robustness {
    /// The set.
    pub set: String,
    /// How the stories and their prompts were rewritten.
    pub variant: String,
    /// The criterion.
    pub criterion: String,
    /// The number of stories that have both predictions.
    pub n: usize,
    /// The correlation.
    pub spearman: f64,
}

/// The predictions of a model, one column per criterion; NaN where there is none.
struct Columns {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Columns {
    fn new(scorer: &Scorer, stories: &[Story]) -> Result<Self> {
        let names: Vec<String> =
            scorer.criteria().heads.iter().map(|criterion| criterion.name.clone()).collect();
        let mut values = vec![Vec::new(); names.len()];
        for predictions in scorer.score(&stories.iter().collect::<Vec<_>>())? {
            for (column, prediction) in values.iter_mut().zip(predictions) {
                column.push(prediction.map_or(f64::NAN, |prediction| prediction.value));
            }
        }
        Ok(Self { names, values })
    }
}

impl Packed {
    /// Computes the figures of a model on the rated sets.
    ///
    /// # Errors
    /// If the model fails or lacks one of HANNA's criteria.
    pub fn new(scorer: &Scorer, sets: &[Judged]) -> Result<Self> {
        let (mut robustness, mut systems) = (Vec::new(), Vec::new());
        for Judged { set, .. } in sets.iter().filter(|one| REWRITTEN.contains(&&*one.set.name)) {
            let original = Columns::new(scorer, &set.stories)?;
            if set.name == "hanna" {
                systems = means_of_hanna(&original, &set.stories, &set.criteria)?;
            }
            for (variant, rewrite) in VARIANTS {
                let changed = rewritten(&set.stories, rewrite);
                if changed == set.stories {
                    continue;
                }
                let columns = Columns::new(scorer, &changed)?;
                for (at, criterion) in original.names.iter().enumerate() {
                    let (before, after): (Vec<f64>, Vec<f64>) = original.values[at]
                        .iter()
                        .zip(&columns.values[at])
                        .filter(|(before, after)| !before.is_nan() && !after.is_nan())
                        .unzip();
                    if before.len() < 2 {
                        continue;
                    }
                    robustness.push(Robustness {
                        set: set.name.clone(),
                        variant: variant.to_owned(),
                        criterion: criterion.clone(),
                        n: before.len(),
                        spearman: spearman(&before, &after)?.coefficient,
                    });
                }
            }
        }
        Ok(Self { signature: scorer.signature().to_string(), robustness, systems })
    }

    /// The lowest of the correlations, with its variant.
    pub fn least_robust(&self) -> Option<&Robustness> {
        self.robustness.iter().min_by(|a, b| a.spearman.total_cmp(&b.spearman))
    }
}

/// The stories and their prompts, written down differently.
fn rewritten(stories: &[Story], rewrite: fn(&str, usize) -> String) -> Vec<Story> {
    let one = |(at, story): (usize, &Story)| Story {
        text: rewrite(&story.text, at),
        prompt: story.prompt.as_ref().map(|prompt| rewrite(prompt, at)),
        // The sentences of the original are elsewhere now.
        sentences: Vec::new(),
        ..story.clone()
    };
    stories.iter().enumerate().map(one).collect()
}

fn means_of_hanna(
    columns: &Columns,
    stories: &[Story],
    ratings: &[(String, Vec<f64>)],
) -> Result<Vec<(String, Vec<SystemMean>)>> {
    // The last column of the ratings is their mean, which `overall` predicts.
    let rated = CRITERIA.into_iter().chain([OVERALL]).zip(ratings);
    rated
        .map(|(criterion, (_, rated))| {
            let at = columns.names.iter().position(|name| name == criterion).ok_or_else(|| {
                Error::failed(format!("the model does not predict \"{criterion}\""))
            })?;
            let means = system_means(stories, &columns.values[at], rated);
            Ok((criterion.to_owned(), means))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storymeter::union::criteria::{CriteriaCard, Criterion};
    use storymeter::union::{Card, Heads, Kind, Model, Pooling, Precision, Reconstruction};
    use storymeter_encoder::{Config, Stream, load_parameters};

    use super::*;
    use crate::evaluate::Rated;

    /// A tiny model with random weights that predicts the six criteria and `overall`.
    fn scorer() -> Scorer {
        let encoder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert");
        let config = Config::load(&encoder).unwrap();
        let parameters = load_parameters(&encoder, &config).unwrap();
        let names = CRITERIA.into_iter().chain([OVERALL]);
        let heads = names.map(|name| Criterion { name: name.to_owned(), ..Criterion::default() });
        let stream = Stream::new(1);
        let random = |count: usize| (0..count as u64).map(|at| stream.normal(at)).collect();
        let model = Model {
            heads: Heads {
                criteria: random(7 * config.hidden),
                criteria_bias: random(7),
                ..Heads::default()
            },
            card: Card {
                kind: Kind::Criteria,
                pooling: Pooling::Mean,
                reconstruction: Reconstruction::None,
                diagnosis: false,
                max_tokens: 24,
                normalise: true,
                criteria: Some(CriteriaCard { heads: heads.collect(), ..CriteriaCard::default() }),
                ..Card::default()
            },
            tokenizer_files: vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())],
            config,
            parameters,
            sentences: None,
        };
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path()).unwrap();
        Scorer::load(folder.path(), Precision::F32).unwrap()
    }

    fn judged(name: &str) -> Judged {
        let texts = [
            "[MALE] lost a key . he did n't look for it .",
            "\" The lamp is out , \" she said .",
            "Rain fell on the roof all night .",
            "[FEMALE] sold the boat .",
        ];
        let story = |(at, text): (usize, &str)| Story {
            id: format!("{name}-{at}"),
            system: Some(["atlas", "birch"][at % 2].to_owned()),
            ..Story::from(text)
        };
        let stories = texts.into_iter().enumerate().map(story).collect();
        let column = |name: &str| (name.to_owned(), vec![1.0, 2.0, 3.0, 4.0]);
        let criteria = CRITERIA.into_iter().chain(["mean"]).map(column).collect();
        Judged::whole(Rated { name: name.to_owned(), stories, criteria })
    }

    #[test]
    fn rewritten_stories_are_compared_with_the_original_ones() {
        let found = Packed::new(&scorer(), &[judged("hanna"), judged("scratchplot")]).unwrap();
        // Five variants of seven criteria, of one of the two sets.
        assert_eq!(found.robustness.len(), 35);
        let of = |variant: &str| {
            let is_wanted = |row: &&Robustness| row.variant == variant && row.criterion == OVERALL;
            found.robustness.iter().find(is_wanted).unwrap()
        };
        assert_eq!((of("lower-cased").n, of("lower-cased").set.as_str()), (4, "hanna"));
        assert!((of("other quotes").spearman - 1.0).abs() < 1e-12, "the text is normalised");
        let least = found.least_robust().unwrap().spearman;
        assert!(found.robustness.iter().all(|row| row.spearman >= least));
    }

    #[test]
    fn systems_of_hanna_have_mean_predictions_beside_their_ratings() {
        let (scorer, hanna) = (scorer(), judged("hanna"));
        let found = Packed::new(&scorer, std::slice::from_ref(&hanna)).unwrap();
        assert_eq!(found.systems.len(), 7);
        let (criterion, means) = &found.systems[6];
        assert_eq!((criterion.as_str(), means.len()), (OVERALL, 2));
        // Stories 0 and 2 are by the first system, and rated 1 and 3.
        assert_eq!((means[0].system.as_str(), means[0].rated), ("atlas", 2.0));
        let stories: Vec<&Story> = hanna.set.stories.iter().collect();
        let predicted = scorer.score(&stories).unwrap();
        let mean = (predicted[0][6].unwrap().value + predicted[2][6].unwrap().value) / 2.0;
        assert!((means[0].predicted - mean).abs() < 1e-12);
    }
}
