//! Reads Parquet files that the writer of the `parquet` crate has written.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use storymeter_core::read::{FieldNames, Format, ReadOptions, from_reader};

use crate::folder::Folder;

/// Writes two stories. Ids are numbers, references and ratings are lists, and the second has
/// neither.
pub fn write(folder: &Folder, name: &str, text: &str, compression: Compression) {
    let schema = format!(
        "message stories {{
            REQUIRED INT64 story_id;
            OPTIONAL BYTE_ARRAY model (UTF8);
            REQUIRED BYTE_ARRAY {text} (UTF8);
            REQUIRED DOUBLE score;
            OPTIONAL GROUP reference (LIST) {{
                REPEATED GROUP list {{ REQUIRED BYTE_ARRAY element (UTF8); }}
            }}
            OPTIONAL GROUP human {{
                OPTIONAL GROUP fun (LIST) {{ REPEATED GROUP list {{ OPTIONAL DOUBLE element; }} }}
            }}
        }}"
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer =
        SerializedFileWriter::new(File::create(folder.path(name)).unwrap(), schema, properties)
            .unwrap();
    let strings =
        |texts: &[&str]| texts.iter().map(|&text| ByteArray::from(text)).collect::<Vec<_>>();
    let mut group = writer.next_row_group().unwrap();
    let mut column = 0;
    while let Some(mut cells) = group.next_column().unwrap() {
        match column {
            0 => drop(cells.typed::<Int64Type>().write_batch(&[7, 8], None, None).unwrap()),
            1 => {
                let names = strings(&["Tale"]);
                cells.typed::<ByteArrayType>().write_batch(&names, Some(&[1, 0]), None).unwrap();
            }
            2 => {
                let texts = strings(&["A door opened.", "A cat came."]);
                cells.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            }
            3 => drop(cells.typed::<DoubleType>().write_batch(&[0.5, 0.25], None, None).unwrap()),
            4 => {
                let texts = strings(&["It shut.", "It fell."]);
                cells
                    .typed::<ByteArrayType>()
                    .write_batch(&texts, Some(&[2, 2, 0]), Some(&[0, 1, 0]))
                    .unwrap();
            }
            _ => {
                cells
                    .typed::<DoubleType>()
                    .write_batch(&[1.0, 2.5], Some(&[4, 3, 4, 0]), Some(&[0, 1, 1, 0]))
                    .unwrap();
            }
        }
        cells.close().unwrap();
        column += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn a_row_is_a_story() {
    for compression in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())]
    {
        let folder = Folder::new();
        write(&folder, "a.parquet", "story", compression);
        let (stories, _) = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap();
        assert_eq!(stories.len(), 2);
        assert_eq!((stories[0].id.as_str(), stories[0].text.as_str()), ("7", "A door opened."));
        assert_eq!(stories[0].system.as_deref(), Some("Tale"));
        assert_eq!(stories[0].references, ["It shut.", "It fell."]);
        let fun = stories[0].ratings.get("fun").unwrap();
        assert_eq!(fun, [Some(1.0), None, Some(2.5)]);
        assert_eq!((stories[1].id.as_str(), stories[1].text.as_str()), ("8", "A cat came."));
        assert!(
            stories[1].system.is_none()
                && stories[1].references.is_empty()
                && stories[1].ratings.is_empty()
        );
    }
}

#[test]
fn a_file_without_stories_names_its_columns() {
    let folder = Folder::new();
    write(&folder, "a.parquet", "tale", Compression::UNCOMPRESSED);
    let message = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(
        folder.shown(&message),
        "a.parquet: there is no column \"story\" (or \"text\", \"output\", \"completion\", \
         \"generation\", \"generated\", \"generated_text\", \"response\", \"prediction\"); the columns are: \
         story_id, model, tale, score, reference, human"
    );
    let named = |story: &str| {
        ReadOptions::default().with(|it| {
            it.fields = FieldNames::default().with(|it| it.story = Some(story.to_owned()))
        })
    };
    let (stories, _) = folder.read(&["a.parquet"], &named("tale")).unwrap();
    assert_eq!(stories[0].text, "A door opened.");
    let message = folder.read(&["a.parquet"], &named("tales")).unwrap_err().to_string();
    assert!(message.contains("no column \"tales\"; did you mean \"tale\"?"), "{message}");
    // A usual name needs no option.
    write(&folder, "b.parquet", "text", Compression::UNCOMPRESSED);
    assert_eq!(folder.read(&["b.parquet"], &ReadOptions::default()).unwrap().0, stories);
}

#[test]
fn a_truncated_file_is_an_error() {
    let folder = Folder::new();
    write(&folder, "a.parquet", "story", Compression::UNCOMPRESSED);
    let whole = std::fs::read(folder.path("a.parquet")).unwrap();
    folder.add("cut.parquet", &whole[..whole.len() - 5]);
    let message = folder.read(&["cut.parquet"], &ReadOptions::default()).unwrap_err().to_string();
    assert!(folder.shown(&message).starts_with("cut.parquet: not valid Parquet: "), "{message}");
}

/// Damages a file in many ways. A damaged file is an error or has other stories, and never ends the
/// program.
#[test]
fn a_damaged_file_is_an_error_and_never_a_panic() {
    let folder = Folder::new();
    let options = ReadOptions::default().with(|it| it.skip_bad = true);
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        write(&folder, "a.parquet", "story", compression);
        let whole = std::fs::read(folder.path("a.parquet")).unwrap();
        let step = if compression == Compression::SNAPPY { 3 } else { 1 };
        for at in (0..whole.len()).step_by(step) {
            let mut damaged = whole.clone();
            damaged[at] = [0, 0x7f, 0x80, 0xff, whole[at] ^ 1, whole[at] ^ 0x10][at % 6];
            folder.add("b.parquet", damaged);
            let _ = folder.read(&["b.parquet"], &options);
        }
    }
}

#[test]
fn a_stream_is_read_like_a_file() {
    let folder = Folder::new();
    write(&folder, "a.parquet", "story", Compression::SNAPPY);
    let (stories, _) = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap();
    let stream = File::open(folder.path("a.parquet")).unwrap();
    let read = from_reader("-", stream, &ReadOptions::default());
    let read: Vec<_> = read.map(|record| record.unwrap().story).collect();
    assert_eq!(read, stories);
    let options = ReadOptions::default().with(|it| it.format = Some(Format::Parquet));
    let wrong = from_reader("-", std::io::repeat(0), &options).next().unwrap().unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "standard input: not valid Parquet: the file does not begin with \"PAR1\""
    );
}

#[test]
fn columns_of_ratings_are_read() {
    use parquet::basic::{LogicalType, Repetition, Type as Physical};
    use parquet::schema::types::Type;
    let folder = Folder::new();
    let column = |name: &'static str, physical| {
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED)
    };
    let text = column("story", Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String));
    let columns = [
        text.build().unwrap(),
        column("human.plot", Physical::DOUBLE).build().unwrap(),
        column("human/fun", Physical::INT64).build().unwrap(),
    ];
    let schema = Type::group_type_builder("stories").with_fields(columns.map(Arc::new).to_vec());
    let file = File::create(folder.path("a.parquet")).unwrap();
    let schema = Arc::new(schema.build().unwrap());
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for at in 0.. {
        let Some(mut cells) = group.next_column().unwrap() else { break };
        match at {
            0 => {
                let texts = [ByteArray::from("Rain fell.")];
                cells.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            }
            1 => drop(cells.typed::<DoubleType>().write_batch(&[2.5], None, None).unwrap()),
            _ => drop(cells.typed::<Int64Type>().write_batch(&[4], None, None).unwrap()),
        }
        cells.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let (stories, _) = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap();
    assert_eq!(stories[0].ratings.get("plot"), Some(&[Some(2.5)][..]));
    assert_eq!(stories[0].ratings.get("fun"), Some(&[Some(4.0)][..]));
}
