//! What is known about the metrics of UNION's Table 5, by the name of their score file.

use storymeter_core::Direction;

/// What is known about a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The name in the paper, or of the file where the paper does not have the metric.
    pub name: String,
    /// The group in the paper (Referenced, Unreferenced or Hybrid); empty for other metrics.
    pub class: &'static str,
    /// Which way the scores in the file point.
    pub direction: Direction,
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

/// What is known about the metric of a score file, given by the name of the file without its
/// ending.
///
/// Anything called a perplexity points downwards. The direction of other unknown metrics is not
/// known.
pub fn known(stem: &str) -> Known {
    let id = stem.to_lowercase();
    if let Some(order) = TABLE_5.iter().position(|(file, ..)| *file == id) {
        let (_, name, class, direction) = TABLE_5[order];
        return Known { name: name.into(), class, direction, order };
    }
    let perplexity = id.starts_with("ppl") || id.contains("perplexity");
    let direction = if perplexity { Direction::Lower } else { Direction::None };
    Known { name: stem.to_owned(), class: "", direction, order: TABLE_5.len() }
}

/// Whether a metric was trained to judge stories, as far as is known. Metrics that the paper does
/// not have may have been.
pub fn is_learned(name: &str) -> bool {
    !["BLEU", "MoverScore", "RUBER_r-BERT", "Perplexity"].contains(&name)
}

/// The group of a metric, given by its name in the paper; empty for other metrics.
pub fn class(name: &str) -> &'static str {
    TABLE_5.iter().find(|(_, known, ..)| *known == name).map_or("", |(.., class, _)| class)
}
