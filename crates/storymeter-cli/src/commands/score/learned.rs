//! The learned metric among the others.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use storymeter::core::Metric;
use storymeter::metrics::{Options, Scorer, registry};
use storymeter::union::{self, GpuPrecision, Location, Precision, UnionMetric};

/// The id of the learned metric.
pub(super) const UNION: &str = "union";

/// Which model, and how it computes.
#[derive(Debug, Clone, Args)]
pub(super) struct LearnedArgs {
    /// The model of the metric union: a folder written by storymeter train, a model file, or the name of a model
    /// (`storymeter model list`); the default is the one that is part of the program
    #[arg(long, value_name = "DIR|FILE|NAME")]
    pub model: Option<String>,
    /// How the model multiplies. int8, the default, gives the same scores on the CPU and on a GPU, to the last digit. f32 is exact
    /// and slower; a model file has it on a GPU only. f16 and bf16 are for a GPU
    #[arg(long, value_name = "PRECISION")]
    precision: Option<PrecisionArg>,
    /// Where the model computes: cpu, or cuda for an NVIDIA GPU (the first one that CUDA_VISIBLE_DEVICES names)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: Device,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Eight-bit integers
    Int8,
    /// Sixteen bits, on a GPU
    F16,
    /// Sixteen bits with a larger range and less precision, on a GPU
    Bf16,
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
        let load = |location: &Location| match (self.device, self.precision) {
            (Device::Cpu, None | Some(PrecisionArg::Int8)) => Ok(location.scorer(Precision::Int8)),
            (Device::Cpu, Some(PrecisionArg::F32)) => Ok(location.scorer(Precision::F32)),
            (Device::Cuda, None | Some(PrecisionArg::Int8)) => {
                Ok(location.scorer_on_gpu(0, GpuPrecision::Int8))
            }
            (Device::Cuda, Some(PrecisionArg::F32)) => {
                Ok(location.scorer_on_gpu(0, GpuPrecision::F32))
            }
            (Device::Cuda, Some(PrecisionArg::Bf16)) => {
                Ok(location.scorer_on_gpu(0, GpuPrecision::Bf16))
            }
            (Device::Cuda, Some(PrecisionArg::F16)) => {
                Ok(location.scorer_on_gpu(0, GpuPrecision::F16))
            }
            (Device::Cpu, Some(PrecisionArg::F16 | PrecisionArg::Bf16)) => {
                bail!("--precision f16 and bf16 are for --device cuda")
            }
        };
        let device = if self.device == Device::Cuda { "--device cuda, " } else { "" };
        match &self.model {
            Some(typed) => {
                let location = Location::find(typed).context("--model")?;
                load(&location)?.with_context(|| format!("{device}--model {typed}"))
            }
            None => load(&Location::Embedded)?.context(
                "the metric union needs a model: name one with --model, or other metrics with --metric (`storymeter \
                 metrics list` names them)",
            ),
        }
    }
}

/// The learned metric's model, where that is among the metrics asked for.
#[derive(Default)]
pub(super) struct Learned(Option<(Arc<union::Scorer>, Arc<OnceLock<union::Error>>)>);

impl Learned {
    /// Whether the learned metric is among those asked for.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Its model.
    pub(super) fn model(&self) -> Option<Arc<union::Scorer>> {
        self.0.as_ref().map(|(model, _)| Arc::clone(model))
    }

    /// The first error of its device, if that has failed.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.0.as_ref().and_then(|(_, failure)| failure.get()) {
            Some(error) => bail!("the model could not score: {error}"),
            None => Ok(()),
        }
    }
}

/// The metrics of these ids, the learned one included.
pub(super) fn scorer(
    args: &LearnedArgs,
    ids: &[String],
    options: &Options,
) -> anyhow::Result<(Scorer, Learned)> {
    let mut learned = Learned::default();
    let mut metrics: Vec<(String, Box<dyn Metric>)> = Vec::new();
    for id in ids {
        let metric = if id == UNION {
            let model = Arc::new(args.load()?);
            let metric = UnionMetric::new(id, Arc::clone(&model));
            learned = Learned(Some((model, metric.failure())));
            Box::new(metric)
        } else {
            registry::build(id, options)?
        };
        metrics.push((id.clone(), metric));
    }
    Ok((Scorer::from_metrics(metrics)?, learned))
}
