//! Names of files without their endings.

use storymeter_core::file::FileName;

#[test]
fn a_system_is_named_after_its_file_without_known_endings() {
    for (name, system) in [
        ("gpt.parquet", "gpt"),
        ("runs/gpt.jsonl.zst", "gpt"),
        ("GPT.CSV.GZ", "GPT"),
        ("gpt.ndjson.zstd", "gpt"),
        ("gpt-3.5", "gpt-3.5"),
        ("gpt-3.5.tab", "gpt-3.5"),
        (".jsonl", ".jsonl"),
        (".gz", ".gz"),
    ] {
        assert_eq!(FileName::of(name).system(), system);
    }
}

#[test]
fn a_story_has_the_name_of_its_file() {
    for name in ["a/key.txt", "key.md", "key.txt.gz", "key.md.zst", "key"] {
        assert_eq!(FileName::of(name).stem(), "key");
    }
    assert_eq!(FileName::of(".txt").stem(), ".txt");
    assert_eq!(FileName::of("a.b.txt").stem(), "a.b");
}
