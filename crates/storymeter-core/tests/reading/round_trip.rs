//! Stories that are written are read back bit for bit.

use proptest::prelude::*;
use storymeter_core::read::ReadOptions;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::{Layout, StoryWriter};
use storymeter_core::{AtomicFile, Ratings, Story};

use crate::folder::Folder;

fn story() -> impl Strategy<Value = Story> {
    let number = any::<f64>().prop_filter("JSON has no infinity", |x| x.is_finite());
    let rating = prop::option::of(number);
    let criterion = ("[a-zé\"]{1,6}", prop::collection::vec(rating, 1..4));
    // Half of the texts begin with what a spreadsheet takes for a formula, marked or not.
    let text = || prop_oneof![any::<String>(), "['=+@\t\r\n-]{1,3}[a'=, ]{0,3}"];
    let label = move || prop::option::of(text());
    (
        prop_oneof!["[^ ].{0,8}", "['=+@-]{1,3}[a'=]{0,3}"],
        label(),
        label(),
        label(),
        text(),
        prop::collection::vec(text(), 0..3),
        prop::collection::btree_map(criterion.0, criterion.1, 0..4),
    )
        .prop_map(|(id, system, item, prompt, text, references, rated)| {
            let mut ratings = Ratings::new();
            for (criterion, numbers) in &rated {
                numbers.iter().for_each(|&number| ratings.push(criterion, number));
            }
            // The full stop keeps the story from being empty, which would be an error.
            Story {
                id,
                system,
                item,
                prompt,
                text: text + ".",
                references,
                ratings,
                ..Story::default()
            }
        })
}

fn write(folder: &Folder, name: &str, layout: Layout, stories: &[Story]) {
    write_cells(folder, name, layout, stories, TextCells::Marked);
}

fn write_cells(folder: &Folder, name: &str, layout: Layout, stories: &[Story], text: TextCells) {
    let file = AtomicFile::create(folder.path(name)).unwrap();
    let mut writer = StoryWriter::new(file, layout).unwrap().text_cells(text);
    for story in stories {
        writer.write(story).unwrap();
    }
    writer.finish().unwrap().commit().unwrap();
}

proptest! {
    #[test]
    fn jsonl_reads_back_as_it_was(stories in prop::collection::vec(story(), 1..5)) {
        // No two stories have the same id.
        let numbered = stories.into_iter().enumerate();
        let stories: Vec<Story> = numbered
            .map(|(number, story)| Story { id: format!("{}{number}", story.id), ..story })
            .collect();
        let folder = Folder::new();
        write(&folder, "a.jsonl", Layout::Jsonl, &stories);
        let (read, _) = folder.read(&["a.jsonl"], &ReadOptions::default()).unwrap();
        prop_assert_eq!(read, stories);
    }

    #[test]
    fn csv_reads_back_its_columns(stories in prop::collection::vec(story(), 1..5)) {
        // CSV has no NUL, and no difference between the two ends of a line.
        let plain = |text: &str| text.replace('\0', "").replace("\r", "");
        let stories: Vec<Story> = stories
            .into_iter()
            .enumerate()
            .map(|(number, story)| Story {
                // Texts that differ in what CSV does not keep would become the same id.
                id: format!("{}.{number}", plain(&story.id)),
                system: story.system.map(|system| plain(&system)),
                item: story.item.map(|item| plain(&item)),
                prompt: story.prompt.map(|prompt| plain(&prompt)),
                text: plain(&story.text),
                references: story.references.iter().map(|text| plain(text)).collect(),
                ..story
            })
            .collect();
        for text in [TextCells::Marked, TextCells::Raw] {
            let folder = Folder::new();
            write_cells(&folder, "a.csv", Layout::Csv, &stories, text);
            let (read, _) = folder.read(&["a.csv"], &ReadOptions::default()).unwrap();
            prop_assert_eq!(read.len(), stories.len());
            for (read, story) in read.iter().zip(&stories) {
                prop_assert_eq!(&read.id, &story.id);
                prop_assert_eq!(&read.text, &story.text);
                let given = |cell: &Option<String>| cell.clone().filter(|cell| !cell.is_empty());
                prop_assert_eq!(&read.system, &given(&story.system));
                prop_assert_eq!(&read.item, &given(&story.item));
                prop_assert_eq!(&read.prompt, &given(&story.prompt));
                let reference = given(&story.references.first().cloned());
                prop_assert_eq!(read.references.first(), reference.as_ref());
            }
        }
    }
}

#[test]
fn numbers_keep_their_last_digit() {
    let mut ratings = Ratings::new();
    for number in [0.1 + 0.2, 1.0 / 3.0, f64::MIN_POSITIVE, 1e300, 4.0] {
        ratings.push("fun", Some(number));
    }
    let story = Story { id: "0".into(), text: "x".into(), ratings, ..Story::default() };
    let mut writer = StoryWriter::new(Vec::new(), Layout::Jsonl).unwrap();
    writer.write(&story).unwrap();
    assert_eq!(
        String::from_utf8(writer.finish().unwrap()).unwrap(),
        "{\"id\":\"0\",\"story\":\"x\",\"human\":{\"fun\":[0.30000000000000004,0.3333333333333333,\
         2.2250738585072014e-308,1e+300,4.0]}}\n"
    );
}
