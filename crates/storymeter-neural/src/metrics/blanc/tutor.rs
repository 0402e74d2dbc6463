//! Copies of a model that learn, on the device of the model.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use storymeter_core::Device;
use storymeter_encoder::train::{Backend, Cpu, MaskedWordWeights};
use storymeter_encoder::{DeviceError, Result, Stream};

use super::question::Question;
use super::tune::Pupil;

/// What a copy of the model learns, and what it is asked before and after.
pub(super) struct Course {
    /// The questions about each document.
    pub asked: Vec<Vec<Question>>,
    pub lessons: Vec<Question>,
    pub lessons_per_step: usize,
    /// Where the random numbers of dropout come from.
    pub dropout: Stream,
}

/// The guesses about each document, before and after learning.
pub(super) type Guesses = Vec<(Vec<u32>, Vec<u32>)>;

impl Course {
    /// Lets a fresh copy of the model take the course.
    fn teach<B: Backend>(&self, backend: B, weights: &MaskedWordWeights) -> Result<Guesses> {
        let mut pupil = Pupil::new(backend, weights)?;
        let guess = |pupil: &Pupil<B>| {
            self.asked.iter().map(|one| pupil.predictions(one)).collect::<Result<Vec<_>>>()
        };
        let before = guess(&pupil)?;
        pupil.learn(&self.lessons, self.lessons_per_step, Some(self.dropout))?;
        Ok(before.into_iter().zip(guess(&pupil)?).collect())
    }
}

/// Where copies of a model learn. The device is opened once, and stays open.
pub(super) struct Tutor {
    weights: Arc<MaskedWordWeights>,
    /// The thread that a GPU belongs to. On the CPU the caller's own thread does the work.
    thread: Option<Thread>,
}

/// A course, and where its outcome goes.
type Request = (Course, Sender<Result<Guesses>>);

struct Thread {
    requests: Option<Sender<Request>>,
    handle: Option<JoinHandle<()>>,
}

impl Tutor {
    /// Opens the device.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub(super) fn open(device: Device, weights: Arc<MaskedWordWeights>) -> Result<Self> {
        match device.gpu() {
            None => Ok(Self { weights, thread: None }),
            #[cfg(feature = "cuda")]
            Some(gpu) => {
                Self::on_thread(weights, move || storymeter_encoder::cuda::Cuda::<f32>::open(gpu))
            }
            #[cfg(not(feature = "cuda"))]
            Some(_) => Err(DeviceError::NotBuilt.into()),
        }
    }

    /// Starts a thread that opens a device with `open` and then works for whoever asks.
    #[cfg(any(test, feature = "cuda"))]
    fn on_thread<B: Backend + Clone>(
        weights: Arc<MaskedWordWeights>,
        open: impl FnOnce() -> Result<B> + Send + 'static,
    ) -> Result<Self> {
        let (requests, inbox) = channel::<Request>();
        let (ready, opened) = channel();
        let its_weights = Arc::clone(&weights);
        let handle = std::thread::spawn(move || {
            let backend = match open() {
                Ok(backend) => backend,
                Err(error) => return drop(ready.send(Err(error))),
            };
            let _ = ready.send(Ok(()));
            for (course, reply) in inbox {
                let _ = reply.send(course.teach(backend.clone(), &its_weights));
            }
        });
        let thread = Thread { requests: Some(requests), handle: Some(handle) };
        opened.recv().unwrap_or_else(|_| Err(DeviceError::Ended.into()))?;
        Ok(Self { weights, thread: Some(thread) })
    }

    /// Lets a fresh copy of the model take a course.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub(super) fn teach(&self, course: Course) -> Result<Guesses> {
        let Some(thread) = &self.thread else {
            return course.teach(Cpu::default(), &self.weights);
        };
        let (reply, guesses) = channel();
        let sent = thread.requests.as_ref().and_then(|to| to.send((course, reply)).ok());
        sent.and_then(|()| guesses.recv().ok()).unwrap_or_else(|| Err(DeviceError::Ended.into()))
    }
}

impl Drop for Thread {
    /// Waits until the thread has given the device back.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::masked::Masked;
    use crate::support;

    fn course() -> Course {
        let question = |word: u32| Question {
            masked: Masked { ids: vec![101, 1996, 103, 2305, 102], hidden: vec![2] },
            answers: vec![word],
        };
        Course {
            asked: vec![vec![question(10171)], vec![question(5108), question(6589)]],
            lessons: vec![question(10171); 3],
            lessons_per_step: 1,
            dropout: Stream::new(1),
        }
    }

    #[test]
    fn a_device_is_opened_once_for_all_batches_and_threads() {
        let folder = tempfile::tempdir().unwrap();
        support::write_masked_model(folder.path());
        let weights = Arc::new(MaskedWordWeights::open(folder.path()).unwrap());
        let expected = Tutor::open(Device::Cpu, Arc::clone(&weights)).unwrap();
        let expected = expected.teach(course()).unwrap();
        assert_eq!(expected.iter().map(|(before, _)| before.len()).collect::<Vec<_>>(), [1, 2]);

        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let tutor = Tutor::on_thread(Arc::clone(&weights), move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Cpu::default())
        });
        let tutor = tutor.unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert_eq!(tutor.teach(course()).unwrap(), expected));
            }
        });
        assert_eq!(tutor.teach(course()).unwrap(), expected);
        assert_eq!(opened.load(Ordering::Relaxed), 1);

        let broken = Tutor::on_thread(weights, || Err::<Cpu, _>(DeviceError::NoDriver.into()));
        assert!(broken.err().unwrap().to_string().starts_with("no CUDA driver was found"));
    }
}
