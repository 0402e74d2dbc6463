//! The options of all verbs that score stories.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};
use storymeter::{Device, LEARNED, Precision, ReadyScorer, Scorer, metric_of};

/// The metrics, and what they compute with.
#[derive(Debug, Clone, Args)]
pub struct ScorerArgs {
    /// The metrics, separated by commas. The default is union, the learned metric, or criteria if
    /// --model names a model of criteria
    #[arg(short, long = "metric", value_name = "ID", value_delimiter = ',', value_parser = id)]
    pub metrics: Vec<String>,
    /// The model of the metric union or criteria, whichever it was trained for: a folder that
    /// `storymeter train` wrote, a model file, or the name of a model (`storymeter model list`).
    /// The default models are part of the program
    #[arg(long, value_name = "DIR|FILE|NAME")]
    pub model: Option<PathBuf>,
    /// The folder or file with the weights or tables of a metric. NAME is the id of a metric, such
    /// as bertscore, or the usual name of a model, such as roberta-large. Models that are not named
    /// are looked for in the folders of STORYMETER_MODELS and in the local cache of Hugging Face.
    /// The option may be given several times
    #[arg(long, value_name = "NAME=DIR", value_parser = name_and_folder)]
    weights: Vec<(String, PathBuf)>,
    /// The number format in which neural networks multiply. The default of union and criteria is
    /// int8, which gives the same scores on the CPU and on a GPU, to the last digit. The default of
    /// all other metrics is f32, which is slower and more exact; a model file of union or criteria,
    /// whose weights are int8, supports it only on a GPU. f16 and bf16 need a GPU
    #[arg(long, value_name = "PRECISION")]
    precision: Option<PrecisionArg>,
    /// Where neural networks compute: cpu, or cuda for an NVIDIA GPU (the first one of
    /// CUDA_VISIBLE_DEVICES)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceArg,
    /// The folder with the tables of METEOR 1.5. The same as --weights meteor=DIR
    #[arg(long, value_name = "DIR")]
    meteor_data: Option<PathBuf>,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Integers of 8 bits
    Int8,
    /// Floating point of 16 bits, on a GPU
    F16,
    /// Floating point of 16 bits with a larger range and fewer digits, on a GPU
    Bf16,
    /// Floating point of 32 bits
    F32,
}

/// The values of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeviceArg {
    /// The processor of this machine
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

fn id(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a metric has no name; ids are separated by commas".to_owned()),
        id => Ok(id.to_owned()),
    }
}

pub fn name_and_folder(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.to_owned(), folder.into()))
        }
        _ => Err(format!("\"{text}\" does not have the form NAME=DIR")),
    }
}

impl ScorerArgs {
    /// The scorer with the metrics and settings that the user typed.
    pub fn scorer(&self) -> Scorer {
        let mut scorer = Scorer::new();
        if !self.metrics.is_empty() {
            scorer = scorer.metrics(self.metrics.clone());
        }
        if let Some(folder) = &self.meteor_data {
            scorer = scorer.weights("meteor", folder);
        }
        for (name, folder) in &self.weights {
            scorer = scorer.weights(name, folder);
        }
        if let Some(model) = &self.model {
            scorer = scorer.model(model);
        }
        if self.device == DeviceArg::Cuda {
            scorer = scorer.device(Device::Cuda(0));
        }
        match self.precision {
            Some(PrecisionArg::Int8) => scorer.precision(Precision::Int8),
            Some(PrecisionArg::F16) => scorer.precision(Precision::F16),
            Some(PrecisionArg::Bf16) => scorer.precision(Precision::Bf16),
            Some(PrecisionArg::F32) => scorer.precision(Precision::F32),
            None => scorer,
        }
    }

    /// The files and folders of models and tables, which no output may replace.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let folders = self.weights.iter().map(|(_, folder)| folder);
        self.model.iter().chain(&self.meteor_data).chain(folders).map(PathBuf::as_path)
    }

    /// Checks that a model that was named has a metric that reads it.
    pub fn refuse_unused_model(
        &self,
        scorer: &ReadyScorer,
        is_explained: bool,
    ) -> anyhow::Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        let metric = metric_of(model);
        // An explanation is by the metric union if no other metric explains itself.
        let explains = is_explained && metric == LEARNED;
        if !explains && !scorer.metrics().columns().iter().any(|column| column.key.id() == metric) {
            bail!(
                "--model {}: none of the metrics reads this model; add {metric} to --metric",
                model.display()
            );
        }
        Ok(())
    }
}
