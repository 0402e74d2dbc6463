//! Inference on a GPU, for any thread that asks.
//!
//! What lives on a GPU belongs to one thread. The network therefore has a thread of its own:
//! batches go there through a channel, and while the vectors of one batch travel back the next
//! batch is computed.

use super::device::{Device, Size, launch, word};
use super::int8::Int8;
use super::landing::Landing;
use super::memory::Buffer;
use super::{Cuda, Number};
use crate::error::DeviceError;
use crate::train::{Backend, Network};
use crate::{Batch, Config, Error, Model, Parameters, Result};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// How many batches may wait for the GPU. A caller with one more waits itself.
const QUEUE: usize = 2;

/// Which vectors of a batch are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// The last hidden state of every token.
    States,
    /// The last hidden state of the first token of each story.
    Firsts,
    /// The mean of the last hidden states of each story.
    Means,
}

impl Vectors {
    /// A story without a token has neither a first one nor a mean.
    pub(super) fn check(self, batch: &Batch) -> Result<()> {
        let empty = batch.bounds().windows(2).position(|story| story[0] == story[1]);
        match empty {
            Some(story) if self != Vectors::States => {
                Err(Error::Batch { story, problem: "it has no tokens".into() })
            }
            _ => Ok(()),
        }
    }
}

/// An encoder on a GPU.
///
/// A batch gives the same numbers from run to run. In floating point the last digits of a story may
/// depend on the other stories of its batch, because cuBLASLt picks an algorithm by the number of
/// rows. In int8 they do not.
pub struct CudaEncoder {
    config: Config,
    requests: Option<SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts to compute the vectors of a batch.
type Compute = Box<dyn Fn(&Batch, Vectors) -> Result<Buffer<f32>>>;

struct Request {
    batch: Batch,
    vectors: Vectors,
    reply: Sender<Result<Vec<f32>>>,
}

/// Vectors that are being computed.
pub struct Pending(Receiver<Result<Vec<f32>>>);

impl Pending {
    /// Waits for the vectors, which follow each other in the order of the batch.
    ///
    /// # Errors
    /// Returns an error if a story is too long or, unless all states were asked for, has no tokens;
    /// if a token is not in the vocabulary; and if the device fails.
    pub fn wait(self) -> Result<Vec<f32>> {
        self.0.recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> Error {
    DeviceError::Ended.into()
}

impl CudaEncoder {
    /// Copies weights to GPU number `ordinal`, where activations have type `N`.
    ///
    /// # Errors
    /// As [`Cuda::open`], and if the weights do not fit the configuration or the memory of the GPU.
    pub fn new<N: Number>(
        ordinal: usize,
        config: Config,
        parameters: Parameters,
    ) -> Result<CudaEncoder> {
        let its_config = config.clone();
        CudaEncoder::start(config, move || {
            let network = Network::new(Cuda::<N>::open(ordinal)?, its_config, &parameters, &[])?;
            let device = Rc::clone(network.backend().device());
            Ok((device, Box::new(move |batch, vectors| compute(&network, batch, vectors))))
        })
    }

    /// Copies the weights of an int8 encoder to GPU number `ordinal`, which computes exactly as
    /// that encoder does: the same bytes.
    ///
    /// # Errors
    /// As [`CudaEncoder::new`], and if the encoder is not int8 or has widths that the kernels do
    /// not take.
    pub fn int8(ordinal: usize, encoder: Arc<Model>) -> Result<CudaEncoder> {
        CudaEncoder::start(encoder.config().clone(), move || {
            let network = Int8::new(ordinal, &encoder)?;
            drop(encoder);
            let device = Rc::clone(network.device());
            Ok((device, Box::new(move |batch, vectors| network.vectors(batch, vectors))))
        })
    }

    /// Starts the thread, on which `make` copies the weights to the device.
    fn start(
        config: Config,
        make: impl FnOnce() -> Result<(Rc<Device>, Compute)> + Send + 'static,
    ) -> Result<CudaEncoder> {
        let (requests, inbox) = sync_channel(QUEUE);
        let (ready, started) = channel();
        let thread = std::thread::spawn(move || match make() {
            Ok((device, compute)) => {
                let _ = ready.send(Ok(()));
                serve(&device, &*compute, &inbox);
            }
            Err(error) => drop(ready.send(Err(error))),
        });
        started.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(CudaEncoder { config, requests: Some(requests), thread: Some(thread) })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Hands a batch over to the GPU. Waits only if several others are waiting already.
    ///
    /// # Errors
    /// Returns an error if the thread of the GPU has ended.
    pub fn submit(&self, batch: Batch, vectors: Vectors) -> Result<Pending> {
        let (reply, result) = channel();
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        requests.send(Request { batch, vectors, reply }).map_err(|_| gone())?;
        Ok(Pending(result))
    }
}

impl Drop for CudaEncoder {
    fn drop(&mut self) {
        // The thread ends when nobody can ask any more.
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The work of the thread: starts a batch, then hands out the one before.
fn serve(
    device: &Device,
    compute: &dyn Fn(&Batch, Vectors) -> Result<Buffer<f32>>,
    inbox: &Receiver<Request>,
) {
    let mut landings = [Landing::default(), Landing::default()];
    let mut travelling: Option<Sender<Result<Vec<f32>>>> = None;
    loop {
        let request = match travelling {
            Some(_) => inbox.try_recv().ok(),
            None => match inbox.recv() {
                Ok(request) => Some(request),
                Err(_) => return,
            },
        };
        let started = request.and_then(|Request { batch, vectors, reply }| {
            let outcome =
                compute(&batch, vectors).and_then(|floats| landings[1].start(device, &[&floats]));
            match outcome {
                Ok(()) => Some(reply),
                Err(error) => {
                    // Perhaps nobody is waiting any more, which is not an error.
                    let _ = reply.send(Err(error));
                    None
                }
            }
        });
        if let Some(reply) = std::mem::replace(&mut travelling, started) {
            let _ = reply.send(landings[0].arrived(device).map(<[f32]>::to_vec));
        }
        landings.swap(0, 1);
    }
}

#[expect(unsafe_code, reason = "launches a kernel")]
fn compute<N: Number>(
    network: &Network<Cuda<N>>,
    batch: &Batch,
    vectors: Vectors,
) -> Result<Buffer<f32>> {
    vectors.check(batch)?;
    let (cuda, width) = (network.backend(), network.config().hidden);
    let hidden = network.encode(batch)?;
    Ok(match vectors {
        Vectors::States => cuda.to_floats(&hidden),
        Vectors::Firsts => {
            let firsts: Vec<u32> =
                batch.bounds()[..batch.len()].iter().map(|at| word(*at)).collect();
            cuda.to_floats(&cuda.gather(&hidden, &cuda.lookups(&firsts), width))
        }
        Vectors::Means => {
            let stories = cuda.stories(batch.bounds());
            let out: Buffer<f32> = cuda.device().alloc(stories.count * width);
            let size = Size::blocks(stories.count, 1, 128, 0);
            let from = hidden.0.first(stories.rows * width);
            let to = out.first(stories.count * width);
            let (bounds, width) = (stories.bounds(), word(width));
            // SAFETY: `from` has the rows of all stories, and `to` one row per story.
            unsafe { launch!(cuda.device(), "story_means_out", size, from, bounds, width, to) };
            out
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Vectors;
    use crate::Batch;

    #[test]
    fn a_story_without_tokens_has_states_but_no_vector() {
        let batch: Batch = [&[1u32, 2][..], &[]].into_iter().collect();
        assert!(Vectors::States.check(&batch).is_ok());
        for vectors in [Vectors::Firsts, Vectors::Means] {
            let error = vectors.check(&batch).unwrap_err().to_string();
            assert_eq!(error, "story 1 of the batch: it has no tokens");
        }
    }
}
