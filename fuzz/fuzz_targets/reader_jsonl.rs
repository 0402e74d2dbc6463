//! Reads JSONL from any bytes.
//!
//! Reading gives stories or errors and never panics. Stories that were read are written and read
//! back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storymeter_core::Story;
use storymeter_core::read::{Format, ReadOptions, from_reader};
use storymeter_core::write::{Layout, StoryWriter};

fn read(bytes: Vec<u8>) -> Vec<Story> {
    let options =
        ReadOptions { format: Some(Format::Jsonl), skip_bad: true, ..ReadOptions::default() };
    let records = from_reader("fuzz", std::io::Cursor::new(bytes), &options);
    records.filter_map(|record| record.ok().map(|record| record.story)).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let stories = read(bytes.to_vec());
    let mut writer = StoryWriter::new(Vec::new(), Layout::Jsonl).unwrap();
    for story in &stories {
        assert!(!story.text.trim().is_empty() && !story.id.is_empty());
        writer.write(story).unwrap();
    }
    assert_eq!(read(writer.finish().unwrap()), stories);
});
