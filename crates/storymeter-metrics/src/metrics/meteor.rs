//! METEOR: words of the story aligned with the reference by form, stem and meaning.
//!
//! METEOR matches words that are equal, that have the same stem or that are synonyms, and phrases
//! that are paraphrases of each other. It rewards many matches in few pieces.
//!
//! Definition (METEOR 1.5): a beam search chooses matches that use each word at most once, as many
//! of them as possible, in as few runs ("chunks") as possible. A match weighs 1.0 if it is exact,
//! 0.6 by stem, 0.8 by synonym and 0.6 by paraphrase. A content word weighs `delta` and a function
//! word `1 - delta`. P and R are the weighted shares of the story's and of the reference's words
//! that are matched. With alpha 0.85, beta 0.2, gamma 0.6 and delta 0.75:
//!
//! ```text
//! F      = 1 / ((1 - alpha) / P + alpha / R)
//! METEOR = F * (1 - gamma * (chunks / matches)^beta)
//! ```
//!
//! Tables: the program METEOR 1.5 looks words up in tables that are not part of storymeter. Name
//! the folder that has them with `--weights meteor=DIR`. It contains `meteor-1.5.jar` (or the
//! folders `function`, `nonbreaking` and `synonym` unpacked from it), and `paraphrase-en.gz` beside
//! it or in a folder `data`. The Python package pycocoevalcap has such a folder, `meteor`. Without
//! tables the synonyms come from storymeter's own WordNet, there are no paraphrases, and all words
//! weigh the same. That is a different metric, and the signature says so.
//!
//! The preset `nltk` is METEOR 1.0 (Lavie and Agarwal 2007) as `meteor_score` of NLTK 3.10 computes
//! it, on words between white space. It matches by form, by Porter stem and by the synonyms of
//! WordNet 3.0, and needs no tables:
//!
//! ```text
//! METEOR 1.0 = P * R / (0.9 * P + 0.1 * R) * (1 - 0.5 * (chunks / matches)^3)
//! ```
//!
//! Several references: the one with the best score counts.
//!
//! Many stories: the counts of all stories are added up before the score is computed, as the
//! program does it. The preset `nltk` takes the mean of the stories' scores.
//!
//! Empty story: 0.
//!
//! Texts: line breaks count as blanks. The characters `|||`, which separate fields in the program's
//! protocol, are removed from the texts.
//!
//! Source: Denkowski and Lavie 2014, "Meteor Universal: Language Specific Translation Evaluation
//! for Any Target Language".
//!
//! Checked against: meteor-1.5.jar of pycocoevalcap 1.2 with `-l en -norm` (with tables) and NLTK
//! 3.10.4 (`nltk`), on 2,328 pairs of real stories and 41 difficult ones, no difference. HANNA's
//! published values: 528 of 528 stories equal within 5e-11, their rounding.

use storymeter_core::{
    Choice, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Request, Signature,
};

use crate::meteor::nltk::{self, NltkWords};
use crate::meteor::score::{ALPHA, BETA, Counts, DELTA, GAMMA, WIDTH};
use crate::meteor::tables::Tables;
use crate::meteor::words::MeteorWords;
use crate::per_story::{Measure, PerStory};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["meteor"],
    choices: &[
        Choice::preset("1.5", "METEOR 1.5 for English, texts normalised (the default)"),
        Choice::preset(
            "hanna",
            "the same, but the tables must be given, as for HANNA's published values",
        ),
        Choice::preset("nltk", "METEOR 1.0 as in NLTK 3.10, on words between white space"),
    ],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::REFERENCE,
    source: include_str!("meteor.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    if request.has("nltk") {
        let parameters = format!("{}/{}/{}", nltk::ALPHA, nltk::BETA, nltk::GAMMA);
        let signature = Signature::new("meteor")
            .with("like", "l", "nltk-3.10")
            .with("tok", "tok", "words")
            .with("stages", "st", "exact+stem+synonym")
            .with("tables", "t", "wordnet-3.0")
            .with("parameters", "p", parameters)
            .with("refs", "r", "best");
        return PerStory::boxed(request.describe().signature(signature), NltkMeteor);
    }
    let folder = request.resources.settings().weights.get(request.id);
    let (tables, stages, named) = match folder {
        Some(folder) => (Tables::load(folder)?, "exact+stem+synonym+paraphrase", "meteor-1.5"),
        None if request.has("hanna") => {
            return Err(MetricError::NoWeights {
                metric: request.key.to_owned(),
                files: "METEOR's tables (meteor-1.5.jar and paraphrase-en.gz)".to_owned(),
                name: request.id.to_owned(),
                searched: Vec::new(),
            });
        }
        None => (Tables::built_in(), "exact+stem+synonym", "wordnet-3.0"),
    };
    let signature = Signature::new("meteor")
        .with("like", "l", "1.5")
        .with("norm", "n", "yes")
        .with("stages", "st", stages)
        .with("tables", "t", named)
        .with("parameters", "p", format!("{ALPHA}/{BETA}/{GAMMA}/{DELTA}"))
        .with("refs", "r", "best");
    let description = request.describe().width(WIDTH).pooled().signature(signature);
    PerStory::boxed(description, Meteor { tables })
}

/// METEOR 1.5.
struct Meteor {
    tables: Tables,
}

impl Measure for Meteor {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let view = story.text.view::<MeteorWords>();
        let words = view.resolve(&self.tables.abbreviations);
        let mut best: Option<(f64, Counts)> = None;
        for reference in &story.references {
            let view = reference.view::<MeteorWords>();
            let counts =
                Counts::aligned(&words, &view.resolve(&self.tables.abbreviations), &self.tables);
            let score = counts.score();
            if best.is_none_or(|(best_score, _)| score > best_score) {
                best = Some((score, counts));
            }
        }
        if let Some((_, counts)) = best {
            counts.write(row);
        }
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = Counts::read(row).score();
    }
}

/// METEOR 1.0.
struct NltkMeteor;

impl Measure for NltkMeteor {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let words = story.text.view::<NltkWords>();
        let scores =
            story.references.iter().map(|other| nltk::score(&words, &other.view::<NltkWords>()));
        row[0] = scores.fold(0.0, f64::max);
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = row[0];
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::read::Record;
    use storymeter_core::{MetricError, Place, Story};

    use std::sync::Arc;

    use crate::catalogue;
    use storymeter_executor::MetricSet;

    #[test]
    fn the_best_reference_counts() {
        let scorer =
            MetricSet::new(&["meteor"], &catalogue(), Arc::default()).expect("needs no tables");
        let references = vec!["Nothing alike here".to_owned(), "The lamps went out.".to_owned()];
        let story = Story { text: "The lamp went out.".into(), references, ..Story::default() };
        let alone = Story { references: vec![story.references[1].clone()], ..story.clone() };
        let records =
            [story, alone].map(|story| Record { story, number: 0, place: Place::default() });
        let rows = scorer.batch(&records).expect("references are there");
        assert_eq!(rows.values(0), rows.values(1));
        assert!(rows.values(0)[0].clone().expect("present") > 0.8, "{:?}", rows.values(0));
    }

    #[test]
    fn hannas_preset_asks_for_the_tables() {
        let error = MetricSet::new(&["meteor:hanna"], &catalogue(), Arc::default())
            .err()
            .expect("no tables");
        assert!(
            matches!(&error, MetricError::NoWeights { metric, .. } if metric == "meteor:hanna"),
            "{error}"
        );
    }
}
