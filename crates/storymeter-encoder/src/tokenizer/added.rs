//! Finds the texts that are one token wherever they occur, such as `[MASK]`, before anything else
//! looks at a text.
//!
//! All of them are searched for at once by one automaton (Aho and Corasick 1975), so the time does
//! not grow with their number and is linear in the length of the text.

/// The texts that are one token each, and the automaton that finds them.
#[derive(Clone, Debug)]
pub(super) struct AddedTokens {
    tokens: Vec<(String, u32)>,
    states: Vec<State>,
    /// The state after each possible byte at the root; most bytes stay there.
    root: Box<[u32; 256]>,
}

/// One token found in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) id: u32,
}

/// One prefix of the tokens.
#[derive(Clone, Debug, Default)]
struct State {
    /// The states that are one byte longer, in the order of their bytes.
    longer: Vec<(u8, u32)>,
    /// The state of the longest proper suffix that may still become the leftmost match.
    shorter: u32,
    /// The token that ends here: the leftmost one, as its length and its id.
    ends: Option<(usize, u32)>,
}

const ROOT: u32 = 0;

/// Stands for "nothing further left or longer can match": the match found so far is the answer.
const DONE: u32 = u32::MAX;

impl AddedTokens {
    /// Takes the texts and their ids. Empty texts are left out. Of two ids for one text, the first
    /// counts.
    pub(super) fn new(mut tokens: Vec<(String, u32)>) -> Self {
        tokens.retain(|(text, _)| !text.is_empty());
        let mut added =
            Self { tokens, states: vec![State::default()], root: Box::new([ROOT; 256]) };
        for number in 0..added.tokens.len() {
            added.insert(number);
        }
        added.link();
        for &(byte, state) in &added.states[ROOT as usize].longer {
            added.root[usize::from(byte)] = state;
        }
        added
    }

    /// The same tokens with one more, or with another id for one of them.
    pub(super) fn with(&self, text: &str, id: u32) -> Self {
        let mut tokens = self.tokens.clone();
        tokens.retain(|(known, _)| known != text);
        tokens.push((text.to_owned(), id));
        Self::new(tokens)
    }

    /// The leftmost token that begins at or after `from`; the longest, where several begin there.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<Found> {
        let bytes = text.as_bytes();
        let mut state = ROOT;
        let mut found = None;
        let mut at = from;
        while at < bytes.len() {
            if state == ROOT {
                // Ordinary text goes by here, one table entry per byte.
                let begin = |byte: &u8| self.root[usize::from(*byte)] != ROOT;
                let Some(ordinary) = bytes[at..].iter().position(begin) else { break };
                at += ordinary;
            }
            state = self.next(state, bytes[at]);
            at += 1;
            if state == DONE {
                break;
            }
            if let Some((length, id)) = self.states[state as usize].ends {
                found = Some(Found { start: at - length, end: at, id });
            }
        }
        found
    }

    fn next(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            if state == ROOT {
                return self.root[usize::from(byte)];
            }
            if state == DONE {
                return DONE;
            }
            match self.longer(state, byte) {
                Some(longer) => return longer,
                None => state = self.states[state as usize].shorter,
            }
        }
    }

    fn longer(&self, state: u32, byte: u8) -> Option<u32> {
        let longer = &self.states[state as usize].longer;
        longer.binary_search_by_key(&byte, |(known, _)| *known).ok().map(|at| longer[at].1)
    }

    /// Adds the states of one token's prefixes.
    fn insert(&mut self, number: usize) {
        let (text, id) = &self.tokens[number];
        let (length, id) = (text.len(), *id);
        let mut state = ROOT as usize;
        for &byte in text.as_bytes() {
            let new = self.states.len() as u32;
            let longer = &mut self.states[state].longer;
            let next = match longer.binary_search_by_key(&byte, |(known, _)| *known) {
                Ok(at) => longer[at].1,
                Err(at) => {
                    longer.insert(at, (byte, new));
                    self.states.push(State::default());
                    new
                }
            };
            state = next as usize;
        }
        self.states[state].ends.get_or_insert((length, id));
    }

    /// Says for every state which suffix to go on with where no longer prefix fits.
    ///
    /// Once a token has been read, only a longer token with the same beginning may replace it, so
    /// its state has no suffix to go on with, and neither have the states beyond it.
    fn link(&mut self) {
        // Shorter prefixes come first: a state's suffix is known before the states beyond it are
        // met.
        let mut queue: Vec<u32> = vec![ROOT];
        let mut at = 0;
        while let Some(&state) = queue.get(at) {
            at += 1;
            for (byte, child) in self.states[state as usize].longer.clone() {
                let shorter = if self.states[child as usize].ends.is_some() {
                    DONE
                } else if state == ROOT {
                    ROOT
                } else {
                    self.suffix_of(state, byte)
                };
                self.states[child as usize].shorter = shorter;
                if shorter != DONE {
                    // A token that ends at the same byte and began later.
                    self.states[child as usize].ends = self.states[shorter as usize].ends;
                }
                queue.push(child);
            }
        }
    }

    /// The state of the longest proper suffix of `state` that goes on with `byte`.
    fn suffix_of(&self, state: u32, byte: u8) -> u32 {
        let mut suffix = self.states[state as usize].shorter;
        loop {
            if suffix == DONE {
                return DONE;
            }
            if let Some(longer) = self.longer(suffix, byte) {
                return longer;
            }
            if suffix == ROOT {
                return ROOT;
            }
            suffix = self.states[suffix as usize].shorter;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One search per token, and the best of what they find.
    fn find_one_by_one(tokens: &[(String, u32)], text: &str, from: usize) -> Option<Found> {
        let found =
            tokens.iter().filter(|(token, _)| !token.is_empty()).filter_map(|(token, id)| {
                let start = from + text[from..].find(token.as_str())?;
                Some(Found { start, end: start + token.len(), id: *id })
            });
        found.min_by_key(|found| (found.start, usize::MAX - found.end))
    }

    fn added(tokens: &[&str]) -> AddedTokens {
        let numbered = tokens.iter().zip(0..).map(|(text, id)| ((*text).to_owned(), id));
        AddedTokens::new(numbered.collect())
    }

    fn all(tokens: &AddedTokens, text: &str) -> Vec<(usize, u32)> {
        let mut from = 0;
        std::iter::from_fn(|| {
            let found = tokens.find(text, from)?;
            from = found.end;
            Some((found.start, found.id))
        })
        .collect()
    }

    #[test]
    fn the_leftmost_token_wins_and_then_the_longest() {
        assert_eq!(all(&added(&["bc", "abcd", "b"]), "abcabcd"), [(1, 0), (3, 1)]);
        assert_eq!(all(&added(&["a", "ab", "abcd"]), "abcabcd"), [(0, 1), (3, 2)]);
        assert_eq!(all(&added(&["abcde", "bc", "cdf"]), "abcdf"), [(1, 1)]);
        assert_eq!(all(&added(&["[MASK]", "[[MASK]]"]), "[[MASK] [[MASK]]"), [(1, 0), (8, 1)]);
    }

    #[test]
    fn the_first_id_of_a_text_counts_and_a_later_one_can_replace_it() {
        let twice = AddedTokens::new(vec![("a".into(), 7), (String::new(), 1), ("a".into(), 8)]);
        assert_eq!(twice.find("ba", 0), Some(Found { start: 1, end: 2, id: 7 }));
        let replaced = twice.with("a", 9).with("b", 3);
        assert_eq!(all(&replaced, "bab"), [(0, 3), (1, 9), (2, 3)]);
    }

    #[test]
    fn without_tokens_nothing_is_found() {
        assert_eq!(AddedTokens::new(Vec::new()).find("text", 0), None);
        assert_eq!(added(&["é"]).find("", 0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_automaton_finds_what_a_search_for_each_token_finds(
            tokens in prop::collection::vec("[abé]{0,5}", 0..8),
            text in "[abcé]{0,40}",
        ) {
            let numbered: Vec<(String, u32)> = tokens.into_iter().zip(0..).collect();
            let added = AddedTokens::new(numbered.clone());
            for (from, _) in text.char_indices() {
                let expected = find_one_by_one(&numbered, &text, from);
                prop_assert_eq!(added.find(&text, from), expected);
            }
        }
    }
}
