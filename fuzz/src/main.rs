//! A fuzz target for every parser of user files, in one program; README.md says how to run them.
//!
//! Reading gives a result or an error and never panics, takes bounded time and bounded memory, and
//! what was read can be used and, where there is a writer, written and read back.
#![no_main]

mod meta;
mod model;
mod perturb;
mod scores;
mod source;
mod stories;
mod text;

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// A target reads one input.
type Target = fn(&[u8]);

/// Every target with its name.
const TARGETS: [(&str, Target); 41] = [
    ("acts", meta::acts),
    ("antonyms", perturb::antonyms),
    ("byte_pairs", source::byte_pairs),
    ("card", model::card),
    ("checkpoint", model::checkpoint),
    ("config", model::config),
    ("corpus_stats", scores::corpus_stats),
    ("correlate", meta::correlate),
    ("donors", perturb::donors),
    ("gguf", source::gguf),
    ("hanna_scores", meta::hanna_scores),
    ("heads", model::heads),
    ("model_file", model::model_file),
    ("ratings", meta::ratings),
    ("reader_delimited", stories::delimited),
    ("reader_json", stories::json),
    ("reader_jsonl", stories::jsonl),
    ("reader_mags", stories::mags),
    ("reader_nested", stories::nested),
    ("reader_parquet", stories::parquet),
    ("reader_text", stories::text),
    ("reader_tools", stories::tools),
    ("reader_zstandard", stories::zstandard),
    ("row_statistics", scores::row_statistics),
    ("score_parquet", scores::score_parquet),
    ("score_table", scores::score_table),
    ("settings", model::settings),
    ("shard_header", scores::shard_header),
    ("splitter", text::splitter),
    ("story_table", meta::story_table),
    ("study", meta::study),
    ("suite_result", meta::suite_result),
    ("suite_tables", perturb::suite_tables),
    ("table", meta::table),
    ("tokeniser", text::tokeniser),
    ("torch_weights", source::torch_weights),
    ("training_log", meta::training_log),
    ("union_set", meta::union_set),
    ("vocabulary", model::vocabulary),
    ("weights", model::weights),
    ("weights_index", source::weights_index),
];

/// The target that `STORYMETER_FUZZ` names.
static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("STORYMETER_FUZZ").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("set STORYMETER_FUZZ to one of: {}", names.join(" "))).1
});

fuzz_target!(|bytes: &[u8]| (*CHOSEN)(bytes));

/// A folder for files that a parser takes by their path. Whoever sets `TMPDIR` removes it.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| tempfile::tempdir().unwrap().keep());

/// Writes a file of the folder and returns its path.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// An input as several files, which zero bytes separate.
fn parts<const N: usize>(bytes: &[u8]) -> [Option<&[u8]>; N] {
    let mut parts = bytes.splitn(N, |byte| *byte == 0);
    [(); N].map(|()| parts.next())
}
