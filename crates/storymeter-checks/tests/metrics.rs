//! Metrics on real stories: against HANNA's published values, UNION's, and those of sacrebleu, NLTK and pycocoevalcap.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use storymeter_checks::hanna_metrics::{COLUMNS, compare};
use storymeter_checks::shared;
use storymeter_core::read::{ReadOptions, Record, open};
use storymeter_core::{Place, Story};
use storymeter_metrics::{Options, Scorer};

fn stories(path: &Path, count: usize) -> Vec<Record> {
    let reader = open(&[path.to_owned()], &ReadOptions::default()).expect("the file is there");
    reader.take(count).collect::<Result<_, _>>().expect("the file is good")
}

#[test]
fn values_equal_those_hanna_published() {
    let Some(path) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    for row in compare(&path, COLUMNS).expect("the file is good") {
        let least = row.expectation.least_share;
        assert!(row.share() >= least, "{}: only {:.4} are equal", row.expectation.id, row.share());
        assert!(row.correlation > 0.99, "{}: {}", row.expectation.id, row.correlation);
    }
}

/// The file holds scores scaled to 0..1 over the file, so what must hold is a perfect correlation.
#[test]
fn bleu_of_union_is_the_published_one_up_to_its_scale() {
    let Some(folder) = shared("data/annotated/union_roc") else { return };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the file is there");
    let references: Vec<String> = read("reference.txt").lines().map(str::to_owned).collect();
    let published: Vec<f64> = read("metric_output/bleu.txt")
        .lines()
        .map(|line| line.trim().parse().expect("a number"))
        .collect();
    let records: Vec<Record> = (0..)
        .zip(read("ant_data.txt").lines())
        .map(|(number, line)| {
            let mut fields = line.split(" ||| ");
            let id: usize = fields.next().and_then(|id| id.trim().parse().ok()).expect("an id");
            let text = fields.next().expect("a story").to_owned();
            record(number, text, vec![references[id].clone()])
        })
        .collect();
    let scorer = Scorer::new(&["bleu:union"], &Options::default()).expect("a known metric");
    let rows = scorer.batch(&records).expect("all have references");
    let ours: Vec<f64> = (0..records.len()).map(|at| rows.scores(at)[0]).collect();
    let correlation =
        storymeter_stats::pearson(&ours, &published).expect("400 numbers").coefficient;
    assert!(correlation > 1.0 - 1e-12, "{correlation}");
}

fn record(number: u64, text: String, references: Vec<String>) -> Record {
    let story = Story { id: number.to_string(), text, references, ..Story::default() };
    Record { story, number, place: Place::default() }
}

/// The pairs of a group of `metrics_peers.csv.gz`, as `tools/metrics_fixtures.py` makes them.
fn pairs(group: &str) -> Option<Vec<Record>> {
    let in_a_row = |path: &str, first: usize, count: usize, references: usize| {
        let stories = stories(&shared(path)?, first + count + references);
        let text = |at: usize| stories[at].story.text.clone();
        let pair = |at: usize| {
            record(at as u64, text(at), (1..=references).map(|next| text(at + next)).collect())
        };
        Some((first..first + count).map(pair).collect())
    };
    match group {
        "hanna" => Some(stories(&shared("data/annotated/hanna/stories_first48.jsonl.gz")?, 528)),
        "roc" => in_a_row("data/roc/stories.tsv.gz", 0, 1000, 1),
        "roc-two-references" => in_a_row("data/roc/stories.tsv.gz", 1000, 200, 2),
        "roc-more" => in_a_row("data/roc/stories.tsv.gz", 1300, 1000, 1),
        "generated" => in_a_row("data/generated/stories.jsonl.gz", 0, 600, 1),
        unknown => panic!("the fixture has a group {unknown}"),
    }
}

#[test]
fn values_on_3328_real_pairs_equal_the_peers_to_a_billionth() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/metrics_peers.csv.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(fixture).expect("the fixture"))
        .read_to_string(&mut text)
        .expect("gzip");
    let mut groups: BTreeMap<&str, (Vec<&str>, Vec<Vec<&str>>)> = BTreeMap::new();
    let mut current = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[0] == "group" {
            current = fields[1];
            groups.insert(current, (fields[2..].to_vec(), Vec::new()));
        } else if let Some((_, rows)) = groups.get_mut(current) {
            rows.push(fields[1..].to_vec());
        }
    }
    assert_eq!(groups.values().map(|(_, rows)| rows.len() - 1).sum::<usize>(), 3328);
    for (group, (keys, expected)) in groups {
        let Some(records) = pairs(group) else { return };
        let scorer = Scorer::new(&keys, &Options::default()).expect("known metrics");
        let survey = scorer.survey();
        survey.batch(&records);
        let scorer = scorer.surveyed(survey).expect("small enough for memory");
        let rows = scorer.batch(&records).expect("all have references");
        let stats: Vec<&[f64]> = (0..records.len()).map(|at| rows.stats(at)).collect();
        let together = scorer.aggregate(&stats);
        let ours = std::iter::once(together.as_slice())
            .chain((0..records.len()).map(|at| rows.scores(at)));
        for (line, (ours, theirs)) in ours.zip(&expected).enumerate() {
            for ((key, ours), theirs) in keys.iter().zip(ours).zip(theirs) {
                let Ok(theirs) = theirs.parse::<f64>() else { continue };
                assert!(
                    (ours - theirs).abs() <= 1e-9,
                    "{group} line {line} {key}: {ours}, the peer's {theirs}"
                );
            }
        }
    }
}
