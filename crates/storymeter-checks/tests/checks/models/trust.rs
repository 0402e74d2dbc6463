//! What the cards of the embedded models say about stories by language models of 2023 and later,
//! and about the lengths of the stories on which they were tested.

use storymeter::Scorer;
use storymeter_checks::{Result, present, slow};
use storymeter_core::{ScoreTable, Story};
use storymeter_stats::spearman;

use super::stories;

/// The sets whose stories experts gave marks.
const MARKED: [&str; 3] = ["csg", "pron", "ttcw"];

/// The columns whose cards say the same.
const GROUPS: [&[&str]; 3] = [
    &["union"],
    &["criteria/overall"],
    &[
        "criteria/relevance",
        "criteria/coherence",
        "criteria/empathy",
        "criteria/surprise",
        "criteria/engagement",
        "criteria/complexity",
    ],
];

/// The marks of experts, by set: their criteria.
fn criteria(set: &str) -> &'static [&'static str] {
    match set {
        "csg" => &["expert"],
        "pron" => &[
            "attractive_style",
            "attractive_theme",
            "originality_style",
            "originality_theme",
            "creativity_synopsis",
            "anthology",
            "own_voice",
        ],
        _ => &["passed_of_14"],
    }
}

fn modern(set: &str) -> Result<Vec<Story>> {
    stories(&format!("data/annotated/modern/{set}.jsonl.gz"))
}

fn scored(stories: &[Story]) -> ScoreTable {
    let scorer = Scorer::new().metrics(["union", "criteria"]).build().unwrap();
    scorer.run(stories.to_vec()).unwrap()
}

/// The mean over the criteria of a story, if it has all of them.
fn mark(story: &Story, criteria: &[&str]) -> Option<f64> {
    let marks: Option<Vec<f64>> = criteria.iter().map(|one| story.ratings.mean(one)).collect();
    marks.map(|marks| marks.iter().sum::<f64>() / marks.len() as f64)
}

/// The rank correlation of a column with the marks of the stories that have one.
fn agreement(values: &[f64], marks: &[Option<f64>]) -> f64 {
    let both = values.iter().zip(marks).filter_map(|(value, mark)| Some((*value, (*mark)?)));
    let (values, marks): (Vec<f64>, Vec<f64>) = both.unzip();
    spearman(&values, &marks).unwrap().coefficient
}

/// The share of the pairs of versions of one text that a column orders as writers do. Equal values
/// are right in half of the cases.
fn ordered_like_writers(values: &[f64], stories: &[Story]) -> f64 {
    let ranks: Vec<Option<f64>> =
        stories.iter().map(|story| story.ratings.mean("preference")).collect();
    let (mut right, mut pairs) = (0.0, 0.0);
    for (one, story) in stories.iter().enumerate() {
        for two in one + 1..stories.len() {
            let (Some(first), Some(second)) = (ranks[one], ranks[two]) else { continue };
            if story.item() != stories[two].item() || first == second {
                continue;
            }
            let same_order = (values[one] - values[two]) * (first - second);
            right += if same_order == 0.0 { 0.5 } else { f64::from(same_order > 0.0) };
            pairs += 1.0;
        }
    }
    right / pairs
}

fn the_cards_say_what_was_measured_on_modern_stories() -> Result {
    slow()?;
    let writers = modern("lamp")?;
    let lamp = scored(&writers);
    let mut marked = Vec::new();
    for set in MARKED {
        let stories = modern(set)?;
        let table = scored(&stories);
        marked.push((set, stories, table));
    }
    for group in GROUPS {
        let mut shares = Vec::new();
        let mut agreements = Vec::new();
        for key in group {
            let at = lamp.find(key)?;
            shares.push(ordered_like_writers(&present(lamp.values(at))?, &writers));
            println!("{key}: {:.1}% of writers' pairs", 100.0 * shares[shares.len() - 1]);
            for (set, stories, table) in &marked {
                let values = present(table.values(table.find(key)?))?;
                let agreement_with = |criteria: &[&str]| {
                    let marks: Vec<_> = stories.iter().map(|it| mark(it, criteria)).collect();
                    agreement(&values, &marks)
                };
                agreements.push(agreement_with(criteria(set)));
                println!("  {set}, experts: {:+.2}", agreements[agreements.len() - 1]);
                if *set == "csg" {
                    println!("  {set}, lay readers: {:+.2}", agreement_with(&["lay"]));
                }
            }
        }
        let (least, most) = ends(&shares);
        let (least, most) = (format!("{:.0}%", 100.0 * least), format!("{:.0}%", 100.0 * most));
        let share = if least == most { least } else { format!("{least} to {most}") };
        let (lowest, highest) = ends(&agreements);
        let [order, have] =
            if group.len() == 1 { ["it orders", "has"] } else { ["they order", "have"] };
        let measured = format!(
            "stories by language models of 2023 and later: {order} {share} of the pairs as writers \
             do, where a coin has 50%, and {have} rank correlations of {lowest:.2} to {highest:.2} \
             with three sets of experts' marks",
        );
        for key in group {
            let card = lamp.columns()[lamp.find(key)?].validity.as_ref();
            assert_eq!(card.map(|card| card.doubtful.as_str()), Some(measured.as_str()), "{key}");
        }
    }
    Ok(())
}

/// The least and the greatest number.
fn ends(numbers: &[f64]) -> (f64, f64) {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    (least, numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// The lengths of nine tenths of the stories in words, rounded outwards to tens.
fn tested_lengths(stories: &[Story]) -> (u64, u64) {
    let mut words: Vec<u64> =
        stories.iter().map(|story| story.text.split_whitespace().count() as u64).collect();
    words.sort_unstable();
    let outer = words.len() / 20;
    (words[outer] / 10 * 10, words[words.len() - 1 - outer].div_ceil(10) * 10)
}

fn the_cards_name_the_lengths_of_nine_tenths_of_the_tested_stories() -> Result {
    let hanna = stories("data/annotated/hanna/stories_first48.jsonl.gz")?;
    let all: Vec<Story> = super::rated_sets::sets()?.into_iter().flatten().collect();
    let (all, hanna) = (tested_lengths(&all), tested_lengths(&hanna));
    println!("nine sets: {all:?} words; HANNA: {hanna:?} words");
    for column in Scorer::new().metrics(["union", "criteria"]).build().unwrap().metrics().columns()
    {
        let name = column.key.as_str();
        let tested = if matches!(name, "union" | "criteria/overall") { all } else { hanna };
        assert_eq!(column.validity.as_ref().map(|card| card.words), Some(tested), "{name}");
    }
    Ok(())
}

storymeter_checks::checks!(
    the_cards_say_what_was_measured_on_modern_stories,
    the_cards_name_the_lengths_of_nine_tenths_of_the_tested_stories,
);
