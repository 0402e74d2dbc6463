//! Logs of Inspect: one JSON document per evaluation (`.json`), or an archive with one document per
//! sample (`.eval`, in [`archive`](super::archive)).
//!
//! The system is the model of the evaluation, and the id of a story is the name of the task and the
//! id of the sample. The second epoch of a sample is `ID@2`. The answers of a sample are the
//! stories of one item.

use super::super::node::{MOST_VALUES, Node, Step};
use super::super::sample::{Content, MOST_SAMPLES};
use super::walk::Plan;
use super::{Read, chat, references};
use crate::Story;

pub(super) const PLAN: Plan = Plan { records: &[&["samples", "[]"]], kept: &[&["eval"]] };

/// What the evaluation says of all samples.
#[derive(Debug, Clone)]
pub(super) struct Log {
    model: String,
    task: Option<String>,
}

impl Log {
    /// Reads the object `eval`.
    pub fn new(eval: &Node<'_>) -> Step<Self> {
        let [model, task] = eval.members(["model", "task"])?;
        let model = model.ok_or_else(|| format!("{eval} has no \"model\""))?.text()?;
        Ok(Self { model, task: task.map(|task| task.text()).transpose()? })
    }

    pub fn read(&self, sample: &Node<'_>) -> Step<Read> {
        let [id, epoch, input, target] = sample.members(["id", "epoch", "input", "target"])?;
        let [output, error] = sample.members(["output", "error"])?;
        let id = id.map(|id| id.label()).transpose()?.unwrap_or_default();
        let item = match &self.task {
            Some(task) if !id.is_empty() => format!("{task}/{id}"),
            _ => id,
        };
        let epoch = epoch.map(|epoch| epoch.label()).transpose()?.filter(|epoch| epoch != "1");
        let id = match epoch {
            Some(epoch) if !item.is_empty() => format!("{item}@{epoch}"),
            _ => item.clone(),
        };
        let mut contents = Vec::new();
        let [choices, refusal] = match &output {
            Some(output) => output.members(["choices", "error"])?,
            None => [None, None],
        };
        for choice in
            choices.map(|choices| choices.list(MOST_SAMPLES)).transpose()?.unwrap_or_default()
        {
            let message = choice.needed("message")?;
            let text = message.member("content")?.map(|text| chat::content(&text)).transpose()?;
            let missing = || Content::Missing(format!("{message} has no text"));
            contents.push(text.flatten().map_or_else(missing, Content::Text));
        }
        if contents.is_empty() {
            contents.push(Content::Missing(reason(refusal.or(error))?));
        }
        let prompt = match input {
            Some(input) if input.is_list() => chat::last(&input, &chat::OPENAI)?.prompt,
            input => input.map(|input| input.text()).transpose()?,
        };
        let target = match target {
            Some(target) if target.is_list() => target.list(MOST_VALUES)?.into_iter().next(),
            target => target,
        };
        let story = Story {
            id,
            system: Some(self.model.clone()),
            item: Some(item).filter(|item| !item.is_empty()),
            prompt: prompt.filter(|prompt| !prompt.trim().is_empty()),
            references: references(target.as_ref()),
            ..Story::default()
        };
        Ok((story, contents))
    }
}

/// Why a sample has no answer.
fn reason(error: Option<Node<'_>>) -> Step<String> {
    let message = match error {
        Some(error) if error.is_object() => error.member("message")?,
        error => error,
    };
    match message {
        Some(message) => message.text(),
        None => Ok("output.choices has no answer".to_owned()),
    }
}
