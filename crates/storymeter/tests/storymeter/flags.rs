//! Texts that are no stories have no score, what surrounds a story is removed if that is asked for,
//! and flags and words are counted: the same for any threads and batches, in one run and in shards.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use storymeter::input::{Inputs, ReadOptions};
use storymeter::shards::{self, MergeOptions, ShardOptions};
use storymeter::summary::Resampling;
use storymeter::{
    Overview, Progress, ReadyScorer, Run, ScoreFormat, ScoreSink, ScoreTable, Scorer,
};

/// Twenty stories in English prose, of which no two are alike.
fn stories() -> Vec<String> {
    let names = ["Mira", "Tom", "Ada", "Ben", "Lena"];
    let things = ["kite", "lamp", "boat", "drum"];
    (0..20)
        .map(|at| {
            let (name, thing) = (names[at % 5], things[at % 4]);
            format!(
                "{name} lost the old {thing} in the storm of that night. She looked for it in the \
                 barn and behind the house, but it was not there. In the morning her brother \
                 found the {thing} on the roof of the mill, and they carried it home together \
                 before it rained again."
            )
        })
        .collect()
}

const REFUSAL: &str = "I'm sorry, but I can't write this story.";

/// Four systems: twenty stories as they are, twenty refusals, twenty cut stories, and the stories
/// with words to the user before them.
fn lines() -> Vec<Value> {
    let mut lines = Vec::new();
    for (item, story) in stories().iter().enumerate() {
        let cut = story.strip_suffix("together before it rained again.").unwrap().trim_end();
        let chat = format!("Sure, here is your story:\n\n{story}");
        for (system, text) in
            [("plain", story.as_str()), ("no", REFUSAL), ("short", cut), ("chat", &chat)]
        {
            let prompt = format!("A thing is lost, number {item}.");
            lines.push(json!({
                "id": item.to_string(), "system": system, "prompt": prompt, "story": text,
                "reference": format!("The {item} lamps went out."),
            }));
        }
    }
    lines
}

fn write(folder: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = folder.join(name);
    let text = lines.iter().fold(String::new(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    });
    fs::write(&path, text).unwrap();
    path
}

const METRICS: [&str; 4] = ["text-length", "distinct-2", "bleu", "cider-d"];

fn scorer() -> Scorer {
    Scorer::new().metrics(METRICS)
}

/// The scores as a table and as lines, and what is known about all texts.
fn scored(scorer: &ReadyScorer, files: &[PathBuf]) -> (ScoreTable, Vec<u8>, Run) {
    let inputs = Inputs::new(files.to_vec(), ReadOptions::default());
    let scored = scorer.table(&inputs, &Progress::unwatched()).unwrap();
    let lines = scored.json_lines().unwrap();
    (ScoreTable::clone(&scored.table), lines, scored.run)
}

fn shown(run: &Run) -> String {
    let resampling = Resampling::default().with(|it| it.resamples = 99);
    Overview::new(run, &resampling, None, &Progress::unwatched()).unwrap().to_text()
}

/// The values of the stories of a system, by id.
fn of_system<'a>(table: &'a ScoreTable, key: &str, system: &str) -> Vec<&'a storymeter::Value> {
    let column = table.column(key).unwrap();
    let rows = column.rows().iter().zip(column.values());
    rows.filter(|(row, _)| row.system.as_deref() == Some(system)).map(|(_, value)| value).collect()
}

#[test]
fn flags_are_counted_by_system_and_refusals_have_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "s.jsonl", &lines());
    let (table, lines, run) = scored(&scorer().build().unwrap(), &[file]);
    let found = run.texts();
    let count = |system: &str, flag: &str| {
        let systems = found.systems.as_ref().unwrap();
        let own = systems.iter().find(|own| own.system.as_deref() == Some(system));
        own.and_then(|own| own.flags.get(flag)).copied().unwrap_or(0)
    };
    assert_eq!(
        (count("no", "refusal"), count("short", "cut"), count("chat", "preamble")),
        (20, 20, 20)
    );
    assert_eq!(found.flags.values().sum::<u64>(), 60, "{:?}", found.flags);
    assert_eq!((found.unscored(), run.score_rows().len(), run.score_rows().texts()), (20, 60, 80));
    for value in of_system(&table, "distinct-2", "no") {
        assert_eq!(value.clone().unwrap_err().to_string(), "the text is a refusal");
    }
    let line: Value = serde_json::from_slice(lines.split(|&b| b == b'\n').nth(1).unwrap()).unwrap();
    assert_eq!((&line["words"], &line["flags"]), (&json!(8), &json!(["refusal"])));
    assert_eq!(line["absent"]["bleu"], "the text is a refusal");
    let first: Value =
        serde_json::from_slice(lines.split(|&b| b == b'\n').next().unwrap()).unwrap();
    assert!(first.get("flags").is_none(), "{first}");

    let text = shown(&run);
    let flags: Vec<String> = text
        .split("\n\n")
        .nth(1)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        flags,
        [
            "system texts refusal preamble cut",
            "all 80 20 (25%) 20 (25%) 20 (25%)",
            "plain 20 0 0 0",
            "no 20 20 (100%) 0 0",
            "short 20 0 0 20 (100%)",
            "chat 20 0 20 (100%) 0",
        ]
    );
    let notes: Vec<String> = run.text_notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "20 of 80 texts have no score: 20 are refusals",
            "20 of 80 texts begin with words to the user",
        ]
    );
    assert!(!text.contains("clean:yes") && !text.contains("refusals:kept"), "{text}");
}

#[test]
fn refusals_enter_no_mean_and_no_first_pass() {
    let folder = tempfile::tempdir().unwrap();
    let all = lines();
    let is_story = |line: &&Value| line["system"] != "no";
    let stories: Vec<Value> = all.iter().filter(is_story).cloned().collect();
    let with = write(folder.path(), "with.jsonl", &all);
    let without = write(folder.path(), "without.jsonl", &stories);
    let scorer = scorer().build().unwrap();
    assert!(scorer.reads_twice(), "cider-d needs a first pass");
    let (with, _, with_run) = scored(&scorer, &[with]);
    let (without, _, without_run) = scored(&scorer, &[without]);
    for key in METRICS {
        for system in ["plain", "short", "chat"] {
            assert_eq!(of_system(&with, key, system), of_system(&without, key, system), "{key}");
        }
    }
    let all = |run: &Run| run.score_rows().all(run.metrics(), &Resampling::default());
    assert_eq!(all(&with_run), all(&without_run));
}

#[test]
fn what_was_cleaned_scores_as_the_story_alone_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "s.jsonl", &lines());
    let metrics = ["text-length", "distinct-2", "bleu", "union"];
    let scorer = |clean: bool| Scorer::new().metrics(metrics).clean(clean).build().unwrap();
    let (plain, _, _) = scored(&scorer(false), std::slice::from_ref(&file));
    let (cleaned, _, run) = scored(&scorer(true), &[file]);
    for key in metrics {
        let bits = |table: &ScoreTable, system: &str| -> Vec<u64> {
            let values = of_system(table, key, system);
            values.iter().map(|value| value.as_ref().unwrap().to_bits()).collect()
        };
        assert_eq!(bits(&cleaned, "chat"), bits(&cleaned, "plain"), "{key}");
        assert_eq!(bits(&cleaned, "plain"), bits(&plain, "plain"), "{key}");
        assert_ne!(bits(&plain, "chat"), bits(&plain, "plain"), "{key}");
        let signature = |table: &ScoreTable| table.column(key).unwrap().signature.clone().unwrap();
        assert_eq!(signature(&cleaned).get("clean"), Some("yes"));
        assert_eq!(signature(&plain).get("clean"), None);
    }
    let row = |system: &str| {
        cleaned.rows().iter().find(|row| row.system.as_deref() == Some(system)).unwrap()
    };
    assert_eq!((row("chat").words, &row("chat").flags), (row("plain").words, &vec![]));
    assert_eq!((run.texts().removed["preamble"], run.texts().changed), (20, 20));
    let notes: Vec<String> = run.text_notes().iter().map(ToString::to_string).collect();
    assert_eq!(
        notes[1],
        "20 of 80 texts were cleaned: removed were words to the user before the story (20)"
    );
}

#[test]
fn refusals_are_scored_if_they_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "s.jsonl", &lines());
    let (table, _, run) = scored(&scorer().keep_refusals(true).build().unwrap(), &[file]);
    assert!(of_system(&table, "text-length", "no").iter().all(|value| value.is_ok()));
    assert_eq!((run.score_rows().len(), run.texts().unscored()), (80, 0));
    assert_eq!(run.texts().flags["refusal"], 20);
    let signature = table.column("bleu").unwrap().signature.clone().unwrap();
    assert_eq!(signature.get("refusals"), Some("kept"));
}

#[test]
fn one_run_and_shards_and_any_number_of_threads_agree() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = lines();
    lines.push(json!({"id": "x", "story": "...", "reference": "Rain."}));
    lines.push(json!({"id": "x", "system": "mute", "story": "", "reference": "Rain."}));
    let parts: Vec<PathBuf> = lines
        .chunks(lines.len().div_ceil(3))
        .enumerate()
        .map(|(at, part)| write(folder.path(), &format!("part-{at}.jsonl"), part))
        .collect();
    let build = |clean: bool, most: usize| {
        let scorer = Scorer::new().metrics(["text-length", "bleu", "distinct-2"]);
        scorer.clean(clean).most_rows(most).build().unwrap()
    };
    let unseen = Progress::unwatched();
    for (clean, most) in [(false, 1000), (true, 1000), (true, 10)] {
        let scorer = build(clean, most);
        let score = |threads: usize, name: &str| {
            let path = folder.path().join(name);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let inputs = Inputs::new(parts.clone(), ReadOptions::default());
                let sink = ScoreSink::file(&path, ScoreFormat::Jsonl);
                let run = scorer.write_scores(&inputs, sink, &unseen).unwrap().commit().unwrap();
                let header = format!("{name}.meta.json");
                let header = fs::read_to_string(folder.path().join(header)).unwrap();
                (fs::read_to_string(&path).unwrap(), header, shown(&run), run)
            })
        };
        let one = score(1, "one.jsonl");
        let seven = score(7, "seven.jsonl");
        assert_eq!((&one.0, &one.1, &one.2), (&seven.0, &seven.1, &seven.2));
        assert!(one.2.contains("mute"), "a system without a story has a row: {}", one.2);

        let out = folder.path().join(format!("out-{clean}-{most}"));
        fs::create_dir(&out).unwrap();
        let options = ShardOptions::default();
        let mut headers = Vec::new();
        for shard in shards::plan(&parts, &out, None, None).unwrap() {
            shards::score_shard(&scorer, &shard, &options, &unseen).unwrap();
            headers.push(shard.header());
        }
        let options = MergeOptions::default().with(|it| it.most_rows = most);
        let merged = shards::merge(&headers, &options).unwrap();
        assert_eq!(shown(&merged.run), one.2, "clean: {clean}, at most {most} rows");
        assert_eq!(merged.run.text_notes(), one.3.text_notes());
        let joined = folder.path().join("joined.jsonl");
        shards::join(&merged, ScoreFormat::Jsonl, &joined).unwrap().commit().unwrap();
        assert_eq!(fs::read_to_string(&joined).unwrap(), one.0);
        assert_eq!(
            fs::read_to_string(folder.path().join("joined.jsonl.meta.json")).unwrap(),
            one.1
        );

        // Shards with other settings do not belong together.
        let other = build(!clean, most);
        let again = ShardOptions::default().with(|it| it.resume = true);
        let shard = shards::plan(&parts, &out, None, None).unwrap().remove(0);
        let error = shards::score_shard(&other, &shard, &again, &unseen).unwrap_err().to_string();
        assert!(error.contains("clean:yes"), "{error}");
    }
}

#[test]
fn a_run_without_flags_prints_and_writes_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let plain: Vec<Value> = lines().into_iter().filter(|line| line["system"] == "plain").collect();
    let file = write(folder.path(), "s.jsonl", &plain);
    let (_, _, run) = scored(&scorer().build().unwrap(), &[file]);
    assert!(run.texts().is_empty() && run.text_notes().is_empty());
    assert!(!shown(&run).contains("texts"), "{}", shown(&run));
    assert!(!serde_json::to_string(&run.header()).unwrap().contains("\"texts\""));
}
