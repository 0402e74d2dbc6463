//! Scores as Parquet: what is written, and what other programs may have written.

use std::fs;
use std::fs::File;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use storymeter_core::read::{is_score_table, scores, scores_from};
use storymeter_core::write::{ScoreFormat, ScoreLine, ScoreLines, ScoreWriter};
use storymeter_core::{
    Absence, Catalogue, Column, Direction, Header, Key, Ratings, Row, ScoreTable, Value,
};

use crate::folder::Folder;

fn read(folder: &Folder, name: &str) -> storymeter_core::Result<ScoreTable> {
    scores(&folder.path(name), &Catalogue::default())
}

fn message(folder: &Folder, name: &str) -> String {
    let shown = format!("{}/", folder.path(name).parent().unwrap().display());
    read(folder, name).unwrap_err().to_string().replace(&shown, "")
}

/// The bytes of a file with `count` rows, which come in parts of `size`.
fn written(count: usize, size: usize, explained: bool) -> Vec<u8> {
    let keys: Vec<Key> = vec!["a".into(), "b:c/d".into()];
    let columns = keys.iter().map(|key| Column::metric(key.clone(), Direction::Higher));
    let header = Header::new(count as u64, 0, columns.collect());
    let lines = ScoreLines::new(ScoreFormat::Parquet, keys).explained(explained);
    let mut writer = ScoreWriter::new(Vec::new(), &lines).unwrap();
    let rows: Vec<usize> = (0..count).collect();
    for rows in rows.chunks(size) {
        let mut part = lines.part();
        for &row in rows {
            let absent = Err(Absence::because("no word"));
            let value: Value = if row % 3 == 0 { absent } else { Ok((row as f64).sqrt()) };
            let mut ratings = Ratings::new();
            (0..row % 3).for_each(|rater| ratings.push("fun", Some(rater as f64)));
            let explanation = serde_json::json!({"row": row, "why": "x".repeat(200)}).to_string();
            let line = ScoreLine {
                id: &row.to_string(),
                system: (row % 2 == 0).then_some("even"),
                item: "door",
                words: (row % 5 > 0).then_some(row as u64),
                flags: &["cut", "poem"].map(str::to_owned)[..row % 3],
                values: &[Ok(-0.0), value],
                ratings: &ratings,
                explanation: explained.then_some(explanation.as_str()),
            };
            lines.add(&mut part, &line).unwrap();
        }
        writer.write(part).unwrap();
    }
    writer.finish(&header).unwrap()
}

#[test]
fn the_bytes_do_not_depend_on_the_parts_and_groups_have_a_fixed_number_of_rows() {
    let whole = written(45_000, 45_000, false);
    assert!(whole == written(45_000, 1, false));
    assert!(whole == written(45_000, 1024, false));
    let reader = SerializedFileReader::new(bytes::Bytes::from(whole)).unwrap();
    let groups = reader.metadata().row_groups().iter().map(|group| group.num_rows());
    assert_eq!(groups.collect::<Vec<_>>(), [20_000, 20_000, 5_000]);
    let column = reader.metadata().row_group(0).column(5);
    assert!(column.compression().to_string().starts_with("ZSTD"), "{:?}", column.compression());
}

#[test]
fn columns_have_the_types_that_other_programs_expect() {
    let names = |explained: bool| {
        let reader = SerializedFileReader::new(bytes::Bytes::from(written(1, 1, explained)));
        let reader = reader.unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        let shown = columns.iter().map(|column| {
            let optional = if column.self_type().is_optional() { "?" } else { "" };
            format!("{} {}{optional}", column.name(), column.physical_type())
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let text = "id BYTE_ARRAY, system BYTE_ARRAY?, item BYTE_ARRAY, words INT64?, flags BYTE_ARRAY?, \
                a DOUBLE?, b:c/d DOUBLE?, absent BYTE_ARRAY?, human BYTE_ARRAY?";
    assert_eq!(names(false), text);
    assert_eq!(names(true), format!("{text}, explanation BYTE_ARRAY?"));
}

#[test]
fn a_file_without_its_header_has_it_inside() {
    let folder = Folder::new();
    let table = ScoreTable::new(vec![Row { id: "a".into(), item: "a".into(), ..Row::default() }]);
    let mut table = table;
    table.push(Column::metric("mine", Direction::Lower), vec![Ok(0.1 + 0.2)]);
    let path = folder.path("s.parquet");
    table.write(&path).unwrap();
    fs::remove_file(Header::path_of(&path)).unwrap();
    let again = read(&folder, "s.parquet").unwrap();
    assert_eq!(again.columns(), table.columns());
    assert_eq!((again.values(0), again.notes().len()), (table.values(0), 0));
    // As a stream it is put aside first.
    let stream = File::open(&path).unwrap();
    let again = scores_from("other.parquet", stream, &Catalogue::default()).unwrap();
    assert_eq!(again.columns(), table.columns());
}

#[test]
fn a_score_may_not_be_called_like_another_column() {
    for name in ["id", "human", "explanation"] {
        let lines = ScoreLines::new(ScoreFormat::Parquet, vec![name.into()]);
        let error = ScoreWriter::new(Vec::new(), &lines).err().unwrap().to_string();
        assert!(error.contains(&format!("another column \"{name}\"")), "{error}");
    }
}

/// Writes a file of two rows. `column` writes the cells of the column at a position.
fn foreign(
    folder: &Folder,
    name: &str,
    columns: &str,
    pairs: &[(&str, &str)],
    mut column: impl FnMut(usize, &mut SerializedRowGroupWriter<'_, File>),
) {
    let schema = Arc::new(parse_message_type(&format!("message any {{ {columns} }}")).unwrap());
    let file = File::create(folder.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.clone(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    (0..schema.get_fields().len()).for_each(|at| column(at, &mut group));
    group.close().unwrap();
    for (key, value) in pairs {
        let pair = KeyValue::new((*key).to_owned(), (*value).to_owned());
        writer.append_key_value_metadata(pair);
    }
    writer.close().unwrap();
}

fn texts(group: &mut SerializedRowGroupWriter<'_, File>, texts: [&str; 2]) {
    let texts = texts.map(ByteArray::from);
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
    column.close().unwrap();
}

fn doubles(group: &mut SerializedRowGroupWriter<'_, File>, numbers: [f64; 2]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
}

#[test]
fn tables_of_other_programs_are_read_as_csv_is() {
    let folder = Folder::new();
    let columns = "REQUIRED INT64 story_id; REQUIRED BYTE_ARRAY model (UTF8);
                   REQUIRED BYTE_ARRAY comment (UTF8); REQUIRED FLOAT mine;
                   REQUIRED DOUBLE human.fun; REQUIRED DOUBLE yours;";
    // The parser of schemas takes no dot in a name.
    let columns = columns.replace("human.fun", "human_fun");
    foreign(&folder, "s.parquet", &columns, &[], |at, group| match at {
        0 => {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[7, 8], None, None).unwrap();
            column.close().unwrap();
        }
        1 => texts(group, ["Tale", "Rain"]),
        2 => texts(group, ["good", "bad"]),
        3 => {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<FloatType>().write_batch(&[0.5, f32::NAN], None, None).unwrap();
            column.close().unwrap();
        }
        4 => doubles(group, [3.0, 4.0]),
        _ => doubles(group, [0.1, 0.2]),
    });
    let table = read(&folder, "s.parquet").unwrap();
    let labels: Vec<_> =
        table.rows().iter().map(|row| (row.id.as_str(), row.system.as_deref())).collect();
    assert_eq!(labels, [("7", Some("Tale")), ("8", Some("Rain"))]);
    let values = |key: &str| table.values(table.find(key).unwrap());
    assert_eq!(values("mine"), [Ok(0.5), Err(Absence::NotGiven)]);
    assert_eq!(values("yours"), [Ok(0.1), Ok(0.2)]);
    assert_eq!(values("fun"), [Ok(3.0), Ok(4.0)]);
    let notes = table.notes().join("\n");
    assert!(notes.contains("columns without numbers are left out: comment"), "{notes}");
    assert!(notes.contains("has no header"), "{notes}");
    assert!(is_score_table(&fs::read(folder.path("s.parquet")).unwrap()));
}

#[test]
fn one_row_per_score_is_read_as_well() {
    let folder = Folder::new();
    let columns = "REQUIRED BYTE_ARRAY id (UTF8); REQUIRED BYTE_ARRAY metric (UTF8);
                   REQUIRED DOUBLE score;";
    foreign(&folder, "s.parquet", columns, &[], |at, group| match at {
        0 => texts(group, ["a", "a"]),
        1 => texts(group, ["one", "two"]),
        _ => doubles(group, [1.0, 2.0]),
    });
    let table = read(&folder, "s.parquet").unwrap();
    assert_eq!((table.rows().len(), table.columns().len()), (1, 2));
    assert_eq!(table.values(table.find("two").unwrap()), [Ok(2.0)]);
}

#[test]
fn what_is_wrong_is_named_with_its_row_and_column() {
    let folder = Folder::new();
    let own = "REQUIRED BYTE_ARRAY id (UTF8); REQUIRED BYTE_ARRAY system (UTF8);
               REQUIRED BYTE_ARRAY item (UTF8);";
    let labels = |group: &mut SerializedRowGroupWriter<'_, File>| texts(group, ["a", "b"]);
    let number = format!("{own} REQUIRED DOUBLE mine;");
    foreign(&folder, "inf.parquet", &number, &[], |at, group| match at {
        0..3 => labels(group),
        _ => doubles(group, [1.0, f64::INFINITY]),
    });
    assert_eq!(
        message(&folder, "inf.parquet"),
        "inf.parquet:2: field \"mine\": \"inf\" is not a finite number"
    );
    let human = format!("{number} REQUIRED BYTE_ARRAY human (UTF8);");
    foreign(&folder, "human.parquet", &human, &[], |at, group| match at {
        0..3 => labels(group),
        3 => doubles(group, [1.0, 2.0]),
        _ => texts(group, ["{\"fun\":[1]}", "{\"fun\":\"high\"}"]),
    });
    let error = message(&folder, "human.parquet");
    assert!(error.starts_with("human.parquet:2: field \"human\": wrong JSON at column"), "{error}");
    let absent = format!("{number} REQUIRED BYTE_ARRAY absent (UTF8);");
    foreign(&folder, "absent.parquet", &absent, &[], |at, group| match at {
        0..3 => labels(group),
        3 => doubles(group, [f64::NAN, 2.0]),
        _ => texts(group, ["{\"mine\":\"why\"}", "{\"mine\":"]),
    });
    let error = message(&folder, "absent.parquet");
    assert!(error.starts_with("absent.parquet:2: field \"absent\": wrong JSON"), "{error}");
    foreign(&folder, "texts.parquet", own, &[], |_, group| labels(group));
    assert_eq!(
        message(&folder, "texts.parquet"),
        "texts.parquet: there is no column of scores; the columns are: id, system, item"
    );
    foreign(&folder, "header.parquet", &number, &[("storymeter", "{]")], |at, group| match at {
        0..3 => labels(group),
        _ => doubles(group, [1.0, 2.0]),
    });
    let error = message(&folder, "header.parquet");
    assert!(error.contains("not the header of a score file"), "{error}");
}

#[test]
fn rows_that_were_dropped_by_another_program_leave_a_note() {
    let folder = Folder::new();
    let header = Header::new(5, 0, vec![Column::metric("mine", Direction::Lower)]);
    let header = serde_json::to_string(&header).unwrap();
    let columns = "REQUIRED BYTE_ARRAY id (UTF8); REQUIRED DOUBLE mine;";
    foreign(&folder, "s.parquet", columns, &[("storymeter", &header)], |at, group| match at {
        0 => texts(group, ["a", "b"]),
        _ => doubles(group, [1.0, 2.0]),
    });
    let table = read(&folder, "s.parquet").unwrap();
    assert_eq!(table.columns()[0].direction, Direction::Lower);
    let notes = table.notes().join("\n");
    assert!(notes.contains("is of 5 rows, but the file has 2"), "{notes}");
}

#[test]
fn damaged_bytes_are_an_error_and_never_a_panic() {
    let good = written(12, 7, true);
    for at in (0..good.len()).step_by(5) {
        let mut bad = good.clone();
        bad[at] ^= 0x15;
        let _ = scores_from("s.parquet", std::io::Cursor::new(bad), &Catalogue::default());
        let cut = good[..at].to_vec();
        if at >= 4 {
            let read = scores_from("s.parquet", std::io::Cursor::new(cut), &Catalogue::default());
            let error = read.unwrap_err().to_string();
            assert!(error.starts_with("s.parquet: not valid Parquet"), "{error}");
        }
    }
}
