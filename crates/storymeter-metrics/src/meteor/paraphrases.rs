//! METEOR's table of paraphrases: millions of pairs of phrases, looked up by the words of a text.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use rustc_hash::FxBuildHasher;
use storymeter_core::{Error, Place};

/// The largest table that is read, unpacked. Words are counted in 32 bits, which is enough for so
/// many bytes.
const MOST_BYTES: u64 = 4 << 30;
/// The longest line that is read.
const MOST_LINE_BYTES: u64 = 1 << 20;

/// The number of a word that is in no phrase.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// A tree of words in which each phrase is a path. Its node has the paraphrases of the phrase.
pub(crate) struct Paraphrases {
    vocabulary: HashMap<Box<str>, u32, FxBuildHasher>,
    /// The next node, by a node (upper half of the key) and a word (lower half). Node 0 is the
    /// root.
    steps: HashMap<u64, u32, FxBuildHasher>,
    /// Where the paraphrases of each node begin in `phrases`. They keep the order of the table.
    nodes: Vec<u32>,
    /// Where each phrase begins in `words`.
    phrases: Vec<u32>,
    words: Vec<u32>,
}

impl Paraphrases {
    /// Reads the gzipped table. An entry has three lines: a probability, which is not used, a
    /// phrase and its paraphrase.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|error| Error::io(Place::file(path), error))?;
        let mut lines = Lines {
            reader: BufReader::with_capacity(1 << 20, MultiGzDecoder::new(BufReader::new(file))),
            path,
            number: 0,
            bytes: 0,
        };
        let mut table = Self {
            vocabulary: HashMap::default(),
            steps: HashMap::default(),
            nodes: Vec::new(),
            phrases: Vec::new(),
            words: Vec::new(),
        };
        let mut builder = Builder { nodes: 1, entries: Vec::new() };
        let (mut probability, mut phrase, mut paraphrase) =
            (String::new(), String::new(), String::new());
        let (mut last, mut node) = (String::new(), 0);
        while lines.next(&mut probability)? {
            if !(lines.next(&mut phrase)? && lines.next(&mut paraphrase)?) {
                let place = Place::file(path).at_line(lines.number);
                return Err(Error::invalid(
                    place,
                    "the table ends within an entry; an entry has three lines",
                ));
            }
            // The entries of a phrase follow each other.
            if phrase != last {
                node = table.insert(&phrase, &mut builder);
                std::mem::swap(&mut last, &mut phrase);
            }
            builder.entries.push((node, table.words.len() as u32));
            for word in java_words(&paraphrase) {
                let word = table.number(word);
                table.words.push(word);
            }
        }
        table.finish(builder);
        Ok(table)
    }

    /// The node of a phrase, which is made if it is new.
    fn insert(&mut self, phrase: &str, builder: &mut Builder) -> u32 {
        let mut node = 0;
        for word in java_words(phrase) {
            let word = self.number(word);
            node = *self.steps.entry(step(node, word)).or_insert_with(|| {
                builder.nodes += 1;
                builder.nodes - 1
            });
        }
        node
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.vocabulary.get(word) {
            return number;
        }
        let number = self.vocabulary.len() as u32;
        self.vocabulary.insert(word.into(), number);
        number
    }

    /// Puts the paraphrases of each node side by side.
    fn finish(&mut self, builder: Builder) {
        let Builder { nodes, mut entries } = builder;
        let ends: Vec<u32> =
            entries.iter().skip(1).map(|entry| entry.1).chain([self.words.len() as u32]).collect();
        let mut spans: Vec<(u32, u32, u32)> =
            entries.drain(..).zip(ends).map(|((node, start), end)| (node, start, end)).collect();
        // The sort is stable, because the order of the table decides between matches that are equal
        // otherwise.
        spans.sort_by_key(|span| span.0);
        let mut words = Vec::with_capacity(self.words.len());
        self.nodes = vec![0; nodes as usize + 1];
        for &(node, start, end) in &spans {
            self.nodes[node as usize + 1] += 1;
            self.phrases.push(words.len() as u32);
            words.extend_from_slice(&self.words[start as usize..end as usize]);
        }
        self.phrases.push(words.len() as u32);
        for node in 1..self.nodes.len() {
            self.nodes[node] += self.nodes[node - 1];
        }
        self.words = words;
    }

    /// The number of a word, or [`UNKNOWN`] if it is in no phrase.
    pub fn word(&self, word: &str) -> u32 {
        self.vocabulary.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// The number of words in all phrases.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary.len()
    }

    /// Every paraphrase of every phrase with which a text begins, shorter phrases first. Each comes
    /// as the length of the phrase and the words of the paraphrase.
    pub fn at_start<'a>(&'a self, text: &'a [u32]) -> impl Iterator<Item = (usize, &'a [u32])> {
        let path = text.iter().scan(0, |node, &word| {
            *node = *self.steps.get(&step(*node, word))?;
            Some(*node as usize)
        });
        (1..).zip(path).flat_map(move |(length, node)| {
            let phrases = self.nodes[node] as usize..self.nodes[node + 1] as usize;
            phrases.map(move |at| {
                (length, &self.words[self.phrases[at] as usize..self.phrases[at + 1] as usize])
            })
        })
    }
}

/// What is only needed while the table is read.
struct Builder {
    nodes: u32,
    /// The node of each entry, and where its paraphrase begins in the words.
    entries: Vec<(u32, u32)>,
}

fn step(node: u32, word: u32) -> u64 {
    u64::from(node) << 32 | u64::from(word)
}

fn java_words(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t', '\n', '\r', '\u{c}']).filter(|word| !word.is_empty())
}

struct Lines<'a, R> {
    reader: R,
    path: &'a Path,
    number: u64,
    /// How many bytes were read.
    bytes: u64,
}

impl<R: BufRead> Lines<'_, R> {
    /// Reads the next line; `false` at the end of the file.
    fn next(&mut self, line: &mut String) -> Result<bool, Error> {
        line.clear();
        self.number += 1;
        let place = || Place::file(self.path).at_line(self.number);
        let mut reader = self.reader.by_ref().take(MOST_LINE_BYTES + 1);
        let read = reader.read_line(line).map_err(|error| Error::io(place(), error))? as u64;
        self.bytes += read;
        if read > MOST_LINE_BYTES {
            let problem = format!("the line has more than {MOST_LINE_BYTES} bytes");
            return Err(Error::invalid(place(), problem));
        }
        if self.bytes > MOST_BYTES {
            let problem = format!("the table unpacks to more than {MOST_BYTES} bytes");
            return Err(Error::invalid(place(), problem));
        }
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<Paraphrases, Error> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut packed = flate2::write::GzEncoder::new(&file, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text.as_bytes()).expect("written");
        packed.finish().expect("written");
        Paraphrases::read(file.path())
    }

    #[test]
    fn phrases_come_shorter_first_then_as_the_table_has_them() {
        let table = table("1\nwent\nleft\n1\nwent out\ndied\n1\nlamp\nlight\n1\nwent\nhad gone\n")
            .expect("fine");
        let text: Vec<u32> = ["went", "out", "again"].iter().map(|word| table.word(word)).collect();
        let spell = |words: &[u32]| words.to_vec();
        let found: Vec<(usize, Vec<u32>)> =
            table.at_start(&text).map(|(n, words)| (n, spell(words))).collect();
        let numbers =
            |words: &[&str]| words.iter().map(|word| table.word(word)).collect::<Vec<_>>();
        assert_eq!(
            found,
            [(1, numbers(&["left"])), (1, numbers(&["had", "gone"])), (2, numbers(&["died"]))]
        );
        assert_eq!(table.word("again"), UNKNOWN);
    }

    #[test]
    fn a_line_that_unpacks_to_any_size_is_refused() {
        let long = "a".repeat(4 << 20);
        let error = table(&format!("1\n{long}\n{long}\n")).err().expect("too long").to_string();
        assert!(error.ends_with(":2: the line has more than 1048576 bytes"), "{error}");
    }

    #[test]
    fn a_table_cut_short_is_refused_with_its_line() {
        let error = table("1\nwent\nleft\n1\nlamp\n").err().expect("cut short").to_string();
        assert!(error.contains(":6: the table ends within an entry"), "{error}");
    }
}
