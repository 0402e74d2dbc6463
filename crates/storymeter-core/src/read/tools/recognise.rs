//! Finds out which tool wrote a file, from its first bytes.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

use crate::read::Format;
use crate::read::names::{Field, FieldNames};
use crate::read::scanner::Scanner;

/// How many levels of a value are looked at.
const DEPTH: usize = 3;

/// The most names that are looked at.
const MOST_NAMES: usize = 2000;

/// The tool that wrote JSON, if its first record says so. A name that the user gives to the story
/// says that the file is to be read by names.
pub(in crate::read) fn recognise(start: &[u8], names: &FieldNames) -> Option<Format> {
    if names.story.is_some() {
        return None;
    }
    let seen = Seen::of(start);
    let has = |path: &str| seen.paths.contains(path);
    let below_first = |name: &str| match &seen.first {
        Some(first) => has(&format!("{first}.{name}")),
        None => false,
    };
    if has("resps") && (has("doc_id") || has("arguments") || has("filtered_resps")) {
        return Some(Format::LmEval);
    }
    let is_result = has("testIdx") && (has("response") || has("provider"));
    if is_result || has("evalId") && has("results") || has("results.results[].testIdx") {
        return Some(Format::Promptfoo);
    }
    if has("eval.model") && (has("eval.task") || has("samples")) {
        return Some(Format::Inspect);
    }
    if below_first("creative_tasks") || below_first("test_model") && below_first("judge_model") {
        return Some(Format::EqBench);
    }
    if has("custom_id") && (has("response") || has("error"))
        || has("choices[].message")
        || has("choices[].text")
    {
        return Some(Format::OpenAi);
    }
    // A text under a usual name is the story, whatever stands beside it.
    if !seen.has_story(names) {
        if has("messages[].role") {
            return Some(Format::OpenAi);
        }
        if has("conversations[].from") {
            return Some(Format::ShareGpt);
        }
    }
    None
}

/// Whether the file is one list.
pub(super) fn is_list(start: &[u8]) -> bool {
    begin(start).first() == Some(&b'[')
}

/// Whether the file has one record per line, and not records that span lines.
pub(super) fn has_lines(start: &[u8]) -> bool {
    let start = begin(start);
    let first = start.split(|&b| b == b'\n').next().unwrap_or_default();
    let is_whole = serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
    // A line that is longer than what is looked at has no end yet.
    is_whole
        || first.len() == start.len()
        || !matches!(first.trim_ascii_end().last(), Some(b'{' | b'[' | b',' | b':'))
}

/// Whether a file of promptfoo is a document and not one result per line.
pub(super) fn is_document(start: &[u8]) -> bool {
    let seen = Seen::of(start);
    !is_list(start) && seen.paths.contains("results")
}

fn begin(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start()
}

/// The names in the first record, as far as they can be seen.
#[derive(Default)]
struct Seen {
    /// Paths such as `results.results[].testIdx`.
    paths: BTreeSet<String>,
    /// Names of texts at the top.
    texts: Vec<String>,
    /// The first name at the top.
    first: Option<String>,
    /// Whether the record is the first value of a list.
    is_list: bool,
}

impl Seen {
    fn of(start: &[u8]) -> Self {
        let mut seen = Self::default();
        let mut input = Scanner::new(Box::new(Cursor::new(start.to_vec())), Path::new(""));
        if let Ok(Some(b'[')) = input.peek() {
            input.bump();
            seen.is_list = true;
        }
        if let Ok(Some(b'{')) = input.peek() {
            seen.object(&mut input, "", 0);
        }
        seen
    }

    /// Goes through an object. `None` if its end was not seen.
    fn object(&mut self, input: &mut Scanner, path: &str, depth: usize) -> Option<()> {
        input.bump();
        let mut first = true;
        while let Some(name) = input.key(first).ok()? {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let begin = input.peek().ok()??;
            if depth == 0 {
                if first {
                    self.first = Some(name.clone());
                }
                if begin == b'"' {
                    self.texts.push(name);
                }
            }
            first = false;
            if self.paths.len() < MOST_NAMES {
                self.paths.insert(below.clone());
            }
            if begin == b'{' && depth < DEPTH {
                self.object(input, &below, depth + 1)?;
            } else if begin == b'[' && depth < DEPTH {
                self.list(input, &below, depth + 1)?;
            } else {
                input.value(&mut Vec::new(), 0).ok()?;
            }
        }
        Some(())
    }

    /// Goes through the first value of a list, and passes over the others.
    fn list(&mut self, input: &mut Scanner, path: &str, depth: usize) -> Option<()> {
        input.bump();
        let mut first = true;
        loop {
            match input.peek().ok()?? {
                b']' => {
                    input.bump();
                    return Some(());
                }
                b',' if !first => input.bump(),
                _ => {}
            }
            // White space before the value is passed over.
            let begin = input.peek().ok()??;
            if first && begin == b'{' {
                let below = format!("{path}[]");
                self.object(input, &below, depth)?;
            } else {
                input.value(&mut Vec::new(), 0).ok()?;
            }
            first = false;
        }
    }

    fn has_story(&self, names: &FieldNames) -> bool {
        let is_story =
            |name: &String| names.find(name).is_some_and(|found| found.field == Field::Story);
        self.texts.iter().any(is_story)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: &str) -> Option<Format> {
        recognise(start.as_bytes(), &FieldNames::default())
    }

    #[test]
    fn every_tool_is_known_by_its_names() {
        for (start, format) in [
            (r#"{"doc_id": 0, "resps": [["x"]]}"#, Format::LmEval),
            (
                r#"{"evalId": "e", "results": {"version": 3, "prompts": [{"raw": "A lo"#,
                Format::Promptfoo,
            ),
            (r#"{"testIdx": 0, "provider": "a", "response": {}}"#, Format::Promptfoo),
            (
                r#"{"version": 2, "eval": {"x": {}, "y": [1, 2], "task": "t", "model": "m"}, "samp"#,
                Format::Inspect,
            ),
            (r#"{"run": {"test_model": "m", "judge_model": "j", "st"#, Format::EqBench),
            (r#"{"custom_id": "1", "response": {"body": {}}}"#, Format::OpenAi),
            (r#"[{"id": "c", "choices": [{"message": {}}]}]"#, Format::OpenAi),
            (r#"{"messages": [{"role": "user"}]}"#, Format::OpenAi),
            (r#"[{"conversations": [{"from": "human"}]}]"#, Format::ShareGpt),
        ] {
            assert_eq!(found(start), Some(format), "{start}");
            for end in 0..start.len() {
                // Whatever was seen, nothing fails.
                let _ = found(&start[..end]);
            }
        }
        for start in [
            r#"{"story": "x", "messages": [{"role": "user"}]}"#,
            r#"{"eval": 3, "results": {}, "custom_id": "x"}"#,
            r#"{"messages": ["x"], "conversations": {}}"#,
            "",
            "[",
        ] {
            assert_eq!(found(start), None, "{start}");
        }
    }
}
