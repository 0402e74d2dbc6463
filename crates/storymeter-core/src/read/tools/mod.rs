//! Reads the outputs of tools that evaluate language models, one file per tool.
//!
//! A record of such a file is one or several samples of an item. Each sample is a story, or it is
//! left out because the tool says that there is no text; it is never lost without a word. A name
//! that the user gives to a field, such as `--prompt-col vars.topic`, is looked up in the record
//! and taken instead of what the tool says.

mod archive;
mod chat;
mod eq_bench;
mod inspect;
mod lm_eval;
mod openai;
mod promptfoo;
mod recognise;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::archive::Archive;
pub(super) use self::archive::{MAGIC as ARCHIVE_MAGIC, recognise as is_archive};
use self::inspect::Log;
pub(super) use self::recognise::recognise;
use self::walk::{Plan, Walk};
use super::lines::{Line, LineReader, is_blank};
use super::names::UsedNames;
use super::node::{Node, Step};
use super::raw::Body;
use super::sample::{Content, Sample, given};
use super::scanner::Fault;
use super::source::{ByteCount, Source};
use super::utf8::utf8;
use super::{Format, ReadOptions};
use crate::{Error, Place, Result, Story};

/// What a record says: a story without its text, and what became of each sample.
type Read = (Story, Vec<Content>);

/// Records that are the values of a list, and records that stand one after the other.
const LIST: Plan = Plan { records: &[&["[]"]], kept: &[] };
const EACH: Plan = Plan { records: &[&[]], kept: &[] };

/// The samples of a file, in order.
pub(super) struct Samples {
    records: Records,
    tool: Tool,
    path: PathBuf,
    options: Arc<ReadOptions>,
    /// The samples of the last record that were not given yet.
    waiting: std::vec::IntoIter<Sample>,
    /// The line of the last record.
    line: u64,
}

/// Where the records come from.
enum Records {
    Lines(LineReader),
    Document(Walk),
    Archive(Box<Archive>),
    Ended,
}

/// How a record is read, and what must be remembered for that.
enum Tool {
    LmEval(lm_eval::File),
    Promptfoo,
    Inspect(Option<Log>),
    EqBench,
    OpenAi,
    ShareGpt,
}

/// A record that was cut out.
struct Record {
    line: u64,
    /// Its path in the file, for messages.
    path: String,
    names: Vec<String>,
    bytes: std::result::Result<Vec<u8>, String>,
}

impl Samples {
    /// Opens a file of a tool.
    pub fn open(
        source: Source,
        path: &Path,
        format: Format,
        options: &Arc<ReadOptions>,
        count: &ByteCount,
    ) -> Result<Self> {
        let max = options.max_line;
        let tool = match format {
            Format::LmEval => Tool::LmEval(lm_eval::File::new(path)),
            Format::Promptfoo => Tool::Promptfoo,
            Format::Inspect => Tool::Inspect(None),
            Format::EqBench => Tool::EqBench,
            Format::ShareGpt => Tool::ShareGpt,
            _ => Tool::OpenAi,
        };
        let plan = match tool {
            Tool::Promptfoo if recognise::is_document(&source.start) => Some(&promptfoo::PLAN),
            Tool::Inspect(_) => Some(&inspect::PLAN),
            Tool::EqBench => Some(&eq_bench::PLAN),
            _ if recognise::is_list(&source.start) => Some(&LIST),
            _ if recognise::has_lines(&source.start) => None,
            _ => Some(&EACH),
        };
        let records = if format == Format::Inspect && source.start.starts_with(archive::MAGIC) {
            Records::Archive(Box::new(Archive::open(source, path, max, count)?))
        } else if let Some(plan) = plan {
            Records::Document(Walk::new(source.into_stream(), path, plan, max))
        } else {
            Records::Lines(LineReader::new(source.into_stream(), path, max))
        };
        let (path, options, waiting) = (path.to_owned(), Arc::clone(options), Vec::new());
        Ok(Self { records, tool, path, options, waiting: waiting.into_iter(), line: 0 })
    }

    /// The next story and the line on which its record begins.
    pub fn next(&mut self) -> Result<Option<(u64, Body)>> {
        loop {
            if let Some(sample) = self.waiting.next() {
                return Ok(Some((self.line, Body::Sample(Box::new(sample)))));
            }
            let Some(record) = self.cut()? else { return Ok(None) };
            self.line = record.line;
            match self.read(record) {
                Ok(samples) => self.waiting = samples.into_iter(),
                Err(e) => return Ok(Some((self.line, Body::Refused(Box::new(e))))),
            }
        }
    }

    fn cut(&mut self) -> Result<Option<Record>> {
        let max = self.options.max_line;
        let too_long = |length| format!("it has {length} bytes, but at most {max} are read");
        match &mut self.records {
            Records::Ended => Ok(None),
            Records::Lines(lines) => loop {
                let bytes = match lines.next()? {
                    None => return Ok(None),
                    Some(Line::Text(bytes)) if is_blank(&bytes) => continue,
                    Some(Line::Text(bytes)) => Ok(bytes),
                    Some(Line::Broken(problem)) => Err(problem),
                };
                let (path, names) = (String::new(), Vec::new());
                return Ok(Some(Record { line: lines.number(), path, names, bytes }));
            },
            Records::Document(walk) => match walk.next() {
                Ok(None) => Ok(None),
                Ok(Some(found)) => {
                    let walk::Found { path, names, line, value } = found;
                    Ok(Some(Record { line, path, names, bytes: value.map_err(too_long) }))
                }
                Err(Fault::System(e)) => {
                    let place = Place::file(&self.path).at_line(walk.input.line);
                    self.records = Records::Ended;
                    Err(Error::io(place, e))
                }
                Err(Fault::Content(problem)) => {
                    let line = walk.input.line;
                    self.records = Records::Ended;
                    let (path, names) = (String::new(), Vec::new());
                    Ok(Some(Record { line, path, names, bytes: Err(problem) }))
                }
            },
            Records::Archive(archive) => Ok(archive.next().map(|(line, path, bytes)| Record {
                line,
                path,
                names: Vec::new(),
                bytes,
            })),
        }
    }

    fn read(&mut self, record: Record) -> Result<Vec<Sample>> {
        let Record { line, path, names, bytes } = record;
        let place = Place::file(&self.path).at_line(line);
        let refused = |problem: String| Error::invalid(place.clone(), problem);
        let bytes = bytes.map_err(|problem| match path.as_str() {
            "" => refused(problem),
            path => refused(format!("{path}: {problem}")),
        })?;
        let text = utf8(bytes, &place)?;
        // The parts of an archive are files of their own, so paths begin anew in them.
        let (name, path) = match &self.records {
            Records::Archive(_) => (format!("{path}: "), String::new()),
            _ => (String::new(), path),
        };
        let node = Node::root(&text, path).map_err(|e| {
            let line = line + (e.line() as u64).saturating_sub(1);
            let problem = format!("{name}wrong JSON: {}", super::described(&e));
            Error::invalid(place.clone().at_line(line), problem)
        })?;
        let refused = |problem| refused(format!("{name}{problem}"));
        let (mut story, contents) = self.story(&node, &names).map_err(&refused)?;
        let is_conversation = match self.tool {
            Tool::OpenAi => openai::messages_of(&node).map_err(&refused)?.is_some(),
            Tool::ShareGpt => true,
            _ => false,
        };
        let fields = &self.options.fields;
        let used = match is_conversation {
            true => openai::fields_beside(&node, &mut story, fields, &place)?,
            false => UsedNames::default(),
        };
        given(&node, fields, &mut story).map_err(&refused)?;
        Ok(Sample::all(story, used, contents))
    }

    fn story(&mut self, node: &Node<'_>, names: &[String]) -> Step<Read> {
        match &mut self.tool {
            Tool::LmEval(file) => file.read(node),
            Tool::Promptfoo => promptfoo::read(node),
            Tool::Inspect(known) => match (&self.records, &mut *known) {
                (Records::Archive(archive), _) => archive.log.read(node),
                (_, Some(log)) => log.read(node),
                (Records::Document(walk), None) => {
                    let eval = kept(walk, 0, "eval")?.ok_or(
                        "the samples stand before \"eval\", which names the model; `inspect log \
                         convert` writes the log in the usual order",
                    )?;
                    let log = Log::new(&Node::root(&eval, "eval".to_owned()).map_err(wrong)?)?;
                    known.insert(log).read(node)
                }
                (Records::Lines(_) | Records::Ended, None) => Err("this is no log".to_owned()),
            },
            Tool::EqBench => {
                let mut model = None;
                if let Records::Document(walk) = &self.records {
                    for (at, name) in ["test_model", "model_name"].into_iter().enumerate() {
                        if let (None, Some(json)) = (&model, kept(walk, at, name)?) {
                            let node = Node::root(&json, name.to_owned()).map_err(wrong)?;
                            model = (!node.is_null()).then(|| node.text()).transpose()?;
                        }
                    }
                }
                eq_bench::read(node, names, model)
            }
            Tool::OpenAi => openai::read(node),
            Tool::ShareGpt => openai::share_gpt(node),
        }
    }
}

/// A value that was kept for the records after it.
fn kept(walk: &Walk, at: usize, name: &str) -> Step<Option<String>> {
    let Some(Some(bytes)) = walk.kept.get(at) else { return Ok(None) };
    match String::from_utf8(bytes.clone()) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(format!("{name} is not UTF-8")),
    }
}

fn wrong(e: serde_json::Error) -> String {
    format!("wrong JSON: {}", super::described(&e))
}

/// What a tool calls the target, if it is a text of its own.
fn references(target: Option<&Node<'_>>) -> Vec<String> {
    let text = target.filter(|target| target.is_text()).and_then(|target| target.text().ok());
    text.filter(|text| !text.trim().is_empty()).into_iter().collect()
}
