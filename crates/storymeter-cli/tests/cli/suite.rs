//! `storymeter suite`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, repository};

/// Stories to which many rules apply.
fn stories(count: usize) -> String {
    let things = ["kite", "lamp", "piano", "book", "bike", "cake", "letter", "boat"];
    let mut text = String::new();
    for number in 0..count {
        let thing = things[number % things.len()];
        let story = format!(
            "Ann was bored on day {number}. She bought a {thing} and her brother didn't see it. \
             The {thing} was old, so she cleaned it. Two weeks later she sold the {thing} to a \
             neighbor. She was happy with the money, the tea, and the rest."
        );
        let _ =
            writeln!(text, "{}", serde_json::json!({"id": format!("s{number}"), "story": story}));
    }
    text
}

fn with_suite(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", stories(count));
    sandbox.run("suite make stories.jsonl -o suite").succeeds();
    sandbox
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const NAMES: [&str; 13] = [
    "lexical repetition",
    "semantic repetition",
    "character behaviour",
    "common sense",
    "consistency",
    "relatedness",
    "cause",
    "time",
    "synonym",
    "paraphrase",
    "punctuation",
    "contraction",
    "typo",
];

#[test]
fn a_suite_has_a_file_of_pairs_per_aspect_and_every_text_once() {
    let sandbox = with_suite(12);
    let manifest = json(&sandbox.read("suite/suite.json"));
    assert_eq!(
        (manifest["kind"].as_str(), manifest["stories"].as_u64()),
        (Some("pairs"), Some(12))
    );
    let mut texts = 12;
    for aspect in manifest["aspects"].as_array().unwrap() {
        let file = sandbox.read(&format!("suite/{}", aspect["file"].as_str().unwrap()));
        assert_eq!(file.lines().count() as u64, aspect["pairs"].as_u64().unwrap());
        texts += file.lines().count();
        for line in file.lines() {
            let pair = json(line);
            let mut twin = pair["original"].as_str().unwrap().to_owned();
            for edit in pair["edits"].as_array().unwrap() {
                let at = |field: &str| edit[field].as_u64().unwrap() as usize;
                assert_eq!(&twin[at("start")..at("end")], edit["before"].as_str().unwrap());
                twin.replace_range(at("start")..at("end"), edit["after"].as_str().unwrap());
            }
            assert_eq!(twin, pair["twin"].as_str().unwrap());
            // What chat models put around a story may come before it.
            let (before, _) = twin.split_once("Ann was bored on day ").unwrap();
            assert!(before.is_empty() || pair["aspect"] == "chat", "{twin}");
            assert_eq!(pair["aspect"], aspect["aspect"]);
        }
    }
    assert_eq!(sandbox.read("suite/texts.jsonl").lines().count(), texts);
    let left_out: Vec<&str> = manifest["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| left["aspect"].as_str().unwrap())
        .collect();
    assert_eq!(left_out, ["semantic repetition", "common sense", "paraphrase"]);
}

#[test]
fn every_number_of_threads_gives_the_same_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", stories(300));
    sandbox.run("suite make stories.jsonl -o one --threads 1").succeeds();
    sandbox.run("suite make stories.jsonl -o two --threads 7").succeeds();
    for entry in std::fs::read_dir(sandbox.path("one")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let [one, two] = ["one", "two"].map(|folder| sandbox.read(&format!("{folder}/{name}")));
        assert!(one == two, "{name} differs");
    }
    let metric = "--metric text-length,repetition-3 --format json";
    let run = |threads: usize| {
        sandbox.run(&format!("suite run one {metric} --threads {threads}")).succeeds()
    };
    assert_eq!(run(1).stdout(), run(7).stdout());
}

#[test]
fn a_run_prints_one_row_per_aspect_and_writes_the_result() {
    let sandbox = with_suite(30);
    let run = sandbox.run("suite run suite --metric repetition-3,distinct-2 -o result").succeeds();
    for metric in ["repetition-3", "distinct-2"] {
        let table = run.stdout().split(&format!("What {metric} sees")).nth(1).unwrap();
        for name in NAMES {
            let rows = table.split("\nsuite-").next().unwrap().lines();
            let rows = rows.filter(|row| row.trim_start().starts_with(&format!("{name} ")));
            assert_eq!(rows.count(), 1, "{name}: {table}");
        }
    }
    assert!(run.stdout().starts_with("repetition-3 sees lexical repetition"), "{}", run.stdout());
    let result = json(&sandbox.read("result/result.json"));
    assert_eq!(result["kind"], "suite");
    let cells = result["cells"].as_array().unwrap();
    let cell = cells
        .iter()
        .find(|cell| cell["metric"] == "repetition-3" && cell["aspect"] == "lexical repetition")
        .unwrap();
    assert_eq!(cell["pairs"], 30);
    assert!(cell["auc"].as_f64().unwrap() > 0.9, "{cell}");
    assert!(cell["shift_low"].as_f64().unwrap() <= cell["shift"].as_f64().unwrap());
    assert!(!result["examples"].as_array().unwrap().is_empty());
    assert!(sandbox.read("result/result.csv").starts_with("metric,aspect,test,pairs"));
    // The result becomes a page.
    sandbox.run("report result -o page.html").succeeds();
    let page = sandbox.read("page.html");
    assert!(page.contains("What these metrics see") && page.contains("lexical repetition"));
}

#[test]
fn scores_of_other_programs_are_joined_by_system_and_id() {
    let sandbox = with_suite(20);
    sandbox
        .run("score suite/texts.jsonl --metric text-length,distinct-2 -o scores.jsonl")
        .succeeds();
    let computed = sandbox.run("suite run suite --metric text-length,distinct-2 --format csv");
    let given = sandbox.run("suite run suite --scores scores.jsonl --format csv").succeeds();
    assert_eq!(given.stdout(), computed.succeeds().stdout());

    // A table from elsewhere, with holes.
    let mut table = "id,system,mine\n".to_owned();
    for line in sandbox.read("suite/texts.jsonl").lines().skip(1) {
        let text = json(line);
        let length = text["story"].as_str().unwrap().len();
        let _ = writeln!(
            table,
            "{},{},{length}",
            text["id"].as_str().unwrap(),
            text["system"].as_str().unwrap()
        );
    }
    sandbox.write("mine.csv", table);
    let run = sandbox.run("suite run suite --scores mine.csv --aspects typo --format json");
    let run = run.succeeds();
    let cell = &json(run.stdout())["cells"][0];
    assert_eq!((cell["pairs"].as_u64(), cell["absent"].as_u64()), (Some(19), Some(1)));
    assert!(run.stderr().contains("1 of 40 texts have no score"), "{}", run.stderr());

    sandbox.write("foreign.csv", "id,system,mine\nx,y,1\n");
    sandbox
        .run("suite run suite --scores foreign.csv")
        .fails_with("no row belongs to a text of the suite");
}

#[test]
fn the_reading_of_openmeva_uses_no_pairs() {
    let sandbox = with_suite(20);
    let run = |options: &str| {
        let line = format!("suite run suite --metric distinct-2 --format json {options}");
        json(sandbox.run(&line).succeeds().stdout())
    };
    let (ours, theirs) = (run(""), run("--compat"));
    let find = |result: &Value, aspect: &str| {
        let cells = result["cells"].as_array().unwrap().clone();
        cells.into_iter().find(|cell| cell["aspect"] == aspect).unwrap()
    };
    let cell = find(&theirs, "lexical repetition");
    assert_eq!((cell["pairs"].as_u64(), cell["originals"].as_u64()), (Some(0), Some(20)));
    assert_eq!(cell["right_order"]["absent"], "not-paired");
    assert_eq!(find(&ours, "lexical repetition")["r"], cell["r"], "all stories have a twin here");
}

#[test]
fn metrics_that_need_references_can_borrow_them() {
    let sandbox = with_suite(8);
    sandbox.run("suite run suite --metric bleu").fails_with("reference");
    sandbox.run("suite make stories.jsonl --borrow-references -o lent").succeeds();
    let run = sandbox.run("suite run lent --metric bleu --aspects typo --format json").succeeds();
    assert_eq!(json(run.stdout())["cells"][0]["pairs"], 8);
    assert!(sandbox.read("lent/suite.json").contains("\"borrowed_references\": true"));
}

#[test]
fn strange_stories_are_counted() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "stories.jsonl",
        "{\"story\": \"One sentence.\"}\n{\"story\": \"no marks and no capitals at all\"}\n\
         {\"story\": \"\u{1f600} \u{1f600}. \u{1f600}!\"}\n\
         {\"story\": \"SHE WAS LATE. SHE RAN FOR AN HOUR.\"}\n",
    );
    let run = sandbox.run("suite make stories.jsonl -o suite").succeeds();
    assert!(run.stdout().contains("the story has only its leading context 2"), "{}", run.stdout());
    let time = json(sandbox.read("suite/time.jsonl").lines().next().unwrap());
    assert_eq!(time["twin"], "SHE WAS LATE. SHE RAN FOR A CENTURY.");
    sandbox.run("suite run suite --metric text-length").succeeds();
}

#[test]
fn mistakes_are_explained_and_nothing_is_overwritten() {
    let sandbox = with_suite(4);
    sandbox.write("facts.txt", "no fact\n");
    std::fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.write("mine/typo.jsonl", "precious");
    for (line, message) in [
        ("suite make stories.jsonl -o mine", "mine: the folder is not empty and holds no suite"),
        ("suite make stories.jsonl -o new --aspects typos", "did you mean \"typo\"?"),
        (
            "suite make stories.jsonl -o new --aspects common-sense",
            "--aspects common sense: the aspect needs a table; name it with --triples FILE",
        ),
        (
            "suite make stories.jsonl -o new --aspects typo --triples facts.txt",
            "facts.txt:1: not a fact; a line is head|||relation|||tail",
        ),
        ("suite run mine", "mine: the folder holds no suite: it has no suite.json"),
        ("suite run nowhere", "nowhere"),
        ("suite run suite --metric blue", "did you mean \"bleu\"?"),
    ] {
        sandbox.run(line).fails_with(message);
    }
    assert_eq!(sandbox.read("mine/typo.jsonl"), "precious");
    assert!(!sandbox.path("new").exists());

    // A suite that was damaged after it was made.
    let typos = sandbox.read("suite/typo.jsonl");
    sandbox.write("suite/typo.jsonl", typos.replace("\"twin\":\"Ann", "\"twin\":\"Anna"));
    sandbox.run("suite run suite --metric text-length").fails_with(
        "suite/typo.jsonl:1: field \"edits\": the edits do not lead from the original to the twin",
    );
    sandbox.write("suite/typo.jsonl", typos.lines().next().unwrap());
    sandbox
        .run("suite run suite --metric text-length")
        .fails_with("suite/typo.jsonl: 1 pairs, but suite.json counts 4; make the suite again");
    sandbox.write("suite/typo.jsonl", "{\"id\": 3}\n");
    sandbox
        .run("suite run suite --metric text-length")
        .fails_with("suite/typo.jsonl:1: not a pair");
    // Making it again replaces it.
    sandbox.run("suite make stories.jsonl -o suite").succeeds();
    assert_eq!(sandbox.read("suite/typo.jsonl"), typos);
}

/// OpenMEVA's layout of rated stories.
fn rated(items: usize) -> String {
    let mut document = serde_json::Map::new();
    for item in 0..items {
        let story = |words: usize| "She ran to the lake and swam. ".repeat(words + item % 3);
        let text = |words: usize, score: usize| serde_json::json!({"text": story(words).trim(), "score": [score, score % 5 + 1, 3]});
        document.insert(
            item.to_string(),
            serde_json::json!({
                "prompt": "It was warm.",
                "gold_response": "They went out to swim in the lake.",
                "gen": {"gpt": text(2, 1 + item % 5), "s2s": text(4, 1 + item * 3 % 5)},
            }),
        );
    }
    serde_json::to_string(&document).unwrap()
}

#[test]
fn rated_stories_in_openmevas_layout_are_correlated_with_people() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("data/mags_data")).unwrap();
    sandbox.write("data/mags_data/mags_roc.json", rated(20));
    sandbox.write("data/mags_data/mags_wp.json", rated(15));
    let run = sandbox.run("suite run data --metric text-length,distinct-2 -o out").succeeds();
    for part in ["human-scores", "generators-roc", "generators-wp", "datasets", "n = 40", "n = 30"]
    {
        assert!(run.stdout().contains(part), "{part}: {}", run.stdout());
    }
    let tasks = json(&sandbox.read("out/human.json"));
    assert_eq!(tasks["datasets"].as_array().unwrap().len(), 2);
    assert!(sandbox.read("out/human.csv").lines().count() > 10);
    sandbox.run("suite run data/mags_data/mags_roc.json --metric text-length").succeeds();

    sandbox.run("score data/mags_data/mags_roc.json --metric text-length -o mine.jsonl").succeeds();
    sandbox
        .run("suite run data/mags_data/mags_roc.json --scores mine.jsonl --format csv")
        .succeeds()
        .prints("text-length");
    sandbox
        .run("suite run data --scores mine.jsonl")
        .fails_with("name the file instead of the folder");
}

#[test]
fn texts_in_openmevas_layout_are_tested() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("acts_data/roc");
    for part in ["discrimination_test", "invariance_test"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
    }
    let story = |i: usize| format!("she walked {i} miles to the lake . she swam for a while .");
    let lines = |make: &dyn Fn(usize) -> String| (0..12).map(make).collect::<String>();
    let human = lines(&|i| format!("{i}|||ann woke up .|||{}\n", story(i)));
    let damaged =
        lines(&|i| format!("{i}|||ann woke up .|||{} {}|||ngram:4\n", story(i), story(i)));
    let harmless =
        lines(&|i| format!("{i}|||ann woke up .|||{}\n", story(i).replace("lake", "lkae")));
    std::fs::write(folder.join("discrimination_test/roc_lexical_rept.txt"), human).unwrap();
    std::fs::write(folder.join("discrimination_test/roc_lexical_rept_perturb.txt"), damaged)
        .unwrap();
    std::fs::write(folder.join("invariance_test/roc_typos_perturb.txt"), harmless).unwrap();
    std::fs::write(folder.join("roc_test_ipt.txt"), lines(&|_| "ann woke up .\n".into())).unwrap();
    std::fs::write(folder.join("roc_test_opt.txt"), lines(&|i| story(i) + "\n")).unwrap();
    let run =
        sandbox.run("suite run acts_data --metric text-length,repetition-3 -o out").succeeds();
    assert!(run.stdout().contains("OpenMEVA's texts of roc"), "{}", run.stdout());
    let result = json(&sandbox.read("out/roc/result.json"));
    let cells = result["cells"].as_array().unwrap();
    let sees = |aspect: &str| {
        let cell = cells.iter().find(|c| c["metric"] == "repetition-3" && c["aspect"] == aspect);
        cell.unwrap()["auc"].as_f64().unwrap()
    };
    assert!(sees("lexical repetition") > 0.9);
    assert!((sees("typo") - 0.5).abs() < 0.2);
}

#[test]
fn the_document_shows_what_the_program_prints() {
    let page = std::fs::read_to_string(repository("docs/suite.md")).unwrap();
    let sandbox = Sandbox::new();
    let stories = repository("examples/stories.jsonl");
    let line = format!("suite make {} -o suite --quiet", stories.display());
    let run = sandbox.run(&line).succeeds();
    assert!(page.contains(run.stdout().trim_end()), "docs/suite.md shows this: {}", run.stdout());
}
