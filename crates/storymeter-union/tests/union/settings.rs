//! Reads settings files that no one would write on purpose. Each is accepted, or refused with an
//! error that names the file and the line.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use storymeter_union::train::{Preset, Settings};

const PRESETS: [Preset; 3] = [Preset::Default, Preset::Paper, Preset::ReleasedCode];

/// Values of every kind that TOML has, and some that are not TOML.
const VALUES: [&str; 35] = [
    "0",
    "1",
    "-1",
    "0.5",
    "-0.5",
    "nan",
    "-inf",
    "inf",
    "1e308",
    "1e999",
    "1e-320",
    "-0.0",
    "0x7f",
    "1_000",
    "07",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "true",
    "false",
    "\"cls\"",
    "'tied'",
    "\"\"",
    "\"paper\"",
    "\"\\ud800\"",
    "\"\"\"\n\"\"\"",
    "[]",
    "[1.0, 2.0, 3.0, 4.0]",
    "[nan, 0, 0, 0]",
    "[1, 2, 3, 4, 5]",
    "[[1], {}]",
    "{}",
    "{ seed = 1 }",
    "1979-05-27T07:32:00Z",
    "",
];

/// Reads bytes as a settings file. An error is given without the path of the file.
fn read(bytes: &[u8]) -> Result<Settings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.toml");
    std::fs::write(&path, bytes).unwrap();
    let shown = path.display().to_string();
    Settings::read(&path, None).map_err(|error| {
        let message = error.to_string();
        message.strip_prefix(&shown).unwrap_or_else(|| panic!("no file in {message:?}")).to_owned()
    })
}

/// The line that an error names.
fn line(message: &str) -> Option<usize> {
    message.strip_prefix(':')?.split_once(':')?.0.parse().ok()
}

/// Checks what holds for every text: it is read, and reads the same after it was written again, or
/// it is refused with an error that names one of its lines.
fn read_or_refused(bytes: &[u8]) {
    match read(bytes) {
        Ok(settings) => assert_eq!(read(settings.to_toml().as_bytes()), Ok(settings)),
        Err(message) => {
            let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
            let problem = message.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
            assert!(problem.len() > 4, "no reason in {message:?}");
            match line(&message) {
                Some(line) => assert!((1..=lines).contains(&line), "{message:?} of {lines} lines"),
                // A field that no line names can clash with one that a line names, and tables that
                // are nested too deeply have no line.
                None => assert!(
                    ["tokens_a_batch", "schedule_epochs", "diagnosis"]
                        .iter()
                        .any(|field| message.contains(field))
                        || message == ": recursion limit",
                    "no line in {message:?}"
                ),
            }
        }
    }
}

fn presets() -> impl Strategy<Value = String> {
    select(PRESETS.as_slice()).prop_map(|preset| Settings::of(preset).to_toml())
}

/// The lines of a file that are neither empty nor comments.
fn fields(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_file_with_bytes_changed_put_in_and_taken_out_is_read_or_refused(
        text in presets(),
        changes in prop::collection::vec((any::<Index>(), 0u8..3, prop_oneof![any::<u8>(), select(&b"[]{}=\"'.,#\n-_e09"[..])]), 1..9),
    ) {
        let mut bytes = text.into_bytes();
        for (place, kind, byte) in changes {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        read_or_refused(&bytes);
    }

    #[test]
    fn a_file_that_was_cut_off_anywhere_is_read_or_refused(text in presets(), place in any::<Index>()) {
        read_or_refused(&text.as_bytes()[..place.index(text.len() + 1)]);
    }

    #[test]
    fn a_value_of_another_kind_or_size_is_read_or_refused_at_its_own_line(
        text in presets(), field in any::<Index>(), value in select(VALUES.as_slice()),
    ) {
        let mut lines: Vec<String> = fields(&text).into_iter().map(String::from).collect();
        let at = field.index(lines.len());
        let Some((name, _)) = lines[at].split_once('=') else { return Ok(()) };
        let name = name.trim().to_owned();
        lines[at] = format!("{name} = {value}");
        let text = lines.join("\n");
        read_or_refused(text.as_bytes());
        if let Err(message) = read(text.as_bytes()) {
            let place = |name: &str| lines.iter().position(|line| line.starts_with(name)).unwrap();
            // If two fields do not go together, the error names one of them.
            let other = match name.as_str() {
                "max_tokens" => place("tokens_a_batch"),
                "epochs" => place("schedule_epochs"),
                "pooling" => place("diagnosis ="),
                "word_step" => place("weight_step"),
                "weight_step" => place("word_step"),
                _ if at > place("[perturb]") => place("[perturb]"),
                _ => at,
            };
            let found = [at, other].map(|line| Some(line + 1)).contains(&line(&message));
            prop_assert!(found, "{}: {}", lines[at], message);
        }
    }

    #[test]
    fn lines_in_another_order_twice_or_from_other_tables_are_read_or_refused(
        text in presets(), picks in prop::collection::vec(any::<Index>(), 0..50),
    ) {
        let lines = fields(&text);
        let picked: Vec<&str> = picks.iter().map(|pick| lines[pick.index(lines.len())]).collect();
        read_or_refused(picked.join("\n").as_bytes());
    }
}

#[test]
fn huge_files_are_refused_in_no_time() {
    let deep =
        |open: &str, close: &str| format!("seed = {}{}", open.repeat(50_000), close.repeat(50_000));
    for text in [
        deep("[", "]"),
        deep("{a=", "}"),
        deep("[", ""),
        format!("{} = 1", ["a"; 50_000].join(".")),
        format!("[{}]", ["a"; 50_000].join(".")),
        format!("seed = {}", "9".repeat(500_000)),
        format!("learning_rate = {}.0", "9".repeat(500_000)),
        format!("{} = 1", "a".repeat(500_000)),
        format!("preset = \"{}\"", "a".repeat(500_000)),
        format!("[perturb]\ncounts = [{}]", "1.0, ".repeat(100_000)),
        "seed = 1\n".repeat(50_000),
        "[[perturb]]\n".repeat(50_000),
    ] {
        assert!(read(text.as_bytes()).is_err());
        read_or_refused(text.as_bytes());
    }
    let message = read(&vec![b'\n'; 2_000_000]).unwrap_err();
    assert_eq!(
        message,
        ": the file has more than 1048576 bytes, which is the most that is read here"
    );
}

#[test]
fn what_is_no_text_and_what_is_no_file_is_named() {
    assert_eq!(read(b"seed = 1\nepochs = \xff\n").unwrap_err(), ":2: the line is not UTF-8 text");
    let read = |path: PathBuf| Settings::read(&path, None).unwrap_err().to_string();
    assert!(read("nowhere/run.toml".into()).starts_with("nowhere/run.toml: "));
    let endless = Path::new("/dev/zero");
    if endless.exists() {
        assert!(read(endless.into()).starts_with("/dev/zero: the file has more than"));
    }
}
