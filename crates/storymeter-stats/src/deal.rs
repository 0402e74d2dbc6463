//! Items dealt out into two groups.

use rand_chacha::ChaCha8Rng;

use crate::resample::below;

/// Moves `dealt` cards, drawn at random without replacement, to the front of the deck.
pub(crate) fn deal(random: &mut ChaCha8Rng, deck: &mut [usize], dealt: usize) {
    for at in 0..dealt {
        let other = at + below(random, (deck.len() - at) as u64) as usize;
        deck.swap(at, other);
    }
}

/// All ways to choose `dealt` of `cards`, where there are at most `most` of them.
pub(crate) fn hands(cards: usize, dealt: usize, most: usize) -> Option<Vec<Vec<usize>>> {
    let mut count = 1u128;
    for k in 0..dealt as u128 {
        count = count * (cards as u128 - k) / (k + 1);
        if count > most as u128 {
            return None;
        }
    }
    let mut hand: Vec<usize> = (0..dealt).collect();
    let mut hands = vec![hand.clone()];
    // The last card that can move up by one does so, and the cards behind it follow closely.
    while let Some(at) = (0..dealt).rev().find(|&at| hand[at] < cards - dealt + at) {
        hand[at] += 1;
        for later in at + 1..dealt {
            hand[later] = hand[later - 1] + 1;
        }
        hands.push(hand.clone());
    }
    Some(hands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hand_is_dealt_once() {
        assert_eq!(
            hands(4, 2, 6).unwrap(),
            [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].map(|hand| hand.to_vec())
        );
        assert_eq!(hands(4, 2, 5), None);
        assert_eq!(hands(2000, 1000, usize::MAX), None, "the number does not overflow");
    }
}
