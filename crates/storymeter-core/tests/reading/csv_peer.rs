//! Compares our CSV with that of the `csv` crate, in both directions.

use proptest::prelude::*;
use storymeter_core::Story;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{Layout, StoryWriter};

use crate::folder::stories;

/// Cells with the characters that are difficult in CSV. There is no carriage return, because `\r\n`
/// is read as `\n`.
fn cell() -> impl Strategy<Value = String> {
    "[ab\",\n é\t]{0,12}"
}

proptest! {
    #[test]
    fn what_the_crate_writes_we_read(
        rows in prop::collection::vec((cell(), "x[ab\",\n é\t]{0,12}"), 1..6),
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["prompt", "story"]).unwrap();
        for (prompt, story) in &rows {
            writer.write_record([prompt, story]).unwrap();
        }
        let read = stories("a.csv", writer.into_inner().unwrap());
        prop_assert_eq!(read.len(), rows.len());
        for (story, (prompt, text)) in read.iter().zip(&rows) {
            prop_assert_eq!(story.prompt.as_deref().unwrap_or(""), prompt);
            prop_assert_eq!(&story.text, text);
        }
    }

    #[test]
    fn what_we_write_the_crate_reads(rows in prop::collection::vec((cell(), cell()), 1..6)) {
        let writer = StoryWriter::new(Vec::new(), Layout::Csv).unwrap();
        let mut writer = writer.text_cells(TextCells::Raw);
        for (prompt, text) in &rows {
            let story = Story { prompt: Some(prompt.clone()), ..Story::from(text.as_str()) };
            writer.write(&story).unwrap();
        }
        let written = writer.finish().unwrap();
        let mut reader = csv::Reader::from_reader(written.as_slice());
        let names = ["id", "system", "item", "prompt", "story", "reference"];
        prop_assert_eq!(reader.headers().unwrap(), names.as_slice());
        let read: Vec<_> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), rows.len());
        for (record, (prompt, text)) in read.iter().zip(&rows) {
            prop_assert_eq!((&record[3], &record[4]), (prompt.as_str(), text.as_str()));
        }
    }

    /// RFC 4180 allows neither quotes inside a bare field nor text after a closing quote. We read
    /// both in the same way as the crate does.
    #[test]
    fn odd_quotes_are_read_as_the_crate_reads_them(
        first in "x[ab\" ]{0,8}",
        second in "(\"([ab,]|\"\"){0,6}\"|y)([ab ][ab\" ]{0,5})?",
        third in "(\"[ab,]{0,4}\"([ab][ab\"]{0,3})?|z)",
    ) {
        let content = format!("story,prompt,reference\n{first},{second},{third}\n");
        let mut reader = csv::Reader::from_reader(content.as_bytes());
        let theirs = reader.records().next().unwrap().unwrap();
        let ours = &stories("a.csv", &content)[0];
        prop_assert_eq!(&ours.text, &theirs[0]);
        prop_assert_eq!(ours.prompt.as_deref().unwrap_or(""), &theirs[1]);
        prop_assert_eq!(ours.references.first().map_or("", String::as_str), &theirs[2]);
    }
}
