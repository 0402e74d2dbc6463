//! Reads CSV, TSV and HANNA's rows from any bytes.
//!
//! Reading gives stories or errors and never panics. Stories that were read are written as CSV and
//! read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storymeter_core::Story;
use storymeter_core::read::{Format, ReadOptions, from_reader};
use storymeter_core::write::{Layout, StoryWriter};

fn read(bytes: Vec<u8>, format: Format) -> Vec<Story> {
    let options = ReadOptions {
        format: Some(format),
        skip_bad: true,
        max_line: 4096,
        ..ReadOptions::default()
    };
    let records = from_reader("fuzz", std::io::Cursor::new(bytes), &options);
    records.filter_map(|record| record.ok().map(|record| record.story)).collect()
}

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Csv, Format::Tsv, Format::HannaAnnotations] {
        let stories = read(bytes.to_vec(), format);
        for story in &stories {
            assert!(!story.text.trim().is_empty() && !story.id.is_empty());
            let sentences: Vec<&str> =
                story.sentences.iter().map(|range| &story.text[range.clone()]).collect();
            assert!(sentences.is_empty() || sentences.join(" ") == story.text);
        }
        let mut writer = StoryWriter::new(Vec::new(), Layout::Csv).unwrap();
        stories.iter().for_each(|story| writer.write(story).unwrap());
        let again = read(writer.finish().unwrap(), Format::Csv);
        // Quotes and added columns may push a record over the limit. All others come back
        // unchanged.
        for story in &again {
            assert!(stories.iter().any(|first| first.text.replace("\r\n", "\n") == story.text));
        }
    }
});
