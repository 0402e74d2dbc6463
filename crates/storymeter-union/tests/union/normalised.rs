//! Stories are read alike however they were tokenised and quoted.

use storymeter_core::Story;
use storymeter_union::{Card, normalise};

fn card(delexicalise: bool) -> Card {
    Card { normalise: true, delexicalise, ..Card::default() }
}

fn read(text: &str, delexicalise: bool) -> String {
    normalise(&Story { text: text.into(), ..Story::default() }, &card(delexicalise)).text
}

#[test]
fn without_the_card_s_wish_nothing_changes() {
    let story = Story { text: "ken did n't “go” .".into(), ..Story::default() };
    assert_eq!(normalise(&story, &Card::default()), story);
}

#[test]
fn cut_words_are_joined_and_others_are_not() {
    assert_eq!(read("she did n't go . i ca n’t", false), "she didn't go . i can't");
    assert_eq!(read("they can not stay , gon na leave", false), "they cannot stay , gonna leave");
    assert_eq!(
        read("we got tacos . can nothing help ?", false),
        "we got tacos . can nothing help ?"
    );
    assert_eq!(read("n't . n'tx", false), "n't . n'tx");
}

#[test]
fn every_kind_of_quote_becomes_a_straight_one() {
    assert_eq!(
        read("“It’s ‘fine’…” «so» ``he'' said", false),
        "\"It's 'fine'...\" \"so\" \"he\" said"
    );
}

#[test]
fn names_are_masked_alike_however_the_story_is_written() {
    let masked = "[MALE] met [FEMALE]. [FEMALE] waved to [MALE].";
    for text in [
        "Robert met Susan. Susan waved to Michael.",
        "[MALE] met [FEMALE]. [FEMALE] waved to [MALE].",
        "[male] met [female]. [female] waved to [male].",
        "[MALE] met susan. [FEMALE] waved to michael.",
    ] {
        assert_eq!(read(text, true), masked, "{text}");
    }
    assert_eq!(read("robert met susan.", true), "[MALE] met [FEMALE].");
}

#[test]
fn twice_is_as_good_as_once() {
    for text in [
        "“Robert didn’t go,” she said… -LRB- [male] `` can not '' -RRB-",
        "will told susan's cat that he will stay until may .",
        "",
        " n't '''' ``` [neutral",
    ] {
        for delexicalise in [false, true] {
            let once = read(text, delexicalise);
            assert_eq!(read(&once, delexicalise), once, "{text}");
        }
    }
}

#[test]
fn given_sentences_stay_where_their_words_are() {
    let mut story = Story { prompt: Some("`` Susan 's door ''".into()), ..Story::default() };
    for sentence in ["`` Robert did n't go .", "He can not …", "“So” said Susan ."] {
        story.push_sentence(sentence);
    }
    let read = normalise(&story, &card(true));
    let sentences: Vec<&str> =
        read.sentences.iter().map(|range| &read.text[range.clone()]).collect();
    assert_eq!(sentences, ["\" [MALE] didn't go .", "He cannot ...", "\"So\" said [FEMALE] ."]);
    assert_eq!(read.prompt.as_deref(), Some("\" [FEMALE] 's door \""));
}

#[test]
fn a_story_of_many_sentences_and_marks_is_normalised_in_linear_time() {
    let story = |sentences: usize| {
        let mut story = Story::default();
        (0..sentences).for_each(|_| story.push_sentence("“Susan did n't … go .”"));
        story
    };
    let time = |story: &Story| {
        let start = std::time::Instant::now();
        assert_eq!(normalise(story, &card(true)).sentences.len(), story.sentences.len());
        start.elapsed().as_secs_f64()
    };
    // Ten times the text may take thirty times as long; quadratic work takes a hundred times. A
    // busy machine gets several attempts.
    let (short, long) = (story(2_000), story(20_000));
    assert!((0..8).any(|_| time(&long) < 30.0 * time(&short).max(1e-3)));
}
