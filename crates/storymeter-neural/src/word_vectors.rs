//! Tables of word vectors that the user has: a text file with one word and its numbers per line.
//!
//! GloVe, word2vec (as text) and the `deps.words` of Levy and Goldberg are such files. A table has
//! some hundred thousand lines of fifty to three hundred numbers, so it is read in pieces, and the
//! lines of a piece are parsed on all threads. Only words that can occur are kept: tokens are runs
//! of word characters in lower case.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr, memrchr};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use storymeter_core::terminal::excerpt;
use storymeter_core::{Error, MetricError, Place, Request, Resources};
use storymeter_metrics::tokenize::is_python_word;

use crate::own_files::{self, Wanted};

/// The usual name of the table, which HANNA's values were computed with.
const USUAL_NAME: &str = "deps.words";

/// How much of the file is in memory at once. No line may be longer.
const PIECE: usize = 16 << 20;

/// The most numbers that a table may have, which take 8 GiB.
const MOST_NUMBERS: usize = 1 << 31;

/// The most numbers that a word may have.
const WIDEST: usize = 1 << 14;

/// A table of word vectors.
pub(crate) struct WordVectors {
    width: usize,
    /// Where the vector of each word is: the number of a block, and the number of a row in it.
    places: FxHashMap<Box<str>, (u32, u32)>,
    blocks: Vec<Box<[f32]>>,
    name: String,
    fingerprint: String,
}

impl WordVectors {
    /// The table for a metric, opened once for all metrics.
    ///
    /// # Errors
    /// Returns an error if there is no table, or if a line of it is wrong.
    pub fn open(request: &Request<'_>) -> Result<Arc<Self>, MetricError> {
        let path = Self::find(request)?;
        let name = format!("word vectors {}", path.display());
        let open = || Self::read(&path).map_err(MetricError::from);
        Resources::shared(request.resources, &name, open)
    }

    fn find(request: &Request<'_>) -> Result<PathBuf, MetricError> {
        let wanted = Wanted {
            names: &[request.id, "rouge-we", "word-vectors", USUAL_NAME],
            files: &[USUAL_NAME],
            description: "a table of word vectors, a text file such as deps.words or GloVe's \
                          (named by the metric or as word-vectors, or called deps.words)",
        };
        own_files::find(request, &wanted)
    }

    /// Reads a table.
    ///
    /// Words are put in lower case, and the last of equal words counts. A first line of two whole
    /// numbers, as word2vec writes it, says the number of words and the width.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if a line is not a word with as many finite
    /// numbers as the first line has.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Reader::new(path)?.run()
    }

    /// How many numbers a vector has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many words have a vector.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The vector of a word in lower case.
    pub fn get(&self, word: &str) -> Option<&[f32]> {
        let &(block, row) = self.places.get(word)?;
        Some(&self.blocks[block as usize][row as usize * self.width..][..self.width])
    }

    /// The file's name and the first eight digits of its checksum, for signatures.
    pub fn signature(&self) -> String {
        format!("{}-{}", self.name, self.fingerprint)
    }
}

/// A table while it is being read.
struct Reader<'a> {
    path: &'a Path,
    file: File,
    hash: Sha256,
    /// The number of lines before the current piece.
    lines: u64,
    table: WordVectors,
    numbers: usize,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|e| Error::io(Place::file(path), e))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let table = WordVectors {
            width: 0,
            places: FxHashMap::default(),
            blocks: Vec::new(),
            name,
            fingerprint: String::new(),
        };
        Ok(Self { path, file, hash: Sha256::new(), lines: 0, table, numbers: 0 })
    }

    fn run(mut self) -> Result<WordVectors, Error> {
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            let kept = piece.len();
            let room = (PIECE - kept) as u64;
            let failed = |e| Error::io(Place::file(self.path), e);
            (&mut self.file).take(room).read_to_end(&mut piece).map_err(failed)?;
            let ended = piece.len() < PIECE;
            self.hash_and_parse(&piece, kept, ended)?;
            if ended {
                break;
            }
            let whole = memrchr(b'\n', &piece).map_or(0, |end| end + 1);
            if whole == 0 {
                return Err(self.wrong(0, "the line is too long for a word and its numbers"));
            }
            piece.drain(..whole);
        }
        if self.table.places.is_empty() {
            let problem = "the file has no word with a vector";
            return Err(Error::invalid(Place::file(self.path), problem));
        }
        let digest = self.hash.finalize();
        self.table.fingerprint = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Ok(self.table)
    }

    /// Takes in the whole lines of a piece, of which the first `kept` bytes are hashed already.
    fn hash_and_parse(&mut self, piece: &[u8], kept: usize, ended: bool) -> Result<(), Error> {
        let whole = if ended { piece.len() } else { memrchr(b'\n', piece).map_or(0, |at| at + 1) };
        let mut lines = &piece[..whole];
        if self.table.width == 0 {
            lines = self.learn_width(lines)?;
        }
        let width = self.table.width;
        let hash = &mut self.hash;
        let parts = cut(lines, 4 * rayon::current_num_threads());
        let (parsed, ()) = rayon::join(
            || parts.into_par_iter().map(|part| Part::parse(part, width)).collect::<Vec<_>>(),
            || hash.update(&piece[kept..]),
        );
        for part in parsed {
            if let Some((line, problem)) = part.wrong {
                return Err(self.wrong(line, &problem));
            }
            self.lines += part.lines;
            self.numbers += part.numbers.len();
            if self.numbers > MOST_NUMBERS {
                let problem = format!("the table has more than {MOST_NUMBERS} numbers");
                return Err(Error::invalid(Place::file(self.path), problem));
            }
            let block = self.table.blocks.len() as u32;
            self.table.blocks.push(part.numbers.into_boxed_slice());
            for (row, word) in part.words.into_iter().enumerate() {
                self.table.places.insert(word, (block, row as u32));
            }
        }
        Ok(())
    }

    /// Finds out from the first line how many numbers a word has, and skips the line if it is a
    /// heading.
    fn learn_width<'t>(&mut self, lines: &'t [u8]) -> Result<&'t [u8], Error> {
        let end = memchr(b'\n', lines).unwrap_or(lines.len());
        let first: Vec<&[u8]> = fields(&lines[..end]).collect();
        let whole_number = |field: &[u8]| {
            std::str::from_utf8(field).ok().and_then(|text| text.parse::<usize>().ok())
        };
        let heading = match first[..] {
            [words, width] => whole_number(words).and(whole_number(width)),
            _ => None,
        };
        let width = heading.unwrap_or(first.len().saturating_sub(1));
        if width == 0 || width > WIDEST {
            return Err(self.wrong(0, "the line is not a word and its numbers"));
        }
        self.table.width = width;
        if heading.is_none() {
            return Ok(lines);
        }
        self.lines += 1;
        Ok(lines.get(end + 1..).unwrap_or_default())
    }

    /// An error in a line of the current piece, which is counted from 0.
    fn wrong(&self, line: u64, problem: &str) -> Error {
        Error::invalid(Place::file(self.path).at_line(self.lines + line + 1), problem)
    }
}

/// Cuts lines into about `count` parts of whole lines.
fn cut(lines: &[u8], count: usize) -> Vec<&[u8]> {
    let size = (lines.len() / count.max(1)).max(1 << 14);
    let mut parts = Vec::with_capacity(count + 1);
    let mut rest = lines;
    while !rest.is_empty() {
        let end = rest.get(size..).and_then(|tail| memchr(b'\n', tail));
        let (part, tail) = rest.split_at(end.map_or(rest.len(), |end| size + end + 1));
        parts.push(part);
        rest = tail;
    }
    parts
}

/// The parsed lines of a part of the file.
#[derive(Default)]
struct Part {
    words: Vec<Box<str>>,
    numbers: Vec<f32>,
    lines: u64,
    /// The first wrong line, counted from 0, and what is wrong with it.
    wrong: Option<(u64, String)>,
}

impl Part {
    fn parse(text: &[u8], width: usize) -> Self {
        let mut part = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr(b'\n', rest).unwrap_or(rest.len());
            if let Err(problem) = part.line(&rest[..end], width) {
                part.wrong = Some((part.lines, problem));
                break;
            }
            part.lines += 1;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        part
    }

    /// Takes in one line. Empty lines are skipped.
    fn line(&mut self, line: &[u8], width: usize) -> Result<(), String> {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return Ok(());
        }
        let start = self.numbers.len();
        let blank = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (word, tail) = line.split_at(blank);
        if parse_numbers(tail, width, &mut self.numbers) {
            match spelled(word) {
                Some(word) => self.words.push(word),
                None => self.numbers.truncate(start),
            }
            return Ok(());
        }
        self.numbers.truncate(start);
        // A word may contain blanks, as some of GloVe's do. No token does, so it is left out.
        let all: Vec<&[u8]> = fields(line).collect();
        let bad = |field: &&&[u8]| number(field).is_none();
        match all.len().checked_sub(width).filter(|&words| words > 0) {
            None => Err(format!(
                "a word and {width} numbers are needed, as in the first line, and there are {} \
                 fields",
                all.len()
            )),
            Some(words) => match all[words..].iter().find(bad) {
                None => Ok(()),
                Some(field) => {
                    let field = excerpt(&String::from_utf8_lossy(field), 40);
                    Err(format!("{field} is not a finite number"))
                }
            },
        }
    }
}

/// The word in lower case if it can be a token: a run of word characters.
fn spelled(word: &[u8]) -> Option<Box<str>> {
    let word = std::str::from_utf8(word).ok().filter(|word| !word.is_empty())?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if word.bytes().all(plain) {
        return Some(word.into());
    }
    let word = word.to_lowercase();
    // A capital I with a dot gets a combining mark when it is put in lower case, and stays a token.
    word.chars().all(|c| is_python_word(c) || c == '\u{307}').then(|| word.into())
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// Parses exactly `width` numbers. Says whether it could; if not, a few numbers may be there.
fn parse_numbers(mut text: &[u8], width: usize, numbers: &mut Vec<f32>) -> bool {
    for _ in 0..width {
        while let [blank, tail @ ..] = text
            && blank.is_ascii_whitespace()
        {
            text = tail;
        }
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let Some(number) = number(&text[..end]) else { return false };
        numbers.push(number);
        text = &text[end..];
    }
    text.is_empty()
}

/// A finite number. Short decimals, which are nearly all numbers of a table, take a fast path: a
/// whole number below 2^53 divided by a power of ten is rounded correctly.
fn number(field: &[u8]) -> Option<f32> {
    const POWERS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut value, mut places, mut point) = (0u64, 0, false);
    let plain = !digits.is_empty()
        && digits.len() <= 16
        && digits != b"."
        && digits.iter().all(|&b| match b {
            b'0'..=b'9' => {
                value = value * 10 + u64::from(b - b'0');
                places += usize::from(point);
                true
            }
            b'.' if !point => {
                point = true;
                true
            }
            _ => false,
        });
    let value = if plain {
        let value = value as f64 / POWERS[places];
        if negative { -value } else { value }
    } else {
        std::str::from_utf8(field).ok()?.parse::<f64>().ok()?
    };
    Some(value as f32).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<WordVectors, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("small.txt");
        std::fs::write(&path, bytes).expect("written");
        WordVectors::read(&path)
            .map_err(|e| e.to_string().rsplit('/').next().unwrap_or_default().to_owned())
    }

    #[test]
    fn words_are_in_lower_case_and_the_last_of_equal_ones_counts() {
        let table = read(b"The 1 2\nlamp -0.5 1e-3 \nthe 3 4\n\n").expect("a table");
        assert_eq!((table.width(), table.len()), (2, 2));
        assert_eq!(table.get("the"), Some(&[3.0, 4.0][..]));
        assert_eq!(table.get("lamp"), Some(&[-0.5, 0.001][..]));
        assert_eq!(table.get("The"), None);
        assert!(table.signature().starts_with("small-"), "{}", table.signature());
    }

    #[test]
    fn a_heading_is_skipped_and_words_that_are_no_tokens_are_left_out() {
        let table =
            read(b"4 2\n, 1 1\nnew york 1 2\n\xff\xfe 3 3\n\xc3\x89t\xc3\xa9 .5 -.25").unwrap();
        assert_eq!((table.width(), table.len()), (2, 1));
        assert_eq!(table.get("été"), Some(&[0.5, -0.25][..]));
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = |bytes: &[u8]| read(bytes).err().expect("wrong");
        assert_eq!(
            error(b"a 1 2\nb 3\n"),
            "small.txt:2: a word and 2 numbers are needed, as in the first line, and there are 2 \
             fields"
        );
        assert_eq!(error(b"a 1 2\nb 3 4\nc x 4\n"), "small.txt:3: \"x\" is not a finite number");
        assert_eq!(error(b"2 2\na 1 nan\n"), "small.txt:2: \"nan\" is not a finite number");
        assert_eq!(error(b"lamp\n"), "small.txt:1: the line is not a word and its numbers");
        assert_eq!(error(b""), "small.txt:1: the line is not a word and its numbers");
        assert_eq!(error(b"; 1 2\n"), "small.txt: the file has no word with a vector");
    }

    #[test]
    fn numbers_are_those_of_the_standard_parser() {
        for text in ["0.41800", "-0.00000001", "123456789.25", "1e30", "+3", ".5", "5.", "-0"] {
            let expected = text.parse::<f64>().expect("a number") as f32;
            assert_eq!(number(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["", "-", ".", "-.", "1.2.3", "1e400", "inf", "0x1", "--1"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_file_larger_than_a_piece_is_read_whole() {
        let numbers = " 0.25".repeat(64);
        let text: String = (0..60_000).map(|n| format!("word{n}{numbers}\n")).collect();
        assert!(text.len() > PIECE);
        let table = read(text.as_bytes()).expect("a table");
        assert_eq!((table.width(), table.len()), (64, 60_000));
        assert_eq!(table.get("word59999"), Some(&[0.25; 64][..]));
        let broken = text.replace("word50000 0.25", "word50000 0,25");
        assert_eq!(
            read(broken.as_bytes()).err().expect("wrong"),
            "small.txt:50001: \"0,25\" is not a finite number"
        );
    }
}
