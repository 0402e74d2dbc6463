//! What `storymeter model` never destroys, prints or waits for.

use storymeter_core::file::FolderLock;

use super::*;

#[test]
fn nothing_that_is_packed_is_overwritten() {
    let sandbox = with_shop();
    std::fs::copy(sandbox.path("shop/tiny.smq"), sandbox.path("m.smq")).unwrap();
    std::fs::hard_link(sandbox.path("m.smq"), sandbox.path("hard.smq")).unwrap();
    let model = bytes(&sandbox, "m.smq");
    let refused = |line: &str, message: &str| {
        sandbox.run(line).fails_with(message);
        assert!(bytes(&sandbox, "m.smq") == model, "{line}");
        assert_eq!(sandbox.read("about.json"), ABOUT);
        assert_eq!(sandbox.read("figures.json"), FIGURES);
    };
    refused("model pack m.smq -o m.smq", "m.smq: this is also the input m.smq");
    refused("model pack m.smq -o ./hard.smq", "hard.smq: this is also the input m.smq");
    refused("model pack model -o model/config.json", "this is also the input model/config.json");
    // A file that is not part of the model may stand beside it, and may be written again.
    sandbox.run("model pack model -o model/mine.smq").succeeds();
    sandbox.run("model pack model -o model/mine.smq").succeeds();
    refused("model pack m.smq --about about.json -o about.json", "this is also the input about");
    refused("model pack m.smq --figures figures.json -o figures.json", "is also the input figures");
    refused("model pack m.smq --calibrate in.jsonl -o in.jsonl", "is also the input in.jsonl");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("m.smq", sandbox.path("soft.smq")).unwrap();
        refused("model pack m.smq -o soft.smq", "soft.smq: this is also the input m.smq");
        std::os::unix::fs::symlink("model", sandbox.path("link")).unwrap();
        refused("model average model model -o link", "link: the folder already has a model");
    }
    refused("model average model model -o model", "model: the folder already has a model");
    // A file of the mean would be written through a link to a file of a model.
    #[cfg(unix)]
    {
        std::fs::create_dir(sandbox.path("mean")).unwrap();
        std::os::unix::fs::symlink("../model/vocab.txt", sandbox.path("mean/vocab.txt")).unwrap();
        refused(
            "model average model model -o mean",
            "mean/vocab.txt: this is also the input model/vocab.txt",
        );
    }
}

#[test]
fn a_model_is_not_pulled_from_where_it_is_installed() {
    let sandbox = with_shop();
    let place = [("STORYMETER_MODELS", "shop")];
    let file = bytes(&sandbox, "shop/tiny.smq");
    sandbox
        .run_with("model pull tiny --from shop", &place)
        .fails_with("shop/tiny.smq: this is also the input shop/tiny.smq");
    assert!(bytes(&sandbox, "shop/tiny.smq") == file);
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let sandbox = with_shop();
    let message = "another run is writing into this folder";
    let first = FolderLock::take(&sandbox.path("installed")).unwrap();
    let place = [("STORYMETER_MODELS", "installed")];
    sandbox.run_with("model pull tiny --from shop", &place).fails_with(message);
    assert_eq!(std::fs::read_dir(sandbox.path("installed")).unwrap().count(), 0);
    drop(first);
    sandbox.run_with("model pull tiny --from shop", &place).succeeds();
    std::fs::create_dir(sandbox.path("mean")).unwrap();
    let _first = FolderLock::take(&sandbox.path("mean")).unwrap();
    sandbox.run("model average model model -o mean").fails_with(message);
}

#[cfg(target_os = "linux")]
#[test]
fn endless_files_are_refused() {
    let sandbox = with_shop();
    sandbox
        .run("model pack /dev/zero -o x.smq")
        .fails_with("/dev/zero: not a model file of storymeter");
    for option in ["--about", "--figures"] {
        sandbox
            .run(&format!("model pack model {option} /dev/zero -o x.smq"))
            .fails_with("/dev/zero: the file has more than 16777216 bytes");
    }
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("shop/zero.smq")).unwrap();
    sandbox.run("model manifest shop").fails_with("zero.smq: not a model file of storymeter");
    std::fs::remove_file(sandbox.path("shop/manifest.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", sandbox.path("shop/manifest.json")).unwrap();
    let place = [("STORYMETER_MODELS", "installed")];
    sandbox
        .run_with("model pull tiny --from shop", &place)
        .fails_with("shop/manifest.json: the file has more than 4194304 bytes");
}

#[test]
fn what_the_manifest_names_can_be_pulled() {
    let sandbox = with_shop();
    for odd in ["my model.smq", "größe.smq", "a+b.smq", ".hidden.smq"] {
        std::fs::copy(sandbox.path("shop/tiny.smq"), sandbox.path("shop").join(odd)).unwrap();
        sandbox
            .run("model manifest shop")
            .fails_with(&format!("shop/{odd}: rename the file"))
            .fails_with("is not a plain name of at most 200 letters, digits, -, _ and dots");
        std::fs::remove_file(sandbox.path("shop").join(odd)).unwrap();
    }
    sandbox.run("model manifest shop").succeeds();
    let place = [("STORYMETER_MODELS", "installed")];
    sandbox.run_with("model pull tiny --from shop", &place).succeeds();
    for (bytes, message) in [
        ("0", "tiny has 0 bytes, which no model has"),
        ("18446744073709551615", "but the manifest says 18446744073709551615"),
    ] {
        let manifest = sandbox.read("shop/manifest.json");
        let (before, after) = manifest.split_once("\"bytes\": ").unwrap();
        let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let sum = "0".repeat(64);
        let forged = format!("{before}\"bytes\": {bytes}{after}");
        let old = forged.split("\"sha256\": \"").nth(1).unwrap()[..64].to_owned();
        sandbox.write("shop/manifest.json", forged.replace(&old, &sum));
        sandbox.run_with("model pull tiny --from shop", &place).fails_with(message);
    }
}

#[test]
fn a_bad_model_is_blamed_and_not_the_file_that_would_be_written() {
    let sandbox = with_shop();
    let said = |line: &str, message: &str| {
        let run = sandbox.run(line).fails_with(message);
        assert!(!run.stderr().contains("o.smq"), "{}", run.stderr());
        assert!(!sandbox.path("o.smq").exists());
    };
    said(
        "model pack shop/tiny.smq --window 9999 -o o.smq",
        "shop/tiny.smq: max_tokens is 9999, but the encoder reads 8 to 96 tokens",
    );
    said(
        "model pack model --window 9999 -o o.smq",
        "model: the model cannot be packed: max_tokens is 9999, but the encoder reads 8 to 96",
    );
}

/// Text that turns a terminal green, renames its window and writes from right to left.
const HOSTILE: &str = "\u{1b}[32m\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";

#[test]
fn a_card_cannot_command_the_terminal() {
    let sandbox = with_shop();
    let mut about: serde_json::Value = serde_json::from_str(ABOUT).unwrap();
    for field in ["name", "summary", "licence", "recipe"] {
        about[field] = format!("{field} {HOSTILE}").into();
    }
    about["sources"][0] =
        serde_json::json!({"name": HOSTILE, "licence": HOSTILE, "note": format!("x\n{HOSTILE}")});
    for field in ["notes", "limits", "not_for"] {
        about[field][0] = HOSTILE.into();
    }
    sandbox.write("about.json", about.to_string());
    let mut figures: serde_json::Value = serde_json::from_str(FIGURES).unwrap();
    for field in ["set", "criterion", "level"] {
        figures["agreement"][0][field] = HOSTILE.into();
    }
    for field in ["output", "error"] {
        figures["diagnosis"][0][field] = HOSTILE.into();
    }
    sandbox.write("figures.json", figures.to_string());
    sandbox
        .run("model pack model --about about.json --figures figures.json -o installed/tiny.smq")
        .succeeds();
    let broken = format!("installed/{HOSTILE}.smq");
    sandbox.write(&broken, "no model");
    let shown = sandbox.run("model show installed/tiny.smq").succeeds();
    let listed = sandbox.run_with("model list", &[("STORYMETER_MODELS", "installed")]).succeeds();
    for text in [shown.stdout(), listed.stdout()] {
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(obeyed), "{text:?}");
        assert!(text.contains(r"\u{1b}[32m"), "{text}");
    }
    assert!(shown.stdout().contains(r"x\n\u{1b}"), "a note stays on its line");
}
