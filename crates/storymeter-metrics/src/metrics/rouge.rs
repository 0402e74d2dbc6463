//! ROUGE: words and sequences of words that story and reference share.
//!
//! ROUGE is a family of scores. Each variant counts another kind of unit, and has a recall, a
//! precision and an F-score, one column each:
//!
//! - `rouge-1` to `rouge-4`: n-grams of words.
//! - `rouge-l`: words on a longest common subsequence. If a text has several lines, each line is a
//!   sentence. Each sentence of the reference then takes the union of its subsequences with all
//!   sentences of the story, and no word counts more often than both texts have it.
//! - `rouge-lsum` (Google's presets only): the same. Their `rouge-l` ignores line breaks.
//! - `rouge-w-1.2`: as `rouge-l`, but a run of k matches in a row weighs `k^1.2`, and ratios are
//!   taken to the power 1/1.2. As in the Perl program, the length of the reference is weighted
//!   twice, so that a story of m words that equals its reference has the recall `m^-0.2`.
//! - `rouge-s*`: pairs of words in their order, with any gap between them.
//! - `rouge-su*`: the same, and single words except for the last one of each text.
//!
//! Definition: `hit` is the number of units that both texts have. Each counts at most as often as
//! it occurs in either text.
//!
//! ```text
//! R = hit / units of the reference      P = hit / units of the story      F = 2 * P * R / (P + R)
//! ```
//!
//! Columns: `rouge/rouge-{1,2,3,4,l,w-1.2,s*,su*}-{r,p,f}` with the Perl program's presets, and
//! `rouge:google/rouge-{1,2,l,lsum}-{r,p,f}` with Google's. `rouge/rouge-1-r` is the recall of
//! words.
//!
//! The presets `155` and `hanna` are the Perl program ROUGE-1.5.5 with the options
//! `-n 4 -w 1.2 -2 -1 -U -m`. Words are runs of ASCII letters and digits in lower case. Words of
//! more than three letters are looked up in the exception lists of WordNet 2.0 (`155` only), and
//! otherwise stemmed by Porter's algorithm. Scores have five decimals, and F is computed from the
//! rounded R and P, as in the numbers that the program prints. HANNA ran the program through
//! pyrouge, which makes it read each line only up to its first `<`; `hanna` does the same.
//!
//! The presets `google` and `google-stem` are the Python package rouge-score 0.1.2, in full
//! precision. `google-stem` uses NLTK's Porter stemmer for words of more than three letters.
//!
//! Several references: the Perl program adds up hits and units over the references. rouge-score
//! takes, for each variant, the reference with the best F.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: 0.
//!
//! Source: Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries".
//!
//! Checked against: ROUGE-1.5.5 (all 24 numbers) and rouge-score 0.1.2, on 2,328 pairs of real
//! stories and 41 difficult ones, no difference. HANNA's 24 published columns: 528 of 528 stories
//! equal. Where the Perl program divides by zero, because a reference has no word of ASCII letters
//! or digits, all scores are 0 here.

use storymeter_core::{
    Choice, Description, Direction, Entry, Needs, PRESET, Prepared, Range, Request, Signature,
};

use crate::per_story::{Measure, PerStory};
use crate::rouge::words::{GoogleStems, GoogleWords, HannaStems, PerlBases};
use crate::rouge::{Count, google, perl};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["rouge"],
    choices: &[
        Choice::preset(
            "155",
            "ROUGE-1.5.5 with Porter's stemmer and WordNet's exceptions (the default)",
        ),
        Choice::preset("hanna", "ROUGE-1.5.5 without the exceptions, as HANNA's published values"),
        Choice::preset("google", "the Python package rouge-score 0.1.2"),
        Choice::preset("google-stem", "rouge-score 0.1.2 with use_stemmer=True"),
    ],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::REFERENCE,
    source: include_str!("rouge.rs"),
    build: |request| {
        let rouge = Rouge::new(request);
        PerStory::boxed(rouge.description(request), rouge)
    },
};

struct Rouge {
    flavour: Flavour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Perl { hanna: bool },
    Google { stems: bool },
}

impl Flavour {
    fn variants(self) -> &'static [&'static str] {
        match self {
            Self::Perl { .. } => &perl::VARIANTS,
            Self::Google { .. } => &google::VARIANTS,
        }
    }
}

impl Rouge {
    fn new(request: &Request<'_>) -> Self {
        let flavour = match request.chosen(PRESET) {
            Some("hanna") => Flavour::Perl { hanna: true },
            Some("google") => Flavour::Google { stems: false },
            Some("google-stem") => Flavour::Google { stems: true },
            _ => Flavour::Perl { hanna: false },
        };
        Self { flavour }
    }

    fn description(&self, request: &Request<'_>) -> Description {
        let signature = Signature::new("rouge");
        let signature = match self.flavour {
            Flavour::Perl { hanna } => signature
                .with("like", "l", if hanna { "pyrouge+ROUGE-1.5.5" } else { "ROUGE-1.5.5" })
                .with("stem", "s", "porter")
                .with("exceptions", "e", if hanna { "none" } else { "wordnet-2.0" })
                .with("alpha", "a", "0.5")
                .with("w", "w", "1.2")
                .with("gap", "g", "unlimited")
                .with("refs", "r", "average")
                .with("decimals", "d", "5"),
            Flavour::Google { stems } => signature
                .with("like", "l", "rouge-score-0.1.2")
                .with("stem", "s", if stems { "nltk-porter" } else { "none" })
                .with("refs", "r", "best"),
        };
        let members =
            |variant: &&str| ["r", "p", "f"].map(|part| format!("rouge-{variant}-{part}"));
        let members: Vec<String> = self.flavour.variants().iter().flat_map(members).collect();
        request.describe().width(members.len()).family(members).signature(signature)
    }

    fn perl(&self, story: &Prepared<'_>, hanna: bool) -> [Count; 8] {
        let mut total = [Count::default(); 8];
        for reference in &story.references {
            let counts = if hanna {
                perl::counts(&reference.view::<HannaStems>().0, &story.text.view::<HannaStems>().0)
            } else {
                perl::counts(&reference.view::<PerlBases>().0, &story.text.view::<PerlBases>().0)
            };
            for (sum, count) in total.iter_mut().zip(counts) {
                sum.hit += count.hit;
                sum.reference += count.reference;
                sum.story += count.story;
            }
        }
        total
    }

    fn google(&self, story: &Prepared<'_>, stems: bool) -> [Count; 4] {
        let mut best = [(f64::NEG_INFINITY, Count::default()); 4];
        for reference in &story.references {
            let counts = if stems {
                google::counts(
                    &reference.view::<GoogleStems>().0,
                    &story.text.view::<GoogleStems>().0,
                )
            } else {
                google::counts(
                    &reference.view::<GoogleWords>().0,
                    &story.text.view::<GoogleWords>().0,
                )
            };
            for (best, count) in best.iter_mut().zip(counts) {
                let f = google::score(count)[2];
                if f > best.0 {
                    *best = (f, count);
                }
            }
        }
        best.map(|(_, count)| count)
    }
}

impl Measure for Rouge {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
        let mut fill = |counts: &[Count]| {
            for (count, out) in counts.iter().zip(row.chunks_exact_mut(3)) {
                out.copy_from_slice(&[count.hit, count.reference, count.story]);
            }
        };
        match self.flavour {
            Flavour::Perl { hanna } => fill(&self.perl(story, hanna)),
            Flavour::Google { stems } => fill(&self.google(story, stems)),
        }
    }

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        let counts = row.chunks_exact(3).map(|n| Count { hit: n[0], reference: n[1], story: n[2] });
        match self.flavour {
            Flavour::Perl { .. } => perl::scores(counts, scores),
            Flavour::Google { .. } => {
                counts.zip(scores.chunks_exact_mut(3)).for_each(|(count, out)| {
                    out.copy_from_slice(&google::score(count));
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::read::Record;
    use storymeter_core::{Place, Story};

    use std::sync::Arc;

    use crate::catalogue;
    use storymeter_executor::MetricSet;

    fn score(id: &str, story: &str, references: &[&str]) -> Vec<(String, f64)> {
        let scorer = MetricSet::new(&[id], &catalogue(), Arc::default()).expect("a known metric");
        let references = references.iter().map(|&text| text.to_owned()).collect();
        let story = Story { text: story.into(), references, ..Story::default() };
        let record = Record { story, number: 0, place: Place::default() };
        let rows = scorer.batch(&[record]).expect("it has a reference");
        let keys = scorer.columns().iter().map(|column| column.key.to_string());
        keys.zip(rows.values(0).iter().map(|value| value.clone().expect("present"))).collect()
    }

    #[test]
    fn the_perl_family_has_its_twenty_four_keys_in_order() {
        let scores = score("rouge:155", "a", &["a"]);
        let keys: Vec<&str> = scores.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys.len(), 24);
        let members: Vec<&str> =
            keys.iter().filter_map(|key| key.strip_prefix("rouge:155/")).collect();
        assert_eq!(members[..4], ["rouge-1-r", "rouge-1-p", "rouge-1-f", "rouge-2-r"]);
        assert_eq!(members[15..18], ["rouge-w-1.2-r", "rouge-w-1.2-p", "rouge-w-1.2-f"]);
        assert_eq!(members[21], "rouge-su*-r");
    }

    #[test]
    fn references_are_summed_by_the_perl_and_chosen_by_google() {
        let references = ["the cat sat", "a dog"];
        assert_eq!(score("rouge:155", "the cat", &references)[0].1, 0.4);
        assert_eq!(score("rouge:google", "the cat", &references)[0].1, 2.0 / 3.0);
    }

    #[test]
    fn exceptions_are_what_sets_155_and_hanna_apart() {
        assert_eq!(score("rouge:155", "the wolves", &["the wolf"])[0].1, 1.0);
        assert_eq!(score("rouge:hanna", "the wolves", &["the wolf"])[0].1, 0.5);
    }
}
