//! One GPU: its stream of work, the launch of kernels, and the error that is kept until someone
//! asks.
//!
//! Operations do not wait for the GPU, so that most of them cannot return an error. The first
//! failure is remembered instead; everything that is asked for after it does nothing, until a call
//! that returns a [`Result`] gives the failure back.

use super::compile::{self, Program};
use super::driver::{Context, Event, Gpu, Module, Stream, driver_error};
use super::gemm::{Choice, Gemm};
use super::memory::{Pool, Staging, Usage};
use crate::Result;
use crate::error::DeviceError;
use cudarc::driver::{result, sys};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::rc::Rc;

/// A GPU with everything that is used on it. All work is on one stream, in order.
pub(super) struct Device {
    pub(super) context: Rc<Context>,
    pub(super) stream: Stream,
    pub(super) gemm: Gemm,
    /// The number of multiprocessors.
    pub(super) processors: u32,
    name: String,
    /// The bytes of memory that the GPU has.
    pub(super) total: usize,
    module: Module,
    functions: RefCell<HashMap<&'static str, sys::CUfunction>>,
    pub(super) pool: RefCell<Pool>,
    pub(super) usage: Usage,
    pub(super) staging: RefCell<Staging>,
    failure: RefCell<Option<DeviceError>>,
    /// `None` while no profile is taken.
    profile: RefCell<Option<Vec<Timing>>>,
}

/// An operation, and the events before and after it.
type Timing = (&'static str, Event, Event);

impl Device {
    /// Opens GPU number `ordinal` with the kernels of one program.
    #[expect(unsafe_code, reason = "loads machine code")]
    pub(super) fn open(ordinal: usize, program: Program) -> Result<Rc<Device>> {
        let gpu = Gpu::find(ordinal)?;
        let code = compile::kernels(gpu.architecture, program)?;
        // SAFETY: the code comes from NVRTC, directly or from a file with the right checksum.
        unsafe { Device::with_kernels(gpu, &code, program.choice()) }
    }

    /// Takes everything from the GPU that is needed to work with it. If one part cannot be had, the
    /// parts before it are given back.
    ///
    /// # Safety
    /// `code` must be a whole cubin ([`Module::load`]).
    #[expect(unsafe_code, reason = "loads machine code")]
    unsafe fn with_kernels(gpu: Gpu, code: &[u8], choice: Choice) -> Result<Rc<Device>> {
        let context = Context::open(&gpu)?;
        let total = context.total_memory()?;
        let stream = Stream::new(&context)?;
        // SAFETY: the caller promises that the code is whole.
        let module = unsafe { Module::load(&context, code) }?;
        let staging = Staging::new(&context)?;
        let gemm = Gemm::new(&context, choice)?;
        Ok(Rc::new(Device {
            context,
            stream,
            gemm,
            processors: gpu.processors,
            name: gpu.name,
            total,
            module,
            functions: RefCell::default(),
            pool: RefCell::default(),
            usage: Usage::default(),
            staging: RefCell::new(staging),
            failure: RefCell::default(),
            profile: RefCell::default(),
        }))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Remembers the first failure. Whatever is asked for after it does nothing.
    pub(super) fn fail(&self, error: DeviceError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// Whether there was a failure.
    pub(super) fn failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// The failure that there was, if any.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.failure.borrow() {
            Some(error) => Err(error.clone().into()),
            None => Ok(()),
        }
    }

    /// Remembers the error of a call of the driver, if there is one.
    pub(super) fn note(&self, action: &str, outcome: Result<(), result::DriverError>) {
        if let Err(error) = outcome {
            self.fail(driver_error(action, error));
        }
    }

    /// Waits for all work.
    pub(super) fn wait(&self) -> Result<()> {
        self.note("work on the GPU", self.stream.wait());
        self.check()
    }

    fn function(&self, name: &'static str) -> Result<sys::CUfunction, DeviceError> {
        if let Some(function) = self.functions.borrow().get(name) {
            return Ok(*function);
        }
        let function = self.module.function(name)?;
        self.functions.borrow_mut().insert(name, function);
        Ok(function)
    }

    /// Starts a kernel. Use [`launch!`]. Does nothing after a failure, or if there are no blocks.
    ///
    /// # Safety
    /// - `arguments` must point to the values that the kernel of this name takes, in its order and
    ///   of its types.
    /// - Each address among them must have as many numbers behind it as the kernel reads or writes
    ///   with these values and this size. (It stays valid: memory of a dropped buffer is used again
    ///   only by later work on the same stream.)
    /// - Indices that the kernel reads from memory must be within the tables that they are for.
    #[expect(unsafe_code, reason = "launches a kernel")]
    pub(super) unsafe fn launch(
        &self,
        name: &'static str,
        size: Size,
        arguments: &mut [*mut c_void],
    ) {
        if self.failed() || size.grid.0 == 0 || size.grid.1 == 0 {
            return;
        }
        let function = match self.function(name) {
            Ok(function) => function,
            Err(error) => return self.fail(error),
        };
        if let Err(error) = self.module.allow_shared(function, size.shared) {
            return self.fail(error);
        }
        self.timed(name, || {
            let grid = (size.grid.0, size.grid.1, 1);
            let (block, shared, stream) = ((size.block, 1, 1), size.shared, self.stream.raw());
            // SAFETY: function and stream are alive, and the caller answers for the arguments.
            let outcome =
                unsafe { result::launch_kernel(function, grid, block, shared, stream, arguments) };
            self.note(name, outcome);
        });
    }

    /// Puts something into the stream, and takes the time it needs if there is a profile.
    pub(super) fn timed(&self, name: &'static str, work: impl FnOnce()) {
        if self.profile.borrow().is_none() {
            return work();
        }
        let mark = || {
            let event = Event::timed(&self.context).ok()?;
            event.record(&self.stream).ok()?;
            Some(event)
        };
        let before = mark();
        work();
        if let (Some(before), Some(after)) = (before, mark()) {
            self.profile.borrow_mut().get_or_insert_default().push((name, before, after));
        }
    }

    /// Times every operation from now on.
    pub(super) fn start_profile(&self) {
        self.profile.borrow_mut().get_or_insert_default();
    }

    /// Ends the profile: the milliseconds and the number of calls of each operation, the longest
    /// first.
    pub(super) fn end_profile(&self) -> Vec<(&'static str, f64, usize)> {
        // An error is kept for whoever asks for a result.
        let _ = self.wait();
        let mut sums: BTreeMap<&'static str, (f64, usize)> = BTreeMap::new();
        for (name, before, after) in self.profile.take().unwrap_or_default() {
            let sum = sums.entry(name).or_default();
            sum.0 += f64::from(before.milliseconds_until(&after).unwrap_or_default());
            sum.1 += 1;
        }
        let mut list: Vec<_> =
            sums.into_iter().map(|(name, (time, count))| (name, time, count)).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        list
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Every buffer holds the device, so that all memory is in the pool by now. The fields free
        // what they hold, which the GPU must not be using any more.
        let _ = self.stream.wait();
    }
}

/// How many threads a kernel runs with.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// The number of blocks across and down.
    grid: (u32, u32),
    /// The number of threads in a block.
    block: u32,
    /// The bytes of shared memory that each block asks for.
    shared: u32,
}

impl Size {
    /// As many blocks as give each item a thread.
    pub(super) fn of(items: usize, block: u32) -> Size {
        Size::blocks(items.div_ceil(block as usize), 1, block, 0)
    }

    /// So many blocks across and down.
    pub(super) fn blocks(across: usize, down: usize, block: u32, shared: usize) -> Size {
        Size { grid: (word(across), word(down)), block, shared: word(shared) }
    }
}

/// A count as the kernels take it.
///
/// # Panics
/// If it does not fit into 32 bits.
pub(super) fn word(count: usize) -> u32 {
    u32::try_from(count).expect("the kernels count in 32 bits")
}

/// A value that a kernel takes: an address, a number, or a `repr(C)` struct of these.
pub(super) trait Argument: Copy {
    /// Where the value is, as the driver asks for it.
    fn pointer(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

impl Argument for u32 {}
impl Argument for u64 {}
impl Argument for f32 {}

/// Calls [`Device::launch`] with pointers to the arguments. The call is `unsafe`.
macro_rules! launch {
    ($device:expr, $name:expr, $size:expr, $($argument:expr),+ $(,)?) => {
        $device.launch(
            $name,
            $size,
            &mut [$($crate::cuda::device::Argument::pointer(&$argument)),+],
        )
    };
}
pub(super) use launch;

#[cfg(test)]
mod tests {
    use super::{Choice, Context, Device, Gpu};

    /// Opening a GPU with machine code that the driver refuses fails after context and stream were
    /// made. Nothing may be left of them: the primary context would stay alive.
    #[test]
    #[ignore = "needs an NVIDIA GPU; run with --ignored"]
    #[expect(unsafe_code, reason = "gives the driver machine code that it refuses")]
    fn a_gpu_that_cannot_be_opened_is_given_back() {
        assert!(!Context::is_held(&Gpu::find(0).unwrap()), "no other test of this program has it");
        for _ in 0..3 {
            let code = c"this is not machine code".to_bytes_with_nul();
            // SAFETY: the driver takes what is not machine code for assembly, which ends with a
            // zero as this text does.
            let opened =
                unsafe { Device::with_kernels(Gpu::find(0).unwrap(), code, Choice::ByRows) };
            let error = opened.err().expect("the driver refuses this text").to_string();
            assert!(error.starts_with("loading the kernels: "), "{error}");
            assert!(!Context::is_held(&Gpu::find(0).unwrap()), "the context was not given back");
        }
    }
}
