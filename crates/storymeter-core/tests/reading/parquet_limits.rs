//! Parquet files that claim what is not so, or stand for far more than their bytes.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use storymeter_core::read::{ReadOptions, is_score_table};

use crate::folder::Folder;
use crate::parquet_rows::write;

/// Writes one column of texts. The levels of definition and repetition are those of lists.
fn write_texts(
    folder: &Folder,
    schema: &str,
    properties: WriterProperties,
    texts: &[ByteArray],
    levels: Option<(&[i16], &[i16])>,
) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(folder.path("a.parquet")).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut cells) = group.next_column().unwrap() {
        let (defined, repeated) = levels.unzip();
        // The schemas of the tests have a required column of stories and one of lists, or either.
        let lists = cells.typed::<ByteArrayType>();
        match (lists.get_descriptor().max_rep_level(), defined, repeated) {
            (0, _, Some(repeated)) => {
                let rows = repeated.iter().filter(|level| **level == 0).count();
                lists.write_batch(&vec![ByteArray::from("Rain."); rows], None, None).unwrap();
            }
            (0, ..) => drop(lists.write_batch(texts, None, None).unwrap()),
            _ => drop(lists.write_batch(texts, defined, repeated).unwrap()),
        }
        cells.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

const STORIES: &str = "message stories { REQUIRED BYTE_ARRAY story (UTF8); }";

const LISTS: &str = "message stories {
    REQUIRED BYTE_ARRAY story (UTF8);
    REQUIRED GROUP reference (LIST) { REPEATED GROUP list { REQUIRED BYTE_ARRAY element (UTF8); } }
}";

fn packed() -> WriterProperties {
    WriterProperties::builder().set_compression(Compression::ZSTD(Default::default())).build()
}

#[track_caller]
fn refused(folder: &Folder, options: &ReadOptions, expected: &str) {
    let message = folder.read(&["a.parquet"], options).unwrap_err().to_string();
    assert_eq!(folder.shown(&message), expected);
}

/// One bit that is wrong must not lose a row without a word.
#[test]
fn a_flipped_bit_never_loses_a_row() {
    let folder = Folder::new();
    write(&folder, "a.parquet", "story", Compression::UNCOMPRESSED);
    let whole = std::fs::read(folder.path("a.parquet")).unwrap();
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        folder.add("b.parquet", damaged);
        if let Ok((stories, _)) = folder.read(&["b.parquet"], &ReadOptions::default()) {
            assert_eq!(stories.len(), 2, "bit {bit}");
        }
    }
}

#[test]
fn numbers_of_rows_that_differ_are_an_error() {
    let folder = Folder::new();
    write_texts(&folder, STORIES, packed(), &vec![ByteArray::from("Rain fell."); 100], None);
    let whole = std::fs::read(folder.path("a.parquet")).unwrap();
    // 100 as a number of the footer, in zigzag: values of the column, rows of the group, and rows
    // of the file. The first one is in the header of the page.
    let found: Vec<usize> = memchr::memmem::find_iter(&whole, &[0xc8, 0x01]).collect();
    let mut problems: Vec<String> = Vec::new();
    for at in found {
        let mut damaged = whole.clone();
        damaged[at] = 0xc6;
        folder.add("a.parquet", damaged);
        let message = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap_err();
        problems.push(folder.shown(&message.to_string()));
    }
    let expected = [
        "this row and those after it cannot be read: Parquet error: column \"story\": its pages \
         have 99 values, and it claims 100",
        "this row and those after it cannot be read: Parquet error: column \"story\": it has 99 \
         values for 100 rows",
        "not valid Parquet: Parquet error: the footer claims 100 rows, and the row groups 99",
        "not valid Parquet: Parquet error: the footer claims 99 rows, and the row groups 100",
    ];
    for problem in expected {
        assert!(problems.iter().any(|found| found.contains(problem)), "{problem}: {problems:#?}");
    }
}

#[test]
fn a_row_has_a_limit_whatever_its_bytes_in_the_file_are() {
    let folder = Folder::new();
    let long = ByteArray::from("a".repeat(2000).as_str());
    let texts = [ByteArray::from("Rain fell."), long.clone(), ByteArray::from("It stopped.")];
    write_texts(&folder, STORIES, packed(), &texts, None);
    let options = ReadOptions::default().with(|it| it.max_line = 1000);
    refused(&folder, &options, "a.parquet:2: the row has 2000 bytes, but at most 1000 are read");
    let skipping = options.with(|it| it.skip_bad = true);
    let (stories, skipped) = folder.read(&["a.parquet"], &skipping).unwrap();
    assert_eq!((stories.len(), skipped.count), (2, 1));
}

/// 400,000 times the same text of 10,000 bytes in one list: 4 GB from a few hundred bytes.
#[test]
fn a_list_is_weighed_before_it_is_put_together() {
    let folder = Folder::new();
    let texts = vec![ByteArray::from("a".repeat(10_000).as_str()); 400_001];
    let mut repeated = vec![1; texts.len()];
    (repeated[0], repeated[1]) = (0, 0);
    write_texts(&folder, LISTS, packed(), &texts, Some((&vec![1; texts.len()], &repeated)));
    assert!(std::fs::metadata(folder.path("a.parquet")).unwrap().len() < 4000);
    refused(
        &folder,
        &ReadOptions::default(),
        "a.parquet:2: this row and those after it cannot be read: Parquet error: the row has \
         4025600000 bytes, but at most 67108864 are read",
    );
}

/// Values that share their beginnings, and lists of lengths, are read as other values are.
#[test]
fn all_encodings_of_texts_are_read() {
    let texts: Vec<ByteArray> =
        (0..3000).map(|n| ByteArray::from(format!("Rain fell on day {n}.").as_str())).collect();
    for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
    {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let folder = Folder::new();
            let properties = WriterProperties::builder()
                .set_dictionary_enabled(false)
                .set_encoding(encoding)
                .set_writer_version(version)
                .set_data_page_row_count_limit(500)
                .set_write_batch_size(100)
                .set_compression(Compression::GZIP(Default::default()))
                .build();
            let repeated: Vec<i16> = (0..3000).map(|n| i16::from(n % 3 > 0)).collect();
            write_texts(&folder, LISTS, properties, &texts, Some((&[1; 3000], &repeated)));
            let (stories, _) = folder.read(&["a.parquet"], &ReadOptions::default()).unwrap();
            assert_eq!(stories.len(), 1000);
            assert_eq!(stories[999].references[2], "Rain fell on day 2999.");
        }
    }
}

/// A number in Thrift's compact protocol, without its sign.
fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A file without rows, whose second column has so many groups in each other.
fn nested(depth: usize) -> Vec<u8> {
    let text =
        |name: &str| [&[0x15, 12, 0x25, 0, 0x18, name.len() as u8], name.as_bytes()].concat();
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    footer.extend(varint(depth + 3));
    // The root with two members, a column of stories, and the groups with one member each.
    footer.extend([0x48, 4, b'r', b'o', b'o', b't', 0x15, 4, 0]);
    footer.extend([text("story"), vec![0]].concat());
    for _ in 0..depth {
        footer.extend([0x35, 0, 0x18, 1, b'g', 0x15, 2, 0]);
    }
    footer.extend([text("leaf"), vec![0]].concat());
    // No rows and no row groups.
    footer.extend([0x16, 0, 0x19, 0x0c, 0]);
    [b"PAR1", &footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn a_deep_schema_is_refused_before_it_overflows_the_stack() {
    let folder = Folder::with("a.parquet", nested(20));
    refused(&folder, &ReadOptions::default(), "a.parquet: the input has no story");
    for depth in [200, 5000, 200_000] {
        folder.add("a.parquet", nested(depth));
        refused(
            &folder,
            &ReadOptions::default(),
            "a.parquet: not valid Parquet: Parquet error: its schema has more than 100 levels",
        );
        is_score_table(&nested(depth));
    }
}
