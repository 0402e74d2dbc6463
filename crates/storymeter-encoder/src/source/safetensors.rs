//! `model.safetensors`: tensors in f32, f16 or bf16.

use super::Tensors;
use crate::error::excerpt;
use crate::parameters::Tensor;
use crate::{Error, Result};
use half::{bf16, f16};
use safetensors::tensor::{Dtype, Metadata, SafeTensors};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A file of tensors in memory.
pub(crate) struct Safetensors<'a> {
    path: PathBuf,
    bytes: Cow<'a, [u8]>,
    /// Where the numbers begin.
    start: usize,
    metadata: Metadata,
}

impl<'a> Safetensors<'a> {
    /// Reads what the file says about its tensors. Errors name `path`.
    ///
    /// # Errors
    /// If it is not a complete safetensors file.
    pub(crate) fn new(path: &Path, bytes: impl Into<Cow<'a, [u8]>>) -> Result<Safetensors<'a>> {
        let bytes = bytes.into();
        let wrong = |problem: String| Error::Safetensors {
            path: path.into(),
            problem: format!("{} ({} bytes)", excerpt(&problem), bytes.len()),
        };
        // This also checks that the tensors fill the file exactly.
        let (header, metadata) =
            SafeTensors::read_metadata(&bytes).map_err(|e| wrong(e.to_string()))?;
        // The length of the header stands before it, in eight bytes.
        Ok(Safetensors { path: path.into(), start: header + 8, metadata, bytes })
    }

    fn error(&self, name: &str, problem: String) -> Error {
        Error::Tensor { path: self.path.clone(), name: excerpt(name), problem }
    }
}

impl Tensors for Safetensors<'_> {
    fn path(&self) -> &Path {
        &self.path
    }

    fn names(&self) -> Vec<String> {
        self.metadata.tensors().into_keys().collect()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(info) = self.metadata.info(name) else { return Ok(None) };
        let (from, to) = info.data_offsets;
        let bytes = &self.bytes[self.start + from..self.start + to];
        let data: Vec<f32> = match info.dtype {
            Dtype::F32 => bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
            Dtype::F16 => {
                bytes.as_chunks().0.iter().map(|b| f16::from_le_bytes(*b).to_f32()).collect()
            }
            Dtype::BF16 => {
                bytes.as_chunks().0.iter().map(|b| bf16::from_le_bytes(*b).to_f32()).collect()
            }
            other => {
                let problem = format!("has type {other:?}, expected F32, F16 or BF16");
                return Err(self.error(name, problem));
            }
        };
        if let Some(place) = data.iter().position(|v| !v.is_finite()) {
            let count = data.iter().filter(|v| !v.is_finite()).count();
            let problem = format!(
                "{count} of {} numbers are not finite, first {} at {place}",
                data.len(),
                data[place]
            );
            return Err(self.error(name, problem));
        }
        Ok(Some(Tensor { name: name.to_owned(), shape: info.shape.clone(), data }))
    }
}
