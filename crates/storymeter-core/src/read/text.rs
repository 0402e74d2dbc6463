//! Reads plain text: whole files, blocks between blank lines, and the blocks of five lines in
//! UNION's ROCStories files.

use super::cutter::Cut;
use super::lines::{Line, LineReader, is_blank};
use crate::{Error, Place, Result, Story};

/// The whole text, without blank lines at its beginning and its end; `None` if there is nothing
/// else.
pub(super) fn cut_whole(lines: &mut LineReader) -> Result<Option<Cut>> {
    let mut text = Vec::new();
    let mut begin = None;
    let mut broken = None;
    while let Some(line) = lines.next()? {
        match line {
            Line::Text(line) => {
                if begin.is_none() && is_blank(&line) {
                    continue;
                }
                begin.get_or_insert(lines.number());
                if text.len() + line.len() >= lines.max() {
                    let max = lines.max();
                    broken.get_or_insert(format!("the text has more than {max} bytes"));
                }
                if broken.is_none() {
                    text.extend_from_slice(&line);
                    text.push(b'\n');
                }
            }
            Line::Broken(problem) => {
                begin.get_or_insert(lines.number());
                broken.get_or_insert(problem);
            }
        }
    }
    text.truncate(text.trim_ascii_end().len());
    Ok(begin.map(|line| Cut { line, body: broken.map_or(Ok(text), Err) }))
}

/// The next lines up to a blank one, joined by line breaks.
///
/// A bad block is read to its end, so that its remaining lines do not pass for a story.
pub(super) fn cut_block(lines: &mut LineReader) -> Result<Option<Cut>> {
    let mut block = Vec::new();
    let mut begin = None;
    let mut broken = None;
    loop {
        match lines.next()? {
            Some(Line::Text(line)) if !is_blank(&line) => {
                begin.get_or_insert(lines.number());
                if block.len() + line.len() >= lines.max() {
                    broken.get_or_insert(format!("the block has more than {} bytes", lines.max()));
                }
                if broken.is_none() {
                    if !block.is_empty() {
                        block.push(b'\n');
                    }
                    block.extend_from_slice(&line);
                }
            }
            Some(Line::Broken(problem)) => {
                begin.get_or_insert(lines.number());
                broken.get_or_insert(problem);
            }
            end => match begin {
                None if end.is_none() => return Ok(None),
                None => {}
                Some(line) => {
                    return Ok(Some(Cut { line, body: broken.map_or(Ok(block), Err) }));
                }
            },
        }
    }
}

/// The number of lines per story in UNION's ROCStories files.
const ROC_LINES: usize = 5;

/// The next five lines. After them must come a separator line, which has no letters and no digits,
/// or the end of the file.
///
/// A block that is too long is read to its end, so that the next one begins at the right line.
pub(super) fn cut_roc_block(lines: &mut LineReader) -> Result<Option<Cut>> {
    let mut block = Vec::new();
    let mut begin = None;
    let mut count = 0;
    let mut broken = None;
    loop {
        match lines.next()? {
            Some(Line::Text(line)) if !is_separator(&line) => {
                begin.get_or_insert(lines.number());
                count += 1;
                if block.len() + line.len() >= lines.max() {
                    broken.get_or_insert(format!("the story has more than {} bytes", lines.max()));
                } else if count <= ROC_LINES {
                    block.extend_from_slice(&line);
                    block.push(b'\n');
                }
            }
            Some(Line::Broken(problem)) => {
                begin.get_or_insert(lines.number());
                count += 1;
                broken.get_or_insert(problem);
            }
            end => match begin {
                None if end.is_none() => return Ok(None),
                None => {}
                Some(line) => {
                    if count != ROC_LINES {
                        broken.get_or_insert(format!(
                            "there are {count} lines before the separator, but a story has \
                             {ROC_LINES}, one per sentence"
                        ));
                    }
                    let body = broken.map_or(Ok(block), Err);
                    return Ok(Some(Cut { line, body }));
                }
            },
        }
    }
}

/// A NUL is no separator but an error, which is found when the block is parsed.
fn is_separator(line: &[u8]) -> bool {
    !line.iter().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii() || *b == 0)
}

/// The story of a block, with its sentences.
pub(super) fn roc_story(block: &str, place: &Place) -> Result<Story> {
    let mut story = Story::default();
    for (number, line) in block.lines().enumerate() {
        let sentence = line.trim();
        if sentence.is_empty() {
            let place =
                Place { line: place.line.map(|line| line + number as u64), ..place.clone() };
            return Err(Error::invalid(place, "the sentence is empty"));
        }
        story.push_sentence(sentence);
    }
    Ok(story)
}
