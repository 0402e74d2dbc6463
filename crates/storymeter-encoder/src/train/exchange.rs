//! Several devices that train one network together. Each takes a part of every batch, and before
//! every step of the optimiser their gradients are summed, so that all devices take the same step.

use super::backend::Backend;
use crate::Result;
use std::ops::Range;

/// The number of a device among those that train together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// Its number, counted from 0.
    pub number: usize,
    /// How many devices there are.
    pub of: usize,
}

impl Rank {
    /// A device that trains alone.
    pub const ALONE: Rank = Rank { number: 0, of: 1 };

    /// The part of a batch of `count` stories that this rank takes. The parts follow each other and
    /// differ by at most one story.
    pub fn part(self, count: usize) -> Range<usize> {
        count * self.number / self.of..count * (self.number + 1) / self.of
    }
}

/// How ranks sum up what each of them has. All ranks ask for the same sums in the same order, each
/// waits for the others, and all get the same bits.
pub trait Exchange<B: Backend> {
    /// The rank of this device.
    fn rank(&self) -> Rank;

    /// Replaces the gradients of all `tensors` tensors by their sums over the ranks.
    ///
    /// # Errors
    /// Returns an error if the device or the connection between the ranks fails.
    fn sum_gradients(&self, backend: &B, store: &mut B::Store, tensors: usize) -> Result<()>;

    /// Replaces a few numbers by their sums over the ranks.
    ///
    /// # Errors
    /// Returns an error if the device or the connection between the ranks fails.
    fn sum(&self, backend: &B, numbers: &mut [f64]) -> Result<()>;
}

/// A single device, which has every sum already.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl<B: Backend> Exchange<B> for Alone {
    fn rank(&self) -> Rank {
        Rank::ALONE
    }

    fn sum_gradients(&self, _: &B, _: &mut B::Store, _: usize) -> Result<()> {
        Ok(())
    }

    fn sum(&self, _: &B, _: &mut [f64]) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Rank;

    #[test]
    fn the_parts_of_a_batch_are_all_of_it_in_order_and_alike_in_size() {
        for of in 1..=8 {
            for count in [0, 1, 2, 7, 64, 101] {
                let parts: Vec<_> = (0..of).map(|number| Rank { number, of }.part(count)).collect();
                assert!(parts.iter().cloned().flatten().eq(0..count), "{count} over {of}");
                let sizes = parts.iter().map(ExactSizeIterator::len);
                assert!(
                    sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1,
                    "{count} over {of}"
                );
            }
        }
    }
}
