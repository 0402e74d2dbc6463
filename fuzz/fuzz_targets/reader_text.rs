//! Reads the text layouts from any bytes, with the format given or recognised, gzip included.
//!
//! Reading gives stories or errors and never panics. Records are in order and numbered without
//! gaps.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storymeter_core::read::{Format, RawRecords, ReadOptions};

fuzz_target!(|bytes: &[u8]| {
    let forced = [Format::Paragraphs, Format::Lines, Format::UnionAnnotations, Format::RocBlocks];
    for format in forced.into_iter().map(Some).chain([None]) {
        let options = ReadOptions { format, max_line: 4096, ..ReadOptions::default() };
        let name = std::path::Path::new("fuzz.txt");
        let raw = RawRecords::from_reader(name, std::io::Cursor::new(bytes.to_vec()), &options);
        let mut line = 0;
        for (number, record) in raw.filter_map(Result::ok).enumerate() {
            assert_eq!(record.number(), number as u64);
            let place = record.place();
            assert!(place.line > Some(line) || format.is_none());
            line = place.line.unwrap_or_default();
            if let Ok(record) = record.parse() {
                assert!(!record.story.text.trim().is_empty());
                let paragraphs = format == Some(Format::Paragraphs);
                assert!(!(paragraphs && record.story.text.contains("\n\n")));
            }
        }
    }
});
