//! The number of documents in which each n-gram occurs, for corpora whose n-grams do not fit in
//! memory.
//!
//! N-grams are represented by 64-bit hashes. Most n-grams of a corpus occur in one document only,
//! and every metric treats these like unknown ones, so only the others are kept in the end. Until
//! then, every thread gathers hashes, divided into parts by their first bits. When a part is full,
//! it is written to a temporary file. In the end each part is sorted and counted by itself. In this
//! way no thread waits for another, and all threads take part in counting.
//!
//! Two n-grams with the same hash would be taken for one. For a hundred million different n-grams,
//! the chance that any two have the same hash is about 3 in 10,000.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use storymeter_core::{CorpusReader, CorpusWriter, Error, Place, Result};

/// The number of first bits that decide to which part a hash belongs.
const BITS: u32 = 6;
const PARTS: usize = 1 << BITS;

/// The number of hashes that all threads together hold in memory before they use files: 64 MiB.
const BUFFER: usize = 8 << 20;

/// Gathers documents from any thread and in any order.
pub(crate) struct DocumentCounter {
    /// One per thread of the pool, so that no thread waits for the lock or the memory of another.
    gathered: Vec<Mutex<Gathered>>,
    /// The overflow of each part.
    overflow: Vec<Mutex<Overflow>>,
    /// The number of hashes of a part that a thread gathers in memory.
    capacity: usize,
}

/// What one thread gathered. It is aligned so that no two threads write to the same cache line.
#[repr(align(128))]
struct Gathered {
    documents: u64,
    /// The hashes of each part, in any order, each as often as it was seen.
    parts: Vec<Vec<u64>>,
}

/// The hashes of a part that did not fit in memory.
#[derive(Default)]
struct Overflow {
    file: Option<BufWriter<File>>,
    failure: Option<io::Error>,
}

impl DocumentCounter {
    pub(crate) fn new() -> Self {
        // With many threads, smaller buffers would write files in tiny pieces.
        Self::with_capacity((BUFFER / PARTS / rayon::current_num_threads()).max(4096))
    }

    fn with_capacity(capacity: usize) -> Self {
        let empty = || Mutex::new(Gathered { documents: 0, parts: vec![Vec::new(); PARTS] });
        let gathered = (0..rayon::current_num_threads()).map(|_| empty()).collect();
        Self { gathered, overflow: (0..PARTS).map(|_| Mutex::default()).collect(), capacity }
    }

    /// Adds a document, given the hashes of its different n-grams.
    pub(crate) fn add(&self, hashes: &[u64]) {
        let thread = rayon::current_thread_index().unwrap_or(0);
        let mut own = lock(&self.gathered[thread % self.gathered.len()]);
        own.documents += 1;
        for &hash in hashes {
            let part = &mut own.parts[part_of(hash)];
            part.push(hash);
            if part.len() >= self.capacity {
                lock(&self.overflow[part_of(hash)]).put(part);
                part.clear();
            }
        }
    }

    /// Counts the documents of each n-gram.
    pub(crate) fn finish(self) -> Result<DocumentFrequency> {
        let gathered: Vec<Gathered> = self.gathered.into_iter().map(into_inner).collect();
        let count = |(part, overflow): (usize, Mutex<Overflow>)| {
            let buffers: Vec<&[u64]> =
                gathered.iter().map(|own| own.parts[part].as_slice()).collect();
            let mut hashes = into_inner(overflow).with(buffers.concat())?;
            hashes.sort_unstable();
            let runs = hashes.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
            let runs: Vec<(u64, u32)> = runs.map(|run| (run[0], run.len() as u32)).collect();
            Ok(Counts::of_sorted(&runs))
        };
        let parts =
            self.overflow.into_par_iter().enumerate().map(count).collect::<io::Result<Vec<_>>>();
        let parts = parts.map_err(|error| Error::io(Place::file(std::env::temp_dir()), error))?;
        Ok(DocumentFrequency { documents: gathered.iter().map(|own| own.documents).sum(), parts })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn part_of(hash: u64) -> usize {
    (hash >> (u64::BITS - BITS)) as usize
}

impl Overflow {
    fn put(&mut self, hashes: &[u64]) {
        let outcome = self.write(hashes);
        if let Err(error) = outcome {
            self.failure.get_or_insert(error);
        }
    }

    fn write(&mut self, hashes: &[u64]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(BufWriter::with_capacity(64 << 10, tempfile::tempfile()?)),
        };
        hashes.iter().try_for_each(|hash| file.write_all(&hash.to_le_bytes()))
    }

    /// These hashes, and all that were written to the file.
    fn with(self, mut hashes: Vec<u64>) -> io::Result<Vec<u64>> {
        self.failure.map_or(Ok(()), Err)?;
        let Some(file) = self.file else { return Ok(hashes) };
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let count = file.stream_position()? / 8;
        file.rewind()?;
        hashes.reserve_exact(count as usize);
        let mut file = BufReader::with_capacity(64 << 10, file);
        let mut hash = [0; 8];
        for _ in 0..count {
            file.read_exact(&mut hash)?;
            hashes.push(u64::from_le_bytes(hash));
        }
        Ok(hashes)
    }
}

/// The hashes of a part that were seen twice or more, in ascending order. Each is near the place
/// that its value gives.
///
/// A third of the slots are free, so that the first slot nearly always has the answer. In a large
/// corpus a lookup therefore waits for memory only once.
struct Counts {
    /// [`FREE`] or a hash.
    slots: Vec<u64>,
    counts: Vec<u32>,
    /// The number of places that values give. More slots follow, for hashes that were pushed beyond
    /// the end.
    places: u64,
}

/// Marks a free slot. A hash of this value is replaced by the next one.
const FREE: u64 = 0;

impl Counts {
    /// Takes hashes in ascending order, each with its count.
    fn of_sorted(sorted: &[(u64, u32)]) -> Self {
        let kept = sorted.len();
        let places = (kept + kept / 2 + 1) as u64;
        let mut counts =
            Self { slots: vec![FREE; places as usize], counts: vec![0; places as usize], places };
        let mut free = 0;
        for &(hash, count) in sorted {
            let hash = hash.max(FREE + 1);
            let slot = counts.place(hash).max(free);
            if slot == counts.slots.len() {
                counts.slots.push(FREE);
                counts.counts.push(0);
            }
            counts.slots[slot] = hash;
            counts.counts[slot] = count;
            free = slot + 1;
        }
        counts
    }

    /// The place of a hash, given by the bits that follow those of the part.
    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash << BITS) * u128::from(self.places)) >> u64::BITS) as usize
    }

    /// The count of a hash, given its place and what was found there.
    fn count(&self, hash: u64, mut place: usize, mut found: u64) -> Option<u32> {
        while found != FREE && found < hash {
            place += 1;
            found = self.slots.get(place).copied().unwrap_or(FREE);
        }
        (found == hash).then(|| self.counts[place])
    }
}

/// The number of documents in which each n-gram occurs.
pub(crate) struct DocumentFrequency {
    documents: u64,
    parts: Vec<Counts>,
}

impl DocumentFrequency {
    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// Writes the number of documents, and each hash with its count, in ascending order.
    pub(crate) fn save(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        let known = || {
            let slots = self.parts.iter().flat_map(|part| part.slots.iter().zip(&part.counts));
            slots.filter(|(hash, _)| **hash != FREE)
        };
        out.u64(self.documents)?;
        out.u64(known().count() as u64)?;
        known().try_for_each(|(hash, count)| out.u64(*hash).and_then(|()| out.u32(*count)))
    }

    /// Reads what [`DocumentFrequency::save`] wrote.
    pub(crate) fn load(input: &mut CorpusReader<'_>) -> io::Result<Self> {
        let (documents, known) = (input.u64()?, input.u64()?);
        let mut sorted: Vec<Vec<(u64, u32)>> = vec![Vec::new(); PARTS];
        let mut last = FREE;
        for _ in 0..known {
            let (hash, count) = (input.u64()?, input.u32()?);
            if hash <= last || count < 2 || u64::from(count) > documents {
                return Err(CorpusReader::wrong("the counts of n-grams contradict each other"));
            }
            sorted[part_of(hash)].push((hash, count));
            last = hash;
        }
        let parts = sorted.iter().map(|part| Counts::of_sorted(part)).collect();
        Ok(Self { documents, parts })
    }

    /// The number of documents in which each of these n-grams occurs. It is 1 for an unknown n-gram
    /// as well.
    pub(crate) fn look_up(&self, hashes: &[u64]) -> Vec<u32> {
        let mut counts = Vec::with_capacity(hashes.len());
        for chunk in hashes.chunks(32) {
            // All places are read before anything is decided, so that the processor waits for
            // memory once and not 32 times.
            let mut places = [0; 32];
            let mut found = [FREE; 32];
            for ((place, found), &hash) in places.iter_mut().zip(&mut found).zip(chunk) {
                let part = &self.parts[part_of(hash)];
                *place = part.place(hash.max(FREE + 1));
                *found = part.slots[*place];
            }
            counts.extend(chunk.iter().zip(places.iter().zip(found)).map(
                |(&hash, (&place, found))| {
                    self.parts[part_of(hash)].count(hash.max(FREE + 1), place, found).unwrap_or(1)
                },
            ));
        }
        counts
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
        counter.finish().expect("temporary files can be written")
    }

    #[test]
    fn counts_are_the_same_in_memory_and_through_files() {
        for capacity in [1 << 20, 5, 1] {
            let counted = count(capacity);
            assert_eq!(counted.documents(), 50);
            for n in 1..=60u64 {
                let expected = [(50 / n).max(1) as u32];
                assert_eq!(
                    counted.look_up(&[spread(n)]),
                    expected,
                    "{n} with a buffer of {capacity}"
                );
            }
            assert_eq!(counted.look_up(&[12345]), [1]);
        }
    }

    #[test]
    fn nothing_seen_is_nothing_known() {
        let empty = DocumentCounter::new().finish().expect("no file is needed");
        assert_eq!((empty.documents(), empty.look_up(&[0, u64::MAX])), (0, vec![1, 1]));
    }

    /// Many hashes belong to one place, at both ends of a part and of all parts. Their neighbours
    /// were never seen.
    #[test]
    fn crowded_hashes_are_found_and_their_neighbours_are_not() {
        let crowd: Vec<u64> = [0, u64::MAX / 64 - 300, u64::MAX - 300]
            .into_iter()
            .flat_map(|first| (0..300).step_by(3).map(move |n| first + n))
            .collect();
        let counter = DocumentCounter::new();
        (0..3).for_each(|_| counter.add(&crowd));
        let counted = counter.finish().expect("no file is needed");
        assert_eq!(counted.look_up(&crowd), vec![3; 300]);
        let neighbours: Vec<u64> = crowd.iter().map(|hash| hash + 2).collect();
        assert_eq!(counted.look_up(&neighbours), vec![1; 300]);
    }
}
