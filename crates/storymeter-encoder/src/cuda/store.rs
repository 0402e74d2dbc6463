//! Weights, gradients and the optimiser's means on the GPU: one stretch of memory each, so that the optimiser is one
//! launch, and summing gradients over several GPUs one call.

use super::device::{Buffer, Device, Size, launch};
use super::{Cuda, Number};
use crate::grid::Rounded;
use crate::train::{AdamStep, Given, LOSSES, Linear, Part};
use crate::{Error, Result, relative};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Tensors begin at multiples of this many numbers: 16 bytes in sixteen bits.
const ALIGNMENT: usize = 8;

/// The tensors of a network on a GPU.
pub struct CudaStore<N: Number> {
    /// Where each tensor is in the stretches.
    places: Vec<Range<usize>>,
    weights: Buffer<f32>,
    /// The weights in the precision of the activations; `None` where that is full precision.
    shadow: Option<Buffer<N>>,
    decays: Buffer<u8>,
    pub(super) losses: Buffer<f64>,
    norm: Buffer<f64>,
    /// For the longest story, the bucket of every distance of a relative position bias.
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

impl<N: Number> CudaStore<N> {
    pub(super) fn new(
        device: &Rc<Device>,
        tensors: &[Given<'_>],
        order: &[usize],
    ) -> Result<CudaStore<N>> {
        let mut places = vec![0..0; tensors.len()];
        let mut end = 0;
        for &tensor in order {
            places[tensor] = end..end + tensors[tensor].data.len();
            end = places[tensor].end.next_multiple_of(ALIGNMENT);
        }
        let (mut weights, mut decays) = (vec![0f32; end], vec![0u8; end / ALIGNMENT]);
        for (tensor, place) in tensors.iter().zip(&places) {
            weights[place.clone()].copy_from_slice(tensor.data);
            let blocks = place.start / ALIGNMENT..place.end.div_ceil(ALIGNMENT);
            decays[blocks].fill(u8::from(tensor.decays));
        }
        let store = CudaStore {
            places,
            weights: device.upload(&weights),
            shadow: N::HALF.then(|| device.alloc(end)),
            decays: device.upload(&decays),
            losses: device.zeros(LOSSES),
            norm: device.zeros(1),
            bucket_of: RefCell::default(),
            training: None,
            exact: None,
        };
        device.keep(&store.weights);
        store.shadow.iter().for_each(|shadow| device.keep(shadow));
        store.refresh(device, 0..end);
        device.check()?;
        Ok(store)
    }

    /// Numbers of all tensors together.
    fn len(&self) -> usize {
        self.weights.len()
    }

    /// Numbers of one tensor.
    pub(super) fn size(&self, tensor: usize) -> usize {
        self.places[tensor].len()
    }

    /// The address of the bucket of every distance from `1 - longest` to `longest - 1`.
    pub(super) fn bucket_of(&self, device: &Rc<Device>, longest: usize, buckets: usize) -> u64 {
        let mut kept = self.bucket_of.borrow_mut();
        if kept.as_ref().is_none_or(|(known, _)| *known != longest) {
            let end = longest as isize;
            let list: Vec<u32> =
                (1 - end..end).map(|d| relative::bucket(d, buckets) as u32).collect();
            *kept = Some((longest, device.upload(&list)));
        }
        kept.as_ref().map_or(0, |(_, list)| list.pointer())
    }

    /// Copies weights to their shadow.
    fn refresh(&self, device: &Device, range: Range<usize>) {
        if let Some(shadow) = &self.shadow {
            let (from, count, to) =
                (self.weights.at(range.start), range.len() as u64, shadow.at(range.start));
            launch!(device, "to_activations", Size::of(range.len(), 256), from, count, to);
        }
    }

    /// The address of a tensor's weights in full precision.
    pub(super) fn weight(&self, tensor: usize) -> u64 {
        self.weights.at(self.places[tensor].start)
    }

    /// The address of a tensor's weights in the precision of the activations.
    pub(super) fn active(&self, tensor: usize) -> u64 {
        let start = self.places[tensor].start;
        self.shadow.as_ref().map_or_else(|| self.weights.at(start), |shadow| shadow.at(start))
    }

    /// The address of a tensor's gradients.
    pub(super) fn gradient(&mut self, device: &Rc<Device>, tensor: usize) -> u64 {
        let start = self.places[tensor].start;
        self.training(device).gradients.at(start)
    }

    /// The address of all gradients, and how many numbers they are.
    pub(super) fn gradients(&mut self, device: &Rc<Device>) -> (u64, usize) {
        let gradients = &self.training(device).gradients;
        (gradients.pointer(), gradients.len())
    }

    /// Whether three linear maps lie in memory as one: weights after weights, biases after biases.
    pub(super) fn together(&self, maps: [Linear; 3]) -> bool {
        let follow = |list: [usize; 3]| {
            let [a, b, c] = list.map(|tensor| &self.places[tensor]);
            a.end == b.start && b.end == c.start
        };
        follow(maps.map(|map| map.weight)) && follow(maps.map(|map| map.bias))
    }

    fn training(&mut self, device: &Rc<Device>) -> &mut Training {
        let len = self.len();
        self.training.get_or_insert_with(|| {
            let zeros = || {
                let buffer = device.zeros(len);
                device.keep(&buffer);
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
            return Err(Error::Device(problem));
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

    pub(super) fn round(&mut self, device: &Rc<Device>, rounded: &[Rounded]) {
        let exact = self.exact.get_or_insert_with(|| {
            let buffer = device.alloc(self.weights.len());
            device.keep(&buffer);
            buffer
        });
        device.copy(&self.weights, exact);
        for &Rounded { tensor, width, step } in rounded {
            let place = &self.places[tensor];
            let rows = place.len() / width;
            let shadow = self.shadow.as_ref().map_or(0, |shadow| shadow.at(place.start));
            let (weights, count, width) = (self.weights.at(place.start), rows as u64, width as u32);
            launch!(
                device,
                "round_rows",
                Size::of(rows * 32, 256),
                weights,
                shadow,
                count,
                width,
                step
            );
        }
    }

    /// The shadow keeps the rounded weights until the optimiser's next step writes it anew.
    pub(super) fn restore(&mut self, device: &Device) {
        if let Some(exact) = &self.exact {
            device.copy(exact, &mut self.weights);
        }
    }

    pub(super) fn clear_gradients(&mut self, device: &Rc<Device>) {
        device.clear(&mut self.training(device).gradients);
    }

    pub(super) fn step(&mut self, cuda: &Cuda<N>, step: AdamStep) {
        let device = cuda.device();
        let AdamStep { rate, beta1, beta2, eps, decay, correction1, correction2, clip } = step;
        let adam = Adam { rate, beta1, beta2, eps, decay, correction1, correction2, clip };
        let vectors = (self.len() / 4) as u64;
        let blocks = device.processors * 8;
        let parts: Buffer<f64> = device.alloc(blocks as usize);
        let Training { gradients, means, squares } = self.training(device);
        let [gradients, means, squares] =
            [gradients, means, squares].map(|buffer| buffer.pointer());
        let (norm, parts_at) = (self.norm.pointer(), parts.pointer());
        let size = Size::blocks(blocks as usize, 1, 256, 0);
        launch!(device, "square_sums", size, gradients, vectors, parts_at);
        launch!(device, "norm_of_parts", Size::blocks(1, 1, 256, 0), parts_at, blocks, norm);
        let shadow = self.shadow.as_ref().map_or(0, Buffer::pointer);
        let (weights, decays) = (self.weights.pointer(), self.decays.pointer());
        launch!(
            device, "adam", size, weights, gradients, means, squares, shadow, decays, vectors,
            norm, adam
        );
    }

    pub(super) fn norm(&self, device: &Device) -> Result<f64> {
        Ok(device.read(&self.norm, 0, 1)?[0])
    }

    pub(super) fn take_losses(&mut self, device: &Device) -> Result<[f64; LOSSES]> {
        let sums = device.read(&self.losses, 0, LOSSES)?;
        device.clear(&mut self.losses);
        Ok(std::array::from_fn(|i| sums[i]))
    }
}
