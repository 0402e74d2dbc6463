//! Metrics on real stories: against the values that HANNA and UNION published, and those of
//! sacrebleu, NLTK and pycocoevalcap.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use storymeter_checks::hanna_metrics::{COLUMNS, compare};
use storymeter_checks::{Result, present, score, shared};
use storymeter_core::read::{ReadOptions, Record, open};
use storymeter_core::{Place, Settings, Story};

fn stories(path: &Path, count: usize) -> Result<Vec<Record>> {
    let reader = open(&[path.to_owned()], &ReadOptions::default())?;
    Ok(reader.take(count).collect::<std::result::Result<_, _>>()?)
}

fn values_equal_those_hanna_published() -> Result {
    let path = shared("data/annotated/hanna/stories_first48.jsonl.gz")?;
    let rows = compare(&path, COLUMNS)?;
    assert_eq!(rows.len(), 13);
    for row in rows {
        let (key, least) = (row.expectation.key, row.expectation.least_share);
        assert_eq!(row.stories, 528, "{key}");
        assert!(row.share() >= least, "{key}: only {:.4} are equal", row.share());
        assert!(row.correlation > 0.99, "{key}: {}", row.correlation);
    }
    Ok(())
}

/// The published scores are scaled to the range from 0 to 1, so the correlation must be perfect.
fn bleu_of_union_is_the_published_one_up_to_its_scale() -> Result {
    let folder = shared("data/annotated/union_roc")?;
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
    let (_, batch) = score(&["bleu:union"], Settings::default(), &records)?;
    let ours: Vec<f64> =
        (0..records.len()).map(|at| Ok(present(batch.values(at))?[0])).collect::<Result<_>>()?;
    assert_eq!(ours.len(), 400);
    let correlation = storymeter_stats::pearson(&ours, &published)?.coefficient;
    assert!(correlation > 1.0 - 1e-12, "{correlation}");
    Ok(())
}

fn record(number: u64, text: String, references: Vec<String>) -> Record {
    let story = Story { id: number.to_string(), text, references, ..Story::default() };
    Record { story, number, place: Place::default() }
}

/// The pairs of a group of `metrics_peers.csv.gz`, as `tools/metrics_fixtures.py` makes them.
fn pairs(group: &str) -> Result<Vec<Record>> {
    let in_a_row = |path: &str, first: usize, count: usize, references: usize| {
        let stories = stories(&shared(path)?, first + count + references)?;
        let text = |at: usize| stories[at].story.text.clone();
        let pair = |at: usize| {
            record(at as u64, text(at), (1..=references).map(|next| text(at + next)).collect())
        };
        Ok((first..first + count).map(pair).collect())
    };
    match group {
        "hanna" => stories(&shared("data/annotated/hanna/stories_first48.jsonl.gz")?, 528),
        "roc" => in_a_row("data/roc/stories.tsv.gz", 0, 1000, 1),
        "roc-two-references" => in_a_row("data/roc/stories.tsv.gz", 1000, 200, 2),
        "roc-more" => in_a_row("data/roc/stories.tsv.gz", 1300, 1000, 1),
        "generated" => in_a_row("data/generated/stories.jsonl.gz", 0, 600, 1),
        unknown => panic!("the fixture has a group {unknown}"),
    }
}

fn values_on_3328_real_pairs_equal_the_peers_to_a_billionth() -> Result {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/metrics_peers.csv.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(fixture)?).read_to_string(&mut text)?;
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
    let mut compared = 0;
    for (group, (keys, expected)) in groups {
        let records = pairs(group)?;
        let (set, batch) = score(&keys, Settings::default(), &records)?;
        let stats: Vec<&[f64]> = (0..records.len()).map(|at| batch.stats(at)).collect();
        // The first line of a group is the corpus, and the others are its stories.
        let mut ours = vec![present(&set.aggregate(&stats))?];
        for story in 0..records.len() {
            ours.push(present(batch.values(story))?);
        }
        assert_eq!(ours.len(), expected.len(), "{group}");
        for (line, (ours, theirs)) in ours.iter().zip(&expected).enumerate() {
            for ((key, ours), theirs) in keys.iter().zip(ours).zip(theirs) {
                let Ok(theirs) = theirs.parse::<f64>() else { continue };
                assert!(
                    (ours - theirs).abs() <= 1e-9,
                    "{group} line {line} {key}: {ours}, the peer's {theirs}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 30_000, "only {compared} values were compared");
    Ok(())
}

storymeter_checks::checks!(
    values_equal_those_hanna_published,
    bleu_of_union_is_the_published_one_up_to_its_scale,
    values_on_3328_real_pairs_equal_the_peers_to_a_billionth,
);
