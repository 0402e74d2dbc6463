//! The choice of matches: each word at most once, as many as possible, in as few runs as possible.
//!
//! METEOR 1.5 goes through the reference from left to right and keeps the 40 best partial
//! alignments. They are ranked by more matched words, then by fewer chunks, then by smaller
//! distances between the matched places. Two peculiarities of the program change its results and
//! are kept here. A match that is not exact counts half a word, rounded down when it is added. And
//! the distance of a match is also added to the alignment without it, so that later matches of the
//! same place inherit it.

use std::cmp::Reverse;
use std::rc::Rc;

use super::stages::{EXACT, Match, Matches};

/// The number of partial alignments that are kept.
const BEAM: usize = 40;

/// Chooses among the matches. They are returned by their place in the reference.
pub(crate) fn align(matches: &Matches) -> Vec<Match> {
    let fixed = Fixed::new(matches);
    let mut paths = Paths::start(&fixed);
    for (place, found) in matches.at.iter().enumerate() {
        let mut beam = Beam::default();
        for parent in 0..paths.shapes.len() {
            paths.step(parent, place as u32, &fixed, found, &mut beam);
        }
        if beam.0.is_empty() {
            // No path can go on. The best one is kept as it is.
            beam.offer(paths.shapes[0], 0, None);
        }
        paths.advance(&beam);
    }
    let ranked = paths.shapes.iter().enumerate().min_by_key(|(_, shape)| shape.closed().rank());
    ranked.map(|(best, _)| paths.matches(best, &fixed)).unwrap_or_default()
}

/// The matches that compete with no other. They are part of every alignment.
struct Fixed {
    at: Vec<Option<Match>>,
    reference_used: Vec<bool>,
    story_used: Vec<u64>,
}

impl Fixed {
    fn new(matches: &Matches) -> Self {
        let mut fixed = Self {
            at: vec![None; matches.at.len()],
            reference_used: vec![false; matches.at.len()],
            story_used: vec![0; matches.story_cover.len().div_ceil(64)],
        };
        let alone = |cover: &[u32]| cover.iter().all(|&count| count == 1);
        for (place, found) in matches.at.iter().enumerate() {
            let &[only] = found.as_slice() else { continue };
            let (reference, story) = (only.reference_places(), only.story_places());
            if alone(&matches.reference_cover[reference.clone()])
                && alone(&matches.story_cover[story])
            {
                fixed.at[place] = Some(only);
                fixed.reference_used[reference].fill(true);
                mark(&mut fixed.story_used, &only);
            }
        }
        fixed
    }
}

/// Marks the words of a match in the story as used.
fn mark(used: &mut [u64], found: &Match) {
    found.story_places().for_each(|at| used[at / 64] |= 1 << (at % 64));
}

/// What a partial alignment is ranked and extended by.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    /// The matched words of both texts. Those of later stages count half.
    matched: u32,
    chunks: u32,
    distance: u64,
    /// The next place of the reference that is free.
    next: u32,
    /// Where the last match ended in the story, if it was at the place just before this one.
    run_end: Option<u32>,
}

impl Shape {
    /// Smaller is better.
    fn rank(&self) -> (Reverse<u32>, u32, u64) {
        (Reverse(self.matched), self.chunks, self.distance)
    }

    fn with(mut self, found: &Match) -> Self {
        let words = |length: u32| if found.stage == EXACT { length } else { length / 2 };
        self.matched += words(found.story_length) + words(found.length);
        self.chunks += u32::from(self.run_end.is_some_and(|end| end != found.story_start));
        self.next = found.start + found.length;
        self.run_end = Some(found.story_start + found.story_length);
        self
    }

    /// The same alignment after its current run has ended.
    fn closed(mut self) -> Self {
        self.chunks += u32::from(self.run_end.take().is_some());
        self
    }
}

fn distance(found: &Match) -> u64 {
    u64::from(found.start.abs_diff(found.story_start))
}

/// The partial alignments up to a place, best first.
struct Paths {
    shapes: Vec<Shape>,
    chosen: Vec<Option<Rc<Link>>>,
    /// One bit per path and word of the story, set where the word is used, and room for those of
    /// the next place.
    story_used: Vec<u64>,
    spare: Vec<u64>,
    blocks: usize,
}

/// The matches of a path, the last one first. Paths share what they have in common.
struct Link {
    found: Match,
    before: Option<Rc<Link>>,
}

impl Drop for Link {
    /// Drops one link after the other. Recursion along the chain of a long text would overflow the
    /// stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.before.take();
        }
    }
}

impl Paths {
    fn start(fixed: &Fixed) -> Self {
        Self {
            shapes: vec![Shape::default()],
            chosen: vec![None],
            story_used: fixed.story_used.clone(),
            spare: Vec::new(),
            blocks: fixed.story_used.len(),
        }
    }

    fn uses(&self, path: usize, found: &Match) -> bool {
        let used = &self.story_used[path * self.blocks..(path + 1) * self.blocks];
        found.story_places().any(|at| used[at / 64] >> (at % 64) & 1 == 1)
    }

    /// Offers all ways in which a path can go on at a place of the reference.
    fn step(&mut self, path: usize, place: u32, fixed: &Fixed, found: &[Match], beam: &mut Beam) {
        let mut shape = self.shapes[path];
        if place < shape.next {
            // The place is inside a phrase that was matched before.
            beam.offer(shape, path, None);
        } else if fixed.reference_used[place as usize] {
            // A path that has fallen behind this place is lost here.
            if let Some(only) = &fixed.at[shape.next as usize] {
                shape = shape.with(only);
                shape.distance += distance(only);
                beam.offer(shape, path, None);
            }
        } else {
            for one in found {
                if fixed.reference_used[one.reference_places()].contains(&true)
                    || self.uses(path, one)
                {
                    continue;
                }
                beam.offer(shape.with(one), path, Some(*one));
                shape.distance += distance(one);
            }
            shape = shape.closed();
            shape.next += 1;
            beam.offer(shape, path, None);
        }
    }

    /// Makes paths of the offers.
    fn advance(&mut self, beam: &Beam) {
        self.spare.clear();
        let mut chosen = Vec::with_capacity(beam.0.len());
        for offer in &beam.0 {
            let start = self.spare.len();
            let parent = offer.path * self.blocks..(offer.path + 1) * self.blocks;
            self.spare.extend_from_slice(&self.story_used[parent]);
            let before = self.chosen[offer.path].clone();
            chosen.push(match offer.chosen {
                None => before,
                Some(found) => {
                    mark(&mut self.spare[start..], &found);
                    Some(Rc::new(Link { found, before }))
                }
            });
        }
        self.chosen = chosen;
        self.shapes.clear();
        self.shapes.extend(beam.0.iter().map(|offer| offer.shape));
        std::mem::swap(&mut self.story_used, &mut self.spare);
    }

    /// All matches of a path, by place in the reference.
    fn matches(&self, path: usize, fixed: &Fixed) -> Vec<Match> {
        let mut all: Vec<Match> = fixed.at.iter().flatten().copied().collect();
        let mut link = self.chosen[path].as_deref();
        while let Some(Link { found, before }) = link {
            all.push(*found);
            link = before.as_deref();
        }
        all.sort_unstable_by_key(|found| found.start);
        all
    }
}

/// The best offers, in order. Among equal ones the one that came first is better.
#[derive(Default)]
struct Beam(Vec<Offer>);

struct Offer {
    shape: Shape,
    path: usize,
    chosen: Option<Match>,
}

impl Beam {
    fn offer(&mut self, shape: Shape, path: usize, chosen: Option<Match>) {
        let rank = shape.rank();
        if self.0.len() == BEAM {
            if self.0[BEAM - 1].shape.rank() <= rank {
                return;
            }
            self.0.pop();
        }
        let at = self.0.partition_point(|offer| offer.shape.rank() <= rank);
        self.0.insert(at, Offer { shape, path, chosen });
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::TextCache;

    use super::*;
    use crate::meteor::tables::Tables;
    use crate::meteor::words::MeteorWords;

    fn places(story: &str, reference: &str) -> Vec<(u32, u32)> {
        let tables = Tables::built_in();
        let [story, reference] =
            [story, reference].map(|text| TextCache::new(text).view::<MeteorWords>());
        let (story, reference) =
            (story.resolve(&tables.abbreviations), reference.resolve(&tables.abbreviations));
        let matches = Matches::find(&story, &reference, &tables);
        align(&matches).iter().map(|found| (found.start, found.story_start)).collect()
    }

    #[test]
    fn the_longer_run_wins() {
        assert_eq!(places("the lamp the door", "the door"), [(0, 2), (1, 3)]);
    }

    #[test]
    fn each_word_is_used_once() {
        assert_eq!(places("lamp", "lamp lamp lamp").len(), 1);
        assert_eq!(places("lamp lamp lamp", "lamp lamp"), [(0, 0), (1, 1)]);
    }

    #[test]
    fn a_text_of_many_equal_words_is_aligned_without_deep_recursion() {
        let text = "lamp ".repeat(3_000);
        let other = format!("{}door", "lamp ".repeat(300));
        assert_eq!(places(&text, &other).len(), 300);
        assert_eq!(places(&other, &text).len(), 300);
    }
}
