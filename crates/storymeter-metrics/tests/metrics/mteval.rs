//! Tokens as mteval-v13a cuts them.

use storymeter_metrics::tokenize::{Mteval13a, Tokenizer};

fn tokens(text: &str) -> String {
    Mteval13a::tokenize(text).iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn punctuation_stands_alone_except_between_digits() {
    assert_eq!(tokens("He paid $1,000.50, didn't he?"), "He paid $ 1,000.50 , didn't he ?");
    assert_eq!(tokens("in 2020."), "in 2020 .");
    assert_eq!(tokens("a.b 1.b a.1"), "a . b 1 . b a . 1");
}

#[test]
fn rows_of_points_come_out_as_the_substitutions_leave_them() {
    // Checked with sacrebleu 2.6.0.
    assert_eq!(
        tokens("well...5 well....5 1..2 1...2"),
        "well . . . 5 well . . . .5 1 . . 2 1 . . .2"
    );
}

#[test]
fn a_hyphen_stands_alone_after_a_digit_only() {
    assert_eq!(tokens("1990-91 well-known 4-"), "1990 - 91 well-known 4 -");
}

#[test]
fn entities_line_breaks_and_skipped_marks_are_undone() {
    assert_eq!(tokens("a&amp;lt;b&quot; hy-\nphen<skipped>ated\nend\n"), "a < b \" hyphenated end");
}
