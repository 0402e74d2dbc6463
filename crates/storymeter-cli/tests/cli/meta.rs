//! `storymeter meta`.

use std::fmt::Write as _;

use crate::sandbox::Sandbox;

/// A score that looks like one: between 0 and 1, different for every system and item.
fn score(system: usize, item: usize, salt: usize) -> f64 {
    let mixed = (system * 37 + item * 91 + salt * 53 + system * item * 17) % 101;
    (mixed as f64 + 20.0 * system as f64) / 200.0
}

const SYSTEMS: [&str; 5] = ["Human", "Tale", "Yarn", "Saga", "Myth"];
const ITEMS: usize = 6;

/// A small file in HANNA's layout: two criteria and four metrics, of which one is constant and one
/// has no known direction.
fn hanna_csv() -> String {
    let list = |values: Vec<f64>| {
        let numbers: Vec<String> = values.iter().map(|v| format!("{v:.3}")).collect();
        format!("\"[{}]\"", numbers.join(", "))
    };
    let mut text =
        String::from("Model,Relevance,Coherence,BLEU Ξ§,DepthScore Ξε,Text length ¤§,Flat Ξ§\n");
    for (s, system) in SYSTEMS.iter().enumerate() {
        let column = |f: &dyn Fn(usize) -> f64| list((0..ITEMS).map(f).collect());
        let cells = [
            column(&|i| rating_mean(s, i, 0)),
            column(&|i| rating_mean(s, i, 1)),
            column(&|i| score(s, i, 2)),
            column(&|i| 1.0 - score(s, i, 3)),
            column(&|i| (100.0 * score(s, i, 4)).round()),
            column(&|_| 0.5),
        ];
        let _ = writeln!(text, "{system},{}", cells.join(","));
    }
    text
}

fn rating(system: usize, item: usize, criterion: usize, rater: usize) -> usize {
    1 + (system + item * 2 + criterion + rater * (system + 1)) % 5
}

fn rating_mean(system: usize, item: usize, criterion: usize) -> f64 {
    (0..3).map(|rater| rating(system, item, criterion, rater)).sum::<usize>() as f64 / 3.0
}

fn ratings_csv() -> String {
    let mut text = String::from("story_id,system,prompt_index,rater,relevance,coherence\n");
    for (s, system) in SYSTEMS.iter().enumerate() {
        for item in 0..ITEMS {
            for rater in 0..3 {
                let (first, second) = (rating(s, item, 0, rater), rating(s, item, 1, rater));
                let _ = writeln!(
                    text,
                    "{},{system},{item},{},{first},{second}",
                    s * ITEMS + item,
                    rater + 1
                );
            }
        }
    }
    text
}

fn with_hanna() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("scores.csv", hanna_csv());
    sandbox.write("ratings.csv", ratings_csv());
    sandbox
}

#[test]
fn hanna_prints_its_tables_and_says_where_the_editions_differ() {
    let run = with_hanna().run("meta hanna scores.csv --ratings ratings.csv").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn hanna_as_published_is_another_edition() {
    let run = with_hanna()
        .run(
            "meta hanna scores.csv --ratings ratings.csv --compat --show figure-3,figure-7,table-6",
        )
        .succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn a_folder_holds_the_study_and_the_sheets_that_people_open_first() {
    let sandbox = with_hanna();
    let names = |folder: &str| {
        let entries = std::fs::read_dir(sandbox.path(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    sandbox.run("meta hanna scores.csv --ratings ratings.csv --all -o all").succeeds();
    assert!(names("all").len() > 40);
    // A folder that had all sheets loses those that the new study does not write.
    for folder in ["out", "all"] {
        sandbox.run(&format!("meta hanna scores.csv --ratings ratings.csv -o {folder}")).succeeds();
        let tables = ["table-3.csv", "table-4.csv", "table-5.csv", "table-6.csv"];
        let files =
            ["correlations.csv", "index.csv", "ranking.csv", "study.json", "system-pairs.csv"];
        assert_eq!(names(folder), [&files[..], &tables[..]].concat());
    }
    sandbox.run("report out -o page.html").succeeds();
    sandbox.run("meta hanna scores.csv --all").fails_with("--output");
}

#[test]
fn a_folder_with_all_sheets_has_every_table_and_figure() {
    let sandbox = with_hanna();
    sandbox.run("meta hanna scores.csv --ratings ratings.csv --all -o out").succeeds();
    let names: Vec<String> = std::fs::read_dir(sandbox.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    // Two criteria, so Williams matrices are Figures 27, 28 and 33, 34.
    let figures = (1..=28).chain(33..=34).map(|n| format!("figure-{n}.csv"));
    let tables = [3, 4, 5, 6, 8, 9].map(|n| format!("table-{n}.csv"));
    for name in figures
        .chain(tables)
        .chain(["study.json", "index.csv", "ranking.csv", "rankings_global.csv"].map(String::from))
    {
        assert!(names.contains(&name), "{name} is missing of {names:?}");
    }
    let json: serde_json::Value = serde_json::from_str(&sandbox.read("out/study.json")).unwrap();
    assert_eq!(json["kind"], "hanna");
    assert_eq!(
        sandbox.names(),
        ["out", "ratings.csv", "scores.csv"],
        "no temporary folder stays behind"
    );
    insta::assert_snapshot!(sandbox.read("out/figure-14.csv"));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let sandbox = with_hanna();
    for threads in [1, 3] {
        sandbox
            .run(&format!(
                "meta hanna scores.csv --ratings ratings.csv --threads {threads} -o {threads}"
            ))
            .succeeds();
    }
    assert!(sandbox.read("1/study.json") == sandbox.read("3/study.json"));
}

#[test]
fn hanna_names_what_is_wrong_with_its_input() {
    let sandbox = with_hanna();
    let ratings = |content: String, message: &str| {
        sandbox.write("bad.csv", content);
        sandbox.run("meta hanna scores.csv --ratings bad.csv -o out").fails_with(message);
        assert!(!sandbox.path("out").exists(), "no output for a run that failed");
    };
    ratings(
        ratings_csv().replacen("0,Human,0,1,1,", "0,Human,0,1,7,", 1),
        "bad.csv:2: field \"Relevance\": rating 7",
    );
    ratings(
        ratings_csv().replace("Myth", "Epic"),
        "there is no system \"Epic\"; there are: Human, Tale",
    );
    ratings("story_id,system\n1,Tale\n".into(), "no column \"Relevance\"");
    let scores = |content: String, message: &str| {
        sandbox.write("bad.csv", content);
        sandbox.run("meta hanna bad.csv").fails_with(message);
    };
    scores(
        hanna_csv().replace("Yarn", "Tale"),
        "duplicate system \"Tale\": it was first used on line 3",
    );
    scores(hanna_csv().replacen("[", "[9, ", 1), "numbers, but those before it have");
    scores("Model,BLEU Ξ§\nTale,\"[1, 2]\"\n".into(), "no human criterion to compare metrics with");
    scores("Model,Relevance\nTale,\"[1, 2]\"\n".into(), "no metric to evaluate");
    scores(hanna_csv().replacen("Human,\"[", "Human,\"[7", 1), "outside the scale 1..5");
    sandbox
        .run("meta hanna scores.csv --show figure-99")
        .fails_with("there is no sheet \"figure-99\"");
    sandbox.run("meta hanna none.csv").fails_with("none.csv");
}

#[test]
fn too_few_systems_give_nan_with_the_reason() {
    let sandbox = Sandbox::new();
    let two: Vec<String> = hanna_csv().lines().take(4).map(|line| format!("{line}\n")).collect();
    sandbox.write("two.csv", two.concat());
    let run = sandbox.run("meta hanna two.csv --show figure-3").succeeds();
    assert!(run.stdout().contains("fewer than 3 observations"), "{}", run.stdout());
}

/// Ten rated stories in UNION's layout.
fn with_union() -> Sandbox {
    let sandbox = Sandbox::new();
    let (mut rated, mut typed, mut union, mut ppl) =
        (String::new(), String::new(), String::new(), String::new());
    for story in 0..10usize {
        let reasonable = |rater: usize| (story * 3 + rater * 5) % 10 < story + 1;
        let kind = |rater: usize| if reasonable(rater) { 0 } else { 1 + (story + rater / 3) % 5 };
        let words = |f: &dyn Fn(usize) -> usize| {
            (0..7).map(|r| f(r).to_string()).collect::<Vec<_>>().join(" ")
        };
        let text = format!("the {story} birds sang . then they flew away .");
        let _ =
            writeln!(rated, "{story} ||| {text} ||| {}", words(&|r| usize::from(reasonable(r))));
        let _ = writeln!(typed, "{story} ||| {text} ||| {}", words(&kind));
        let _ = writeln!(union, "{}", (story * 7 % 10) as f64 / 10.0);
        let _ = writeln!(ppl, "{}", 30.0 - story as f64 - (story % 3) as f64);
    }
    for folder in ["set", "set/metric_output", "set/drift_output"] {
        std::fs::create_dir(sandbox.path(folder)).unwrap();
    }
    sandbox.write("set/ant_data.txt", rated);
    sandbox.write("set/ant_data_all.txt", typed);
    sandbox.write("set/metric_output/union.txt", &union);
    sandbox.write("set/metric_output/ppl.txt", &ppl);
    sandbox.write("set/metric_output/mine.txt", "1\n".repeat(10));
    sandbox.write("set/drift_output/union.txt", ppl);
    sandbox.write("set/edits.txt", "1\n1\n1\n0\n1\n0\n1\n0\n0\n0\n");
    sandbox
}

#[test]
fn union_prints_its_tables() {
    let run = with_union().run("meta union set --draws 20").succeeds();
    insta::assert_snapshot!(run.stdout());
}

#[test]
fn union_lists_the_stories_that_a_metric_misjudges_most() {
    let sandbox = with_union();
    let line = "meta union set --draws 20 --misjudged 2 --misjudged-by UNION --show table-11";
    insta::assert_snapshot!(sandbox.run(line).succeeds().stdout());
    sandbox.run("meta union set --all -o study").succeeds();
    let csv = std::fs::read_to_string(sandbox.path("study/table-11.csv")).unwrap();
    assert!(csv.starts_with("metric,judged,line,id,human,score,"), "{csv}");
    let study = std::fs::read_to_string(sandbox.path("study/study.json")).unwrap();
    assert!(study.contains("\"misjudged\""), "{study}");
    sandbox.run("report study -o page.html").succeeds();
    let page = std::fs::read_to_string(sandbox.path("page.html")).unwrap();
    assert!(page.contains("table-11") && page.contains("birds sang . then they flew away"));
    sandbox.run("meta union set --misjudged-by Onion").fails_with("did you mean \"UNION\"?");
}

#[test]
fn union_without_error_types_or_metrics_says_what_is_absent() {
    let sandbox = with_union();
    std::fs::remove_file(sandbox.path("set/ant_data_all.txt")).unwrap();
    let run = sandbox.run("meta union set").succeeds();
    let absent = run.stdout().matches("absent: ant_data_all.txt").count();
    assert_eq!(
        absent,
        1,
        "Table 6 reads the same set, and nothing is said twice: {}",
        run.stdout()
    );
    std::fs::remove_dir_all(sandbox.path("set/metric_output")).unwrap();
    std::fs::remove_dir_all(sandbox.path("set/drift_output")).unwrap();
    let run = sandbox.run("meta union set").succeeds();
    assert!(run.stdout().contains("absent: ant_data_all.txt"), "{}", run.stdout());
    assert!(run.stdout().contains("absent: metric_output"), "{}", run.stdout());
    assert!(run.stdout().contains("figure-3"), "{}", run.stdout());
}

#[test]
fn union_names_what_is_wrong_with_its_input() {
    let bad = |file: &str, content: &str, message: &str| {
        let sandbox = with_union();
        sandbox.write(file, content);
        sandbox.run("meta union set").fails_with(message);
    };
    bad("set/metric_output/mine.txt", "1\n2\n", "mine.txt: 2 numbers for 10 stories");
    bad("set/metric_output/mine.txt", "1\nx\n", "mine.txt:2: \"x\" is not a number");
    bad(
        "set/ant_data.txt",
        "1 ||| rain ||| 0 1 5\n",
        "ant_data.txt:1: rating 5 is outside the scale 0..1",
    );
    bad("set/ant_data.txt", "1 ||| rain\n", "ant_data.txt:1: the line does not have the form");
    bad("set/ant_data_all.txt", "0 ||| the 0 birds ||| 0\n", "1 stories, but ant_data.txt has 10");
    bad("set/edits.txt", "1\n0\n", "edits.txt: 2 lines for 10 stories");
    with_union().run("meta union nowhere").fails_with("ant_data.txt");
    with_union().run("meta union set --drift set").fails_with("not of the form RATED=SCORES");
}

/// Scores as `storymeter score` writes them, with ratings of two raters.
fn scores_jsonl() -> String {
    let mut text = String::new();
    for (s, system) in SYSTEMS.iter().enumerate() {
        for item in 0..ITEMS {
            let _ = writeln!(
                text,
                "{{\"id\": \"{system}-{item}\", \"system\": \"{system}\", \"item\": \"p{item}\", \"scores\": {{\"bleu\": {:.3}, \
                 \"ter\": {:.3}, \"mine\": {:.3}}}, \"human\": {{\"fun\": [{}, {}]}}}}",
                score(s, item, 2),
                1.0 - score(s, item, 3),
                score(s, item, 5),
                rating(s, item, 0, 0),
                rating(s, item, 0, 1),
            );
        }
    }
    text
}

#[test]
fn a_users_own_scores_get_the_same_analysis() {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", scores_jsonl());
    let line = "meta table scores.jsonl --without Human --scale 1..5 --all -o out";
    let run = sandbox.run(line).succeeds();
    insta::assert_snapshot!(run.stdout());
    let index = sandbox.read("out/index.csv");
    for sheet in
        ["correlations", "williams-system-fun", "drift-fun", "agreement", "metrics-story-kendall"]
    {
        assert!(index.contains(&format!("{sheet}.csv")), "{sheet} is missing:\n{index}");
    }
}

#[test]
fn error_types_and_drifted_scores_may_be_added() {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", scores_jsonl());
    let ids = || SYSTEMS.iter().flat_map(|s| (0..ITEMS).map(move |i| format!("{s}-{i}")));
    let kinds = ["null", "\"repetition\"", "\"logic\""];
    let line = |(at, id): (usize, String)| {
        let kind = |rater: usize| kinds[if at % 4 == 0 { 0 } else { (at / 5 + rater / 3) % 3 }];
        format!(
            "{{\"id\": \"{id}\", \"errors\": [{}]}}\n",
            (0..7).map(kind).collect::<Vec<_>>().join(", ")
        )
    };
    sandbox.write("errors.jsonl", ids().enumerate().map(line).collect::<String>());
    let line = |(at, id): (usize, String)| {
        format!("{{\"id\": \"{id}\", \"scores\": {{\"bleu\": {}}}}}\n", at * 7 % 30)
    };
    sandbox.write("drift.jsonl", ids().enumerate().map(line).collect::<String>());
    let run = sandbox
        .run("meta table scores.jsonl --errors errors.jsonl --drift drift.jsonl --show error-types,error-types-fun,dataset-drift")
        .succeeds();
    insta::assert_snapshot!(run.stdout());
    sandbox.write("strange.jsonl", "{\"id\": \"x\", \"errors\": [null]}\n");
    sandbox
        .run("meta table scores.jsonl --errors strange.jsonl")
        .fails_with("none of its ids has scores");
    sandbox.write("strange.jsonl", "{\"id\": \"x\"}\n");
    sandbox
        .run("meta table scores.jsonl --errors strange.jsonl")
        .fails_with("strange.jsonl:1: missing field `errors`");
}

#[test]
fn ratings_may_come_from_the_stories_and_systems_may_be_missing() {
    let sandbox = Sandbox::new();
    let (mut scores, mut stories) = (String::new(), String::new());
    for id in 0..8usize {
        let _ =
            writeln!(scores, "{{\"id\": \"{id}\", \"scores\": {{\"bleu\": {}}}}}", score(0, id, 1));
        let human = (id * 5 % 8) + 1;
        let _ = writeln!(
            stories,
            "{{\"id\": \"{id}\", \"story\": \"Rain fell.\", \"human\": {{\"fun\": {human}}}}}"
        );
    }
    sandbox.write("scores.jsonl", &scores);
    sandbox.write("stories.jsonl", stories);
    let run = sandbox
        .run("meta table scores.jsonl --stories stories.jsonl --show best-metrics")
        .succeeds();
    assert!(run.stdout().contains("pooled"), "{}", run.stdout());
    assert!(
        !run.stdout().contains("system    fun"),
        "one system has no system level: {}",
        run.stdout()
    );
    sandbox.run("meta table scores.jsonl").fails_with("no story has ratings");
}

#[test]
fn own_scores_with_faults_are_refused() {
    let bad = |content: String, extra: &str, message: &str| {
        let sandbox = Sandbox::new();
        sandbox.write("scores.jsonl", content);
        sandbox.run(&format!("meta table scores.jsonl {extra}")).fails_with(message);
    };
    let first = scores_jsonl().lines().next().unwrap().to_owned() + "\n";
    bad(
        scores_jsonl() + &first,
        "",
        "duplicate id \"Human-0\" of system \"Human\": it was first used on line 1",
    );
    bad(
        scores_jsonl() + &first.replace("Human-0", "again"),
        "--errors types.jsonl",
        "system \"Human\" has two stories for item \"p0\"",
    );
    bad(
        scores_jsonl().replacen("\"system\": \"Human\", ", "", 1),
        "",
        "has no system, but other stories have one",
    );
    bad(scores_jsonl(), "--scale 2..5", "outside the scale 2..5 (change the scale with --scale)");
    bad(scores_jsonl(), "--lower blue", "there is no metric \"blue\"; did you mean \"bleu\"?");
    bad(
        scores_jsonl(),
        "--without Nobody",
        "there is no system \"Nobody\"; there are: Human, Tale",
    );
    bad(
        scores_jsonl().replacen("0.", "zero", 1),
        "",
        "scores.jsonl:1: field \"scores\": wrong JSON",
    );
}

/// Stories of four systems that wrote for different items, rated on criteria with hostile names.
fn systems_apart() -> String {
    let words = ["rain", "door", "ship", "cat", "the", "a", "sang", "left", "night", "sea"];
    let mut text = String::new();
    for (s, system) in SYSTEMS[1..].iter().enumerate() {
        for item in 0..8 {
            let sentence = |salt: usize| {
                let word = |k: usize| {
                    words[(s * 7 + item * item + salt * k + k * k * (s + 1)) % words.len()]
                };
                (0..6 + (s + item) % 4).map(word).collect::<Vec<_>>().join(" ")
            };
            let _ = writeln!(
                text,
                "{{\"id\": \"{system}-{item}\", \"system\": \"{system}\", \"item\": \"{system}/{item}\", \
                 \"story\": \"{}.\", \"reference\": \"{}.\", \"human\": {{\"story-level flow\": {}, \
                 \"plot/pace\": {}, \"lexical-density\": {}}}}}",
                sentence(0),
                sentence(2),
                rating(s, item, 0, 0),
                rating(s, item, 1, 1),
                rating(s, item, 2, 2),
            );
        }
    }
    text
}

#[test]
fn systems_apart_have_the_right_n_no_f1_and_a_note() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", systems_apart());
    sandbox
        .run("score stories.jsonl --metric rouge:google,rouge:hanna,ter -o scores.jsonl")
        .succeeds();
    let run = sandbox.run("meta table scores.jsonl --all -o out").succeeds();
    assert!(run.stdout().contains("unpaired: systems: no two systems"), "{}", run.stdout());
    assert!(!run.stdout().contains("header:"), "the header is read: {}", run.stdout());
    let study: serde_json::Value = serde_json::from_str(&sandbox.read("out/study.json")).unwrap();
    let columns = study["columns"].as_array().unwrap();
    let column = |key: &str| columns.iter().find(|column| column["key"] == key).unwrap();
    assert_eq!(column("ter")["direction"], "lower", "no --lower is needed");
    for preset in ["google", "hanna"] {
        let signature = column(&format!("rouge:{preset}/rouge-1-r"))["signature"].as_str().unwrap();
        assert!(signature.starts_with("rouge"), "{signature}");
    }
    let agreements = sandbox.read("out/correlations.csv");
    let mut seen = 0;
    for line in agreements.lines().filter(|line| line.starts_with("ter,")) {
        let n = line.split(',').nth(8).unwrap();
        let level = line.split(',').nth(2).unwrap();
        let expected = match level {
            "story" => "0",
            "system" => "4",
            _ => "32",
        };
        assert_eq!(n, expected, "{line}");
        seen += 1;
    }
    assert_eq!(seen, 3 * 3 * 3);
    let f1 = sandbox.read("out/pairwise.csv");
    assert!(f1.contains("ter,nan,nan,nan,nan"), "{f1}");
    for file in [
        "williams-pooled-plot-pace.csv",
        "drift-story-level-flow.csv",
        "williams-system-lexical-density.csv",
    ] {
        assert!(sandbox.path("out").join(file).exists(), "{file}");
    }
}

#[test]
fn other_tests_and_intervals_can_be_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", scores_jsonl());
    let command = "meta table scores.jsonl --without Human --resamples 100";
    let run = sandbox
        .run(&format!(
            "{command} --test permutation --correction benjamini-hochberg --interval bca \
             --show permutation-pooled-fun-corrected"
        ))
        .succeeds();
    let text = run.stdout();
    assert!(text.contains("corrected after benjamini-hochberg"), "{text}");
    assert!(
        text.contains("|test:permutation|correction:benjamini-hochberg|interval:bca|"),
        "{text}"
    );
    sandbox.run(&format!("{command} --confidence 1")).fails_with("strictly between 0 and 1");
}

#[test]
fn a_later_result_leaves_no_sheet_of_an_older_one() {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", scores_jsonl());
    sandbox.run("meta table scores.jsonl --all -o out").succeeds();
    assert!(sandbox.path("out/drift-fun.csv").exists());
    sandbox.write("scores.jsonl", scores_jsonl().replace("\"fun\"", "\"wit\""));
    sandbox.run("meta table scores.jsonl --all -o out").succeeds();
    assert!(
        sandbox.path("out/drift-wit.csv").exists() && !sandbox.path("out/drift-fun.csv").exists()
    );
}

#[test]
fn sheets_can_be_markdown_latex_or_json() {
    let sandbox = with_hanna();
    let run = |extra: &str| {
        sandbox.run(&format!("meta hanna scores.csv --ratings ratings.csv {extra}")).succeeds()
    };
    insta::assert_snapshot!("meta_markdown", run("--show table-4 --format markdown").stdout());
    insta::assert_snapshot!("meta_latex", run("--show table-4 --format latex").stdout());
    let json = run("--show table-4 --format json");
    let sheets: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(sheets[0]["id"], "table-4");
    let jsonl = run("--show table-4 --format jsonl");
    let sheet: serde_json::Value = serde_json::from_str(jsonl.stdout()).unwrap();
    assert_eq!(sheets[0], sheet);
}

#[test]
fn a_table_can_come_from_several_files_of_other_programs() {
    let sandbox = Sandbox::new();
    let (mut scores, mut ratings) =
        (String::from("model;prompt_id;mine\n"), String::from("model,prompt_id,human/fun\n"));
    for (s, system) in SYSTEMS.iter().enumerate() {
        for item in 0..ITEMS {
            let _ = writeln!(scores, "{system};{item};{}", score(s, item, 0));
            let _ = writeln!(ratings, "{system},{item},{}", rating(s, item, 0, 0));
        }
    }
    sandbox.write("scores.csv", scores);
    sandbox.write("ratings.csv", ratings);
    let run = sandbox.run("meta table scores.csv ratings.csv --draws 50").succeeds();
    assert!(run.stdout().contains("meta-table|systems:5|items:6|criteria:1|metrics:1"));
    let told = "ratings.csv: 30 of 30 stories were joined by system and id";
    assert!(run.stdout().contains(told), "{}", run.stdout());
}
