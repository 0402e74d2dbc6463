//! promptfoo's `output.json`, and the same results one per line in `output.jsonl`.
//!
//! The system is the label of the provider, or else its id. The id of a story is the number of the
//! test and that of the prompt, because every prompt is tried with every test. Stories of the same
//! filled-in prompt belong together.

use super::super::node::{Node, Step};
use super::super::sample::Content;
use super::Read;
use super::walk::Plan;
use crate::Story;

pub(super) const PLAN: Plan =
    Plan { records: &[&["results", "results", "[]"], &["results", "[]"]], kept: &[] };

pub(super) fn read(result: &Node<'_>) -> Step<Read> {
    let [provider, response, error, prompt] =
        result.members(["provider", "response", "error", "prompt"])?;
    let [test, of_prompt] = result.members(["testIdx", "promptIdx"])?;
    let output = match &response {
        Some(response) => response.member("output")?,
        None => None,
    };
    let content = match output {
        // A failed assertion is an `error` too, but then there is a story.
        Some(output) => Content::Text(output.text()?),
        None => {
            let own = response.map(|response| response.member("error")).transpose()?.flatten();
            let reason = match own.or(error) {
                Some(reason) if reason.is_text() => reason.text()?,
                _ => "response.output is missing".to_owned(),
            };
            Content::Missing(reason)
        }
    };
    let system = match provider {
        Some(provider) if provider.is_object() => {
            let [label, id] = provider.members(["label", "id"])?;
            let label = label.map(|label| label.text()).transpose()?;
            match label.filter(|label| !label.trim().is_empty()) {
                Some(label) => Some(label),
                None => id.map(|id| id.text()).transpose()?,
            }
        }
        Some(provider) => Some(provider.text()?),
        None => None,
    };
    let prompt = match prompt {
        Some(prompt) if prompt.is_object() => prompt.member("raw")?,
        prompt => prompt,
    };
    let [test, of_prompt] = [test, of_prompt].map(|number| number.map(|number| number.label()));
    let (test, of_prompt) = (test.transpose()?, of_prompt.transpose()?);
    let prompt = prompt.map(|prompt| prompt.text()).transpose()?;
    let id = match (&test, of_prompt) {
        (Some(test), Some(of_prompt)) => format!("{test}/{of_prompt}"),
        _ => String::new(),
    };
    let prompt = prompt.filter(|prompt| !prompt.trim().is_empty());
    let item = test.filter(|_| prompt.is_none());
    Ok((Story { id, system, item, prompt, ..Story::default() }, vec![content]))
}
