//! Messages of a chat, as OpenAI, Inspect, lm-evaluation-harness and ShareGPT write them.

use super::super::node::{MOST_VALUES, Node, Step};

/// The names of the member that says who speaks, and of what was said.
pub(super) struct Words {
    pub who: &'static str,
    pub what: &'static str,
}

/// `{"role": "user", "content": "..."}`.
pub(super) const OPENAI: Words = Words { who: "role", what: "content" };

/// `{"from": "human", "value": "..."}`.
pub(super) const SHAREGPT: Words = Words { who: "from", what: "value" };

/// The last answer of a chat and what was asked before it.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub prompt: Option<String>,
    pub answer: Option<String>,
}

/// Finds the last answer in a list of messages, and the last question before it. Where there is no
/// answer, the question is the last one of all.
pub(super) fn last(messages: &Node<'_>, words: &Words) -> Step<Exchange> {
    let mut exchange = Exchange::default();
    for message in messages.list(MOST_VALUES)?.iter().rev() {
        let [who, what] = message.members([words.who, words.what])?;
        let who = who.ok_or_else(|| format!("{message} has no \"{}\"", words.who))?.text()?;
        match who.to_ascii_lowercase().as_str() {
            "assistant" | "gpt" | "model" | "bot" | "chatgpt" if exchange.answer.is_none() => {
                exchange.answer = what.map(|what| content(&what)).transpose()?.flatten();
            }
            "user" | "human" => {
                exchange.prompt = what.map(|what| content(&what)).transpose()?.flatten();
                break;
            }
            _ => {}
        }
    }
    Ok(exchange)
}

/// The text of a message: a text, or a list of parts of which some are text. Parts that are
/// thoughts, pictures or calls of tools are no part of a story.
pub(super) fn content(content: &Node<'_>) -> Step<Option<String>> {
    if content.is_text() {
        return content.text().map(Some);
    }
    if !content.is_list() {
        return Err(content.needs("a text, or a list of parts,"));
    }
    let mut text: Option<String> = None;
    for part in content.list(MOST_VALUES)? {
        let more = if part.is_text() {
            part.text()?
        } else {
            let [kind, words] = part.members(["type", "text"])?;
            let kind = kind.map(|kind| kind.text()).transpose()?;
            match (kind.as_deref(), words) {
                (None | Some("text" | "output_text" | "input_text"), Some(words)) => {
                    words.text()?
                }
                _ => continue,
            }
        };
        text.get_or_insert_default().push_str(&more);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(json: &str, words: &Words) -> Step<(Option<String>, Option<String>)> {
        let found = last(&Node::root(json, "messages".to_owned()).unwrap(), words)?;
        Ok((found.prompt, found.answer))
    }

    #[test]
    fn the_last_answer_is_the_story() {
        let json = r#"[{"role": "system", "content": "s"}, {"role": "user", "content": "q1"},
            {"role": "assistant", "content": "a1"},
            {"role": "user", "content": [{"type": "text", "text": "q2"}, {"type": "image_url"}]},
            {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, "a", {"text": "2"}]},
            {"role": "tool", "content": "t"}]"#;
        assert_eq!(exchange(json, &OPENAI).unwrap(), (Some("q2".into()), Some("a2".into())));
        let json = r#"[{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]"#;
        assert_eq!(exchange(json, &SHAREGPT).unwrap(), (Some("q".into()), Some("a".into())));
        let json = r#"[{"role": "user", "content": "q"}]"#;
        assert_eq!(exchange(json, &OPENAI).unwrap(), (Some("q".into()), None));
    }

    #[test]
    fn what_is_no_message_is_named() {
        let problem = |json| exchange(json, &OPENAI).unwrap_err();
        assert_eq!(problem("[7]"), "messages[0] is a number; an object is needed");
        assert_eq!(problem("[{}]"), "messages[0] has no \"role\"");
        assert_eq!(
            problem(r#"[{"role": "assistant", "content": 3}]"#),
            "messages[0].content is a number; a text, or a list of parts, is needed"
        );
    }
}
