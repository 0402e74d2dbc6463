//! In how many documents each n-gram occurs, for corpora whose n-grams do not fit in memory.
//!
//! N-grams are 64-bit hashes. Most n-grams of a corpus occur in one document only, and every metric treats those like
//! unknown ones, so only the others are kept in the end. On the way there, hashes are gathered in a buffer; when it is
//! full it is sorted and put aside in a temporary file, and the files are merged at the end.
//!
//! Two n-grams of the same hash would be taken for one: for a hundred million different n-grams the chance that any
//! two collide is about 3 in 10,000.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::{Mutex, PoisonError};

use rayon::slice::ParallelSliceMut;
use storymeter_core::{Error, Place, Result};

/// Hashes held in memory before they are put aside: 64 MiB.
const BUFFER: usize = 8 << 20;

/// Gathers documents, from any thread and in any order.
pub(crate) struct DocumentCounter {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    documents: u64,
    buffer: Vec<u64>,
    /// Sorted hashes, each as often as it was seen.
    runs: Vec<File>,
    failure: Option<io::Error>,
}

impl DocumentCounter {
    pub(crate) fn new() -> Self {
        Self::with_capacity(BUFFER)
    }

    fn with_capacity(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity }
    }

    /// Takes in one document, given the hashes of its different n-grams.
    pub(crate) fn add(&self, hashes: &[u64]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.documents += 1;
        state.buffer.extend_from_slice(hashes);
        if state.buffer.len() >= self.capacity {
            let outcome = state.put_aside();
            if let Err(error) = outcome {
                state.failure.get_or_insert(error);
            }
        }
    }

    /// Puts the counts together.
    pub(crate) fn finish(self) -> Result<DocumentFrequency> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed = |error| Error::io(Place::file(std::env::temp_dir()), error);
        if let Some(error) = state.failure.take() {
            return Err(failed(error));
        }
        let documents = state.documents;
        let mut table = Table::default();
        if state.runs.is_empty() {
            state.buffer.par_sort_unstable();
            state.buffer.iter().for_each(|&hash| table.push(hash));
        } else {
            state.put_aside().and_then(|()| merge(state.runs, &mut table)).map_err(failed)?;
        }
        Ok(table.finish(documents))
    }
}

impl State {
    fn put_aside(&mut self) -> io::Result<()> {
        self.buffer.par_sort_unstable();
        let mut out = BufWriter::with_capacity(1 << 20, tempfile::tempfile()?);
        for hash in self.buffer.drain(..) {
            out.write_all(&hash.to_le_bytes())?;
        }
        let mut file = out.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        self.runs.push(file);
        Ok(())
    }
}

/// Merges sorted runs.
fn merge(runs: Vec<File>, table: &mut Table) -> io::Result<()> {
    let mut runs: Vec<_> = runs.into_iter().map(|run| BufReader::with_capacity(1 << 18, run)).collect();
    let mut heads = BinaryHeap::with_capacity(runs.len());
    for (number, run) in runs.iter_mut().enumerate() {
        heads.extend(next(run)?.map(|hash| Reverse((hash, number))));
    }
    while let Some(Reverse((hash, number))) = heads.pop() {
        table.push(hash);
        heads.extend(next(&mut runs[number])?.map(|hash| Reverse((hash, number))));
    }
    Ok(())
}

fn next(run: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = [0; 8];
    match run.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Hashes in ascending order, those seen twice or more kept.
#[derive(Default)]
struct Table {
    hashes: Vec<u64>,
    counts: Vec<u32>,
    current: Option<(u64, u32)>,
}

impl Table {
    fn push(&mut self, hash: u64) {
        match &mut self.current {
            Some((current, count)) if *current == hash => *count += 1,
            _ => {
                self.close();
                self.current = Some((hash, 1));
            }
        }
    }

    fn close(&mut self) {
        if let Some((hash, count)) = self.current.take().filter(|&(_, count)| count > 1) {
            self.hashes.push(hash);
            self.counts.push(count);
        }
    }

    fn finish(mut self, documents: u64) -> DocumentFrequency {
        self.close();
        let bits = usize::BITS - self.hashes.len().leading_zeros();
        let shift = 63 - bits.min(32);
        let buckets = 1usize << (63 - shift);
        let mut starts = vec![0u32; 2 * buckets + 1];
        for &hash in &self.hashes {
            starts[(hash >> shift) as usize + 1] += 1;
        }
        for bucket in 1..starts.len() {
            starts[bucket] += starts[bucket - 1];
        }
        DocumentFrequency { documents, hashes: self.hashes, counts: self.counts, starts, shift }
    }
}

/// In how many of the documents each n-gram occurs.
pub(crate) struct DocumentFrequency {
    documents: u64,
    /// In ascending order; all with a count of two or more.
    hashes: Vec<u64>,
    counts: Vec<u32>,
    /// Where the hashes with each value of their top bits begin: hashes are spread evenly, so one or two share it.
    starts: Vec<u32>,
    shift: u32,
}

impl DocumentFrequency {
    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// In how many documents the n-gram occurs; 1 also stands for none.
    pub(crate) fn get(&self, hash: u64) -> u32 {
        let bucket = (hash >> self.shift) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let found = self.hashes[start..end].iter().position(|&known| known == hash);
        found.map_or(1, |at| self.counts[start + at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn count(capacity: usize) -> DocumentFrequency {
        let counter = DocumentCounter::with_capacity(capacity);
        for document in 1..=50u64 {
            // Number n occurs in every document that n divides.
            let hashes: Vec<u64> = (1..=60).filter(|n| document % n == 0).map(spread).collect();
            counter.add(&hashes);
        }
        counter.finish().expect("temporary files work")
    }

    #[test]
    fn counts_are_the_same_in_memory_and_through_files() {
        for capacity in [1 << 20, 64, 7] {
            let counted = count(capacity);
            assert_eq!(counted.documents(), 50);
            for n in 1..=60u64 {
                assert_eq!(counted.get(spread(n)), (50 / n).max(1) as u32, "{n} with a buffer of {capacity}");
            }
            assert_eq!(counted.get(12345), 1);
        }
    }

    #[test]
    fn nothing_seen_is_nothing_known() {
        let empty = DocumentCounter::new().finish().expect("nothing to put aside");
        assert_eq!((empty.documents(), empty.get(0), empty.get(u64::MAX)), (0, 1, 1));
    }
}
