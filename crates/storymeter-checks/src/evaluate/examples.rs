//! The paper's own examples (Tables 1 and 10), read from its text: which pairs of a reasonable and an unreasonable story
//! does a metric put in the right order?

use serde::Serialize;
use storymeter::core::Story;
use storymeter::union::Scorer;

use super::sets::Result;
use crate::shared;

/// One story of a table, with what the paper says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// Leading context and story.
    pub text: String,
    /// Whether people found it reasonable.
    pub reasonable: bool,
    /// The scores of the paper's two baselines: BLEU and MoverScore (Table 1), MoverScore and BLEURT (Table 10).
    pub baselines: [f64; 2],
}

/// A table's name and its stories.
pub type Table = (&'static str, Vec<Example>);

/// Pairs in the right order, of all pairs of a reasonable and an unreasonable story of one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The table.
    pub table: String,
    /// Number of pairs.
    pub pairs: usize,
    /// Right by the model.
    pub model: usize,
    /// Right by the better of the paper's two baselines.
    pub best_baseline: usize,
    /// The model's scores, in the table's order.
    pub scores: Vec<f64>,
}

/// Ranks the examples of both tables; `None` where the paper's text is absent.
///
/// # Errors
/// Where the text is not what it was, or the model fails.
pub fn ranking(scorer: &Scorer) -> Result<Option<Vec<Ranking>>> {
    let Some(tables) = paper_examples()? else { return Ok(None) };
    let rank = |(table, examples): Table| -> Result<Ranking> {
        let stories: Vec<Story> =
            examples.iter().map(|e| Story { text: e.text.clone(), ..Story::default() }).collect();
        let scores: Vec<f64> =
            super::scores(scorer, &stories)?.iter().map(|s| s.probability).collect();
        let baseline = |which: usize| {
            right(&examples, &examples.iter().map(|e| e.baselines[which]).collect::<Vec<_>>())
        };
        let good = examples.iter().filter(|example| example.reasonable).count();
        Ok(Ranking {
            table: table.to_owned(),
            pairs: good * (examples.len() - good),
            model: right(&examples, &scores),
            best_baseline: baseline(0).max(baseline(1)),
            scores,
        })
    };
    tables.into_iter().map(rank).collect::<Result<Vec<_>>>().map(Some)
}

/// The examples of Tables 1 and 10; `None` where the paper's text is absent.
///
/// # Errors
/// Where the text is not what it was.
pub fn paper_examples() -> Result<Option<[Table; 2]>> {
    let Some(path) = shared("papers/union.txt") else { return Ok(None) };
    let text = std::fs::read_to_string(path)?;
    Ok(Some([("Table 1", table_1(&text)?), ("Table 10", table_10(&text)?)]))
}

fn right(examples: &[Example], scores: &[f64]) -> usize {
    let of = |reasonable: bool| {
        examples
            .iter()
            .zip(scores)
            .filter(move |(e, _)| e.reasonable == reasonable)
            .map(|(_, score)| *score)
    };
    of(true).map(|good| of(false).filter(|bad| good > *bad).count()).sum()
}

/// "Sample 1 (Reasonable, B=0.29, M=0.49, U=1.00)" and the paragraph behind it.
fn table_1(text: &str) -> Result<Vec<Example>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let after = |at: usize| lines.get(at + 1).copied().unwrap_or_default();
    let lead =
        lines.iter().position(|line| line.contains("**Leading Context**")).ok_or("no Table 1")?;
    let number = |line: &str, key: &str| -> Result<f64> {
        let rest = line.split(key).nth(1).ok_or("Table 1: a score is missing")?;
        Ok(rest.split([',', ')']).next().unwrap_or_default().trim().parse()?)
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
        Err(format!("Table 1: {} samples", found.len()).into())
    }
}

/// Rows "S1 TAB context TAB reference TAB story TAB H TAB M TAB B TAB U".
fn table_10(text: &str) -> Result<Vec<Example>> {
    let mut found = Vec::new();
    for row in
        text.lines().map(|line| line.split('\t').collect::<Vec<_>>()).filter(|row| row.len() == 8)
    {
        if !matches!(row[0], "S1" | "S2" | "S3" | "S4" | "S5") {
            continue;
        }
        // The text has the print's hyphens at line ends, and the error type behind the story.
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
        Err(format!("Table 10: {} samples", found.len()).into())
    }
}
