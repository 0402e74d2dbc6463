//! What OpenAI's interface and the many programs that copy it write: the results of a batch, the
//! answers themselves, and conversations such as those that models are tuned with.

use serde_json::value::RawValue;

use super::super::jsonl;
use super::super::names::{Field, FieldNames, UsedNames, rated};
use super::super::node::{MOST_VALUES, Node, Step};
use super::super::sample::{Content, MOST_SAMPLES};
use super::{Read, chat};
use crate::{Error, Place, Result, Story};

/// A line of a batch, an answer, or a conversation, whose last answer is the story.
pub(super) fn read(line: &Node<'_>) -> Step<Read> {
    if let Some(messages) = messages_of(line)? {
        return conversation(&messages, &chat::OPENAI);
    }
    let [response, choices, output] = line.members(["response", "choices", "output"])?;
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

/// The messages, if the line is a conversation.
pub(super) fn messages_of<'a>(line: &Node<'a>) -> Step<Option<Node<'a>>> {
    let [messages, choices] = line.members(["messages", "choices"])?;
    Ok(messages.filter(|_| choices.is_none()))
}

/// Conversations of the layout of ShareGPT.
pub(super) fn share_gpt(line: &Node<'_>) -> Step<Read> {
    conversation(&line.needed("conversations")?, &chat::SHAREGPT)
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

/// A conversation, whose last answer is the story.
fn conversation(messages: &Node<'_>, words: &chat::Words) -> Step<Read> {
    let chat::Exchange { prompt, answer } = chat::last(messages, words)?;
    let missing = || Content::Missing(format!("{messages} has no answer"));
    let content = answer.map_or_else(missing, Content::Text);
    Ok((Story { prompt, ..Story::default() }, vec![content]))
}

/// The usual fields of stories that stand beside a conversation. They are read as in JSONL, and
/// added to the story, which has no more than a prompt yet.
pub(super) fn fields_beside(
    line: &Node<'_>,
    story: &mut Story,
    names: &FieldNames,
    place: &Place,
) -> Result<UsedNames> {
    let mut record = String::from(r#"{"story":"""#);
    let mut add = |member: &str, raw: &RawValue| {
        let is_read = match names.find(member).map(|found| found.field) {
            Some(Field::Story) => false,
            Some(Field::Prompt) => story.prompt.is_none(),
            // What the user names is looked up by path, as in the records of all tools.
            Some(field) => names.given(field).is_none(),
            None => rated(member).is_some(),
        };
        if is_read {
            // On one line, so that an error names the line on which the conversation begins.
            let value = raw.get().replace(['\n', '\r'], " ");
            record.push_str(&format!(",{}:{value}", serde_json::Value::from(member)));
        }
    };
    line.each_member(&mut add).map_err(|problem| Error::invalid(place.clone(), problem))?;
    record.push('}');
    let (read, mut used) = jsonl::parse_element(&record, place, &FieldNames::default())?;
    used.forget(Field::Story);
    *story = Story { prompt: story.prompt.take().or(read.prompt), ..read };
    Ok(used)
}
