//! Tables of the user: sentences in other words, and facts about the world.
//!
//! Neither can be part of the program: paraphrases are made by a translator or a language model,
//! and the facts of ConceptNet have terms of their own (CC BY-SA 4.0).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use storymeter_text::stopwords::is_stop_word;

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}:{line}: {problem}")]
pub struct TableError {
    /// The name that the caller gave to the table.
    pub place: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// The similarity of a paraphrase to its sentence, where the table has it, as in the released code.
const SIMILARITY: std::ops::RangeInclusive<f64> = 0.4..=0.7;

/// Sentences with their paraphrases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paraphrases {
    by_sentence: BTreeMap<String, Vec<String>>,
    /// Paraphrases that were left out because they are too similar or too different.
    pub left_out: usize,
}

impl Paraphrases {
    /// Reads a table. It is one of these:
    ///
    /// - JSON: an object `{sentence: paraphrase}` or a list of such objects, as in the released
    ///   data, where the paraphrase may also be `{"score": similarity, "trans": paraphrase}`;
    /// - JSONL: `{"sentence": ..., "paraphrase": ..., "score": similarity}` per line, where the
    ///   score may be missing;
    /// - lines of a sentence, a tab and its paraphrase.
    ///
    /// Where a similarity is given, only paraphrases from 0.4 to 0.7 are used. A sentence is found
    /// whatever its case and blanks are. A sentence may have several paraphrases, of which one is
    /// drawn for each story.
    ///
    /// ```
    /// use storymeter_perturb::aspect::Paraphrases;
    /// let table = Paraphrases::parse("It rained.\tRain fell.\n", "table.tsv")?;
    /// assert_eq!(table.of("it rained."), ["Rain fell."]);
    /// # Ok::<(), storymeter_perturb::aspect::TableError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the table has another form, or no paraphrase.
    pub fn parse(content: &str, place: &str) -> Result<Self, TableError> {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let mut table = Self::default();
        let error =
            |line: usize, problem: String| TableError { place: place.to_owned(), line, problem };
        match serde_json::from_str::<Value>(content) {
            Ok(whole) => table.add_document(&whole).map_err(|problem| error(1, problem))?,
            Err(_) => {
                for (number, line) in content.lines().enumerate() {
                    if line.trim().is_empty() {
                        continue;
                    }
                    table.add_line(line).map_err(|problem| error(number + 1, problem))?;
                }
            }
        }
        if table.by_sentence.is_empty() && table.left_out == 0 {
            return Err(error(1, "the table has no paraphrase".to_owned()));
        }
        Ok(table)
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.by_sentence.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.by_sentence.is_empty()
    }

    /// The paraphrases of a sentence, in the order of the table.
    pub fn of(&self, sentence: &str) -> &[String] {
        self.by_sentence.get(&normal(sentence)).map_or(&[], Vec::as_slice)
    }

    fn add_document(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Array(list) => list.iter().try_for_each(|value| self.add_document(value)),
            Value::Object(record) if record.contains_key("paraphrase") => self.add_record(value),
            Value::Object(table) => {
                for (sentence, paraphrase) in table {
                    match paraphrase {
                        Value::String(text) => self.add(sentence, text, None),
                        Value::Object(scored) => {
                            let text =
                                scored.get("trans").and_then(Value::as_str).ok_or_else(|| {
                                    format!("the field \"trans\" of {} is no text", shown(sentence))
                                })?;
                            self.add(sentence, text, scored.get("score").and_then(Value::as_f64));
                        }
                        _ => {
                            return Err(format!(
                                "the paraphrase of {} is neither a text nor an object with the \
                                 field \"trans\"",
                                shown(sentence)
                            ));
                        }
                    }
                }
                Ok(())
            }
            _ => Err("not an object {sentence: paraphrase} or a list of such objects".to_owned()),
        }
    }

    fn add_record(&mut self, value: &Value) -> Result<(), String> {
        let text = |field: &str| {
            value.get(field).and_then(Value::as_str).ok_or_else(|| {
                format!(
                    "the field \"{field}\" is missing or no text; a line is {{\"sentence\": \
                         ..., \"paraphrase\": ...}}"
                )
            })
        };
        let (sentence, paraphrase) = (text("sentence")?, text("paraphrase")?);
        self.add(sentence, paraphrase, value.get("score").and_then(Value::as_f64));
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        if line.trim_start().starts_with('{') {
            let value = serde_json::from_str(line).map_err(|e| format!("not JSON: {e}"))?;
            return self.add_record(&value);
        }
        let fields: Vec<&str> = line.split('\t').collect();
        let &[sentence, paraphrase] = fields.as_slice() else {
            return Err(format!(
                "{} tabs in the line; a line is a sentence, one tab and its paraphrase",
                fields.len() - 1
            ));
        };
        self.add(sentence, paraphrase, None);
        Ok(())
    }

    fn add(&mut self, sentence: &str, paraphrase: &str, similarity: Option<f64>) {
        let (sentence, paraphrase) = (normal(sentence), paraphrase.trim());
        if similarity.is_some_and(|value| !SIMILARITY.contains(&value)) {
            self.left_out += 1;
            return;
        }
        if sentence.is_empty() || paraphrase.is_empty() || normal(paraphrase) == sentence {
            self.left_out += 1;
            return;
        }
        let known = self.by_sentence.entry(sentence).or_default();
        if known.iter().all(|text| text != paraphrase) {
            known.push(paraphrase.to_owned());
        }
    }
}

/// A sentence as it is looked up: in lower case, without blanks, which differ between tokenised and
/// other texts.
fn normal(sentence: &str) -> String {
    sentence.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// The beginning of a text, for a message.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(40).collect();
    let dots = if beginning.len() < text.len() { "..." } else { "" };
    format!("\"{beginning}{dots}\"")
}

/// Facts about the world: which words belong together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triples {
    by_word: BTreeMap<String, Vec<String>>,
    /// The words that do nothing by themselves, in alphabetical order.
    things: Vec<String>,
    facts: usize,
    /// Facts that were left out, because a side has no or several words, or is not English.
    pub left_out: usize,
}

impl Triples {
    /// Reads a table of facts. A line is `head|||relation|||tail`, as in the released data, or the
    /// same with tabs or commas, or a line of ConceptNet's own dump (`/a/... TAB /r/... TAB
    /// /c/en/... TAB /c/en/... TAB ...`). Only facts count whose sides are one word each, apart
    /// from words such as "the".
    ///
    /// ```
    /// use storymeter_perturb::aspect::Triples;
    /// let table = Triples::parse("bread|||AtLocation|||the oven\n", "facts.csv")?;
    /// assert_eq!(table.of("bread"), ["oven"]);
    /// assert_eq!(table.of("oven"), ["bread"]);
    /// # Ok::<(), storymeter_perturb::aspect::TableError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a line has another form, or there is no fact.
    pub fn parse(content: &str, place: &str) -> Result<Self, TableError> {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        let mut table = Self::default();
        let mut actors: BTreeSet<String> = BTreeSet::new();
        for (number, line) in content.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let (head, relation, tail) = sides(line).ok_or_else(|| TableError {
                place: place.to_owned(),
                line: number + 1,
                problem: "not a fact; a line is head|||relation|||tail".to_owned(),
            })?;
            match (single_word(head), single_word(tail)) {
                (Some(head), Some(tail)) if head != tail => {
                    table.facts += 1;
                    if ACTING.iter().any(|acting| relation.trim().ends_with(acting)) {
                        actors.insert(head.clone());
                    }
                    table.link(&head, &tail);
                    table.link(&tail, &head);
                }
                _ => table.left_out += 1,
            }
        }
        table.things =
            table.by_word.keys().filter(|word| !actors.contains(*word)).cloned().collect();
        if table.facts == 0 {
            return Err(TableError {
                place: place.to_owned(),
                line: 1,
                problem: "the table has no fact with one English word on each side".to_owned(),
            });
        }
        Ok(table)
    }

    /// Number of facts.
    pub fn len(&self) -> usize {
        self.facts
    }

    /// Whether there is no fact.
    pub fn is_empty(&self) -> bool {
        self.facts == 0
    }

    /// The words of which no fact says that they do or desire something.
    pub(super) fn things(&self) -> &[String] {
        &self.things
    }

    /// The words that facts connect with a word, in the order of the table.
    pub fn of(&self, word: &str) -> &[String] {
        self.by_word.get(word).map_or(&[], Vec::as_slice)
    }

    fn link(&mut self, word: &str, other: &str) {
        let known = self.by_word.entry(word.to_owned()).or_default();
        if known.iter().all(|text| text != other) {
            known.push(other.to_owned());
        }
    }
}

/// The relations of ConceptNet whose heads act or want.
const ACTING: [&str; 4] = ["CapableOf", "Desires", "NotDesires", "NotCapableOf"];

/// The head, the relation and the tail of a line; `None` if the line is no fact.
fn sides(line: &str) -> Option<(&str, &str, &str)> {
    for separator in ["|||", "\t", ","] {
        let fields: Vec<&str> = line.split(separator).collect();
        match *fields.as_slice() {
            [head, relation, tail] => return Some((head, relation, tail)),
            [edge, relation, head, tail, ..]
                if edge.starts_with("/a/") && relation.starts_with("/r/") =>
            {
                return Some((head, relation, tail));
            }
            _ => {}
        }
    }
    None
}

/// The only content word of a side, in lower case; `None` if there is not exactly one.
fn single_word(side: &str) -> Option<String> {
    let side = side.trim();
    let side = match side.strip_prefix("/c/") {
        // `/c/en/bread/n`: the part of speech is not used.
        Some(uri) => uri.strip_prefix("en/")?.split('/').next()?,
        None => side,
    };
    let mut words = side
        .split(|c: char| c.is_whitespace() || c == '_')
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && !is_stop_word(word));
    let word = words.next().filter(|word| word.chars().all(char::is_alphabetic))?;
    words.next().is_none().then_some(word)
}
