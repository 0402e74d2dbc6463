//! Attention within each story on the GPU, forward and backward. The signatures are those of
//! [`Backend`](crate::train::Backend), which calls these functions.

use super::device::{Size, launch, word};
use super::inputs::{Projected, Shape, Stories};
use super::memory::Buffer;
use super::{Cuda, CudaStore, Number, Numbers};
use crate::error::DeviceError;
use crate::train::Attention;

/// The most buckets of a relative position bias that the kernels have room for.
const MOST_BUCKETS: usize = 64;

/// A relative position bias made ready for attention. All addresses are 0 without one.
struct Relative {
    /// The bias of every distance, head by head. Holds the memory behind `table_at`.
    _table: Option<Buffer<f32>>,
    table_at: u64,
    /// The bucket of every distance, and the number of buckets.
    bucket_of: u64,
    buckets: usize,
}

/// The kernels of attention: forward, and the gradients of queries and of keys and values.
struct Kernels {
    names: [&'static str; 3],
    /// Whether they are the plain ones, which need shared memory.
    plain: bool,
}

impl Kernels {
    /// Those on tensor cores if there are any for this format and width of heads.
    fn of<N: Number>(attention: Attention) -> Kernels {
        let width = attention.width / attention.heads;
        let names = match (N::HALF, width, attention.causal) {
            (true, 32, false) => {
                ["attention_mma_32", "attention_d_query_mma_32", "attention_d_key_value_mma_32"]
            }
            (true, 64, false) => {
                ["attention_mma_64", "attention_d_query_mma_64", "attention_d_key_value_mma_64"]
            }
            (true, 32, true) => [
                "attention_mma_causal_32",
                "attention_d_query_mma_causal_32",
                "attention_d_key_value_mma_causal_32",
            ],
            (true, 64, true) => [
                "attention_mma_causal_64",
                "attention_d_query_mma_causal_64",
                "attention_d_key_value_mma_causal_64",
            ],
            _ => {
                let names = ["attention", "attention_d_query", "attention_d_key_value"];
                return Kernels { names, plain: true };
            }
        };
        Kernels { names, plain: false }
    }

    /// The bytes of shared memory that a block needs.
    fn shared(&self, stories: &Stories, buckets: usize) -> usize {
        if self.plain { 4 * (8 * stories.longest + 4 * buckets) } else { 0 }
    }
}

impl<N: Number> Cuda<N> {
    /// Makes the device fail if the kernels cannot do attention of this shape.
    fn check_attention(&self, attention: Attention, stories: &Stories) {
        let Attention { heads, width, longest, .. } = attention;
        self.check_width(width);
        if heads == 0 || !width.is_multiple_of(heads) {
            let problem = format!("cannot divide {width} columns among {heads} heads");
            self.device().fail(DeviceError::Unsupported(problem));
        }
        if stories.longest > longest {
            let problem = format!("a story of {} tokens, at most {longest} fit", stories.longest);
            self.device().fail(DeviceError::Mismatch(problem));
        }
    }

    /// Spreads the table of buckets out to all distances.
    #[expect(unsafe_code, reason = "launches a kernel")]
    fn relative(&self, store: &CudaStore<N>, attention: Attention) -> Relative {
        let Some(tensor) = attention.relative else {
            return Relative { _table: None, table_at: 0, bucket_of: 0, buckets: 0 };
        };
        let (device, heads, longest) = (self.device(), attention.heads, attention.longest);
        let buckets = store.size(tensor) / heads;
        if buckets > MOST_BUCKETS {
            let problem = format!(
                "takes at most {MOST_BUCKETS} buckets of relative positions, not {buckets}"
            );
            device.fail(DeviceError::Unsupported(problem));
        }
        let span = 2 * longest - 1;
        let bucket_of = store.bucket_of(device, longest, buckets);
        let table: Buffer<f32> = device.alloc(span * heads);
        let table_at = table.first(span * heads);
        let size = Size::of(span * heads, 256);
        let weights = store.weight(tensor, buckets * heads).first(buckets * heads);
        let (span, heads) = (word(span), word(heads));
        // SAFETY: the weights have `heads` numbers per bucket, there is a bucket below `buckets`
        // for each of `span` distances, and the table has as many numbers as there are threads.
        unsafe {
            launch!(device, "relative_table", size, weights, bucket_of, span, heads, table_at);
        }
        Relative { _table: Some(table), table_at, bucket_of, buckets }
    }

    /// What comes out of attention, and the logarithm of each softmax's sum.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) fn attend(
        &self,
        store: &CudaStore<N>,
        attention: Attention,
        stories: &Stories,
        projected: &Projected<N>,
    ) -> (Numbers<N>, Numbers<f32>) {
        let (device, Attention { heads, width, .. }) = (self.device(), attention);
        self.check_attention(attention, stories);
        let out = self.alloc(stories.rows * width);
        let sums: Buffer<f32> = device.alloc(stories.rows * heads);
        if device.failed() {
            return (out, Numbers(sums));
        }
        let relative = self.relative(store, attention);
        let kernels = Kernels::of::<N>(attention);
        let ([name, ..], shared) = (kernels.names, kernels.shared(stories, 0));
        // SAFETY: `projected` has three parts of `width` numbers for each row of the tiles, `out`
        // one part and `sums` one number per head. No story is longer than `longest`, for which
        // the table is made, nor than the longest one, for which the shared memory is.
        unsafe {
            launch!(
                device,
                name,
                Size::blocks(stories.tiles, heads, 128, shared),
                projected.0.0.first(3 * stories.rows * width),
                stories.tiles_at(),
                relative.table_at,
                Shape::new(attention, stories),
                out.0.first(stories.rows * width),
                sums.first(stories.rows * heads)
            );
        }
        (out, Numbers(sums))
    }

    /// The gradients of queries, keys and values, given what came out of attention and its
    /// gradient.
    #[expect(unsafe_code, reason = "launches kernels")]
    pub(super) fn attend_backward(
        &self,
        store: &mut CudaStore<N>,
        attention: Attention,
        stories: &Stories,
        projected: &Projected<N>,
        softmax: &Numbers<f32>,
        [out, d_out]: [&Numbers<N>; 2],
    ) -> Projected<N> {
        let (device, Attention { heads, width, .. }) = (self.device(), attention);
        self.check_attention(attention, stories);
        let (all, stats) = (stories.rows * width, stories.rows * heads);
        let d = self.alloc(3 * all);
        if device.failed() {
            return Projected(d);
        }
        let shape = Shape::new(attention, stories);
        let delta: Buffer<f32> = device.alloc(stats);
        let size = Size::of(stats, 128);
        let (rows, d_y, delta_at) = (word(stories.rows), d_out.0.first(all), delta.first(stats));
        let out = out.0.first(all);
        // SAFETY: `out` and `d_y` have `rows` rows of `width` numbers, and `delta` one number per
        // row and head.
        unsafe { launch!(device, "attention_delta", size, out, d_y, rows, shape, delta_at) };
        let relative = self.relative(store, attention);
        let buckets = relative.buckets;
        let partial: Buffer<f32> = device.alloc(stories.tiles * heads * buckets);
        let kernels = Kernels::of::<N>(attention);
        let ([_, of_query, of_key_value], shared) =
            (kernels.names, kernels.shared(stories, buckets));
        let size = Size::blocks(stories.tiles, heads, 128, shared);
        let (qkv, d_at) = (projected.0.0.first(3 * all), d.0.first(3 * all));
        let (tiles, table, bucket_of) = (stories.tiles_at(), relative.table_at, relative.bucket_of);
        let (sums, partial_at) = (softmax.0.first(stats), partial.first(partial.len()));
        // SAFETY: as in `attend`, with gradients of the same shapes; `partial` has one number per
        // tile, head and bucket.
        unsafe {
            launch!(
                device,
                of_query,
                size,
                qkv,
                d_y,
                tiles,
                table,
                bucket_of,
                word(buckets),
                shape,
                sums,
                delta_at,
                d_at,
                partial_at
            );
            launch!(
                device,
                of_key_value,
                size,
                qkv,
                d_y,
                tiles,
                table,
                shape,
                sums,
                delta_at,
                d_at
            );
        }
        if let Some(tensor) = attention.relative {
            let size = Size::blocks(buckets, heads, 128, 0);
            let to = store.gradient(device, tensor, buckets * heads).first(buckets * heads);
            let (tiles, heads, buckets) = (word(stories.tiles), word(heads), word(buckets));
            // SAFETY: `partial` has one number per tile, head and bucket, and the gradient of the
            // table one per bucket and head.
            unsafe { launch!(device, "add_relative", size, partial_at, tiles, heads, buckets, to) };
        }
        Projected(d)
    }
}
