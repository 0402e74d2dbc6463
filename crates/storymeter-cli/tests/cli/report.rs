//! `storymeter report`, from scores to the page and the figures.

use crate::sandbox::Sandbox;

/// Scores of four systems on six items by two metrics, with ratings; `shift` changes one metric.
fn scores(shift: f64) -> String {
    let mut lines = String::new();
    for system in 0..4 {
        for item in 0..6 {
            let quality = f64::from((system * 7 + item * 5) % 11);
            let (plot, other) = (quality / 3.0 + 1.0, f64::from((system + item * item) % 5));
            lines += &format!(
                "{{\"id\":\"{system}-{item}\",\"system\":\"S{system}\",\"item\":\"{item}\",\"scores\":{{\"near\":{},\"far\":{}}},\
                 \"human\":{{\"plot\":[{plot}]}}}}\n",
                quality + shift * other,
                other - quality / 9.0
            );
        }
    }
    lines
}

fn analysed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", scores(0.5));
    sandbox.write("b.jsonl", scores(3.0));
    sandbox.run("meta table a.jsonl -o a").succeeds();
    sandbox.run("meta table b.jsonl -o b").succeeds();
    sandbox
}

#[test]
fn one_page_and_three_files_a_figure() {
    let sandbox = analysed();
    let said = sandbox.run("report a a.jsonl --figures figures -o report.html").succeeds();
    assert!(said.stdout().is_empty() && said.stderr().contains("report.html"), "{}", said.stderr());
    let page = sandbox.read("report.html");
    assert!(
        page.starts_with("<!doctype html>") && page.contains("near has the highest mean |Pearson|")
    );
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
    );
    for (ending, magic) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("pdf", b"%PDF")] {
        let bytes = std::fs::read(sandbox.path(&format!("figures/against-story-pearson.{ending}")))
            .unwrap();
        assert!(bytes.starts_with(magic), "{ending}");
    }
}

#[test]
fn the_same_input_gives_the_same_page() {
    let sandbox = analysed();
    sandbox.run("report a a.jsonl -o one.html --threads 1").succeeds();
    sandbox.run("report a a.jsonl -o two.html --threads 2").succeeds();
    assert!(sandbox.read("one.html") == sandbox.read("two.html"));
}

#[test]
fn two_runs_are_compared_with_tests_for_the_same_stories() {
    let sandbox = analysed();
    sandbox.run("report a b a.jsonl b.jsonl -o both.html").succeeds();
    let page = sandbox.read("both.html");
    assert!(page.contains("What changed from a to b") && page.contains("p (Williams)"));
}

#[test]
fn what_is_no_result_is_said_and_leaves_no_page() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run("report empty -o report.html").fails_with("no result.json in this folder");
    sandbox.run("report nothing.jsonl -o report.html").fails_with("nothing.jsonl");
    sandbox.write("empty/result.json", "{\"kind\": 3}");
    sandbox.run("report empty -o report.html").fails_with("result.json:1");
    assert_eq!(sandbox.names(), ["empty"]);
}

#[test]
fn a_training_log_becomes_curves() {
    let sandbox = Sandbox::new();
    sandbox.write("log.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":1.25}\n");
    sandbox.run("report log.jsonl -o log.html").succeeds();
    assert!(sandbox.read("log.html").contains("data-v=\"1.25\" data-r=\"loss\""));
}
