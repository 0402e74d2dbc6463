//! Settings: how many techniques a sample has, which ones, and by whose rules.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Technique};

/// The rules that techniques follow where the paper and the authors' released code differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// Section 3.2 and appendix A of the paper.
    #[default]
    Paper,
    /// The choices of the authors' released scripts, as far as reading them shows.
    ReleasedCode,
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paper => "paper",
            Self::ReleasedCode => "released-code",
        })
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "paper" => Ok(Self::Paper),
            "released-code" => Ok(Self::ReleasedCode),
            _ => Err(Error::UnknownPreset(name.to_owned())),
        }
    }
}

/// Settings of the sampler, as a caller or a file gives them. The default is the paper's.
///
/// Sampling needs a [`CheckedConfig`], which [`Config::checked`] makes of them.
///
/// ```
/// use storymeter_perturb::{Config, Technique};
/// let ablation = Config::default().only("no-negation")?;
/// assert_eq!(ablation.weights[Technique::Negation.index()], 0.0);
/// # Ok::<(), storymeter_perturb::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The rules of the paper or of the released code.
    pub preset: Preset,
    /// The weights of 1, 2, 3 and 4 techniques per sample: {50, 20, 20, 10}% in the paper.
    pub counts: [f64; 4],
    /// The weight of each technique, in the order of [`Technique::ALL`]: {10, 30, 40, 20}% in the
    /// paper.
    pub weights: [f64; 4],
    /// The share of keywords that word-level substitution replaces: 15% in the paper.
    pub keyword_share: f64,
    /// The share of reorderings that move words inside sentences instead of whole sentences. This
    /// goes beyond the paper. If the chosen sentences are too short for it, whole sentences move.
    pub garbled: f64,
    /// The share of substitutions that join the beginning of a sentence with the end of a sentence
    /// of another story. This goes beyond the paper. If the chosen sentences are too short for it,
    /// the substitution follows the paper.
    pub spliced: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            preset: Preset::Paper,
            counts: [0.5, 0.2, 0.2, 0.1],
            weights: [0.1, 0.3, 0.4, 0.2],
            keyword_share: 0.15,
            garbled: 0.0,
            spliced: 0.0,
        }
    }
}

impl Config {
    /// Chooses the techniques by a list, which is one of:
    ///
    /// - `all`;
    /// - names: `repetition,negation`;
    /// - names with weights: `repetition=1,negation=3`;
    /// - `no-NAME`, which leaves one technique out.
    ///
    /// A technique that the list does not name gets the weight 0.
    ///
    /// # Errors
    /// Returns an error if a name is unknown or empty, a weight is not a positive number, or the
    /// list leaves no technique.
    pub fn only(mut self, list: &str) -> Result<Self, Error> {
        let defaults = self.weights;
        let mut chosen = [0.0; 4];
        let mut named = false;
        let mut left_out = [false; 4];
        for part in list.split(',').map(str::trim) {
            if part == "all" {
                chosen = defaults;
                named = true;
            } else if let Some(name) = part.strip_prefix("no-") {
                left_out[name.parse::<Technique>()?.index()] = true;
            } else {
                let (name, weight) = match part.split_once('=') {
                    Some((name, weight)) => (name, Some(weight)),
                    None => (part, None),
                };
                let index = name.parse::<Technique>()?.index();
                chosen[index] = match weight {
                    None => defaults[index],
                    Some(text) => text
                        .parse()
                        .ok()
                        .filter(|w: &f64| w.is_finite() && *w > 0.0)
                        .ok_or_else(|| Error::BadWeight(part.to_owned()))?,
                };
                named = true;
            }
        }
        if !named {
            chosen = defaults;
        }
        for (weight, out) in chosen.iter_mut().zip(left_out) {
            if out {
                *weight = 0.0;
            }
        }
        self.weights = chosen;
        if is_distribution(&self.weights) { Ok(self) } else { Err(Error::NoTechnique) }
    }

    /// Sets the weights of 1, 2, 3 and 4 techniques per sample by a list such as `50,20,20,10`.
    ///
    /// # Errors
    /// Returns an error if the list does not have one to four weights of at least 0, or none of
    /// them is positive.
    pub fn with_counts(mut self, list: &str) -> Result<Self, Error> {
        let weights: Option<Vec<f64>> =
            list.split(',').map(|part| part.trim().parse().ok()).collect();
        let weights =
            weights.filter(|w| w.len() <= 4).ok_or_else(|| Error::BadCounts(list.to_owned()))?;
        self.counts = [0.0; 4];
        self.counts[..weights.len()].copy_from_slice(&weights);
        if is_distribution(&self.counts) {
            Ok(self)
        } else {
            Err(Error::BadCounts(list.to_owned()))
        }
    }

    /// These settings, if a sample can be drawn by them.
    ///
    /// # Errors
    /// Returns an error if a weight is negative or not finite, if all weights are 0, if the keyword
    /// share is outside (0, 1], or if another share is outside [0, 1].
    pub fn checked(self) -> Result<CheckedConfig, Error> {
        if !is_distribution(&self.weights) {
            return Err(Error::NoTechnique);
        }
        if !is_distribution(&self.counts) {
            return Err(Error::BadCounts(format!("{:?}", self.counts)));
        }
        if !(self.keyword_share > 0.0 && self.keyword_share <= 1.0) {
            return Err(Error::BadKeywordShare(self.keyword_share));
        }
        for (name, share) in [("garbled", self.garbled), ("spliced", self.spliced)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::BadShare { name, share });
            }
        }
        Ok(CheckedConfig(self))
    }
}

/// Whether an index can be drawn by these weights.
fn is_distribution(weights: &[f64; 4]) -> bool {
    weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        && weights.iter().sum::<f64>() > 0.0
}

/// Settings that have been checked: a sample can be drawn by them.
///
/// Only [`Config::checked`] makes one, so a [`crate::Perturber`] never meets a distribution without
/// any weight. The default is the paper's settings.
///
/// ```
/// use storymeter_perturb::Config;
///
/// assert!(Config { keyword_share: 2.0, ..Config::default() }.checked().is_err());
/// let checked = Config::default().checked()?;
/// assert_eq!(checked.config(), &Config::default());
/// # Ok::<(), storymeter_perturb::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CheckedConfig(Config);

impl CheckedConfig {
    /// The settings themselves.
    pub fn config(&self) -> &Config {
        &self.0
    }

    /// The shares of samples with 1, 2, 3 and 4 techniques that these settings imply. If fewer than
    /// four techniques are enabled, larger numbers mean all that are enabled.
    pub fn expected_counts(&self) -> [f64; 4] {
        let enabled = self.enabled();
        let total: f64 = self.0.counts.iter().sum();
        let mut shares = [0.0; 4];
        for (n, weight) in self.0.counts.iter().enumerate() {
            shares[n.min(enabled - 1)] += weight / total;
        }
        shares
    }

    /// The share of samples that use each technique, as a sum over all orders in which techniques
    /// can be drawn without replacement. The four shares add up to the mean number of techniques.
    pub fn expected_techniques(&self) -> [f64; 4] {
        let counts = self.expected_counts();
        let mut shares = [0.0; 4];
        self.walk(&mut Vec::new(), 1.0, &counts, &mut shares);
        shares
    }

    fn walk(
        &self,
        drawn: &mut Vec<usize>,
        probability: f64,
        counts: &[f64; 4],
        shares: &mut [f64; 4],
    ) {
        let rest: f64 = (0..4).filter(|i| !drawn.contains(i)).map(|i| self.0.weights[i]).sum();
        let more: f64 = counts[drawn.len()..].iter().sum();
        if rest <= 0.0 || more <= 0.0 {
            return;
        }
        for i in 0..4 {
            if drawn.contains(&i) || self.0.weights[i] <= 0.0 {
                continue;
            }
            let p = probability * self.0.weights[i] / rest;
            // Every sample with at least this many techniques has technique `i` at this place.
            shares[i] += p * more;
            drawn.push(i);
            if drawn.len() < 4 {
                self.walk(drawn, p, counts, shares);
            }
            drawn.pop();
        }
    }

    pub(crate) fn enabled(&self) -> usize {
        self.0.weights.iter().filter(|weight| **weight > 0.0).count()
    }
}
