//! METEOR: words and phrases of the story aligned with the reference, by form, stem and meaning.
//!
//! Definition (Denkowski and Lavie 2014, "Meteor Universal: Language Specific Translation Evaluation for Any Target
//! Language"): words are matched exactly, by stem, as synonyms, and phrases as paraphrases; a beam search chooses
//! matches that use each word once, many of them, in few runs (chunks). With matches of stage i weighing `w_i`
//! (1.0, 0.6, 0.8, 0.6), content words `delta = 0.75` and function words `1 - delta`, P and R are the weighted shares
//! of matched words, and
//! `score = (1 - gamma (chunks / matches)^beta) / ((1 - alpha) / P + alpha / R)`, alpha 0.85, beta 0.2, gamma 0.6.
//!
//! Presets:
//! - `1.5` (default): the Java program METEOR 1.5 with `-l en -norm`. Its tables are read from the folder given with
//!   `--meteor-data`: `meteor-1.5.jar` (or the folders `function`, `nonbreaking`, `synonym` out of it) and
//!   `paraphrase-en.gz`, beside it or in `data`. The Python package pycocoevalcap has them in its folder `meteor`.
//!   Without that folder: exact, stem and synonym stages with storymeter's WordNet, no paraphrases, all words
//!   counting the same. The signature says which; the two are different metrics.
//! - `hanna`: the same, and the tables must be given: HANNA's published values.
//! - `nltk`: METEOR 1.0 (Lavie and Agarwal 2007) as NLTK 3.10's `meteor_score` on words between white space: exact, Porter
//!   stem and WordNet 3.0, `score = (1 - 0.5 (chunks / matches)^3) P R / (0.9 P + 0.1 R)`. Many stories: the mean.
//!
//! Several references: the one with the best score. Many stories: the score of their counts added up, as the program
//! does. `|||`, which separates fields in the program's protocol, is taken out of the texts; line breaks are blanks.
//!
//! Direction: higher is better. Range: 0 to 1. An empty story scores 0.

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
        Choice::preset("1.5", "METEOR 1.5, English, normalised (the default)"),
        Choice::preset(
            "hanna",
            "METEOR 1.5 with the program's tables, as HANNA's published values",
        ),
        Choice::preset("nltk", "METEOR 1.0 as in NLTK 3.10, words between white space"),
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
                Counts::of(&words, &view.resolve(&self.tables.abbreviations), &self.tables);
            let score = counts.score();
            if best.is_none_or(|(so_far, _)| score > so_far) {
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

    use crate::{MetricSet, catalogue};

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
