//! Outputs of tools that evaluate models: what the tools themselves wrote (fixtures/harnesses), and
//! layouts that their published source describes.

use std::path::PathBuf;

use storymeter_core::Story;
use storymeter_core::read::{FieldNames, Format, ReadOptions, open};

use crate::folder::{Folder, error, error_with, gzip, stories, stories_as};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/harnesses").join(name)
}

/// The stories of a fixture, and what is said of it.
fn read(name: &str, options: &ReadOptions) -> (Vec<Story>, String) {
    let mut reader = open(&[fixture(name)], options).unwrap();
    let stories = reader.by_ref().map(|record| record.unwrap().story).collect();
    (stories, reader.summary().to_string())
}

fn default() -> ReadOptions {
    ReadOptions::default()
}

/// System, id and item of each story, and its first word.
fn shown(stories: &[Story]) -> Vec<String> {
    let shown = |story: &Story| {
        let (system, item) = (story.system.as_deref().unwrap_or("-"), story.item());
        let word = story.text.split(' ').next().unwrap_or_default();
        format!("{system} {} {item} {word}", story.id)
    };
    stories.iter().map(shown).collect()
}

fn prompt(story: &Story) -> &str {
    story.prompt.as_deref().unwrap_or_default()
}

#[test]
fn lm_eval_has_a_story_for_each_sample_and_a_folder_for_each_model() {
    let (stories, said) = read("lm-eval", &default());
    assert_eq!(said, "read 12 stories of 2 systems from 2 files (lm-eval)");
    assert_eq!(
        shown(&stories[..4]),
        [
            "house__atlas stories/0 stories/0 Mara",
            "house__atlas stories/0#2 stories/0 The",
            "house__atlas stories/0#3 stories/0 Theo",
            "house__atlas stories/1 stories/1 Theo",
        ]
    );
    assert_eq!(stories[6].system.as_deref(), Some("house__birch"));
    assert_eq!(prompt(&stories[0]), "Write a story about a key.");
    assert_eq!(stories[0].references, [""; 0], "an empty target is no reference");
    let samples = "lm-eval/house__birch/samples_stories_2026-11-19T01-19-20.958741.jsonl";
    let (alone, _) = read(samples, &default());
    assert_eq!(alone, stories[6..]);
}

#[test]
fn lines_of_another_filter_are_the_same_samples() {
    let line = |filter: &str, more: &str| {
        format!(
            "{{\"doc_id\": 0, \"arguments\": [[\"A door.\", {{}}]], \"target\": \"It shut.\", \
             \"resps\": [[\"It opened.\"]], \"filtered_resps\": [\"x\"], \"filter\": \"{filter}\"{more}}}\n"
        )
    };
    let content = line("none", "") + &line("strict", "");
    let folder = Folder::with("samples_doors_2026-01-02.jsonl", content);
    let mut reader = open(&[folder.path("samples_doors_2026-01-02.jsonl")], &default()).unwrap();
    let story = reader.next().unwrap().unwrap().story;
    assert_eq!((story.id.as_str(), prompt(&story)), ("doors/0", "A door."));
    assert_eq!(story.references, ["It shut."]);
    assert!(reader.next().is_none());
    let said = reader.summary().to_string();
    let end =
        "; 1 sample without a text was left out: \"the filter \\\"strict\\\" has the same samples";
    assert!(said.starts_with("read 1 story of 1 system from 1 file (lm-eval)"), "{said}");
    assert!(said.contains(&end.replace('\\', "")), "{said}");
    let log_likelihoods = line("none", "").replace("[\"It opened.\"]", "[[\"-1.5\", \"True\"]]");
    assert_eq!(
        error("samples_a.jsonl", log_likelihoods),
        "samples_a.jsonl:1: resps[0][0] is a list; a text is needed"
    );
}

#[test]
fn promptfoo_has_a_story_for_each_test_prompt_and_provider() {
    for name in ["promptfoo.json", "promptfoo.jsonl"] {
        let (stories, said) = read(name, &default());
        assert_eq!(
            said,
            "read 8 stories of 2 systems from 1 file (promptfoo); 4 samples without a text were \
             left out: \"the model did not answer\""
        );
        let prompt = "Write a story about a key.";
        assert_eq!(shown(&stories[..1]), [format!("atlas 0/0 {prompt} Mara")]);
        assert_eq!(shown(&stories[2..3]), [format!("birch 0/2 {prompt} Mara")]);
        assert_eq!(stories[4].text.split(' ').next(), Some("Theo"), "a failed test has a story");
    }
    let fields = FieldNames::default().with(|it| it.item = Some("vars.topic".into()));
    let (stories, _) = read("promptfoo.json", &default().with(|it| it.fields = fields));
    assert_eq!(shown(&stories[4..5]), ["atlas 1/0 kite Theo"]);
}

#[test]
fn wrong_types_are_named_with_their_path() {
    let output = |value: &str| {
        format!(
            "{{\"evalId\": \"e\", \"results\": {{\"results\": [\n{{\"testIdx\": 0, \"promptIdx\": 0, \
             \"provider\": {{\"id\": \"a\"}}, \"response\": {{\"output\": \"x\"}}}},\n\
             {{\"testIdx\": 1, \"promptIdx\": 0, \"response\": {{\"output\": {value}}}}}]}}}}"
        )
    };
    assert_eq!(
        error("output.json", output("7")),
        "output.json:3: results.results[1].response.output is a number; a text is needed"
    );
    assert_eq!(
        error("output.json", output("{\"a\": 1}")),
        "output.json:3: results.results[1].response.output is an object; a text is needed"
    );
    assert_eq!(
        error("output.json", "{\"evalId\": \"e\", \"results\": {\"results\": 3}}"),
        "output.json:1: results.results is a number; a list is needed"
    );
    // The bad record can be skipped, and the others are read.
    let folder = Folder::with("output.json", output("[1]"));
    let (stories, skipped) =
        folder.read(&["output.json"], &default().with(|it| it.skip_bad = true)).unwrap();
    assert_eq!((stories.len(), skipped.count), (1, 1));
}

#[test]
fn logs_of_inspect_are_the_same_in_both_formats() {
    let (json, said) = read("inspect.json", &default());
    assert_eq!(
        said,
        "read 6 stories of 1 system from 1 file (inspect); 1 sample without a text was left out: \
         \"RuntimeError('the model did not answer')\""
    );
    assert_eq!(
        shown(&json),
        [
            "mockllm/model stories/key stories/key Mara",
            "mockllm/model stories/kite stories/kite Theo",
            "mockllm/model stories/kite#2 stories/kite The",
            "mockllm/model stories/lamp stories/lamp The",
            "mockllm/model stories/key@2 stories/key Theo",
            "mockllm/model stories/kite@2 stories/kite The",
        ]
    );
}

#[cfg(feature = "zstd")]
#[test]
fn archives_of_inspect_are_read() {
    let (json, _) = read("inspect.json", &default());
    let (eval, said) = read("inspect.eval", &default());
    assert_eq!(said, "read 7 stories of 1 system from 1 file (inspect)");
    assert_eq!(eval[..json.len()], json);
    assert_eq!(prompt(&eval[6]), "Write a story about a lamp.");
    // A stream is put aside, and the content says what it is.
    let bytes = std::fs::read(fixture("inspect.eval")).unwrap();
    assert_eq!(stories("log", &bytes), eval);
    assert_eq!(stories("log.eval.gz", gzip(&bytes)), eval);
    let cut = error("log.eval", &bytes[..bytes.len() - 40]);
    assert!(cut.starts_with("log.eval: not a valid archive: "), "{cut}");
    // A byte of a sample is changed.
    let mut damaged = bytes.clone();
    let at = bytes.windows(13).position(|part| part == b"samples/kite_").unwrap() + 500;
    damaged[at] ^= 0xff;
    let damaged = error("log.eval", damaged);
    assert!(
        damaged.contains("samples/kite_epoch_1.json: the part cannot be unpacked"),
        "{damaged}"
    );
    let options = default().with(|it| it.max_line = 5000);
    let long = error_with("log.eval", &bytes, &options);
    assert!(
        long.contains("samples/key_epoch_1.json: the sample has more than 5000 bytes"),
        "{long}"
    );
}

#[test]
fn a_log_says_its_model_before_its_samples() {
    let sample = r#"[{"id": 1, "epoch": 1, "output": {"choices": []}}]"#;
    let message = error(
        "a.json",
        format!("{{\"samples\": {sample}, \"eval\": {{\"model\": \"m\", \"task\": \"t\"}}}}"),
    );
    assert!(message.starts_with("a.json:1: the samples stand before \"eval\""), "{message}");
    let log = |eval: &str| format!("{{\"eval\": {eval}, \"samples\": {sample}}}");
    let read = |content: String| {
        let options = default().with(|it| it.format = Some(Format::Inspect));
        error_with("a.json", content, &options)
    };
    assert_eq!(read(log("{\"task\": \"t\"}")), "a.json:1: eval has no \"model\"");
    assert_eq!(read(log("7")), "a.json:1: eval is a number; an object is needed");
}

/// A run of EQ-Bench, as its published source writes it.
const EQ_BENCH: &str = r#"{"r1__atlas": {"test_model": "house/atlas", "judge_model": "j", "start_time": "t",
 "creative_tasks": {
  "1": {"5": {"prompt_id": "5", "base_prompt": "A door. <SEED>", "test_model": "house/atlas",
              "results_by_modifier": {"Set it in May.": {"model_response": "It opened.",
                                      "judge_scores": {"Pace": 12}}}},
        "6": {"prompt_id": "6", "base_prompt": "A cat.",
              "results_by_modifier": {"Set it in June.": {"generation_failed": true,
                                      "error_message": "Text too short"}}}},
  "2": {"5": {"prompt_id": "5", "base_prompt": "A door. <SEED>",
              "results_by_modifier": {"Set it at sea.": {"model_response": "It shut."}}}}},
 "results": {"x": 1}}}"#;

#[test]
fn runs_of_eq_bench_have_iterations_and_seeds() {
    let read = stories("creative_bench_runs.json", EQ_BENCH);
    assert_eq!(shown(&read), ["house/atlas 5 5 It", "house/atlas 5@2 5 It"]);
    assert_eq!(prompt(&read[0]), "A door. Set it in May.");
    assert_eq!(read[1].text, "It shut.");
    let wrong = EQ_BENCH.replace("\"It shut.\"", "[1]");
    assert_eq!(
        error("runs.json", wrong),
        "runs.json:9: r1__atlas.creative_tasks.2.5.results_by_modifier.Set it at \
         sea..model_response is a list; a text is needed"
    );
}

#[test]
fn batches_and_answers_of_openai_are_read() {
    let batch = concat!(
        r#"{"id": "b1", "custom_id": "s-1", "response": {"status_code": 200, "body": {"id": "c1", "object": "chat.completion", "model": "atlas", "choices": [{"index": 0, "message": {"role": "assistant", "content": "It opened."}}, {"index": 1, "message": {"role": "assistant", "content": "It shut."}}]}}, "error": null}"#,
        "\n",
        r#"{"id": "b2", "custom_id": "s-2", "response": {"status_code": 429, "body": {"error": {"message": "too many requests"}}}, "error": null}"#,
        "\n",
        r#"{"id": "b3", "custom_id": "s-3", "response": null, "error": {"code": "batch_expired", "message": "it took too long"}}"#,
        "\n",
        r#"{"id": "b4", "custom_id": "s-4", "response": {"status_code": 200, "body": {"id": "r1", "object": "response", "model": "atlas", "output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "It fell."}]}]}}, "error": null}"#,
        "\n"
    );
    let folder = Folder::with("batch.jsonl", batch);
    let mut reader = open(&[folder.path("batch.jsonl")], &default()).unwrap();
    let read: Vec<Story> = reader.by_ref().map(|record| record.unwrap().story).collect();
    assert_eq!(shown(&read), ["atlas s-1 s-1 It", "atlas s-1#2 s-1 It", "atlas s-4 s-4 It"]);
    assert_eq!(
        reader.summary().to_string(),
        "read 3 stories of 1 system from 1 file (openai); 2 samples without a text were left out: \
         \"too many requests\", \"it took too long\""
    );
    let answer = "{\n \"id\": \"c1\", \"object\": \"chat.completion\", \"model\": \"atlas\",\n \
                  \"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"It opened.\"}}]\n}\n";
    assert_eq!(shown(&stories("answer.json", answer)), ["atlas c1 c1 It"]);
    let wrong = batch.replace("\"It opened.\"", "{}");
    assert_eq!(
        error("batch.jsonl", wrong),
        "batch.jsonl:1: response.body.choices[0].message.content is an object; a text, or a list \
         of parts, is needed"
    );
}

#[test]
fn the_last_answer_of_a_conversation_is_the_story() {
    let chat = "{\"id\": 7, \"model\": \"atlas\", \"messages\": [{\"role\": \"user\", \"content\": \
                \"A door.\"}, {\"role\": \"assistant\", \"content\": \"It opened.\"}]}\n";
    let gpt = "{\"id\": \"7\", \"model\": \"atlas\", \"conversations\": [{\"from\": \"human\", \"value\": \
               \"A door.\"}, {\"from\": \"gpt\", \"value\": \"It opened.\"}]}";
    let expected = stories("chat.jsonl", chat);
    assert_eq!(shown(&expected), ["atlas 7 A door. It"]);
    assert_eq!(stories("gpt.jsonl", gpt), expected);
    assert_eq!(stories("gpt.json", format!("[\n{gpt}\n]\n")), expected);
    assert_eq!(stories_as(Format::OpenAi, "chat.dat", chat), expected);
    // A text under a usual name is the story.
    let asked = chat.replace("\"messages\"", "\"response\": \"It fell.\", \"messages\"");
    assert_eq!(stories("chat.jsonl", asked)[0].text, "It fell.");
    assert_eq!(
        error("gpt.json", format!("[{gpt}, {{\"conversations\": 3}}]")),
        "gpt.json:1: [1].conversations is a number; a list is needed"
    );
}

/// The fields beside a conversation have the same names, and the same order of preference, as in
/// JSONL; the first one in the file was once taken.
#[test]
fn fields_beside_a_conversation_are_read_as_in_jsonl() {
    let chat = |beside: &str| {
        format!(
            "{{\"generator\": \"old\", \"messages\": [{{\"role\": \"user\", \"content\": \"A door.\"}}, \
             {{\"role\": \"assistant\", \"content\": \"It opened.\"}}], {beside}}}\n"
        )
    };
    let beside = "\"MODEL\": \"atlas\", \"story_id\": 7, \"references\": [\"It shut.\"], \
                  \"human\": {\"plot\": [3, 4]}";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    std::fs::write(&path, chat(beside)).unwrap();
    let mut reader = open(&[&path].map(Into::into), &ReadOptions::default()).unwrap();
    let story = reader.next().unwrap().unwrap().story;
    assert_eq!((story.id.as_str(), story.system.as_deref()), ("7", Some("atlas")));
    assert_eq!((story.text.as_str(), story.prompt.as_deref()), ("It opened.", Some("A door.")));
    assert_eq!(story.references, ["It shut."]);
    assert_eq!(story.ratings.get("plot"), Some(&[Some(3.0), Some(4.0)][..]));
    assert!(reader.next().is_none());
    let summary = reader.summary().to_string();
    assert!(summary.contains("system from \"model\" and not \"generator\""), "{summary}");
    assert!(!summary.contains("story from"), "{summary}");

    let flat = chat("\"id\": \"a\", \"human.fun\": 2");
    let ratings = &stories("chat.jsonl", flat)[0].ratings;
    assert_eq!(ratings.get("fun"), Some(&[Some(2.0)][..]));
    assert_eq!(
        error("chat.jsonl", chat("\"id\": [7]")),
        "chat.jsonl:1: field \"id\": wrong JSON: \"[7]\" is neither a string nor a number"
    );
}

#[test]
fn what_is_only_like_a_tool_is_read_by_names() {
    let options = default().with(|it| {
        it.fields = FieldNames::default().with(|it| it.story = Some("filtered_resps".into()));
    });
    let samples = "lm-eval/house__atlas/samples_stories_2026-11-19T01-19-20.958741.jsonl";
    let mut reader = open(&[fixture(samples)], &options).unwrap();
    let message = reader.next().unwrap().unwrap_err().to_string();
    assert!(message.ends_with("filtered_resps[0] is a list; a text is needed"), "{message}");
    let read = stories(
        "a.jsonl",
        "{\"messages\": 3, \"eval\": {\"model\": 1}, \"story\": \"It opened.\"}\n",
    );
    assert_eq!(read[0].text, "It opened.");
}

#[test]
fn scores_beside_samples_are_not_read() {
    let folder = Folder::new();
    let samples = "samples_stories_2026-11-19T01-19-20.958741.jsonl";
    let content = std::fs::read(fixture("lm-eval/house__atlas").join(samples)).unwrap();
    std::fs::create_dir(folder.path("house__atlas")).unwrap();
    folder.add(&format!("house__atlas/{samples}"), content);
    folder.add("house__atlas/results_2026-11-19T01-19-20.958741.json", "{\"results\": {}}");
    let mut reader = open(&[folder.path("house__atlas")], &default()).unwrap();
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 6);
    let said = reader.summary().to_string();
    assert_eq!(said, "read 6 stories of 1 system from 1 file (lm-eval)");
}
