//! Several GPUs of one machine: sums over them by NCCL, which is loaded when it is first asked for.
//!
//! cudarc looks for NCCL under a name that only development packages have, so that the few functions used are looked up
//! here.

use super::device::Buffer;
use super::{Cuda, CudaStore, Number};
use crate::train::{Exchange, Rank};
use crate::{Error, Result};
use cudarc::driver::sys::CUstream;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Where NCCL may be: release 2 is what all since 2017 are called.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The meeting point of ranks: made by one process, handed to all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct NcclId([u8; 128]);

/// A communicator, as NCCL knows it.
type Comm = *mut c_void;
type AllReduce =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CUstream) -> c_int;

/// `ncclFloat32`, `ncclFloat64` and `ncclSum` of nccl.h.
const FLOAT32: c_int = 7;
const FLOAT64: c_int = 8;
const SUM: c_int = 0;

/// The library's functions; the library stays loaded as long as they are here.
struct Functions {
    unique_id: unsafe extern "C" fn(*mut NcclId) -> c_int,
    init_rank: unsafe extern "C" fn(*mut Comm, c_int, NcclId, c_int) -> c_int,
    all_reduce: AllReduce,
    abort: unsafe extern "C" fn(Comm) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    _library: Library,
}

impl Functions {
    fn load() -> Result<Functions> {
        // SAFETY: loading a library by name, and looking its functions up by theirs; types are those of nccl.h.
        unsafe {
            let library = NAMES.into_iter().find_map(|name| Library::new(name).ok()).ok_or_else(|| {
                let problem = "NCCL (libnccl.so.2), which several GPUs need, was not found; add its folder to \
                               LD_LIBRARY_PATH";
                Error::Device(problem.into())
            })?;
            macro_rules! function {
                ($name:literal) => {
                    *library.get($name).map_err(|e| Error::Device(format!("NCCL: {e}")))?
                };
            }
            Ok(Functions {
                unique_id: function!("ncclGetUniqueId"),
                init_rank: function!("ncclCommInitRank"),
                all_reduce: function!("ncclAllReduce"),
                abort: function!("ncclCommAbort"),
                error_string: function!("ncclGetErrorString"),
                _library: library,
            })
        }
    }

    fn check(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: NCCL returns a constant string for any code.
        let text = unsafe { CStr::from_ptr((self.error_string)(code)) }.to_string_lossy();
        Err(Error::Device(format!("NCCL: {what}: {text} (NCCL_DEBUG=WARN tells more)")))
    }
}

impl NcclId {
    /// A new meeting point. The process that makes it must live until all ranks have met.
    ///
    /// # Errors
    /// If NCCL is not found, or finds no network interface.
    pub fn new() -> Result<NcclId> {
        let functions = Functions::load()?;
        let mut id = NcclId([0; 128]);
        // SAFETY: the id has the size of `ncclUniqueId`.
        let code = unsafe { (functions.unique_id)(&mut id) };
        functions.check("a meeting point", code)?;
        // A thread of NCCL's waits there for the ranks, so that the library must stay.
        std::mem::forget(functions);
        Ok(id)
    }
}

/// As hexadecimal digits, for another process.
impl std::fmt::Display for NcclId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for NcclId {
    type Err = Error;

    fn from_str(digits: &str) -> Result<NcclId> {
        let wrong = || Error::Device("a meeting point has 256 hexadecimal digits".into());
        let mut id = NcclId([0; 128]);
        if digits.len() != 256 || !digits.is_ascii() {
            return Err(wrong());
        }
        for (i, byte) in id.0.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).map_err(|_| wrong())?;
        }
        Ok(id)
    }
}

/// A rank among GPUs that train together.
pub struct Nccl {
    functions: Functions,
    comm: Comm,
    rank: Rank,
}

impl Nccl {
    /// Meets the other ranks; waits until all are there.
    ///
    /// # Errors
    /// If NCCL is not found, or the ranks cannot reach each other.
    pub fn join<N: Number>(cuda: &Cuda<N>, rank: Rank, id: NcclId) -> Result<Nccl> {
        cuda.wait()?;
        let mut nccl = Nccl { functions: Functions::load()?, comm: null_mut(), rank };
        let (ranks, number) = (rank.of as c_int, rank.number as c_int);
        // SAFETY: the GPU's context is this thread's; the communicator is destroyed once.
        let code = unsafe { (nccl.functions.init_rank)(&mut nccl.comm, ranks, id, number) };
        nccl.functions.check("meeting the other GPUs", code)?;
        Ok(nccl)
    }

    /// Sums numbers of the GPU in place, in the order of its other work.
    fn sum_in_place<N: Number>(
        &self,
        cuda: &Cuda<N>,
        (pointer, count): (u64, usize),
        kind: c_int,
    ) -> Result<()> {
        let device = cuda.device();
        device.check()?;
        let mut outcome = 0;
        device.timed("sum over GPUs", || {
            let numbers = pointer as *mut c_void;
            // SAFETY: as many numbers of this kind are there, and stay until later work on the same stream.
            outcome = unsafe {
                (self.functions.all_reduce)(
                    numbers,
                    numbers,
                    count,
                    kind,
                    SUM,
                    self.comm,
                    device.stream,
                )
            };
        });
        self.functions.check("a sum over the GPUs", outcome)
    }
}

impl Drop for Nccl {
    fn drop(&mut self) {
        if !self.comm.is_null() {
            // `ncclCommDestroy` may wait for ranks that wait for this one, which has failed. Where nothing has, no sum is
            // under way: a run ends with one whose result was read.
            // SAFETY: made in `join`.
            unsafe { (self.functions.abort)(self.comm) };
        }
    }
}

impl<N: Number> Exchange<Cuda<N>> for Nccl {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn sum_gradients(&self, cuda: &Cuda<N>, store: &mut CudaStore<N>, _: usize) -> Result<()> {
        self.sum_in_place(cuda, store.gradients(cuda.device()), FLOAT32)
    }

    fn sum(&self, cuda: &Cuda<N>, numbers: &mut [f64]) -> Result<()> {
        let there: Buffer<f64> = cuda.device().upload(numbers);
        self.sum_in_place(cuda, (there.pointer(), numbers.len()), FLOAT64)?;
        numbers.copy_from_slice(&cuda.device().read(&there, 0, numbers.len())?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Functions, NcclId};

    #[test]
    fn a_meeting_point_is_handed_over_as_text() {
        let id = NcclId(std::array::from_fn(|i| (7 * i) as u8));
        assert_eq!(id.to_string().parse::<NcclId>().unwrap(), id);
        assert!("07".parse::<NcclId>().is_err());
        assert!("x".repeat(256).parse::<NcclId>().is_err());
    }

    #[test]
    #[allow(clippy::print_stderr)]
    fn nccl_is_found_or_said_to_be_missing() {
        match Functions::load() {
            Err(error) => {
                assert!(error.to_string().contains("LD_LIBRARY_PATH"), "{error}");
                eprintln!("skipped: {error}");
            }
            Ok(functions) => {
                let error = functions.check("a test", 4).unwrap_err().to_string();
                assert!(error.contains("invalid argument"), "{error}");
            }
        }
    }
}
