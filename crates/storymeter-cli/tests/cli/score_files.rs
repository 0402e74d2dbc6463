//! The files that `storymeter score` writes: scores, and the header that says what they are.

use serde_json::Value;

use crate::sandbox::{Sandbox, repository};

/// Two systems, of which one wrote an empty story.
const STORIES: &str = concat!(
    r#"{"id":"a","system":"rain","item":"one","story":"The storm came.","reference":"A storm."}"#,
    "\n",
    r#"{"id":"b","system":"sun","item":"two","story":"","reference":"The sun, \"again\"."}"#,
    "\n",
);

fn with_stories() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", STORIES);
    sandbox
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The columns of a header.
fn columns(sandbox: &Sandbox, header: &str) -> Vec<Value> {
    json(&sandbox.read(header))["columns"].as_array().unwrap().clone()
}

#[test]
fn the_header_says_what_each_column_is() {
    let sandbox = with_stories();
    sandbox
        .run("score stories.jsonl --metric rouge:google,rouge:hanna,ter -o scores.jsonl")
        .succeeds();
    let header = json(&sandbox.read("scores.jsonl.meta.json"));
    assert_eq!((&header["rows"], &header["skipped"]), (&Value::from(2), &Value::from(0)));
    let columns = columns(&sandbox, "scores.jsonl.meta.json");
    let keys: Vec<&str> = columns.iter().map(|column| column["key"].as_str().unwrap()).collect();
    let first_line = json(sandbox.read("scores.jsonl").lines().next().unwrap());
    let scores = first_line["scores"].as_object().unwrap();
    assert!(keys.len() > 20, "{keys:?}");
    assert_eq!(scores.len(), keys.len());
    assert!(keys.iter().all(|key| scores.contains_key(*key)), "{keys:?}");
    for preset in ["google", "hanna"] {
        let key = format!("rouge:{preset}/rouge-1-r");
        let column = columns.iter().find(|column| column["key"] == key.as_str()).unwrap();
        assert_eq!(column["metric"], "rouge");
        assert_eq!(column["preset"], preset);
        assert_eq!(column["member"], "rouge-1-r");
        assert_eq!(column["direction"], "higher");
    }
    assert_eq!(columns.last().unwrap()["key"], "ter");
    assert_eq!(columns.last().unwrap()["direction"], "lower");
    for column in &columns {
        let signature = column["signature"].as_str().unwrap();
        assert!(signature.contains("|nrefs:1|"), "{signature}");
        assert!(signature.ends_with(&format!("|version:{}", env!("CARGO_PKG_VERSION"))));
        assert_eq!(column["counts"]["present"], 1, "{column}");
        assert_eq!(column["counts"]["absent"], 1, "{column}");
        assert_eq!(column["counts"]["empty"], 1, "{column}");
    }
    let signature = |key: &str| {
        let column = columns.iter().find(|column| column["key"] == key).unwrap();
        column["signature"].as_str().unwrap().to_owned()
    };
    assert_ne!(signature("rouge:google/rouge-1-r"), signature("rouge:hanna/rouge-1-r"));
}

#[test]
fn the_library_reads_back_what_the_program_wrote() {
    let sandbox = with_stories();
    sandbox.run("score stories.jsonl --metric rouge:google,rouge:hanna -o scores.jsonl").succeeds();
    let table = storymeter::read(sandbox.path("scores.jsonl")).unwrap();
    assert!(table.notes().is_empty(), "{:?}", table.notes());
    let written = columns(&sandbox, "scores.jsonl.meta.json");
    assert_eq!(table.columns().len(), written.len());
    for (read, written) in table.columns().iter().zip(&written) {
        assert_eq!(&serde_json::to_value(read).unwrap(), written);
    }
    // Every number is read back unchanged.
    let lines = sandbox.read("scores.jsonl");
    for (row, line) in lines.lines().enumerate() {
        for (at, column) in table.columns().iter().enumerate() {
            let number = json(line)["scores"][column.key.as_str()].as_f64();
            assert_eq!(table.values(at)[row].as_ref().ok().copied(), number, "{}", column.key);
        }
    }
}

#[test]
fn an_old_header_never_survives_a_new_file() {
    let sandbox = with_stories();
    sandbox.run("score stories.jsonl --metric bleu -o scores.jsonl").succeeds();
    sandbox.run("score stories.jsonl --metric ter -o scores.jsonl").succeeds();
    let columns = columns(&sandbox, "scores.jsonl.meta.json");
    assert_eq!(columns.len(), 1);
    assert_eq!((&columns[0]["key"], &columns[0]["direction"]), (&"ter".into(), &"lower".into()));
    // A run that fails leaves the old file and its header alone.
    let before = (sandbox.read("scores.jsonl"), sandbox.read("scores.jsonl.meta.json"));
    sandbox.write("bad.jsonl", format!("{STORIES}{{}}\n"));
    sandbox.run("score bad.jsonl --metric bleu -o scores.jsonl").fails_with("bad.jsonl:3");
    assert_eq!((sandbox.read("scores.jsonl"), sandbox.read("scores.jsonl.meta.json")), before);
    assert_eq!(
        sandbox.names(),
        ["bad.jsonl", "scores.jsonl", "scores.jsonl.meta.json", "stories.jsonl"]
    );
}

#[test]
fn jsonl_goes_to_standard_output_without_a_header() {
    let sandbox = with_stories();
    let run = sandbox.run("score stories.jsonl --metric text-length --format jsonl").succeeds();
    assert_eq!(
        run.stdout(),
        "{\"id\":\"a\",\"system\":\"rain\",\"item\":\"one\",\"words\":3,\
         \"flags\":[\"very short\"],\"scores\":{\"text-length\":4.0}}\n\
         {\"id\":\"b\",\"system\":\"sun\",\"item\":\"two\",\"words\":0,\"flags\":[\"empty\"],\
         \"scores\":{\"text-length\":null},\"absent\":{\"text-length\":\"the text is empty\"}}\n"
    );
    assert_eq!(sandbox.names(), ["stories.jsonl"]);
    let dash =
        sandbox.run("score stories.jsonl --metric text-length --format jsonl -o -").succeeds();
    assert_eq!(dash.stdout(), run.stdout());
    assert_eq!(sandbox.names(), ["stories.jsonl"]);
}

#[test]
fn csv_begins_with_the_names_of_its_columns() {
    let sandbox = with_stories();
    sandbox.run("score stories.jsonl --metric text-length,bleu:hanna -o scores.csv").succeeds();
    let csv = sandbox.read("scores.csv");
    assert_eq!(csv.lines().next(), Some("id,system,item,text-length,bleu:hanna"));
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.lines().nth(1).unwrap().starts_with("a,rain,one,4,"), "{csv}");
    assert_eq!(columns(&sandbox, "scores.csv.meta.json").len(), 2);
}

#[test]
fn systems_with_one_story_each_are_not_compared() {
    let run = with_stories().run("score stories.jsonl --metric bleu --against sun").succeeds();
    let rain = run.stdout().lines().find(|line| line.contains("rain")).unwrap();
    assert!(rain.trim_end().ends_with("a column has no values"), "{}", run.stdout());
}

/// The scores of the embedded model are published, so they must stay the same to the last digit.
/// The snapshot was made by the first version of the program.
#[test]
fn the_example_stories_keep_their_scores() {
    let sandbox = Sandbox::new();
    std::fs::copy(repository("examples/stories.jsonl"), sandbox.path("stories.jsonl")).unwrap();
    for threads in [1, 3] {
        let line = format!("score stories.jsonl --format csv --threads {threads}");
        let run = sandbox.run(&line).succeeds();
        insta::assert_snapshot!("scores_of_the_example_stories", run.stdout());
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_numbers_of_jsonl_and_every_verb_reads_it() {
    let sandbox = Sandbox::new();
    let stories = std::fs::read(repository("examples/three-generators/rated.jsonl")).unwrap();
    sandbox.write("rated.jsonl", stories);
    let score = "score rated.jsonl --metric text-length,distinct-2,novelty-1";
    for (name, threads) in [("scored.jsonl", 1), ("scored.parquet", 1), ("t.parquet", 3)] {
        sandbox.run(&format!("{score} --threads {threads} -o {name}")).succeeds();
    }
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert!(bytes("scored.parquet") == bytes("t.parquet"));
    assert_eq!(
        columns(&sandbox, "scored.jsonl.meta.json"),
        columns(&sandbox, "scored.parquet.meta.json")
    );
    for verb in [
        "compare FILE --resamples 50",
        "meta table FILE",
        "correlate --human rated.jsonl --scores length=FILE#text-length",
        "correlate --human FILE --scores length=FILE#text-length",
    ] {
        let [jsonl, parquet] = ["scored.jsonl", "scored.parquet"]
            .map(|name| sandbox.run(&verb.replace("FILE", name)).succeeds().stdout().to_owned());
        assert_eq!(jsonl.replace("scored.jsonl", "scored.parquet"), parquet, "{verb}");
    }
    sandbox.run("report scored.parquet -o report.html").succeeds();
    // Without the file beside it, the header inside it says which way a score points.
    std::fs::remove_file(sandbox.path("scored.parquet.meta.json")).unwrap();
    let alone = sandbox.run("compare scored.parquet --resamples 50").succeeds();
    assert!(!alone.stderr().contains("has no header"), "{}", alone.stderr());
}

#[test]
fn corpus_statistics_make_parts_score_like_the_whole() {
    let sandbox = Sandbox::new();
    let stories = std::fs::read_to_string(repository("examples/three-generators/rated.jsonl"));
    let stories = stories.unwrap();
    sandbox.write("all.jsonl", &stories);
    let (first, second) = stories.split_at(stories.match_indices('\n').nth(69).unwrap().0 + 1);
    sandbox.write("first.jsonl", first);
    sandbox.write("second.jsonl", second);
    let score = |input: &str, options: &str, out: &str| {
        sandbox.run(&format!("score {input} --metric self-bleu {options} -o {out}")).succeeds();
        sandbox.read(out)
    };
    let plain = score("all.jsonl", "", "plain.jsonl");
    let stats = "--corpus-stats corpus.bin";
    assert_eq!(score("all.jsonl", stats, "whole.jsonl"), plain);
    let parts = score("first.jsonl", stats, "1.jsonl") + &score("second.jsonl", stats, "2.jsonl");
    assert_eq!(parts, plain);
    let signature = |name: &str| columns(&sandbox, name)[0]["signature"].to_string();
    let whole = signature("whole.jsonl.meta.json");
    assert!(whole.contains("|corpus:"), "{whole}");
    assert_eq!(whole, signature("1.jsonl.meta.json"));
    sandbox
        .run(&format!("score all.jsonl --metric self-bleu --seed 3 {stats}"))
        .fails_with("corpus.bin: the corpus statistics were gathered for self-bleu|");
    sandbox
        .run(&format!("score all.jsonl --metric text-length {stats}"))
        .fails_with("corpus.bin: none of the metrics needs corpus statistics");
    sandbox
        .run("score all.jsonl --metric self-bleu --corpus-stats all.jsonl")
        .fails_with("all.jsonl");
}
