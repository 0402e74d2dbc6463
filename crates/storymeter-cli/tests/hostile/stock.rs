//! Valid files of every kind that the program reads. The cases take copies of them.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::formats::Zstandard;

/// A folder of valid files.
pub struct Stock {
    folder: tempfile::TempDir,
}

const SYSTEMS: [&str; 4] = ["Human", "Tale", "Yarn", "Saga"];
const ITEMS: usize = 6;

const SETTINGS: &str = "epochs = 1\nlearning_rate = 1e-3\nmax_tokens = 48\ntokens_a_batch = 192\n\
                        seed = 3\nclip = 1.0\n[perturb]\nweights = [0.1, 0.3, 0.4, 0.2]\n";

const ABOUT: &str = r#"{"name": "tiny", "summary": "A model for tests.", "licence": "MIT",
  "recipe": "none", "sources": [{"name": "nothing", "licence": "free", "note": "Random."}],
  "notes": ["Made up."], "limits": ["It knows nothing."], "not_for": ["Anything."]}"#;

const FIGURES: &str = r#"{"signature": "x",
  "agreement": [{"set": "no set", "criterion": "none", "level": "pooled", "metric": "union", "n": 3,
    "pearson": {"value": 0.5, "low": 0.25, "high": 0.75},
    "spearman": {"value": 0.5, "low": 0.25, "high": 0.75},
    "kendall": {"value": 0.5, "low": 0.25, "high": 0.75}}],
  "diagnosis": [{"output": "repetition", "error": "repeated plots", "positives": 2, "auc": 0.9,
    "auc_reasonable": 0.95}]}"#;

/// A regressor of S3 with two support vectors.
const TABLE: &str = "intercept\t0.5\n0.25\t0\t0\t1\t1\t1\t1\n-0.5\t0.5\t0.5\t0\t0\t0\t0\n";

/// The program under test.
pub fn program() -> PathBuf {
    std::env::var_os("STORYMETER").map_or(env!("CARGO_BIN_EXE_storymeter").into(), PathBuf::from)
}

/// A file of the repository.
fn repository(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(relative)
}

impl Stock {
    pub fn build() -> Self {
        let stock = Self { folder: tempfile::tempdir().unwrap() };
        stock.write_stories();
        stock.write_ratings();
        for folder in ["encoder", "shop", "tales"] {
            fs::create_dir(stock.path(folder)).unwrap();
        }
        for file in ["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"] {
            let fixture = repository("crates/storymeter-encoder/tests/fixtures/bert").join(file);
            fs::copy(fixture, stock.path("encoder").join(file)).unwrap();
        }
        let speaker = repository("crates/storymeter-encoder/tests/fixtures/source/llama.gguf");
        fs::copy(speaker, stock.path("speaker.gguf")).unwrap();
        stock.write("vectors.txt", vectors());
        fs::create_dir(stock.path("tables")).unwrap();
        for name in ["s3_svr_pyr.tsv", "s3_svr_resp.tsv"] {
            stock.write(&format!("tables/{name}"), TABLE);
        }
        stock.write("tales/test.wp_source", lines(|s, i| format!("prompt {s} {i}")));
        stock.write("tales/test.wp_target", lines(story));
        stock.write("settings.toml", SETTINGS);
        stock.write("criteria.toml", "epochs = 1\nmax_tokens = 48\ndev_share = 0.0\nseed = 3\n");
        stock.write("about.json", ABOUT);
        stock.write("figures.json", FIGURES);
        stock.write("antonyms.txt", "old|||/r/Antonym|||young new\nred|||/r/Antonym|||blue\n");
        stock.write("facts.txt", "lamp|||UsedFor|||light\nriver|||AtLocation|||valley\n");
        stock.write("paraphrases.tsv", "The lamp went out.\tIt went dark.\n");
        let harnesses = repository("crates/storymeter-core/tests/fixtures/harnesses");
        for name in ["promptfoo.json", "inspect.json", "inspect.eval"] {
            fs::copy(harnesses.join(name), stock.path(name)).unwrap();
        }
        let samples = "lm-eval/house__atlas/samples_stories_2026-11-19T01-19-20.958741.jsonl";
        fs::create_dir_all(stock.path("lm-eval/house__atlas")).unwrap();
        fs::copy(harnesses.join(samples), stock.path(samples)).unwrap();
        stock.write("batch.jsonl", lines(batch_result));
        let parquet = repository("fuzz/seeds/reader_parquet/stories.parquet");
        if parquet.exists() {
            fs::copy(parquet, stock.path("stories.parquet")).unwrap();
        }
        for line in [
            "score stories.jsonl --metric bleu,ter,text-length -o scores.jsonl",
            "score stories.jsonl --metric rouge:hanna,chrf -o scores.csv",
            "score stories.jsonl --metric bleu,text-length --out-dir shards",
            "suite make stories.jsonl -o suite",
            "score suite/texts.jsonl --metric text-length -o given.jsonl",
            "meta table scores.jsonl -o study",
            "perturb stories.jsonl --save-donors donors.bin -o samples.jsonl",
            "train --stories stories.tsv --init encoder --config settings.toml -o model",
            "model pack model -o tiny.smq",
            "model pack model --about about.json -o shop/tiny.smq",
            "model manifest shop",
        ] {
            stock.run(line);
        }
        stock.run("score stories.jsonl --metric cider-d,self-bleu --corpus-stats corpus.bin");
        if cfg!(feature = "parquet") {
            stock.run("score stories.jsonl --metric bleu,text-length -o scores.parquet");
        }
        fs::rename(stock.path("model/train.jsonl"), stock.path("train.jsonl")).unwrap();
        stock.interrupt_training();
        stock
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names at the top of the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(program());
        command.args(line.split(' ')).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn run(&self, line: &str) {
        let output = self.command(line).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "storymeter {line}: {said}");
    }

    /// Leaves a training in `half` that was killed after its first checkpoint.
    fn interrupt_training(&self) {
        let line = "train --stories stories.tsv --init encoder --config settings.toml \
                    --epochs 40 -o half";
        let mut child = self.command(line).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while !self.path("half/training.safetensors").exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "there is no checkpoint");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn write_stories(&self) {
        let jsonl = lines(|s, i| {
            serde_json::json!({
                "id": format!("{s}-{i}"), "system": SYSTEMS[s], "item": format!("p{i}"),
                "prompt": "the old barn", "story": story(s, i), "reference": story(0, i),
                "human": {"fun": [rating(s, i, 0), rating(s, i, 1)], "plot/pace": rating(s, i, 2)},
            })
            .to_string()
        });
        let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        zip.write_all(jsonl.as_bytes()).unwrap();
        self.write("stories.jsonl.gz", zip.finish().unwrap());
        let mut zip = Zstandard::new();
        zip.copied(jsonl.as_bytes());
        self.write("stories.jsonl.zst", zip.finish());
        self.write("stories.jsonl", jsonl);
        let csv = lines(|s, i| {
            format!("{s}-{i},{},p{i},\"{}\",\"{}\",dark", SYSTEMS[s], story(s, i), story(0, i))
        });
        self.write("stories.csv", format!("id,system,item,story,reference,mood\n{csv}"));
        let tsv = lines(|s, i| format!("cased\t{}", sentences(s, i).join("\t")));
        let head = "form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5";
        self.write("stories.tsv", format!("{head}\n{tsv}"));
        let wide = (0..ITEMS).fold("id".to_owned(), |text, i| {
            let cells: Vec<String> = (0..4).map(|s| format!(",\"{}\"", story(s, i))).collect();
            text + &format!("\n{i}{}", cells.concat())
        });
        self.write("wide.csv", wide.replacen("id", &format!("id,{}", SYSTEMS.join(",")), 1));
        let column = |value: &dyn Fn(usize) -> String| {
            let cells = (0..ITEMS).map(|i| (i.to_string(), value(i).into()));
            serde_json::Value::from(cells.collect::<serde_json::Map<_, _>>())
        };
        let (stories, systems) = (column(&|i| story(1, i)), column(&|i| SYSTEMS[i % 4].to_owned()));
        let columns = serde_json::json!({"story": stories, "system": systems});
        self.write("columns.json", columns.to_string());
        self.write("stories.txt", lines(|s, i| format!("{}\n", story(s, i))));
        self.write("lines.txt", lines(story));
        self.write("roc.txt", lines(|s, i| format!("{}\n----", sentences(s, i).join(" .\n"))));
        let hanna = lines(|s, i| {
            let texts = format!("\"{}\",\"{}\"", story(0, i), story(s, i));
            let row = |rater: usize| {
                let rated: Vec<String> =
                    (0..6).map(|c| rating(s, i, c + rater).to_string()).collect();
                let id = s * ITEMS + i;
                format!("{id},prompt {i},{texts},{},{},w{rater}", SYSTEMS[s], rated.join(","))
            };
            [row(0), row(1), row(2)].join("\n")
        });
        let head = "Story ID,Prompt,Human,Story,Model,Relevance,Coherence,Empathy,Surprise,\
                    Engagement,Complexity,Worker ID";
        self.write("hanna.csv", format!("{head}\n{hanna}"));
        let generated = |s: usize, i: usize| {
            serde_json::json!({
                "text": story(s, i), "score": [rating(s, i, 0), rating(s, i, 1), null],
                "error": [["Rept"], [], null],
            })
        };
        let item = |i: usize| {
            let texts: serde_json::Map<String, serde_json::Value> =
                (1..SYSTEMS.len()).map(|s| (SYSTEMS[s].to_owned(), generated(s, i))).collect();
            let gold = story(0, i);
            serde_json::json!({"prompt": "the barn", "gold_response": gold, "gen": texts})
        };
        let items: serde_json::Map<String, serde_json::Value> =
            (0..ITEMS).map(|i| (i.to_string(), item(i))).collect();
        self.write("mags.json", serde_json::Value::from(items).to_string());
    }

    fn write_ratings(&self) {
        let seven = |s, i, f: &dyn Fn(usize) -> usize| {
            let given: Vec<String> = (0..7).map(|rater| f(rater).to_string()).collect();
            format!("{} ||| {} ||| {}", s * ITEMS + i, story(s, i), given.join(" "))
        };
        let fine = |s, i, rater| usize::from(rating(s, i, rater) > 2);
        let rated = lines(|s, i| seven(s, i, &|rater| fine(s, i, rater)));
        let kind = |s, i, rater| (1 - fine(s, i, rater)) * (1 + (s + i + rater / 3) % 5);
        let typed = lines(|s, i| seven(s, i, &|rater| kind(s, i, rater)));
        let numbers = lines(|s, i| number(s, i, 1).to_string());
        for folder in ["set", "set/metric_output", "set/drift_output"] {
            fs::create_dir(self.path(folder)).unwrap();
        }
        self.write("set/ant_data.txt", &rated);
        self.write("set/ant_data_all.txt", typed);
        self.write("set/metric_output/union.txt", &numbers);
        self.write("set/metric_output/ppl.txt", lines(|s, i| number(s, i, 4).to_string()));
        self.write("set/drift_output/union.txt", &numbers);
        self.write("set/edits.txt", lines(|s, i| (rating(s, i, 3) % 2).to_string()));
        self.write("rated.txt", rated);
        self.write("numbers.txt", numbers);
        let column = |f: &dyn Fn(usize) -> f64| {
            let numbers: Vec<String> = (0..ITEMS).map(|i| format!("{:.3}", f(i))).collect();
            format!("\"[{}]\"", numbers.join(", "))
        };
        let (mut scores, mut ratings) = (
            "Model,Relevance,Coherence,BLEU Ξ§,DepthScore Ξε,Text length ¤§\n".to_owned(),
            "story_id,system,prompt_index,rater,relevance,coherence\n".to_owned(),
        );
        for (s, system) in SYSTEMS.iter().enumerate() {
            let mean = |c: usize| {
                move |i: usize| {
                    (0..3).map(|rater| rating(s, i, c + rater) as f64).sum::<f64>() / 3.0
                }
            };
            let cells = [
                column(&mean(0)),
                column(&mean(1)),
                column(&|i| number(s, i, 2)),
                column(&|i| number(s, i, 3)),
                column(&|i| number(s, i, 5)),
            ];
            let _ = writeln!(scores, "{system},{}", cells.join(","));
            for (i, rater) in (0..ITEMS).flat_map(|i| (0..3).map(move |rater| (i, rater))) {
                let (first, second) = (rating(s, i, rater), rating(s, i, 1 + rater));
                let id = s * ITEMS + i;
                let _ = writeln!(ratings, "{id},{system},{i},{},{first},{second}", rater + 1);
            }
        }
        self.write("hanna-scores.csv", scores);
        self.write("ratings.csv", ratings);
        let kinds = ["null", "\"repetition\"", "\"logic\""];
        let errors = lines(|s, i| {
            let given: Vec<&str> = (0..7).map(|rater| kinds[(s + i + rater / 3) % 3]).collect();
            format!("{{\"id\": \"{s}-{i}\", \"errors\": [{}]}}", given.join(", "))
        });
        self.write("errors.jsonl", errors);
    }
}

/// A line of the results of a batch.
fn batch_result(system: usize, item: usize) -> String {
    let message = serde_json::json!({"role": "assistant", "content": story(system, item)});
    let body = serde_json::json!({"model": SYSTEMS[system], "choices": [{"message": message}]});
    let response = serde_json::json!({"status_code": 200, "body": body});
    let id = format!("{system}-{item}");
    serde_json::json!({"custom_id": id, "response": response, "error": null}).to_string()
}

/// Word vectors for some words of the stories.
fn vectors() -> String {
    let words = ["mira", "lost", "her", "red", "old", "kite", "barn", "in", "the", "it", "again"];
    words.iter().enumerate().fold(String::new(), |text, (i, word)| {
        text + &format!("{word} {} {} 0.5\n", i % 3, (i * i) % 5)
    })
}

/// One line per system and item.
fn lines(line: impl Fn(usize, usize) -> String) -> String {
    let each = (0..SYSTEMS.len()).flat_map(|s| (0..ITEMS).map(move |i| (s, i)));
    each.fold(String::new(), |text, (s, i)| text + &line(s, i) + "\n")
}

fn sentences(system: usize, item: usize) -> [String; 5] {
    let pick = |salt: usize, list: &[&'static str]| {
        list[(system * 7 + item * item + salt * (system + 2)) % list.len()]
    };
    [
        format!("{} lost her {} kite.", pick(0, &["Mira", "Ana"]), pick(1, &["red", "old", "odd"])),
        format!("She looked in the {} barn.", pick(2, &["old", "red", "far", "odd"])),
        format!("It {} in the barn.", pick(3, &["hung", "came", "looked"])),
        format!("Her brother {} her.", pick(4, &["helped", "thought", "burned"])),
        format!("They {} it again.", pick(5, &["flew", "closed", "lost"])),
    ]
}

fn story(system: usize, item: usize) -> String {
    sentences(system, item).join(" ")
}

/// A rating from 1 to 5.
fn rating(system: usize, item: usize, salt: usize) -> usize {
    1 + (system * 2 + item * 3 + salt * (system + 1) + item * item) % 5
}

/// A number between 0 and 2.
fn number(system: usize, item: usize, salt: usize) -> f64 {
    let mixed = (system * 37 + item * 91 + salt * 53 + system * item * 17) % 101;
    mixed as f64 / 100.0 + system as f64 / 4.0
}

/// The class of a file of the stock, as the table of results names it.
pub fn class_of(path: &Path) -> &'static str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = path.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
    match (folder, name) {
        ("set", _) | (_, "numbers.txt") => "UNION's folders and numbers",
        ("study", _) => "studies",
        ("lm-eval", _)
        | (_, "promptfoo.json" | "inspect.json" | "inspect.eval" | "batch.jsonl") => {
            "stories: outputs of tools"
        }
        (_, "config.json" | "tokenizer_config.json" | "tokenizer.json" | "vocab.txt") => {
            "encoder: settings and vocabulary"
        }
        (_, "storymeter.json" | "about.json" | "figures.json" | "manifest.json") => {
            "model cards and manifests"
        }
        (_, name) if name.ends_with(".safetensors") => "weights and checkpoints",
        (_, "speaker.gguf" | "vectors.txt" | "s3_svr_pyr.tsv" | "s3_svr_resp.tsv") => {
            "language models, word vectors and tables"
        }
        (_, name) if name.ends_with(".smq") => "model files (.smq)",
        (_, "scores.jsonl" | "scores.csv" | "scores.parquet") => "score files",
        (_, "corpus.bin") => "corpus statistics",
        (_, name) if name.ends_with(".meta.json") => "headers of score files",
        (_, "hanna-scores.csv" | "ratings.csv" | "errors.jsonl") => "HANNA's scores and ratings",
        (_, "train.jsonl") => "training logs",
        (_, "settings.toml" | "criteria.toml") => "training settings",
        (_, "antonyms.txt" | "donors.bin") => "donors and antonyms",
        (_, "mags.json") => "stories: OpenMEVA",
        (_, "columns.json") => "stories: JSON",
        (_, name) if name.ends_with(".gz") => "stories: gzip",
        (_, name) if name.ends_with(".zst") => "stories: Zstandard",
        (_, name) if name.ends_with(".parquet") => "stories: Parquet",
        (_, name) if name.ends_with(".jsonl") => "stories: JSONL",
        (_, name) if name.ends_with(".csv") || name.ends_with(".tsv") => "stories: CSV and TSV",
        _ => "stories: text layouts",
    }
}
