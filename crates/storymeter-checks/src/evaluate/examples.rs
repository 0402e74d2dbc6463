//! The examples in Tables 1 and 10 of the paper, read from its text. The question is which pairs of
//! a reasonable and an unreasonable story a metric puts in the right order.

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::Scorer;

use super::probabilities;
use crate::{Error, Result, shared};

/// One story of a table, and what the paper says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The leading context and the story.
    pub text: String,
    /// Whether people found it reasonable.
    pub reasonable: bool,
    /// The scores of the paper's two baselines: BLEU and MoverScore in Table 1, MoverScore and
    /// BLEURT in Table 10.
    pub baselines: [f64; 2],
}

/// A table's name and its stories.
pub type Table = (&'static str, Vec<Example>);

/// How many pairs of a reasonable and an unreasonable story of one table are in the right order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The table.
    pub table: String,
    /// The number of pairs.
    pub pairs: usize,
    /// How many pairs the model puts in the right order.
    pub model: usize,
    /// How many pairs the better of the paper's two baselines puts in the right order.
    pub best_baseline: usize,
    /// The model's scores, in the table's order.
    pub scores: Vec<f64>,
}

/// Ranks the examples of both tables.
///
/// # Errors
/// If the text of the paper is absent or does not have its layout, or if the model fails.
pub fn ranking(scorer: &Scorer) -> Result<Vec<Ranking>> {
    let rank = |(table, examples): Table| -> Result<Ranking> {
        let stories: Vec<Story> =
            examples.iter().map(|example| Story::from(example.text.as_str())).collect();
        let scores = probabilities(scorer, &stories)?;
        let baseline = |which: usize| {
            let scores: Vec<f64> = examples.iter().map(|e| e.baselines[which]).collect();
            ordered_pairs(&examples, &scores)
        };
        let reasonable = examples.iter().filter(|example| example.reasonable).count();
        Ok(Ranking {
            table: table.to_owned(),
            pairs: reasonable * (examples.len() - reasonable),
            model: ordered_pairs(&examples, &scores),
            best_baseline: baseline(0).max(baseline(1)),
            scores,
        })
    };
    paper_examples()?.into_iter().map(rank).collect()
}

/// Reads the examples of Tables 1 and 10.
///
/// # Errors
/// If the text of the paper is absent or does not have its layout.
pub fn paper_examples() -> Result<[Table; 2]> {
    let text = std::fs::read_to_string(shared("papers/union.txt")?)?;
    Ok([("Table 1", table_1(&text)?), ("Table 10", table_10(&text)?)])
}

/// How many pairs of a reasonable and an unreasonable story have their scores in the right order.
fn ordered_pairs(examples: &[Example], scores: &[f64]) -> usize {
    let scores_where = |reasonable: bool| {
        let both = examples.iter().zip(scores);
        both.filter(move |(example, _)| example.reasonable == reasonable).map(|(_, score)| *score)
    };
    scores_where(true).map(|good| scores_where(false).filter(|bad| good > *bad).count()).sum()
}

fn failed(text: &str) -> Error {
    Error::Failed(text.to_owned())
}

/// Reads Table 1: headings such as "Sample 1 (Reasonable, B=0.29, M=0.49, U=1.00)", each with one
/// paragraph after it.
fn table_1(text: &str) -> Result<Vec<Example>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let after = |at: usize| lines.get(at + 1).copied().unwrap_or_default();
    let lead = lines
        .iter()
        .position(|line| line.contains("**Leading Context**"))
        .ok_or_else(|| failed("no Table 1"))?;
    let number = |line: &str, key: &str| -> Result<f64> {
        let value = line.split(key).nth(1).ok_or_else(|| failed("Table 1: a score is missing"))?;
        Ok(value.split([',', ')']).next().unwrap_or_default().trim().parse()?)
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("#### Sample")) {
        found.push(Example {
            text: format!("{} {}", after(lead), after(at)),
            reasonable: line.contains("(Reasonable"),
            baselines: [number(line, "B=")?, number(line, "M=")?],
        });
    }
    if found.len() == 3 {
        Ok(found)
    } else {
        Err(failed(&format!("Table 1: {} samples instead of 3", found.len())))
    }
}

/// Reads Table 10: rows "S1 TAB context TAB reference TAB story TAB H TAB M TAB B TAB U".
fn table_10(text: &str) -> Result<Vec<Example>> {
    let mut found = Vec::new();
    for row in
        text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row.len() == 8)
    {
        if !matches!(row[0], "S1" | "S2" | "S3" | "S4" | "S5") {
            continue;
        }
        // The text keeps the hyphens of printed line ends, and has the error type after the story.
        let story =
            row[3].rsplit_once(" (").filter(|(_, mark)| mark.len() == 5).map_or(row[3], |(s, _)| s);
        found.push(Example {
            text: format!("{} {story}", row[1]).replace("- ", ""),
            reasonable: row[4].parse::<f64>()? > 0.5,
            baselines: [row[5].parse()?, row[6].parse()?],
        });
    }
    if found.len() == 5 {
        Ok(found)
    } else {
        Err(failed(&format!("Table 10: {} samples instead of 5", found.len())))
    }
}
