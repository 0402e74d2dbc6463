//! One GPU: its stream, memory that is reused, copies that do not wait, and errors that are kept until someone asks.

use super::compile::{self, Program};
use super::gemm::Gemm;
use crate::{Error, Result};
use cudarc::driver::{result, sys};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::rc::Rc;

/// Bytes of one of the pinned blocks that copies to the device go through.
const STAGE: usize = 8 << 20;
/// Such blocks: the host may be this far ahead of the device.
const STAGES: usize = 8;

/// A GPU with everything that is used on it. All work is on one stream, in order.
pub(super) struct Device {
    pub(super) stream: sys::CUstream,
    pub(super) gemm: Gemm,
    /// Multiprocessors.
    pub(super) processors: u32,
    name: String,
    total: usize,
    functions: RefCell<HashMap<&'static str, sys::CUfunction>>,
    module: sys::CUmodule,
    pool: RefCell<BTreeMap<usize, Vec<u64>>>,
    /// Bytes handed out, and those that belong to stores.
    used: Cell<usize>,
    fixed: Cell<usize>,
    /// Tokens of the last batch, and the most bytes a token has needed so far.
    tokens: Cell<usize>,
    token_bytes: Cell<usize>,
    staging: RefCell<Staging>,
    failure: RefCell<Option<String>>,
    /// `None` while no profile is taken.
    profile: RefCell<Option<Vec<Timing>>>,
}

/// An operation and the events before and after it.
type Timing = (&'static str, sys::CUevent, sys::CUevent);

struct Staging {
    blocks: Vec<(*mut c_void, sys::CUevent)>,
    block: usize,
    used: usize,
}

/// What the driver says, in words.
pub(super) fn driver_error(what: &str, error: result::DriverError) -> Error {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    Error::Device(format!("{what}: {}", text.unwrap_or_else(|_| format!("{error:?}"))))
}

impl Device {
    /// GPU number `ordinal`, with the kernels of one program.
    pub(super) fn open(ordinal: usize, program: Program) -> Result<Rc<Device>> {
        let fail = |what: &'static str| move |error| driver_error(what, error);
        // SAFETY: each call gets what the ones before it made; the primary context stays alive with the process.
        unsafe {
            if !sys::is_culib_present() {
                let problem = "no CUDA driver was found (libcuda.so.1): is this a machine with an NVIDIA GPU?";
                return Err(Error::Device(problem.into()));
            }
            result::init().map_err(fail("the CUDA driver does not start"))?;
            let mut version = 0;
            sys::cuDriverGetVersion(&mut version).result().map_err(fail("the CUDA driver"))?;
            if version < 12_000 {
                let (major, minor) = (version / 1000, version % 1000 / 10);
                let problem = format!(
                    "the GPU's driver is for CUDA {major}.{minor}; 12.0 or later is needed"
                );
                return Err(Error::Device(problem));
            }
            let count = result::device::get_count().map_err(fail("the list of GPUs"))?;
            if ordinal >= count as usize {
                return Err(Error::Device(format!(
                    "there is no GPU number {ordinal}; {count} found"
                )));
            }
            let device = result::device::get(ordinal as i32).map_err(fail("the GPU"))?;
            let attribute =
                |which| result::device::get_attribute(device, which).map_err(fail("the GPU"));
            use sys::CUdevice_attribute as Attribute;
            let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
            let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
            let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
            let name = result::device::get_name(device).map_err(fail("the GPU's name"))?;
            if major < 8 {
                let problem = format!(
                    "{name} has compute capability {major}.{minor}; 8.0 or later is needed"
                );
                return Err(Error::Device(problem));
            }
            let context = result::primary_ctx::retain(device).map_err(fail("the GPU"))?;
            result::ctx::set_current(context).map_err(fail("the GPU"))?;
            let (_, total) = result::mem_get_info().map_err(fail("the GPU's memory"))?;
            let stream = result::stream::create(result::stream::StreamKind::NonBlocking)
                .map_err(fail("a stream on the GPU"))?;
            let code = compile::kernels((major * 10 + minor) as u32, program)?;
            let module =
                result::module::load_data(code.as_ptr().cast()).map_err(fail("the kernels"))?;
            let mut blocks = Vec::new();
            for _ in 0..STAGES {
                let memory = result::malloc_host(STAGE, 0).map_err(fail("pinned memory"))?;
                let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
                blocks.push((memory, result::event::create(flags).map_err(fail("an event"))?));
            }
            Ok(Rc::new(Device {
                stream,
                gemm: Gemm::new()?,
                processors,
                name,
                total,
                functions: RefCell::default(),
                module,
                pool: RefCell::default(),
                used: Cell::new(0),
                fixed: Cell::new(0),
                tokens: Cell::new(0),
                token_bytes: Cell::new(1),
                staging: RefCell::new(Staging { blocks, block: 0, used: 0 }),
                failure: RefCell::default(),
                profile: RefCell::default(),
            }))
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Keeps the first failure; whatever is asked for after it does nothing.
    pub(super) fn fail(&self, problem: impl Into<String>) {
        self.failure.borrow_mut().get_or_insert_with(|| problem.into());
    }

    pub(super) fn failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// The failure there was, if any.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.failure.borrow() {
            Some(problem) => Err(Error::Device(problem.clone())),
            None => Ok(()),
        }
    }

    fn note(&self, what: &str, outcome: Result<(), result::DriverError>) {
        if let Err(error) = outcome {
            self.fail(driver_error(what, error).to_string());
        }
    }

    /// Waits for all work.
    pub(super) fn wait(&self) -> Result<()> {
        // SAFETY: the stream lives as long as the device.
        let outcome = unsafe { result::stream::synchronize(self.stream) };
        self.note("work on the GPU", outcome);
        self.check()
    }

    /// A batch of so many tokens begins: for the message when memory runs out.
    pub(super) fn begin_batch(&self, tokens: usize) {
        self.tokens.set(tokens);
    }

    /// Numbers with any content. All zero bytes where the device has failed.
    pub(super) fn alloc<N>(self: &Rc<Self>, len: usize) -> Buffer<N> {
        let class = size_class((len * size_of::<N>()).max(1));
        let pointer = match self.failed() {
            true => 0,
            false => self.take(class),
        };
        if pointer != 0 {
            self.used.set(self.used.get() + class);
            let moving = self.used.get() - self.fixed.get();
            let each = moving / self.tokens.get().max(256);
            self.token_bytes.set(self.token_bytes.get().max(each));
        }
        Buffer { pointer, len, class, device: Rc::clone(self), kind: PhantomData }
    }

    fn take(&self, class: usize) -> u64 {
        if let Some(pointer) = self.pool.borrow_mut().get_mut(&class).and_then(Vec::pop) {
            return pointer;
        }
        // SAFETY: plain allocations; what is freed is in no buffer's hands.
        unsafe {
            if let Ok(pointer) = result::malloc_sync(class) {
                return pointer;
            }
            // Perhaps blocks of other sizes are in the way.
            let _ = result::stream::synchronize(self.stream);
            for pointer in std::mem::take(&mut *self.pool.borrow_mut()).into_values().flatten() {
                let _ = result::free_sync(pointer);
            }
            if let Ok(pointer) = result::malloc_sync(class) {
                return pointer;
            }
        }
        let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
        let fits =
            (self.total - self.fixed.get().min(self.total)) * 9 / 10 / self.token_bytes.get();
        self.fail(format!(
            "{}: out of memory: {:.2} GiB more asked for with {:.2} of {:.2} GiB in use; a batch of {} tokens is too \
             large, at most about {} would fit",
            self.name,
            gib(class),
            gib(self.used.get()),
            gib(self.total),
            self.tokens.get(),
            fits.min(self.tokens.get() / 2),
        ));
        0
    }

    /// Counts a buffer as one that stays.
    pub(super) fn keep<N>(&self, buffer: &Buffer<N>) {
        self.fixed.set(self.fixed.get() + buffer.class);
    }

    pub(super) fn zeros<N>(self: &Rc<Self>, len: usize) -> Buffer<N> {
        let mut buffer = self.alloc(len);
        self.clear(&mut buffer);
        buffer
    }

    pub(super) fn clear<N>(&self, buffer: &mut Buffer<N>) {
        if !self.failed() && buffer.len > 0 {
            // SAFETY: the buffer has this many bytes.
            let outcome = unsafe {
                result::memset_d8_async(buffer.pointer, 0, buffer.len * size_of::<N>(), self.stream)
            };
            self.note("clearing memory of the GPU", outcome);
        }
    }

    /// Numbers from the host, which need not wait: they go through pinned memory.
    pub(super) fn upload<N: Copy>(self: &Rc<Self>, numbers: &[N]) -> Buffer<N> {
        let mut buffer = self.alloc(numbers.len());
        self.write(&mut buffer, 0, numbers);
        buffer
    }

    /// Copies a buffer to another of the same length.
    pub(super) fn copy<N>(&self, from: &Buffer<N>, to: &mut Buffer<N>) {
        if !self.failed() && from.len == to.len && from.len > 0 {
            // SAFETY: both have this many bytes.
            let outcome = unsafe {
                result::memcpy_dtod_async(
                    to.pointer,
                    from.pointer,
                    from.len * size_of::<N>(),
                    self.stream,
                )
            };
            self.note("a copy within the GPU", outcome);
        }
    }

    /// Replaces numbers of a buffer from number `at` on.
    pub(super) fn write<N: Copy>(&self, buffer: &mut Buffer<N>, at: usize, numbers: &[N]) {
        let each = STAGE / size_of::<N>();
        for (i, part) in numbers.chunks(each).enumerate() {
            if self.failed() {
                return;
            }
            let outcome = self.write_part(buffer.at(at + i * each), part);
            self.note("a copy to the GPU", outcome);
        }
    }

    fn write_part<N: Copy>(&self, to: u64, part: &[N]) -> Result<(), result::DriverError> {
        let mut staging = self.staging.borrow_mut();
        let bytes = size_of_val(part);
        // SAFETY: the block is not read by a copy any more once its event has passed, the part fits into what is left
        // of it, and the copy's target has room for it (`write` and `upload`).
        unsafe {
            if staging.used + bytes > STAGE {
                result::event::record(staging.blocks[staging.block].1, self.stream)?;
                staging.block = (staging.block + 1) % STAGES;
                staging.used = 0;
                result::event::synchronize(staging.blocks[staging.block].1)?;
            }
            let from = staging.blocks[staging.block].0.cast::<u8>().add(staging.used);
            std::ptr::copy_nonoverlapping(part.as_ptr().cast::<u8>(), from, bytes);
            staging.used += bytes.next_multiple_of(256);
            result::memcpy_htod_async(to, std::slice::from_raw_parts(from, bytes), self.stream)
        }
    }

    /// Numbers to the host; waits.
    pub(super) fn read<N: Copy + Default>(
        &self,
        buffer: &Buffer<N>,
        at: usize,
        len: usize,
    ) -> Result<Vec<N>> {
        self.wait()?;
        let mut numbers = vec![N::default(); len];
        if len > 0 {
            // SAFETY: `len` numbers from `at` on are in the buffer, and all work on them is done.
            let outcome = unsafe { result::memcpy_dtoh_sync(&mut numbers, buffer.at(at)) };
            self.note("a copy from the GPU", outcome);
        }
        self.check()?;
        Ok(numbers)
    }

    fn function(&self, name: &'static str) -> Result<sys::CUfunction> {
        if let Some(function) = self.functions.borrow().get(name) {
            return Ok(*function);
        }
        let symbol = CString::new(name).map_err(|e| Error::Device(e.to_string()))?;
        // SAFETY: the module is loaded and stays so.
        let function = unsafe { result::module::get_function(self.module, symbol) }
            .map_err(|error| driver_error(name, error))?;
        self.functions.borrow_mut().insert(name, function);
        Ok(function)
    }

    /// Starts a kernel. Use [`launch!`].
    pub(super) fn launch(&self, name: &'static str, size: Size, arguments: &mut [*mut c_void]) {
        if self.failed() || size.grid.0 == 0 || size.grid.1 == 0 {
            return;
        }
        let function = match self.function(name) {
            Ok(function) => function,
            Err(error) => return self.fail(error.to_string()),
        };
        self.timed(name, || {
            // SAFETY: the arguments are those of the kernel of this name (each call stands beside its kernel's list), and
            // buffers outlive the work on them: they are reused only by work that comes later on the same stream.
            let outcome = unsafe {
                result::launch_kernel(
                    function,
                    (size.grid.0, size.grid.1, 1),
                    (size.block, 1, 1),
                    size.shared,
                    self.stream,
                    arguments,
                )
            };
            self.note(name, outcome);
        });
    }

    /// Does something on the stream, timed where a profile is wanted.
    pub(super) fn timed(&self, name: &'static str, work: impl FnOnce()) {
        if self.profile.borrow().is_none() {
            return work();
        }
        let event = || {
            let event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).ok()?;
            // SAFETY: the event was just made.
            unsafe { result::event::record(event, self.stream) }.ok()?;
            Some(event)
        };
        let before = event();
        work();
        if let (Some(before), Some(after)) = (before, event()) {
            self.profile.borrow_mut().get_or_insert_default().push((name, before, after));
        }
    }

    /// From now on every operation is timed.
    pub(super) fn start_profile(&self) {
        self.profile.borrow_mut().get_or_insert_default();
    }

    /// Milliseconds and calls by operation since the profile was started, the largest first; it ends here.
    pub(super) fn end_profile(&self) -> Vec<(&'static str, f64, usize)> {
        let _ = self.wait();
        let mut sums: BTreeMap<&'static str, (f64, usize)> = BTreeMap::new();
        for (name, before, after) in self.profile.take().unwrap_or_default() {
            // SAFETY: both events were recorded, and all work is done; none is used again.
            unsafe {
                let sum = sums.entry(name).or_default();
                sum.0 += f64::from(result::event::elapsed(before, after).unwrap_or_default());
                sum.1 += 1;
                let _ = result::event::destroy(before);
                let _ = result::event::destroy(after);
            }
        }
        let mut list: Vec<_> =
            sums.into_iter().map(|(name, (time, count))| (name, time, count)).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1));
        list
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: every buffer holds the device, so all memory is back in the pool; nothing is used after this.
        unsafe {
            let _ = result::stream::synchronize(self.stream);
            for pointer in std::mem::take(self.pool.get_mut()).into_values().flatten() {
                let _ = result::free_sync(pointer);
            }
            for (memory, event) in self.staging.get_mut().blocks.drain(..) {
                let _ = result::free_host(memory);
                let _ = result::event::destroy(event);
            }
            let _ = result::module::unload(self.module);
            let _ = result::stream::destroy(self.stream);
        }
    }
}

/// How many threads a kernel runs with.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) grid: (u32, u32),
    pub(super) block: u32,
    pub(super) shared: u32,
}

impl Size {
    /// Blocks of threads, one thread an item.
    pub(super) fn of(items: usize, block: u32) -> Size {
        Size { grid: (items.div_ceil(block as usize) as u32, 1), block, shared: 0 }
    }

    pub(super) fn blocks(x: usize, y: usize, block: u32, shared: usize) -> Size {
        Size { grid: (x as u32, y as u32), block, shared: shared as u32 }
    }
}

/// Starts a kernel with its arguments, which are plain values: addresses, numbers, `repr(C)` structs.
macro_rules! launch {
    ($device:expr, $name:expr, $size:expr, $($argument:expr),+ $(,)?) => {
        $device.launch($name, $size, &mut [$((&raw const *&$argument).cast_mut().cast()),+])
    };
}
pub(super) use launch;

/// Sizes of blocks: four steps between powers of two, so that batches of similar length reuse each other's memory.
fn size_class(bytes: usize) -> usize {
    let bytes = bytes.max(512);
    let step = (bytes.next_power_of_two() / 8).max(256);
    bytes.next_multiple_of(step)
}

/// Numbers in the GPU's memory, given back to the pool when dropped.
pub(super) struct Buffer<N> {
    pointer: u64,
    len: usize,
    class: usize,
    device: Rc<Device>,
    kind: PhantomData<N>,
}

impl<N> Buffer<N> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The address.
    pub(super) fn pointer(&self) -> u64 {
        self.pointer
    }

    /// The address of number `i`.
    pub(super) fn at(&self, i: usize) -> u64 {
        self.pointer + (i * size_of::<N>()) as u64
    }
}

impl<N> Drop for Buffer<N> {
    fn drop(&mut self) {
        if self.pointer != 0 {
            self.device.used.set(self.device.used.get() - self.class);
            // Work that still uses it was given to the stream before whatever will use it next.
            self.device.pool.borrow_mut().entry(self.class).or_default().push(self.pointer);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_are_at_most_a_quarter_larger_than_asked_for() {
        for bytes in [1usize, 511, 513, 5000, 1 << 20, (1 << 20) + 1, 123_456_789] {
            let class = super::size_class(bytes);
            assert!(class >= bytes && (class <= bytes + bytes / 4 + 512), "{bytes} became {class}");
            assert_eq!(class, super::size_class(class), "{bytes}");
        }
    }
}
