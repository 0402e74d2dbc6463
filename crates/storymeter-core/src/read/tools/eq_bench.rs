//! Runs of EQ-Bench's creative-writing benchmark: one object with a run per key, and in it
//! `creative_tasks` by iteration and prompt.
//!
//! The system is the model under test. The prompt is the item; the second iteration of a prompt has
//! the id `ID@2`, and a second seed of an iteration `ID@2#2`. `<SEED>` in the prompt is replaced by
//! the seed, if the iteration has one.

use super::super::node::{Node, Step};
use super::super::sample::{Content, MOST_SAMPLES};
use super::Read;
use super::walk::Plan;
use crate::Story;

pub(super) const PLAN: Plan = Plan {
    records: &[&["*", "creative_tasks", "*", "*"]],
    kept: &[&["*", "test_model"], &["*", "model_name"]],
};

/// Reads the results of a prompt in an iteration. `names` are the run, `creative_tasks`, the
/// iteration and the prompt, and `model` is what the run says of its model.
pub(super) fn read(task: &Node<'_>, names: &[String], model: Option<String>) -> Step<Read> {
    let [prompt, results, own, other] =
        task.members(["base_prompt", "results_by_modifier", "test_model", "model_name"])?;
    let item = names.last().cloned().unwrap_or_default();
    let iteration = names.get(2).map_or("1", String::as_str);
    let id = if iteration == "1" { item.clone() } else { format!("{item}@{iteration}") };
    let own = own.or(other).map(|own| own.text()).transpose()?;
    let results = results.map(|results| results.entries(MOST_SAMPLES)).transpose()?;
    let mut prompt = prompt.map(|prompt| prompt.text()).transpose()?;
    let mut contents = Vec::new();
    let results = results.unwrap_or_default();
    // The stories of one record share their prompt. Usually there is one seed per iteration.
    if let [(seed, _)] = results.as_slice() {
        prompt = prompt.map(|prompt| prompt.replacen("<SEED>", seed, 1));
    }
    for (_, result) in results {
        let [text, failed, reason] =
            result.members(["model_response", "generation_failed", "error_message"])?;
        let failed = failed.is_some_and(|failed| failed.json() == "true");
        contents.push(match text {
            Some(text) if !failed => Content::Text(text.text()?),
            _ => Content::Missing(match reason {
                Some(reason) => reason.text()?,
                None => format!("{result} has no \"model_response\""),
            }),
        });
    }
    if contents.is_empty() {
        contents.push(Content::Missing(format!("{task} has no result")));
    }
    let prompt = prompt.filter(|prompt| !prompt.trim().is_empty());
    let system = own.or(model);
    Ok((Story { id, system, item: Some(item), prompt, ..Story::default() }, contents))
}
