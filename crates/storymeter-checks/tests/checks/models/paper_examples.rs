//! The examples in Tables 1 and 10 of the paper, read from its text. The question is which pairs of
//! a reasonable and an unreasonable story a metric puts in the right order.

use storymeter_checks::{Error, Result, shared};

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

/// Reads the examples of Tables 1 and 10.
pub fn read() -> Result<[Vec<Example>; 2]> {
    let text = std::fs::read_to_string(shared("papers/union.txt")?)?;
    let (first, tenth) = (table_1(&text)?, table_10(&text)?);
    assert_eq!((first.len(), tenth.len()), (3, 5));
    let reasonable = |examples: &[Example]| examples.iter().filter(|e| e.reasonable).count();
    assert_eq!((reasonable(&first), reasonable(&tenth)), (2, 1));
    Ok([first, tenth])
}

/// Reads Table 1: headings such as "Sample 1 (Reasonable, B=0.29, M=0.49, U=1.00)", each with one
/// paragraph after it.
fn table_1(text: &str) -> Result<Vec<Example>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let after = |at: usize| lines.get(at + 1).copied().unwrap_or_default();
    let lead = lines
        .iter()
        .position(|line| line.contains("**Leading Context**"))
        .ok_or_else(|| Error::Failed("no Table 1".to_owned()))?;
    let number = |line: &str, key: &str| -> Result<f64> {
        let missing = || Error::Failed("Table 1: a score is missing".to_owned());
        let value = line.split(key).nth(1).ok_or_else(missing)?;
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
    Ok(found)
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
    Ok(found)
}
