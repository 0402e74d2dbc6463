//! Opens a model on a GPU.

use super::Number;
use super::forward::Forward;
use super::int8::Int8;
use super::model::{CudaModel, Network};
use crate::config::Config;
use crate::error::DeviceError;
use crate::kernel::Isa;
use crate::parameters::Tensor;
use crate::source::Tensors;
use crate::{Model, Precision, Result};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Tensors that another thread looks up, one at a time: weights belong to the thread that opens a
/// model, and what is on a GPU to a thread of its own.
struct Remote {
    path: PathBuf,
    names: Vec<String>,
    wanted: Sender<String>,
    found: Receiver<Result<Option<Tensor>>>,
}

impl Tensors for Remote {
    fn path(&self) -> &Path {
        &self.path
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        // If the other thread has ended, nobody waits for this one either.
        let _ = self.wanted.send(name.into());
        self.found.recv().unwrap_or(Ok(None))
    }
}

impl CudaModel {
    /// Takes the weights of a model to GPU number `ordinal`.
    pub(crate) fn open(
        ordinal: usize,
        config: Config,
        tensors: &dyn Tensors,
        precision: Precision,
    ) -> Result<CudaModel> {
        match precision {
            Precision::F32 => floats::<f32>(ordinal, config, tensors, precision),
            Precision::F16 => floats::<half::f16>(ordinal, config, tensors, precision),
            Precision::Bf16 => floats::<half::bf16>(ordinal, config, tensors, precision),
            Precision::Int8 => {
                if config.check_encoder().is_err() {
                    let problem = "takes int8 for encoders such as BERT only; other models run in \
                                   f16, bf16 or f32";
                    return Err(DeviceError::Unsupported(problem.into()).into());
                }
                let encoder = Model::on_cpu(config.clone(), tensors, precision, Isa::detect())?;
                let make = move || -> Result<Box<dyn Network>> {
                    Ok(Box::new(Int8::new(ordinal, &encoder)?))
                };
                CudaModel::start(config, precision, make).wait()
            }
        }
    }
}

/// Opens a model whose products are of type `N`.
fn floats<N: Number>(
    ordinal: usize,
    config: Config,
    tensors: &dyn Tensors,
    precision: Precision,
) -> Result<CudaModel> {
    let (wanted, questions) = channel::<String>();
    let (answers, found) = channel();
    let remote = Remote { path: tensors.path().into(), names: tensors.names(), wanted, found };
    let its_config = config.clone();
    let make = move || -> Result<Box<dyn Network>> {
        Ok(Box::new(Forward::<N>::new(ordinal, &its_config, &remote)?))
    };
    let starting = CudaModel::start(config, precision, make);
    // This ends when the other thread has all that it needs, or has failed.
    for name in questions {
        let _ = answers.send(tensors.get(&name));
    }
    starting.wait()
}
