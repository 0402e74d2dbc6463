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
        assert_eq!(column["counts"]["present"], 2, "{column}");
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
        "{\"id\":\"a\",\"system\":\"rain\",\"item\":\"one\",\"scores\":{\"text-length\":4.0}}\n\
         {\"id\":\"b\",\"system\":\"sun\",\"item\":\"two\",\"scores\":{\"text-length\":0.0}}\n"
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
fn systems_without_a_shared_item_have_no_difference() {
    let run = with_stories().run("score stories.jsonl --metric bleu --against sun").succeeds();
    let rain = run.stdout().lines().find(|line| line.contains("rain")).unwrap();
    assert!(rain.ends_with("the systems share no item"), "{}", run.stdout());
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
    let systems = ["rain", "sun"].into_iter();
    let stories = systems.flat_map(|system| (0..12).map(move |item| (system, item)));
    let stories = stories.map(|(system, item)| {
        let text = format!("Lamp {item} of {system} went out, {}.", "and out ".repeat(item % 5));
        format!(
            "{{\"id\":\"{item}\",\"system\":\"{system}\",\"story\":\"{text}\",\"human\":\
             {{\"fun\":[{},{}]}}}}\n",
            item % 5,
            item % 3
        )
    });
    sandbox.write("stories.jsonl", stories.collect::<String>());
    for (name, threads) in [("s.jsonl", 1), ("s.parquet", 1), ("t.parquet", 3)] {
        let line = format!("--metric text-length,distinct-2,union --threads {threads} -o {name}");
        sandbox.run(&format!("score stories.jsonl {line}")).succeeds();
    }
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert!(bytes("s.parquet") == bytes("t.parquet"));
    let on_stdout = "score stories.jsonl --metric text-length,distinct-2,union --format parquet";
    assert!(sandbox.run(on_stdout).succeeds().stdout_bytes() == bytes("s.parquet"));
    let columns_of = |name: &str| columns(&sandbox, &format!("{name}.meta.json"));
    assert_eq!(columns_of("s.jsonl"), columns_of("s.parquet"));
    for verb in [
        "compare FILE --resamples 50",
        "meta FILE",
        "correlate FILE --human stories.jsonl --metric union",
        "correlate FILE --human FILE --metric union",
    ] {
        let [jsonl, parquet] = ["s.jsonl", "s.parquet"]
            .map(|name| sandbox.run(&verb.replace("FILE", name)).succeeds().stdout().to_owned());
        assert_eq!(jsonl.replace("s.jsonl", "s.parquet"), parquet, "{verb}");
    }
    sandbox.run("report s.parquet -o report.html").succeeds();
}
