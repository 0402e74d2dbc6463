//! An emulated CUDA driver, with NVRTC and cuBLASLt: `tests/emulated.rs` compiles this file to a
//! library and loads it in place of the real ones.
//!
//! Memory of the "GPU" is memory of the host, and kernels and products do nothing. What is taken
//! and given back is written to the file that EMULATED_LOG names, as `+ KIND` and `- KIND`. The
//! call that EMULATED_FAILURE names (`FUNCTION:N`, its N-th call) fails.
#![allow(non_snake_case)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn log(line: &str) {
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().unwrap();
    let path = std::env::var_os("EMULATED_LOG").expect("EMULATED_LOG names a file");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn fails(name: &str) -> bool {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let Ok(failure) = std::env::var("EMULATED_FAILURE") else { return false };
    let (function, number) = failure.split_once(':').expect("FUNCTION:N");
    function == name && (CALLS.fetch_add(1, Ordering::SeqCst) + 1).to_string() == number
}

/// Memory that knows its own size, which stands before it.
const HEADER: usize = 256;

unsafe fn take(kind: &str, bytes: usize) -> *mut u8 {
    log(&format!("+ {kind}"));
    let layout = Layout::from_size_align(bytes + HEADER, HEADER).unwrap();
    // SAFETY: the layout is not empty.
    unsafe {
        let memory = alloc_zeroed(layout);
        memory.cast::<usize>().write(bytes);
        memory.add(HEADER)
    }
}

unsafe fn give_back(kind: &str, memory: *mut u8) {
    log(&format!("- {kind}"));
    // SAFETY: made by `take`.
    unsafe {
        let start = memory.sub(HEADER);
        let bytes = start.cast::<usize>().read();
        dealloc(start, Layout::from_size_align(bytes + HEADER, HEADER).unwrap());
    }
}

/// Functions of the libraries: each returns 0, or 2 where it was told to fail. Arguments that a
/// function does not look at are left out.
macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*) $body:block)+) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> c_int {
            if fails(stringify!($name)) {
                return 2;
            }
            #[allow(unused_unsafe)]
            // SAFETY: callers pass what the documentation of the real function asks for.
            unsafe { $body }
            0
        }
    )+};
}

type Handle = *mut u8;

functions! {
    cuInit() {}
    cuDriverGetVersion(version: *mut c_int) { *version = 13_000 }
    cuDeviceGetCount(count: *mut c_int) { *count = 1 }
    cuDeviceGet(device: *mut c_int, ordinal: c_int) { *device = ordinal }
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_int) {
        // The two halves of the compute capability; everything else is a number of processors.
        *value = match attribute { 75 => 9, 76 => 0, _ => 132 };
    }
    cuDeviceGetName(name: *mut c_char) { std::ptr::copy(c"Emulated".as_ptr(), name, 9) }
    cuDevicePrimaryCtxRetain(context: *mut Handle) { *context = take("context", 8) }
    cuDevicePrimaryCtxRelease_v2() { log("- context") }
    cuCtxSetCurrent() {}
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { (*free, *total) = (1 << 34, 1 << 34) }
    cuStreamCreate(stream: *mut Handle) { *stream = take("stream", 8) }
    cuStreamDestroy_v2(stream: Handle) { give_back("stream", stream) }
    cuStreamSynchronize() {}
    cuEventCreate(event: *mut Handle) { *event = take("event", 8) }
    cuEventDestroy_v2(event: Handle) { give_back("event", event) }
    cuEventRecord() {}
    cuEventSynchronize() {}
    cuModuleLoadData(module: *mut Handle) { *module = take("module", 8) }
    cuModuleUnload(module: Handle) { give_back("module", module) }
    cuModuleGetFunction(function: *mut usize) { *function = 8 }
    cuFuncSetAttribute() {}
    cuMemHostAlloc(memory: *mut Handle, bytes: usize) { *memory = take("pinned", bytes) }
    cuMemFreeHost(memory: Handle) { give_back("pinned", memory) }
    cuMemAlloc_v2(memory: *mut Handle, bytes: usize) { *memory = take("memory", bytes) }
    cuMemFree_v2(memory: Handle) { give_back("memory", memory) }
    cuMemsetD8Async(memory: Handle, byte: u8, bytes: usize) { memory.write_bytes(byte, bytes) }
    cuMemcpyHtoDAsync_v2(to: Handle, from: Handle, bytes: usize) { from.copy_to(to, bytes) }
    cuMemcpyDtoHAsync_v2(to: Handle, from: Handle, bytes: usize) { from.copy_to(to, bytes) }
    cuMemcpyDtoH_v2(to: Handle, from: Handle, bytes: usize) { from.copy_to(to, bytes) }
    cuMemcpyDtoDAsync_v2(to: Handle, from: Handle, bytes: usize) { from.copy_to(to, bytes) }
    cuLaunchKernel() {}
    cuGetErrorString(_error: c_int, text: *mut *const c_char) {
        *text = c"an emulated failure".as_ptr();
    }
    nvrtcVersion(major: *mut c_int, minor: *mut c_int) { (*major, *minor) = (13, 0) }
    nvrtcCreateProgram(program: *mut Handle) { *program = take("program", 8) }
    nvrtcDestroyProgram(program: *mut Handle) { give_back("program", *program) }
    nvrtcCompileProgram() {}
    nvrtcGetProgramLogSize(_program: Handle, size: *mut usize) { *size = 1 }
    nvrtcGetProgramLog() {}
    nvrtcGetCUBINSize(_program: Handle, size: *mut usize) { *size = 64 }
    nvrtcGetCUBIN(_program: Handle, code: *mut u8) { code.write_bytes(1, 64) }
    cublasLtCreate(handle: *mut Handle) { *handle = take("handle", 8) }
    cublasLtDestroy(handle: Handle) { give_back("handle", handle) }
    cublasLtMatmulDescCreate(operation: *mut Handle) { *operation = take("operation", 8) }
    cublasLtMatmulDescDestroy(operation: Handle) { give_back("operation", operation) }
    cublasLtMatmulDescSetAttribute() {}
    cublasLtMatrixLayoutCreate(layout: *mut Handle) { *layout = take("layout", 8) }
    cublasLtMatrixLayoutDestroy(layout: Handle) { give_back("layout", layout) }
    cublasLtMatmulPreferenceCreate(preference: *mut Handle) { *preference = take("preference", 8) }
    cublasLtMatmulPreferenceDestroy(preference: Handle) { give_back("preference", preference) }
    cublasLtMatmulPreferenceSetAttribute() {}
    cublasLtMatmulAlgoGetHeuristic(
        _a: Handle, _b: Handle, _c: Handle, _d: Handle, _e: Handle, _f: Handle, _g: Handle,
        _wanted: c_int, result: *mut [u8; 96], found: *mut c_uint
    ) { (*result, *found) = ([0; 96], 1) }
    cublasLtMatmul() {}
}

#[unsafe(no_mangle)]
pub extern "C" fn nvrtcGetErrorString(_error: c_int) -> *const c_void {
    c"an emulated failure".as_ptr().cast()
}
