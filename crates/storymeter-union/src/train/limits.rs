//! Checks settings, so that an impossible value is reported before any work begins.

use std::path::Path;

use storymeter_core::configuration::{Fault, LARGEST_SEED};
use storymeter_encoder::{Config, Grid};

use super::settings::Settings;
use crate::{Error, Pooling, Reconstruction, Result};

/// The largest number that is allowed. Products of such numbers must stay finite in single
/// precision.
const LARGEST: f64 = 1e6;
const MOST_EPOCHS: u64 = 1_000_000;
const MOST_TOKENS_A_BATCH: usize = 1 << 24;

impl Settings {
    /// Checks that a run can start with these settings from the encoder in this folder.
    ///
    /// # Errors
    /// Returns [`Error::Setting`] if a value is impossible or does not fit the encoder.
    /// [`Error::Encoder`] if the folder has no valid `config.json`.
    pub fn check(&self, init: &Path) -> Result<()> {
        self.check_for(&Config::load(init)?, init)
    }

    /// Checks that the model has no head for repairing or naming damage, which machine stories do
    /// not have.
    pub(super) fn check_for_machine_stories(&self) -> Result<()> {
        let wrong = |field, value: &str| {
            let problem = format!("must be {value}: stories of machines are not damaged ones");
            Err(Error::Setting { field, problem })
        };
        if self.reconstruction != Reconstruction::None {
            return wrong("reconstruction", "\"none\"");
        }
        if self.typos > 0.0 {
            return wrong("typos", "0");
        }
        if self.diagnosis { wrong("diagnosis", "false") } else { Ok(()) }
    }

    pub(super) fn check_for(&self, config: &Config, init: &Path) -> Result<()> {
        match self.misfit(config, init).or_else(|| self.fault()) {
            Some(Fault { field, problem }) => Err(Error::Setting { field, problem }),
            None => Ok(()),
        }
    }

    /// The first setting that does not fit this encoder, if any.
    fn misfit(&self, config: &Config, init: &Path) -> Option<Fault> {
        let (longest, init) = (config.max_tokens(), init.display());
        if !(8..=longest).contains(&self.max_tokens) {
            let problem = format!(
                "is {}, but the encoder in {init} reads 8 to {longest} tokens",
                self.max_tokens
            );
            return Some(Fault { field: "max_tokens", problem });
        }
        (self.layers > config.layers).then(|| Fault {
            field: "layers",
            problem: format!(
                "is {}, but the encoder in {init} has {} layers",
                self.layers, config.layers
            ),
        })
    }

    /// The first setting that is impossible with any encoder, if any.
    pub(super) fn fault(&self) -> Option<Fault> {
        let (positive, number) = (Fault::positive, Fault::number);
        let share = |field, x| Fault::within(field, x, 0.0, 1.0);
        let weight = |field, x| Fault::within(field, x, 0.0, LARGEST);
        number("seed", self.seed, 0, LARGEST_SEED)
            .or_else(|| number("epochs", self.epochs, 1, MOST_EPOCHS))
            .or_else(|| number("schedule_epochs", self.schedule_epochs, 0, MOST_EPOCHS))
            .or_else(|| self.schedule_fault())
            .or_else(|| self.batch_fault())
            .or_else(|| self.grid().and_then(step_fault))
            .or_else(|| share("warm_up", self.warm_up))
            .or_else(|| share("delexicalise", self.delexicalise))
            .or_else(|| share("typos", self.typos))
            .or_else(|| self.typos_fault())
            .or_else(|| share("teacher_share", self.teacher_share))
            .or_else(|| positive("teacher_temperature", self.teacher_temperature, LARGEST))
            .or_else(|| positive("learning_rate", self.learning_rate, 1.0))
            .or_else(|| positive("clip", self.clip, LARGEST))
            .or_else(|| positive("adam_epsilon", self.adam_epsilon, 1.0))
            .or_else(|| weight("weight_decay", self.weight_decay))
            .or_else(|| weight("reconstruction_weight", self.reconstruction_weight))
            .or_else(|| weight("diagnosis_weight", self.diagnosis_weight))
            .or_else(|| positive("changed_weight", self.changed_weight, LARGEST))
            .or_else(|| self.diagnosis_fault())
            .or_else(|| self.perturb_fault())
    }

    fn schedule_fault(&self) -> Option<Fault> {
        let short = self.schedule_epochs > 0 && self.schedule_epochs < self.epochs;
        let problem =
            || format!("is {}, less than the {} epochs", self.schedule_epochs, self.epochs);
        short.then(|| Fault { field: "schedule_epochs", problem: problem() })
    }

    fn batch_fault(&self) -> Option<Fault> {
        const ROOM: &str = "a batch needs room for a story and its negative";
        if self.stories_a_batch == 1 {
            return Some(Fault { field: "stories_a_batch", problem: format!("is 1: {ROOM}") });
        }
        let least = self.max_tokens.saturating_mul(2);
        let problem = if self.tokens_a_batch < least {
            format!("is {}: {ROOM}, which is twice max_tokens or {least}", self.tokens_a_batch)
        } else if self.tokens_a_batch > MOST_TOKENS_A_BATCH {
            format!("must be at most {MOST_TOKENS_A_BATCH}, but is {}", self.tokens_a_batch)
        } else {
            return None;
        };
        Some(Fault { field: "tokens_a_batch", problem })
    }

    fn typos_fault(&self) -> Option<Fault> {
        (self.typos > 0.0 && self.reconstruction != Reconstruction::None).then(|| Fault {
            field: "typos",
            problem: format!(
                "is {}, but must be 0 unless reconstruction is \"none\": reconstruction compares \
                 two stories token by token, and typos change the number of tokens",
                self.typos
            ),
        })
    }

    fn diagnosis_fault(&self) -> Option<Fault> {
        (self.diagnosis && self.pooling == Pooling::Pooler).then(|| Fault {
            field: "diagnosis",
            problem: "must be false if pooling is \"pooler\": the pooler is for the score alone"
                .to_owned(),
        })
    }

    fn perturb_fault(&self) -> Option<Fault> {
        let largest = self
            .perturb
            .weights
            .iter()
            .chain(&self.perturb.counts)
            .find(|weight| **weight > LARGEST);
        let problem = match (self.perturb.clone().checked(), largest) {
            (Err(problem), _) => format!("is impossible: {problem}"),
            (Ok(_), Some(weight)) => {
                format!("has a weight of {weight}: at most {LARGEST} is possible")
            }
            (Ok(_), None) => return None,
        };
        Some(Fault { field: "perturb", problem })
    }
}

fn step_fault(grid: Grid) -> Option<Fault> {
    let problem = grid.problem()?;
    let alone = |step| Grid { layers: step, words: step }.problem().is_some();
    let (field, step) =
        if alone(grid.layers) { ("weight_step", grid.layers) } else { ("word_step", grid.words) };
    Some(Fault { field, problem: format!("is {step}: {problem}, or both are 0") })
}

#[cfg(test)]
mod tests {
    use storymeter_perturb::Technique;

    use super::*;
    use crate::train::Preset;

    /// The configuration of a small BERT that reads 512 tokens.
    fn bert() -> Config {
        let fields = serde_json::json!({
            "model_type": "bert", "vocab_size": 99, "hidden_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 2, "intermediate_size": 96, "max_position_embeddings": 512,
        });
        Config::from_fields(fields.as_object().cloned().unwrap(), "config.json".into()).unwrap()
    }

    #[test]
    fn every_preset_can_be_run_with_bert_and_nonsense_is_named() {
        for preset in [Preset::Default, Preset::Paper, Preset::ReleasedCode] {
            Settings::of(preset).check_for(&bert(), Path::new("bert")).unwrap();
        }
        let problem = |settings: Settings| {
            settings.check_for(&bert(), Path::new("bert")).unwrap_err().to_string()
        };
        let default = Settings::default();
        let said = problem(Settings { delexicalise: 1.5, ..default.clone() });
        assert_eq!(said, "training: delexicalise must be from 0 to 1, but is 1.5");
        let said = problem(Settings { typos: 0.5, ..default.clone() });
        assert!(
            said.starts_with("training: typos is 0.5, but must be 0 unless reconstruction is"),
            "{said}"
        );
        let without = default.clone().for_machine_stories();
        let typos = Settings { typos: 0.5, ..without };
        typos.check_for(&bert(), Path::new("bert")).unwrap();
        let said = typos.check_for_machine_stories().unwrap_err().to_string();
        assert!(said.starts_with("training: typos must be 0: stories of machines"), "{said}");
        let said = problem(Settings { learning_rate: f64::NAN, ..default.clone() });
        assert_eq!(said, "training: learning_rate must be from 1e-30 to 1, but is NaN");
        assert!(
            problem(Settings { stories_a_batch: 1, ..default.clone() })
                .contains("a batch needs room")
        );
        assert!(
            problem(Settings { layers: 3, ..default.clone() })
                .contains("the encoder in bert has 2 layers")
        );
        let steps = |weight_step, word_step| Settings { weight_step, word_step, ..default.clone() };
        assert!(problem(steps(0.7, 0.0)).contains("word_step is 0: a step is from 0.25 to 2"));
        assert!(problem(steps(f64::NAN, 1.0)).contains("weight_step is NaN: a step is from"));
        let none = Technique::ALL.into_iter().fold(default, Settings::without_technique);
        assert!(problem(none).contains("perturb is impossible: no technique is left"));
    }

    #[test]
    fn numbers_that_single_precision_cannot_hold_are_refused() {
        type Change = fn(&mut Settings, f64);
        let numbers: [(&str, Change); 12] = [
            ("weight_step", |settings, x| settings.weight_step = x),
            ("word_step", |settings, x| (settings.weight_step, settings.word_step) = (0.7, x)),
            ("delexicalise", |settings, x| settings.delexicalise = x),
            ("typos", |settings, x| settings.typos = x),
            ("learning_rate", |settings, x| settings.learning_rate = x),
            ("warm_up", |settings, x| settings.warm_up = x),
            ("clip", |settings, x| settings.clip = x),
            ("adam_epsilon", |settings, x| settings.adam_epsilon = x),
            ("weight_decay", |settings, x| settings.weight_decay = x),
            ("reconstruction_weight", |settings, x| settings.reconstruction_weight = x),
            ("teacher_temperature", |settings, x| settings.teacher_temperature = x),
            ("perturb", |settings, x| settings.perturb.weights[2] = x),
        ];
        for (field, change) in numbers {
            for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e39, -1.0] {
                let mut settings = Settings::default();
                change(&mut settings, x);
                assert_eq!(settings.fault().map(|fault| fault.field), Some(field), "{x}");
            }
        }
        let tiny = Settings { adam_epsilon: 1e-300, ..Settings::default() };
        assert!(tiny.fault().is_some(), "0 in single precision");
        for huge in [
            Settings { seed: u64::MAX, ..Settings::default() },
            Settings { epochs: u64::MAX, ..Settings::default() },
            Settings { tokens_a_batch: usize::MAX, ..Settings::default() },
            Settings { max_tokens: usize::MAX, ..Settings::default() },
        ] {
            assert!(huge.fault().is_some(), "{huge:?}");
        }
    }
}
