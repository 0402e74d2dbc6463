//! What is known about the metrics of UNION's Table 5, by the name of their score file.

use storymeter_core::Direction;

/// A metric behind a score file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The file's name without its ending.
    pub id: String,
    /// The name in the paper.
    pub name: String,
    /// The group in the paper: Referenced, Unreferenced, Hybrid; empty for a metric the paper does not have.
    pub class: &'static str,
    /// Which way the scores in the file point.
    pub direction: Direction,
    /// Whether the scores were negated so that more is better.
    pub negated: bool,
    /// Its place in the table.
    pub order: usize,
}

/// File name, name in the paper, group, direction; in the order of Table 5.
const TABLE_5: [(&str, &str, &str, Direction); 10] = [
    ("bleu", "BLEU", "Referenced", Direction::Higher),
    ("moverscore", "MoverScore", "Referenced", Direction::Higher),
    ("ruber_ref_score", "RUBER_r-BERT", "Referenced", Direction::Higher),
    ("ppl", "Perplexity", "Unreferenced", Direction::Lower),
    ("ruber_unref_score", "RUBER_u-BERT", "Unreferenced", Direction::Higher),
    ("dis", "DisScore", "Unreferenced", Direction::Higher),
    ("union", "UNION", "Unreferenced", Direction::Higher),
    ("union_recon", "UNION -Recon", "Unreferenced", Direction::Higher),
    ("ruber_score", "RUBER-BERT", "Hybrid", Direction::Higher),
    ("bleurt", "BLEURT", "Hybrid", Direction::Higher),
];

/// What is known about the metric of a score file. Where nothing is, it is taken to point upwards and said to be
/// of unknown direction; anything named a perplexity points downwards.
pub fn known(stem: &str) -> Known {
    let id = stem.to_lowercase();
    if let Some(order) = TABLE_5.iter().position(|(file, ..)| *file == id) {
        let (_, name, class, direction) = TABLE_5[order];
        let negated = direction == Direction::Lower;
        return Known { id, name: name.into(), class, direction, negated, order };
    }
    let negated = id.starts_with("ppl") || id.contains("perplexity");
    let direction = if negated { Direction::Lower } else { Direction::None };
    Known { id, name: stem.to_owned(), class: "", direction, negated, order: TABLE_5.len() }
}
