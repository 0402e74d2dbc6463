//! Counts how often a corpus uses each word with each tag, and draws random words by these counts.
//!
//! Substitution replaces a keyword that has no antonym by a word with the same tag, drawn by its
//! frequency in the corpus. A draw takes the same time for any size of the vocabulary (Walker's
//! alias method). The result depends only on the counts and the random numbers: words are kept in
//! byte order, not in their order of arrival.
//!
//! Tags are plain numbers, so any tag set can be used.

use std::hash::BuildHasher;
use std::io::{self, Read, Write};

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use rand::Rng;

/// A word, its tags, and how often it occurs with each of them.
type Word = (Box<str>, Vec<(u8, u64)>);

/// Counts words; [`VocabularyBuilder::build`] makes the vocabulary from the counts.
#[derive(Debug, Default, Clone)]
pub struct VocabularyBuilder {
    hasher: DefaultHashBuilder,
    /// Indices into `pairs`, found by word and tag.
    table: HashTable<u32>,
    /// In order of arrival.
    pairs: Vec<Pair>,
    /// The words of all pairs, one after the other.
    text: String,
}

/// A word, as a part of `text`, with one of its tags.
#[derive(Debug, Clone)]
struct Pair {
    start: usize,
    end: usize,
    tag: u8,
    count: u64,
}

impl VocabularyBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one occurrence of a word with a tag.
    pub fn add(&mut self, word: &str, tag: u8) {
        self.add_many(word, tag, 1);
    }

    /// Counts `count` occurrences of a word with a tag.
    pub fn add_many(&mut self, word: &str, tag: u8, count: u64) {
        if count == 0 {
            return;
        }
        let Self { hasher, table, pairs, text } = self;
        let hash = |word: &str, tag: u8| hasher.hash_one((word, tag));
        let entry = table.entry(
            hash(word, tag),
            |&number| {
                let pair = &pairs[number as usize];
                pair.tag == tag && text[pair.start..pair.end] == *word
            },
            |&number| {
                let pair = &pairs[number as usize];
                hash(&text[pair.start..pair.end], pair.tag)
            },
        );
        match entry {
            Entry::Occupied(entry) => pairs[*entry.get() as usize].count += count,
            Entry::Vacant(entry) => {
                entry.insert(pairs.len() as u32);
                let start = text.len();
                text.push_str(word);
                pairs.push(Pair { start, end: text.len(), tag, count });
            }
        }
    }

    /// Adds the counts of another builder, so that a corpus can be counted in parts.
    pub fn merge(&mut self, other: Self) {
        for pair in &other.pairs {
            self.add_many(&other.text[pair.start..pair.end], pair.tag, pair.count);
        }
    }

    /// The vocabulary of all words counted so far.
    pub fn build(mut self) -> Vocabulary {
        let text = self.text;
        let word_of = |pair: &Pair| &text[pair.start..pair.end];
        self.pairs.sort_unstable_by(|a, b| (word_of(a), a.tag).cmp(&(word_of(b), b.tag)));
        let of_a_word = self.pairs.chunk_by(|a, b| word_of(a) == word_of(b));
        let words = of_a_word.map(|pairs| {
            let tags = pairs.iter().map(|pair| (pair.tag, pair.count)).collect();
            (word_of(&pairs[0]).into(), tags)
        });
        Vocabulary::new(words.collect())
    }
}

/// Words with their tags and counts, from which a word of a given tag can be drawn in constant
/// time.
#[derive(Debug, Clone, PartialEq)]
pub struct Vocabulary {
    /// In byte order; tags ascending.
    words: Vec<Word>,
    /// One sampler per tag.
    samplers: Vec<Option<Sampler>>,
}

impl Vocabulary {
    fn new(words: Vec<Word>) -> Self {
        let mut members: Vec<(Vec<u32>, Vec<u64>)> = Vec::new();
        for (number, (_, tags)) in words.iter().enumerate() {
            for &(tag, count) in tags {
                let tag = usize::from(tag);
                if members.len() <= tag {
                    members.resize_with(tag + 1, Default::default);
                }
                members[tag].0.push(number as u32);
                members[tag].1.push(count);
            }
        }
        let samplers =
            members.into_iter().map(|(words, counts)| Sampler::new(words, &counts)).collect();
        Self { words, samplers }
    }

    /// Number of different words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words with their `(tag, count)` pairs: words in byte order, tags ascending.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[(u8, u64)])> {
        self.words.iter().map(|(word, tags)| (&**word, tags.as_slice()))
    }

    /// The `(tag, count)` pairs of a word, tags ascending; empty for an unknown word.
    pub fn tags(&self, word: &str) -> &[(u8, u64)] {
        let found = self.words.binary_search_by(|(known, _)| (**known).cmp(word));
        found.map_or(&[], |at| self.words[at].1.as_slice())
    }

    /// How often a word has a tag.
    pub fn count(&self, word: &str, tag: u8) -> u64 {
        self.tags(word).iter().find(|(known, _)| *known == tag).map_or(0, |&(_, count)| count)
    }

    /// Draws a word of the tag by frequency; `None` if no word has the tag. Takes two numbers from
    /// `rng`.
    ///
    /// ```
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// use storymeter_text::vocabulary::VocabularyBuilder;
    /// let mut builder = VocabularyBuilder::new();
    /// builder.add("dog", 3);
    /// let vocabulary = builder.build();
    /// let mut rng = ChaCha8Rng::seed_from_u64(1);
    /// assert_eq!(vocabulary.sample(3, &mut rng), Some("dog"));
    /// assert_eq!(vocabulary.sample(4, &mut rng), None);
    /// ```
    pub fn sample(&self, tag: u8, rng: &mut impl Rng) -> Option<&str> {
        let sampler = self.samplers.get(usize::from(tag))?.as_ref()?;
        Some(&self.words[sampler.draw(rng) as usize].0)
    }

    /// Writes the vocabulary compactly, so that the corpus need not be read again.
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(MAGIC)?;
        write_number(&mut out, self.words.len() as u64)?;
        let mut last: &[u8] = &[];
        for (word, tags) in &self.words {
            // Sorted words often begin alike: each is written as the number of bytes that it shares
            // with the word before, followed by the other bytes.
            let shared = last.iter().zip(word.as_bytes()).take_while(|(a, b)| a == b).count();
            write_number(&mut out, shared as u64)?;
            write_number(&mut out, (word.len() - shared) as u64)?;
            out.write_all(&word.as_bytes()[shared..])?;
            write_number(&mut out, tags.len() as u64)?;
            for &(tag, count) in tags {
                out.write_all(&[tag])?;
                write_number(&mut out, count)?;
            }
            last = word.as_bytes();
        }
        Ok(())
    }

    /// Reads what [`Vocabulary::write_to`] wrote, in small steps: give it a buffered reader.
    ///
    /// # Errors
    /// Returns an error of the kind `InvalidData` or `UnexpectedEof` if the bytes are anything
    /// else, and any error of the reader.
    pub fn read_from(mut input: impl Read) -> io::Result<Self> {
        let mut magic = [0; MAGIC.len()];
        input.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(invalid("not a vocabulary of this version"));
        }
        let words = read_number(&mut input)?;
        let mut read: Vec<Word> = Vec::new();
        let mut word = Vec::new();
        for _ in 0..words {
            let shared = read_number(&mut input)? as usize;
            if shared > word.len() {
                return Err(invalid("a word shares more than the word before it has"));
            }
            word.truncate(shared);
            let rest = read_number(&mut input)?;
            // No buffer of the announced size is reserved: a damaged number must not exhaust
            // memory.
            if (&mut input).take(rest).read_to_end(&mut word)? as u64 != rest {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = std::str::from_utf8(&word).map_err(|_| invalid("a word is not UTF-8"))?;
            if read.last().is_some_and(|(last, _)| **last >= *text) {
                return Err(invalid("words are not in order"));
            }
            let mut tags: Vec<(u8, u64)> = Vec::new();
            for _ in 0..read_number(&mut input)? {
                let mut tag = [0];
                input.read_exact(&mut tag)?;
                let count = read_number(&mut input)?;
                // No corpus has a word 10^12 times, and the limit keeps sums within bounds.
                if count == 0
                    || count > 1 << 40
                    || tags.last().is_some_and(|&(last, _)| last >= tag[0])
                {
                    return Err(invalid("counts of tags are not in order or out of range"));
                }
                tags.push((tag[0], count));
            }
            read.push((text.into(), tags));
        }
        Ok(Self::new(read))
    }
}

const MAGIC: &[u8; 8] = b"smvocab1";

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn write_number(out: &mut impl Write, mut value: u64) -> io::Result<()> {
    while value >= 0x80 {
        out.write_all(&[value as u8 | 0x80])?;
        value >>= 7;
    }
    out.write_all(&[value as u8])
}

fn read_number(input: &mut impl Read) -> io::Result<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(invalid("a number is too long"))
}

/// Walker's alias table (Vose's construction) in integers, so that draws are exact and the same on
/// every machine.
#[derive(Debug, Clone, PartialEq)]
struct Sampler {
    /// The sum of the counts, which is the capacity of each column.
    total: u64,
    /// Own word, other word, and how much of the column belongs to the own word.
    columns: Vec<(u32, u32, u64)>,
}

impl Sampler {
    fn new(words: Vec<u32>, counts: &[u64]) -> Option<Self> {
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return None;
        }
        // Each count times the number of columns, to be spread over columns that hold `total` each.
        let n = words.len() as u128;
        let mut mass: Vec<u128> = counts.iter().map(|&count| u128::from(count) * n).collect();
        let full = u128::from(total);
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..words.len()).partition(|&i| mass[i] < full);
        let mut columns: Vec<(u32, u32, u64)> =
            words.iter().map(|&word| (word, word, total)).collect();
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            columns[poor] = (words[poor], words[rich], mass[poor] as u64);
            mass[rich] -= full - mass[poor];
            if mass[rich] < full {
                large.pop();
                small.push(rich);
            }
        }
        Some(Self { total, columns })
    }

    fn draw(&self, rng: &mut impl Rng) -> u32 {
        let (own, other, share) = self.columns[below(rng, self.columns.len() as u64) as usize];
        if below(rng, self.total) < share { own } else { other }
    }
}

/// A random number below `bound`. Its bias is below 2^-24 for every bound that occurs here.
fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}
