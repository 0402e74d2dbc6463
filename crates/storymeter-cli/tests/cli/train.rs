//! `storymeter train` with a tiny encoder: its output, its errors, and what an interrupted run
//! leaves.

mod disscore;
mod language_model;
mod ruber;
mod safety;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::{Run, Sandbox, repository};

/// Small batches, so that an epoch has many steps.
const CONFIG: &str = "epochs = 3\nlearning_rate = 1e-3\nmax_tokens = 48\ntokens_a_batch = 192\n";

/// A sandbox with `encoder/`, `stories.tsv`, `more.jsonl` and `run.toml`.
fn with_stories(count: usize) -> Sandbox {
    with_stories_for("bert", count)
}

/// The same with another encoder. A GPU needs a width that is a multiple of eight, unlike that of
/// `bert`.
fn with_stories_for(encoder: &str, count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("encoder")).unwrap();
    for file in ["config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"] {
        let from = repository("crates/storymeter-encoder/tests/fixtures").join(encoder).join(file);
        std::fs::copy(from, sandbox.path("encoder").join(file)).unwrap();
    }
    let pick = |i: usize, list: &[&'static str]| list[i % list.len()];
    let story = |i: usize| {
        [
            format!(
                "{} lost her {} kite.",
                pick(i, &["Mira", "Ana", "Zoe"]),
                pick(i / 3, &["red", "old", "odd"])
            ),
            format!("She looked in the {} barn.", pick(i / 9, &["old", "red", "far", "odd"])),
            format!("It {} in the barn.", pick(i / 2, &["hung", "came", "looked"])),
            format!("Her brother {} her.", pick(i / 5, &["helped", "thought", "burned"])),
            format!("They {} it again.", pick(i / 7, &["flew", "closed", "lost"])),
        ]
    };
    let mut table = "form\tsentence1\tsentence2\tsentence3\tsentence4\tsentence5\n".to_owned();
    (0..count).for_each(|i| table.push_str(&format!("cased\t{}\n", story(i).join("\t"))));
    sandbox.write("stories.tsv", table);
    let long = serde_json::json!({"prompt": "the old barn", "story": story(1).join(" ").repeat(5)});
    sandbox.write("more.jsonl", format!("{long}\n").repeat(8));
    sandbox.write("run.toml", CONFIG);
    sandbox
}

const TRAIN: &str = "train --stories stories.tsv more.jsonl --init encoder --config run.toml";

/// The lines of a log.
fn log(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn of_kind<'a>(log: &'a [Value], kind: &str) -> Vec<&'a Value> {
    log.iter().filter(|line| line["event"] == kind).collect()
}

#[test]
fn a_model_is_trained_logged_reported_and_scores() {
    let sandbox = with_stories(120);
    let run = sandbox.run(&format!("{TRAIN} -o model --seed 3")).succeeds();
    assert!(run.stdout().contains("model has the model of epoch"), "{}", run.stdout());
    let prompts = "prompts are not read (prompts = false), although 8 stories have one";
    assert!(run.stderr().contains(prompts), "{}", run.stderr());
    let log = log(&sandbox, "model/train.jsonl");
    let (start, end) = (&log[0], log.last().unwrap());
    assert_eq!((&start["event"], &end["event"]), (&Value::from("start"), &Value::from("end")));
    assert_eq!((&start["settings"]["seed"], &start["settings"]["epochs"]), (&3.into(), &3.into()));
    assert_eq!(start["files"][0]["name"], "stories.tsv");
    assert_eq!(
        (&start["files"][0]["stories"], &start["files"][1]["stories"]),
        (&120.into(), &8.into())
    );
    assert_eq!(start["files"][0]["sha256"].as_str().unwrap().len(), 64);
    let parts = ["train", "dev", "test"].map(|part| start["split"][part].as_u64().unwrap());
    assert_eq!(parts.iter().sum::<u64>(), 128);
    let steps = of_kind(&log, "step");
    assert!(steps.is_sorted_by_key(|step| step["step"].as_u64()) && steps.len() > 6);
    for field in [
        "loss",
        "score",
        "reconstruction",
        "diagnosis",
        "learning_rate",
        "gradient_norm",
        "tokens_per_second",
    ] {
        assert!(steps.iter().all(|step| step[field].as_f64().is_some_and(|x| x > 0.0)), "{field}");
    }
    let epochs = of_kind(&log, "epoch");
    assert_eq!(epochs.len(), 3);
    assert!(
        epochs.iter().all(|epoch| epoch["dev"]["accuracy"].is_f64()
            && epoch["dev"]["reordering"]["loss"].is_f64())
    );
    assert!(epochs[0]["counts"].as_str().unwrap().contains("windows of longer stories"));
    for field in ["seconds", "negatives_seconds", "tokens", "best_epoch"] {
        assert!(end[field].as_f64().is_some_and(|x| x > 0.0), "{field}");
    }
    let card: Value = serde_json::from_str(&sandbox.read("model/storymeter.json")).unwrap();
    assert_eq!(card["training"]["signature"], end["signature"]);
    assert_eq!(card["training"]["settings"], start["settings"]);

    sandbox.run("score stories.tsv --model model -o scores.jsonl").succeeds();
    assert_eq!(sandbox.read("scores.jsonl").lines().count(), 120);
    sandbox.run("report model/train.jsonl -o report.html").succeeds();
    for curve in ["gradient_norm", "dev.accuracy", "dev.negation.loss"] {
        assert!(sandbox.read("report.html").contains(curve), "{curve}");
    }
}

#[test]
fn stories_may_come_from_standard_input_and_the_log_may_go_elsewhere() {
    let sandbox = with_stories(60);
    let table = sandbox.read("stories.tsv");
    let mut input: String = table
        .lines()
        .skip(1)
        .map(|line| {
            let story = line.split('\t').skip(1).collect::<Vec<_>>().join(" ");
            format!("{}\n", serde_json::json!({ "story": story }))
        })
        .collect();
    input.push_str("{\"stories\": 3}\n");
    let line = "train --stories - --input-format jsonl --init encoder --config run.toml --epochs 1 \
                -o model --log elsewhere.jsonl";
    sandbox.run_with_input(line, input.as_bytes()).fails_with("standard input:61");
    assert!(!sandbox.path("model").exists());
    let run = sandbox.run_with_input(&format!("{line} --skip-bad"), input.as_bytes()).succeeds();
    assert!(run.stderr().contains("1 bad record was skipped"), "{}", run.stderr());
    assert!(!sandbox.path("model/train.jsonl").exists());
    assert_eq!(log(&sandbox, "elsewhere.jsonl")[0]["files"][0]["stories"], 60);
}

#[test]
fn settings_are_printed_with_their_meaning_and_read_back() {
    let sandbox = with_stories(0);
    let printed = sandbox.run("train --print-config --preset released-code --epochs 9").succeeds();
    assert!(
        printed.stdout().contains("# The number of passes over the training stories"),
        "{}",
        printed.stdout()
    );
    assert!(printed.stdout().contains("\nprompts = false\n"), "{}", printed.stdout());
    sandbox.write("again.toml", printed.stdout());
    let again = sandbox.run("train --print-config --config again.toml").succeeds();
    assert_eq!(again.stdout(), printed.stdout());
    let flags =
        "--without-reconstruction --without-technique negation --without-technique repetition";
    let ablated = sandbox.run(&format!("train --print-config {flags}")).succeeds();
    assert!(ablated.stdout().contains("reconstruction = \"none\""), "{}", ablated.stdout());
    assert!(
        ablated.stdout().contains("\nweights = [0.0, 0.3, 0.4, 0.0]\n"),
        "{}",
        ablated.stdout()
    );
}

#[test]
fn what_is_wrong_with_the_settings_is_named() {
    let sandbox = with_stories(40);
    let fails = |config: &str, message: &str| {
        sandbox.write("run.toml", config);
        sandbox.run(&format!("{TRAIN} -o model")).fails_with(message);
    };
    fails("seed = 1\nepoch = 3\n", "run.toml:2: field \"epoch\": unknown field `epoch`");
    fails("learning_rate = \"fast\"\n", "run.toml:1: field \"learning_rate\": invalid type");
    fails(
        "seed = 1\nmax_tokens = 300\n",
        "run.toml:2: field \"max_tokens\": is 300, but the encoder in encoder reads 8 to 96 tokens",
    );
    fails(
        "seed = 1\n",
        "the setting max_tokens of the preset default is 200, but the encoder in encoder reads 8 to \
         96 tokens; a file of --config can change it",
    );
    fails(
        "max_tokens = 48\ndelexicalise = 2.0\n",
        "run.toml:2: field \"delexicalise\": must be from 0 to 1",
    );
    sandbox.write("run.toml", CONFIG);
    sandbox.run("train --stories stories.tsv -o model").fails_with("--init");
    assert!(!sandbox.path("model/storymeter.json").exists());
}

#[test]
fn options_of_another_kind_of_model_are_refused() {
    let sandbox = with_stories(40);
    sandbox
        .run(&format!("{TRAIN} -o model --kind union --rated stories.tsv"))
        .fails_with("--kind union has no option --rated");
    sandbox.run(&format!("{TRAIN} -o model --kind magic")).fails_with("union");
    assert!(!sandbox.path("model").exists());
}

/// Impossible settings are refused before the stories are read and before an older checkpoint is
/// removed.
#[test]
fn impossible_numbers_end_the_run_before_any_work() {
    let sandbox = with_stories(0);
    std::fs::create_dir(sandbox.path("before")).unwrap();
    sandbox.write("before/training.safetensors", "kept");
    let cases = [
        (
            "learning_rate = nan",
            "run.toml:2: field \"learning_rate\": must be from 1e-30 to 1, but is NaN",
        ),
        ("clip = -1", "run.toml:2: field \"clip\": must be from 1e-30 to 1000000, but is -1"),
        (
            "weight_decay = 1e300",
            "run.toml:2: field \"weight_decay\": must be from 0 to 1000000, but is 1000",
        ),
        ("epochs = 9223372036854775807", "run.toml:2: field \"epochs\": must be from 1 to 1000000"),
        ("epochs = -3", "run.toml:2: field \"epochs\": invalid value: integer `-3`"),
        ("seed = 99999999999999999999", "run.toml:2: field \"seed\": "),
        ("[perturb]\nweights = [inf, 0, 0, 0]", "run.toml:2: field \"perturb\": is impossible"),
    ];
    for (line, message) in cases {
        sandbox.write("run.toml", format!("# A mistake.\n{line}\n"));
        // The stories do not exist, so an attempt to read them would be another error.
        let train = "train --stories nowhere.tsv --init encoder --config run.toml";
        let run = sandbox.run(&format!("{train} -o before --overwrite"));
        assert_eq!(run.code(), 2);
        run.fails_with(message);
        sandbox.run(&format!("{train} -o model")).fails_with(message);
    }
    assert_eq!(sandbox.read("before/training.safetensors"), "kept");
    assert!(!sandbox.path("model").exists());
    sandbox.run("train --print-config --seed 18446744073709551615").fails_with("--seed");
}

#[test]
fn a_gpu_trains_or_is_reported_as_missing() {
    let sandbox = with_stories_for("distilbert", 60);
    let run = sandbox.run(&format!("{TRAIN} -o model --epochs 1 --device cuda --deterministic"));
    if run.code() == 0 {
        let start = &log(&sandbox, "model/train.jsonl")[0];
        assert_eq!(start["device"], "cuda-bf16");
    } else {
        run.fails_with("CUDA");
        assert!(!sandbox.path("model/storymeter.json").exists());
    }
}

/// Two processes share one GPU, which NCCL takes for two hosts.
fn train_on_a_gpu(sandbox: &Sandbox, out: &str, more: &str) -> Run {
    sandbox.run(&format!(
        "{TRAIN} -o {out} --epochs 2 --device cuda --precision f32 --deterministic {more}"
    ))
}

#[test]
fn two_ranks_on_a_gpu_train_a_model_or_report_what_is_missing() {
    let sandbox = with_stories_for("distilbert", 120);
    let two = train_on_a_gpu(&sandbox, "two", "--devices 0,0");
    let trained = two.code() == 0;
    if !trained {
        let missing = if two.stderr().contains("NCCL") { "libnccl.so.2" } else { "CUDA driver" };
        two.fails_with(missing);
    }
    assert_eq!(sandbox.path("two/storymeter.json").exists(), trained);
}

/// They do the same as two GPUs.
#[test]
#[ignore = "needs an NVIDIA GPU and NCCL; run with --ignored"]
fn two_ranks_on_a_gpu_train_the_same_model_as_one() {
    let sandbox = with_stories_for("distilbert", 120);
    let train = |out: &str, more: &str| train_on_a_gpu(&sandbox, out, more).succeeds();
    train("two", "--devices 0,0");
    train("one", "");
    train("again", "--devices 0,0");
    let dev_losses = |out: &str| -> Vec<f64> {
        let log = log(&sandbox, &format!("{out}/train.jsonl"));
        of_kind(&log, "epoch")
            .into_iter()
            .map(|line| line["dev"]["loss"].as_f64().unwrap())
            .collect()
    };
    let (one, two) = (dev_losses("one"), dev_losses("two"));
    assert!(
        one.len() == 2 && one.iter().zip(&two).all(|(a, b)| (a - b).abs() < 1e-4),
        "{one:?} and {two:?}"
    );
    let bytes =
        |out: &str| std::fs::read(sandbox.path(&format!("{out}/model.safetensors"))).unwrap();
    assert!(bytes("two") == bytes("again"), "the same bytes twice");
    assert_eq!(log(&sandbox, "two/train.jsonl")[0]["device"], "cuda-f32-2-gpus");
}

#[test]
fn several_gpus_do_not_share_a_standard_input() {
    let sandbox = with_stories(20);
    let line = "train --stories - --input-format jsonl --init encoder --config run.toml -o model \
                --device cuda --devices 0,1";
    sandbox.run_with_input(line, b"{}").fails_with("several GPUs cannot share standard input");
}

#[test]
fn a_model_is_not_overwritten_by_mistake() {
    let sandbox = with_stories(60);
    sandbox.run(&format!("{TRAIN} -o model --epochs 1")).succeeds();
    let before = sandbox.read("model/storymeter.json");
    sandbox
        .run(&format!("{TRAIN} -o model --epochs 1 --seed 9"))
        .fails_with("--resume continues it, and --overwrite starts anew");
    sandbox.run(&format!("{TRAIN} -o model --epochs 1 --seed 9 --resume")).fails_with(
        "a run with other settings (--overwrite starts anew and removes that checkpoint)",
    );
    assert_eq!(sandbox.read("model/storymeter.json"), before);
    // A complete run has nothing left to do.
    sandbox.run(&format!("{TRAIN} -o model --epochs 1 --resume")).succeeds();
    assert_eq!(sandbox.read("model/storymeter.json"), before);
    let checkpoint = std::fs::read(sandbox.path("model/training.safetensors")).unwrap();
    sandbox.write("model/training.safetensors", &checkpoint[..checkpoint.len() / 3]);
    sandbox
        .run(&format!("{TRAIN} -o model --epochs 1 --resume"))
        .fails_with("not a complete checkpoint");
    std::fs::remove_file(sandbox.path("model/training.safetensors")).unwrap();
    sandbox
        .run(&format!("{TRAIN} -o model --epochs 1 --resume"))
        .fails_with("no training.safetensors to resume from");
    assert_eq!(sandbox.read("model/storymeter.json"), before);
    sandbox.run(&format!("{TRAIN} -o model --epochs 1 --seed 9 --overwrite")).succeeds();
    assert_ne!(sandbox.read("model/storymeter.json"), before);
}

#[test]
fn a_broken_encoder_is_explained() {
    let broken = |file: &str, damage: &dyn Fn(Vec<u8>) -> Vec<u8>, message: &str| {
        let sandbox = with_stories(40);
        let path = sandbox.path("encoder").join(file);
        std::fs::write(&path, damage(std::fs::read(&path).unwrap())).unwrap();
        sandbox.run(&format!("{TRAIN} -o model")).fails_with(message).fails_with(file);
        assert!(!sandbox.path("model/storymeter.json").exists());
    };
    broken("model.safetensors", &|bytes| bytes[..bytes.len() / 2].to_vec(), "model.safetensors");
    broken("model.safetensors", &|_| b"nothing of the kind".to_vec(), "model.safetensors");
    let nan = |mut bytes: Vec<u8>| {
        let end = bytes.len() - 4;
        bytes[end..].copy_from_slice(&f32::NAN.to_le_bytes());
        bytes
    };
    broken("model.safetensors", &nan, "NaN");
    let other_vocabulary = |bytes: Vec<u8>| [bytes, b"one\ntwo\nthree\n".to_vec()].concat();
    broken("vocab.txt", &other_vocabulary, "they belong to different models");
}

/// Starts a run in the background.
fn start(sandbox: &Sandbox, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_storymeter"))
        .args(line.split_whitespace())
        .current_dir(sandbox.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a run (SIGKILL) in the middle of its second epoch.
fn kill_in_second_epoch(sandbox: &Sandbox, out: &str) {
    let mut child = start(sandbox, &format!("{TRAIN} -o {out}"));
    let started = Instant::now();
    let is_there =
        |log: &[Value]| log.iter().any(|line| line["event"] == "step" && line["epoch"] == 2);
    while !is_there(&log(sandbox, &format!("{out}/train.jsonl"))) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "the run does not get to its second epoch"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let log = log(sandbox, &format!("{out}/train.jsonl"));
    assert_eq!(of_kind(&log, "epoch").len(), 1, "killed in the middle of the second epoch");
}

fn assert_same_model(a: &Path, b: &Path) {
    for file in
        ["model.safetensors", "heads.safetensors", "storymeter.json", "config.json", "vocab.txt"]
    {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(a) == read(b), "{file} differs");
    }
}

#[test]
fn a_killed_run_resumed_ends_with_the_same_bytes_as_an_unbroken_one() {
    let sandbox = with_stories(400);
    sandbox.run(&format!("{TRAIN} -o whole")).succeeds();
    kill_in_second_epoch(&sandbox, "cut");
    // A line that the kill has cut off must not spoil the log.
    let mut text = sandbox.read("cut/train.jsonl");
    text.push_str("{\"event\":\"st");
    sandbox.write("cut/train.jsonl", text);
    sandbox.run(&format!("{TRAIN} -o cut --resume --threads 1")).succeeds();
    assert_same_model(&sandbox.path("whole"), &sandbox.path("cut"));
    // Except for times, both logs are the same.
    let events = |out: &str| -> Vec<Value> {
        let log = log(&sandbox, &format!("{out}/train.jsonl"));
        let steps =
            log.iter().filter(|line| line["event"] == "step" || line["event"] == "epoch").cloned();
        let timeless = |mut line: Value| {
            line.as_object_mut().unwrap().remove("tokens_per_second");
            line
        };
        steps.map(timeless).collect()
    };
    assert_eq!(events("whole"), events("cut"));
    sandbox.run("report cut/train.jsonl -o report.html").succeeds();
}

/// Runs the program with a limit on the size of files, in blocks of 512 bytes, like a full disk.
fn run_on_full_disk(sandbox: &Sandbox, line: &str, blocks: u64) -> std::process::Output {
    // The signal is ignored, so that writing fails as it does on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {line}");
    let mut shell = Command::new("sh");
    let shell =
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_storymeter")]).current_dir(sandbox.path(""));
    shell.output().unwrap()
}

fn names(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_the_model_that_was_there() {
    let sandbox = with_stories(60);
    sandbox.run(&format!("{TRAIN} -o model --epochs 1")).succeeds();
    sandbox.run("score stories.tsv --model model -o before.jsonl").succeeds();
    let before = names(sandbox.path("model"));
    let weights = std::fs::metadata(sandbox.path("model/model.safetensors")).unwrap().len();
    let anew = format!("{TRAIN} -o model --epochs 1 --seed 9 --overwrite");
    let run = run_on_full_disk(&sandbox, &anew, weights / 512 / 2);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(
        message.contains("training.safetensors: ") && message.contains("File too large"),
        "{message}"
    );
    let after: Vec<String> =
        before.into_iter().filter(|name| name != "training.safetensors").collect();
    assert_eq!(names(sandbox.path("model")), after, "nothing half-written is left");
    sandbox.run("score stories.tsv --model model -o after.jsonl").succeeds();
    assert_eq!(sandbox.read("before.jsonl"), sandbox.read("after.jsonl"));
}

#[test]
fn a_full_disk_leaves_the_last_good_checkpoint_from_which_the_run_goes_on() {
    let sandbox = with_stories(400);
    sandbox.run(&format!("{TRAIN} -o whole")).succeeds();
    kill_in_second_epoch(&sandbox, "full");
    let checkpoint = sandbox.path("full/training.safetensors");
    let good = std::fs::read(&checkpoint).unwrap();
    let before = names(sandbox.path("full"));
    // There is room for the model, but not for a checkpoint, which is three times as large.
    let blocks = good.len() as u64 / 512 * 2 / 3;
    let run = run_on_full_disk(&sandbox, &format!("{TRAIN} -o full --resume"), blocks);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    assert!(
        message.contains("training.safetensors: ") && message.contains("File too large"),
        "{message}"
    );
    assert!(std::fs::read(&checkpoint).unwrap() == good, "the checkpoint has changed");
    assert_eq!(names(sandbox.path("full")), before, "nothing half-written is left");
    sandbox.run(&format!("{TRAIN} -o full --resume")).succeeds();
    assert_same_model(&sandbox.path("whole"), &sandbox.path("full"));
}
