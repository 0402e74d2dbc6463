//! Weights, gradients and the optimiser's means on the GPU: one stretch of memory each, so that the
//! optimiser is one launch, and summing gradients over several GPUs is one call.

use super::device::{Argument, Device, Size, launch, word};
use super::memory::{Buffer, View};
use super::{Cuda, Number};
use crate::grid::Rounded;
use crate::train::{AdamStep, Given, LOSSES, Linear, Part, Skipped};
use crate::{Error, Result, relative};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Tensors begin at multiples of this many numbers: 16 bytes in sixteen bits.
const ALIGNMENT: usize = 8;

/// The norm of the gradients, the steps that were skipped, and those since the last that was taken.
const NORM: usize = 3;

/// The tensors of a network on a GPU.
pub struct CudaStore<N: Number> {
    /// Where each tensor is in the stretches.
    places: Vec<Range<usize>>,
    /// For each tensor, where the run of tensors ends that follow it without a gap.
    runs: Vec<usize>,
    weights: Buffer<f32>,
    /// The weights in the precision of the activations; `None` if that is full precision.
    shadow: Option<Buffer<N>>,
    decays: Buffer<u8>,
    pub(super) losses: Buffer<f64>,
    /// See [`NORM`].
    norm: Buffer<f64>,
    /// The bucket of every distance of a relative position bias, for the longest story.
    bucket_of: RefCell<Option<(usize, Buffer<u32>)>>,
    /// Made when first needed: scoring does without.
    training: Option<Training>,
    /// Room for the exact weights while rounded ones stand in their place; made when first needed.
    exact: Option<Buffer<f32>>,
}

struct Training {
    gradients: Buffer<f32>,
    means: Buffer<f32>,
    squares: Buffer<f32>,
}

/// A step of AdamW as the kernel takes it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Adam {
    rate: f32,
    beta1: f32,
    beta2: f32,
    eps: f32,
    decay: f32,
    correction1: f32,
    correction2: f32,
    clip: f32,
}

impl Argument for Adam {}

/// Where tensors of these lengths are if they are put into memory in this order, where the run of
/// each ends (see [`CudaStore::runs`]), and where the last one ends.
fn arrange(lengths: &[usize], order: &[usize]) -> (Vec<Range<usize>>, Vec<usize>, usize) {
    let mut places = vec![0..0; lengths.len()];
    let mut end = 0;
    for &tensor in order {
        places[tensor] = end..end + lengths[tensor];
        end = places[tensor].end.next_multiple_of(ALIGNMENT);
    }
    let mut runs: Vec<usize> = places.iter().map(|place| place.end).collect();
    for pair in order.windows(2).rev() {
        if places[pair[0]].end == places[pair[1]].start {
            runs[pair[0]] = runs[pair[1]];
        }
    }
    (places, runs, end)
}

impl<N: Number> CudaStore<N> {
    pub(super) fn new(
        device: &Rc<Device>,
        tensors: &[Given<'_>],
        order: &[usize],
    ) -> Result<CudaStore<N>> {
        let lengths: Vec<usize> = tensors.iter().map(|tensor| tensor.data.len()).collect();
        let (places, runs, end) = arrange(&lengths, order);
        let (mut weights, mut decays) = (vec![0f32; end], vec![0u8; end / ALIGNMENT]);
        for (tensor, place) in tensors.iter().zip(&places) {
            weights[place.clone()].copy_from_slice(tensor.data);
            let blocks = place.start / ALIGNMENT..place.end.div_ceil(ALIGNMENT);
            decays[blocks].fill(u8::from(tensor.decays));
        }
        let store = CudaStore {
            places,
            runs,
            weights: device.upload(&weights),
            shadow: N::HALF.then(|| device.alloc(end)),
            decays: device.upload(&decays),
            losses: device.zeros(LOSSES),
            norm: device.zeros(NORM),
            bucket_of: RefCell::default(),
            training: None,
            exact: None,
        };
        device.usage.keep(&store.weights);
        store.shadow.iter().for_each(|shadow| device.usage.keep(shadow));
        store.refresh(device, 0..end);
        device.check()?;
        Ok(store)
    }

    /// The numbers of all tensors together.
    fn len(&self) -> usize {
        self.weights.len()
    }

    /// The numbers of one tensor.
    pub(super) fn size(&self, tensor: usize) -> usize {
        self.places[tensor].len()
    }

    /// The address of the bucket of every distance from `1 - longest` to `longest - 1`.
    pub(super) fn bucket_of(&self, device: &Rc<Device>, longest: usize, buckets: usize) -> u64 {
        let mut kept = self.bucket_of.borrow_mut();
        if kept.as_ref().is_none_or(|(known, _)| *known != longest) {
            let end = longest as isize;
            let list: Vec<u32> =
                (1 - end..end).map(|d| word(relative::bucket(d, buckets))).collect();
            *kept = Some((longest, device.upload(&list)));
        }
        kept.as_ref().map_or(0, |(_, list)| list.first(2 * longest - 1))
    }

    /// Copies weights to their shadow.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn refresh(&self, device: &Device, range: Range<usize>) {
        if let Some(shadow) = &self.shadow {
            let count = range.len();
            let from = self.weights.slice(range.clone()).first(count);
            let to = shadow.slice(range).first(count);
            let size = Size::of(count, 256);
            // SAFETY: both addresses have `count` numbers.
            unsafe { launch!(device, "to_activations", size, from, count as u64, to) };
        }
    }

    /// Where `len` numbers of a tensor are, and of those that follow it without a gap.
    ///
    /// # Panics
    /// If there are not that many.
    fn range(&self, tensor: usize, len: usize) -> Range<usize> {
        let start = self.places[tensor].start;
        let found = self.runs[tensor] - start;
        assert!(len <= found, "tensor {tensor} has {found} numbers, not {len}");
        start..start + len
    }

    /// `len` weights of a tensor in full precision.
    ///
    /// # Panics
    /// If there are not that many.
    pub(super) fn weight(&self, tensor: usize, len: usize) -> View<'_, f32> {
        self.weights.slice(self.range(tensor, len))
    }

    /// `len` weights of a tensor in the precision of the activations.
    ///
    /// # Panics
    /// If there are not that many.
    pub(super) fn active(&self, tensor: usize, len: usize) -> View<'_, N> {
        let range = self.range(tensor, len);
        match &self.shadow {
            Some(shadow) => shadow.slice(range),
            None => self.weights.slice(range).same(),
        }
    }

    /// `len` gradients of a tensor.
    ///
    /// # Panics
    /// If there are not that many.
    pub(super) fn gradient(
        &mut self,
        device: &Rc<Device>,
        tensor: usize,
        len: usize,
    ) -> View<'_, f32> {
        let range = self.range(tensor, len);
        self.training(device).gradients.slice(range)
    }

    /// All gradients.
    pub(super) fn gradients(&mut self, device: &Rc<Device>) -> View<'_, f32> {
        self.training(device).gradients.view()
    }

    /// Whether tensors follow each other in memory without a gap.
    pub(super) fn follow<const COUNT: usize>(&self, tensors: [usize; COUNT]) -> bool {
        tensors.windows(2).all(|pair| self.places[pair[0]].end == self.places[pair[1]].start)
    }

    /// Whether three linear maps lie in memory as one: weights behind weights, and biases behind
    /// biases if they have any.
    pub(super) fn together(&self, maps: [Linear; 3]) -> bool {
        let biases = match maps.map(|map| map.bias) {
            [Some(first), Some(second), Some(third)] => self.follow([first, second, third]),
            [None, None, None] => true,
            _ => false,
        };
        biases && self.follow(maps.map(|map| map.weight))
    }

    fn training(&mut self, device: &Rc<Device>) -> &mut Training {
        let len = self.len();
        self.training.get_or_insert_with(|| {
            let zeros = || {
                let buffer = device.zeros(len);
                device.usage.keep(&buffer);
                buffer
            };
            Training { gradients: zeros(), means: zeros(), squares: zeros() }
        })
    }

    pub(super) fn read(&self, device: &Device, part: Part, tensor: usize) -> Result<Vec<f32>> {
        let place = &self.places[tensor];
        let buffer = match (part, &self.training) {
            (Part::Weights, _) => &self.weights,
            (_, None) => return Ok(vec![0.0; place.len()]),
            (Part::Gradients, Some(training)) => &training.gradients,
            (Part::Means, Some(training)) => &training.means,
            (Part::Squares, Some(training)) => &training.squares,
        };
        device.read(buffer, place.start, place.len())
    }

    pub(super) fn write(
        &mut self,
        device: &Rc<Device>,
        part: Part,
        tensor: usize,
        numbers: &[f32],
    ) -> Result<()> {
        let place = self.places[tensor].clone();
        if place.len() != numbers.len() {
            let problem =
                format!("tensor {tensor} has {} numbers, not {}", place.len(), numbers.len());
            return Err(Error::Mismatch(problem));
        }
        let buffer = match part {
            Part::Weights => &mut self.weights,
            Part::Gradients => &mut self.training(device).gradients,
            Part::Means => &mut self.training(device).means,
            Part::Squares => &mut self.training(device).squares,
        };
        device.write(buffer, place.start, numbers);
        if part == Part::Weights {
            self.refresh(device, place);
        }
        device.check()
    }

    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn round(&mut self, device: &Rc<Device>, rounded: &[Rounded]) {
        let exact = self.exact.get_or_insert_with(|| {
            let buffer = device.alloc(self.weights.len());
            device.usage.keep(&buffer);
            buffer
        });
        device.copy(&self.weights, exact);
        for &Rounded { tensor, width, step } in rounded {
            let rows = self.size(tensor) / width;
            let range = self.range(tensor, rows * width);
            let weights = self.weights.slice(range.clone()).first(rows * width);
            let shadow = match &self.shadow {
                Some(shadow) => shadow.slice(range).first(rows * width),
                None => 0,
            };
            let (size, count, width) = (Size::of(rows * 32, 256), rows as u64, word(width));
            // SAFETY: weights and, in sixteen bits, shadow have `count` rows of `width` numbers.
            unsafe { launch!(device, "round_rows", size, weights, shadow, count, width, step) };
        }
    }

    /// The shadow keeps the rounded weights until the next step of the optimiser writes it anew.
    pub(super) fn restore(&mut self, device: &Device) {
        if let Some(exact) = &self.exact {
            device.copy(exact, &mut self.weights);
        }
    }

    pub(super) fn clear_gradients(&mut self, device: &Rc<Device>) {
        device.clear(&mut self.training(device).gradients);
    }

    #[expect(unsafe_code, reason = "launches kernels")]
    pub(super) fn step(&mut self, cuda: &Cuda<N>, step: AdamStep) {
        let device = cuda.device();
        let AdamStep { rate, beta1, beta2, eps, decay, correction1, correction2, clip } = step;
        let adam = Adam { rate, beta1, beta2, eps, decay, correction1, correction2, clip };
        let len = self.len();
        let vectors = (len / 4) as u64;
        let blocks = device.processors * 8;
        let parts: Buffer<f64> = device.alloc(blocks as usize);
        let Training { gradients, means, squares } = self.training(device);
        let [gradients, means, squares] =
            [gradients, means, squares].map(|buffer| buffer.first(len));
        let (norm, parts_at) = (self.norm.first(NORM), parts.first(blocks as usize));
        let (size, one) = (Size::blocks(blocks as usize, 1, 256, 0), Size::blocks(1, 1, 256, 0));
        // SAFETY: the gradients have `vectors` times four numbers (the store is padded to eight),
        // and there is one part per block.
        unsafe { launch!(device, "square_sums", size, gradients, vectors, parts_at) };
        // SAFETY: there is one part per block, and `norm` has the norm and two counters.
        unsafe { launch!(device, "norm_of_parts", one, parts_at, blocks, norm) };
        let shadow = self.shadow.as_ref().map_or(0, |shadow| shadow.first(len));
        let (weights, decays) = (self.weights.first(len), self.decays.first(len / ALIGNMENT));
        // SAFETY: weights, gradients, means, squares and, in sixteen bits, shadow have `vectors`
        // times four numbers, and `decays` one per eight of them.
        unsafe {
            launch!(
                device, "adam", size, weights, gradients, means, squares, shadow, decays, vectors,
                norm, adam
            );
        }
    }

    pub(super) fn steps(&self, device: &Device) -> Result<(f64, Skipped)> {
        let read = device.read(&self.norm, 0, NORM)?;
        Ok((read[0], Skipped { all: read[1] as u64, in_a_row: read[2] as u64 }))
    }

    pub(super) fn set_skipped(&mut self, device: &Device, skipped: Skipped) {
        device.write(&mut self.norm, 1, &[skipped.all as f64, skipped.in_a_row as f64]);
    }

    pub(super) fn take_losses(&mut self, device: &Device) -> Result<[f64; LOSSES]> {
        let sums = device.read(&self.losses, 0, LOSSES)?;
        device.clear(&mut self.losses);
        Ok(std::array::from_fn(|i| sums[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::arrange;

    #[test]
    fn tensors_are_aligned_and_a_run_ends_at_the_first_gap() {
        let (places, runs, end) = arrange(&[3, 8, 16, 5], &[1, 2, 0, 3]);
        assert_eq!(places, [24..27, 0..8, 8..24, 32..37]);
        assert_eq!(end, 40);
        // Tensors 1, 2 and 0 follow each other; behind tensor 0 there is a gap.
        assert_eq!(runs, [27, 27, 27, 37]);
    }
}
