//! Small files that stand for more than the memory that there is. Every run has 2 GB of addresses,
//! or 4 GB where that much text may be kept, and ends with exit code 2 and a message, or with a
//! result.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::process::{Command, Output};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::sandbox::Sandbox;
use crate::tiny_model::encoder;

/// The address space of a run in KiB, and that of training, which keeps up to 2 GiB of text.
const ADDRESSES: u64 = 2_000_000;
const ADDRESSES_OF_TRAINING: u64 = 4_000_000;

/// Bytes that Zstandard unpacks to records of JSON Lines, each with a story of one letter.
fn zstandard(records: usize, mebibytes: usize) -> Vec<u8> {
    // A window of 128 KiB, which is also the longest block.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    let mut block = |kind: u32, size: usize, content: &[u8]| {
        frame.extend(&((size as u32) << 3 | kind << 1).to_le_bytes()[..3]);
        frame.extend(content);
    };
    for _ in 0..records {
        let (begin, end) = (b"{\"story\": \"", b"\"}\n");
        block(0, begin.len(), begin);
        (0..8 * mebibytes).for_each(|_| block(1, 1 << 17, b"a"));
        block(0, end.len(), end);
    }
    // The last block is empty.
    frame.extend([1, 0, 0]);
    frame
}

/// A file of stories that all have the same text of one letter.
fn parquet(sandbox: &Sandbox, name: &str, rows: usize, mebibytes: usize) {
    let schema = "message stories { REQUIRED BYTE_ARRAY story (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_dictionary_page_size_limit(1 << 30)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let file = File::create(sandbox.path(name)).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut cells = group.next_column().unwrap().unwrap();
    let text = ByteArray::from("a".repeat(mebibytes << 20).as_str());
    cells.typed::<ByteArrayType>().write_batch(&vec![text; rows], None, None).unwrap();
    cells.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

/// Runs `storymeter` within the limit.
fn run(sandbox: &Sandbox, line: &str) -> Output {
    let addresses = if line.starts_with("train") { ADDRESSES_OF_TRAINING } else { ADDRESSES };
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {addresses}; exec \"$0\" {line}")])
        .arg(env!("CARGO_BIN_EXE_storymeter"))
        .current_dir(sandbox.path(""))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// Checks that a run within the limit succeeds, or fails with a message about its input.
#[track_caller]
fn ends_well(sandbox: &Sandbox, line: &str) -> Option<String> {
    let run = run(sandbox, line);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    match run.status.code() {
        Some(0) => None,
        Some(2) if !said.contains("memory allocation") => Some(said),
        code => panic!("{line}: {code:?}: {said}"),
    }
}

const STORY: &str = "{\"story\": \"Rain fell on it. It was cold. Ken ran home. He slept.\"}\n";

/// What reads stories, with the place of the file. `LONG` has stories that are longer than what is
/// damaged.
const VERBS: [&str; 6] = [
    "score FILE --metric text-length -o out.jsonl",
    "score few.jsonl --references FILE --metric bleu -o out.jsonl",
    "perturb LONG -o out.jsonl",
    "perturb few.jsonl --donors FILE -o out.jsonl",
    "suite make LONG -o out",
    "train --stories FILE --init encoder --config run.toml -o out",
];

fn each_verb(file: &str, refused: [Option<&str>; 6], sandbox: &Sandbox) {
    sandbox.write("few.jsonl", STORY.repeat(3));
    sandbox.write("run.toml", "epochs = 1\nmax_tokens = 48\n");
    std::os::unix::fs::symlink(encoder(), sandbox.path("encoder")).unwrap();
    for (line, expected) in VERBS.into_iter().zip(refused) {
        let line = line.replace("FILE", file).replace("LONG", &format!("long-{file}"));
        let said = ends_well(sandbox, &line);
        match (&said, expected) {
            (Some(said), Some(expected)) => assert!(said.contains(expected), "{line}: {said}"),
            (None, None) => {
                for name in sandbox.names().iter().filter(|name| name.starts_with("out")) {
                    std::fs::remove_file(sandbox.path(name)).unwrap();
                }
            }
            _ => panic!("{line}: {said:?}"),
        }
        let left = sandbox.names();
        assert!(left.iter().all(|name| !name.starts_with("out")), "{line}: {left:?}");
    }
}

#[test]
fn stories_that_unpack_to_more_than_there_is() {
    let sandbox = Sandbox::new();
    let bomb = zstandard(140, 15);
    assert!(bomb.len() < 310_000);
    sandbox.write("bomb.jsonl.zst", bomb);
    sandbox.write("long-bomb.jsonl.zst", zstandard(125, 17));
    let long = "the line has 17825805 bytes, but at most 16777216 are read";
    let refused = [
        None,
        Some("bomb.jsonl.zst has 140 references, but there are 3 stories"),
        Some(long),
        // Of a long story only the first sentences are donors, and these have one long one.
        Some("the file has no donor story"),
        Some(long),
        Some("the stories have more than 2048 MiB of text"),
    ];
    each_verb("bomb.jsonl.zst", refused, &sandbox);
}

#[test]
fn rows_of_parquet_that_share_one_text() {
    let sandbox = Sandbox::new();
    parquet(&sandbox, "bomb.parquet", 140, 15);
    assert!(sandbox.path("bomb.parquet").metadata().unwrap().len() < 10_000);
    parquet(&sandbox, "long-bomb.parquet", 125, 17);
    let long = "the row has 17825792 bytes, but at most 16777216 are read";
    let refused = [
        None,
        Some("bomb.parquet has 140 references, but there are 3 stories"),
        Some(long),
        // Of a long story only the first sentences are donors, and these have one long one.
        Some("the file has no donor story"),
        Some(long),
        Some("the stories have more than 2048 MiB of text"),
    ];
    each_verb("bomb.parquet", refused, &sandbox);
}

#[test]
fn a_story_that_is_too_long_to_be_scored() {
    let sandbox = Sandbox::new();
    sandbox.write("long.jsonl.zst", zstandard(1, 17));
    let said = ends_well(&sandbox, "score long.jsonl.zst -o out.jsonl").unwrap();
    let problem = "long.jsonl.zst:1: the line has 17825805 bytes, but at most 16777216 are read";
    assert!(said.contains(problem), "{said}");
}

#[test]
fn a_wide_row_is_not_copied_for_each_of_its_systems() {
    let sandbox = Sandbox::new();
    let systems = 1000;
    let names: Vec<String> = (0..systems).map(|n| format!("system-{n}")).collect();
    let stories = "Rain fell. ".repeat(580);
    let header = format!("item,prompt,{}\n", names.join(","));
    let row = format!("1,Why?,{}\n", vec![stories.as_str(); systems].join(","));
    assert!(row.len() > 6_000_000);
    sandbox.write("wide.csv", header + &row);
    let line = "score wide.csv --wide --metric text-length --resamples 1 -o out.jsonl";
    assert_eq!(ends_well(&sandbox, line), None);
    assert_eq!(sandbox.read("out.jsonl").lines().count(), systems);
}
