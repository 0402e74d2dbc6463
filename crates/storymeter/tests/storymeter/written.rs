//! There is one way to a line of a score file, whoever asks for it.

use std::fs;
use std::path::PathBuf;

use storymeter::input::{Inputs, ReadOptions};
use storymeter::shards::{self, ShardOptions};
use storymeter::{Depth, Progress, ReadyScorer, ScoreFormat, ScoreSink, Scored, Scorer};

const STORIES: &str = "{\"id\": \"a\", \"system\": \"rain\", \"story\": \"Rain fell on Mira.\", \
                       \"human\": {\"fun\": [3, 4]}}\n\
                       {\"id\": \"b\", \"system\": \"sun\", \"story\": \"\"}\n\
                       {\"story\": 7}\n\
                       {\"id\": \"c\", \"story\": \"The lamp went out. He ran home.\"}\n";

fn scorer() -> ReadyScorer {
    Scorer::new().metrics(["text-length", "distinct-2"]).build().unwrap()
}

fn options() -> ReadOptions {
    ReadOptions::default().with(|it| {
        it.skip_bad = true;
        it.allow_empty = true;
    })
}

#[test]
fn a_file_a_writer_a_table_and_a_shard_have_the_same_lines_and_headers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("stories.jsonl"), STORIES).unwrap();
    let (scorer, unseen) = (scorer(), Progress::unwatched());
    let inputs = Inputs::new(vec![path("stories.jsonl")], options());

    let written = path("written.jsonl");
    let sink = ScoreSink::file(&written, ScoreFormat::Jsonl);
    let complete = scorer.write_scores(&inputs, sink, &unseen).unwrap();
    assert!(!written.exists(), "a file that is not committed has no name");
    let run = complete.commit().unwrap();
    assert_eq!((run.score_rows().len(), run.score_rows().texts(), run.skipped().count), (2, 3, 1));
    let lines = fs::read(&written).unwrap();

    let mut out = Vec::new();
    let sink = ScoreSink::writer(&mut out, ScoreFormat::Jsonl);
    scorer.write_scores(&inputs, sink, &unseen).unwrap();
    assert_eq!(out, lines);

    let scored = scorer.table(&inputs, &unseen).unwrap();
    assert_eq!(scored.json_lines().unwrap(), lines);
    assert_eq!(scored.numbers, [0, 1, 3]);
    scored.write(&path("table.jsonl"), ScoreFormat::Jsonl).unwrap();
    assert_eq!(fs::read(path("table.jsonl")).unwrap(), lines);
    let header = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert_eq!(header("table.jsonl.meta.json"), header("written.jsonl.meta.json"));

    fs::create_dir(path("shards")).unwrap();
    let inputs = [path("stories.jsonl")];
    let shard = shards::plan(&inputs, &path("shards"), None, None).unwrap().remove(0);
    let options = ShardOptions::default().with(|it| it.read = options());
    shards::score_shard(&scorer, &shard, &options, &unseen).unwrap();
    assert_eq!(fs::read(&shard.output).unwrap(), lines);
    let merged = shards::merge(&[shard.header()], &Default::default()).unwrap();
    let complete = shards::join(&merged, ScoreFormat::Jsonl, &path("joined.jsonl")).unwrap();
    complete.commit().unwrap();
    assert_eq!(fs::read(path("joined.jsonl")).unwrap(), lines);
    assert_eq!(header("joined.jsonl.meta.json"), header("written.jsonl.meta.json"));
}

#[test]
fn an_output_that_is_an_input_is_refused_and_a_failed_run_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let [stories, out]: [PathBuf; 2] =
        ["s.jsonl", "out.jsonl"].map(|name| folder.path().join(name));
    fs::write(&stories, STORIES).unwrap();
    fs::write(&out, "old").unwrap();
    let (scorer, unseen) = (scorer(), Progress::unwatched());
    let write = |options: ReadOptions, path: &PathBuf| {
        let inputs = Inputs::new(vec![stories.clone()], options);
        let sink = ScoreSink::file(path, ScoreFormat::Jsonl);
        scorer.write_scores(&inputs, sink, &unseen).err().unwrap().to_string()
    };
    let error = write(options(), &stories);
    assert!(error.contains("would destroy the input"), "{error}");
    let error = write(options().with(|it| it.skip_bad = false), &out);
    assert!(error.contains("s.jsonl:3"), "{error}");
    assert_eq!(fs::read_to_string(&stories).unwrap(), STORIES);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
}

#[test]
fn explanations_are_in_the_file_or_the_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("stories.jsonl"), STORIES).unwrap();
    let unseen = Progress::unwatched();
    let scorer = scorer().explaining(Depth::Weakest).unwrap();
    let inputs = || Inputs::new(vec![path("stories.jsonl")], options());
    let refused = "scores.csv: CSV has no explanations; choose JSONL or Parquet";

    let csv = path("scores.csv");
    let error = scorer.write_scores(&inputs(), ScoreSink::file(&csv, ScoreFormat::Csv), &unseen);
    let error = error.err().unwrap().to_string();
    assert!(error.ends_with(refused), "{error}");
    let scored = scorer.table(&inputs(), &unseen).unwrap();
    let error = scored.write(&csv, ScoreFormat::Csv).unwrap_err().to_string();
    assert!(error.ends_with(refused), "{error}");
    let error = scored.table.write(&csv).unwrap_err().to_string();
    assert!(error.ends_with(refused), "{error}");
    let shard = shards::Shard {
        input: path("stories.jsonl"),
        output: csv.clone(),
        format: ScoreFormat::Csv,
        place: 0,
        of: 1,
    };
    let reading = ShardOptions::default().with(|it| it.read = options());
    let error = shards::score_shard(&scorer, &shard, &reading, &unseen).unwrap_err().to_string();
    assert!(error.ends_with(refused), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");

    // Whoever takes the batches has the explanations, and CSV has the scores.
    let mut explained = 0;
    let mut take = |scored: Scored| {
        explained += scored.rationales.iter().flatten().count();
        Ok(())
    };
    let sink = ScoreSink::file(&csv, ScoreFormat::Csv).each(&mut take);
    scorer.write_scores(&inputs(), sink, &unseen).unwrap().commit().unwrap();
    assert_eq!(explained, 2);
    assert!(fs::read_to_string(&csv).unwrap().starts_with("id,system,item,text-length,"));

    let lines = String::from_utf8(scored.json_lines().unwrap()).unwrap();
    assert_eq!(lines.matches("\"explanation\":").count(), 2, "{lines}");
}
