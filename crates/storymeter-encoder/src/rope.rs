//! Rotary positions (Su et al. 2021): each pair of channels of a query or key is turned by an angle
//! that grows with the position.

use crate::Result;
use crate::fields::Fields;
use serde_json::{Map, Value};
use std::f64::consts::TAU;

/// The angles of rotary positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rope {
    /// The wavelengths grow from one turn in 2 pi positions to one in `theta` times as many.
    pub theta: f64,
    /// How the angles of a model were changed so that it reads longer texts.
    pub scaling: RopeScaling,
}

/// How angles are changed for longer texts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// All angles are divided by this factor.
    Linear(f64),
    /// As in Llama 3.1: long wavelengths are divided by `factor`, short ones stay, and those in
    /// between are mixed.
    Llama3 {
        /// The divisor of the long wavelengths.
        factor: f64,
        /// Wavelengths above `original / low` are long.
        low: f64,
        /// Wavelengths below `original / high` are short.
        high: f64,
        /// The longest text before the change, in tokens.
        original: f64,
    },
}

impl Rope {
    /// Reads `rope_theta` and `rope_scaling`, which newer files keep in `rope_parameters`.
    pub(crate) fn from_fields(fields: &Fields<'_>) -> Result<Rope> {
        let nested = |field: &str| match fields.value(field) {
            None => Ok(None),
            Some(Value::Object(inner)) => Ok(Some(inner)),
            Some(_) => Err(fields.error(field, "expected an object".into())),
        };
        let (parameters, scaling) = (nested("rope_parameters")?, nested("rope_scaling")?);
        let inside = |source| Fields { source, path: fields.path.clone() };
        let theta = match parameters {
            Some(source) => inside(source).positive("rope_theta", Some(10_000.0))?,
            None => fields.positive("rope_theta", Some(10_000.0))?,
        };
        let scaling = match scaling.or(parameters) {
            Some(source) => scaling_of(&inside(source), source)?,
            None => RopeScaling::None,
        };
        Ok(Rope { theta, scaling })
    }

    /// The angle of each pair of channels for one step, for heads of `width` channels.
    pub(crate) fn frequencies(&self, width: usize) -> Vec<f32> {
        let plain = |pair: usize| self.theta.powf(-((2 * pair) as f64) / width as f64);
        let scaled = |frequency: f64| match self.scaling {
            RopeScaling::None => frequency,
            RopeScaling::Linear(factor) => frequency / factor,
            RopeScaling::Llama3 { factor, low, high, original } => {
                let turns = original * frequency / TAU;
                let mix = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                (1.0 - mix) * frequency / factor + mix * frequency
            }
        };
        (0..width / 2).map(|pair| scaled(plain(pair)) as f32).collect()
    }
}

fn scaling_of(fields: &Fields<'_>, source: &Map<String, Value>) -> Result<RopeScaling> {
    // Files from before 2024 call the kind `type`.
    let kind = if source.contains_key("rope_type") { "rope_type" } else { "type" };
    match fields.text(kind)? {
        None | Some("default") => Ok(RopeScaling::None),
        Some("linear") => Ok(RopeScaling::Linear(fields.positive("factor", None)?)),
        Some("llama3") => {
            let (low, high) = (
                fields.positive("low_freq_factor", None)?,
                fields.positive("high_freq_factor", None)?,
            );
            if low >= high {
                let problem = format!("{high} is not greater than low_freq_factor ({low})");
                return Err(fields.error("high_freq_factor", problem));
            }
            let original = fields.positive("original_max_position_embeddings", None)?;
            Ok(RopeScaling::Llama3 {
                factor: fields.positive("factor", None)?,
                low,
                high,
                original,
            })
        }
        Some(other) => {
            let problem =
                format!("{:?} is not one of default, linear, llama3", crate::error::excerpt(other));
            Err(fields.error("rope_scaling", problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rope, RopeScaling};

    /// The expected numbers are those of `transformers` 4.44.2 (`ROPE_INIT_FUNCTIONS`), for heads
    /// of eight channels.
    #[test]
    fn frequencies_are_those_of_transformers() {
        let plain = Rope { theta: 10_000.0, scaling: RopeScaling::None };
        assert_eq!(plain.frequencies(8), [1.0, 0.1, 0.01, 0.001]);
        let linear = Rope { scaling: RopeScaling::Linear(4.0), ..plain };
        assert_eq!(linear.frequencies(8), [0.25, 0.025, 0.0025, 0.00025]);
        let scaling = RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 8192.0 };
        let llama = Rope { theta: 500_000.0, scaling };
        let (short, long) = (llama.frequencies(64), Rope { theta: 500_000.0, ..plain });
        let plain = long.frequencies(64);
        assert_eq!(short[..8], plain[..8], "short wavelengths stay");
        assert!((short[31] - plain[31] / 8.0).abs() < 1e-12, "long wavelengths are divided");
    }
}
