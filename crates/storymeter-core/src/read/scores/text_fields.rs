//! What score files of ours say about the texts: how many words each has, and its flags.

use serde_json::Value;

use crate::read::shown::{cut, quoted};

/// The largest number of words: every whole number up to it is exact in JSON.
const MOST_WORDS: u64 = 1 << 53;

/// The largest number of flags of a text, and of characters of a flag. Both are far above what any
/// version writes.
const MOST_FLAGS: usize = 100;
const LONGEST_FLAG: usize = 100;

/// The number of words. `null` is none. What is wrong with a value is the error.
pub(super) fn words(value: &Value) -> Result<Option<u64>, String> {
    match value {
        Value::Null => Ok(None),
        value => match value.as_u64().filter(|&words| words <= MOST_WORDS) {
            Some(words) => Ok(Some(words)),
            None => Err(format!("{} is not a number of words", shown(value))),
        },
    }
}

/// The names of flags, each once. `null` is none. What is wrong with a value is the error.
pub(super) fn flags(value: &Value) -> Result<Vec<String>, String> {
    let list = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) => list,
        value => return Err(format!("{} is not a list of flags", shown(value))),
    };
    if list.len() > MOST_FLAGS {
        return Err(format!("{} flags are more than {MOST_FLAGS}", list.len()));
    }
    let mut flags: Vec<String> = Vec::with_capacity(list.len());
    for value in list {
        match value {
            Value::String(name) if flags.contains(name) => {}
            Value::String(name) if is_name(name) => flags.push(name.clone()),
            other => return Err(format!("{} is not the name of a flag", shown(other))),
        }
    }
    Ok(flags)
}

fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=LONGEST_FLAG).contains(&length) && !name.chars().any(char::is_control)
}

/// A value as a message shows it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => cut(&other.to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_whole_numbers() {
        assert_eq!(words(&json!(0)), Ok(Some(0)));
        assert_eq!(words(&json!(null)), Ok(None));
        assert_eq!(words(&json!(1u64 << 53)), Ok(Some(1 << 53)));
        for wrong in [json!(-1), json!(1.5), json!("12"), json!([1]), json!((1u64 << 53) + 1)] {
            let problem = words(&wrong).unwrap_err();
            assert!(problem.ends_with(" is not a number of words"), "{problem}");
        }
    }

    #[test]
    fn flags_are_names_and_each_is_there_once() {
        assert_eq!(flags(&json!(["cut", "list", "cut"])), Ok(vec!["cut".into(), "list".into()]));
        assert_eq!(flags(&json!(null)), Ok(Vec::new()));
        assert_eq!(flags(&json!("cut")).unwrap_err(), "\"cut\" is not a list of flags");
        assert_eq!(flags(&json!({})).unwrap_err(), "an object is not a list of flags");
        let many: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
        assert_eq!(flags(&json!(many)).unwrap_err(), "10000 flags are more than 100");
        for wrong in [json!(1), json!(""), json!("a\u{1b}[2J"), json!("x".repeat(101)), json!([])] {
            let problem = flags(&json!([wrong])).unwrap_err();
            assert!(problem.ends_with(" is not the name of a flag"), "{problem}");
            assert!(!problem.contains('\u{1b}'), "{problem}");
        }
    }
}
