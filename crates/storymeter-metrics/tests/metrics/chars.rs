//! N-grams of characters against plain counting.

use std::collections::BTreeMap;

use storymeter_metrics::tokenize::CharNgrams;

fn by_counting(a: &str, b: &str) -> [u32; 6] {
    let counts = |text: &str, n: usize| {
        let chars: Vec<char> = text.chars().collect();
        let mut counts: BTreeMap<Vec<char>, u32> = BTreeMap::new();
        chars.windows(n).for_each(|gram| *counts.entry(gram.to_vec()).or_default() += 1);
        counts
    };
    std::array::from_fn(|n| {
        let theirs = counts(b, n + 1);
        counts(a, n + 1)
            .iter()
            .map(|(gram, &c)| c.min(theirs.get(gram).copied().unwrap_or(0)))
            .sum()
    })
}

#[test]
fn matches_equal_those_of_plain_counting() {
    let texts = [
        "",
        "a",
        "abcabcabc",
        "the lamp went out",
        "out went the lamp",
        "物語は、",
        "lamp 物語",
        "“so…”",
    ];
    for a in texts {
        for b in texts {
            let fast = CharNgrams::new(a.chars()).clipped_matches(&CharNgrams::new(b.chars()));
            assert_eq!(fast, by_counting(a, b), "{a:?} {b:?}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn matches_equal_those_of_plain_counting_on_any_text(
        a in "[ab\u{0}é物\u{10ffff} ]{0,40}",
        b in "[ab\u{0}é物\u{10ffff} ]{0,40}",
    ) {
        let fast = CharNgrams::new(a.chars()).clipped_matches(&CharNgrams::new(b.chars()));
        proptest::prop_assert_eq!(fast, by_counting(&a, &b));
    }
}
