//! Turns queries and keys by the angles of their positions.

use super::{Isa, vectorised};

/// The cosines and sines of the angles of every position so far.
#[derive(Default)]
pub(crate) struct Angles {
    /// The angle of each pair of channels for one step.
    frequencies: Vec<f32>,
    /// For each position all cosines, then all sines.
    table: Vec<f32>,
}

impl Angles {
    pub(crate) fn new(frequencies: Vec<f32>) -> Angles {
        Angles { frequencies, table: Vec::new() }
    }

    /// Makes sure that the first `positions` positions are there.
    pub(crate) fn fit(&mut self, positions: usize) {
        let width = 2 * self.frequencies.len();
        if width == 0 {
            return;
        }
        for position in self.table.len() / width..positions {
            let angles = self.frequencies.iter().map(|frequency| position as f32 * frequency);
            self.table.extend(angles.clone().map(f32::cos));
            self.table.extend(angles.map(f32::sin));
        }
    }

    /// For each position that is there, all cosines and then all sines.
    #[cfg(feature = "train")]
    pub(crate) fn table(&self) -> &[f32] {
        &self.table
    }

    /// Turns all heads of a row, which stands at `position`. Without angles, nothing happens.
    pub(crate) fn turn(&self, isa: Isa, heads: &mut [f32], position: usize) {
        let width = 2 * self.frequencies.len();
        if width > 0 {
            turn_heads(isa, heads, &self.table[position * width..][..width]);
        }
    }
}

vectorised! {
    /// Turns the pair of channels `i` and `i + width / 2` of every head, as Hugging Face's Llama
    /// pairs them.
    pub(crate) fn turn_heads(heads: &mut [f32], angles: &[f32]) {
        let (cosines, sines) = angles.split_at(angles.len() / 2);
        for head in heads.chunks_exact_mut(angles.len()) {
            let (first, second) = head.split_at_mut(cosines.len());
            let pairs = first.iter_mut().zip(second);
            for ((x, y), (cos, sin)) in pairs.zip(cosines.iter().zip(sines)) {
                (*x, *y) = (*x * cos - *y * sin, *y * cos + *x * sin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_pair_keeps_its_length_and_gets_its_angle() {
        let mut angles = Angles::new(vec![0.5, 0.1]);
        angles.fit(8);
        let mut head = [3.0, 0.0, 0.0, 2.0];
        angles.turn(Isa::detect(), &mut head, 7);
        let expected =
            [3.0 * 3.5f32.cos(), -2.0 * 0.7f32.sin(), 3.0 * 3.5f32.sin(), 2.0 * 0.7f32.cos()];
        for (got, expected) in head.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "{head:?}");
        }
    }
}
