//! `storymeter report`, from scores to the page and the figures.

use crate::sandbox::Sandbox;

/// Criteria whose names look like parts of a title, are no file names, or differ from another only
/// in a separator.
const CRITERIA: [&str; 4] = ["story-level flow", "plot/pace", "plot-pace", "lexical-density"];

/// Scores of four systems on six items by two metrics, with ratings. `noise` blurs one metric.
fn scores(noise: f64) -> String {
    let mut lines = String::new();
    for system in 0..4 {
        for item in 0..6 {
            let quality = f64::from((system * 7 + item * 5) % 11);
            let other = f64::from((system + item * item) % 5);
            let human: Vec<String> = CRITERIA
                .iter()
                .enumerate()
                .map(|(at, name)| format!("\"{name}\":[{}]", quality / (at as f64 + 3.0) + 1.0))
                .collect();
            lines += &format!(
                "{{\"id\":\"{system}-{item}\",\"system\":\"S{system}\",\"item\":\"{item}\",\
                 \"scores\":{{\"near\":{},\"far\":{}}},\"human\":{{{}}}}}\n",
                quality + noise * other,
                other - quality / 9.0,
                human.join(",")
            );
        }
    }
    lines
}

fn analysed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", scores(0.5));
    sandbox.write("b.jsonl", scores(3.0));
    sandbox.run("meta table a.jsonl -o a").succeeds();
    sandbox.run("meta table b.jsonl -o b").succeeds();
    sandbox
}

#[test]
fn one_page_and_three_files_per_figure() {
    let sandbox = analysed();
    let said = sandbox.run("report a a.jsonl --figures figures -o report.html").succeeds();
    assert!(said.stdout().is_empty() && said.stderr().contains("report.html"), "{}", said.stderr());
    let page = sandbox.read("report.html");
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains("Which metrics agree best with people, and is that certain?"));
    let conclusion = "near is clearly the best metric: it has the highest mean correlation over";
    assert!(page.contains(conclusion), "{page}");
    let elsewhere = page.matches("http://").count() + page.matches("https://").count();
    assert_eq!(elsewhere, page.matches("http://www.w3.org/").count(), "no address but namespaces");
    for (ending, magic) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("pdf", b"%PDF")] {
        let path = sandbox.path(&format!("figures/ranking.{ending}"));
        assert!(std::fs::read(path).unwrap().starts_with(magic), "{ending}");
    }
}

#[test]
fn every_criterion_has_its_files_whatever_its_name_is() {
    let sandbox = analysed();
    sandbox.run("report a a.jsonl --figures figures --figures-all -o report.html").succeeds();
    let mut names: Vec<String> = std::fs::read_dir(sandbox.path("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("scatter-") && name.ends_with(".svg"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "scatter-lexical-density.svg",
            "scatter-plot-pace-2.svg",
            "scatter-plot-pace.svg",
            "scatter-story-level-flow.svg"
        ]
    );
}

#[test]
fn a_few_figures_are_written_unless_all_are_wanted() {
    let sandbox = analysed();
    sandbox.run("report a a.jsonl --figures few -o report.html").succeeds();
    sandbox.run("report a a.jsonl --figures all --figures-all -o report.html").succeeds();
    let count = |folder: &str| std::fs::read_dir(sandbox.path(folder)).unwrap().count() / 3;
    assert!((4..=12).contains(&count("few")), "{}", count("few"));
    assert!(count("all") > 40, "{}", count("all"));
    sandbox.run("report a --figures-all -o report.html").fails_with("--figures <DIR>");
}

#[test]
fn figures_that_would_write_nothing_are_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", "{\"id\":\"a\",\"story\":\"A door opened.\"}\n");
    sandbox.write("scores.jsonl", "{\"id\":\"a\",\"scores\":{}}\n");
    sandbox
        .run("report scores.jsonl --stories stories.jsonl --figures figures -o report.html")
        .fails_with("there is nothing to draw");
    assert!(!sandbox.path("figures").exists() && !sandbox.path("report.html").exists());
}

#[test]
fn the_users_metric_is_pointed_out_and_an_unknown_one_fails_with_the_nearest() {
    let sandbox = analysed();
    sandbox.run("report a a.jsonl --highlight far -o report.html").succeeds();
    let page = sandbox.read("report.html");
    assert!(page.contains("<tr class=\"row own\" data-name=\"far\">"));
    assert!(page.contains("far has rank 2 of 2"));
    let report = || sandbox.run("report a a.jsonl --highlight naer -o other.html");
    report().fails_with("naer");
    report().fails_with("near");
    assert!(!sandbox.path("other.html").exists());
}

#[test]
fn scores_alone_compare_the_systems() {
    let sandbox = Sandbox::new();
    sandbox.write("scores.jsonl", without_ratings(&scores(0.5)));
    sandbox.run("report scores.jsonl --figures figures -o report.html").succeeds();
    let page = sandbox.read("report.html");
    assert!(page.contains("Which system is best, and is that certain?"));
    assert!(!page.contains("By near alone: ") && !page.contains("By far alone: "));
    for name in ["intervals", "pairs", "distribution"] {
        assert!(sandbox.path(&format!("figures/{name}.svg")).exists(), "{name}");
    }
    // By the other metric, where the user points it out.
    sandbox.run("report scores.jsonl --highlight far -o far.html").succeeds();
    assert!(sandbox.read("far.html").contains("By far alone: "));
}

/// The same scores without the ratings.
fn without_ratings(scores: &str) -> String {
    let unrated = |line: &str| format!("{}}}\n", line.split(",\"human\"").next().unwrap_or(line));
    scores.lines().map(unrated).collect()
}

#[test]
fn the_same_input_gives_the_same_page() {
    let sandbox = analysed();
    sandbox.run("report a a.jsonl -o one.html --threads 1").succeeds();
    sandbox.run("report a a.jsonl -o two.html --threads 2").succeeds();
    assert!(sandbox.read("one.html") == sandbox.read("two.html"));
}

#[test]
fn two_runs_on_the_same_stories_get_a_paired_test() {
    let sandbox = analysed();
    sandbox.run("report a b a.jsonl b.jsonl -o both.html").succeeds();
    let page = sandbox.read("both.html");
    let summary = page.split("</section>").next().unwrap();
    assert!(summary.contains("What changed from a to b"), "{summary}");
    let test = "Williams&#39; test for dependent correlations on the 24 stories";
    assert!(summary.contains(test), "{summary}");
    sandbox.run("report a b -o both.html").succeeds();
    let page = sandbox.read("both.html");
    assert!(page.contains("No test was made") && !page.contains("Fisher"));
}

#[test]
fn a_folder_without_a_result_is_named_and_leaves_no_page() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let report = || sandbox.run("report empty -o report.html");
    report().fails_with("no study.json in this folder");
    report().fails_with("`storymeter meta ... -o empty` makes one");
    sandbox.run("report nothing.jsonl -o report.html").fails_with("nothing.jsonl");
    sandbox.write("empty/result.json", "{}");
    report().fails_with("written by an older version, or writing it was interrupted");
    sandbox.write("empty/study.json", "{\"kind\": 3}");
    report().fails_with("study.json:1");
    assert_eq!(sandbox.names(), ["empty"]);
}

#[test]
fn a_story_that_is_there_twice_is_an_error() {
    let sandbox = analysed();
    let story = "{\"id\":\"0-0\",\"story\":\"A door opened.\"}\n";
    sandbox.write("stories.jsonl", story.repeat(2));
    sandbox
        .run("report a.jsonl --stories stories.jsonl -o report.html")
        .fails_with("stories.jsonl:2: duplicate id \"0-0\": it was first used on line 1");
    sandbox
        .write("twice.jsonl", scores(0.5).lines().next().unwrap().to_owned() + "\n" + &scores(0.5));
    sandbox
        .run("report twice.jsonl --stories stories.jsonl -o report.html")
        .fails_with("duplicate id \"0-0\" of system \"S0\"");
}

#[test]
fn a_training_log_becomes_curves() {
    let sandbox = Sandbox::new();
    sandbox.write("log.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":1.25}\n");
    sandbox.run("report log.jsonl -o log.html").succeeds();
    assert!(sandbox.read("log.html").contains("data-v=\"1.25\" data-r=\"loss\""));
}

#[test]
fn no_input_is_overwritten() {
    let sandbox = analysed();
    sandbox.write("stories.jsonl", "{\"id\":\"0-0\",\"story\":\"A door opened.\"}\n");
    std::fs::hard_link(sandbox.path("a.jsonl"), sandbox.path("hard")).unwrap();
    let inputs =
        ["a/study.json", "a/systems.csv", "a.jsonl", "hard", "stories.jsonl", "b/index.csv"];
    let before: Vec<String> = inputs.iter().map(|name| sandbox.read(name)).collect();
    for name in inputs {
        sandbox
            .run(&format!("report a b a.jsonl --stories stories.jsonl -o {name} --figures figures"))
            .fails_with("writing it would destroy the input");
    }
    let after: Vec<String> = inputs.iter().map(|name| sandbox.read(name)).collect();
    assert!(before == after);
    assert!(!sandbox.path("figures").exists(), "nothing was made before the check");
    // Figures are outputs too: a table that has the name of one is not overwritten.
    std::fs::create_dir(sandbox.path("figures")).unwrap();
    sandbox.write("figures/ranking.svg", sandbox.read("a.jsonl"));
    sandbox
        .run("report a figures/ranking.svg -o report.html --figures figures")
        .fails_with("writing it would destroy the input");
    assert!(sandbox.read("figures/ranking.svg") == sandbox.read("a.jsonl"));
    assert!(!sandbox.path("report.html").exists());
    // A page beside the study, made twice, destroys nothing.
    sandbox.run("report a -o a/report.html").succeeds();
    sandbox.run("report a -o a/report.html").succeeds();
}

#[test]
fn the_page_is_not_one_of_the_figures() {
    let sandbox = analysed();
    sandbox
        .run("report a -o ./figures/ranking.svg --figures figures")
        .fails_with("this is also the output");
    // The page may be in the folder of the figures, which does not exist yet.
    sandbox.run("report a -o new/page.html --figures new").succeeds();
    assert!(sandbox.path("new/page.html").exists());
}

#[cfg(unix)]
#[test]
fn outputs_keep_their_mode_and_what_is_read_only_stops_all_of_them() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = analysed();
    sandbox.run("report a -o report.html --figures figures").succeeds();
    let set = |name: &str, mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(sandbox.path(name), permissions).unwrap();
    };
    let mode = |name: &str| sandbox.path(name).metadata().unwrap().permissions().mode() & 0o777;
    let private = ["report.html", "figures/ranking.png"];
    private.iter().for_each(|name| set(name, 0o600));
    sandbox.run("report a -o report.html --figures figures").succeeds();
    assert_eq!(private.map(mode), [0o600, 0o600]);
    let page = sandbox.read("report.html");
    set("figures/ranking.png", 0o444);
    sandbox
        .run("report b -o report.html --figures figures")
        .fails_with("ranking.png: the file is read-only");
    assert!(sandbox.read("report.html") == page, "the page is as it was");
    set("report.html", 0o444);
    sandbox.run("report b -o report.html").fails_with("report.html: the file is read-only");
}

#[test]
fn inputs_of_any_size_are_not_read_into_memory() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("run")).unwrap();
    for name in ["scores.jsonl", "run/study.json"] {
        // The file has a hole instead of content, so it takes no room.
        std::fs::File::create(sandbox.path(name)).unwrap().set_len(8 << 30).unwrap();
    }
    sandbox.run("report scores.jsonl -o page.html").fails_with("scores.jsonl: the file has more");
    sandbox.run("report run -o page.html").fails_with("study.json: the file has more than");
    assert_eq!(sandbox.names(), ["run", "scores.jsonl"]);
}

#[cfg(unix)]
#[test]
fn a_table_may_come_through_a_pipe() {
    let sandbox = analysed();
    sandbox.run_with_input("report /dev/stdin -o report.html", scores(0.5).as_bytes()).succeeds();
    assert!(sandbox.read("report.html").contains("24 stories to filter"));
}

#[test]
fn every_score_file_is_on_the_page() {
    let sandbox = Sandbox::new();
    let line = |id: usize, system: &str, key: &str, value: usize| {
        format!(
            "{{\"id\":\"{id}\",\"system\":\"{system}\",\"scores\":{{\"{key}\":{value}}},\
             \"explanation\":{{\"by\":\"the-{key}-of-{id}\"}}}}\n"
        )
    };
    let table = |key: &str, factor: usize| -> String {
        let rows = (0..12).flat_map(|id| [(id, "rain"), (id, "tale")]);
        rows.map(|(id, system)| line(id, system, key, id * factor % 7)).collect()
    };
    sandbox.write("first.jsonl", table("alpha", 3));
    sandbox.write("second.jsonl", table("beta", 5));
    sandbox.write("third.jsonl", line(99, "snow", "alpha", 1));
    sandbox
        .write("stories.jsonl", "{\"id\": \"99\", \"system\": \"snow\", \"story\": \"It fell.\"}");
    let command =
        "report first.jsonl second.jsonl third.jsonl --stories stories.jsonl -o page.html";
    sandbox.run(command).succeeds();
    let page = sandbox.read("page.html");
    for told in ["first.jsonl, second.jsonl, third.jsonl", "by alpha", "by beta", "the-alpha-of-99"]
    {
        assert!(page.contains(told), "{told}");
    }
    // What `compare` refuses is refused here too, unless it is the same stories scored twice.
    sandbox.write("other.jsonl", table("alpha", 5));
    sandbox.run("report first.jsonl other.jsonl -o page.html").fails_with("has another value in");
    sandbox.write("far.csv", "id,system,gamma\n1,ice,1\n");
    sandbox
        .run("report first.jsonl far.csv -o page.html")
        .fails_with("it has neither a story (by system and id) nor a column in common");
    sandbox.write("a.jsonl", scores(0.5));
    sandbox.write("b.jsonl", scores(3.0));
    sandbox.run("report a.jsonl b.jsonl -o twice.html").succeeds();
    assert!(sandbox.read("twice.html").contains("The same stories scored twice"));
}

#[test]
fn runs_whose_stories_could_belong_together_in_two_ways_are_not_compared() {
    let sandbox = Sandbox::new();
    let line = |id: usize, system: &str| {
        format!(
            "{{\"id\":\"{id}\",{system}\"scores\":{{\"bleu\":{}}},\"human\":{{\"plot\":[{}]}}}}\n",
            id * 5 % 7,
            id % 4
        )
    };
    let rows = (0..12).flat_map(|id| ["rain", "tale"].map(|name| (id, name)));
    let named = rows.map(|(id, name)| line(id, &format!("\"system\":\"{name}\",")));
    sandbox.write("named.jsonl", named.collect::<String>());
    sandbox.write("nameless.jsonl", (0..12).map(|id| line(id, "")).collect::<String>());
    sandbox.run("meta table named.jsonl -o old").succeeds();
    sandbox.run("meta table nameless.jsonl -o new").succeeds();
    sandbox
        .run("report old new named.jsonl nameless.jsonl -o page.html")
        .fails_with("of two systems fit the one story in");
}

/// A frame of Zstandard that is not compressed, of at most 255 bytes.
fn zstandard(content: &str) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap();
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, length, block[0], block[1], block[2]];
    [&head, content.as_bytes()].concat()
}

#[test]
fn explanations_are_shown_from_compressed_files_too() {
    let sandbox = Sandbox::new();
    let line = "{\"id\":\"1\",\"scores\":{\"m\":1},\"explanation\":{\"by\":\"the-reason\"}}\n";
    sandbox.write("scores.jsonl.zst", zstandard(line));
    sandbox.write("stories.jsonl", "{\"id\": \"1\", \"story\": \"Rain fell.\"}\n");
    let command = "report scores.jsonl.zst --stories stories.jsonl -o page.html";
    sandbox.run(command).succeeds();
    assert!(sandbox.read("page.html").contains("the-reason"));
}
