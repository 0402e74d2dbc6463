//! The edit distance in a beam around the diagonal.

/// Half the width of the beam, in words of the reference.
const WIDTH: usize = 25;

/// The cost outside the beam. It is small enough that adding one to it does not overflow.
const FAR: u32 = u32::MAX / 2;

/// What happens to a word on the way from the story to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    Keep,
    Replace,
    /// A word of the story is removed.
    Delete,
    /// A word of the reference is added.
    Insert,
}

/// The costs of one row of the matrix, inside the beam.
#[derive(Debug, Clone, Default)]
struct Row {
    from: usize,
    costs: Vec<u32>,
}

impl Row {
    fn get(&self, column: usize) -> u32 {
        column.checked_sub(self.from).and_then(|at| self.costs.get(at)).copied().unwrap_or(FAR)
    }
}

/// Edit distances from stories of one length to a reference. The rows of one story are kept, so
/// that others with the same beginning can start from them.
pub(super) struct Beam<'a> {
    reference: &'a [u32],
    /// The length of the stories.
    length: usize,
    width: usize,
    rows: Vec<Row>,
}

impl<'a> Beam<'a> {
    pub(super) fn new(reference: &'a [u32], length: usize) -> Self {
        // If the lengths differ so much that neighbouring rows would not meet, the beam is wider.
        let steps = Self::ratio(reference.len(), length) / 2.0;
        let width =
            if (WIDTH as f64) < steps { (steps + WIDTH as f64).ceil() as usize } else { WIDTH };
        let first = Row { from: 0, costs: (0..=reference.len() as u32).collect() };
        Self { reference, length, width, rows: vec![first] }
    }

    fn ratio(reference: usize, length: usize) -> f64 {
        if length == 0 { 1.0 } else { reference as f64 / length as f64 }
    }

    /// The distance of a story. Its rows are kept from now on.
    pub(super) fn distance_keeping_rows(&mut self, story: &[u32]) -> u32 {
        self.rows.truncate(1);
        for at in 1..=story.len() {
            let mut row = Row::default();
            self.fill(at, story[at - 1], &self.rows[at - 1], &mut row);
            self.rows.push(row);
        }
        self.rows[story.len()].get(self.reference.len())
    }

    /// The distance of a story that has its first `same` words in common with the one whose rows
    /// are kept.
    pub(super) fn distance_from(&self, story: &[u32], same: usize) -> u32 {
        let (mut above, mut row) = (Row::default(), Row::default());
        for at in same + 1..=story.len() {
            let previous = if at == same + 1 { &self.rows[same] } else { &above };
            self.fill(at, story[at - 1], previous, &mut row);
            std::mem::swap(&mut above, &mut row);
        }
        if same < story.len() {
            above.get(self.reference.len())
        } else {
            self.rows[same].get(self.reference.len())
        }
    }

    /// The edits of the story whose rows are kept, from its end to its beginning.
    pub(super) fn edits_backwards(&self, story: &[u32]) -> Vec<Edit> {
        let (mut i, mut j) = (self.length, self.reference.len());
        let mut edits = Vec::with_capacity(i + j);
        while i > 0 || j > 0 {
            let edit =
                if i == 0 { Edit::Insert } else { self.choice(self.rows[i].get(j), i, j, story) };
            edits.push(edit);
            i -= usize::from(edit != Edit::Insert);
            j -= usize::from(edit != Edit::Delete);
        }
        edits
    }

    /// The edit that led to a cost. If several did, keeping or replacing comes before deleting, and
    /// deleting before inserting.
    fn choice(&self, cost: u32, i: usize, j: usize, story: &[u32]) -> Edit {
        if j > 0 {
            let same = story[i - 1] == self.reference[j - 1];
            if self.rows[i - 1].get(j - 1) + u32::from(!same) == cost {
                return if same { Edit::Keep } else { Edit::Replace };
            }
        }
        if self.rows[i - 1].get(j) + 1 == cost { Edit::Delete } else { Edit::Insert }
    }

    /// Computes a row from the one above it.
    fn fill(&self, at: usize, word: u32, above: &Row, row: &mut Row) {
        let columns = self.reference.len() + 1;
        let diagonal =
            (at as f64 * Self::ratio(self.reference.len(), self.length)).floor() as usize;
        let from = diagonal.saturating_sub(self.width);
        let to = if at == self.length { columns } else { columns.min(diagonal + self.width) };
        row.from = from;
        row.costs.clear();
        let mut left = FAR;
        let mut corner = from.checked_sub(1).map_or(FAR, |column| above.get(column));
        for column in from..to {
            let up = above.get(column);
            let mut cost = up + 1;
            if column > 0 {
                let replace = corner + u32::from(self.reference[column - 1] != word);
                cost = cost.min(replace).min(left + 1);
            }
            row.costs.push(cost.min(FAR));
            (left, corner) = (cost.min(FAR), up);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_short_texts_is_levenshteins() {
        let reference = [1, 2, 3, 4];
        let mut beam = Beam::new(&reference, 3);
        assert_eq!(beam.distance_keeping_rows(&[1, 9, 3]), 2);
        let mut edits = beam.edits_backwards(&[1, 9, 3]);
        edits.reverse();
        assert_eq!(edits, [Edit::Keep, Edit::Replace, Edit::Keep, Edit::Insert]);
        assert_eq!(beam.distance_from(&[1, 2, 3], 1), 1);
    }

    #[test]
    fn an_empty_story_needs_every_word() {
        assert_eq!(Beam::new(&[1, 2], 0).distance_keeping_rows(&[]), 2);
    }
}
