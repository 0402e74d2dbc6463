//! Weights in `pytorch_model.bin`.
//!
//! Since version 1.6, PyTorch writes a zip archive with a pickle and the numbers of each storage.
//! Before, it wrote five pickles in a row: a magic number, the version of the format, facts about
//! the machine, the tensors, and the keys of the storages. The storages follow in the order of the
//! keys, each with the number of its elements in eight bytes before it. Many public models still
//! have the old format.

use super::Tensors;
use super::content::{Content, elements};
use super::pickle::{self, Kind, Pickled, Storage, View};
use super::zip;
use crate::Result;
use crate::error::excerpt;
use crate::parameters::Tensor;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The most bytes of the pickles. A model of a thousand tensors needs 200 KB.
const LARGEST_PICKLE: u64 = 1 << 23;

/// The number with which a file of the old format begins.
const OLD_MAGIC: i128 = 0x1950_a86a_20f9_469c_fc6c;

/// What is wrong with a file from a machine whose numbers begin with the highest byte.
const BIG_ENDIAN: &str = "the numbers are not in little-endian order";

/// The only version of the old format that PyTorch has ever written.
const OLD_VERSION: i128 = 1001;

/// One file, of which the list of tensors has been read.
#[derive(Debug)]
pub(crate) struct TorchFile {
    content: Content<'static>,
    /// The tensors of floating-point numbers, in the order of the file.
    views: Vec<(Arc<str>, Arc<View>)>,
    places: HashMap<Arc<str>, usize>,
    storages: Storages,
}

/// The tensors of a file by name, and where their numbers are.
type Listed = (Vec<(Arc<str>, Arc<View>)>, Storages);

/// Where the numbers of the storages are, by their keys.
type Storages = HashMap<String, Extent>;

/// A part of the file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    length: u64,
}

impl TorchFile {
    /// Reads the list of tensors. Nothing in the file is run.
    ///
    /// # Errors
    /// Returns an error if PyTorch did not write the file, or if it is damaged or asks for anything
    /// that does not make tensors.
    pub(crate) fn open(content: Content<'static>) -> Result<TorchFile> {
        let is_archive = *content.read(0, content.length().min(2))? == *b"PK";
        let (mut views, storages) =
            if is_archive { read_archive(&content) } else { read_old(&content) }?;
        views.retain(|(_, view)| matches!(view.storage.kind, Kind::Float(_)));
        let places = views.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        Ok(TorchFile { content, views, places, storages })
    }

    fn read(&self, name: &str, view: &View) -> Result<Tensor> {
        let error = |problem: &str| self.content.tensor_error(name, problem);
        let Kind::Float(number) = view.storage.kind else {
            return Err(error("does not hold floating-point numbers"));
        };
        let Some(extent) = self.storages.get(&*view.storage.key) else {
            return Err(error("its numbers are not in the file"));
        };
        let size = number.size() as u64;
        if (view.storage.count as u64).checked_mul(size).is_none_or(|bytes| bytes > extent.length) {
            return Err(error("the file has fewer numbers than the tensor's storage"));
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
        let start = extent.start + view.offset as u64 * size;
        let bytes = self.content.read(start, (length as u64 + 1) * size)?;
        let numbers = number.decode(&bytes);
        let data =
            if is_contiguous(view) { numbers } else { gather(&numbers, &shape, &view.strides) };
        self.content.tensor(name, shape, data)
    }
}

/// The tensors and storages of a zip archive.
fn read_archive(content: &Content<'_>) -> Result<Listed> {
    let entries = zip::entries(content)?;
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
        return Err(content.broken(BIG_ENDIAN));
    }
    if pickled.length > LARGEST_PICKLE {
        return Err(content.broken(format!("its data.pkl has {} bytes", pickled.length)));
    }
    let program = content.read(pickled.start, pickled.length)?;
    let pickled = pickle::load(&mut &program[..]).map_err(|problem| content.broken(problem))?;
    let views = pickled.tensors().map_err(|problem| content.broken(problem))?;
    let data = format!("{prefix}data/");
    let storages = entries.iter().filter_map(|entry| {
        let key = entry.name.strip_prefix(&data)?.to_owned();
        Some((key, Extent { start: entry.start, length: entry.length }))
    });
    Ok((views, storages.collect()))
}

/// The tensors and storages of a file in the format from before version 1.6.
fn read_old(content: &Content<'_>) -> Result<Listed> {
    let length = content.length().min(LARGEST_PICKLE);
    let head = content.read(0, length)?;
    let mut pickles = &head[..];
    if !pickle::load(&mut pickles).is_ok_and(|magic| magic.whole() == Some(OLD_MAGIC)) {
        return Err(content.broken(
            "PyTorch did not write this file: it is neither a zip archive nor in the format from \
             before version 1.6",
        ));
    }
    let mut next = || {
        pickle::load(&mut pickles).map_err(|problem| {
            if problem == pickle::CUT_OFF && length < content.length() {
                return content.broken(format!("its pickles have more than {length} bytes"));
            }
            content.broken(problem)
        })
    };
    let version = next()?.whole();
    if version != Some(OLD_VERSION) {
        let version = version.map_or("not a number".to_owned(), |version| version.to_string());
        return Err(content.broken(format!(
            "the version of its format is {version}, expected {OLD_VERSION} from PyTorch before 1.6"
        )));
    }
    match next()?.flag("little_endian") {
        Some(true) => {}
        Some(false) => return Err(content.broken(BIG_ENDIAN)),
        None => return Err(content.broken("the file does not say the byte order of its numbers")),
    }
    let (pickled, keys) = (next()?, next()?);
    let views = pickled.tensors().map_err(|problem| content.broken(problem))?;
    let Some(keys) = keys.texts() else {
        return Err(content.broken("the list of its storages is not a list of texts"));
    };
    let start = length - pickles.len() as u64;
    Ok((views, find_storages(content, start, &keys, &pickled)?))
}

/// Finds the storages of the old format, which lie one after the other from `start` to the end of
/// the file.
fn find_storages(
    content: &Content<'_>,
    start: u64,
    keys: &[&str],
    pickled: &Pickled,
) -> Result<Storages> {
    let broken = |key: &str, problem: &str| {
        content.broken(format!("the storage {:?} {problem}", excerpt(key)))
    };
    let mut expected: HashMap<&str, &Storage> = HashMap::new();
    for storage in pickled.storages() {
        if expected.insert(&storage.key, storage).is_some_and(|other| other != storage) {
            return Err(broken(&storage.key, "has two types or sizes"));
        }
    }
    let mut storages = Storages::new();
    let mut at = start;
    for key in keys {
        let Some(storage) = expected.get(key) else {
            return Err(broken(key, "is listed, but no tensor uses it"));
        };
        let missing = || broken(key, "reaches beyond the end of the file");
        let available = (content.length() - at).checked_sub(8).ok_or_else(missing)?;
        let written = content.read(at, 8)?;
        let count = written.iter().rev().fold(0, |count, byte| count << 8 | u64::from(*byte));
        if count != storage.count as u64 {
            let problem = format!("has size {count}, but its tensors need size {}", storage.count);
            return Err(broken(key, &problem));
        }
        let length = count.checked_mul(storage.kind.size()).filter(|length| *length <= available);
        let extent = Extent { start: at + 8, length: length.ok_or_else(missing)? };
        if storages.insert((*key).to_owned(), extent).is_some() {
            return Err(broken(key, "is listed twice"));
        }
        at = extent.start + extent.length;
    }
    if at < content.length() {
        let excess = content.length() - at;
        return Err(
            content.broken(format!("the file goes on after the last storage, bytes: {excess}"))
        );
    }
    Ok(storages)
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
        self.views.iter().map(|(name, _)| name.to_string()).collect()
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(place) = self.places.get(name) else { return Ok(None) };
        self.read(name, &self.views[*place].1).map(Some)
    }
}
