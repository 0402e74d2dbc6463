//! A name that is not known fails, with the nearest known one, and nothing is printed.

use crate::sandbox::Sandbox;

fn with_files() -> Sandbox {
    let sandbox = Sandbox::new();
    let systems = ["rain", "tale", "snow"];
    let story = |system: &str, item: usize| {
        format!(
            "{{\"id\": \"{item}\", \"system\": \"{system}\", \"story\": \"Rain fell {item} times.\", \
             \"scores\": {{\"bleu\": {item}, \"ter\": {}}}, \"human\": {{\"fun\": {}, \"plot\": 2}}}}\n",
            item * 7 % 5,
            item % 4
        )
    };
    let stories = systems.iter().flat_map(|system| (0..6).map(|item| story(system, item)));
    sandbox.write("scores.jsonl", stories.collect::<String>());
    sandbox
}

#[test]
fn every_unknown_name_gets_a_suggestion() {
    let sandbox = with_files();
    for (line, message) in [
        (
            "meta table scores.jsonl --lower blue",
            "there is no metric \"blue\"; did you mean \"bleu\"?",
        ),
        (
            "meta table scores.jsonl --higher tre",
            "there is no metric \"tre\"; did you mean \"ter\"?",
        ),
        ("meta table scores.jsonl --without rian", "no system \"rian\"; did you mean \"rain\"?"),
        ("meta table scores.jsonl --show best-metric", "did you mean \"best-metrics\"?"),
        ("meta table scores.jsonl --format latx", "'latex'"),
        ("compare scores.jsonl --metric blue", "no column \"blue\"; did you mean \"bleu\"?"),
        ("compare scores.jsonl --lower tre", "did you mean \"ter\"?"),
        ("compare scores.jsonl --higher fnu", "did you mean \"fun\"?"),
        ("compare scores.jsonl --without tael", "no system \"tael\"; did you mean \"tale\"?"),
        ("compare scores.jsonl --against sno", "no system \"sno\"; did you mean \"snow\"?"),
        (
            "correlate --human scores.jsonl --criterion fnu --scores bleu=scores.jsonl#bleu",
            "no criterion \"fnu\"; did you mean \"fun\"?",
        ),
        (
            "correlate --human scores.jsonl --criterion fun --scores a=scores.jsonl#blue",
            "there is no metric \"blue\"; did you mean \"bleu\"?",
        ),
        (
            "score scores.jsonl --metric text-length --against rian",
            "no system \"rian\"; did you mean \"rain\"?",
        ),
        ("score scores.jsonl --metric text-lenght", "did you mean \"text-length\"?"),
        ("score scores.jsonl --metric bleu:hana", "did you mean \"hanna\"?"),
        ("perturb scores.jsonl --preset papr", "a similar value exists: 'paper'"),
    ] {
        let run = sandbox.run(line).fails_with(message);
        assert_eq!(run.stdout(), "", "{line}");
    }
}

#[test]
fn a_far_name_gets_the_list_of_known_ones() {
    with_files()
        .run("meta table scores.jsonl --lower nosuch")
        .fails_with("scores.jsonl: there is no metric \"nosuch\"; there are: bleu, ter");
}
