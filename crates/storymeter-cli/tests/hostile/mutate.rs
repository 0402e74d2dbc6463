//! Spoils the bytes of a file.

#![allow(clippy::ptr_arg, reason = "all changes have one type")]

use std::io::Write as _;

use crate::draw::Draw;
use crate::formats::Zstandard;

/// Files stay below this size, so that a case takes little time.
const MOST: usize = 3 << 20;

/// Numbers that parsers and arithmetic stumble over.
const NUMBERS: [&str; 22] = [
    "NaN",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "0",
    "-1",
    "1e308",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "-9223372036854775809",
    "4294967296",
    "99999999999999999999999999999999999999999",
    "0.1e",
    "0x1F",
    "1_000",
    "٣",
];

/// Texts that terminals, spreadsheets, browsers and file names stumble over.
pub const TEXTS: [&str; 22] = [
    "",
    " ",
    "\u{1b}[2J\u{1b}[31mred",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{202e}txet",
    "\u{2028}",
    "\u{feff}",
    "\u{0}",
    "\r",
    "a\nb",
    "\t",
    "=HYPERLINK(\"http://x\")",
    "../../x",
    "/",
    "a/b",
    "</script><script>alert(1)</script>",
    "]]>",
    "\\",
    "\"",
    "🙂👩‍👩‍👧",
    "e\u{301}\u{301}\u{301}",
];

type Change = fn(&mut Vec<u8>, &mut Draw, &[u8]);

/// All ways to spoil a file. The third argument is the content of some other file.
const CHANGES: [Change; 32] = [
    flip_bits,
    flip_bits,
    set_bytes,
    truncate,
    truncate,
    cut_out,
    insert_noise,
    repeat_line,
    repeat_line,
    drop_line,
    swap_lines,
    repeat_range,
    splice,
    other_number,
    other_number,
    other_number,
    other_text,
    other_text,
    other_text,
    nest,
    break_utf8,
    utf16,
    insert_text,
    insert_text,
    long_line,
    empty,
    repeat_key,
    line_ends,
    byte_order_mark,
    gzip,
    zstandard,
    huge_length,
];

/// Spoils the content in one to three ways.
pub fn mutate(mut bytes: Vec<u8>, draw: &mut Draw, other: &[u8]) -> Vec<u8> {
    for _ in 0..1 + draw.below(3) / 2 + draw.below(4) / 3 {
        CHANGES[draw.below(CHANGES.len())](&mut bytes, draw, other);
        bytes.truncate(MOST);
    }
    bytes
}

fn flip_bits(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    for _ in 0..1 + draw.below(4) {
        let at = draw.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << draw.below(8);
        }
    }
}

fn set_bytes(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let value = [0, 0xff, 0x7f, 0x80, b'"', b'{', b'[', b',', b'\n', b'|'][draw.below(10)];
    let (at, length) = (draw.below(bytes.len()), 1 + draw.below(16));
    bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = value);
}

fn truncate(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let keep = if draw.once_in(2) {
        draw.below(bytes.len())
    } else {
        bytes.len().saturating_sub(1 + draw.below(12))
    };
    bytes.truncate(keep);
}

fn cut_out(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let range = range(bytes, draw, 200);
    bytes.drain(range);
}

fn insert_noise(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let noise: Vec<u8> = (0..1 + draw.below(60)).map(|_| draw.next() as u8).collect();
    insert(bytes, draw, &noise);
}

fn repeat_line(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let lines = lines(bytes);
    let line = lines[draw.below(lines.len())].clone();
    let copy = bytes[line.clone()].repeat(1 + draw.below(3));
    bytes.splice(line.end..line.end, copy);
}

fn drop_line(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let lines = lines(bytes);
    // The first line often is a header.
    let at = if draw.once_in(3) { 0 } else { draw.below(lines.len()) };
    bytes.drain(lines[at].clone());
}

fn swap_lines(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let mut lines: Vec<Vec<u8>> =
        lines(bytes).into_iter().map(|line| bytes[line].to_vec()).collect();
    let (a, b) = (draw.below(lines.len()), draw.below(lines.len()));
    lines.swap(a, b);
    *bytes = lines.concat();
}

fn repeat_range(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let range = range(bytes, draw, 300);
    let copy = bytes[range].repeat(1 + draw.below(40));
    insert(bytes, draw, &copy);
}

fn splice(bytes: &mut Vec<u8>, draw: &mut Draw, other: &[u8]) {
    bytes.truncate(draw.below(bytes.len()));
    bytes.extend(&other[draw.below(other.len()).min(other.len())..]);
}

fn other_number(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let isolated = |at: usize| {
        bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric())
    };
    let starts: Vec<usize> = (0..bytes.len()).filter(|at| isolated(*at)).collect();
    let Some(start) = starts.get(draw.below(starts.len())).copied() else { return };
    let length =
        bytes[start..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    bytes.splice(start..start + length, draw.pick(&NUMBERS).bytes());
}

fn other_text(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let mut text = draw.pick(&TEXTS).to_owned();
    let quotes: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'"').collect();
    if quotes.len() < 2 {
        return insert(bytes, draw, text.as_bytes());
    }
    // In JSON, most of these texts must be escaped in order to arrive.
    if !draw.once_in(4) {
        let quoted = serde_json::to_string(&text).unwrap_or_default();
        text = quoted[1..quoted.len() - 1].to_owned();
    }
    let at = draw.below(quotes.len() - 1);
    bytes.splice(quotes[at] + 1..quotes[at + 1], text.into_bytes());
}

fn nest(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let depth = [10, 127, 128, 129, 1000, 100_000][draw.below(6)];
    let (open, close) = [("[", "]"), ("{\"a\":", "}"), ("(", ")"), ("\"", "\"")][draw.below(4)];
    let close = if draw.once_in(2) { close.repeat(depth) } else { String::new() };
    insert(bytes, draw, format!("{}1{close}", open.repeat(depth)).as_bytes());
}

fn break_utf8(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let broken: &[u8] = draw.pick(&[
        &b"\xff"[..],
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xc0\xaf",
        b"\xe2\x82",
    ]);
    insert(bytes, draw, broken);
}

fn utf16(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (big, mark) = (draw.once_in(2), draw.once_in(2));
    let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
    *bytes =
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect();
}

fn insert_text(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let text = draw.pick(&TEXTS);
    insert(bytes, draw, text.as_bytes());
}

fn long_line(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let length = [1 << 12, 1 << 16, 1 << 20, 2 << 20][draw.below(4)];
    let piece = draw.pick(&["a", "word ", "Rain fell. ", "9", "\"", ",", "\t", "é", "[", "|||"]);
    insert(bytes, draw, piece.repeat(length / piece.len()).as_bytes());
}

fn empty(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    *bytes = draw.pick(&["", "\n", "\n\n\n", " ", "\0", "{}", "[]", "null", "{}\n{}\n"]).into();
}

/// Writes a key of a JSON object a second time, with the same value or another one.
fn repeat_key(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let colons: Vec<usize> =
        (1..bytes.len()).filter(|at| bytes[*at] == b':' && bytes[*at - 1] == b'"').collect();
    let Some(colon) = colons.get(draw.below(colons.len())).copied() else { return };
    let Some(start) = bytes[..colon - 1].iter().rposition(|byte| *byte == b'"') else { return };
    let key = bytes[start..=colon].to_vec();
    let value = draw.pick(&["1", "\"again\"", "null", "[]", "{}", "\"\"", "true"]);
    bytes.splice(start..start, [key, value.into(), b",".to_vec()].concat());
}

fn line_ends(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let end: &[u8] = draw.pick(&[&b"\r\n"[..], b"\r", b"\n\n", b"\n\r", b"\0\n"]);
    *bytes = bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(end);
}

fn byte_order_mark(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let mark: &[u8] =
        draw.pick(&[&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff", b"PAR1", b"\x1f\x8b"]);
    bytes.splice(0..0, mark.iter().copied());
}

fn gzip(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let _ = zip.write_all(bytes);
    *bytes = zip.finish().unwrap_or_default();
    if draw.once_in(2) {
        flip_bits(bytes, draw, &[]);
    }
    if draw.once_in(3) {
        truncate(bytes, draw, &[]);
    }
}

fn zstandard(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let mut file = Zstandard::new();
    file.copied(bytes);
    if draw.once_in(2) {
        file.repeated(bytes.last().copied().unwrap_or_default(), draw.below(16));
    }
    *bytes = file.finish();
    if draw.once_in(3) {
        flip_bits(bytes, draw, &[]);
    }
}

/// Writes a huge number where a binary file may have a length.
fn huge_length(bytes: &mut Vec<u8>, draw: &mut Draw, _: &[u8]) {
    let huge: [u64; 5] = [u64::MAX, i64::MAX as u64, u64::from(u32::MAX), 1 << 40, 1 << 31];
    let huge = huge[draw.below(5)].to_le_bytes();
    let length = if draw.once_in(2) { 4 } else { 8 };
    // Lengths stand near the beginning or the end.
    let at = match draw.below(3) {
        0 => draw.below(bytes.len().min(64)),
        1 => bytes.len().saturating_sub(length + draw.below(64)),
        _ => draw.below(bytes.len()),
    };
    bytes.iter_mut().skip(at).zip(&huge[..length]).for_each(|(byte, new)| *byte = *new);
}

fn insert(bytes: &mut Vec<u8>, draw: &mut Draw, new: &[u8]) {
    let at = draw.below(bytes.len() + 1);
    bytes.splice(at..at, new.iter().copied());
}

fn range(bytes: &[u8], draw: &mut Draw, most: usize) -> std::ops::Range<usize> {
    let start = draw.below(bytes.len());
    start..(start + 1 + draw.below(most)).min(bytes.len()).max(start)
}

/// The lines with their ends. There is at least one, which may be empty.
fn lines(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let mut lines: Vec<_> = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            start += line.len();
            start - line.len()..start
        })
        .collect();
    if lines.is_empty() {
        lines.push(0..0);
    }
    lines
}
