//! Numbers in the file of the lexicon.

use storymeter_text::lexicon::format::{fold_sign, read_varint, unfold_sign, write_varint};

#[test]
fn a_signed_difference_reads_back_as_written() {
    assert_eq!([0, -1, 1, -2, 2].map(fold_sign), [0, 1, 2, 3, 4]);
    for difference in [0, 1, -1, 117_658, -117_658, i32::MAX, i32::MIN] {
        assert_eq!(unfold_sign(fold_sign(difference)), difference);
    }
}

#[test]
fn a_varint_reads_back_as_written() {
    for value in [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_151, u32::MAX] {
        let mut bytes = vec![0xff];
        write_varint(&mut bytes, value);
        let mut at = 1;
        assert_eq!((read_varint(&bytes, &mut at), at), (value, bytes.len()));
    }
}
