//! The examples: which stories are used, their vectors, and wrong continuations for them.

use std::collections::BTreeMap;

use rand_chacha::rand_core::Rng;
use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::{StreamId, shuffled};
use storymeter_core::split::{Split, assign};
use storymeter_encoder::{Device, Model};
use storymeter_neural::ruber::{Pool, Reading, pooled};

use super::{Event, Pair, Settings};
use crate::{Error, Result};

/// About how many tokens go through the encoder at once.
const TOKENS_ON_CPU: usize = 8 << 10;
const TOKENS_ON_GPU: usize = 64 << 10;

/// How many texts are encoded between two reports.
const TEXTS_TOGETHER: usize = 4096;

/// How often a wrong continuation is drawn again for a story that got its own.
const TRIES: usize = 1000;

/// The stories that can be used, in two parts each, and what they are used for.
pub(super) struct Examples {
    readings: Vec<Reading>,
    /// The stories to learn from, as numbers of readings.
    pub train: Vec<usize>,
    /// The stories to choose the best epoch by.
    pub dev: Vec<usize>,
    tests: usize,
    /// How many stories have no continuation.
    pub left_out: usize,
}

impl Examples {
    /// Divides stories into context and continuation, and into the parts of the split. The split
    /// is that of UNION: it follows from the seed and the number of a story in the input.
    pub fn of(stories: &[Story], settings: &Settings) -> Self {
        let all: Vec<Reading> =
            stories.par_iter().map(|story| Reading::of(story, settings.delexicalise)).collect();
        let mut examples = Self {
            readings: Vec::new(),
            train: Vec::new(),
            dev: Vec::new(),
            tests: 0,
            left_out: 0,
        };
        for (record, reading) in all.into_iter().enumerate() {
            if !reading.is_whole() {
                examples.left_out += 1;
                continue;
            }
            let part = match assign(settings.seed, record as u64) {
                Split::Train => &mut examples.train,
                Split::Dev => &mut examples.dev,
                Split::Test => {
                    examples.tests += 1;
                    continue;
                }
            };
            part.push(examples.readings.len());
            // The whole text is not needed.
            examples.readings.push(Reading { text: String::new(), ..reading });
        }
        examples
    }

    /// The sizes of the parts.
    pub fn split(&self) -> BTreeMap<&'static str, usize> {
        [("train", self.train.len()), ("dev", self.dev.len()), ("test", self.tests)].into()
    }

    /// The vectors of all contexts and continuations.
    pub fn encode(
        &self,
        model: &Model,
        device: Device,
        limit: usize,
        pooling: Pool,
        watch: &mut dyn FnMut(Event<'_>) -> Result<()>,
    ) -> Result<Vectors> {
        let at_once = match device {
            Device::Cpu => TOKENS_ON_CPU,
            Device::Cuda(_) => TOKENS_ON_GPU,
        };
        let texts: Vec<&str> = self
            .readings
            .iter()
            .flat_map(|reading| [reading.context.as_str(), &reading.continuation])
            .collect();
        let mut vectors = Vectors {
            width: model.config().hidden,
            contexts: Vec::new(),
            continuations: Vec::new(),
            cut: 0,
        };
        for (group, some) in texts.chunks(TEXTS_TOGETHER).enumerate() {
            let found = pooled(model, some, limit, at_once, &[pooling])?;
            for both in found.chunks_exact(2) {
                vectors.contexts.extend(&both[0].vectors);
                vectors.continuations.extend(&both[1].vectors);
                vectors.cut += usize::from(both.iter().any(|text| text.is_cut));
            }
            watch(Event::Encoded(group * TEXTS_TOGETHER + some.len(), texts.len()))?;
        }
        Ok(vectors)
    }

    /// A wrong continuation for each story of a part: a permutation of the continuations of the
    /// part, in which a story that got its own words is given those of another.
    ///
    /// # Errors
    /// Returns an error if nearly all stories of the part have the same continuation.
    pub fn wrong(&self, part: &[usize], seed: u64, draw: u64) -> Result<Vec<usize>> {
        let mut random = StreamId::WrongContinuations { draw }.rng(seed);
        let mut wrong: Vec<usize> =
            shuffled(part.len(), &mut random).into_iter().map(|at| part[at]).collect();
        let same = |story: usize, other: usize| {
            self.readings[story].continuation == self.readings[other].continuation
        };
        for (at, &story) in part.iter().enumerate() {
            let mut tries = 0;
            while same(story, wrong[at]) {
                if tries == TRIES {
                    return Err(Error::SameContinuations { stories: part.len() });
                }
                tries += 1;
                let other = (random.next_u64() % part.len() as u64) as usize;
                // Both stories must be better off, or as well off, after the exchange.
                if !same(part[other], wrong[at]) && !same(story, wrong[other]) {
                    wrong.swap(at, other);
                }
            }
        }
        Ok(wrong)
    }
}

/// One row per story.
pub(super) struct Vectors {
    width: usize,
    contexts: Vec<f32>,
    continuations: Vec<f32>,
    /// The number of stories of which a text is longer than what was read of it.
    pub cut: usize,
}

impl Vectors {
    /// The examples of a part: each story with its own continuation and with a wrong one.
    pub fn pairs(&self, part: &[usize], wrong: &[usize]) -> Vec<Pair> {
        let true_pair = |&story| Pair { context: story, continuation: story, is_true: true };
        let wrong_pair = |(&context, &continuation)| Pair { context, continuation, is_true: false };
        part.iter().map(true_pair).chain(part.iter().zip(wrong).map(wrong_pair)).collect()
    }

    /// The contexts, the continuations and the labels of examples.
    pub fn rows(&self, pairs: &[Pair]) -> (Vec<f32>, Vec<f32>, Vec<bool>) {
        let row = |rows: &'_ [f32], at: usize| rows[at * self.width..][..self.width].to_vec();
        let contexts = pairs.iter().flat_map(|pair| row(&self.contexts, pair.context)).collect();
        let continuations =
            pairs.iter().flat_map(|pair| row(&self.continuations, pair.continuation)).collect();
        (contexts, continuations, pairs.iter().map(|pair| pair.is_true).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples(continuations: &[&str]) -> Examples {
        let story = |(at, words): (usize, &&str)| Story::from(format!("Part {at}. It {words}."));
        let stories: Vec<Story> = continuations.iter().enumerate().map(story).collect();
        let mut examples = Examples::of(&stories, &Settings::default());
        // All stories are in one part here, whatever the split says.
        examples.readings =
            stories.iter().map(|story| Reading::of(story, true)).collect::<Vec<_>>();
        examples.train = (0..stories.len()).collect();
        examples
    }

    #[test]
    fn wrong_continuations_are_a_permutation_without_any_story_s_own_words() {
        let words = ["rained", "rained", "snowed", "burned", "rained", "stopped", "ran", "sang"];
        let examples = examples(&words);
        for draw in 0..50 {
            let wrong = examples.wrong(&examples.train, 3, draw).unwrap();
            let mut sorted = wrong.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, examples.train, "each is used once");
            assert!(wrong.iter().enumerate().all(|(at, &other)| words[at] != words[other]));
            assert_eq!(wrong, examples.wrong(&examples.train, 3, draw).unwrap());
        }
        assert_ne!(
            examples.wrong(&examples.train, 3, 1).ok(),
            examples.wrong(&examples.train, 3, 2).ok()
        );
    }

    #[test]
    fn stories_that_all_go_on_alike_are_an_error() {
        let examples = examples(&["rained"; 6]);
        let error = examples.wrong(&examples.train, 1, 0).expect_err("no wrong one exists");
        assert_eq!(
            error.to_string(),
            "training: too many of the 6 stories have the same words after their context"
        );
    }

    #[test]
    fn stories_of_one_sentence_are_left_out_and_the_split_is_the_one_of_union() {
        let stories: Vec<Story> = (0..200)
            .map(|at| match at % 10 {
                0 => Story::from("Only this."),
                _ => Story::from(format!("Start {at}. Then more.")),
            })
            .collect();
        let settings = Settings::default();
        let examples = Examples::of(&stories, &settings);
        assert_eq!(examples.left_out, 20);
        let expected = |part| {
            let used = (0..200u64).filter(|record| record % 10 != 0);
            used.filter(|&record| assign(settings.seed, record) == part).count()
        };
        let split = [("dev", Split::Dev), ("test", Split::Test), ("train", Split::Train)];
        assert_eq!(
            examples.split().into_iter().collect::<Vec<_>>(),
            split.map(|(name, part)| (name, expected(part)))
        );
    }
}
