//! Hashes of tokens.

use storymeter_metrics::tokenize::Tokens;

#[test]
fn equal_tokens_have_equal_hashes_and_others_do_not() {
    let text = "a bb a \u{0} extraordinary extraordinarx";
    let tokens = Tokens::new(text.into(), [0..1, 2..4, 5..6, 7..8, 9..22, 23..36, 0..0]);
    let hashes: Vec<u64> = tokens.hashed().map(|(hash, _)| hash).collect();
    assert_eq!(hashes[0], hashes[2]);
    let mut distinct = hashes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 6);
    assert_eq!(tokens.get(4), "extraordinary");
}

#[test]
fn what_stands_around_a_token_does_not_change_its_hash() {
    // Every length up to two chunks and a bit, in the middle of a text and at its end.
    for length in 0..=18 {
        let token = &"extraordinary words"[..length];
        let alone = Tokens::new(token.into(), std::iter::once(0..length));
        let within = Tokens::new(format!("é{token}, and so on"), std::iter::once(2..2 + length));
        assert_eq!(alone.hashed().next(), within.hashed().next(), "{token:?}");
    }
}
