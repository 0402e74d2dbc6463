//! Writes scores as Parquet, one group of rows at a time.
//!
//! The columns have the types that [`ScoreFormat::Parquet`](super::ScoreFormat::Parquet) names, and
//! are compressed with Zstandard. A group ends after a fixed number of rows or bytes of text, so
//! that the bytes of a file follow from its rows alone.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::scores::{FLAGS, Row, WORDS};
use crate::{Header, Key};

/// The key of the metadata under which the header of the score file stands.
pub(crate) const HEADER_KEY: &str = "storymeter";

/// The columns that are not scores.
const LABELS: [&str; 3] = ["id", "system", "item"];
pub(crate) const ABSENT: &str = "absent";
const HUMAN: &str = "human";
pub(crate) const EXPLANATION: &str = "explanation";
const OTHERS: [&str; 5] = [WORDS, FLAGS, ABSENT, HUMAN, EXPLANATION];

/// The number of rows of a group.
const GROUP_ROWS: usize = 20_000;

/// A group with so many bytes of text ends sooner. Explanations are long.
const GROUP_BYTES: usize = 64 << 20;

/// The level of Zstandard.
const LEVEL: i32 = 3;

/// Writes rows.
pub(super) struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    group: Group,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file with one column of scores per key.
    pub fn new(out: W, keys: &[Key], explained: bool) -> io::Result<Self> {
        let schema = schema(keys, explained)?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties()?));
        let file = file.map_err(failed)?;
        Ok(Self { file, group: Group::new(keys.len(), explained) })
    }

    /// Appends rows.
    pub fn write(&mut self, rows: Vec<Row>) -> io::Result<()> {
        for row in rows {
            self.group.push(row);
            if self.group.rows == GROUP_ROWS || self.group.bytes >= GROUP_BYTES {
                self.end_group()?;
            }
        }
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut out = self.file.next_row_group().map_err(failed)?;
        self.group.write(&mut out).map_err(failed)?;
        out.close().map_err(failed)?;
        Ok(())
    }

    /// Writes the last group and the header.
    pub fn finish(mut self, header: &Header) -> io::Result<W> {
        if self.group.rows > 0 {
            self.end_group()?;
        }
        let header = serde_json::to_string(header)?;
        self.file.append_key_value_metadata(KeyValue::new(HEADER_KEY.to_owned(), header));
        self.file.into_inner().map_err(failed)
    }
}

/// The error of the output, where it is one.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

fn properties() -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(LEVEL).map_err(failed)?;
    // Ids and explanations are all different.
    let plain = |name: &str| ColumnPath::from(vec![name.to_owned()]);
    Ok(WriterProperties::builder()
        .set_created_by(format!("storymeter {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(plain(LABELS[0]), false)
        .set_column_dictionary_enabled(plain(EXPLANATION), false)
        .set_column_statistics_enabled(plain(EXPLANATION), EnabledStatistics::None)
        .build())
}

fn schema(keys: &[Key], explained: bool) -> io::Result<Type> {
    let text = |name: &str, repetition| {
        Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .with_repetition(repetition)
            .build()
    };
    let score = |key: &Key| {
        Type::primitive_type_builder(key.as_str(), PhysicalType::DOUBLE)
            .with_repetition(Repetition::OPTIONAL)
            .build()
    };
    let mut columns = vec![
        text(LABELS[0], Repetition::REQUIRED),
        text(LABELS[1], Repetition::OPTIONAL),
        text(LABELS[2], Repetition::REQUIRED),
        Type::primitive_type_builder(WORDS, PhysicalType::INT64)
            .with_repetition(Repetition::OPTIONAL)
            .build(),
        text(FLAGS, Repetition::OPTIONAL),
    ];
    columns.extend(keys.iter().map(score));
    columns.push(text(ABSENT, Repetition::OPTIONAL));
    columns.push(text(HUMAN, Repetition::OPTIONAL));
    if explained {
        columns.push(text(EXPLANATION, Repetition::OPTIONAL));
    }
    let taken = |key: &&Key| LABELS.contains(&key.as_str()) || OTHERS.contains(&key.as_str());
    if let Some(key) = keys.iter().find(taken) {
        let problem = format!("Parquet has another column \"{key}\", so no score can be called so");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let columns = columns.into_iter().map(|column| column.map(Arc::new));
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    Type::group_type_builder("scores").with_fields(columns).build().map_err(failed)
}

/// A column in which values may be missing.
struct Optional<T> {
    values: Vec<T>,
    /// By row: 1 where there is a value, otherwise 0.
    levels: Vec<i16>,
}

impl<T> Optional<T> {
    fn new() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }

    fn push(&mut self, value: Option<T>) {
        self.levels.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.values.clear();
        self.levels.clear();
    }
}

/// The rows of a group, column by column.
struct Group {
    rows: usize,
    /// The bytes of all texts.
    bytes: usize,
    ids: Vec<ByteArray>,
    systems: Optional<ByteArray>,
    items: Vec<ByteArray>,
    words: Optional<i64>,
    flags: Optional<ByteArray>,
    scores: Vec<Optional<f64>>,
    absent: Optional<ByteArray>,
    human: Optional<ByteArray>,
    explanations: Option<Optional<ByteArray>>,
}

impl Group {
    fn new(keys: usize, explained: bool) -> Self {
        Self {
            rows: 0,
            bytes: 0,
            ids: Vec::new(),
            systems: Optional::new(),
            items: Vec::new(),
            words: Optional::new(),
            flags: Optional::new(),
            scores: (0..keys).map(|_| Optional::new()).collect(),
            absent: Optional::new(),
            human: Optional::new(),
            explanations: explained.then(Optional::new),
        }
    }

    fn push(&mut self, row: Row) {
        let bytes = &mut self.bytes;
        let mut text = |text: String| {
            *bytes += text.len();
            ByteArray::from(text.into_bytes())
        };
        self.ids.push(text(row.id));
        self.systems.push(row.system.map(&mut text));
        self.items.push(text(row.item));
        self.words.push(row.words);
        self.flags.push(row.flags.map(&mut text));
        self.absent.push(row.absent.map(&mut text));
        self.human.push(row.human.map(&mut text));
        if let Some(explanations) = &mut self.explanations {
            explanations.push(row.explanation.map(&mut text));
        }
        self.scores.iter_mut().zip(row.scores).for_each(|(column, score)| column.push(score));
        self.rows += 1;
    }

    /// Writes the columns in the order of the schema, and forgets the rows.
    fn write<W: Write + Send>(
        &mut self,
        out: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        required(out, &self.ids)?;
        optional::<ByteArrayType, _>(out, &self.systems)?;
        required(out, &self.items)?;
        optional::<Int64Type, _>(out, &self.words)?;
        optional::<ByteArrayType, _>(out, &self.flags)?;
        for scores in &mut self.scores {
            optional::<DoubleType, _>(out, scores)?;
            scores.clear();
        }
        for texts in [Some(&self.absent), Some(&self.human), self.explanations.as_ref()] {
            texts.map_or(Ok(()), |texts| optional::<ByteArrayType, _>(out, texts))?;
        }
        self.ids.clear();
        self.items.clear();
        self.systems.clear();
        self.words.clear();
        self.flags.clear();
        self.absent.clear();
        self.human.clear();
        self.explanations.iter_mut().for_each(Optional::clear);
        (self.rows, self.bytes) = (0, 0);
        Ok(())
    }
}

type Column<'a> = parquet::file::writer::SerializedColumnWriter<'a>;

fn next<'a, W: Write + Send>(
    out: &'a mut SerializedRowGroupWriter<'_, W>,
) -> Result<Column<'a>, ParquetError> {
    out.next_column()?.ok_or_else(|| ParquetError::General("the file has fewer columns".into()))
}

fn required<W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    texts: &[ByteArray],
) -> Result<(), ParquetError> {
    let mut column = next(out)?;
    column.typed::<ByteArrayType>().write_batch(texts, None, None)?;
    column.close()
}

fn optional<T: DataType, W: Write + Send>(
    out: &mut SerializedRowGroupWriter<'_, W>,
    values: &Optional<T::T>,
) -> Result<(), ParquetError> {
    let mut column = next(out)?;
    column.typed::<T>().write_batch(&values.values, Some(&values.levels), None)?;
    column.close()
}
