//! lm-evaluation-harness with `--log_samples`: `MODEL/samples_TASK_DATE.jsonl`, one line per
//! document of a task.
//!
//! Every text in `resps` is a story of the document. Nothing in the file says which model wrote it:
//! the system is the name of the folder, which the harness calls after the model. The task, which
//! the name of the file has, is a part of the id, because every task counts its documents from 0.
//!
//! A task with several filters has one line per document and filter, and all of them have the same
//! `resps`. Only the lines of the filter of the first line are read.

use std::path::Path;

use super::super::node::{Node, Step};
use super::super::sample::{Content, MOST_SAMPLES};
use super::super::shown::quoted;
use super::{Read, chat, references};
use crate::Story;
use crate::file::FileName;

/// What the name of a file says, and what its first line did.
pub(super) struct File {
    system: Option<String>,
    task: Option<String>,
    filter: Option<String>,
}

impl File {
    pub fn new(path: &Path) -> Self {
        let name = FileName::of(path);
        let named = name.stem().strip_prefix("samples_");
        // The date is the end: `_2026-11-19T01-19-20.958741`.
        let is_date = |end: &str| end.len() >= 10 && end.starts_with(|c: char| c.is_ascii_digit());
        let task = named.map(|task| match task.rsplit_once('_') {
            Some((task, end)) if is_date(end) => task,
            _ => task,
        });
        let folder = named.and_then(|_| {
            let whole = std::path::absolute(path).ok()?;
            Some(whole.parent()?.file_name()?.to_string_lossy().into_owned())
        });
        Self { system: folder, task: task.map(str::to_owned), filter: None }
    }

    pub fn read(&mut self, line: &Node<'_>) -> Step<Read> {
        let [id, arguments, target, filter] =
            line.members(["doc_id", "arguments", "target", "filter"])?;
        let id = id.map(|id| id.label()).transpose()?;
        let id = match (&self.task, id) {
            (Some(task), Some(id)) => format!("{task}/{id}"),
            (_, id) => id.unwrap_or_default(),
        };
        let filter = filter.map(|filter| filter.label()).transpose()?.unwrap_or_default();
        let first = self.filter.get_or_insert_with(|| filter.clone());
        let mut contents = Vec::new();
        if *first == filter {
            texts(&line.needed("resps")?, &mut contents)?;
            if contents.is_empty() {
                contents.push(Content::Missing("resps has no text".to_owned()));
            }
        } else {
            let (filter, first) = (quoted(&filter), quoted(first));
            let reason = format!("the filter {filter} has the same samples as {first}");
            contents.push(Content::Missing(reason));
        }
        let story = Story {
            item: Some(id.clone()).filter(|id| !id.is_empty()),
            id,
            system: self.system.clone(),
            prompt: arguments.map(|arguments| prompt(&arguments)).transpose()?.flatten(),
            references: references(target.as_ref()),
            ..Story::default()
        };
        Ok((story, contents))
    }
}

/// The texts of `resps`, which is a list with one list of samples per request.
fn texts(resps: &Node<'_>, contents: &mut Vec<Content>) -> Step<()> {
    for request in resps.list(MOST_SAMPLES)? {
        if request.is_list() {
            for text in request.list(MOST_SAMPLES)? {
                contents.push(Content::Text(text.text()?));
            }
        } else {
            contents.push(Content::Text(request.text()?));
        }
        if contents.len() > MOST_SAMPLES {
            return Err(format!("{resps} has more than {MOST_SAMPLES} texts"));
        }
    }
    Ok(())
}

/// The first argument of the first request: `{"gen_args_0": {"arg_0": PROMPT, ...}}`, or in files
/// of older versions `[[PROMPT, ...]]`. With a chat template it may be a list of messages.
fn prompt(arguments: &Node<'_>) -> Step<Option<String>> {
    let request = match arguments.is_object() {
        true => arguments.member("gen_args_0")?,
        false if arguments.is_list() => arguments.list(MOST_SAMPLES)?.into_iter().next(),
        false => None,
    };
    let argument = match request {
        Some(request) if request.is_object() => request.member("arg_0")?,
        Some(request) if request.is_list() => request.list(MOST_SAMPLES)?.into_iter().next(),
        _ => None,
    };
    let text = match argument {
        Some(argument) if argument.is_text() => argument.text()?,
        // Messages for a server, in a list of one text.
        Some(argument) if argument.is_list() => match argument.list(MOST_SAMPLES)?.first() {
            Some(text) if text.is_text() => text.text()?,
            Some(_) => return Ok(chat::last(&argument, &chat::OPENAI)?.prompt),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    if text.starts_with("[{")
        && let Ok(messages) = Node::root(&text, String::new())
        && let Ok(exchange) = chat::last(&messages, &chat::OPENAI)
        && exchange.prompt.is_some()
    {
        return Ok(exchange.prompt);
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_says_model_and_task() {
        let known = |path: &str| {
            let file = File::new(Path::new(path));
            (file.system, file.task)
        };
        let pair = |system: &str, task: &str| (Some(system.to_owned()), Some(task.to_owned()));
        let path = "out/house__atlas/samples_short_stories_2026-11-19T01-19-20.958741.jsonl";
        assert_eq!(known(path), pair("house__atlas", "short_stories"));
        assert_eq!(known("a/samples_plots.jsonl.gz"), pair("a", "plots"));
        assert_eq!(known("a/stories.jsonl"), (None, None));
    }

    #[test]
    fn the_prompt_is_found_in_every_version() {
        for json in [
            r#"{"gen_args_0": {"arg_0": "A door.", "arg_1": {}}}"#,
            r#"[["A door.", {"until": ["x"]}]]"#,
            r#"{"gen_args_0": {"arg_0": "[{\"role\": \"user\", \"content\": \"A door.\"}]"}}"#,
            r#"{"gen_args_0": {"arg_0": ["[{\"role\": \"user\", \"content\": \"A door.\"}]"]}}"#,
            r#"[[[{"role": "user", "content": "A door."}]]]"#,
        ] {
            let found = prompt(&Node::root(json, String::new()).unwrap()).unwrap();
            assert_eq!(found.as_deref(), Some("A door."), "{json}");
        }
        assert_eq!(prompt(&Node::root("[]", String::new()).unwrap()).unwrap(), None);
    }
}
