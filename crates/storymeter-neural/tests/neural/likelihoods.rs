//! Perplexity and BARTScore, on tiny models whose tokens are bytes.

use crate::likely::{LONGEST, write_bart, write_gpt2};
use crate::scoring::{pair, prompted, score};
use storymeter_core::Story;
use storymeter_encoder::{Batch, Device, Model, Outputs, Precision};
use tempfile::TempDir;

const SHORT: &str = "The lamp went out.";
const OTHER: &str = "Ines lit a candle, and a ship came home.";

fn folder_of(write: fn(&std::path::Path)) -> (TempDir, Model) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let model = Model::open(folder.path(), Device::Cpu, Precision::F32).unwrap();
    (folder, model)
}

fn bytes(first: u32, text: &str) -> Vec<u32> {
    text.bytes().map(|byte| first + u32::from(byte)).collect()
}

/// The sum of the log-probabilities of the tokens from `from` on.
fn log_likelihood(model: &Model, ids: &[u32], from: usize) -> f64 {
    let mut batch = Batch::new();
    batch.push(ids);
    let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
    run.likelihoods(0)[from - 1..].iter().map(|number| f64::from(*number)).sum()
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-5, "{what}: {found}, not {expected}");
}

#[test]
fn perplexity_counts_every_token_after_the_token_that_begins_a_text() {
    let (folder, model) = folder_of(write_gpt2);
    let ids: Vec<u32> = std::iter::once(0).chain(bytes(1, SHORT)).collect();
    let nats = -log_likelihood(&model, &ids, 1);
    let tokens = SHORT.len() as f64;
    let typed = [
        "perplexity",
        "perplexity:nll",
        "perplexity:per-word",
        "perplexity:per-byte+bits",
        "perplexity:per-word+nll",
    ];
    let scored = score(&typed, folder.path(), &[pair(SHORT, &[])], 1).unwrap();
    assert_eq!(scored.keys, typed);
    close(scored.column("perplexity")[0], (nats / tokens).exp(), "per token");
    close(scored.column("perplexity:nll")[0], nats / tokens, "nats per token");
    close(scored.column("perplexity:per-word")[0], (nats / 4.0).exp(), "per word");
    let bits = nats / tokens / 2f64.ln();
    close(scored.column("perplexity:per-byte+bits")[0], bits, "a token is a byte here");
    close(scored.column("perplexity:per-word+nll")[0], nats / 4.0, "nats per word");
}

#[test]
fn perplexity_after_a_prompt_counts_the_story_alone() {
    let (folder, model) = folder_of(write_gpt2);
    let joined = format!("A lamp. {SHORT}");
    let ids: Vec<u32> = std::iter::once(0).chain(bytes(1, &joined)).collect();
    // The blank between the two is read with the story.
    let nats = -log_likelihood(&model, &ids, 1 + "A lamp.".len());
    let story = prompted("A lamp.", SHORT, &[]);
    let scored = score(&["perplexity:prompt+nll"], folder.path(), &[story], 1).unwrap();
    close(scored.column("perplexity:prompt+nll")[0], nats / (SHORT.len() + 1) as f64, "nats");
    let failed = score(&["perplexity:prompt"], folder.path(), &[pair(SHORT, &[])], 1);
    assert!(failed.err().unwrap().to_string().contains("needs a prompt"));
}

#[test]
fn a_long_story_is_cut_and_counted_or_read_in_windows() {
    let (folder, model) = folder_of(write_gpt2);
    let long = OTHER.repeat(4);
    let ids: Vec<u32> = std::iter::once(0).chain(bytes(1, &long)).collect();
    let stories = [pair(&long, &[]), pair(SHORT, &[])];
    let typed = ["perplexity:nll", "perplexity:whole+nll", "perplexity:per-byte+nll"];
    let scored = score(&typed, folder.path(), &stories, 2).unwrap();
    assert_eq!(scored.truncated, [1, 0, 1]);

    let cut = -log_likelihood(&model, &ids[..LONGEST], 1) / (LONGEST - 1) as f64;
    close(scored.column("perplexity:nll")[0], cut, "the first window");
    close(scored.column("perplexity:per-byte+nll")[0], cut, "the bytes that were read");

    let half = LONGEST / 2;
    let mut nats = -log_likelihood(&model, &ids[..LONGEST], 1);
    let mut end = LONGEST;
    while end < ids.len() {
        let start = end - half;
        let next = (start + LONGEST).min(ids.len());
        nats -= log_likelihood(&model, &ids[start..next], half);
        end = next;
    }
    close(scored.column("perplexity:whole+nll")[0], nats / long.len() as f64, "all windows");
    let same = |key: &str| scored.column(key)[1];
    assert_eq!(same("perplexity:nll"), same("perplexity:whole+nll"), "a short story");
}

#[test]
fn white_space_at_the_ends_is_neither_read_nor_counted() {
    let (folder, _) = folder_of(write_gpt2);
    let padded = format!(" \n{SHORT}\n\n");
    let stories = [pair(SHORT, &[]), pair(&padded, &[])];
    for typed in ["perplexity:nll", "perplexity:per-byte+nll", "perplexity:per-word+nll"] {
        let scored = score(&[typed], folder.path(), &stories, 2).unwrap();
        assert_eq!(scored.column(typed)[0], scored.column(typed)[1], "{typed}");
    }
}

#[test]
fn bartscore_is_the_mean_log_probability_in_each_direction() {
    let (folder, model) = folder_of(write_bart);
    let marked = |text: &str| {
        let mut ids = vec![0];
        ids.extend(bytes(3, text));
        ids.push(2);
        ids
    };
    let given = |x: &str, y: &str| {
        let mut batch = Batch::new();
        batch.push(&marked(x));
        batch.push_target(0, &marked(y));
        let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
        let numbers = run.likelihoods(0);
        assert_eq!(numbers.len(), y.len() + 2);
        numbers.iter().map(|number| f64::from(*number)).sum::<f64>() / numbers.len() as f64
    };
    let prompt = "A lamp.";
    let stories = [prompted(prompt, SHORT, &[OTHER]), pair(OTHER, &[SHORT, OTHER])];
    let scored = score(&["bartscore", "bartscore:max"], folder.path(), &stories, 2).unwrap();
    assert_eq!(scored.keys[..4], ["bartscore/sh", "bartscore/hs", "bartscore/ps", "bartscore/sp"]);
    let value = |story: usize, column: usize| scored.values[story][column].clone().unwrap();
    close(value(0, 0), given(SHORT, OTHER), "sh");
    close(value(0, 1), given(OTHER, SHORT), "hs");
    close(value(0, 2), given(prompt, SHORT), "ps");
    close(value(0, 3), given(SHORT, prompt), "sp");
    let both = [given(OTHER, SHORT), given(OTHER, OTHER)];
    close(value(1, 0), (both[0] + both[1]) / 2.0, "the mean over references");
    close(value(1, 4), both[0].max(both[1]), "the largest");
    let reason = scored.values[1][2].clone().unwrap_err().to_string();
    assert_eq!(reason, "the story has no prompt");
}

#[test]
fn bartscore_reads_long_texts_in_part_or_whole() {
    let (folder, _) = folder_of(write_bart);
    let long = OTHER.repeat(4);
    let stories = [pair(&long, &[SHORT]), pair(SHORT, &[OTHER])];
    let scored = score(&["bartscore", "bartscore:whole"], folder.path(), &stories, 2).unwrap();
    assert_eq!(scored.truncated, [1, 0]);
    assert_ne!(scored.values[0][0], scored.values[0][4]);
    assert_eq!(scored.values[1][..2], scored.values[1][4..6], "short texts are one window");
}

#[test]
fn scores_depend_neither_on_the_batch_nor_on_the_threads() {
    let texts = ["", "A", SHORT, OTHER, "Zoë’s lamp 😀", "    "];
    let stories: Vec<Story> =
        texts.iter().map(|text| prompted(SHORT, text, &[OTHER, SHORT])).collect();
    for (write, typed) in [
        (write_gpt2 as fn(&std::path::Path), ["perplexity", "perplexity:whole+prompt"]),
        (write_bart, ["bartscore", "bartscore:whole"]),
    ] {
        let (folder, _) = folder_of(write);
        let run = |batch: usize, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| score(&typed, folder.path(), &stories, batch).unwrap().values)
        };
        let expected = run(6, 1);
        assert_eq!(run(1, 2), expected);
        assert_eq!(run(4, 3), expected);
        let whole = expected.iter().flatten().flatten().all(|number| number.is_finite());
        assert!(whole, "{expected:?}");
    }
}

#[test]
fn texts_without_tokens_are_absent_and_very_long_ones_are_read() {
    let (folder, _) = folder_of(write_gpt2);
    let long = "word ".repeat(50_000);
    let stories = [pair("", &[]), pair(" \n", &[]), pair(&long, &[])];
    let scored = score(&["perplexity"], folder.path(), &stories, 3).unwrap();
    for empty in &scored.values[..2] {
        let reason = empty[0].clone().unwrap_err().to_string();
        assert_eq!(reason, "the story has no token to count");
    }
    assert!(scored.values[2][0].is_ok());
    assert_eq!(scored.truncated, [1]);
}

#[test]
fn a_model_that_does_not_fit_is_refused() {
    let (gpt2, _) = folder_of(write_gpt2);
    let (bart, _) = folder_of(write_bart);
    let stories = [pair(SHORT, &[OTHER])];
    let refused = |typed, folder: &TempDir| {
        score(&[typed], folder.path(), &stories, 1).err().unwrap().to_string()
    };
    assert!(refused("bartscore", &gpt2).ends_with("it has no decoder"));
    assert!(refused("perplexity", &bart).ends_with("it is not a causal language model"));
}
