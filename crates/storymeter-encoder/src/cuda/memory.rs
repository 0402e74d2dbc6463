//! Numbers in the GPU's memory: buffers from a pool, and copies between host and device.
//!
//! All lengths are checked on the host. A copy, or a part of a buffer, that does not fit is a
//! mistake in this crate or in a program that calls it, and panics before the GPU sees it.

use super::device::Device;
use super::driver::{Block, Context, Event, Pinned, Stream, driver_error};
use crate::Result;
use crate::error::DeviceError;
use cudarc::driver::result;
use std::any::TypeId;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

/// The bytes of one of the pinned blocks that copies to the device go through.
const STAGE: usize = 8 << 20;
/// The number of such blocks: the host may be this far ahead of the device.
const STAGES: usize = 8;

/// Numbers that may be copied between host and device byte by byte.
///
/// # Safety
/// Every pattern of bits must be a value of the type, and the type must have no padding.
#[expect(unsafe_code, reason = "the promise that copies from the GPU rest on")]
pub(super) unsafe trait Plain: Copy + Default + 'static {}

macro_rules! plain {
    ($($number:ty),+) => {$(
        // SAFETY: a primitive number (or a struct of one), for which every pattern of bits is
        // valid.
        #[expect(unsafe_code, reason = "a primitive number")]
        unsafe impl Plain for $number {}
    )+};
}
plain!(f32, f64, u32, u8, i8, half::f16, half::bf16);

/// Free blocks by their size.
pub(super) type Pool = BTreeMap<usize, Vec<Block>>;

/// Pinned memory that copies to the device are put into one after the other.
pub(super) struct Staging {
    blocks: Vec<(Pinned, Event)>,
    block: usize,
    used: usize,
}

impl Staging {
    pub(super) fn new(context: &Rc<Context>) -> Result<Staging> {
        let block = |_| Ok((Pinned::new(context, STAGE)?, Event::new(context)?));
        let blocks = (0..STAGES).map(block).collect::<Result<_>>()?;
        Ok(Staging { blocks, block: 0, used: 0 })
    }

    /// Where the next `bytes` bytes may be written, at most [`STAGE`]. Waits where the copy that
    /// read this memory before is still under way.
    fn room(&mut self, bytes: usize, stream: &Stream) -> Result<*mut u8, result::DriverError> {
        if self.used + bytes > STAGE {
            self.blocks[self.block].1.record(stream)?;
            self.block = (self.block + 1) % STAGES;
            self.used = 0;
            self.blocks[self.block].1.wait()?;
        }
        let room = self.blocks[self.block].0.at(self.used, bytes);
        self.used += bytes.next_multiple_of(256);
        Ok(room)
    }
}

/// Numbers in the GPU's memory. Their memory goes back to the pool when they are dropped.
pub(super) struct Buffer<N> {
    /// `None` where the device has failed.
    block: Option<Block>,
    len: usize,
    /// The bytes of the block.
    class: usize,
    device: Rc<Device>,
    kind: PhantomData<N>,
}

impl<N> Buffer<N> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of memory that the buffer occupies.
    pub(super) fn occupied(&self) -> usize {
        self.class
    }

    /// All numbers.
    pub(super) fn view(&self) -> View<'_, N> {
        let address = self.block.as_ref().map_or(0, Block::address);
        View { address, len: self.len, kind: PhantomData }
    }

    /// Some of the numbers.
    ///
    /// # Panics
    /// If they are not all in the buffer.
    pub(super) fn slice(&self, range: Range<usize>) -> View<'_, N> {
        self.view().slice(range)
    }

    /// The address of the first of `len` numbers.
    ///
    /// # Panics
    /// If the buffer has fewer.
    pub(super) fn first(&self, len: usize) -> u64 {
        self.view().first(len)
    }
}

impl<N> Drop for Buffer<N> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            // Work that still uses the block is in the stream before whatever will use it next.
            self.device.give_back(self.class, block);
        }
    }
}

/// A part of a buffer: an address, and how many numbers there are from it on.
///
/// The address is 0 where the device has failed; nothing is launched then.
pub(super) struct View<'a, N> {
    address: u64,
    len: usize,
    kind: PhantomData<&'a Buffer<N>>,
}

// A derive would ask for `N: Clone`.
impl<N> Clone for View<'_, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<N> Copy for View<'_, N> {}

impl<'a, N> View<'a, N> {
    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Some of the numbers.
    ///
    /// # Panics
    /// If they are not all in the view.
    pub(super) fn slice(self, range: Range<usize>) -> View<'a, N> {
        let Range { start, end } = range;
        assert!(
            start <= end && end <= self.len,
            "numbers {start} to {end} of {} in the GPU's memory",
            self.len
        );
        let address = self.address + (start * size_of::<N>()) as u64;
        View { address, len: end - start, kind: PhantomData }
    }

    /// The address of the first of `len` numbers.
    ///
    /// # Panics
    /// If the view has fewer.
    pub(super) fn first(self, len: usize) -> u64 {
        self.slice(0..len).address
    }

    /// The same numbers for code that is generic over their type.
    ///
    /// # Panics
    /// If `M` is not `N`.
    pub(super) fn same<M: 'static>(self) -> View<'a, M>
    where
        N: 'static,
    {
        assert_eq!(TypeId::of::<N>(), TypeId::of::<M>(), "numbers keep their type");
        View { address: self.address, len: self.len, kind: PhantomData }
    }
}

impl Device {
    /// Room for `len` numbers of unknown content. If there is no memory left the device fails, and
    /// the buffer has a length but no memory.
    pub(super) fn alloc<N>(self: &Rc<Self>, len: usize) -> Buffer<N> {
        let bytes = len.checked_mul(size_of::<N>()).expect("a length that memory can have");
        let class = size_class(bytes);
        let block = if self.failed() { None } else { self.take(class) };
        Buffer { block, len, class, device: Rc::clone(self), kind: PhantomData }
    }

    /// A buffer of zeros.
    pub(super) fn zeros<N: Plain>(self: &Rc<Self>, len: usize) -> Buffer<N> {
        let mut buffer = self.alloc(len);
        self.clear(&mut buffer);
        buffer
    }

    /// Sets all numbers of a buffer to zero.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn clear<N: Plain>(&self, buffer: &mut Buffer<N>) {
        if self.failed() || buffer.len == 0 {
            return;
        }
        let (address, bytes) = (buffer.first(buffer.len), buffer.len * size_of::<N>());
        // SAFETY: the buffer has this many bytes, and its memory is used again only by later work
        // on the same stream.
        let outcome = unsafe { result::memset_d8_async(address, 0, bytes, self.stream.raw()) };
        self.note("clearing memory of the GPU", outcome);
    }

    /// A buffer with these numbers. The host does not wait for the copy: it goes through pinned
    /// memory.
    pub(super) fn upload<N: Plain>(self: &Rc<Self>, numbers: &[N]) -> Buffer<N> {
        let mut buffer = self.alloc(numbers.len());
        self.write(&mut buffer, 0, numbers);
        buffer
    }

    /// Copies a buffer to another one.
    ///
    /// # Panics
    /// If their lengths differ.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn copy<N: Plain>(&self, from: &Buffer<N>, to: &mut Buffer<N>) {
        assert_eq!(from.len, to.len, "a copy needs two buffers of one length");
        if self.failed() || from.len == 0 {
            return;
        }
        let (source, target) = (from.first(from.len), to.first(to.len));
        let bytes = from.len * size_of::<N>();
        // SAFETY: both buffers have this many bytes, and they are two: one of them is borrowed
        // mutably.
        let outcome =
            unsafe { result::memcpy_dtod_async(target, source, bytes, self.stream.raw()) };
        self.note("a copy within the GPU", outcome);
    }

    /// Replaces the numbers of a buffer from number `at` on.
    ///
    /// # Panics
    /// If the buffer ends before the numbers do.
    pub(super) fn write<N: Plain>(&self, buffer: &mut Buffer<N>, at: usize, numbers: &[N]) {
        let target = buffer.slice(at..at + numbers.len());
        let each = STAGE / size_of::<N>();
        for (i, part) in numbers.chunks(each).enumerate() {
            if self.failed() {
                return;
            }
            let first = i * each;
            let outcome = self.write_part(target.slice(first..first + part.len()), part);
            self.note("a copy to the GPU", outcome);
        }
    }

    /// Starts to copy numbers that fit into one block of pinned memory.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn write_part<N: Plain>(&self, to: View<'_, N>, part: &[N]) -> Result<(), result::DriverError> {
        let bytes = size_of_val(part);
        let room = self.staging.borrow_mut().room(bytes, &self.stream)?;
        let address = to.first(part.len());
        // SAFETY: `room` has space for the bytes, and no copy reads it any more. `Plain` numbers
        // have no padding, so that all of their bytes are initialised.
        let staged = unsafe {
            std::ptr::copy_nonoverlapping(part.as_ptr().cast::<u8>(), room, bytes);
            std::slice::from_raw_parts(room.cast_const(), bytes)
        };
        // SAFETY: `address` has space for the bytes. `Staging` hands the pinned memory out again
        // only when the stream has passed the event that is recorded behind this copy, and the
        // device waits for the stream before it drops it.
        unsafe { result::memcpy_htod_async(address, staged, self.stream.raw()) }
    }

    /// Brings `len` numbers of a buffer, from number `at` on, to the host. Waits for all work.
    ///
    /// # Panics
    /// If the buffer ends before that.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn read<N: Plain>(
        &self,
        buffer: &Buffer<N>,
        at: usize,
        len: usize,
    ) -> Result<Vec<N>> {
        let address = buffer.slice(at..at + len).first(len);
        self.wait()?;
        let mut numbers = vec![N::default(); len];
        if len > 0 {
            // SAFETY: there are `len` numbers at the address, all work on them is done, and every
            // pattern of bits is a `Plain` number.
            let outcome = unsafe { result::memcpy_dtoh_sync(&mut numbers, address) };
            self.note("a copy from the GPU", outcome);
        }
        self.check()?;
        Ok(numbers)
    }

    /// A block of this size, from the pool or from the driver. Without one the device fails.
    fn take(&self, class: usize) -> Option<Block> {
        let pooled = self.pool.borrow_mut().get_mut(&class).and_then(Vec::pop);
        let block = pooled.map_or_else(|| self.new_block(class), Some);
        match &block {
            Some(_) => self.usage.taken(class),
            None => {
                let (gpu, total) = (self.name().to_owned(), self.total);
                self.fail(self.usage.out_of_memory(gpu, total, class));
            }
        }
        block
    }

    fn new_block(&self, class: usize) -> Option<Block> {
        Block::new(&self.context, class).ok().or_else(|| {
            // Perhaps free blocks of other sizes are in the way. Work that still uses them must end
            // before they are freed.
            if let Err(error) = self.stream.wait() {
                self.fail(driver_error("work on the GPU", error));
                return None;
            }
            self.pool.borrow_mut().clear();
            Block::new(&self.context, class).ok()
        })
    }

    fn give_back(&self, class: usize, block: Block) {
        self.usage.returned(class);
        self.pool.borrow_mut().entry(class).or_default().push(block);
    }
}

/// Counts the memory in use, for the message that is given when there is no more.
#[derive(Default)]
pub(super) struct Usage {
    /// The bytes that buffers occupy, and how many of these belong to buffers that stay.
    used: std::cell::Cell<usize>,
    fixed: std::cell::Cell<usize>,
    /// The tokens of the last batch, and the most bytes per token that a batch has needed so far.
    tokens: std::cell::Cell<usize>,
    token_bytes: std::cell::Cell<usize>,
}

impl Usage {
    /// A batch of so many tokens begins.
    pub(super) fn begin_batch(&self, tokens: usize) {
        self.tokens.set(tokens);
    }

    /// Counts a buffer as one that stays: weights and the like.
    pub(super) fn keep<N>(&self, buffer: &Buffer<N>) {
        self.fixed.set(self.fixed.get() + buffer.occupied());
    }

    fn taken(&self, class: usize) {
        self.used.set(self.used.get() + class);
        let moving = self.used.get().saturating_sub(self.fixed.get());
        let each = moving / self.tokens.get().max(256);
        self.token_bytes.set(self.token_bytes.get().max(each));
    }

    fn returned(&self, class: usize) {
        self.used.set(self.used.get().saturating_sub(class));
    }

    fn out_of_memory(&self, gpu: String, total: usize, asked: usize) -> DeviceError {
        let (used, tokens) = (self.used.get(), self.tokens.get());
        let free = total.saturating_sub(self.fixed.get()) * 9 / 10;
        let fits = (free / self.token_bytes.get().max(1)).min(tokens / 2);
        DeviceError::OutOfMemory { gpu, asked, used, total, tokens, fits }
    }
}

/// The size of the block for so many bytes. There are four sizes between two powers of two, so that
/// batches of similar length reuse each other's memory.
fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(512);
    let step = (bytes.next_power_of_two() / 8).max(256);
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::View;
    use std::marker::PhantomData;

    #[test]
    fn blocks_are_at_most_a_quarter_larger_than_asked_for() {
        for bytes in [1usize, 511, 513, 5000, 1 << 20, (1 << 20) + 1, 123_456_789] {
            let class = super::size_class(bytes);
            assert!(class >= bytes && (class <= bytes + bytes / 4 + 512), "{bytes} became {class}");
            assert_eq!(class, super::size_class(class), "{bytes}");
        }
    }

    fn ten_floats() -> View<'static, f32> {
        View { address: 4096, len: 10, kind: PhantomData }
    }

    #[test]
    fn a_part_of_a_buffer_knows_its_address_and_its_length() {
        let part = ten_floats().slice(3..8);
        assert_eq!((part.len(), part.first(5)), (5, 4096 + 12));
        assert_eq!(part.slice(5..5).len(), 0);
    }

    #[test]
    #[should_panic(expected = "numbers 3 to 11 of 10")]
    fn a_part_beyond_the_end_of_a_buffer_panics() {
        ten_floats().slice(3..11);
    }

    #[test]
    #[should_panic(expected = "numbers 0 to 8 of 7")]
    fn a_part_has_no_numbers_beyond_its_own_end() {
        ten_floats().slice(3..10).first(8);
    }
}
