//! Where numbers from the GPU arrive: pinned memory, so that the copy is part of the stream and only its own end is
//! waited for.

use super::device::{Buffer, Device, driver_error};
use crate::Result;
use cudarc::driver::{result, sys};
use std::ffi::c_void;

/// Pinned memory that grows to what the largest copy needs, and an event after the copy.
#[derive(Default)]
pub(super) struct Landing {
    memory: Option<(*mut c_void, sys::CUevent)>,
    room: usize,
    len: usize,
}

impl Landing {
    /// Starts to copy a buffer here; what was here before is lost.
    pub(super) fn start(&mut self, device: &Device, buffer: &Buffer<f32>) -> Result<()> {
        device.check()?;
        let fail = |error| driver_error("a copy from the GPU", error);
        if self.room < buffer.len() || self.memory.is_none() {
            self.free();
            let room = buffer.len().max(1).next_power_of_two();
            // SAFETY: the thread's context is the device's; both are given back in `free`.
            let memory =
                unsafe { result::malloc_host(room * size_of::<f32>(), 0) }.map_err(fail)?;
            let event =
                result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(fail)?;
            (self.memory, self.room) = (Some((memory, event)), room);
        }
        self.len = buffer.len();
        if let Some((memory, event)) = self.memory {
            // SAFETY: the pinned memory has room for the buffer's numbers, nobody else looks at it before the event,
            // and the buffer's memory is used again only by later work on the same stream.
            unsafe {
                let to = std::slice::from_raw_parts_mut(memory.cast::<f32>(), self.len);
                result::memcpy_dtoh_async(to, buffer.pointer(), device.stream).map_err(fail)?;
                result::event::record(event, device.stream).map_err(fail)?;
            }
        }
        Ok(())
    }

    /// Waits for the copy; what arrived.
    pub(super) fn finish(&mut self, device: &Device) -> Result<Vec<f32>> {
        device.check()?;
        let Some((memory, event)) = self.memory else { return Ok(Vec::new()) };
        // SAFETY: the event was recorded after the copy of `len` numbers to this memory.
        unsafe {
            result::event::synchronize(event)
                .map_err(|error| driver_error("work on the GPU", error))?;
            Ok(std::slice::from_raw_parts(memory.cast::<f32>(), self.len).to_vec())
        }
    }

    fn free(&mut self) {
        if let Some((memory, event)) = self.memory.take() {
            // SAFETY: made in `start`; a copy that is still under way is waited for.
            unsafe {
                let _ = result::event::synchronize(event);
                let _ = result::free_host(memory);
                let _ = result::event::destroy(event);
            }
        }
        self.room = 0;
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.free();
    }
}
