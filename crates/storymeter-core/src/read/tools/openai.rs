//! What OpenAI's interface and the many programs that copy it write: the results of a batch, the
//! answers themselves, and conversations such as those that models are tuned with.

use super::super::names::{Field, FieldNames};
use super::super::node::{MOST_VALUES, Node, Step};
use super::super::sample::{Content, MOST_SAMPLES};
use super::{Read, chat};
use crate::Story;

/// A line of a batch, an answer, or a conversation, whose last answer is the story.
pub(super) fn read(line: &Node<'_>, names: &FieldNames) -> Step<Read> {
    let [response, messages, choices, output] =
        line.members(["response", "messages", "choices", "output"])?;
    if messages.is_some() && choices.is_none() {
        return conversation(line, "messages", &chat::OPENAI, names);
    }
    if response.is_none() && (choices.is_some() || output.is_some()) {
        return answer(line, String::new());
    }
    let [id, error] = line.members(["custom_id", "error"])?;
    let id = id.map(|id| id.label()).transpose()?.unwrap_or_default();
    let body = match &response {
        Some(response) => response.member("body")?,
        None => None,
    };
    match body {
        Some(body) if body.is_object() && body.member("error")?.is_none() => answer(&body, id),
        body => {
            let own = match &body {
                Some(body) if body.is_object() => body.member("error")?,
                _ => None,
            };
            let reason = own.or(error).map(|error| message_of(&error)).transpose()?.flatten();
            let reason = reason.unwrap_or_else(|| "response.body is missing".to_owned());
            Ok((Story { id, ..Story::default() }, vec![Content::Missing(reason)]))
        }
    }
}

/// Conversations of the layout of ShareGPT.
pub(super) fn share_gpt(line: &Node<'_>, names: &FieldNames) -> Step<Read> {
    conversation(line, "conversations", &chat::SHAREGPT, names)
}

/// The message of an error, which is an object or a text.
fn message_of(error: &Node<'_>) -> Step<Option<String>> {
    if error.is_text() {
        return error.text().map(Some);
    }
    match error.is_object() {
        true => error.member("message")?.map(|message| message.text()).transpose(),
        false => Ok(None),
    }
}

/// The texts of a completion (`choices`) or of a response (`output`).
fn answer(body: &Node<'_>, id: String) -> Step<Read> {
    let [choices, output, model, own] = body.members(["choices", "output", "model", "id"])?;
    let mut contents = Vec::new();
    if let Some(choices) = choices {
        for choice in choices.list(MOST_SAMPLES)? {
            let [message, text] = choice.members(["message", "text"])?;
            let content = match message {
                Some(message) => message.member("content")?,
                None => text,
            };
            let text = content.map(|content| chat::content(&content)).transpose()?.flatten();
            let missing = || Content::Missing(format!("{choice} has no text"));
            contents.push(text.map_or_else(missing, Content::Text));
        }
    } else if let Some(output) = output {
        let mut text: Option<String> = None;
        for part in output.list(MOST_VALUES)? {
            let [kind, content] = part.members(["type", "content"])?;
            let kind = kind.map(|kind| kind.text()).transpose()?;
            if kind.as_deref() == Some("message")
                && let Some(content) = content
                && let Some(more) = chat::content(&content)?
            {
                text.get_or_insert_default().push_str(&more);
            }
        }
        contents.extend(text.map(Content::Text));
    }
    if contents.is_empty() {
        contents.push(Content::Missing(format!("{body} has no answer")));
    }
    let id = match id.is_empty() {
        true => own.map(|own| own.label()).transpose()?.unwrap_or_default(),
        false => id,
    };
    let item = Some(id.clone()).filter(|id| !id.is_empty());
    let system = model.map(|model| model.label()).transpose()?;
    Ok((Story { id, system, item, ..Story::default() }, contents))
}

/// A conversation, beside which the usual fields of stories may stand.
fn conversation(
    line: &Node<'_>,
    name: &str,
    words: &chat::Words,
    names: &FieldNames,
) -> Step<Read> {
    let messages = line.needed(name)?;
    let chat::Exchange { prompt, answer } = chat::last(&messages, words)?;
    let missing = || Content::Missing(format!("{messages} has no answer"));
    let content = answer.map_or_else(missing, Content::Text);
    let mut story = Story { prompt, ..Story::default() };
    for (member, value) in line.entries(MOST_VALUES)? {
        if value.is_null() {
            continue;
        }
        match names.find(&member).map(|found| found.field) {
            Some(Field::Id) if story.id.is_empty() => story.id = value.label()?,
            Some(Field::System) if story.system.is_none() => story.system = Some(value.label()?),
            Some(Field::Item) if story.item.is_none() => story.item = Some(value.label()?),
            _ => {}
        }
    }
    Ok((story, vec![content]))
}
