//! Stories in any layout: the table of docs/input.md, and the options of the input.
//!
//! `STORYMETER_UPDATE=1 cargo test --release -p storymeter-cli --test cli input` writes the table
//! anew. Read the difference before you commit it.

use std::io::Write;

use crate::sandbox::{Run, Sandbox, repository};

const UPDATE: &str = "STORYMETER_UPDATE";

/// The lines between which the table stands.
const BEGIN: &str = "<!-- The table is made by crates/storymeter-cli/tests/cli/input.rs. -->\n\n";
const END: &str = "\n<!-- The table ends here. -->";

/// A layout of the table.
struct Layout {
    what: &'static str,
    /// The files, by name.
    files: Vec<(&'static str, Vec<u8>)>,
    /// What follows `storymeter score`.
    command: &'static str,
    standard_input: &'static str,
}

fn layout(what: &'static str, name: &'static str, content: &str, command: &'static str) -> Layout {
    let files = vec![(name, content.as_bytes().to_vec())];
    Layout { what, files, command, standard_input: "" }
}

const KEY: &str = "Mara found a brass key under the step. She tried every lock of the house. \
                   It opened the old clock, and inside lay a letter.";
const KITE: &str = "Theo built a kite from an old shirt. The wind took it over the roof. \
                    A neighbour brought it back the next day.";

/// A frame of Zstandard with one block that is not compressed.
fn zstandard(content: &str) -> Vec<u8> {
    let length = content.len();
    assert!((256..65_000).contains(&length), "the header has two bytes for the length");
    let size = (length - 256) as u16;
    let block = (length as u32) << 3 | 1;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60];
    frame.extend(size.to_le_bytes());
    frame.extend(&block.to_le_bytes()[..3]);
    frame.extend(content.as_bytes());
    frame
}

fn gzip(content: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// What a tool wrote.
fn harness(name: &str) -> Vec<u8> {
    let folder = repository("crates/storymeter-core/tests/fixtures/harnesses");
    std::fs::read(folder.join(name)).unwrap()
}

/// The samples of a model, as lm-evaluation-harness lays them out.
fn model_samples(model: &str) -> &'static str {
    match model {
        "atlas" => "lm-eval/house__atlas/samples_stories_2026-11-19T01-19-20.958741.jsonl",
        _ => "lm-eval/house__birch/samples_stories_2026-11-19T01-19-20.958741.jsonl",
    }
}

fn layouts() -> Vec<Layout> {
    let batch = format!(
        "{{\"custom_id\": \"s-1\", \"response\": {{\"body\": {{\"model\": \"atlas\", \"choices\": [{{\
         \"message\": {{\"role\": \"assistant\", \"content\": \"{KEY}\"}}}}]}}}}}}\n"
    );
    let lines = format!(
        "{{\"id\": 1, \"system\": \"atlas\", \"story\": \"{KEY}\"}}\n\
         {{\"id\": 1, \"system\": \"birch\", \"story\": \"{KITE}\"}}\n"
    );
    let objects = lines.trim_end().replace("}\n", "},\n");
    let sentences: Vec<&str> = KEY.split_inclusive(". ").map(str::trim_end).collect();
    let five = format!("{} Nobody knew the hand. She read it twice.", sentences.join(" "));
    let five: Vec<&str> = five.split_inclusive(". ").map(str::trim_end).collect();
    let parquet = std::fs::read(repository("fuzz/seeds/reader_parquet/stories.parquet")).unwrap();
    let files = |what, files, command| Layout { what, files, command, standard_input: "" };
    let text = |name: &'static str, story: &str| (name, format!("{story}\n").into_bytes());
    vec![
        layout("One story in a text file", "key.txt", &format!("{KEY}\n"), "key.txt"),
        layout("One story in Markdown", "key.md", &format!("# The key\n\n{KEY}\n"), "key.md"),
        files(
            "A folder of folders of texts, one per system",
            vec![
                text("texts/atlas/key.txt", KEY),
                text("texts/atlas/kite.txt", KITE),
                text("texts/birch/key.txt", KEY),
                text("texts/birch/kite.txt", KITE),
            ],
            "texts",
        ),
        layout(
            "A text with one story per line",
            "all.txt",
            &format!("{KEY}\n{KITE}\n"),
            "all.txt --input-format lines",
        ),
        layout(
            "A text with blank lines between stories",
            "all.txt",
            &format!("{KEY}\n\n{KITE}\n"),
            "all.txt --input-format blocks",
        ),
        Layout {
            what: "A story on standard input",
            files: Vec::new(),
            command: "-",
            standard_input: KEY,
        },
        Layout {
            what: "A table on standard input",
            files: Vec::new(),
            command: "-",
            standard_input: "model,text\natlas,The lamp went out. Nobody had touched it.\n",
        },
        layout("JSONL", "stories.jsonl", &lines, "stories.jsonl"),
        layout(
            "JSONL with other names",
            "stories.jsonl",
            &lines.replace("\"story\"", "\"output\"").replace("\"system\"", "\"model\""),
            "stories.jsonl",
        ),
        files(
            "JSONL, compressed with Zstandard",
            vec![("stories.jsonl.zst", zstandard(&lines))],
            "stories.jsonl.zst",
        ),
        files(
            "JSONL, compressed with gzip",
            vec![("stories.jsonl.gz", gzip(&lines))],
            "stories.jsonl.gz",
        ),
        layout(
            "A JSON array of objects",
            "stories.json",
            &format!("[\n{objects}\n]\n"),
            "stories.json",
        ),
        layout(
            "A JSON array of texts",
            "stories.json",
            &format!("[\"{KEY}\", \"{KITE}\"]\n"),
            "stories.json",
        ),
        layout(
            "JSON with the stories in `data`",
            "stories.json",
            &format!("{{\"data\": [\n{objects}\n]}}\n"),
            "stories.json",
        ),
        layout(
            "Columnar JSON",
            "stories.json",
            &format!(
                "{{\"system\": [\"atlas\", \"birch\"], \"story\": [\"{KEY}\", \"{KITE}\"]}}\n"
            ),
            "stories.json",
        ),
        layout(
            "CSV with usual names",
            "stories.csv",
            &format!("model,text\natlas,\"{KEY}\"\nbirch,\"{KITE}\"\n"),
            "stories.csv",
        ),
        layout(
            "CSV with any names and semicolons",
            "stories.csv",
            &format!("Writer;Tale\natlas;{KEY}\nbirch;{KITE}\n"),
            "stories.csv --story-col Tale --system-col Writer",
        ),
        layout(
            "CSV with one column per system",
            "stories.csv",
            &format!("prompt,atlas,birch\nA key.,\"{KEY}\",\"{KITE}\"\n"),
            "stories.csv --wide",
        ),
        layout(
            "CSV with one column per system and other columns",
            "stories.csv",
            &format!(
                "topic,atlas,birch,length,mood\nkey,\"{KEY}\",\"{KITE}\",24,sad\n\
                 kite,\"{KITE}\",\"{KEY}\",23,glad\n"
            ),
            "stories.csv --wide",
        ),
        layout(
            "CSV with one column per system, of which some are chosen",
            "stories.csv",
            &format!("prompt,atlas,birch\nA key.,\"{KEY}\",\"{KITE}\"\n"),
            "stories.csv --system-cols birch",
        ),
        layout("TSV", "stories.tsv", &format!("system\tstory\natlas\t{KEY}\n"), "stories.tsv"),
        layout(
            "ROCStories in a table",
            "roc.tsv",
            &format!(
                "id\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n1\t{}\n",
                five.join("\t")
            ),
            "roc.tsv",
        ),
        layout(
            "ROCStories in blocks",
            "roc.txt",
            &format!("{}\n------\n", five.join("\n")),
            "roc.txt",
        ),
        layout("UNION's annotations", "ant.txt", &format!("1 ||| {KEY} ||| 1 1 0\n"), "ant.txt"),
        files(
            "WritingPrompts",
            vec![text("v.wp_source", "[ WP ] A key ."), text("v.wp_target", KEY)],
            "v.wp_source",
        ),
        layout(
            "OpenMEVA's rated stories",
            "mags_roc.json",
            &format!(
                "{{\"12\": {{\"prompt\": \"A key.\", \"gold_response\": \"It opened.\", \"gen\": {{\
                 \"s2s\": {{\"text\": \"{KEY}\", \"score\": [4, 5, 4]}}, \
                 \"gpt\": {{\"text\": \"{KITE}\", \"score\": [3, null, 2]}}}}}}}}\n"
            ),
            "mags_roc.json",
        ),
        files(
            "lm-evaluation-harness, a folder of folders of samples",
            ["atlas", "birch"]
                .map(|model| (model_samples(model), harness(model_samples(model))))
                .into(),
            "lm-eval",
        ),
        files(
            "promptfoo's results",
            vec![("output.json", harness("promptfoo.json"))],
            "output.json",
        ),
        files(
            "promptfoo's results, one per line",
            vec![("output.jsonl", harness("promptfoo.jsonl"))],
            "output.jsonl --item-col vars.topic",
        ),
        files("A log of Inspect", vec![("log.json", harness("inspect.json"))], "log.json"),
        files(
            "A log of Inspect in the format .eval",
            vec![("log.eval", harness("inspect.eval"))],
            "log.eval",
        ),
        layout(
            "Runs of EQ-Bench's creative-writing benchmark",
            "runs.json",
            &format!(
                "{{\"run\": {{\"test_model\": \"atlas\", \"creative_tasks\": {{\"1\": {{\"5\": {{\
                 \"base_prompt\": \"A key. <SEED>\", \"results_by_modifier\": {{\"In May.\": {{\
                 \"model_response\": \"{KEY}\"}}}}}}}}}}}}}}\n"
            ),
            "runs.json",
        ),
        layout("Results of a batch of OpenAI's interface", "batch.jsonl", &batch, "batch.jsonl"),
        layout(
            "Answers of OpenAI's interface",
            "answers.jsonl",
            &format!(
                "{{\"id\": \"c-1\", \"model\": \"atlas\", \"choices\": [{{\"message\": {{\"role\": \
                 \"assistant\", \"content\": \"{KEY}\"}}}}]}}\n"
            ),
            "answers.jsonl",
        ),
        layout(
            "Conversations",
            "chats.jsonl",
            &format!(
                "{{\"model\": \"atlas\", \"messages\": [{{\"role\": \"user\", \"content\": \"A key.\"}}, \
                 {{\"role\": \"assistant\", \"content\": \"{KEY}\"}}]}}\n"
            ),
            "chats.jsonl",
        ),
        layout(
            "Conversations like those of ShareGPT",
            "chats.json",
            &format!(
                "[{{\"id\": \"a\", \"conversations\": [{{\"from\": \"human\", \"value\": \"A key.\"}}, \
                 {{\"from\": \"gpt\", \"value\": \"{KEY}\"}}]}}]\n"
            ),
            "chats.json",
        ),
        layout(
            "JSONL with nested fields",
            "batch.jsonl",
            &batch,
            "batch.jsonl --story-col response.body.choices.0.message.content \
             --system-col response.body.model",
        ),
        layout(
            "JSONL with several samples per item",
            "stories.jsonl",
            &format!("{{\"id\": 7, \"system\": \"atlas\", \"story\": [\"{KEY}\", \"{KITE}\"]}}\n"),
            "stories.jsonl",
        ),
        files("Parquet", vec![("stories.parquet", parquet)], "stories.parquet"),
        layout(
            "CSV without a usual name",
            "stories.csv",
            &format!("Writer,Tale\natlas,\"{KEY}\"\n"),
            "stories.csv",
        ),
        layout(
            "The same id twice in a system",
            "stories.csv",
            &format!("id,story\n1,\"{KEY}\"\n1,\"{KITE}\"\n"),
            "stories.csv",
        ),
        layout(
            "The same id twice, made unique",
            "stories.csv",
            &format!("id,story\n1,\"{KEY}\"\n1,\"{KITE}\"\n"),
            "stories.csv --renumber",
        ),
        layout("A name that says nothing", "stories.dat", &format!("{KEY}\n"), "stories.dat"),
        files("A Word document", vec![("key.docx", b"PK\x03\x04 and more".to_vec())], "key.docx"),
        files(
            "UTF-16",
            vec![("key.txt", KEY.encode_utf16().flat_map(u16::to_le_bytes).collect())],
            "key.txt",
        ),
    ]
}

fn run(layout: &Layout) -> Run {
    let sandbox = Sandbox::new();
    for (name, content) in &layout.files {
        std::fs::create_dir_all(sandbox.path(name).parent().unwrap()).unwrap();
        sandbox.write(name, content);
    }
    let line = format!("score {} --format jsonl", layout.command);
    sandbox.run_with_input(&line, layout.standard_input.as_bytes())
}

/// What a run says: what was read and the mean score, or the refusal.
fn outcome(run: &Run) -> String {
    let said = run.stderr().lines().next().unwrap_or_default();
    let said = said.strip_prefix("storymeter: ").unwrap_or(said);
    if run.code() != 0 {
        assert_eq!((run.code(), run.stdout()), (2, ""), "{said}");
        return format!("refused: {said}");
    }
    let scores: Vec<f64> = run
        .stdout()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["scores"]["union"].as_f64().unwrap())
        .collect();
    assert!(said.starts_with(&format!("read {} stor", scores.len())), "{said}");
    format!("{said}; mean score {:.2}", scores.iter().sum::<f64>() / scores.len() as f64)
}

/// The beginning of the first file, for a cell of the table.
fn beginning(layout: &Layout) -> String {
    let first = layout.files.first().map_or(layout.standard_input.as_bytes(), |(_, it)| it);
    let Ok(text) = std::str::from_utf8(first) else { return "(binary)".to_owned() };
    if text.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return "(binary)".to_owned();
    }
    let text = text.replace('\n', "⏎").replace('\t', "⇥").replace('|', "\\|");
    let shown: String = text.chars().take(44).collect();
    format!("`{shown}{}`", if shown.len() < text.len() { "…" } else { "" })
}

#[test]
fn the_table_of_layouts_is_up_to_date() {
    let mut table = String::from(
        "| layout | it begins with | `storymeter score` | what comes out |\n|---|---|---|---|\n",
    );
    let layouts = layouts();
    for layout in &layouts {
        let outcome = outcome(&run(layout)).replace('|', "\\|");
        let (what, command) = (layout.what, layout.command);
        table += &format!("| {what} | {} | `{command}` | {outcome} |\n", beginning(layout));
    }
    assert!(layouts.len() >= 12);
    let path = repository("docs/input.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, after) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (found, after) = after.split_once(END).expect("the table ends");
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    let differs = found.lines().zip(table.lines()).find(|(shown, made)| shown != made);
    assert!(
        found == table,
        "docs/input.md is out of date: {differs:?}; refresh it with {UPDATE}=1 cargo test --release \
         -p storymeter-cli --test cli input"
    );
}

#[test]
fn a_story_is_scored_from_the_command_line_and_from_standard_input_alike() {
    let sandbox = Sandbox::new();
    let typed = sandbox.run_arguments(&["score", "--text", KEY, "--format", "jsonl"]).succeeds();
    assert_eq!(typed.stderr(), "", "what the user typed need not be reported");
    let piped = sandbox.run_with_input("score - --format jsonl", KEY.as_bytes()).succeeds();
    assert_eq!(piped.stdout(), typed.stdout());
    assert_eq!(piped.stderr(), "storymeter: read 1 story from standard input (text)\n");
    let quiet = sandbox.run_with_input("score - --quiet", KEY.as_bytes()).succeeds();
    assert_eq!(quiet.stderr(), "");
    let two = sandbox.run_arguments(&["score", "--text", KEY, "--text", KITE, "--format", "jsonl"]);
    assert_eq!(two.succeeds().stdout().lines().count(), 2);
    sandbox.run("score --text Rain. stories.jsonl").fails_with("cannot be used with");
    sandbox.run("score").fails_with("required");
    sandbox.run_with_input("score -", b" \n").fails_with("the input has no story");
}

#[test]
fn the_other_verbs_say_what_they_read_and_refuse_duplicates() {
    let sandbox = Sandbox::new();
    let lines =
        format!("{{\"id\": 7, \"text\": \"{KEY}\"}}\n{{\"id\": 8, \"text\": \"{KITE}\"}}\n");
    sandbox.write("in.jsonl", &lines);
    let run = sandbox.run("perturb in.jsonl -o out.jsonl").succeeds();
    assert_eq!(
        run.stderr(),
        "storymeter: read 2 stories from 1 file (jsonl); story from \"text\"\n"
    );
    sandbox.write("twice.jsonl", lines.replace('8', "7"));
    for verb in ["perturb twice.jsonl -o more.jsonl", "score twice.jsonl --metric text-length"] {
        sandbox.run(verb).fails_with(
            "twice.jsonl:2: duplicate id \"7\": it was first used on line 1 (--system-col names the \
             column or field of the systems, and --renumber makes ids unique)",
        );
    }
    let line = "perturb twice.jsonl --renumber -o more.jsonl";
    assert!(sandbox.run(line).succeeds().stderr().ends_with("; 1 id was made unique\n"));
    assert!(sandbox.read("more.jsonl").contains("\"id\":\"7#2\""));
}

#[test]
fn a_text_that_looks_like_a_list_is_read_as_one_story_with_a_hint() {
    let sandbox = Sandbox::new();
    sandbox.write("all.txt", format!("{KEY}\n").repeat(30));
    let run = sandbox.run("score all.txt --metric text-length").succeeds();
    assert_eq!(
        run.stderr(),
        "storymeter: read 1 story from 1 file (text); --input-format lines reads its 30 lines as \
         stories\n"
    );
}

#[test]
fn options_of_the_input_are_advised_only_where_they_exist() {
    let sandbox = Sandbox::new();
    sandbox.write("tales.csv", "Writer,Tale\nA,B\n");
    let advice = "(name it with --story-col, or say --wide if there is one column per system)";
    sandbox.run("score tales.csv").fails_with(advice);
    sandbox.write("scores.jsonl", "{\"id\": 1, \"scores\": {\"bleu\": 1}}\n");
    let run = sandbox.run("report scores.jsonl --stories tales.csv -o page.html");
    let run = run.fails_with("the columns are: Writer, Tale");
    assert!(!run.stderr().contains("--story-col"), "{}", run.stderr());
}
