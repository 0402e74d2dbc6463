//! Reads a stream on a thread of its own, a few buffers ahead of whoever takes the bytes.
//!
//! Decompression is done this way, so that it does not wait for the program and the program does
//! not wait for it. One file is unpacked by one thread: neither gzip nor a frame of Zstandard can
//! be unpacked by two.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::process;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use crate::{Error, Place, Result};

/// The size of a buffer.
const SIZE: usize = 1 << 18;

/// How many full buffers may wait. One more is being filled and one is being read.
const WAITING: usize = 4;

/// A stream that another thread reads. That thread ends with the stream, at its first error, or
/// when this value is dropped.
pub(super) struct Ahead {
    /// Full buffers, and after them an empty one, which is the end, or an error.
    full: Receiver<io::Result<Vec<u8>>>,
    /// Buffers that were read go back.
    empty: Sender<Vec<u8>>,
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    taken: usize,
    ended: bool,
    /// The process that has the thread. A fork does not have it.
    process: u32,
}

impl Ahead {
    /// Starts to read. An error about the thread names the path.
    pub fn start(input: impl Read + Send + 'static, path: &Path) -> Result<Self> {
        let (sender, full) = sync_channel(WAITING);
        let (empty, emptied) = channel();
        thread::Builder::new()
            .name("unpack".to_owned())
            .spawn(move || fill(input, &sender, &emptied))
            .map_err(|e| Error::io(Place::file(path), e))?;
        let process = process::id();
        Ok(Self { full, empty, buffer: Vec::new(), taken: 0, ended: false, process })
    }

    /// Takes the next buffer.
    fn next(&mut self) -> io::Result<()> {
        if process::id() != self.process {
            let problem = "a compressed file that was opened before a fork cannot be read after it";
            return Err(io::Error::other(problem));
        }
        let next = self.full.recv().unwrap_or_else(|_| {
            // The thread says when the stream is over, so it must have panicked.
            Err(io::Error::other("the thread that unpacks the file has failed"))
        });
        self.ended = !matches!(&next, Ok(buffer) if !buffer.is_empty());
        let used = std::mem::replace(&mut self.buffer, next?);
        self.taken = 0;
        // A thread that has ended needs no more buffers.
        let _ = self.empty.send(used);
        Ok(())
    }
}

/// Reads the stream into buffers until it is over or nobody takes them any more.
fn fill(mut input: impl Read, full: &SyncSender<io::Result<Vec<u8>>>, emptied: &Receiver<Vec<u8>>) {
    loop {
        let mut buffer = emptied.try_recv().unwrap_or_default();
        buffer.clear();
        // What was read before an error stays in the buffer.
        let read = input.by_ref().take(SIZE as u64).read_to_end(&mut buffer);
        let ended = buffer.is_empty();
        if (!ended || read.is_ok()) && full.send(Ok(buffer)).is_err() {
            return;
        }
        if let Err(error) = read {
            let _ = full.send(Err(error));
            return;
        }
        if ended {
            return;
        }
    }
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        out[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Ahead {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.taken == self.buffer.len() && !self.ended {
            self.next()?;
        }
        Ok(&self.buffer[self.taken..])
    }

    fn consume(&mut self, count: usize) {
        self.taken = self.buffer.len().min(self.taken + count);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    /// Gives `left` bytes in odd portions, then an error or the end.
    struct Portions {
        left: usize,
        error: Option<&'static str>,
        given: Arc<AtomicUsize>,
    }

    impl Read for Portions {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 {
                return self.error.map_or(Ok(0), |error| Err(io::Error::other(error)));
            }
            let count = out.len().min(self.left).min(1013);
            for (byte, at) in out[..count].iter_mut().zip(0..) {
                *byte = ((self.left - at) % 251) as u8;
            }
            self.left -= count;
            self.given.fetch_add(count, Ordering::Relaxed);
            Ok(count)
        }
    }

    fn portions(left: usize, error: Option<&'static str>) -> Portions {
        Portions { left, error, given: Arc::default() }
    }

    fn start(input: impl Read + Send + 'static) -> Ahead {
        Ahead::start(input, Path::new("a.gz")).unwrap()
    }

    #[test]
    fn the_bytes_are_those_of_the_stream() {
        for size in [0, 1, SIZE - 1, SIZE, SIZE + 1, 7 * SIZE + 5] {
            let (mut direct, mut ahead) = (Vec::new(), Vec::new());
            portions(size, None).read_to_end(&mut direct).unwrap();
            start(portions(size, None)).read_to_end(&mut ahead).unwrap();
            assert!(direct == ahead, "{size}");
        }
    }

    #[test]
    fn an_error_comes_after_all_bytes_before_it_and_then_the_stream_is_over() {
        for size in [0, 3, SIZE, 9 * SIZE + 1] {
            let mut ahead = start(portions(size, Some("damage")));
            let mut found = Vec::new();
            let error = ahead.read_to_end(&mut found).unwrap_err().to_string();
            assert_eq!((error.as_str(), found.len()), ("damage", size));
            assert_eq!(ahead.fill_buf().unwrap(), b"");
        }
    }

    #[test]
    fn only_a_few_buffers_are_read_ahead_and_a_reader_that_stops_ends_the_thread() {
        let stream = portions(usize::MAX, None);
        let given = Arc::clone(&stream.given);
        let mut ahead = start(stream);
        assert_eq!(ahead.read(&mut [0; 5]).unwrap(), 5);
        thread::sleep(Duration::from_millis(200));
        let most = (WAITING + 2) * SIZE;
        assert!(given.load(Ordering::Relaxed) <= most, "{given:?}");
        drop(ahead);
        // The thread drops the stream when it ends, and with it its count.
        let begin = Instant::now();
        while Arc::strong_count(&given) > 1 {
            assert!(begin.elapsed() < Duration::from_secs(10), "the thread goes on");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(given.load(Ordering::Relaxed) <= most, "{given:?}");
    }

    #[test]
    fn a_thread_that_panics_is_an_error_and_not_the_end() {
        struct Panics;
        impl Read for Panics {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("a bug of a decoder");
            }
        }
        let error = start(Panics).read_to_end(&mut Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "the thread that unpacks the file has failed");
    }
}
