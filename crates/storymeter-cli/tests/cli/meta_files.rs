//! `storymeter meta` with hostile files, folders and options.

use crate::sandbox::Sandbox;

/// Scores of three systems and a human on six items, with ratings on these criteria.
fn scores(criteria: &[&str]) -> String {
    let mut lines = String::new();
    for (at, system) in ["Human", "Tale", "Yarn", "Saga"].iter().enumerate() {
        for item in 0..6 {
            let human: Vec<String> = criteria
                .iter()
                .enumerate()
                .map(|(c, name)| format!("\"{name}\": [{}]", 1 + (at * 3 + item * 2 + c) % 5))
                .collect();
            lines += &format!(
                "{{\"id\": \"{system}-{item}\", \"system\": \"{system}\", \"item\": \"{item}\", \
                 \"scores\": {{\"near\": {}, \"far\": {}}}, \"human\": {{{}}}}}\n",
                (at * 7 + item * 5) % 11,
                (at + item * item) % 5,
                human.join(", ")
            );
        }
    }
    lines
}

fn with_scores() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", scores(&["fun", "plot"]));
    sandbox
}

/// The same numbers in HANNA's layout: three systems that compete.
fn with_hanna() -> Sandbox {
    let sandbox = Sandbox::new();
    let list = |start: usize| {
        let numbers: Vec<String> =
            (0..6).map(|item| (1 + (start + item * 2) % 5).to_string()).collect();
        format!("\"[{}]\"", numbers.join(","))
    };
    let mut text = String::from("Model,Relevance,Coherence,BLEU Ξ§,Other ¤§\n");
    for (at, system) in ["Human", "Tale", "Yarn", "Saga"].iter().enumerate() {
        let cells: Vec<String> = (0..4).map(|column| list(at * 3 + column * at)).collect();
        text += &format!("{system},{}\n", cells.join(","));
    }
    sandbox.write("hanna.csv", text);
    sandbox
}

#[test]
fn no_input_is_overwritten() {
    let sandbox = with_scores();
    std::fs::create_dir(sandbox.path("out")).unwrap();
    // Stories and scores that have the names of sheets, and scores whose header has one.
    sandbox.write("out/systems.csv", sandbox.read("scores.jsonl"));
    sandbox.write("out/study.json", sandbox.read("scores.jsonl"));
    for input in ["out/systems.csv", "out/study.json"] {
        let before = sandbox.read(input);
        sandbox
            .run(&format!("meta table {input} -o out"))
            .fails_with("writing it would destroy the input");
        assert!(sandbox.read(input) == before);
    }
    let errors = "{\"id\": \"Tale-0\", \"errors\": [\"plot\", null]}\n";
    sandbox.write("out/borda.csv", errors);
    sandbox
        .run("meta table scores.jsonl --errors out/borda.csv --all -o out")
        .fails_with("out/borda.csv: this is also the input");
    assert_eq!(sandbox.read("out/borda.csv"), errors);
    sandbox.run("meta table scores.jsonl -o scores.jsonl").fails_with("this is a file");

    let sandbox = with_hanna();
    std::fs::create_dir(sandbox.path("out")).unwrap();
    std::fs::hard_link(sandbox.path("hanna.csv"), sandbox.path("out/table-5.csv")).unwrap();
    let before = sandbox.read("hanna.csv");
    sandbox.run("meta hanna hanna.csv -o out").fails_with("writing it would destroy the input");
    assert!(sandbox.read("hanna.csv") == before && sandbox.read("out/table-5.csv") == before);
}

#[test]
fn a_result_in_the_folder_of_its_inputs_can_be_made_twice() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("set/metric_output")).unwrap();
    let lines: String = (0..6).map(|i| format!("{i} ||| rain {i} ||| {} 1\n", i % 2)).collect();
    sandbox.write("set/ant_data.txt", &lines);
    sandbox.write("set/metric_output/mine.txt", "1\n2\n4\n3\n5\n9\n");
    for folder in ["set", "set/metric_output"] {
        sandbox.run(&format!("meta union set -o {folder}")).succeeds();
        sandbox.run(&format!("meta union set -o {folder}")).succeeds();
    }
    assert_eq!(sandbox.read("set/ant_data.txt"), lines);
    assert_eq!(sandbox.read("set/metric_output/mine.txt"), "1\n2\n4\n3\n5\n9\n");
}

#[cfg(unix)]
#[test]
fn sheets_keep_their_mode_and_a_read_only_folder_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = with_scores();
    sandbox.run("meta table scores.jsonl -o out").succeeds();
    let set = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(sandbox.path(name), permissions).unwrap();
    };
    let mode = |name: &str| sandbox.path(name).metadata().unwrap().permissions().mode() & 0o777;
    let private = ["out/study.json", "out/systems.csv", "out/index.csv"];
    private.iter().for_each(|name| set(name, 0o600));
    sandbox.run("meta table scores.jsonl -o out").succeeds();
    assert_eq!(private.map(mode), [0o600; 3]);
    set("out/systems.csv", 0o400);
    let study = sandbox.read("out/study.json");
    sandbox
        .run("meta table scores.jsonl --seed 7 -o out")
        .fails_with("out/systems.csv: the file is read-only");
    assert!(sandbox.read("out/study.json") == study, "nothing was changed");
}

#[test]
fn criteria_called_like_paths_and_devices_have_their_sheets_in_the_folder() {
    let sandbox = Sandbox::new();
    let long = "q".repeat(10_000);
    let names = ["../../x", "con", "", "a/b", "a-b", "fun", "fun-distribution", "\\u0000", &long];
    sandbox.write("scores.jsonl", scores(&names));
    sandbox.run("meta table scores.jsonl --all -o out").succeeds();
    assert_eq!(sandbox.names(), ["out", "scores.jsonl"]);
    let index = sandbox.read("out/index.csv");
    let files = std::fs::read_dir(sandbox.path("out")).unwrap().count();
    // Each record of the list begins with a file, and titles with line breaks are quoted.
    let listed = index.lines().filter(|line| line.contains(".csv,")).count();
    assert_eq!(files, listed + 2, "the list itself and study.json");
    sandbox.run("report out -o page.html").succeeds();
}

#[test]
fn names_do_nothing_to_a_terminal_and_stay_whole_in_data() {
    let sandbox = Sandbox::new();
    let hostile = scores(&["fun\\u001b[2J\\u202e\\r\\n"])
        .replace("Tale\", \"item", "Tale\\u001b]0;x\\u0007\", \"item")
        .replace("\"near\"", "\"near\\u009b2J\"");
    sandbox.write("scores.jsonl", hostile);
    let text = sandbox.run("meta table scores.jsonl --show all").succeeds();
    let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!text.stdout().contains(obeyed), "a character that a terminal obeys is printed");
    assert!(text.stdout().contains(r"fun\u{1b}[2J\u{202e}\r\n"), "{}", text.stdout());
    let data = sandbox.run("meta table scores.jsonl --format jsonl").succeeds();
    // The first sheets rank metrics, and a later one names the systems.
    let sheets: Vec<serde_json::Value> =
        data.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_whole = |sheet: &serde_json::Value| sheet.to_string().contains("Tale\\u001b]0;x\\u0007");
    assert!(sheets.iter().any(is_whole), "{}", data.stdout());
}

#[test]
fn three_systems_are_analysed_and_every_error_names_its_file() {
    let sandbox = with_hanna();
    sandbox.run("meta hanna hanna.csv").succeeds();
    let ratings = |content: &str, message: &str| {
        sandbox.write("ratings.csv", content);
        sandbox.run("meta hanna hanna.csv --ratings ratings.csv").fails_with(message);
    };
    let head = "story_id,system,relevance,coherence\n";
    ratings("", "ratings.csv: no column \"id\"");
    ratings(head, "ratings.csv: no row of ratings");
    ratings(&format!("{head}1,Nobody,1,1\n"), "ratings.csv: there is no system \"Nobody\"");
    ratings(&format!("{head}1,Tale,inf,1\n"), "ratings.csv:2: field \"Relevance\": \"inf\"");
    ratings(&format!("{head}1,Tale,1,1e400\n"), "ratings.csv:2: field \"Coherence\": \"1e400\"");
    ratings(&format!("{head}1,Tale,1\n"), "ratings.csv:2: ");
    ratings(&format!("{head}\0,Tale,\0,1\n"), "ratings.csv:2: field \"Relevance\"");
    sandbox.write("ratings.csv", b"story_id,system,relevance,coherence\n1,T\xe4le,1,1\n");
    sandbox.run("meta hanna hanna.csv --ratings ratings.csv").fails_with("ratings.csv:2: ");
    sandbox.write("ratings.csv", format!("{head}1,Tale,1,1\n"));
    sandbox.run("meta hanna hanna.csv --ratings ratings.csv").succeeds();
    for empty in ["[]", "[null,null]"] {
        let rows = ["Tale", "Yarn", "Saga", "Myth"]
            .map(|system| format!("{system},\"{empty}\",\"{empty}\"\n"));
        sandbox.write("empty.csv", format!("Model,Relevance,BLEU Ξ§\n{}", rows.concat()));
        sandbox.run("meta hanna empty.csv").succeeds();
    }

    let sandbox = with_scores();
    let table = |extra: &str| sandbox.run(&format!("meta table scores.jsonl {extra}"));
    table("--lower blue").fails_with("scores.jsonl: there is no metric \"blue\"");
    table("--without Nobody").fails_with("scores.jsonl: there is no system \"Nobody\"");
    sandbox.write("drift.jsonl", "{\"id\": \"x\", \"scores\": {\"near\": 1}}\n");
    table("--drift drift.jsonl").fails_with("drift.jsonl: none of its ids is in");
    sandbox.write("errors.jsonl", "{\"id\": \"x\"");
    table("--errors errors.jsonl").fails_with("errors.jsonl:1: ");
}

#[test]
fn empty_names_and_impossible_numbers_are_errors() {
    let sandbox = with_scores();
    let table = |extra: &str| sandbox.run(&format!("meta table scores.jsonl {extra}"));
    table("--show=").fails_with("there is no sheet \"\"");
    table("--show systems,").fails_with("there is no sheet \"\"");
    for option in ["--lower=", "--higher=", "--lower=near,"] {
        table(option).fails_with("there is no metric \"\"");
    }
    table("--without=").fails_with("there is no system \"\"");
    for scale in ["1..inf", "nan..5", "-inf..5", "1..1e400", ""] {
        table(&format!("--scale={scale}")).fails_with("--scale");
    }
    for option in ["--draws", "--resamples"] {
        table(&format!("{option} 0")).fails_with(option);
        table(&format!("{option} 18446744073709551615")).fails_with(option);
    }
    for share in ["0", "1", "nan", "inf", "-0.5"] {
        table(&format!("--confidence={share}")).fails_with("--confidence");
    }
    for drift in ["=x", "x=", "="] {
        sandbox
            .run(&format!("meta union set --drift {drift}"))
            .fails_with("not of the form RATED=SCORES");
    }
}

#[test]
fn a_table_of_systems_with_one_story_each_does_not_take_all_memory() {
    let sandbox = Sandbox::new();
    let line = |i: usize| {
        format!(
            "{{\"id\": {i}, \"system\": \"x{i}\", \"item\": \"{i}\", \"scores\": {{\"a\": {}}}, \
             \"human\": {{\"fun\": {}}}}}\n",
            i % 7,
            i % 5
        )
    };
    sandbox.write("scores.jsonl", (0..100_000).map(line).collect::<String>());
    sandbox
        .run("meta table scores.jsonl")
        .fails_with("scores.jsonl: there are 100000 systems, but at most 1000 can be analysed");
}

#[test]
fn numbers_without_squares_are_refused_and_tiny_ones_give_a_study_that_can_be_read() {
    let sandbox = Sandbox::new();
    let table = |score: &str, rating: &str| {
        let text = scores(&["fun"])
            .replacen("\"far\": 0", &format!("\"far\": {score}"), 1)
            .replacen("[1]", &format!("[{rating}]"), 1);
        sandbox.write("scores.jsonl", text);
        sandbox.run("meta table scores.jsonl -o out")
    };
    let message = "scores.jsonl:1: field \"far\": 1e308 is too large";
    table("1e308", "1").fails_with(message);
    table("0", "-1e200").fails_with("scores.jsonl:1: field \"fun\": -1e200 is too large");
    assert_eq!(sandbox.names(), ["scores.jsonl"]);
    for (score, rating) in [("1e69", "-1e69"), ("5e-324", "5e-324")] {
        table(score, rating).succeeds();
        sandbox.run("report out scores.jsonl -o page.html --figures figures").succeeds();
        assert!(!sandbox.read("page.html").contains("\"NaN"), "{score}, {rating}");
    }
}

#[test]
fn infinite_scores_of_a_rated_set_are_refused() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("set/metric_output")).unwrap();
    let lines: String = (0..4).map(|i| format!("{i} ||| rain {i} ||| {} 1\n", i % 2)).collect();
    sandbox.write("set/ant_data.txt", &lines);
    for number in ["inf", "1e400"] {
        sandbox.write("set/metric_output/mine.txt", format!("1\n2\n{number}\n3\n"));
        sandbox
            .run("meta union set")
            .fails_with(&format!("mine.txt:3: \"{number}\" is not a finite number"));
        sandbox.write("set/metric_output/mine.txt", "1\n2\n4\n3\n");
        sandbox.write("set/ant_data.txt", lines.replacen("||| 0 1", &format!("||| {number} 1"), 1));
        sandbox.run("meta union set").fails_with("ant_data.txt:1: ");
        sandbox.write("set/ant_data.txt", &lines);
    }
}

#[test]
fn files_of_any_size_are_not_read_into_memory() {
    let large = |sandbox: &Sandbox, name: &str| {
        // The file has a hole instead of content, so it takes no room.
        std::fs::File::create(sandbox.path(name)).unwrap().set_len(8 << 30).unwrap();
    };
    let sandbox = with_hanna();
    large(&sandbox, "large.csv");
    sandbox
        .run("meta hanna hanna.csv --ratings large.csv")
        .fails_with("large.csv: the file has more than");
    let sandbox = with_scores();
    large(&sandbox, "large.jsonl");
    sandbox
        .run("meta table scores.jsonl --errors large.jsonl")
        .fails_with("large.jsonl: the file has more than");
    for name in ["metric_output/mine.txt", "edits.txt"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir_all(sandbox.path("set/metric_output")).unwrap();
        sandbox.write("set/ant_data.txt", "0 ||| rain ||| 1 1\n1 ||| snow ||| 0 1\n");
        large(&sandbox, &format!("set/{name}"));
        sandbox.run("meta union set").fails_with(&format!("{name}: the file has more than"));
    }
}
