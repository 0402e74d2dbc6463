//! `storymeter score` with the learned metric, mostly with a tiny model of random weights.

use crate::sandbox::{Sandbox, example_of, repository};
use crate::tiny_model::write_model;

const STORIES: &str = concat!(
    r#"{"id": "a", "story": "Mira lost her red kite. She looked in the old barn."}"#,
    "\n",
    r#"{"id": "b", "story": ""}"#,
    "\n",
    r#"{"id": "c", "story": "The baker burned the bread."}"#,
    "\n",
);

/// A sandbox with `model/` and `in.jsonl`.
fn with_model() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", STORIES);
    std::fs::create_dir(sandbox.path("model")).unwrap();
    write_model(&sandbox.path("model"));
    sandbox
}

#[test]
fn union_is_the_metric_where_none_is_named() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model model -o out.jsonl").succeeds();
    let lines: Vec<serde_json::Value> =
        sandbox.read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    for line in [&lines[0], &lines[2]] {
        let score = line["scores"]["union"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score), "{line}");
    }
    assert_eq!(lines[1]["absent"]["union"], "the text is empty");
    sandbox.run("score in.jsonl --model model --metric union,text-length -o both.jsonl").succeeds();
    assert!(sandbox.read("both.jsonl").contains("\"text-length\""));
}

#[test]
fn scores_do_not_depend_on_threads_or_on_what_is_scored_together() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model model --threads 1 -o one.jsonl").succeeds();
    sandbox.run("score in.jsonl --model model --threads 7 -o seven.jsonl").succeeds();
    assert_eq!(sandbox.read("one.jsonl"), sandbox.read("seven.jsonl"));
    let mut single = String::new();
    for line in STORIES.lines() {
        sandbox.write("single.jsonl", line);
        single.push_str(
            sandbox.run("score single.jsonl --model model --format jsonl").succeeds().stdout(),
        );
    }
    assert_eq!(single, sandbox.read("one.jsonl"));
}

#[test]
fn the_signature_names_the_weights() {
    let run = with_model().run("score in.jsonl --model model --precision f32").succeeds();
    assert!(run.stdout().contains("union|model:unnamed|weights:"), "{}", run.stdout());
    assert!(run.stdout().contains("precision:f32"), "{}", run.stdout());
}

#[test]
fn an_explanation_is_shown_and_written() {
    let sandbox = with_model();
    let shown = sandbox.run("score in.jsonl --model model --explain").succeeds();
    assert!(shown.stdout().contains("a: union 0."), "{}", shown.stdout());
    assert!(shown.stdout().contains("wrong order"), "{}", shown.stdout());
    assert!(shown.stdout().contains("(not compared with readers)"), "{}", shown.stdout());
    assert!(shown.stdout().starts_with("How to read this: "), "{}", shown.stdout());
    assert_eq!(shown.stdout().matches("How to read this").count(), 1);
    assert!(!shown.stdout().contains("human stories"), "the model has no histograms");
    sandbox.run("score in.jsonl --model model --explain -o out.jsonl").succeeds();
    let first: serde_json::Value =
        serde_json::from_str(sandbox.read("out.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(first["explanation"]["sentences"].as_array().unwrap().len(), 2);
    assert_eq!(first["explanation"]["union"], first["scores"]["union"]);
    // The scores are the same as without an explanation, also beside other metrics.
    sandbox.run("score in.jsonl --model model -o plain.jsonl").succeeds();
    assert_eq!(
        union_scores(&sandbox.read("out.jsonl")),
        union_scores(&sandbox.read("plain.jsonl"))
    );
    sandbox
        .run("score in.jsonl --model model --explain -m text-length,union -o both.jsonl")
        .succeeds();
    assert_eq!(
        union_scores(&sandbox.read("both.jsonl")),
        union_scores(&sandbox.read("plain.jsonl"))
    );
    sandbox.run("score in.jsonl --model model --explain -m text-length -o other.jsonl").succeeds();
    assert!(sandbox.read("other.jsonl").contains("\"contribution\""));
}

#[test]
fn of_a_very_long_story_the_weakest_windows_are_explained_unless_all_are_asked_for() {
    let sandbox = with_model();
    sandbox.write(
        "long.jsonl",
        as_jsonl(&["She looked in the old barn. The kite was red. ".repeat(6_000)]),
    );
    let weakest = sandbox.run("score long.jsonl --model model --explain").succeeds();
    let note = " of 12000 sentences were weighed: those of the weakest windows";
    assert!(weakest.stdout().contains(note), "{}", &weakest.stdout()[..300]);
    let all = sandbox.run("score long.jsonl --model model --explain=all").succeeds();
    assert!(!all.stdout().contains(note), "{}", &all.stdout()[..300]);
    sandbox.run("score in.jsonl --model model --explain=most").fails_with("weakest");
}

#[test]
fn a_missing_or_broken_model_is_explained() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model nowhere").fails_with("nowhere");
    sandbox.write("model/heads.safetensors", "short");
    sandbox.run("score in.jsonl --model model -o out.jsonl").fails_with("heads.safetensors");
    assert!(!sandbox.path("out.jsonl").exists());
}

#[test]
fn a_missing_gpu_is_reported_and_nothing_is_written() {
    let sandbox = with_model();
    sandbox.run("score in.jsonl --model model --precision bf16").fails_with("--device cuda");
    // A machine with a GPU reports that the tiny model's width is not a multiple of eight.
    for precision in ["", "--precision int8", "--precision f32"] {
        let command =
            format!("score in.jsonl --model model --device cuda {precision} -o out.jsonl");
        sandbox.run(&command).fails_with("GPU");
    }
    assert!(!sandbox.path("out.jsonl").exists());
}

/// Texts that are not stories at all.
fn odd_texts() -> Vec<String> {
    vec![
        String::new(),
        " \n\t ".into(),
        ".".into(),
        "?!".repeat(5_000),
        "kite ".repeat(50_000),
        "[MALE] ".repeat(20_000),
        "x".repeat(200_000),
        "\u{1}\u{7f}\u{200b}\u{feff}\u{fffd}".into(),
        "🪁🧁🥖".repeat(100),
        "ה\u{5b0}ילד רץ".into(),
        "风筝不见了。".repeat(50),
        "a\u{301}\u{302}\u{303}".repeat(1_000),
        "“‘``''`’”".repeat(300),
        format!("Mira lost her kite{}", ". ".repeat(3_000)),
    ]
}

fn as_jsonl(texts: &[String]) -> String {
    texts.iter().map(|text| format!("{}\n", serde_json::json!({"story": text}))).collect()
}

/// The scores of all stories that have one.
fn union_scores(jsonl: &str) -> Vec<f64> {
    let score = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["scores"]["union"].as_f64()
    };
    jsonl.lines().filter_map(score).collect()
}

#[test]
fn any_text_at_all_gets_a_probability() {
    let sandbox = with_model();
    let texts = odd_texts();
    sandbox.write("odd.jsonl", as_jsonl(&texts));
    let run =
        sandbox.run("score odd.jsonl --model model --keep-refusals --format jsonl").succeeds();
    let scores = union_scores(run.stdout());
    assert_eq!(scores.len(), texts.len());
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let sandbox = Sandbox::new();
    sandbox.write("stories.jsonl", std::fs::read(repository("examples/stories.jsonl")).unwrap());
    let run = sandbox.run("score stories.jsonl").succeeds();
    assert_eq!(example_of("README.md", "metric   system"), run.stdout().trim_end());
}

#[test]
fn the_embedded_model_needs_no_flag_and_is_named_in_the_signature() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", STORIES);
    let run = sandbox.run("score in.jsonl").succeeds();
    assert!(run.stdout().contains("union|model:union-compact|weights:"), "{}", run.stdout());
    assert!(run.stdout().contains("|precision:int8|"), "{}", run.stdout());
    let same = sandbox.run("score in.jsonl --model union-compact").succeeds();
    assert_eq!(same.stdout(), run.stdout());
    sandbox.run("score in.jsonl --precision f32").fails_with("cannot compute in f32");
    let card = sandbox.run("model show union-compact").succeeds();
    for part in [
        "Agreement with human readers, with 95% intervals",
        "Limits",
        "Not to be used for",
        "Made from",
    ] {
        assert!(card.stdout().contains(part), "{part}: {}", card.stdout());
    }
    assert!(card.stdout().contains("windows of 80 tokens; prompts left out;"), "{}", card.stdout());
    assert!(card.stdout().contains(" - 2 * repeated)"), "{}", card.stdout());
    sandbox.write("stuck.jsonl", as_jsonl(&["no ".repeat(40)]));
    let run = sandbox.run("score stuck.jsonl --explain").succeeds();
    assert!(
        run.stdout().contains("  Words that come again and again lower the score by 0."),
        "{}",
        run.stdout()
    );
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_storymeter")).unwrap().len();
    // The models take two thirds of it. The limit is there so that growth is noticed.
    assert!(size < 98_000_000, "the binary has {size} bytes");
    let models = ["union-compact.smq", "criteria.smq"].map(|name| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/");
        std::fs::metadata(format!("{path}{name}")).unwrap().len()
    });
    assert!(models.iter().sum::<u64>() < 60_000_000, "the embedded files have {models:?} bytes");
}

#[test]
fn the_embedded_model_puts_stories_above_nonsense() {
    let sandbox = Sandbox::new();
    let stories = [
        "Mira lost her red kite. She looked for it in the old barn. Her brother heard her crying. \
         He found the kite on the roof. They flew it together until dark.",
        "The baker burned the bread again. His customers were angry. He bought a new clock for the \
         kitchen. The next day the bread was perfect. Everybody came back.",
    ];
    let nonsense = [
        "the the the the the the the the the the the the the the the the the the the the",
        "Kite of was barn lost. Her until red the. Bread angry cry clock roof. Dark he perfect \
         them.",
        "Mira lost her red kite. Mira lost her red kite. Mira lost her red kite. Mira lost her red \
         kite.",
    ];
    let all: Vec<String> = stories.into_iter().chain(nonsense).map(String::from).collect();
    sandbox.write("in.jsonl", as_jsonl(&all));
    let run = sandbox.run("score in.jsonl --format jsonl").succeeds();
    let scores = union_scores(run.stdout());
    let worst_story = scores[..stories.len()].iter().fold(1.0, |a: f64, b| a.min(*b));
    assert!(scores[stories.len()..].iter().all(|score| *score < worst_story), "{scores:?}");
    sandbox.write("odd.jsonl", as_jsonl(&odd_texts()));
    let run = sandbox.run("score odd.jsonl --keep-refusals --format jsonl").succeeds();
    let scores = union_scores(run.stdout());
    assert_eq!(scores.len(), odd_texts().len());
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
}

#[test]
fn an_explanation_of_the_embedded_model_has_the_words_of_the_user_and_tells_where_the_score_stands()
{
    let sandbox = Sandbox::new();
    let text = "Susan met  Robert at the “old” mill. She didn’t know him. He was a tailor.\nThey \
                talked until it was dark.";
    sandbox.write("in.jsonl", as_jsonl(&[text.to_owned()]));
    let shown = sandbox.run("score in.jsonl --explain").succeeds();
    assert!(
        shown.stdout().contains("  Susan met  Robert at the “old” mill.\n"),
        "{}",
        shown.stdout()
    );
    assert!(!shown.stdout().contains("MALE]"), "{}", shown.stdout());
    assert!(!shown.stdout().contains('\u{1b}'), "no colours without a terminal");
    assert!(shown.stdout().contains("of this length (up to 80 words)"), "{}", shown.stdout());
    assert!(shown.stdout().contains("  repetition unlikely ("), "{}", shown.stdout());
    assert!(!shown.stdout().contains("wrong order"), "readers do not confirm it");

    let run = sandbox.run("score in.jsonl --explain --format jsonl").succeeds();
    let line: serde_json::Value = serde_json::from_str(run.stdout().trim()).unwrap();
    let explanation = &line["explanation"];
    assert_eq!(explanation["text"], text);
    assert!(explanation["read_as"].as_str().unwrap().starts_with("[FEMALE] met  [MALE] at the"));
    let sentences: Vec<&str> = explanation["sentences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sentence| {
            let place = |name: &str| sentence[name].as_u64().unwrap() as usize;
            &text[place("start")..place("end")]
        })
        .collect();
    assert_eq!(
        sentences,
        [
            "Susan met  Robert at the “old” mill.",
            "She didn’t know him.",
            "He was a tailor.",
            "They talked until it was dark."
        ]
    );
    let trusted = &explanation["diagnosis"]["trusted"];
    assert_eq!(trusted["repetition"], true);
    assert_eq!(trusted["contradiction"], false);
    let standing = &explanation["standing"];
    assert!((0.0..=1.0).contains(&standing["above_human"].as_f64().unwrap()), "{standing}");

    let card = sandbox.run("model show union-compact").succeeds();
    assert!(card.stdout().contains("compared with human stories: ROCStories (held out)"));
    assert!(card.stdout().contains("at chance or wrong on stories by language models of 2023"));
    assert!(card.stdout().contains("  wrong order    not shown  area 0.47 [0.33, 0.62]"));
}

#[test]
fn the_worst_story_is_explained_by_the_pair_that_fits_least() {
    let sandbox = Sandbox::new();
    let text = "Elena kept the old lighthouse on the cape. The soup needed more salt. Nobody had \
                told the twins about the exam. A green bicycle was sold in March. The dentist \
                closed the window.";
    sandbox.write("in.jsonl", as_jsonl(&[text.to_owned()]));
    let shown = sandbox.run("score in.jsonl --explain").succeeds();
    assert!(shown.stdout().contains("No single sentence is to blame"), "{}", shown.stdout());
    assert!(shown.stdout().contains("These two neighbours fit least"), "{}", shown.stdout());
}

#[test]
fn texts_that_are_no_english_stories_are_counted_and_scored() {
    let sandbox = Sandbox::new();
    let texts = [
        "Mira lost her red kite. She looked for it in the old barn. He found it on the roof. They \
         flew it together until it was dark.",
        "Am Abend ging der alte Mann mit seinem Hund in den Wald. Es war kalt und sehr still.",
        "- milk\n- two eggs\n- a loaf of bread",
    ]
    .map(str::to_owned);
    sandbox.write("in.jsonl", as_jsonl(&texts));
    // A few stories are shown one by one; of more, the flags are counted.
    sandbox.write("more.jsonl", as_jsonl(&texts.clone().map(|text| [text.clone(), text]).concat()));
    for metric in ["", "--metric text-length"] {
        let run = sandbox.run(&format!("score more.jsonl {metric}")).succeeds();
        let flags: Vec<&str> = run.stdout().split("\n\n").nth(1).unwrap().lines().collect();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let header = words(flags[0]);
        assert_eq!(header[..2], ["system", "texts"], "{}", run.stdout());
        assert!(header.contains(&"list".to_owned()) && header.contains(&"German".to_owned()));
        assert_eq!(flags.len(), 2, "one row of all texts: {flags:?}");
        assert_eq!(words(flags[1])[..2], ["all", "6"]);
    }
    let shown = sandbox.run("score in.jsonl --explain").succeeds();
    assert!(shown.stdout().contains("Warning: the text looks like German."), "{}", shown.stdout());
}
