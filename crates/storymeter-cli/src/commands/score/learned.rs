//! The learned metric among the others.

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use storymeter::core::Metric;
use storymeter::metrics::{Options, Scorer, registry};
use storymeter::union::{self, Location, Precision, UnionMetric};

/// The id of the learned metric.
pub(super) const UNION: &str = "union";

/// Which model, and how it computes.
#[derive(Debug, Clone, Args)]
pub(super) struct LearnedArgs {
    /// The model of the metric union: a folder written by storymeter train, a model file, or the name of a model
    /// (`storymeter model list`); the default is the one that is part of the program
    #[arg(long, value_name = "DIR|FILE|NAME")]
    pub model: Option<String>,
    /// How the model multiplies: int8 is several times faster, f32 is exact
    #[arg(long, value_name = "PRECISION", default_value = "int8")]
    precision: PrecisionArg,
    /// Where the model computes
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: Device,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Eight-bit integers
    Int8,
    /// Single precision
    F32,
}

/// The values of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Device {
    /// This machine's processor
    Cpu,
    /// An NVIDIA card
    Cuda,
}

impl LearnedArgs {
    /// Loads the model.
    pub(super) fn load(&self) -> anyhow::Result<union::Scorer> {
        if self.device == Device::Cuda {
            bail!("--device cuda: this version scores on the CPU only");
        }
        let precision = match self.precision {
            PrecisionArg::Int8 => Precision::Int8,
            PrecisionArg::F32 => Precision::F32,
        };
        match &self.model {
            Some(typed) => {
                let location = Location::of(typed).context("--model")?;
                location.scorer(precision).with_context(|| format!("--model {typed}"))
            }
            None => Location::Embedded.scorer(precision).context(
                "the metric union needs a model: name one with --model, or other metrics with --metric (`storymeter \
                 metrics list` names them)",
            ),
        }
    }
}

/// The metrics of these ids, the learned one included.
pub(super) fn scorer(args: &LearnedArgs, ids: &[String], options: &Options) -> anyhow::Result<Scorer> {
    let metrics = ids.iter().map(|id| -> anyhow::Result<(String, Box<dyn Metric>)> {
        Ok((
            id.clone(),
            if id == UNION {
                Box::new(UnionMetric::new(id, args.load()?))
            } else {
                registry::build(id, options)?
            },
        ))
    });
    Ok(Scorer::from_metrics(metrics.collect::<anyhow::Result<_>>()?)?)
}
