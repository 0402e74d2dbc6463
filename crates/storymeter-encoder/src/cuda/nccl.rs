//! Several GPUs of one machine: sums over them by NCCL, which is loaded when it is first asked for.
//!
//! cudarc looks for NCCL under a name that only development packages have. The few functions that
//! are needed are therefore looked up here.

use super::device::Device;
use super::memory::{Buffer, Plain, View};
use super::{Cuda, CudaStore, Number};
use crate::error::DeviceError;
use crate::train::{Exchange, Rank};
use crate::{Error, Result};
use cudarc::driver::sys::CUstream;
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

/// The names that NCCL may have. Every release since 2017 is release 2.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The meeting point of ranks: made by one process and handed to all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct NcclId([u8; 128]);

/// A communicator, as NCCL knows it.
type Comm = *mut c_void;
type AllReduce =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Comm, CUstream) -> c_int;

/// `ncclSum` of nccl.h.
const SUM: c_int = 0;

/// Numbers that NCCL can sum.
trait Summed: Plain {
    /// The number of the type in nccl.h.
    const KIND: c_int;
}

impl Summed for f32 {
    const KIND: c_int = 7;
}

impl Summed for f64 {
    const KIND: c_int = 8;
}

/// The functions of the library, which stays loaded as long as they are here.
struct Functions {
    unique_id: unsafe extern "C" fn(*mut NcclId) -> c_int,
    init_rank: unsafe extern "C" fn(*mut Comm, c_int, NcclId, c_int) -> c_int,
    all_reduce: AllReduce,
    abort: unsafe extern "C" fn(Comm) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    _library: Library,
}

impl Functions {
    #[expect(unsafe_code, reason = "loads NCCL and looks its functions up")]
    fn load(names: &[&str]) -> Result<Functions> {
        // SAFETY: NCCL does nothing when it is loaded that other code could rely on not being done.
        let load = |name: &&str| unsafe { Library::new(*name) }.ok();
        let library = names.iter().find_map(load).ok_or(DeviceError::MissingLibrary {
            library: "NCCL (libnccl.so.2), which several GPUs need,",
        })?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the field that the function goes to has its type in nccl.h.
                let function = unsafe { library.get($name) };
                *function.map_err(|error| failed("loading", error.to_string()))?
            }};
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

    #[expect(unsafe_code, reason = "calls NCCL")]
    fn check(&self, what: &str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: NCCL returns a constant string for any code.
        let text = unsafe { CStr::from_ptr((self.error_string)(code)) }.to_string_lossy();
        Err(failed(what, format!("{text} (NCCL_DEBUG=WARN tells more)")))
    }
}

fn failed(what: &str, message: String) -> Error {
    DeviceError::Driver { action: format!("NCCL: {what}"), message }.into()
}

impl NcclId {
    /// Makes a new meeting point. The process that makes it must live until all ranks have met.
    ///
    /// # Errors
    /// Returns an error if NCCL is not found, or finds no network interface.
    #[expect(unsafe_code, reason = "calls NCCL")]
    pub fn new() -> Result<NcclId> {
        let functions = Functions::load(&NAMES)?;
        let mut id = NcclId([0; 128]);
        // SAFETY: the id has the size of `ncclUniqueId`.
        let code = unsafe { (functions.unique_id)(&mut id) };
        functions.check("a meeting point", code)?;
        // A thread of NCCL waits at the meeting point for the ranks, so that the library must stay.
        std::mem::forget(functions);
        Ok(id)
    }
}

/// The meeting point as hexadecimal digits, for another process.
impl std::fmt::Display for NcclId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for NcclId {
    type Err = Error;

    fn from_str(digits: &str) -> Result<NcclId> {
        let mut id = NcclId([0; 128]);
        if digits.len() != 256 || !digits.is_ascii() {
            return Err(DeviceError::BadMeetingPoint.into());
        }
        for (i, byte) in id.0.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16)
                .map_err(|_| DeviceError::BadMeetingPoint)?;
        }
        Ok(id)
    }
}

/// One of the GPUs that train together.
pub struct Nccl {
    functions: Functions,
    comm: Comm,
    rank: Rank,
    /// The communicator must not outlive the GPU's context.
    device: Rc<Device>,
}

impl Nccl {
    /// Meets the other ranks. Waits until all of them are there.
    ///
    /// # Errors
    /// Returns an error if NCCL is not found, or the ranks cannot reach each other.
    #[expect(unsafe_code, reason = "calls NCCL")]
    pub fn join<N: Number>(cuda: &Cuda<N>, rank: Rank, id: NcclId) -> Result<Nccl> {
        cuda.wait()?;
        let device = Rc::clone(cuda.device());
        let mut nccl = Nccl { functions: Functions::load(&NAMES)?, comm: null_mut(), rank, device };
        let count = |number: usize| {
            c_int::try_from(number).map_err(|_| failed("joining", format!("rank {number}")))
        };
        let (ranks, number) = (count(rank.of)?, count(rank.number)?);
        // SAFETY: the GPU's context is that of this thread, and NCCL writes one handle.
        let code = unsafe { (nccl.functions.init_rank)(&mut nccl.comm, ranks, id, number) };
        nccl.functions.check("meeting the other GPUs", code)?;
        Ok(nccl)
    }

    /// Replaces numbers on the GPU by their sums over all ranks, in the order of its other work.
    #[expect(unsafe_code, reason = "calls NCCL")]
    fn sum_in_place<M: Summed>(&self, device: &Rc<Device>, numbers: View<'_, M>) -> Result<()> {
        if !Rc::ptr_eq(device, &self.device) {
            let problem = "these numbers are on another GPU than the one that joined".into();
            return Err(DeviceError::Mismatch(problem).into());
        }
        device.check()?;
        let mut outcome = 0;
        device.timed("sum over GPUs", || {
            let count = numbers.len();
            let address = numbers.first(count) as *mut c_void;
            let (comm, stream) = (self.comm, device.stream.raw());
            // SAFETY: there are `count` numbers of this kind at the address, which stay there until
            // later work on the same stream; communicator and stream are alive.
            outcome = unsafe {
                (self.functions.all_reduce)(address, address, count, M::KIND, SUM, comm, stream)
            };
        });
        self.functions.check("a sum over the GPUs", outcome)
    }
}

impl Drop for Nccl {
    #[expect(unsafe_code, reason = "calls NCCL")]
    fn drop(&mut self) {
        if !self.comm.is_null() {
            // `ncclCommDestroy` may wait for ranks that wait for this one, which has failed. If
            // nothing has failed no sum is under way: a run ends with one whose result was read.
            // SAFETY: made in `join` and given back only here.
            unsafe { (self.functions.abort)(self.comm) };
        }
    }
}

impl<N: Number> Exchange<Cuda<N>> for Nccl {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn sum_gradients(&self, cuda: &Cuda<N>, store: &mut CudaStore<N>, _: usize) -> Result<()> {
        self.sum_in_place(cuda.device(), store.gradients(cuda.device()))
    }

    fn sum(&self, cuda: &Cuda<N>, numbers: &mut [f64]) -> Result<()> {
        let sums: Buffer<f64> = cuda.device().upload(numbers);
        self.sum_in_place(cuda.device(), sums.view())?;
        numbers.copy_from_slice(&cuda.device().read(&sums, 0, numbers.len())?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Functions, NAMES, NcclId};

    #[test]
    fn a_meeting_point_is_handed_over_as_text() {
        let id = NcclId(std::array::from_fn(|i| (7 * i) as u8));
        assert_eq!(id.to_string().parse::<NcclId>().unwrap(), id);
        assert!("07".parse::<NcclId>().is_err());
        assert!("x".repeat(256).parse::<NcclId>().is_err());
    }

    #[test]
    #[ignore = "needs NCCL (libnccl.so.2); run with --ignored"]
    fn a_code_of_nccl_becomes_its_message() {
        let error = Functions::load(&NAMES).unwrap().check("a test", 4).unwrap_err().to_string();
        assert!(error.contains("invalid argument"), "{error}");
    }

    #[test]
    fn a_missing_library_is_named_with_the_way_out() {
        let error = Functions::load(&["libnccl-of-nowhere.so"]).err().unwrap();
        let expected = "NCCL (libnccl.so.2), which several GPUs need, was not found; add its \
                        folder to LD_LIBRARY_PATH";
        assert_eq!(error.to_string(), expected);
    }
}
