//! Weights in `pytorch_model.bin`: a zip archive with a pickle and the numbers of each storage.

use super::Tensors;
use super::content::{Content, elements};
use super::pickle::{self, Kind, View};
use super::zip::{self, Entry};
use crate::Result;
use crate::parameters::Tensor;
use std::collections::HashMap;
use std::path::Path;

/// The most bytes of the pickle. A model of a thousand tensors needs 200 KB.
const LARGEST_PICKLE: u64 = 1 << 23;

/// How a file begins that PyTorch wrote before version 1.6: a pickle of a fixed number.
const OLD_FORMAT: &[u8] = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19";

/// One file, of which the list of tensors has been read.
#[derive(Debug)]
pub(crate) struct TorchFile {
    content: Content<'static>,
    /// The tensors of floating-point numbers, in the order of the file.
    views: Vec<(String, View)>,
    places: HashMap<String, usize>,
    storages: HashMap<String, Entry>,
}

impl TorchFile {
    /// Reads the list of tensors. Nothing in the file is run.
    ///
    /// # Errors
    /// If the file is not an archive of PyTorch, is damaged, or asks for anything that does not
    /// make tensors.
    pub(crate) fn open(content: Content<'static>) -> Result<TorchFile> {
        let beginning = content.read(0, content.length().min(OLD_FORMAT.len() as u64))?;
        if *beginning == *OLD_FORMAT {
            return Err(content.broken(
                "the file has the format of PyTorch before version 1.6: write it again with \
                 torch.save, or use model.safetensors instead",
            ));
        }
        if !beginning.starts_with(b"PK") {
            return Err(content.broken("the file is not an archive that PyTorch wrote"));
        }
        let entries = zip::entries(&content)?;
        let found = entries.iter().find_map(|entry| {
            let prefix = entry.name.strip_suffix("data.pkl")?;
            (prefix.is_empty() || prefix.ends_with('/')).then_some((prefix.to_owned(), entry))
        });
        let Some((prefix, pickled)) = found else {
            return Err(content.broken("the archive has no data.pkl, so PyTorch did not write it"));
        };
        let order = entries.iter().find(|entry| entry.name == format!("{prefix}byteorder"));
        if let Some(order) = order
            && content.read(order.start, order.length.min(6))?[..] != b"little"[..]
        {
            return Err(content.broken("the numbers are not in little-endian order"));
        }
        if pickled.length > LARGEST_PICKLE {
            return Err(content.broken(format!("its data.pkl has {} bytes", pickled.length)));
        }
        let program = content.read(pickled.start, pickled.length)?;
        let mut views = pickle::tensors(&program).map_err(|problem| content.broken(problem))?;
        views.retain(|(_, view)| view.storage.kind != Kind::Whole);
        let places = views.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        let data = format!("{prefix}data/");
        let storages = entries
            .into_iter()
            .filter_map(|entry| Some((entry.name.strip_prefix(&data)?.to_owned(), entry)))
            .collect();
        Ok(TorchFile { content, views, places, storages })
    }

    fn read(&self, name: &str, view: &View) -> Result<Tensor> {
        let error = |problem: &str| self.content.tensor_error(name, problem);
        let Kind::Float(number) = view.storage.kind else {
            return Err(error("does not hold floating-point numbers"));
        };
        let Some(entry) = self.storages.get(&view.storage.key) else {
            return Err(error("its numbers are not in the archive"));
        };
        let size = number.size() as u64;
        if (view.storage.count as u64).checked_mul(size).is_none_or(|bytes| bytes > entry.length) {
            return Err(error("the archive has fewer numbers than the tensor's storage"));
        }
        let count = elements(&view.shape).filter(|count| *count <= view.storage.count as u64);
        let Some(count) = count else {
            return Err(error("is larger than its storage"));
        };
        let shape = view.shape.clone();
        if count == 0 {
            return self.content.tensor(name, shape, Vec::new());
        }
        let mut last = Some(0usize);
        for (n, stride) in shape.iter().zip(&view.strides) {
            last = last.and_then(|last| last.checked_add((n - 1).checked_mul(*stride)?));
        }
        let end = last.and_then(|last| last.checked_add(view.offset)?.checked_add(1));
        let Some(length) = end.filter(|end| *end <= view.storage.count).and(last) else {
            return Err(error("reaches beyond its storage"));
        };
        let start = entry.start + view.offset as u64 * size;
        let bytes = self.content.read(start, (length as u64 + 1) * size)?;
        let numbers = number.decode(&bytes);
        let data =
            if is_contiguous(view) { numbers } else { gather(&numbers, &shape, &view.strides) };
        self.content.tensor(name, shape, data)
    }
}

/// Whether the numbers lie one after the other, row by row.
fn is_contiguous(view: &View) -> bool {
    let mut expected = 1;
    view.shape.iter().zip(&view.strides).rev().all(|(n, stride)| {
        let fits = *n == 1 || *stride == expected;
        expected *= n;
        fits
    })
}

/// The numbers of a view, row by row. No dimension is empty.
fn gather(numbers: &[f32], shape: &[usize], strides: &[usize]) -> Vec<f32> {
    let mut data = Vec::with_capacity(shape.iter().product());
    let mut index = vec![0; shape.len()];
    loop {
        data.push(numbers[index.iter().zip(strides).map(|(i, stride)| i * stride).sum::<usize>()]);
        // The last dimension counts fastest.
        let Some(dimension) = (0..shape.len()).rev().find(|d| index[*d] + 1 < shape[*d]) else {
            return data;
        };
        index[dimension] += 1;
        index[dimension + 1..].fill(0);
    }
}

impl Tensors for TorchFile {
    fn path(&self) -> &Path {
        self.content.path()
    }

    fn names(&self) -> Vec<String> {
        self.views.iter().map(|(name, _)| name.clone()).collect()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(place) = self.places.get(name) else { return Ok(None) };
        self.read(name, &self.views[*place].1).map(Some)
    }
}
