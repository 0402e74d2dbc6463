//! Where numbers from the GPU arrive: pinned memory, so that the copy is a part of the stream and
//! only the end of the copy itself is waited for.

use super::device::Device;
use super::driver::{Event, Pinned, failed};
use super::memory::Buffer;
use crate::Result;
use cudarc::driver::result;

/// Pinned memory that grows to what the largest copy needs, and the event behind the last copy.
#[derive(Default)]
pub(super) struct Landing {
    memory: Option<(Pinned, Event)>,
    /// The numbers that the memory has room for, and those of the last copy.
    room: usize,
    len: usize,
}

impl Landing {
    /// Starts to copy buffers here, one after the other. What was here before is lost.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn start(&mut self, device: &Device, buffers: &[&Buffer<f32>]) -> Result<()> {
        device.check()?;
        let len = buffers.iter().map(|buffer| buffer.len()).sum();
        self.grow(device, len)?;
        let Some((memory, event)) = &self.memory else { return Ok(()) };
        self.len = len;
        let (mut outcome, mut place) = (Ok(()), 0);
        for buffer in buffers.iter().filter(|buffer| buffer.len() > 0) {
            let len = buffer.len();
            let bytes = len * size_of::<f32>();
            let arrived = memory.at(place * size_of::<f32>(), bytes).cast::<f32>();
            // SAFETY: the pinned memory has room for `len` numbers at this place, is aligned for
            // any of them, and is looked at by nobody before the copy has ended. Any bits are a
            // float.
            let target = unsafe { std::slice::from_raw_parts_mut(arrived, len) };
            let source = buffer.first(len);
            // SAFETY: `source` has `len` numbers, and its memory is used again only by later work
            // on the same stream. `target` is pinned, and is dropped or read only after the copy
            // (`arrived`).
            let copied = unsafe { result::memcpy_dtoh_async(target, source, device.stream.raw()) };
            outcome = outcome.and(copied);
            place += len;
        }
        let recorded = outcome.and_then(|()| event.record(&device.stream));
        recorded.map_err(|error| {
            // Without the event only the end of all work tells that nothing writes here any more.
            let _ = device.stream.wait();
            failed("a copy from the GPU")(error)
        })
    }

    /// Waits for the copies and returns what arrived.
    #[expect(unsafe_code, reason = "reads pinned memory")]
    pub(super) fn arrived(&self, device: &Device) -> Result<&[f32]> {
        device.check()?;
        let Some((memory, event)) = &self.memory else { return Ok(&[]) };
        event.wait().map_err(failed("work on the GPU"))?;
        let arrived = memory.at(0, self.len * size_of::<f32>()).cast::<f32>();
        // SAFETY: the event was recorded behind the copies of `len` numbers to this memory, and
        // the next copy here needs `self` alone.
        Ok(unsafe { std::slice::from_raw_parts(arrived, self.len) })
    }

    /// Makes room for `len` numbers.
    fn grow(&mut self, device: &Device, len: usize) -> Result<()> {
        if self.memory.is_none() || self.room < len {
            self.free();
            let room = len.max(1).next_power_of_two();
            let memory = Pinned::new(&device.context, room * size_of::<f32>())?;
            self.memory = Some((memory, Event::new(&device.context)?));
            (self.room, self.len) = (room, 0);
        }
        Ok(())
    }

    /// Waits for a copy that is still under way, then drops the memory.
    fn free(&mut self) {
        if let Some((memory, event)) = self.memory.take() {
            let _ = event.wait();
            drop(memory);
        }
        (self.room, self.len) = (0, 0);
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.free();
    }
}
