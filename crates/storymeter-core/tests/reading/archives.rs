//! Archives of Inspect that no honest program writes.

use std::io::Write;

use rawzip::{CompressionMethod, ZipArchiveWriter};
use storymeter_core::read::{Format, ReadOptions};

use crate::folder::{error, error_with, stories};

const HEADER: &str = r#"{"eval": {"task": "t", "model": "m"}}"#;
const SAMPLE: &str =
    r#"{"id": 1, "epoch": 1, "output": {"choices": [{"message": {"content": "It opened."}}]}}"#;

/// An archive of compressed parts.
fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in parts {
        let file = writer.new_file(name).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let packed = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
        let mut content_writer = config.wrap(packed);
        content_writer.write_all(content).unwrap();
        let (packed, descriptor) = content_writer.finish().unwrap();
        packed.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn log() -> Vec<u8> {
    archive(&[("header.json", HEADER.as_bytes()), ("samples/1_epoch_1.json", SAMPLE.as_bytes())])
}

#[test]
fn parts_may_be_compressed_with_deflate() {
    let read = stories("a.eval", log());
    let found = (read[0].id.as_str(), read[0].system.as_deref(), read[0].text.as_str());
    assert_eq!(found, ("t/1", Some("m"), "It opened."));
}

#[test]
fn a_part_is_unpacked_up_to_the_limit() {
    let bomb = vec![b' '; 30 << 20];
    let bytes = archive(&[("header.json", HEADER.as_bytes()), ("samples/1.json", &bomb)]);
    assert!(bytes.len() < 1 << 16);
    let options = ReadOptions::default().with(|it| it.max_line = 1 << 20);
    assert_eq!(
        error_with("a.eval", bytes, &options),
        "a.eval:1: samples/1.json: the sample has more than 1048576 bytes"
    );
}

#[test]
fn parts_do_not_lie_in_each_other() {
    let honest = log();
    let directory = honest.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    let end = honest.len() - 22;
    let second = directory
        + 4
        + honest[directory + 4..].windows(4).position(|part| part == b"PK\x01\x02").unwrap();
    let mut bytes = honest[..end].to_vec();
    // The same sample a hundred times.
    (0..99).for_each(|_| bytes.extend(&honest[second..end]));
    let size = (bytes.len() - directory) as u32;
    bytes.extend(&honest[end..]);
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].copy_from_slice(&[101, 0, 101, 0]);
    bytes[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
    assert_eq!(error("a.eval", bytes), "a.eval: the parts of the archive overlap");
}

#[test]
fn an_archive_of_something_else_is_refused() {
    let document = archive(&[("word/document.xml", b"<x/>")]);
    let message = error("a.eval", &document);
    assert!(message.starts_with("a.eval: this archive is no log of Inspect"), "{message}");
    assert!(error("a.docx", &document).contains("a document of an office program"));
    let wrong = archive(&[("header.json", b"{\"eval\": 7}")]);
    assert_eq!(
        error("a.eval", wrong),
        "a.eval: header.json: eval is a number; an object is needed"
    );
    let sample =
        archive(&[("header.json", HEADER.as_bytes()), ("samples/1.json", b"{\"output\": 3}")]);
    assert_eq!(
        error("a.eval", sample),
        "a.eval:1: samples/1.json: output is a number; an object is needed"
    );
    let options = ReadOptions::default().with(|it| it.format = Some(Format::Inspect));
    let message = error_with("a.eval", b"PK\x03\x04 and more", &options);
    assert!(message.starts_with("a.eval: not a valid archive: "), "{message}");
}
