//! Parts of speech, and the file of the tagger.

use storymeter_text::tagger::Tagger;

static EMBEDDED: &[u8] = include_bytes!("../../data/tagger.bin");

fn tags(sentence: &str) -> String {
    let tokens: Vec<&str> = sentence.split(' ').collect();
    Tagger::embedded().tag(&tokens).iter().map(|t| t.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn ordinary_sentences_get_the_tags_a_linguist_would_give() {
    assert_eq!(tags("The old dog sat in the warm kitchen ."), "DT JJ NN VBD IN DT JJ NN .");
    assert_eq!(
        tags("She did n't want to leave , but he had gone ."),
        "PRP VBD RB VB TO VB , CC PRP VBD VBN ."
    );
    assert_eq!(tags("Tom 's sister walks quickly ."), "NNP POS NN VBZ RB .");
    assert_eq!(tags("They saw the saw in the shed ."), "PRP VBD DT NN IN DT NN .");
}

#[test]
fn lower_cased_text_gets_the_same_tags() {
    let sentence = "Tom and Mary went to Paris because they were bored .";
    assert_eq!(tags(&sentence.to_lowercase()), tags(sentence));
}

#[test]
fn placeholders_are_proper_nouns() {
    assert_eq!(tags("[MALE] gave [FEMALE] 's book to [NEUTRAL] ."), "NNP VBD NNP POS NN IN NNP .");
}

#[test]
fn quotes_and_brackets_are_known_in_every_spelling() {
    assert_eq!(tags("`` Stop ! '' he said ."), "`` VB . '' PRP VBD .");
    assert_eq!(tags("“ Stop ! ” he said ."), "`` VB . '' PRP VBD .");
    assert_eq!(tags("-LRB- yes -RRB-"), "-LRB- UH -RRB-");
}

#[test]
fn a_sentence_has_as_many_tags_as_tokens_whatever_they_are() {
    let tagger = Tagger::embedded();
    assert!(tagger.tag(&[]).is_empty());
    for tokens in [&["", "é", "🙂"][..], &["."; 1], &["a"; 5000]] {
        assert_eq!(tagger.tag(tokens).len(), tokens.len());
    }
}

#[test]
fn what_was_tagged_before_does_not_matter() {
    let sentence = ["The", "saw", "can", "cut", "wood", "fast", "."];
    let fresh =
        std::thread::spawn(move || Tagger::embedded().tag(&sentence)).join().expect("no panic");
    let others: Vec<String> = (0..5000).map(|i| format!("Word{i}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let tagger = Tagger::embedded();
    tagger.tag(&others);
    assert_eq!(tagger.tag(&sentence), fresh);
    let same = Tagger::from_bytes(EMBEDDED).expect("a whole model");
    assert_eq!(same.tag(&sentence), fresh);
}

#[test]
fn the_embedded_model_is_at_most_three_megabytes() {
    assert!(EMBEDDED.len() <= 3_000_000, "{} bytes", EMBEDDED.len());
}

#[test]
fn a_damaged_model_is_an_error_and_not_a_panic() {
    assert_eq!(
        Tagger::from_bytes(b"no model").expect_err("wrong").to_string(),
        "not a tagger model: wrong first bytes at byte 0"
    );
    for length in [7, 8, 100, 50_000, EMBEDDED.len() - 1] {
        assert!(Tagger::from_bytes(&EMBEDDED[..length]).is_err(), "cut to {length} bytes");
    }
    let longer = [EMBEDDED, b"x"].concat();
    assert_eq!(Tagger::from_bytes(&longer).expect_err("too long").reason, "bytes left over");
}
