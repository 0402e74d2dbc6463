//! The greedy search for runs of words that should be moved.

use super::beam::{Beam, Edit};

/// The length of the longest run that is moved.
const LONGEST: usize = 10;
/// The largest distance by which a run is moved.
const FARTHEST: usize = 50;
/// The number of moves that are tried for one story.
const TRIES: usize = 1000;

/// The number of moves and other edits between a story and a reference.
pub(super) fn translation_edits(mut story: Vec<u32>, reference: &[u32]) -> u32 {
    if reference.is_empty() {
        return story.len() as u32;
    }
    let mut beam = Beam::new(reference, story.len());
    let mut moves = 0;
    let mut tried = 0;
    loop {
        let distance = beam.distance_keeping_rows(&story);
        let best = best_move(&story, reference, &beam, distance, &mut tried);
        match best {
            Some(best) if tried < TRIES && best.gain > 0 => {
                story = shifted(&story, best.from, best.length, best.to);
                moves += 1;
            }
            _ => return moves + distance,
        }
    }
}

/// A move, and how much smaller it makes the edit distance.
struct Move {
    gain: i64,
    length: usize,
    from: usize,
    to: usize,
}

impl Move {
    /// Prefers the larger gain, then the longer run, then the earlier one, then the earlier place.
    fn beats(&self, other: &Self) -> bool {
        let key = |m: &Self| (m.gain, m.length, std::cmp::Reverse(m.from), std::cmp::Reverse(m.to));
        key(self) > key(other)
    }
}

/// Where the words of the reference stand in the story, and which words of both texts are in error.
struct Alignment {
    /// For each word of the reference, the word of the story that stands beside it or before it. It
    /// is -1 before the first word.
    place: Vec<i64>,
    reference_wrong: Vec<bool>,
    story_wrong: Vec<bool>,
}

impl Alignment {
    fn new(edits_backwards: &[Edit]) -> Self {
        let mut alignment =
            Self { place: Vec::new(), reference_wrong: Vec::new(), story_wrong: Vec::new() };
        for edit in edits_backwards.iter().rev() {
            let wrong = *edit != Edit::Keep;
            if *edit != Edit::Insert {
                alignment.story_wrong.push(wrong);
            }
            if *edit != Edit::Delete {
                alignment.place.push(alignment.story_wrong.len() as i64 - 1);
                alignment.reference_wrong.push(wrong);
            }
        }
        alignment
    }
}

fn best_move(
    story: &[u32],
    reference: &[u32],
    beam: &Beam<'_>,
    distance: u32,
    tried: &mut usize,
) -> Option<Move> {
    let alignment = Alignment::new(&beam.edits_backwards(story));
    let mut best: Option<Move> = None;
    for (from, at, length) in common_runs(story, reference) {
        // A run is moved only if it is in error in the story, and if the story is in error where
        // the reference has the run.
        let wrong = |errors: &[bool], start: usize| errors[start..start + length].contains(&true);
        if !wrong(&alignment.story_wrong, from) || !wrong(&alignment.reference_wrong, at) {
            continue;
        }
        // A run is not moved into itself.
        let inside = from as i64..(from + length) as i64;
        if inside.contains(&alignment.place[at]) {
            continue;
        }
        let mut previous = None;
        for target in at..=at + length {
            // The run goes before the word of the reference at `target`, which is after the word of
            // the story beside the one before it.
            let to = match target.checked_sub(1) {
                None => 0,
                Some(before) => match alignment.place.get(before) {
                    Some(place) => (place + 1) as usize,
                    None => break,
                },
            };
            if previous.replace(to) == Some(to) {
                continue;
            }
            let words = shifted(story, from, length, to);
            let gain = i64::from(distance) - i64::from(beam.distance_from(&words, from.min(to)));
            *tried += 1;
            let candidate = Move { gain, length, from, to };
            if best.as_ref().is_none_or(|best| candidate.beats(best)) {
                best = Some(candidate);
            }
        }
        if *tried >= TRIES {
            break;
        }
    }
    best
}

/// The runs of words that both texts have, as (place in the story, place in the reference, length).
/// Each run comes in all its lengths.
fn common_runs<'a>(
    story: &'a [u32],
    reference: &'a [u32],
) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
    (0..story.len()).flat_map(move |from| {
        let near = from.saturating_sub(FARTHEST)..reference.len().min(from + FARTHEST + 1);
        near.flat_map(move |at| {
            let pairs = story[from..].iter().zip(&reference[at..]).take(LONGEST);
            let longest = pairs.take_while(|(a, b)| a == b).count();
            (1..=longest).map(move |length| (from, at, length))
        })
    })
}

/// The words after a run was moved to another place.
fn shifted(words: &[u32], from: usize, length: usize, to: usize) -> Vec<u32> {
    let run = &words[from..from + length];
    if to < from {
        [&words[..to], run, &words[to..from], &words[from + length..]].concat()
    } else {
        // A place after the run is meant before the run is taken out. A place inside the run counts
        // from its end.
        let end = if to > from + length { to } else { (length + to).min(words.len()) };
        [&words[..from], &words[from + length..end], run, &words[end..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_the_wrong_place_is_one_edit() {
        assert_eq!(translation_edits(vec![4, 5, 1, 2, 3], &[1, 2, 3, 4, 5]), 1);
        assert_eq!(translation_edits(vec![1, 2, 3], &[1, 2, 3]), 0);
        assert_eq!(translation_edits(vec![], &[1, 2, 3]), 3);
        assert_eq!(translation_edits(vec![1, 2], &[]), 2);
    }

    #[test]
    fn a_move_within_the_run_goes_past_what_follows() {
        assert_eq!(shifted(&[1, 2, 3, 4, 5], 0, 2, 1), [3, 1, 2, 4, 5]);
        assert_eq!(shifted(&[1, 2, 3, 4, 5], 3, 1, 0), [4, 1, 2, 3, 5]);
        assert_eq!(shifted(&[1, 2, 3, 4, 5], 0, 1, 4), [2, 3, 4, 1, 5]);
    }
}
