//! What many messages say, said once.
//!
//! Forty files without a header, or twelve metrics without a value for the same story, give the
//! same sentence forty or twelve times. A reader of it wants to read it once, with the number.

use std::fmt;

/// How many subjects are named beside the first one. The number of all of them is given.
const NAMED: usize = 4;

/// A message about one subject or more, such as files or metrics.
///
/// ```
/// use storymeter_core::repeated::Repeated;
/// let notes = ["a.csv: there is no header", "b.csv: it is empty", "c.csv: there is no header"];
/// let once: Vec<String> = Repeated::gathered(&notes).iter().map(ToString::to_string).collect();
/// assert_eq!(once, ["a.csv: there is no header (also c.csv)", "b.csv: it is empty"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// What the message is about, in the order in which it was said.
    pub subjects: Vec<String>,
    /// What it says of them.
    pub message: String,
}

impl Repeated {
    /// Gathers messages of the form `subject: message`. A message without a subject is kept once.
    pub fn gathered(messages: &[impl AsRef<str>]) -> Vec<Self> {
        let parts = messages.iter().map(|text| {
            let (subject, message) = text.as_ref().split_once(": ").unwrap_or(("", text.as_ref()));
            ((), subject.to_owned(), message.to_owned())
        });
        Self::gathered_by(parts).into_iter().map(|((), one)| one).collect()
    }

    /// Gathers kinds of messages, their subjects, and what is said of them.
    pub fn gathered_by<K: PartialEq>(
        messages: impl IntoIterator<Item = (K, String, String)>,
    ) -> Vec<(K, Self)> {
        let mut all: Vec<(K, Self)> = Vec::new();
        for (kind, subject, message) in messages {
            match all.iter_mut().find(|(own, one)| *own == kind && one.message == message) {
                Some((_, one)) if one.subjects.contains(&subject) => {}
                Some((_, one)) => one.subjects.push(subject),
                None => all.push((kind, Self { subjects: vec![subject], message })),
            }
        }
        all
    }
}

impl fmt::Display for Repeated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.subjects.split_first() else {
            return f.write_str(&self.message);
        };
        match first.as_str() {
            "" => f.write_str(&self.message)?,
            first => write!(f, "{first}: {}", self.message)?,
        }
        // Subjects may have commas, such as the row and the column of a cell.
        let named = others.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
        match others.len() {
            0 => Ok(()),
            count if count <= NAMED => write!(f, " (also {named})"),
            count => {
                write!(f, " (also {named}; and {} more, {} in all)", count - NAMED, count + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_many_files_share_is_said_once_with_the_number() {
        let notes: Vec<String> =
            (0..49).map(|n| format!("part-{n}.jsonl: there is no header")).collect();
        let once = Repeated::gathered(&notes);
        assert_eq!(once.len(), 1);
        let named = "part-1.jsonl; part-2.jsonl; part-3.jsonl; part-4.jsonl";
        let wanted =
            format!("part-0.jsonl: there is no header (also {named}; and 44 more, 49 in all)");
        assert_eq!(once[0].to_string(), wanted);
    }

    #[test]
    fn other_messages_stay_apart_and_in_order() {
        let notes = ["b: one", "no subject", "a: two", "no subject", "a: one", "a: one"];
        let once: Vec<String> =
            Repeated::gathered(&notes).iter().map(ToString::to_string).collect();
        assert_eq!(once, ["b: one (also a)", "no subject", "a: two"]);
    }

    #[test]
    fn kinds_are_kept_apart() {
        let said = |kind, subject: &str| (kind, subject.to_owned(), "it is rare".to_owned());
        let once = Repeated::gathered_by([said(1, "a"), said(2, "b"), said(1, "c")]);
        let subjects: Vec<_> = once.iter().map(|(kind, one)| (*kind, one.subjects.len())).collect();
        assert_eq!(subjects, [(1, 2), (2, 1)]);
    }
}
