//! Files that are compressed with Zstandard.

use storymeter_core::read::{ReadOptions, explanations};

use crate::folder::{Folder, error, stories};

fn zst(content: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(content.as_ref(), 3).unwrap()
}

const LINES: &str = "{\"story\": \"A door opened.\"}\n{\"story\": \"A cat came in.\"}\n";

#[test]
fn anything_may_be_compressed_in_one_frame_or_more() {
    let expected = stories("a.jsonl", LINES);
    let (first, second) = LINES.split_at(40);
    let two = [zst(first), zst(second)].concat();
    // A frame that is skipped: magic number, length, content.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc", &zst(LINES)].concat();
    for content in [zst(LINES), two, skipped] {
        for name in ["a.jsonl.zst", "a.jsonl", "a"] {
            assert_eq!(stories(name, &content), expected);
        }
    }
    let table = "id,story\n1,\"A door\nopened.\"\n";
    assert_eq!(stories("a.csv.zst", zst(table)), stories("a.csv", table));
    let read = stories("key.txt.zst", zst("A door.\n\nIt opened.\n"));
    assert_eq!((read[0].id.as_str(), read[0].text.as_str()), ("key", "A door.\n\nIt opened."));
}

#[test]
fn damaged_data_are_an_error_with_the_line() {
    let lines: String = (0..5000).map(|n| format!("{{\"story\": \"Door {n}.\"}}\n")).collect();
    let whole = zst(&lines);
    assert_eq!(
        error("a.jsonl.zst", &whole[..6]),
        "a.jsonl.zst:1: the Zstandard data end here too early: the file is incomplete"
    );
    let cut = error("a.jsonl.zst", &whole[..whole.len() - 4]);
    assert!(
        cut.ends_with("the Zstandard data end here too early: the file is incomplete"),
        "{cut}"
    );
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..].fill(0xff);
    let message = error("a.jsonl.zst", damaged);
    assert!(message.contains("the Zstandard data are damaged: "), "{message}");
    // As with gzip, the damage is one bad record, and the next file is read.
    let folder = Folder::with("a.jsonl.zst", &whole[..whole.len() - 4]);
    folder.add("b.jsonl", "{\"story\": \"last\"}\n");
    let skipping = ReadOptions::default().with(|it| it.skip_bad = true);
    let (stories, skipped) = folder.read(&["a.jsonl.zst", "b.jsonl"], &skipping).unwrap();
    assert_eq!((skipped.count, stories.last().unwrap().text.as_str()), (1, "last"));
}

#[test]
fn a_frame_cannot_ask_for_gigabytes() {
    // A frame header with a window of 2 GiB (exponent 21, mantissa 0) and an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00];
    let message = error("a.jsonl.zst", frame);
    assert!(message.contains("the Zstandard data are damaged: "), "{message}");
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn explanations_are_found_in_any_compression() {
    let lines =
        "{\"scores\": {\"m\": 1}}\n\n{\"scores\": {\"m\": 2}, \"explanation\": {\"a\": 1}}\n";
    let expected = [(1, serde_json::json!({"a": 1}))];
    for content in [lines.as_bytes().to_vec(), zst(lines), crate::folder::gzip(lines)] {
        let found = explanations("a.jsonl", std::io::Cursor::new(content)).unwrap();
        assert_eq!(found, expected);
    }
    let broken = "{\"scores\": {\"m\": 2}, \"explanation\": {\"a\": }}\n".as_bytes();
    let message = explanations("a.jsonl", broken).unwrap_err().to_string();
    assert!(message.starts_with("a.jsonl:1: field \"explanation\": wrong JSON"), "{message}");
}
