//! Stories in every format.

use std::io::Cursor;
use std::path::Path;

use storymeter_core::Story;
use storymeter_core::read::{
    DuplicateIds, FieldNames, Format, RawRecords, ReadOptions, from_reader, open,
};
use storymeter_core::write::{Layout, StoryWriter};

fn options(format: Option<Format>) -> ReadOptions {
    let duplicates = DuplicateIds::Renumber;
    ReadOptions::default().with(|it| {
        it.format = format;
        it.duplicates = duplicates;
        it.skip_bad = true;
        it.max_line = 4096;
    })
}

fn read(bytes: Vec<u8>, options: &ReadOptions) -> Vec<Story> {
    let records = from_reader("fuzz", Cursor::new(bytes), options);
    records.filter_map(|record| record.ok().map(|record| record.story)).collect()
}

/// JSONL that was read is written and read back unchanged.
pub fn jsonl(bytes: &[u8]) {
    let options =
        options(Some(Format::Jsonl)).with(|it| it.max_line = ReadOptions::default().max_line);
    let stories = read(bytes.to_vec(), &options);
    written_and_read_back(&stories, &options);
}

/// JSON documents, with the format given or recognised. Stories that were read are written as JSONL
/// and read back unchanged.
pub fn json(bytes: &[u8]) {
    for format in [Some(Format::Json), None] {
        let stories = read(bytes.to_vec(), &options(format));
        let max_line = ReadOptions::default().max_line;
        written_and_read_back(
            &stories,
            &options(Some(Format::Jsonl)).with(|it| it.max_line = max_line),
        );
    }
}

/// OpenMEVA's rated stories. Stories that were read are written as JSONL and read back unchanged,
/// and their ratings are compared with made-up scores.
pub fn mags(bytes: &[u8]) {
    for format in [Some(Format::Mags), None] {
        let stories = read(bytes.to_vec(), &options(format));
        let max_line = ReadOptions::default().max_line;
        written_and_read_back(
            &stories,
            &options(Some(Format::Jsonl)).with(|it| it.max_line = max_line),
        );
        if bytes.len() <= 4000 {
            crate::meta::human_tasks(&stories);
        }
    }
}

/// Outputs of tools that evaluate models. The first byte names the tool, or none. Stories that were
/// read are written as JSONL and read back unchanged.
pub fn tools(bytes: &[u8]) {
    let formats = [
        Format::LmEval,
        Format::Promptfoo,
        Format::Inspect,
        Format::EqBench,
        Format::OpenAi,
        Format::ShareGpt,
    ];
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let format = formats.get(usize::from(first.wrapping_sub(b'0'))).copied();
    let stories = read(bytes.to_vec(), &options(format));
    let max_line = ReadOptions::default().max_line;
    written_and_read_back(
        &stories,
        &options(Some(Format::Jsonl)).with(|it| it.max_line = max_line),
    );
}

/// Names that are paths, in JSONL. Every story has a text of the record.
pub fn nested(bytes: &[u8]) {
    let fields = FieldNames::default().with(|it| it.story = Some("a.0.b".to_owned()));
    let options = options(Some(Format::Jsonl)).with(|it| it.fields = fields);
    for story in read(bytes.to_vec(), &options) {
        assert!(!story.text.trim().is_empty() && !story.id.is_empty());
    }
}

/// Frames of Zstandard. A small file can unpack to far more than its size, so only some records are
/// read.
pub fn zstandard(bytes: &[u8]) {
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd];
    packed.extend_from_slice(bytes);
    for format in [Format::Lines, Format::Json] {
        let records = from_reader("fuzz", Cursor::new(packed.clone()), &options(Some(format)));
        for record in records.take(200).flatten() {
            assert!(!record.story.text.trim().is_empty() && !record.story.id.is_empty());
        }
    }
}

fn written_and_read_back(stories: &[Story], options: &ReadOptions) {
    let mut writer = StoryWriter::new(Vec::new(), Layout::Jsonl).unwrap();
    for story in stories {
        assert!(!story.text.trim().is_empty() && !story.id.is_empty());
        writer.write(story).unwrap();
    }
    assert_eq!(read(writer.finish().unwrap(), options), stories);
}

/// CSV, TSV and HANNA's rows that were read are written as CSV and read back.
pub fn delimited(bytes: &[u8]) {
    for format in [Format::Csv, Format::Tsv, Format::HannaAnnotations] {
        let stories = read(bytes.to_vec(), &options(Some(format)));
        for story in &stories {
            assert!(!story.text.trim().is_empty() && !story.id.is_empty());
            let sentences: Vec<&str> =
                story.sentences.iter().map(|range| &story.text[range.clone()]).collect();
            assert!(sentences.is_empty() || sentences.join(" ") == story.text);
        }
        let mut writer = StoryWriter::new(Vec::new(), Layout::Csv).unwrap();
        stories.iter().for_each(|story| writer.write(story).unwrap());
        let again = read(writer.finish().unwrap(), &options(Some(Format::Csv)));
        // Quotes and added columns may push a record over the limit. All others come back
        // unchanged.
        for story in &again {
            assert!(stories.iter().any(|first| first.text.replace("\r\n", "\n") == story.text));
        }
    }
}

/// The text layouts, with the format given or recognised, gzip included. Records are in order and
/// numbered without gaps.
pub fn text(bytes: &[u8]) {
    let forced =
        [Format::Text, Format::Blocks, Format::Lines, Format::UnionAnnotations, Format::RocBlocks];
    for format in forced.into_iter().map(Some).chain([None]) {
        let options = ReadOptions::default().with(|it| {
            it.format = format;
            it.max_line = 4096;
        });
        let name = Path::new("fuzz.txt");
        let raw = RawRecords::from_reader(name, Cursor::new(bytes.to_vec()), &options);
        let mut line = 0;
        for (number, record) in raw.filter_map(Result::ok).enumerate() {
            assert_eq!(record.number(), number as u64);
            let place = record.place();
            assert!(place.line > Some(line) || format.is_none());
            line = place.line.unwrap_or_default();
            if let Ok(record) = record.parse() {
                assert!(!record.story.text.trim().is_empty());
                let blocks = format == Some(Format::Blocks);
                assert!(!(blocks && record.story.text.contains("\n\n")));
            }
        }
    }
}

/// Parquet. A file of a few bytes can say that it has many rows, so only some are read.
pub fn parquet(bytes: &[u8]) {
    let path = crate::written("fuzz.parquet", bytes);
    let options = options(Some(Format::Parquet));
    for record in open(&[path], &options).into_iter().flatten().take(200).flatten() {
        assert!(!record.story.text.trim().is_empty() && !record.story.id.is_empty());
    }
}
