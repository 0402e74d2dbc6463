//! Tagged text in files, and how much of it a tagger gets right.
#![allow(dead_code, reason = "shared by programs that each use a part")]

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use storymeter_text::tagger::{Tag, Tagger};

/// The tokens of a sentence, and their correct tags.
pub type Sentence = (Vec<String>, Vec<Tag>);

/// Reads a gzipped file of tokens, tabs and tags.
pub fn read(path: &Path) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let name = path.display();
    let file = File::open(path).map_err(|e| format!("{name}: {e}"))?;
    let mut sentences = vec![Sentence::default()];
    for (number, line) in BufReader::new(MultiGzDecoder::new(file)).lines().enumerate() {
        let line = line.map_err(|e| format!("{name}:{}: {e}", number + 1))?;
        if line.is_empty() {
            sentences.push(Sentence::default());
            continue;
        }
        let (token, tag) = line.split_once('\t').ok_or(format!("{name}:{}: no tab", number + 1))?;
        let (tokens, tags) = sentences.last_mut().expect("there is always a sentence");
        tokens.push(token.to_owned());
        tags.push(tag.parse().map_err(|e| format!("{name}:{}: {e}", number + 1))?);
    }
    sentences.retain(|(tokens, _)| !tokens.is_empty());
    Ok(sentences)
}

/// The same sentences in small letters.
pub fn lower_cased(sentences: &[Sentence]) -> Vec<Sentence> {
    let lower = |tokens: &[String]| tokens.iter().map(|t| t.to_lowercase()).collect();
    sentences.iter().map(|(tokens, tags)| (lower(tokens), tags.clone())).collect()
}

/// How a tagger did.
pub struct Score {
    /// Tags that were right.
    pub right: usize,
    /// Tags in all.
    pub total: usize,
    /// Time spent tagging.
    pub time: Duration,
}

impl Score {
    /// The share of right tags.
    pub fn percent(&self) -> f64 {
        100.0 * self.right as f64 / self.total as f64
    }

    /// Tokens per second.
    pub fn speed(&self) -> f64 {
        self.total as f64 / self.time.as_secs_f64()
    }
}

/// Sentences timed together.
const BLOCK: usize = 20;

/// Tags all sentences, at least once for the tags and `passes` (one or more) times for the time.
/// The time is the sum over blocks of sentences of each block's fastest pass, so that other work on
/// the machine hardly counts.
pub fn evaluate(tagger: &Tagger, sentences: &[Sentence], passes: usize) -> Score {
    let tokens: Vec<Vec<&str>> =
        sentences.iter().map(|(tokens, _)| tokens.iter().map(String::as_str).collect()).collect();
    let mut tags = Vec::new();
    let (mut right, mut total) = (0, 0);
    for (tokens, (_, gold)) in tokens.iter().zip(sentences) {
        tagger.tag_into(tokens, &mut tags);
        right += tags.iter().zip(gold).filter(|(a, b)| a == b).count();
        total += gold.len();
    }
    let mut fastest = vec![Duration::MAX; tokens.len().div_ceil(BLOCK)];
    for _ in 0..passes {
        for (block, fastest) in tokens.chunks(BLOCK).zip(&mut fastest) {
            let start = Instant::now();
            for tokens in block {
                tagger.tag_into(tokens, &mut tags);
            }
            *fastest = start.elapsed().min(*fastest);
        }
    }
    Score { right, total, time: fastest.iter().sum() }
}
