//! The donor corpus, from which foreign words and sentences are taken.
//!
//! A corpus may be larger than memory, so donors are a random sample of bounded size: the records
//! whose hash of seed and record number is smallest. The sample depends on nothing else, so it is
//! the same for any order of reading.

use std::collections::BinaryHeap;
use std::io::{self, Read, Write};

use rayon::prelude::*;
use storymeter_core::Story;
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;
use storymeter_text::vocabulary::{Vocabulary, VocabularyBuilder};
use storymeter_text::{Span, treebank};

use crate::Error;
use crate::draft::sentences_of;
use crate::draw::Draw;
use crate::style::Style;
use crate::substitution::keyword_lemma;

/// The default number of stories in a donor sample.
pub const DEFAULT_SAMPLE: usize = 20_000;

/// The longest donor story in bytes. Of a longer story, the first sentences are kept.
const LONGEST_STORY: usize = 16 << 10;

/// The largest prepared sample in bytes, without the first bytes and the checksum.
const LARGEST_BODY: u64 = 1 << 31;

const MAGIC: &[u8; 20] = b"storymeter donors 1\n";

/// A sample of stories, with the vocabulary of their keywords.
pub struct Donors {
    stories: Vec<Donor>,
    by_style: [Vec<u32>; Style::COUNT],
    vocabulary: Vocabulary,
}

struct Donor {
    text: String,
    sentences: Vec<Span>,
}

/// A story of the sample.
#[derive(Clone, Copy)]
pub struct DonorId(u32);

impl Donors {
    fn new(stories: Vec<Donor>, vocabulary: Vocabulary) -> Self {
        let mut by_style: [Vec<u32>; Style::COUNT] = Default::default();
        for (index, donor) in stories.iter().enumerate() {
            by_style[Style::of(&donor.text).index()].push(index as u32);
        }
        Self { stories, by_style, vocabulary }
    }

    /// Number of stories in the sample.
    pub fn len(&self) -> usize {
        self.stories.len()
    }

    /// Whether the sample has no stories.
    pub fn is_empty(&self) -> bool {
        self.stories.is_empty()
    }

    /// The keywords of the sample, by tag and frequency.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// A random story in this style, or any story if there are fewer than two in this style.
    pub(crate) fn story(&self, style: Style, draw: &mut Draw) -> Option<DonorId> {
        let same = &self.by_style[style.index()];
        if same.len() >= 2 {
            return draw.pick(same).map(|&index| DonorId(index));
        }
        (!self.stories.is_empty()).then(|| DonorId(draw.below(self.stories.len()) as u32))
    }

    /// The text of a story.
    pub(crate) fn text(&self, donor: DonorId) -> &str {
        &self.stories[donor.0 as usize].text
    }

    /// A random sentence of a story.
    pub(crate) fn sentence(&self, donor: DonorId, draw: &mut Draw) -> &str {
        let donor = &self.stories[donor.0 as usize];
        draw.pick(&donor.sentences).map_or("", |sentence| sentence.of(&donor.text))
    }

    /// Writes the prepared sample, so that later runs need not read and tag the corpus again.
    ///
    /// # Errors
    /// Returns an error if the writer fails, or the sample has more than two gigabytes.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut body = Vec::new();
        put_u32(&mut body, self.stories.len());
        for donor in &self.stories {
            put_u32(&mut body, donor.text.len());
            body.extend_from_slice(donor.text.as_bytes());
            put_u32(&mut body, donor.sentences.len());
            for sentence in &donor.sentences {
                put_u32(&mut body, sentence.start);
                put_u32(&mut body, sentence.end);
            }
        }
        self.vocabulary.write_to(&mut body)?;
        if body.len() as u64 > LARGEST_BODY {
            let problem = format!("a sample of more than {LARGEST_BODY} bytes cannot be kept");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        out.write_all(MAGIC)?;
        out.write_all(&checksum(&body).to_le_bytes())?;
        out.write_all(&body)
    }

    /// Whether a file that begins with these bytes is a prepared sample.
    pub fn is_prepared(beginning: &[u8]) -> bool {
        beginning.starts_with(MAGIC)
    }

    /// Reads a prepared sample.
    ///
    /// # Errors
    /// Returns [`Error::BadDonorFile`] if the file is not a prepared sample, is cut short, is
    /// damaged, or is larger than any sample that [`Donors::write_to`] writes.
    pub fn read_from(input: &mut impl Read) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        input.take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
        if Self::is_prepared(&bytes) {
            input.take(LARGEST_BODY + 9).read_to_end(&mut bytes)?;
        }
        Self::from_bytes(&bytes)
    }

    /// Reads the content of a prepared sample.
    ///
    /// # Errors
    /// As [`Donors::read_from`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |what: &str| Error::BadDonorFile(what.to_owned());
        let rest =
            bytes.strip_prefix(MAGIC.as_slice()).ok_or_else(|| bad("its first bytes are wrong"))?;
        let (sum, body) = rest.split_first_chunk::<8>().ok_or_else(|| bad("it is cut short"))?;
        if body.len() as u64 > LARGEST_BODY {
            return Err(bad("it is larger than a sample can be"));
        }
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(bad("its checksum does not match: it is cut short or damaged"));
        }
        let mut body = body;
        let count = take_u32(&mut body).ok_or_else(|| bad("it is cut short"))?;
        let mut stories = Vec::new();
        for _ in 0..count {
            stories.push(
                take_donor(&mut body)
                    .ok_or_else(|| bad("it has a story with impossible sentences"))?,
            );
        }
        let vocabulary =
            Vocabulary::read_from(&mut body).map_err(|error| bad(&error.to_string()))?;
        Ok(Self::new(stories, vocabulary))
    }
}

fn put_u32(out: &mut Vec<u8>, value: usize) {
    // A donor story has at most LONGEST_STORY bytes, and a sample far fewer than 2^32 stories.
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

fn take_u32(from: &mut &[u8]) -> Option<usize> {
    let (head, tail) = from.split_first_chunk::<4>()?;
    *from = tail;
    Some(u32::from_le_bytes(*head) as usize)
}

fn take_donor(from: &mut &[u8]) -> Option<Donor> {
    let length = take_u32(from)?;
    let (text, rest) = from.split_at_checked(length)?;
    let text = std::str::from_utf8(text).ok()?.to_owned();
    *from = rest;
    let count = take_u32(from)?;
    let mut sentences = Vec::new();
    for _ in 0..count {
        let (start, end) = (take_u32(from)?, take_u32(from)?);
        text.get(start..end)?;
        sentences.push(Span::new(start, end));
    }
    (!sentences.is_empty()).then_some(Donor { text, sentences })
}

/// FNV-1a, which is enough to notice a file that was cut short or damaged.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Draws the sample while a corpus is read.
pub struct DonorSampler {
    seed: u64,
    capacity: usize,
    kept: BinaryHeap<Candidate>,
}

/// A story of the sample. The order is by key, so that the first one to leave is at the top of the
/// heap.
struct Candidate {
    key: u64,
    record: u64,
    donor: Donor,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.record) == (other.key, other.record)
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key, self.record).cmp(&(other.key, other.record))
    }
}

impl DonorSampler {
    /// A sample of at most `capacity` stories.
    pub fn new(seed: u64, capacity: usize) -> Self {
        Self { seed, capacity, kept: BinaryHeap::new() }
    }

    /// Whether the story with this record number would enter the sample now. This is a cheap test
    /// before a record is parsed.
    pub fn wants(&self, record: u64) -> bool {
        self.capacity > 0
            && (self.kept.len() < self.capacity
                || self
                    .kept
                    .peek()
                    .is_some_and(|top| (key(self.seed, record), record) < (top.key, top.record)))
    }

    /// Adds the story to the sample if it belongs there.
    pub fn offer(&mut self, record: u64, story: &Story) {
        if !self.wants(record) {
            return;
        }
        let mut sentences = sentences_of(story);
        sentences.retain(|sentence| sentence.end <= LONGEST_STORY && !sentence.is_empty());
        // A long story has many sentences, and their room is not kept.
        sentences.shrink_to_fit();
        let Some(last) = sentences.last() else { return };
        let donor = Donor { text: story.text[..last.end].to_owned(), sentences };
        if self.kept.len() == self.capacity {
            self.kept.pop();
        }
        self.kept.push(Candidate { key: key(self.seed, record), record, donor });
    }

    /// The sample without its keywords, for whoever needs only its sentences.
    pub fn finish_without_keywords(self) -> Donors {
        Donors::new(self.stories(), VocabularyBuilder::new().build())
    }

    /// The stories of the sample, in the order of the corpus.
    fn stories(self) -> Vec<Donor> {
        let mut kept = self.kept.into_vec();
        kept.sort_unstable_by_key(|candidate| candidate.record);
        kept.into_iter().map(|candidate| candidate.donor).collect()
    }

    /// Tags the sample and counts its keywords.
    pub fn finish(self, tagger: &Tagger, lexicon: &Lexicon) -> Donors {
        let stories = self.stories();
        let keywords: Vec<Vec<(String, u8)>> =
            stories.par_chunks(64).map(|chunk| count_keywords(chunk, tagger, lexicon)).collect();
        let mut builder = VocabularyBuilder::new();
        for (word, tag) in keywords.iter().flatten() {
            builder.add(word, *tag);
        }
        Donors::new(stories, builder.build())
    }
}

fn count_keywords(stories: &[Donor], tagger: &Tagger, lexicon: &Lexicon) -> Vec<(String, u8)> {
    let mut found = Vec::new();
    let mut tags = Vec::new();
    for story in stories {
        for sentence in &story.sentences {
            let sentence = sentence.of(&story.text);
            let tokens = treebank::tokenize(sentence);
            let words: Vec<&str> = tokens.iter().map(|token| token.span.of(sentence)).collect();
            tagger.tag_into(&words, &mut tags);
            for (word, &tag) in words.iter().zip(&tags) {
                if keyword_lemma(lexicon, word, tag).is_some() {
                    found.push((word.to_lowercase(), tag as u8));
                }
            }
        }
    }
    found
}

/// The rank of a record: a hash of the seed and the record number (SplitMix64).
fn key(seed: u64, record: u64) -> u64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(record.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_of_another_kind_is_not_read_to_its_end() {
        let error = Donors::read_from(&mut io::repeat(0)).err().unwrap().to_string();
        assert!(error.contains("its first bytes are wrong"), "{error}");
    }

    #[test]
    fn numbers_in_a_forged_file_reserve_no_memory() {
        // Four billion stories, and a story of four billion bytes.
        for body in [[255u8; 4].to_vec(), [[1, 0, 0, 0], [255; 4]].concat()] {
            let sum = checksum(&body).to_le_bytes();
            let file = [MAGIC.as_slice(), &sum, &body].concat();
            let error = Donors::from_bytes(&file).err().unwrap().to_string();
            assert!(error.contains("impossible sentences"), "{error}");
        }
    }
}
