//! Score files beside human judgments.

use std::fs;
use std::path::PathBuf;

use storymeter_core::{Catalogue, Progress};
use storymeter_meta::correlate::{Correlated, Judgments, Source, correlate};
use storymeter_meta::study::{IntervalMethod, Test};
use storymeter_meta::{Absence, Error, Settings};

struct Files(tempfile::TempDir);

impl Files {
    /// Eight rated stories, numbers for them in order, and scores by id.
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let human = [7, 1, 3, 6, 0, 4, 5, 2];
        let rated = human.iter().enumerate().map(|(i, mean)| {
            let ratings: Vec<&str> = (0..7).map(|r| if r < *mean { "1" } else { "0" }).collect();
            format!("{i} ||| it rained . ||| {}\n", ratings.join(" "))
        });
        files.write("rated.txt", &rated.collect::<String>());
        files.write("numbers.txt", "8\n2\n3\n9\n1\n5\n4\n3\n");
        files.write("flat.txt", &"1\n".repeat(8));
        let line = |i: usize| {
            let value = (i * 3) % 8;
            format!(
                "{{\"id\": \"{i}\", \"scores\": {{\"bleu\": {}, \"rouge:hanna/rouge-1-r\": {value}}}}}\n",
                human.get(i).map_or("null".into(), |h| (h * h).to_string())
            )
        };
        files.write("scores.jsonl", &(1..9).map(line).collect::<String>());
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    fn run(
        &self,
        sources: &[(&str, &str, Option<&str>)],
        settings: Settings,
    ) -> Result<Correlated, Error> {
        let catalogue = Catalogue::default();
        let judgments = Judgments::read(&self.path("rated.txt"), None, &catalogue)?;
        let source = |(name, file, metric): &(&str, &str, Option<&str>)| Source {
            name: (*name).to_owned(),
            file: self.path(file),
            metric: metric.map(str::to_owned),
        };
        let sources: Vec<Source> = sources.iter().map(source).collect();
        correlate(&judgments, &sources, &catalogue, &settings, &Progress::unwatched())
    }
}

const ALL: [(&str, &str, Option<&str>); 4] = [
    ("mine", "numbers.txt", None),
    ("bleu", "scores.jsonl", None),
    ("old", "scores.jsonl", Some("rouge-1-r")),
    ("flat", "flat.txt", None),
];

#[test]
fn n_is_per_source_and_per_pair_of_sources() {
    let found = Files::new().run(&ALL, Settings::default()).unwrap();
    let n: Vec<usize> = found.rows.iter().map(|row| row.agreements[0].n).collect();
    assert_eq!(n, [8, 7, 7, 8]);
    let old = &found.rows[2];
    assert_eq!(old.metric.as_ref().unwrap().as_str(), "rouge:hanna/rouge-1-r", "an old key");
    assert_eq!((old.without_score, old.without_human), (1, 1));
    assert_eq!(found.tests.len(), 6 * 3);
    let test = &found.tests[0];
    assert_eq!((test.first.as_str(), test.second.as_str(), test.comparison.n), ("mine", "bleu", 7));
    assert!(test.comparison.p_value.is_ok() && test.stronger().is_some());
    let flat = found.tests.iter().filter(|test| test.second == "flat");
    let gaps: Vec<_> = flat.map(|test| test.comparison.p_value.clone().unwrap_err()).collect();
    assert_eq!(gaps, vec![Absence::NoCorrelation; 9]);
}

#[test]
fn the_json_keeps_its_shape_and_gains_intervals_and_tests() {
    let files = Files::new();
    let json = files.run(&ALL[..2], Settings::default()).unwrap().to_json();
    let mine = json["mine"].as_object().unwrap();
    for key in ["pearson", "spearman", "kendall"] {
        assert!(mine[key].is_f64() && mine[&format!("p_{key}")].is_f64());
        let ends = mine[&format!("interval_{key}")].as_array().unwrap();
        assert!(ends[0].as_f64() < mine[key].as_f64() && mine[key].as_f64() < ends[1].as_f64());
    }
    assert_eq!(mine["n"], 8);
    let tests = json["=tests"].as_array().unwrap();
    assert_eq!(tests.len(), 3);
    assert_eq!((&tests[0]["test"], &tests[0]["n"]), (&"williams".into(), &7.into()));
    let one = files.run(&ALL[..1], Settings::default()).unwrap().to_json();
    assert_eq!(one.as_object().unwrap().len(), 1, "one source has no tests");
}

#[test]
fn tests_and_intervals_can_be_chosen() {
    let files = Files::new();
    let settings = Settings::default().with(|it| {
        it.test = Test::Permutation;
        it.interval = IntervalMethod::Bca;
        it.resamples = 200;
    });
    let (usual, other) = (
        files.run(&ALL[..2], Settings::default()).unwrap(),
        files.run(&ALL[..2], settings).unwrap(),
    );
    assert_eq!(usual.rows[0].agreements[0].n, other.rows[0].agreements[0].n);
    let interval =
        |found: &Correlated| found.rows[0].agreements[0].value.clone().unwrap().interval.unwrap();
    assert_ne!(interval(&usual), interval(&other));
    assert_ne!(usual.tests[0].comparison.p_value, other.tests[0].comparison.p_value);
}

#[test]
fn what_must_be_named_and_what_cannot_be_joined_are_variants() {
    let files = Files::new();
    let run = |source| files.run(&[source], Settings::default());
    let several = run(("mine", "scores.jsonl", None)).unwrap_err();
    assert!(matches!(&several, Error::SeveralMetrics { metrics, .. } if metrics.len() == 2));
    let unknown = run(("mine", "scores.jsonl", Some("blue"))).unwrap_err().to_string();
    assert!(unknown.contains("did you mean \"bleu\""), "{unknown}");
    files.write("short.txt", "1\n2\n");
    assert!(matches!(
        run(("mine", "short.txt", None)),
        Err(Error::UnequalLengths { found: 2, .. })
    ));
    files.write("strange.jsonl", "{\"id\": \"x\", \"scores\": {\"a\": 1}}\n");
    assert!(matches!(run(("mine", "strange.jsonl", None)), Err(Error::NothingShared { .. })));
    let twice = files.run(&[ALL[0], ALL[0]], Settings::default()).unwrap_err();
    assert!(matches!(&twice, Error::TwiceTheName(name) if name == "mine"), "{twice}");
    files.write("two.jsonl", "{\"id\": 1, \"human\": {\"fun\": 1, \"plot\": 2}}\n");
    let several = Judgments::read(&files.path("two.jsonl"), None, &Catalogue::default());
    assert!(matches!(several, Err(Error::SeveralCriteria { criteria, .. }) if criteria.len() == 2));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_completely() {
    let files = Files::new();
    let pipe = files.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "every Unix has mkfifo");
    let (writer, content) = (pipe.clone(), fs::read(files.path("scores.jsonl")).unwrap());
    let writing = std::thread::spawn(move || fs::write(writer, content).unwrap());
    let found = files.run(&[("bleu", "pipe", None)], Settings::default()).unwrap();
    writing.join().unwrap();
    assert_eq!(found.rows[0].agreements[0].n, 7);
}

#[test]
fn infinite_numbers_are_refused_wherever_they_stand() {
    let files = Files::new();
    for number in ["inf", "-inf", "infinity", "1e400", "-1e400"] {
        files.write("bad.txt", &format!("8\n2\n{number}\n9\n1\n5\n4\n3\n"));
        let message = files.run(&[("a", "bad.txt", None)], Settings::default());
        let message = message.unwrap_err().to_string();
        let expected = format!("bad.txt:3: \"{number}\" is not a finite number");
        assert!(message.ends_with(&expected), "{message}");
    }
    // A score that the file says is missing is left out.
    files.write("gap.txt", "8\nnan\n3\n9\n1\n5\n4\n3\n");
    let found = files.run(&[("a", "gap.txt", None)], Settings::default()).unwrap();
    assert_eq!(found.rows[0].agreements[0].n, 7);
}

#[test]
fn a_long_line_is_not_repeated_in_the_error_and_a_byte_order_mark_is_no_number() {
    let files = Files::new();
    files.write("long.txt", &format!("8\n{}\n", "seven".repeat(1_000_000)));
    let error = files.run(&[("a", "long.txt", None)], Settings::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("long.txt:2: \"seven") && message.len() < 400, "{}", message.len());
    files.write("marked.txt", "\u{feff}8\n2\n3\n9\n1\n5\n4\n3\n");
    let found = files.run(&[("a", "marked.txt", None)], Settings::default()).unwrap();
    assert_eq!(found.rows[0].agreements[0].n, 8);
}

#[test]
fn a_file_of_any_size_is_not_read_into_memory() {
    let files = Files::new();
    // The file has a hole instead of content, so it takes no room.
    fs::File::create(files.path("large.txt")).unwrap().set_len(8 << 30).unwrap();
    let message = files.run(&[("a", "large.txt", None)], Settings::default());
    let message = message.unwrap_err().to_string();
    assert!(message.contains("large.txt: the file has more than"), "{message}");
}
