//! Studies that were edited by hand, and names and texts that try to leave their place.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::common::{page_data, study_folder};
use serde_json::{Value, json};
use storymeter_core::Catalogue;
use storymeter_meta::{Study, folder, hanna, union};
use storymeter_report::{FigureSet, Inputs, Report, files};

fn read(path: &Path) -> storymeter_report::Result<Inputs> {
    Inputs::read(&[path.to_owned()], None, &Catalogue::default())
}

/// A study of HANNA's layout.
fn hanna_study(folder: &Path) -> Study {
    let mut text = String::from("Model,Relevance,Coherence,BLEU Ξ§,Other ¤§\n");
    for system in 0..5 {
        let _ = write!(text, "S{system}");
        for column in 0..4 {
            let number = |item: usize| 1 + (system * 7 + item * 3 + column * (item + 1)) % 5;
            let numbers: Vec<String> = (0..6).map(|item| number(item).to_string()).collect();
            let _ = write!(text, ",\"[{}]\"", numbers.join(","));
        }
        text.push('\n');
    }
    let path = folder.join("hanna.csv");
    fs::write(&path, text).unwrap();
    hanna::analyse(&path, &hanna::Options::default()).unwrap()
}

/// A study of UNION's layout, with everything that it can have.
fn union_study(folder: &Path) -> Study {
    let set = folder.join("set");
    for name in ["metric_output", "drift_output"] {
        fs::create_dir_all(set.join(name)).unwrap();
        let numbers =
            |step: usize| (0..10).map(|i| format!("{}\n", i * step % 7)).collect::<String>();
        fs::write(set.join(name).join("bleu.txt"), numbers(3)).unwrap();
        fs::write(set.join(name).join("mine.txt"), numbers(5)).unwrap();
    }
    let line = |i: usize, most: usize| {
        format!("{i} ||| bird {i} ||| {} {} {}\n", i % most, i / 2 % most, i / 3 % most)
    };
    fs::write(set.join("ant_data.txt"), (0..10).map(|i| line(i, 2)).collect::<String>()).unwrap();
    fs::write(set.join("ant_data_all.txt"), (0..10).map(|i| line(i, 6)).collect::<String>())
        .unwrap();
    fs::write(set.join("edits.txt"), (0..10).map(|i| format!("{}\n", i % 2)).collect::<String>())
        .unwrap();
    union::analyse(&set, &union::Options::default()).unwrap()
}

/// The pointers (RFC 6901) of all parts of a value.
fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Array(parts) => {
            let parts = parts.iter().enumerate();
            parts.for_each(|(at, part)| pointers(part, format!("{here}/{at}"), all));
        }
        Value::Object(parts) => parts.iter().for_each(|(key, part)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            pointers(part, format!("{here}/{key}"), all);
        }),
        _ => {}
    }
    all.push(here);
}

/// What a person could do to one part of a file.
fn edits(part: &Value) -> Vec<Value> {
    match part {
        Value::Array(parts) => {
            let (mut longer, mut shorter, mut turned) =
                (parts.clone(), parts.clone(), parts.clone());
            longer.extend(parts.first().cloned());
            shorter.pop();
            turned.reverse();
            vec![json!([]), longer.into(), shorter.into(), turned.into()]
        }
        Value::Number(_) => {
            vec![json!(0), json!(1_000_000_000_000_u64), json!(-1e308), json!(1e308)]
        }
        Value::String(_) => vec![json!(""), json!("\u{0}</script>\u{202e}]]>"), json!("pearson")],
        Value::Object(_) => vec![json!({"absent": "constant"}), json!({})],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Null => vec![json!(0)],
    }
}

#[test]
fn an_edited_study_is_shown_or_refused_by_name_and_never_breaks_the_program() {
    let temporary = tempfile::tempdir().unwrap();
    let table = folder::read(&study_folder(temporary.path())).unwrap();
    let studies = [table, hanna_study(temporary.path()), union_study(temporary.path())];
    let run = temporary.path().join("edited");
    fs::create_dir(&run).unwrap();
    let (mut shown, mut refused) = (0, 0);
    for (nth, study) in studies.iter().enumerate() {
        let whole = serde_json::to_value(study).unwrap();
        let write = |value: &Value| fs::write(run.join("study.json"), value.to_string()).unwrap();
        write(&whole);
        assert_eq!(folder::read(&run).unwrap(), *study, "an unchanged study is read");
        let mut all = Vec::new();
        pointers(&whole, String::new(), &mut all);
        // A large prime visits parts of all kinds; each study has thousands.
        let chosen = (0..25).map(|number| &all[number * 7919 % all.len()]);
        // The outer parts are few, and all of them are visited.
        let outer = all.iter().filter(|pointer| pointer.matches('/').count() <= 4);
        for pointer in chosen.chain(outer.take(40)).collect::<std::collections::BTreeSet<_>>() {
            for edit in edits(whole.pointer(pointer).unwrap()) {
                let mut edited = whole.clone();
                *edited.pointer_mut(pointer).unwrap() = edit;
                write(&edited);
                match read(&run) {
                    Ok(inputs) => {
                        let page = Report::new(&inputs).html();
                        assert!(page.ends_with("</html>\n"), "study {nth}, {pointer}");
                        Report::new(&inputs).figures(FigureSet::All);
                        shown += 1;
                    }
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.contains("study.json"), "{pointer}: {message}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(shown > 100 && refused > 100, "{shown} shown, {refused} refused");
}

#[test]
fn lists_that_do_not_fit_are_named() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let text = fs::read_to_string(run.join("study.json")).unwrap();
    let mut study: Value = serde_json::from_str(&text).unwrap();
    let findings = study["findings"].as_array_mut().unwrap();
    let between = findings.iter_mut().find_map(|finding| finding.get_mut("between")).unwrap();
    between["cells"].as_array_mut().unwrap().pop();
    fs::write(run.join("study.json"), study.to_string()).unwrap();
    let message = read(&run).unwrap_err().to_string();
    assert!(message.ends_with("in \"between\": 14 cells where there must be 15"), "{message}");
}

/// A score file in which every name and every text is hostile.
fn hostile_scores() -> String {
    let hostile = "\u{1b}[2J\u{7}\u{0}\u{202e}\u{2028}</script><script>alert(1)</script>]]>";
    let mut lines = String::new();
    for at in 0..24 {
        let (system, item, quality) = (at % 4, at / 4, (at * 7 % 11) as f64);
        let line = json!({
            "id": format!("{at}{hostile}"),
            "system": format!("{hostile}{system}"),
            "item": format!("{item}{hostile}"),
            "scores": {format!("near{hostile}"): quality + 0.5, format!("far{hostile}"): at % 5},
            "human": {
                format!("../../{hostile}"): [1.0 + quality / 3.0, 1 + at % 3],
                "con": [1 + at % 4],
                "": [2 + at % 3],
                "ü".repeat(10_000): [1 + at % 5],
            },
            "explanation": {"note": hostile},
        });
        let _ = writeln!(lines, "{line}");
    }
    lines
}

#[test]
fn hostile_names_and_texts_stay_in_their_place() {
    let temporary = tempfile::tempdir().unwrap();
    let at = |name: &str| temporary.path().join(name);
    fs::write(at("scores.jsonl"), hostile_scores()).unwrap();
    let text = "]]> </script><script>alert(1)</script> <!-- \u{2028}\u{2029}\u{0}\u{202e} &amp;";
    let first = hostile_scores().lines().next().unwrap().to_owned();
    let id = serde_json::from_str::<Value>(&first).unwrap()["id"].clone();
    fs::write(at("stories.jsonl"), json!({"id": id, "story": text}).to_string()).unwrap();
    let catalogue = Catalogue::default();
    let scores = storymeter_core::read::scores(&at("scores.jsonl"), &catalogue).unwrap();
    let study =
        storymeter_meta::table::analyse(&scores, &storymeter_meta::table::Options::default());
    folder::write(&study.unwrap(), &at("run"), folder::SheetSet::default(), &[]).unwrap();

    let paths = [at("run"), at("scores.jsonl")];
    let inputs = Inputs::read(&paths, Some(&at("stories.jsonl")), &catalogue).unwrap();
    let page = Report::new(&inputs).html();
    let data = page_data(&page);
    assert_eq!(data["stories"]["texts"]["0"]["text"], text, "the text is whole");
    let markup = page.split("<script").next().unwrap();
    let is_broken = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{2028}' | '\u{202e}'));
    assert!(!markup.contains(is_broken), "no control character is in the markup");
    assert_eq!(page.matches("<script").count(), 2, "the data and the scripts of the page");

    let all = Report::new(&inputs).figures(FigureSet::All);
    let written = files::write(&all, &at("figures")).unwrap();
    assert_eq!(written.len(), 3 * all.len());
    for path in &written {
        assert_eq!(path.parent(), Some(at("figures").as_path()), "no name leads out of the folder");
        assert!(path.metadata().unwrap().len() < 3_000_000, "{}", path.display());
    }
}

#[test]
fn a_lone_surrogate_is_an_error_with_its_place() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("scores.jsonl");
    let line = |text: &str| format!("{{\"id\":\"{text}\",\"scores\":{{\"m\":1}}}}\n");
    fs::write(&path, line("a") + &line("\\ud800")).unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("scores.jsonl:2: "), "{message}");
    let explained = r#"{"id":"b","scores":{"m":1},"explanation":{"note":"\udc00"}}"#;
    fs::write(&path, line("a") + explained).unwrap();
    let message = read(&path).unwrap_err().to_string();
    assert!(message.contains("scores.jsonl:2: "), "{message}");
}
