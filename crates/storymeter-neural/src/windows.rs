//! Overlapping windows over a text that is longer than a model can read at once.
//!
//! Windows are as long as the model allows, and each begins half a window after the one before. The
//! last one ends with the text. The tokens of an overlap are divided in its middle: each token is
//! taken from the window in which it has more neighbours on its poorer side.

use std::ops::Range;

/// A window: what the model reads, and what is kept of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window {
    /// The tokens that are read.
    pub read: Range<usize>,
    /// The tokens whose states are kept. Those of all windows together are the whole text.
    pub kept: Range<usize>,
}

/// The windows over a text of so many tokens, special tokens not counted, where the model has room
/// for `room` of them (at least one).
pub(crate) fn windows(tokens: usize, room: usize) -> Vec<Window> {
    if tokens <= room {
        return vec![Window { read: 0..tokens, kept: 0..tokens }];
    }
    let step = (room / 2).max(1);
    let last = tokens - room;
    let starts: Vec<usize> = (0..last).step_by(step).chain([last]).collect();
    let middle = |at: usize| (starts[at + 1] + starts[at] + room) / 2;
    (0..starts.len())
        .map(|at| {
            let from = if at == 0 { 0 } else { middle(at - 1) };
            let to = if at + 1 == starts.len() { tokens } else { middle(at) };
            Window { read: starts[at]..starts[at] + room, kept: from..to }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_that_fits_is_one_window() {
        assert_eq!(windows(510, 510), [Window { read: 0..510, kept: 0..510 }]);
        assert_eq!(windows(0, 510), [Window { read: 0..0, kept: 0..0 }]);
    }

    #[test]
    fn a_longer_text_is_read_twice_except_at_its_ends() {
        assert_eq!(
            windows(25, 10),
            [
                Window { read: 0..10, kept: 0..7 },
                Window { read: 5..15, kept: 7..12 },
                Window { read: 10..20, kept: 12..17 },
                Window { read: 15..25, kept: 17..25 },
            ]
        );
    }

    proptest! {
        #[test]
        fn every_token_is_kept_once_and_read_where_it_is_kept(
            tokens in 0usize..3000, room in 1usize..600,
        ) {
            let mut next = 0;
            for Window { read, kept } in windows(tokens, room) {
                prop_assert!(read.len() <= room);
                prop_assert_eq!(kept.start, next);
                prop_assert!(kept.is_empty() || (read.start <= kept.start && kept.end <= read.end));
                next = kept.end;
            }
            prop_assert_eq!(next, tokens);
        }
    }
}
