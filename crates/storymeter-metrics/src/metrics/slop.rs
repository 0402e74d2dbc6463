//! Slop: words, phrases and contrasts that language models overuse.
//!
//! It counts them per 1,000 words, needs no weights and no reference, shows where each hit is
//! (`--explain`), and knows what human stories of the same length get.
//!
//! Definition: with W words in the story, and hits per 1,000 of them,
//!
//! - `slop/words` counts the words of a list;
//! - `slop/phrases` counts its phrases of two and three words, and participles after a comma that
//!   the list has (", leaving");
//! - `slop/contrast` counts what is said by what it is not: "not X, but Y", "not just X, but Y",
//!   "It wasn't X. It was Y.", "Not X. Not Y.";
//! - `slop/score` is 0.5 times the words, 0.4 times the phrases and 0.1 times the contrasts.
//!
//! A word is a run of letters with apostrophes inside. Small and capital letters are one, and so
//! are straight and curly apostrophes. Of several entries of the list, the longest is taken, and no
//! two share a word. A contrast is counted beside the words in it.
//!
//! The list is made by `tools/slop_lists.py` from stories by models of 2023 to 2026 and by people:
//! what models write at least three times as often as people (phrases: four times), in many
//! stories, by several systems and for several prompts, without names and without the words of the
//! prompt. It was made from one half of these stories, and docs/slop.md says what was measured on
//! the other half. The signature has the version and the hash of the list.
//!
//! The weights: EQ-Bench, whose slop score is the model for this one, gives 0.6 to words, 0.25 to
//! contrasts and 0.15 to phrases. Here phrases get more and contrasts less, because that agreed
//! best with readers on the half that the lists were made from, with lists made without the set in
//! question. The best systems of 2026 use more contrasts and not fewer (docs/slop.md).
//!
//! `slop:own` counts the entries of your own list, `--weights slop=FILE`: a text file with one word
//! or phrase per line, in which `#` begins a comment line. Contrasts are counted as before, and the
//! signature has the hash of the file.
//!
//! Many stories: the mean of their scores.
//!
//! Empty story: no value, as for every text without a word.
//!
//! Reading the score: lower is better. Every word of the list is a good word, and people use all of
//! them; only their density is a habit of models. A short text has few words to count, so its score
//! is noisy: in 60 words, one hit is 17 per 1,000. Look at single texts of fewer than 100 words
//! only beside others. The list is English. It tells how a text is written, and neither who wrote
//! it nor whether its story is good.
//!
//! Source: the lists and the program are storymeter's own. The idea is that of the slop scores of
//! EQ-Bench.
//!
//! Checked against: values by hand, and stories that readers judged (docs/slop.md). There is no
//! other program with the same list.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::json;
use storymeter_core::{
    Absence, Choice, Depth, Description, Direction, Entry, Explained, Metric, MetricError, Needs,
    Norms, Prepared, Range, Rationale, Request, Resources, Rows, Signature, Span, SpanKind,
    Validity, Value, file, length_range,
};

use crate::slop::{Hit, HitKind, List, Words, hits};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["slop"],
    choices: &[
        Choice::new("list", "models", "what models of 2023 to 2026 overuse (the default)"),
        Choice::new(
            "list",
            "own",
            "a list of your own: a text file with one word or phrase per line",
        ),
    ],
    direction: Direction::Lower,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("slop.rs"),
    build,
};

/// What a hit of each kind counts in `slop/score`: words, phrases, contrasts.
const WEIGHTS: [f64; 3] = [0.5, 0.4, 0.1];

const MEMBERS: [&str; 4] = ["score", "words", "phrases", "contrast"];

/// The longest list of a user, in bytes.
const LONGEST_FILE: u64 = 16 << 20;

/// What human stories get, by column. `tools/slop_measure.py` makes it.
static NORMS: LazyLock<BTreeMap<String, Norms>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/slop/norms.json"))
        .expect("the embedded norms are whole; a test reads them")
});

struct Slop {
    description: Description,
    list: List,
}

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let own = request.has("own");
    let list = if own { own_list(request)? } else { List::embedded() };
    let name = if own { "own" } else { list.version().unwrap_or_default() };
    let signature = Signature::new("slop")
        .with("list", "l", name)
        .with("hash", "h", list.hash())
        .with("weights", "w", WEIGHTS.map(|weight| weight.to_string()).join("+"));
    let mut description =
        request.describe().width(4).family(MEMBERS).signature(signature).explains();
    for (column, member) in description.columns.iter_mut().zip(MEMBERS) {
        // The contrasts do not depend on the list.
        if !own || member == "contrast" {
            column.norms = NORMS.get(member).cloned();
            column.validity = Some(validity());
        }
    }
    Ok(Box::new(Slop { description, list }))
}

/// How far the columns can be trusted. It is the same for all, so that it is said once.
fn validity() -> Validity {
    Validity {
        measures: "how often words, phrases or contrasts come that language models overuse".into(),
        tested: "English stories by models of 2023 to 2026 and by people".into(),
        doubtful: "single texts of fewer than 100 words, and between two good writers".into(),
        words: (50, 1_500),
    }
}

/// The list that the user named with the weights.
fn own_list(request: &Request<'_>) -> Result<List, MetricError> {
    match request.resources.settings().weights.get("slop") {
        Some(path) => Ok(List::parse(&file::read_text(path, LONGEST_FILE)?, path)?),
        None => Err(MetricError::NoWeights {
            metric: request.key.to_owned(),
            files: "a list of words and phrases".to_owned(),
            name: "slop".to_owned(),
            searched: Vec::new(),
        }),
    }
}

/// The hits of each kind, and the words.
fn row(words: &Words, hits: &[Hit<'_>]) -> [f64; 4] {
    let count = |kind| hits.iter().filter(|hit| hit.kind == kind).count() as f64;
    let kinds = [HitKind::Word, HitKind::Phrase, HitKind::Contrast].map(count);
    [kinds[0], kinds[1], kinds[2], words.count() as f64]
}

/// The values of the four columns.
fn values(row: &[f64]) -> Option<[f64; 4]> {
    let words = row[3];
    (words > 0.0).then(|| {
        let rates: [f64; 3] = std::array::from_fn(|kind| 1000.0 * row[kind] / words);
        let score = rates.iter().zip(WEIGHTS).map(|(rate, weight)| rate * weight).sum();
        [score, rates[0], rates[1], rates[2]]
    })
}

impl Metric for Slop {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, self.description.width, |story, into| {
            let words = story.text.view::<Words>();
            into.copy_from_slice(&row(&words, &hits(&words, &self.list)));
        }))
    }

    fn values(&self, row: &[f64], columns: &mut [Value]) {
        match values(row) {
            Some(values) => columns.iter_mut().zip(values).for_each(|(to, value)| *to = Ok(value)),
            None => columns.fill(Err(Absence::because("the text has no words"))),
        }
    }

    fn explain(
        &self,
        stories: &[Prepared<'_>],
        _: Depth,
        resources: &Resources,
    ) -> Result<Option<Explained>, MetricError> {
        let rationales = stories.iter().map(|story| {
            let words = story.text.view::<Words>();
            let text = story.text.text();
            let found = hits(&words, &self.list);
            let norms = self.description.columns[0].norms.as_ref();
            let explanation = Explanation {
                values: values(&row(&words, &found)),
                words: words.count(),
                // Norms know words that are separated by white space.
                place: norms.and_then(|norms| {
                    let length = text.split_whitespace().count() as u64;
                    let score = values(&row(&words, &found))?[0];
                    Some((norms.place(score, length)?, norms.lengths(length)?))
                }),
                hits: found.iter().map(|hit| Located::new(hit, text)).collect(),
                text: text.to_owned(),
            };
            Box::new(explanation) as Box<dyn Rationale>
        });
        let rationales = rationales.collect();
        Ok(Some(Explained { rows: self.rows(stories, resources)?, rationales }))
    }
}

/// A hit with its text.
struct Located {
    start: usize,
    end: usize,
    text: String,
    kind: HitKind,
    entry: String,
}

impl Located {
    fn new(hit: &Hit<'_>, text: &str) -> Self {
        let (start, end) = (hit.range.start, hit.range.end);
        let (text, entry) = (text[start..end].to_owned(), hit.entry.to_owned());
        Self { start, end, text, kind: hit.kind, entry }
    }
}

/// The number of entries that are named in the summary of an explanation.
const NAMED: usize = 8;

/// Where the slop of a story is.
struct Explanation {
    /// The four values, unless the text has no words.
    values: Option<[f64; 4]>,
    words: usize,
    /// Where the score stands among human stories, and their lengths.
    place: Option<(String, (u64, Option<u64>))>,
    hits: Vec<Located>,
    text: String,
}

impl Explanation {
    /// The entries that come most often, with their numbers.
    fn most_frequent(&self) -> Vec<(usize, &str)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.hits.iter().for_each(|hit| *counts.entry(&hit.entry).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().map(|(entry, count)| (count, entry)).collect();
        counts.sort_by_key(|&(count, entry)| (std::cmp::Reverse(count), entry));
        counts
    }

    fn summary(&self) -> String {
        let Some([score, words, phrases, contrast]) = self.values else {
            return "slop: the text has no words\n".to_owned();
        };
        let mut text = format!("slop {score:.1}");
        if let Some((place, lengths)) = &self.place {
            let lengths = length_range(*lengths);
            text += &format!(", {place} of human stories of this length ({lengths})");
        }
        text += &format!(
            "\n  per 1,000 words: {words:.1} words, {phrases:.1} phrases, {contrast:.1} contrasts \
             ({} in {})\n",
            counted(self.hits.len(), "hit"),
            counted(self.words, "word")
        );
        let entries = self.most_frequent();
        if !entries.is_empty() {
            let named = entries.iter().take(NAMED).map(|(count, entry)| match count {
                1 => format!("\"{entry}\""),
                _ => format!("\"{entry}\" {count} times"),
            });
            let more = entries.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text += &format!("  most often: {}{more}\n", named.collect::<Vec<_>>().join(", "));
        }
        text
    }
}

impl Rationale for Explanation {
    /// The text goes with the places, because it need not be that of the user's file (`--clean`).
    fn to_json(&self) -> String {
        let hits = self.hits.iter().map(|hit| {
            json!({
                "start": hit.start,
                "end": hit.end,
                "text": hit.text,
                "kind": hit.kind.name(),
                "entry": hit.entry,
            })
        });
        let hits: Vec<_> = hits.collect();
        let values = self.values.map(|[score, words, phrases, contrast]| {
            json!({"score": score, "words": words, "phrases": phrases, "contrast": contrast})
        });
        json!({"slop": values, "hits": hits, "text": self.text}).to_string()
    }

    /// The numbers, the entries that come most often, and the story with its hits in brackets.
    /// Contrasts are listed apart, because other hits may stand in them.
    fn spans(&self) -> Vec<Span> {
        let mut spans = vec![plain(&self.summary())];
        for hit in self.hits.iter().filter(|hit| hit.kind == HitKind::Contrast) {
            spans.push(plain("  contrast: "));
            spans.push(Span { text: hit.text.replace('\n', " "), kind: SpanKind::Old });
            spans.push(plain("\n"));
        }
        let indented = |text: &str| plain(&text.replace('\n', "\n  "));
        spans.push(plain("  "));
        let mut from = 0;
        for hit in self.hits.iter().filter(|hit| hit.kind != HitKind::Contrast) {
            spans.push(indented(&self.text[from..hit.start]));
            spans.push(plain("["));
            spans.push(Span { text: hit.text.clone(), kind: SpanKind::Old });
            spans.push(plain("]"));
            from = hit.end;
        }
        spans.push(indented(&self.text[from..]));
        spans.push(plain("\n"));
        spans
    }

    fn legend(&self) -> Vec<Span> {
        vec![plain(
            "How to read this: what stands in [brackets] is on the list of words and phrases that \
             language\nmodels overuse. One hit says nothing, and people write all of them, too. On \
             average, models\nhave more hits per 1,000 words than people; of a single text, that is \
             only a hint.\n\n",
        )]
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn plain(text: &str) -> Span {
    Span { text: text.to_owned(), kind: SpanKind::Plain }
}
