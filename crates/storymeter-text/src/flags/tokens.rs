//! Stop tokens, role tokens and role labels of language models.

use std::ops::Range;

use super::units::{boundary_before, head, tail};

/// Tokens between marks of their own, compared in lower case.
#[rustfmt::skip]
const TOKENS: [&str; 32] = [
    "<assistant>", "</assistant>", "<response>", "</response>", "<story>", "</story>",
    "<s>", "</s>", "<bos>", "<eos>", "<eot>", "<eod>", "<pad>", "<sep>", "<cls>", "<end>", "<end_of_text>",
    "<endoftext>", "<start_of_turn>", "<end_of_turn>", "<start_of_text>", "<think>", "</think>", "[inst]", "[/inst]",
    "<<sys>>", "<</sys>>", "[pad]", "[cls]", "[sep]", "[eos]", "[bos]",
];

/// Tokens after which the role follows as a word.
const BEFORE_ROLES: [&str; 3] = ["<|im_start|>", "<|start_header_id|>", "<start_of_turn>"];

const ROLES: [&str; 4] = ["assistant", "user", "system", "model"];

/// Labels that a model's answer begins with.
#[rustfmt::skip]
const LABELS: [&str; 17] = [
    "Assistant", "ASSISTANT", "assistant", "AI", "Bot", "ChatGPT", "GPT", "GPT-4", "Claude", "Gemini", "Llama",
    "Model", "AI Assistant", "Response", "Answer", "Output", "Completion",
];

/// Labels behind which the user would speak next.
const NEXT_TURN: [&str; 8] =
    ["User", "USER", "user", "Human", "HUMAN", "Instruction", "Input", "Question"];

/// How a turn of the user and the answer after it begin.
const TURNS: [(&str, &str); 9] = [
    ("[INST]", "[/INST]"),
    ("<|user|>", "<|assistant|>"),
    ("<|im_start|>user", "<|im_start|>assistant"),
    ("<start_of_turn>user", "<start_of_turn>model"),
    ("<|start_header_id|>user", "<|start_header_id|>assistant"),
    ("### Instruction:", "### Response:"),
    ("User:", "\nAssistant:"),
    ("USER:", "\nASSISTANT:"),
    ("Human:", "\nAssistant:"),
];

/// The longest token between `<|` and `|>` in bytes.
const LONGEST: usize = 48;

/// The length of the token that a text begins with.
fn token(text: &str) -> Option<usize> {
    if !text.starts_with(['<', '[']) {
        return None;
    }
    let window = &text.as_bytes()[..text.len().min(LONGEST)];
    let fixed = TOKENS
        .iter()
        .find(|token| {
            window.get(..token.len()).is_some_and(|w| w.eq_ignore_ascii_case(token.as_bytes()))
        })
        .map(|token| token.len());
    let length = fixed.or_else(|| special(text))?;
    let opens_role = BEFORE_ROLES.contains(&&text[..length]);
    let role = ROLES.iter().find(|role| opens_role && text[length..].starts_with(**role));
    Some(length + role.map_or(0, |role| role.len()))
}

/// The length of a token such as `<|im_end|>`, also with the wide bars of some models.
fn special(text: &str) -> Option<usize> {
    let bar = ["<|", "<｜"].into_iter().find(|open| text.starts_with(open))?;
    let close = if bar == "<|" { "|>" } else { "｜>" };
    let inner = text.get(bar.len()..boundary_before(text, LONGEST))?;
    let name = inner.split(close).next().filter(|name| name.len() < inner.len())?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '▁' | '/');
    (!name.is_empty() && name.chars().all(is_name)).then_some(bar.len() + name.len() + close.len())
}

/// The length of a token or a label at the beginning of a text: `<bos>`, `### Response:`.
pub(super) fn leading(text: &str) -> Option<usize> {
    token(text).or_else(|| label(text, &LABELS).filter(|&length| !is_script(&text[length..])))
}

/// The length of the label of a role, with the Markdown around it.
fn label(text: &str, names: &[&str]) -> Option<usize> {
    let bare = text.trim_start_matches(['#', '*', '_', ' ']);
    let name = names.iter().filter(|name| bare.starts_with(**name)).max_by_key(|n| n.len())?;
    let after = bare[name.len()..].trim_start_matches(['*', '_']);
    let after = after.strip_prefix(':')?.trim_start_matches(['*', '_']);
    (after.is_empty() || after.starts_with(char::is_whitespace)).then(|| text.len() - after.len())
}

/// Whether the next lines name speakers too, as those of a script do.
fn is_script(text: &str) -> bool {
    let lines = head(text).lines().skip(1).filter(|line| !line.trim().is_empty());
    let speaks = |line: &str| {
        line.split_once(':').is_some_and(|(name, _)| {
            let words = name.split_whitespace().count();
            name.starts_with(char::is_uppercase) && words <= 2
        })
    };
    lines.take(3).any(speaks)
}

/// The length of a turn of the user at the beginning of a text, up to where the answer begins.
pub(super) fn user_turn(text: &str) -> Option<usize> {
    TURNS.iter().filter(|(open, _)| text.starts_with(open)).find_map(|(_, close)| text.find(close))
}

/// The length of what a model thought before its answer, with the mark behind it.
pub(super) fn thoughts(text: &str) -> Option<usize> {
    const END: &str = "</think>";
    text.find(END).map(|at| at + END.len())
}

/// Where a token at the end of a text begins, or a label behind which nobody speaks any more. A
/// token that was cut, as `<|im_e`, counts too.
pub(super) fn trailing(text: &str) -> Option<usize> {
    let window = boundary_before(text, text.len().saturating_sub(LONGEST));
    let opens = text[window..].rmatch_indices(['<', '[']).map(|(at, _)| window + at);
    let whole = |&at: &usize| {
        let is_cut = || {
            let name = text[at..].strip_prefix("<|");
            let rest = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            name.is_some_and(rest)
        };
        token(&text[at..]).is_some_and(|length| at + length == text.len()) || is_cut()
    };
    opens.take(3).find(whole).or_else(|| next_turn(text))
}

fn next_turn(text: &str) -> Option<usize> {
    let window = tail(text);
    let start = text.len() - window.len() + window.rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    let is_label = |names: &[&str]| label(line, names).is_some_and(|length| length == line.len());
    (is_label(&NEXT_TURN) || is_label(&LABELS) || line == "###").then_some(start)
}

/// All tokens of a text.
pub(super) fn anywhere(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices(['<', '[']) {
        if found.last().is_none_or(|last| last.end <= at)
            && let Some(length) = token(&text[at..])
        {
            found.push(at..at + length);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_marks_of_their_own() {
        for token in [
            "<|endoftext|>",
            "</s>",
            "<|im_end|>",
            "[INST]",
            "<bos>",
            "<|im_start|>assistant",
            "<start_of_turn>model",
            "<｜end▁of▁sentence｜>",
        ] {
            let text = format!("She {token} left.");
            assert_eq!(anywhere(&text).first(), Some(&(4..4 + token.len())), "{token}");
            assert_eq!(leading(&format!("{token} She left.")), Some(token.len()), "{token}");
            assert_eq!(trailing(&format!("Left. {token}")), Some(6), "{token}");
        }
        for text in ["a < b | c > d", "[MALE] left.", "<3", "<|>", "[sic]", "<newline>", "<|a.b|>"]
        {
            assert_eq!(anywhere(text), [], "{text}");
        }
    }

    #[test]
    fn an_answer_may_begin_with_its_label() {
        assert_eq!(leading("Assistant: Once there was a well."), Some(10));
        assert_eq!(leading("### Response:\nOnce there was a well."), Some(13));
        assert_eq!(leading("**AI:** Once there was a well."), Some(7));
        assert_eq!(leading("Assistants came and went."), None);
        assert_eq!(leading("AI: Who is there?\nTOM: Only me.\nAI: Come in."), None);
    }

    #[test]
    fn a_turn_of_the_user_reaches_to_the_answer() {
        let text = "[INST] Write a story. [/INST] Once";
        assert_eq!(user_turn(text), text.find("[/INST]"));
        let text = "User: Write a story.\nAssistant: Once";
        assert_eq!(user_turn(text), text.find("\nAssistant"));
        assert_eq!(user_turn("User: Write a story."), None);
    }

    #[test]
    fn the_next_turn_and_tokens_that_were_cut_are_found_at_the_end() {
        assert_eq!(trailing("She left.\n\nHuman:"), Some(11));
        assert_eq!(trailing("She left. <|im_e"), Some(10));
        assert_eq!(trailing("He is human."), None);
    }
}
