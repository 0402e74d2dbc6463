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
    Direction, Error as DataError, Metric, Needs, Place, Pooling, Prepared, Signature,
};

use crate::Result;
use crate::meteor::nltk::{self, NltkWords};
use crate::meteor::score::{ALPHA, BETA, Counts, DELTA, GAMMA, WIDTH};
use crate::meteor::tables::Tables;
use crate::meteor::words::MeteorWords;
use crate::registry::{Entry, Request};

pub(crate) const ENTRY: Entry = Entry {
    ids: &["meteor"],
    presets: &[
        ("1.5", "METEOR 1.5, English, normalised; with --meteor-data the program's tables"),
        ("hanna", "METEOR 1.5 with the program's tables, as HANNA's published values"),
        ("nltk", "METEOR 1.0 as in NLTK 3.10, words between white space"),
    ],
    direction: Direction::Higher,
    range: "0 to 1",
    needs: Needs::REFERENCE,
    source: include_str!("meteor.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>> {
    let columns = [request.key.to_owned()];
    if request.preset == "nltk" {
        return Ok(Box::new(NltkMeteor { columns }));
    }
    let (tables, given) = match &request.options.meteor_data {
        Some(folder) => (Tables::load(folder)?, true),
        None if request.preset == "hanna" => {
            let problem = "meteor:hanna needs METEOR's tables: give the folder that holds meteor-1.5.jar and paraphrase-en.gz";
            return Err(DataError::invalid(Place::file("--meteor-data"), problem).into());
        }
        None => (Tables::built_in(), false),
    };
    Ok(Box::new(Meteor { columns, tables, given }))
}

struct Meteor {
    columns: [String; 1],
    tables: Tables,
    /// Whether the tables are the program's.
    given: bool,
}

impl Metric for Meteor {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        let (stages, tables) = match self.given {
            true => ("exact+stem+synonym+paraphrase", "meteor-1.5"),
            false => ("exact+stem+synonym", "wordnet-3.0"),
        };
        Signature::new("meteor")
            .with("like", "l", "1.5")
            .with("norm", "n", "yes")
            .with("stages", "st", stages)
            .with("tables", "t", tables)
            .with("parameters", "p", format!("{ALPHA}/{BETA}/{GAMMA}/{DELTA}"))
            .with("refs", "r", "best")
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
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

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = Counts::read(row).score();
    }

    fn pooling(&self) -> Pooling {
        Pooling::Sum
    }
}

/// METEOR 1.0.
struct NltkMeteor {
    columns: [String; 1],
}

impl Metric for NltkMeteor {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        Signature::new("meteor")
            .with("like", "l", "nltk-3.10")
            .with("tok", "tok", "words")
            .with("stages", "st", "exact+stem+synonym")
            .with("tables", "t", "wordnet-3.0")
            .with("parameters", "p", format!("{}/{}/{}", nltk::ALPHA, nltk::BETA, nltk::GAMMA))
            .with("refs", "r", "best")
    }

    fn width(&self) -> usize {
        1
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let words = story.text.view::<NltkWords>();
        let scores =
            story.references.iter().map(|other| nltk::score(&words, &other.view::<NltkWords>()));
        row[0] = scores.fold(0.0, f64::max);
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = row[0];
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::read::Record;
    use storymeter_core::{Place, Story};

    use crate::{Options, Scorer};

    #[test]
    fn the_best_reference_counts() {
        let scorer = Scorer::new(&["meteor"], &Options::default()).expect("needs no tables");
        let references = vec!["Nothing alike here".to_owned(), "The lamps went out.".to_owned()];
        let story = Story { text: "The lamp went out.".into(), references, ..Story::default() };
        let alone = Story { references: vec![story.references[1].clone()], ..story.clone() };
        let records =
            [story, alone].map(|story| Record { story, number: 0, place: Place::default() });
        let rows = scorer.batch(&records).expect("references are there");
        assert_eq!(rows.scores(0), rows.scores(1));
        assert!(rows.scores(0)[0] > 0.8, "{:?}", rows.scores(0));
    }

    #[test]
    fn hannas_preset_asks_for_the_tables() {
        let error = Scorer::new(&["meteor:hanna"], &Options::default())
            .err()
            .expect("no tables")
            .to_string();
        assert!(error.starts_with("--meteor-data: meteor:hanna needs METEOR's tables"), "{error}");
    }
}
