//! How often flags are found in human stories, where they are false alarms, and in machine stories.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};

use flate2::read::MultiGzDecoder;
use rayon::prelude::*;
use serde_json::Value;
use storymeter_checks::{Result, shared};
use storymeter_text::flags::{Flag, clean, find};

/// A prompt, if there is one, and a story.
type Text = (Option<String>, String);

/// How many texts there are, and how many have a flag.
struct Rates {
    texts: usize,
    flags: BTreeMap<Flag, usize>,
}

fn lines(file: &str) -> Result<Vec<String>> {
    let reader = BufReader::new(MultiGzDecoder::new(std::fs::File::open(shared(file)?)?));
    Ok(reader.lines().collect::<std::io::Result<_>>()?)
}

/// The stories of a file that are wanted by system and source.
fn stories(file: &str, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<Text>> {
    let mut stories = Vec::new();
    for line in lines(file)? {
        let value: Value = serde_json::from_str(&line)?;
        let field = |name: &str| value[name].as_str().unwrap_or_default();
        if wanted(field("system"), field("source")) {
            let prompt = value["prompt"].as_str().filter(|prompt| !prompt.is_empty());
            stories.push((prompt.map(str::to_owned), field("story").to_owned()));
        }
    }
    Ok(stories)
}

/// Counts the stories with each flag, and prints them.
fn rates(name: &str, texts: &[Text]) -> Rates {
    let of_story = |(prompt, story): &Text| -> BTreeSet<Flag> {
        let cleaned = clean(story, prompt.as_deref());
        let again = clean(&cleaned.text, prompt.as_deref());
        assert_eq!(again.removed, [], "cleaned twice: {story:?}");
        find(story, prompt.as_deref()).iter().map(|found| found.flag).collect()
    };
    let found: Vec<BTreeSet<Flag>> = texts.par_iter().map(of_story).collect();
    let mut flags = BTreeMap::new();
    for flag in found.into_iter().flatten() {
        *flags.entry(flag).or_insert(0) += 1;
    }
    let share = |(flag, count): (&Flag, &usize)| {
        format!("{} {count} ({:.2}%)", flag.name(), 100.0 * *count as f64 / texts.len() as f64)
    };
    let shares: Vec<String> = flags.iter().map(share).collect();
    println!("| {name} | {} | {} |", texts.len(), shares.join(", "));
    Rates { texts: texts.len(), flags }
}

fn is_human(system: &str) -> bool {
    ["human", "Human", "pron(translated)"].contains(&system)
}

/// Whether a flag may be found in half a percent of human stories and more: people do leave
/// sentences without an end, and who writes on Reddit writes Markdown and scripts.
fn is_exempt(flag: Flag) -> bool {
    matches!(flag, Flag::Cut | Flag::Markdown | Flag::Kind(_))
}

fn human_stories_hardly_ever_have_flags() -> Result {
    let modern =
        |file: &str| stories(&format!("data/annotated/modern/{file}.jsonl.gz"), |s, _| is_human(s));
    let roc = lines("data/roc/stories.tsv.gz")?
        .into_iter()
        .skip(1)
        .map(|line| (None, line.split('\t').skip(1).map(str::trim).collect::<Vec<_>>().join(" ")));
    let long = "data/long/stories.jsonl.gz";
    let mut others = Vec::new();
    for file in ["confederacy", "csg", "pron", "slm"] {
        others.extend(modern(file)?);
    }
    println!("| human stories | texts | flags |\n|---|---|---|");
    let roc = rates("ROCStories", &roc.collect::<Vec<_>>());
    let all_long = rates("long stories", &stories(long, |_, _| true)?);
    rates("  of them from Reddit", &stories(long, |_, source| source.starts_with("reddit"))?);
    let unmarked = rates("  of them for children", &stories(long, |_, source| source == "mctest")?);
    let modern = rates("modern sets", &others);
    let hanna = rates(
        "HANNA",
        &stories("data/annotated/hanna/stories_first48.jsonl.gz", |s, _| is_human(s))?,
    );
    for set in [&roc, &all_long, &modern, &hanna] {
        for (flag, count) in set.flags.iter().filter(|(flag, _)| !is_exempt(**flag)) {
            assert!(200 * count < set.texts, "{} in {count} of {}", flag.name(), set.texts);
        }
    }
    // These were not written in Markdown.
    for set in [&roc, &unmarked, &modern] {
        let count = set.flags.get(&Flag::Markdown).copied().unwrap_or(0);
        assert!(200 * count < set.texts, "markdown in {count} of {}", set.texts);
    }
    print_flags_of_machine_stories()
}

/// Prints how often flags are found in stories by models, and checks that the stories are there.
fn print_flags_of_machine_stories() -> Result {
    println!("| machine stories | texts | flags |\n|---|---|---|");
    for file in ["arena", "csg", "lamp", "confederacy"] {
        let path = format!("data/annotated/modern/{file}.jsonl.gz");
        let texts = stories(&path, |system, _| !is_human(system) && !system.contains("human"))?;
        let found = rates(file, &texts);
        assert!(found.texts >= 60, "{file} has {} machine stories", found.texts);
    }
    Ok(())
}

storymeter_checks::checks!(human_stories_hardly_ever_have_flags);
