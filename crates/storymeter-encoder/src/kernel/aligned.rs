//! Numbers that begin at a cache line.
//!
//! A packed right side is read in whole registers of 64 bytes. If it does not begin at a cache
//! line, each of these loads touches two lines, which on Intel's processors takes twice as long.

use std::ops::{Deref, DerefMut};

/// The bytes of a cache line and of a register of AVX-512.
const LINE: usize = 64;

/// Whether these numbers begin at a cache line.
pub(crate) fn is_aligned<T>(numbers: &[T]) -> bool {
    numbers.as_ptr().addr().is_multiple_of(LINE)
}

/// Numbers of which the first is at the beginning of a cache line.
#[derive(Default)]
pub(crate) struct Aligned<T> {
    /// A few numbers more than are needed, because the allocator aligns them less. They are never
    /// moved after `start` was found.
    room: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Zeros.
    pub(crate) fn zeros(len: usize) -> Aligned<T> {
        let room = vec![T::default(); len + LINE / size_of::<T>()];
        let start = room.as_ptr().align_offset(LINE);
        Aligned { room, start, len }
    }
}

/// A buffer that is kept and used again.
pub(crate) trait ReusedBuffer {
    /// What it holds.
    type Item;

    /// Makes it at least `len` long, and returns that part of it. What it held may be lost where it
    /// grows.
    fn room(&mut self, len: usize) -> &mut [Self::Item];
}

impl<T: Copy + Default> ReusedBuffer for Vec<T> {
    type Item = T;

    fn room(&mut self, len: usize) -> &mut [T] {
        if self.len() < len {
            self.resize(len, T::default());
        }
        &mut self[..len]
    }
}

impl<T: Copy + Default> ReusedBuffer for Aligned<T> {
    type Item = T;

    fn room(&mut self, len: usize) -> &mut [T] {
        if self.len < len {
            *self = Aligned::zeros(len);
        }
        &mut self[..len]
    }
}

impl<T: Copy + Default> From<&[T]> for Aligned<T> {
    fn from(numbers: &[T]) -> Aligned<T> {
        let mut aligned = Aligned::zeros(numbers.len());
        aligned.copy_from_slice(numbers);
        aligned
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.room[self.start..][..self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.room[self.start..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_a_cache_line_however_often_they_grow() {
        let mut bytes = Aligned::<i8>::default();
        for len in [1, 63, 64, 1000, 1, 100_000] {
            assert!(is_aligned(bytes.room(len)) && bytes.room(len).len() == len);
        }
        let numbers = Aligned::from([1.0f32, 2.0, 3.0].as_slice());
        assert!(is_aligned(&numbers));
        assert_eq!(&*numbers, [1.0, 2.0, 3.0]);
        assert!(!is_aligned(&numbers[1..]));
    }
}
