//! A score table with hostile names and gaps, and the study of it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use storymeter_core::{Catalogue, read};
use storymeter_meta::{folder, table};

/// Names that a title could not be parsed for, that are no file names, and that are alike but for a
/// separator.
pub const CRITERIA: [&str; 5] =
    ["story-level flow", "plot/pace", "plot-pace", "lexical-density", "n"];
/// Two presets of one metric, one metric with gaps, one that is constant and one with markup.
pub const METRICS: [&str; 5] =
    ["rouge:google/rouge-1-r", "rouge:hanna/rouge-1-r", WITH_GAPS, CONSTANT, "<img src=x>"];
/// The metric without a value for the first and the sixth story.
pub const WITH_GAPS: &str = "pearson";
/// The metric with the same value for all stories.
pub const CONSTANT: &str = "williams, system-level";

/// Writes `scores.jsonl` and the study of it, and returns the folder of the study.
pub fn study_folder(folder: &Path) -> PathBuf {
    let mut lines = String::new();
    for at in 0..30 {
        let (system, item) = (at % 5, at / 5);
        let noise = |step: usize| (at * step % 17) as f64 / 17.0;
        let quality = system as f64 + noise(7);
        let human: Vec<String> = CRITERIA
            .iter()
            .enumerate()
            .map(|(c, name)| {
                let rating = |rater: usize| (quality + noise(c + 3 + rater)).round() + 1.0;
                format!("\"{name}\":[{},{}]", rating(0), rating(1))
            })
            .collect();
        let is_gap = at == 0 || at == 5;
        let gap = if is_gap { "null".into() } else { noise(5).to_string() };
        let reason = format!(",\"absent\":{{\"{WITH_GAPS}\":\"the story has no word\"}}");
        let values = [
            (quality + noise(11)).to_string(),
            noise(3).to_string(),
            gap,
            "1".into(),
            "0.5".into(),
        ];
        let values = METRICS.iter().zip(values).map(|(name, value)| {
            let value = if *name == "<img src=x>" { (-quality).to_string() } else { value };
            format!("\"{name}\":{value}")
        });
        let _ = writeln!(
            lines,
            "{{\"id\":\"{at}\",\"system\":\"S{system}\",\"item\":\"{item}\",\"scores\":{{{}}},\
             \"human\":{{{}}}{}}}",
            values.collect::<Vec<_>>().join(","),
            human.join(","),
            if is_gap { reason.as_str() } else { "" }
        );
    }
    let scores = folder.join("scores.jsonl");
    std::fs::write(&scores, lines).unwrap();
    let scores = read::scores(&scores, &Catalogue::default()).unwrap();
    let study = table::analyse(&scores, &table::Options::default()).unwrap();
    let run = folder.join("run");
    folder::write(&study, &run, folder::SheetSet::default(), &[]).unwrap();
    run
}

/// The data that the scripts of a page read.
pub fn page_data(page: &str) -> serde_json::Value {
    let (_, after) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = after.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}
