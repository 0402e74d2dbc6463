//! The treebank tokeniser, compared with NLTK's and with its own inverse.

use proptest::prelude::*;
use storymeter_text::{Span, sentence, treebank};

fn words(text: &str) -> Vec<&str> {
    treebank::tokenize(text).iter().map(|t| t.text(text)).collect()
}

fn normal(text: &str) -> String {
    treebank::tokenize(text)
        .iter()
        .map(|t| t.normal(text).into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Texts on which the tokeniser differs from NLTK on purpose, with its tokens.
const DIFFERENCES: [(&str, &str); 5] = [
    ("'Tis late, and 'twas cold.", "'T is late , and 't was cold ."),
    ("The '90s were good.", "The '90s were good ."),
    ("`` Why ? '' she asked .", "`` Why ? '' she asked ."),
    (
        "`` I ca n't , '' he said , `` but it 's fine . ''",
        "`` I ca n't , '' he said , `` but it 's fine . ''",
    ),
    ("'It was late,' she said.", "` It was late , ' she said ."),
];

#[test]
fn tokens_and_spans_are_those_of_nltk() {
    let mut wrong = Vec::new();
    let mut same = 0;
    for line in
        include_str!("../fixtures/treebank.tsv").lines().filter(|line| !line.starts_with('#'))
    {
        let columns: Vec<&str> = line.split('\t').collect();
        let [text, tokens, spans] = columns[..] else { panic!("three columns: {line:?}") };
        if let Some((_, ours)) = DIFFERENCES.iter().find(|(sentence, _)| *sentence == text) {
            assert_eq!(normal(text), *ours);
            assert_ne!(tokens, *ours, "no longer a difference");
            continue;
        }
        let ours: Vec<String> = treebank::tokenize(text)
            .iter()
            .map(|t| format!("{}:{}", t.span.start, t.span.end))
            .collect();
        if normal(text) != tokens || ours.join(" ") != spans {
            wrong.push(format!("{text}\n  NLTK {tokens}\n  ours {}", normal(text)));
        }
        same += 1;
    }
    assert!(same >= 55, "the fixture has only {same} sentences");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_already_tokenised_stays_as_it_is() {
    for text in [
        "he did n't go , but she 'll come .",
        "`` I ca n't , '' he said .",
        "i 'm gon na leave",
        "the dogs ' house , tom 's house",
        "( a list ) -- of things ...",
        "-LRB- brackets -RRB-",
        "[MALE] gave it to [FEMALE] 's friend [NEUTRAL] .",
    ] {
        assert_eq!(words(text).join(" "), text);
    }
}

#[test]
fn placeholders_are_single_tokens() {
    assert_eq!(
        words("[MALE]'s dog bit [FEMALE]."),
        ["[MALE]", "'s", "dog", "bit", "[FEMALE]", "."]
    );
    assert_eq!(words("[male] [MALES]"), ["[", "male", "]", "[", "MALES", "]"]);
}

#[test]
fn typographic_quotes_and_apostrophes_are_read() {
    assert_eq!(
        words("“I don’t know,” he said."),
        ["“", "I", "do", "n’t", "know", ",", "”", "he", "said", "."]
    );
    assert_eq!(normal("“It’s mine…”"), "`` It 's mine … ''");
    assert_eq!(words("the dogs’ house"), ["the", "dogs", "’", "house"]);
}

#[test]
fn quotes_of_any_length_in_bytes_are_cut_at_characters() {
    assert_eq!(words("«é» “é” ‘é’"), ["«", "é", "»", "“", "é", "”", "‘", "é", "’"]);
}

#[test]
fn single_quotes_open_and_close_but_elisions_stay_whole() {
    assert_eq!(normal("'Go home,' he said."), "` Go home , ' he said .");
    assert_eq!(
        words("Tell 'em about the '90s 'til noon"),
        ["Tell", "'em", "about", "the", "'90s", "'til", "noon"]
    );
}

#[test]
fn a_sentence_inside_a_text_has_spans_into_the_text() {
    let text = "He left. She didn't.";
    let last = *sentence::split(text).last().expect("two sentences");
    let tokens: Vec<&str> =
        treebank::tokenize_sentence(text, last).iter().map(|t| t.text(text)).collect();
    assert_eq!(tokens, ["She", "did", "n't", "."]);
}

#[test]
fn detokenising_writes_ordinary_text() {
    for text in [
        "Ann didn't go home, but Tom's dog did.",
        "\"I will,\" he said, \"but not now.\"",
        "It cost $3.50 (or 20% of $17.50); that's all!",
        "The dogs' house was cold... wasn't it?",
        "I'm gonna leave, you cannot stay, lemme go.",
        "He ran -- fast -- home: Mr. Hill saw him.",
        "[MALE]'s dog bit [FEMALE].",
        "“I don’t know,” he said.",
        "She'd said she'll come.",
        "'Go home,' he said, and 'twas late.",
    ] {
        assert_eq!(treebank::detokenize(&words(text)), text);
    }
    assert_eq!(
        treebank::detokenize(&["``", "Go", ",", "''", "he", "said", "."]),
        "\"Go,\" he said."
    );
    assert_eq!(treebank::detokenize(&[]), "");
}

#[test]
fn ten_megabytes_on_one_line_take_linear_time() {
    for unit in ["a", "-", "'", "`", ".", "\"", "n't ", "[MALE"] {
        let text = unit.repeat(10_000_000 / unit.len());
        assert!(!treebank::tokenize(&text).is_empty(), "{unit:?}");
    }
}

/// Sentences as people write them: words and clitics, commas, brackets, quotes, an end mark.
fn ordinary() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,8}",
        1 => "[A-Z][a-z]{1,8}",
        1 => prop::sample::select(vec!["didn't", "can't", "Tom's", "we'll", "I'm", "cannot", "gonna", "$3.50", "20%"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["U.S.", "Mr.", "well-known", "1,000", "5:30", "[MALE]"]).prop_map(str::to_owned),
    ]
    // Pairs such as "can not" are written as one word; "d", "m" and "s" alone look like clitics to
    // no rule.
    .prop_filter("half of a joined word", |w| {
        !["can", "not", "d", "gim", "gon", "got", "lem", "wan", "me", "na", "ta"].contains(&w.as_str())
    });
    let phrase = prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "));
    let part = prop_oneof![
        4 => phrase.clone(),
        1 => phrase.clone().prop_map(|p| format!("({p})")),
        1 => phrase.prop_map(|p| format!("\"{p},\"")),
    ];
    (prop::collection::vec(part, 1..4), prop::sample::select(vec![".", "!", "?", "...", ""]))
        .prop_map(|(parts, end)| parts.join(", ").replace(",\",", ",\"") + end)
}

proptest! {
    #[test]
    fn ordinary_text_survives_the_round_trip(text in ordinary()) {
        prop_assert_eq!(treebank::detokenize(&words(&text)), text);
    }

    #[test]
    fn tokenising_again_changes_nothing(text in ordinary()) {
        let once = words(&text).join(" ");
        prop_assert_eq!(words(&once).join(" "), once);
    }

    #[test]
    fn tokens_are_in_order_and_cover_all_that_is_not_blank(
        text in r#"([a-zA-Z0-9 .,:;!?"'`()…’“-]|n't|'s|\[MALE\]|''|--|é|。|\PC){0,80}"#
    ) {
        let mut end = 0;
        for token in treebank::tokenize(&text) {
            let Span { start, end: token_end } = token.span;
            prop_assert!(end <= start && start < token_end);
            prop_assert!(text[end..start].chars().all(char::is_whitespace));
            prop_assert!(!token.text(&text).contains(char::is_whitespace));
            end = token_end;
        }
        prop_assert!(text[end..].chars().all(char::is_whitespace));
    }
}
