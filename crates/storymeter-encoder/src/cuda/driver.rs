//! Handles of the CUDA driver that give themselves back when they are dropped.
//!
//! Every handle keeps the context it was made in alive, so that the order in which handles are
//! dropped does not matter, and an error half way through opening a GPU leaves nothing behind.
//! None of them can leave its thread (they hold an [`Rc`]), where their context is current.

use crate::error::DeviceError;
use crate::{Error, Result};
use cudarc::driver::{result, sys};
use std::ffi::{CString, c_void};
use std::rc::Rc;

/// The oldest driver that can load what NVRTC compiles, as the driver counts versions.
const OLDEST_DRIVER: i32 = 12_000;

/// The bytes of shared memory that a block may have without asking.
pub(super) const PLAIN_SHARED: u32 = 48 << 10;

/// The error of a call that failed while something was being done.
pub(super) fn driver_error(action: &str, error: result::DriverError) -> DeviceError {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    let message = text.unwrap_or_else(|_| format!("{error:?}"));
    DeviceError::Driver { action: action.into(), message }
}

/// [`driver_error`] for `map_err`.
pub(super) fn failed(action: &'static str) -> impl Fn(result::DriverError) -> Error {
    move |error| driver_error(action, error).into()
}

/// A GPU that the kernels run on, before anything is taken from it.
pub(super) struct Gpu {
    device: sys::CUdevice,
    pub(super) name: String,
    /// The compute capability: 90 for Hopper.
    pub(super) architecture: u32,
    /// The number of multiprocessors.
    pub(super) processors: u32,
}

impl Gpu {
    /// Looks GPU number `ordinal` up, and checks that it and its driver are new enough.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn find(ordinal: usize) -> Result<Gpu> {
        use sys::CUdevice_attribute as Attribute;
        // SAFETY: this only tries to load the driver's library by its name.
        if !unsafe { sys::is_culib_present() } {
            return Err(DeviceError::NoDriver.into());
        }
        result::init().map_err(failed("the CUDA driver does not start"))?;
        let mut version = 0;
        // SAFETY: the driver writes one integer.
        let outcome = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
        outcome.map_err(failed("the version of the CUDA driver"))?;
        if version < OLDEST_DRIVER {
            let found = format!("{}.{}", version / 1000, version % 1000 / 10);
            let what = "the GPU's driver is for CUDA".into();
            return Err(DeviceError::TooOld { what, found, needed: "12.0" }.into());
        }
        let count = result::device::get_count().map_err(failed("the number of GPUs"))?;
        let number = i32::try_from(ordinal).ok().filter(|number| *number < count);
        let Some(number) = number else {
            let count = usize::try_from(count).unwrap_or_default();
            return Err(DeviceError::NoGpu { ordinal, count }.into());
        };
        let device = result::device::get(number).map_err(failed("the GPU"))?;
        let attribute = |which| {
            // SAFETY: `device` comes from `result::device::get`.
            let value = unsafe { result::device::get_attribute(device, which) };
            value.map_err(failed("the GPU's attributes")).map(|value| value.unsigned_abs())
        };
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let name = result::device::get_name(device).map_err(failed("the GPU's name"))?;
        if major < 8 {
            let what = format!("{name} has compute capability");
            let found = format!("{major}.{minor}");
            return Err(DeviceError::TooOld { what, found, needed: "8.0" }.into());
        }
        Ok(Gpu { device, name, architecture: major * 10 + minor, processors })
    }
}

/// The primary context of a GPU, current on the thread that opened it.
pub(super) struct Context {
    device: sys::CUdevice,
}

impl Context {
    /// Takes the context and makes it the current one of this thread.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn open(gpu: &Gpu) -> Result<Rc<Context>> {
        // SAFETY: `Gpu::find` had the device from the driver.
        let raw = unsafe { result::primary_ctx::retain(gpu.device) };
        let raw = raw.map_err(failed("the GPU's context"))?;
        // From here on the context is given back, whatever happens.
        let context = Rc::new(Context { device: gpu.device });
        // SAFETY: the context was retained above, and stays retained as long as `context` lives.
        unsafe { result::ctx::set_current(raw) }.map_err(failed("the GPU's context"))?;
        Ok(context)
    }

    /// The bytes of memory that the GPU has.
    pub(super) fn total_memory(&self) -> Result<usize> {
        let (_, total) = result::mem_get_info().map_err(failed("the GPU's memory"))?;
        Ok(total)
    }

    /// Whether anyone in this process holds the primary context of the GPU.
    #[cfg(test)]
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn is_held(gpu: &Gpu) -> bool {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: the device comes from the driver, which writes two integers.
        let outcome =
            unsafe { sys::cuDevicePrimaryCtxGetState(gpu.device, &mut flags, &mut active) };
        outcome.result().unwrap();
        active != 0
    }
}

impl Drop for Context {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: retained once in `Context::open`. Every handle of this context holds it, so none
        // is left that could be used afterwards.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// A queue of work on the GPU.
pub(super) struct Stream {
    raw: sys::CUstream,
    _context: Rc<Context>,
}

impl Stream {
    pub(super) fn new(context: &Rc<Context>) -> Result<Stream> {
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking)
            .map_err(failed("a stream on the GPU"))?;
        Ok(Stream { raw, _context: Rc::clone(context) })
    }

    /// The handle, valid as long as `self` is.
    pub(super) fn raw(&self) -> sys::CUstream {
        self.raw
    }

    /// Waits until all work in the queue is done.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn wait(&self) -> Result<(), result::DriverError> {
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.raw) }
    }
}

impl Drop for Stream {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: made in `Stream::new` and destroyed only here.
        let _ = unsafe { result::stream::destroy(self.raw) };
    }
}

/// A mark in a stream that can be waited for.
pub(super) struct Event {
    raw: sys::CUevent,
    _context: Rc<Context>,
}

impl Event {
    /// A mark that is only waited for.
    pub(super) fn new(context: &Rc<Context>) -> Result<Event> {
        Event::with_flags(context, sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    /// A mark that also remembers when it was passed.
    pub(super) fn timed(context: &Rc<Context>) -> Result<Event> {
        Event::with_flags(context, sys::CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn with_flags(context: &Rc<Context>, flags: sys::CUevent_flags) -> Result<Event> {
        let raw = result::event::create(flags).map_err(failed("an event on the GPU"))?;
        Ok(Event { raw, _context: Rc::clone(context) })
    }

    /// Puts the mark behind all work that the stream has now.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn record(&self, stream: &Stream) -> Result<(), result::DriverError> {
        // SAFETY: both handles are alive.
        unsafe { result::event::record(self.raw, stream.raw) }
    }

    /// Waits until the stream has passed the mark.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn wait(&self) -> Result<(), result::DriverError> {
        // SAFETY: the event is alive. One that was never recorded counts as passed.
        unsafe { result::event::synchronize(self.raw) }
    }

    /// The milliseconds between two timed marks that the stream has passed.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn milliseconds_until(&self, end: &Event) -> Option<f32> {
        // SAFETY: both events are alive; the driver refuses events that it cannot compare.
        unsafe { result::event::elapsed(self.raw, end.raw) }.ok()
    }
}

impl Drop for Event {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: made in `with_flags` and destroyed only here.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

/// Compiled kernels in the GPU's memory.
pub(super) struct Module {
    raw: sys::CUmodule,
    _context: Rc<Context>,
}

impl Module {
    /// Loads machine code.
    ///
    /// # Safety
    /// `code` must be a whole cubin, as NVRTC writes it: the driver follows its tables without
    /// knowing how long it is.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) unsafe fn load(context: &Rc<Context>, code: &[u8]) -> Result<Module> {
        // SAFETY: the caller promises that the code is whole.
        let raw = unsafe { result::module::load_data(code.as_ptr().cast()) };
        let raw = raw.map_err(failed("loading the kernels"))?;
        Ok(Module { raw, _context: Rc::clone(context) })
    }

    /// The kernel of this name. The handle is valid as long as `self` is.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn function(&self, name: &'static str) -> Result<sys::CUfunction, DeviceError> {
        let mismatch = |_| DeviceError::Mismatch(format!("{name:?} is not the name of a kernel"));
        let symbol = CString::new(name).map_err(mismatch)?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.raw, symbol) };
        function.map_err(|error| driver_error(name, error))
    }

    /// Lets a kernel of this module have so many bytes of shared memory per block. More than
    /// [`PLAIN_SHARED`] must be asked for.
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn allow_shared(
        &self,
        function: sys::CUfunction,
        bytes: u32,
    ) -> Result<(), DeviceError> {
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SHARED;
        if bytes <= PLAIN_SHARED {
            return Ok(());
        }
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: the function is one of this module, which is loaded.
        let outcome = unsafe { result::function::set_function_attribute(function, SHARED, bytes) };
        outcome.map_err(|error| driver_error("shared memory of a kernel", error))
    }
}

impl Drop for Module {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: made in `Module::load` and unloaded only here.
        let _ = unsafe { result::module::unload(self.raw) };
    }
}

/// Memory of the host that the GPU can read and write directly.
///
/// Whoever hands its address to the GPU must wait for that work before the memory is dropped.
pub(super) struct Pinned {
    pointer: *mut c_void,
    bytes: usize,
    _context: Rc<Context>,
}

impl Pinned {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn new(context: &Rc<Context>, bytes: usize) -> Result<Pinned> {
        // SAFETY: a plain allocation; the thread's context is `context`.
        let pointer = unsafe { result::malloc_host(bytes, 0) };
        let pointer = pointer.map_err(failed("pinned memory for copies"))?;
        Ok(Pinned { pointer, bytes, _context: Rc::clone(context) })
    }

    /// The address of byte `at`, behind which there are at least `len` bytes.
    ///
    /// # Panics
    /// If there are not that many bytes.
    #[expect(unsafe_code, reason = "moves a pointer within its allocation")]
    pub(super) fn at(&self, at: usize, len: usize) -> *mut u8 {
        assert!(
            at.checked_add(len).is_some_and(|end| end <= self.bytes),
            "{len} bytes from {at} on are not in a block of {}",
            self.bytes
        );
        // SAFETY: the assertion keeps the address within the allocation.
        unsafe { self.pointer.cast::<u8>().add(at) }
    }
}

impl Drop for Pinned {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: made in `Pinned::new` and freed only here.
        let _ = unsafe { result::free_host(self.pointer) };
    }
}

/// A block of the GPU's memory.
///
/// Whoever drops it must have waited for the work that uses it.
pub(super) struct Block {
    address: u64,
    _context: Rc<Context>,
}

impl Block {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    pub(super) fn new(context: &Rc<Context>, bytes: usize) -> Result<Block, result::DriverError> {
        // SAFETY: a plain allocation; the thread's context is `context`.
        let address = unsafe { result::malloc_sync(bytes) }?;
        Ok(Block { address, _context: Rc::clone(context) })
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Block {
    #[expect(unsafe_code, reason = "calls the CUDA driver")]
    fn drop(&mut self) {
        // SAFETY: made in `Block::new` and freed only here.
        let _ = unsafe { result::free_sync(self.address) };
    }
}
