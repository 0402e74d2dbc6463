//! The pages in `docs/metrics` are generated from the catalogue, and this test keeps them up to
//! date.
//!
//! `STORYMETER_UPDATE=1 cargo test --release -p storymeter metric_pages` writes them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::{Direction, Entry, Needs};

const UPDATE: &str = "STORYMETER_UPDATE";
const COMMAND: &str = "STORYMETER_UPDATE=1 cargo test --release -p storymeter metric_pages";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics")
}

/// All pages, by file name.
fn pages() -> BTreeMap<String, String> {
    let entries: Vec<&Entry> = storymeter::catalogue().entries().collect();
    let mut pages: BTreeMap<String, String> =
        entries.iter().map(|entry| (file_name(entry), page(entry))).collect();
    assert_eq!(pages.len(), entries.len(), "two metrics have the same first id");
    pages.insert("README.md".to_owned(), index(&entries));
    pages
}

fn file_name(entry: &Entry) -> String {
    format!("{}.md", entry.ids[0])
}

fn page(entry: &Entry) -> String {
    let id = entry.ids[0];
    let mut page = format!(
        "<!-- Generated from the source of the metric. To refresh it, run\n     {COMMAND} -->\n\n\
         # {}\n\n`storymeter metrics show {id}` prints this page.\n\n",
        entry.ids.join(", ")
    );
    page.push_str(&entry.manual());
    page
}

fn index(entries: &[&Entry]) -> String {
    let mut index = format!(
        "<!-- Generated from the catalogue of metrics. To refresh it, run\n     {COMMAND} -->\n\n\
         # Metrics\n\n\
         One page per metric, as `storymeter metrics show ID` prints it. An id is what\n\
         `storymeter score --metric` takes. Options follow a colon and are joined by `+`, in any \
         order:\n`bleu`, `bleu:hanna`, `bleu:intl+floor`.\n\n\
         What the metrics were compared with, and how fast they are:\n\
         [docs/metrics-checks.md](../metrics-checks.md).\n\n\
         | metric | what it measures | better | needs |\n|---|---|---|---|\n"
    );
    for entry in entries {
        let file = file_name(entry);
        let links: Vec<String> = entry.ids.iter().map(|id| format!("[{id}]({file})")).collect();
        index.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            links.join(", "),
            entry.summary(),
            better(entry.direction),
            needs(entry.needs)
        ));
    }
    index
}

fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::None => "neither",
    }
}

fn needs(needs: Needs) -> String {
    let mut parts = Vec::new();
    if needs.prompt {
        parts.push("prompt");
    }
    if needs.reference {
        parts.push("reference");
    }
    if needs.corpus {
        parts.push("two passes");
    }
    if parts.is_empty() { "story".to_owned() } else { parts.join(", ") }
}

#[test]
fn the_pages_of_the_metrics_are_up_to_date() {
    let (folder, pages) = (folder(), pages());
    assert!(pages.len() > 10, "only {} pages", pages.len());
    if std::env::var_os(UPDATE).is_some_and(|value| value == "1") {
        fs::create_dir_all(&folder).expect("the folder can be made");
        for name in files(&folder).difference(&pages.keys().cloned().collect()) {
            fs::remove_file(folder.join(name)).expect("an old page can be removed");
        }
        for (name, page) in &pages {
            fs::write(folder.join(name), page).expect("a page can be written");
        }
    }
    let known: BTreeSet<String> = pages.keys().cloned().collect();
    assert_eq!(files(&folder), known, "refresh docs/metrics with: {COMMAND}");
    for (name, page) in &pages {
        let found = fs::read_to_string(folder.join(name)).expect("the page is there");
        assert!(found == *page, "docs/metrics/{name} is out of date; refresh it with: {COMMAND}");
    }
}

/// The names of all files in a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("docs/metrics is a folder of the repository");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("a name in UTF-8")
    };
    entries.map(name).collect()
}

/// A summary is one line of `storymeter metrics list`, and no page may be wider than the screen.
#[test]
fn summaries_are_short_and_pages_are_narrow() {
    let mut seen = 0;
    for entry in storymeter::catalogue().entries() {
        let summary = entry.summary();
        assert!((20..80).contains(&summary.chars().count()), "{:?}: {summary}", entry.ids);
        for line in entry.manual().lines() {
            assert!(line.chars().count() <= 100, "{:?}: {line}", entry.ids);
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} lines");
}
