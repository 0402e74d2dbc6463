//! Marks of Markdown: titles, headings, emphasis, rules, fences and lists.

use std::ops::Range;

use super::units::{head, tail};

/// A bold line with more words is no title.
const LONGEST_TITLE: usize = 12;

/// More titles in a row are an outline, not the title of a story.
const MOST_TITLES: usize = 3;

/// A row of fewer items is no list.
const FEWEST_ITEMS: usize = 3;

/// The length of a rule, a fence or a title at the beginning of a text. A title is one only if a
/// text follows.
pub(super) fn leading(text: &str) -> Option<usize> {
    let line = first_line(text);
    if is_rule(line) || is_fence(line) {
        return Some(line.len());
    }
    if let Some(length) = underlined(text) {
        return Some(length);
    }
    let mut titles = 0;
    let mut rest = text;
    while titles <= MOST_TITLES && is_title(first_line(rest)) {
        titles += 1;
        rest = rest[first_line(rest).len()..].trim_start();
    }
    let has_story = || rest.contains(char::is_alphanumeric);
    ((1..=MOST_TITLES).contains(&titles) && has_story()).then_some(line.len())
}

/// The length of a title and the line of `=` under it, which a text follows.
fn underlined(text: &str) -> Option<usize> {
    let title = first_line(text);
    let line = first_line(text.get(title.len() + 1..)?);
    let bare = line.trim_end();
    let length = title.len() + 1 + line.len();
    let words = title.split_whitespace().take(LONGEST_TITLE + 1).count();
    let is_title = bare.len() >= 3 && bare.bytes().all(|b| b == b'=') && words <= LONGEST_TITLE;
    (is_title && text[length..].contains(char::is_alphanumeric)).then_some(length)
}

/// Where a rule or a fence at the end of a text begins.
pub(super) fn trailing(text: &str) -> Option<usize> {
    let window = tail(text);
    let start = text.len() - window.len() + window.rfind('\n').map_or(0, |at| at + 1);
    let line = &text[start..];
    (is_rule(line) || is_fence(line)).then_some(start)
}

/// The first line of a text, or as much of it as a title may have.
fn first_line(text: &str) -> &str {
    let window = head(text);
    &text[..window.find('\n').unwrap_or(window.len())]
}

/// A line of at least three dashes, stars or underscores.
fn is_rule(line: &str) -> bool {
    let marks: Vec<char> = line.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    marks.len() >= 3
        && line.len() <= 200
        && matches!(marks[0], '-' | '*' | '_')
        && marks.iter().all(|mark| *mark == marks[0])
}

/// A line that opens or closes a block of code, with or without the name of a language.
fn is_fence(line: &str) -> bool {
    let name = line.trim().strip_prefix("```").map(str::trim);
    name.is_some_and(|name| name.len() <= 20 && name.chars().all(char::is_alphanumeric))
}

/// The number of bytes of `## ` and the like at the beginning of a line.
fn heading(line: &str) -> Option<usize> {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let marks = line[blanks..].bytes().take(7).take_while(|b| *b == b'#').count();
    let rest = &line[blanks + marks..];
    let text = rest.trim_start_matches([' ', '\t']);
    ((1..=6).contains(&marks) && blanks <= 3 && text.len() < rest.len() && !text.trim().is_empty())
        .then_some(line.len() - text.len())
}

/// A heading, or a bold line that is short and no sentence.
fn is_title(line: &str) -> bool {
    let line = line.trim();
    if heading(line).is_some() {
        return true;
    }
    let inner = ["***", "**", "__"]
        .into_iter()
        .find_map(|mark| line.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark)));
    inner.is_some_and(|inner| {
        let inner = inner.trim_matches(['*', '_']);
        !inner.contains("**")
            && inner.contains(char::is_alphanumeric)
            && !inner.ends_with(['.', ',', ';', ':'])
            && inner.split_whitespace().take(LONGEST_TITLE + 1).count() <= LONGEST_TITLE
    })
}

/// The marks inside a text: those of headings and fences, and the stars and underscores around
/// words. Rules between paragraphs stay, because stories have them between scenes.
pub(super) fn marks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        if is_fence(bare) {
            found.push(at..at + bare.len());
        } else if !is_rule(bare) {
            let marks = heading(bare).unwrap_or(0);
            if marks > 0 {
                found.push(at..at + marks);
            }
            emphasis(&bare[marks..], at + marks, &mut found);
        }
        at += line.len();
    }
    found
}

/// A run of stars or underscores that may open or close.
struct Run {
    mark: u8,
    range: Range<usize>,
}

/// The pairs of marks in a line: `*word*`, `**words**`, `_word_`. A mark opens before a word and
/// behind no word, and closes the other way round, so that "f**k" and "2 * 3" have none.
fn emphasis(line: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    // One place per mark and length: what was opened last and is not closed.
    let mut open: Vec<Run> = Vec::new();
    let before = found.len();
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(step) = line[at..].find(['*', '_']) {
        let start = at + step;
        let mark = bytes[start];
        let length = bytes[start..].iter().take_while(|b| **b == mark).count();
        at = start + length;
        let previous = line[..start].chars().next_back();
        let next = line[at..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        if length > 3 || previous == Some('\\') {
            continue;
        }
        let can_open = !is_space(next) && !is_word(previous);
        let can_close = !is_space(previous) && !is_word(next);
        let same = |run: &Run| run.mark == mark && run.range.len() == length;
        let opened = open.iter().rposition(same).filter(|&index| {
            can_close && line[open[index].range.end..start].contains(char::is_alphanumeric)
        });
        if let Some(index) = opened {
            let begin = open[index].range.clone();
            open.truncate(index);
            found.push(offset + begin.start..offset + begin.end);
            found.push(offset + start..offset + at);
        } else if can_open {
            open.retain(|run| !same(run));
            open.push(Run { mark, range: start..at });
        }
    }
    found[before..].sort_unstable_by_key(|range| range.start);
}

/// Rows of items with bullets or numbers. Speech behind dashes is no list.
pub(super) fn lists(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut row: Vec<&str> = Vec::new();
    let (mut at, mut start, mut end) = (0, 0, 0);
    for line in text.split_inclusive('\n').chain(["\n-"]) {
        let bare = line.trim();
        if is_item(bare) && line != "\n-" {
            if row.is_empty() {
                start = at + (line.len() - line.trim_start().len());
            }
            row.push(bare);
            end = at + line.trim_end().len();
        } else if !bare.is_empty() {
            if row.len() >= FEWEST_ITEMS && !is_speech(&row) {
                found.push(start..end);
            }
            row.clear();
        }
        at += line.len();
    }
    found
}

fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let number = (1..=3).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "));
    number || ["- ", "* ", "+ ", "• "].iter().any(|bullet| line.starts_with(bullet))
}

/// Whether most of the lines begin with a dash and end as sentences do.
fn is_speech(row: &[&str]) -> bool {
    let speech = |line: &&&str| line.starts_with('-') && line.ends_with(['.', '!', '?', '…', '"']);
    2 * row.iter().filter(speech).count() > row.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_marks(text: &str) -> String {
        let mut rest = text.to_owned();
        for range in marks(text).into_iter().rev() {
            rest.replace_range(range, "");
        }
        rest
    }

    #[test]
    fn emphasis_loses_its_marks_and_keeps_its_words() {
        for (text, rest) in [
            ("She was *very* late.", "She was very late."),
            ("**Late**, he said, and ***left***.", "Late, he said, and left."),
            ("_Late_, he said: __now__.", "Late, he said: now."),
            ("*It was **so** late.*", "It was so late."),
            ("\"*Late*\"", "\"Late\""),
            ("## Two\nHe left.", "Two\nHe left."),
            ("```text\nHe left.\n```", "\nHe left.\n"),
        ] {
            assert_eq!(without_marks(text), rest);
        }
    }

    #[test]
    fn stars_that_are_no_emphasis_stay() {
        for text in [
            "f**k this, he said, s**t!",
            "2 * 3 * 4",
            "He left.\n\n***\n\nShe stayed.\n\n* * *\n\nBoth slept.\n---",
            "snake_case_name",
            "\\*not emphasis\\*",
            "**** and ****",
            "* one\n* two",
            "the star*, see below*",
            "#blessed #1",
        ] {
            assert_eq!(without_marks(text), text);
        }
    }

    #[test]
    fn titles_rules_and_fences_stand_before_a_story() {
        for text in ["# The Well\nHe left.", "**The Well**\n\nHe left.", "---\nHe left.", "```\nHe"]
        {
            assert_eq!(leading(text), text.find('\n'), "{text}");
        }
        for text in [
            "# The Well",
            "**He left.**\nShe stayed.",
            "**He** left **her**\nShe stayed.",
            "# a\n# b\n# c\n# d\ntext",
            "- He left.\n- She stayed.",
        ] {
            assert_eq!(leading(text), None, "{text}");
        }
        assert_eq!(leading("The Well\n===\nHe left."), Some(12));
        assert_eq!(trailing("He left.\n\n---"), Some(10));
        assert_eq!(trailing("He left. ---"), None);
    }

    #[test]
    fn a_list_has_three_items_that_nobody_says() {
        let text = "She took:\n- a rope\n- a lamp\n- a map\n\nThen she left.";
        assert_eq!(lists(text).first(), Some(&(10..text.find("\n\n").unwrap())));
        assert_eq!(lists("1. Wake\n2. Eat\n3. Leave").first(), Some(&(0..23)));
        assert_eq!(lists("- Who is there?\n- Only me.\n- Come in."), []);
        assert_eq!(lists("- a rope\n- a lamp"), []);
    }
}
