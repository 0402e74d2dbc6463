//! Which words of a text are hidden, and what stands before them. Everything here counts pieces of
//! words and knows nothing of models.

use std::ops::Range;

/// The fewest characters of a word that is one piece.
const SHORTEST_WORD: usize = 4;
/// The fewest characters of the first piece of a longer word. The pieces after it are never
/// hidden.
const SHORTEST_FIRST_PIECE: usize = 2;
/// Every second piece is hidden at a time.
const GAP: usize = 2;
/// A sentence that does not fit beside the helping text is cut, but not to fewer pieces than this.
const SHORTEST_CUT_SENTENCE: usize = 100;
/// The special tokens at the start and at the end.
pub(super) const SPECIAL: usize = 2;

/// The pieces of a text that a masked-word model learns from at once, and the distance between the
/// starts of two such chunks.
const CHUNK: usize = 64;
const STRIDE: usize = 32;

/// Which pieces of a sentence can be hidden.
fn eligible(pieces: &[&str]) -> Vec<bool> {
    let continues = |piece: &&str| piece.starts_with("##");
    let is_eligible = |(place, piece): (usize, &&str)| {
        let shortest = match pieces.get(place + 1) {
            Some(next) if continues(next) => SHORTEST_FIRST_PIECE,
            _ => SHORTEST_WORD,
        };
        !continues(piece) && piece.chars().count() >= shortest
    };
    pieces.iter().enumerate().map(is_eligible).collect()
}

/// The places of the hidden pieces in each masked copy of a sentence.
///
/// Each eligible piece is hidden in exactly one copy. A copy in which nothing would be hidden is
/// left out.
pub(super) fn maskings(pieces: &[&str]) -> Vec<Vec<usize>> {
    let (eligible, gap) = (eligible(pieces), GAP.min(pieces.len()));
    (0..gap)
        .map(|first| (first..pieces.len()).step_by(gap).filter(|&at| eligible[at]).collect())
        .filter(|places: &Vec<usize>| !places.is_empty())
        .collect()
}

/// The parts of a text of `pieces` pieces that a model learns from, in order.
///
/// Chunks overlap by half, so that all but the first pieces are learnt twice. The first ones
/// therefore get a chunk of their own.
pub(super) fn chunks(pieces: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    for start in (0..pieces).step_by(STRIDE) {
        chunks.push(start..pieces.min(start + CHUNK));
        if (1..CHUNK).contains(&start) {
            chunks.push(0..start);
        }
    }
    chunks
}

/// How much of a sentence and of the helping text before it fits into `longest` tokens: the number
/// of pieces of the sentence that are kept, and the pieces of the helping text.
///
/// `help` has the number of pieces of each sentence of the helping text. The sentence is cut first,
/// from its end. Then the helping text loses whole sentences from its end. If not even its first
/// sentence fits, the last pieces of that sentence are kept.
pub(super) fn fit(sentence: usize, help: &[usize], longest: usize) -> (usize, Range<usize>) {
    let room = longest.saturating_sub(SPECIAL);
    let whole: usize = help.iter().sum();
    let excess = (sentence + whole).saturating_sub(room);
    let allowed = sentence.saturating_sub(SHORTEST_CUT_SENTENCE.min(room));
    let sentence = sentence - excess.min(allowed);
    if sentence + whole <= room {
        return (sentence, 0..whole);
    }
    let room = room - sentence;
    let mut kept = 0;
    for &pieces in help {
        if kept + pieces > room {
            break;
        }
        kept += pieces;
    }
    match help.first() {
        Some(&first) if first > room => (sentence, first - room..first),
        _ => (sentence, 0..kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of the texts of the golden numbers, sentence by sentence.
    const A: [&str; 3] = [
        "the old lighthouse keeper climbed the stairs every night .",
        "one stormy evening the lamp went dark , and he lit a small candle instead .",
        "a lost ship saw the tiny flame and found its way home .",
    ];
    const Q: &str = "write about a lighthouse keeper who saves a ship in a storm .";

    fn pieces(sentence: &str) -> Vec<&str> {
        sentence.split(' ').collect()
    }

    fn hidden(sentence: &str) -> Vec<Vec<&str>> {
        let pieces = pieces(sentence);
        let words = |places: &Vec<usize>| places.iter().map(|&at| pieces[at]).collect();
        maskings(&pieces).iter().map(words).collect()
    }

    #[test]
    fn every_second_word_of_four_letters_is_hidden_at_a_time() {
        assert_eq!(
            hidden(A[0]),
            [vec!["lighthouse", "climbed", "stairs", "night"], vec!["keeper", "every"]]
        );
        let eligible = |text: &str| hidden(text).concat().len();
        assert_eq!(A.iter().map(|sentence| eligible(sentence)).sum::<usize>(), 20);
        assert_eq!(eligible(Q), 7);
    }

    #[test]
    fn of_a_word_in_pieces_only_the_first_is_hidden() {
        assert_eq!(hidden("un ##believ ##ably dark"), [vec!["un"], vec!["dark"]]);
        // One letter is too short even for a first piece.
        assert_eq!(hidden("a ##bandon the hut"), Vec::<Vec<&str>>::new());
        assert_eq!(hidden("stairs"), [vec!["stairs"]]);
        assert_eq!(maskings(&[]), Vec::<Vec<usize>>::new());
        // Characters count, not bytes.
        assert_eq!(hidden("é ##té né"), Vec::<Vec<&str>>::new());
    }

    #[test]
    fn chunks_overlap_and_the_first_pieces_are_learnt_twice() {
        assert_eq!(chunks(39), [0..39, 32..39, 0..32]);
        assert_eq!(chunks(400).len(), 14);
        assert_eq!(chunks(400)[2..5], [0..32, 64..128, 96..160]);
        assert_eq!((chunks(32).len(), &chunks(32)[0]), (1, &(0..32)));
        assert_eq!(chunks(0), Vec::<Range<usize>>::new());
        for pieces in [1, 33, 64, 65, 200] {
            let mut seen = vec![0; pieces];
            chunks(pieces).into_iter().flatten().for_each(|at| seen[at] += 1);
            let twice = pieces.min(64);
            assert!(seen[..twice].iter().all(|&n| n == if pieces > 32 { 2 } else { 1 }));
        }
    }

    #[test]
    fn what_is_too_long_is_cut_in_a_fixed_order() {
        assert_eq!(fit(20, &[30, 40], 512), (20, 0..70));
        // The sentence loses its end, down to 100 pieces.
        assert_eq!(fit(300, &[300], 512), (210, 0..300));
        // Then the helping text loses whole sentences.
        assert_eq!(fit(300, &[200, 200, 200], 512), (100, 0..400));
        assert_eq!(fit(60, &[200, 200, 200], 512), (60, 0..400));
        // A first sentence that is too long keeps its end.
        assert_eq!(fit(60, &[600, 10], 512), (60, 150..600));
        assert_eq!(fit(600, &[], 512), (510, 0..0));
        assert_eq!(fit(0, &[], 512), (0, 0..0));
    }

    #[test]
    fn whatever_the_lengths_the_result_fits() {
        for longest in [3, 16, 64, 512] {
            for sentence in [0, 1, 50, 99, 100, 101, 509, 510, 511, 2000] {
                for help in [vec![], vec![0], vec![5], vec![0, 600], vec![505, 9], vec![70; 90]] {
                    let (kept, range) = fit(sentence, &help, longest);
                    let whole: usize = help.iter().sum();
                    assert!(kept <= sentence && range.end <= whole && range.start <= range.end);
                    assert!(
                        kept + range.len() + SPECIAL <= longest,
                        "{sentence} {help:?} {longest}"
                    );
                }
            }
        }
    }
}
