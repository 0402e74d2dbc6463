//! The kernels: CUDA C++ in `kernels/`, compiled by NVRTC for the very device at first use and kept on disk.

use super::Format;
use crate::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Kernels that are compiled together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Program {
    /// Training and scoring with activations of a format.
    Of(Format),
    /// Scoring in eight bits, which rounds as the CPU does: no multiplication is fused with an addition.
    Int8,
}

impl Program {
    fn source(self) -> &'static [&'static str] {
        match self {
            Program::Of(_) => FLOATS,
            Program::Int8 => BYTES,
        }
    }

    fn options(self, arch: u32) -> Vec<String> {
        let (format, fused) = match self {
            Program::Of(format) => (format, true),
            Program::Int8 => (Format::F32, false),
        };
        let mut options = vec![
            format!("--gpu-architecture=sm_{arch}"),
            format!("-DFORMAT={}", format as u8),
            "--std=c++17".into(),
        ];
        if !fused {
            options.push("--fmad=false".into());
        }
        options
    }

    fn name(self) -> &'static str {
        match self {
            Program::Of(Format::F32) => "f32",
            Program::Of(Format::Bf16) => "bf16",
            Program::Of(Format::F16) => "f16",
            Program::Int8 => "int8",
        }
    }
}

const BYTES: &[&str] = &[include_str!("kernels/prelude.cu"), include_str!("kernels/int8.cu")];

const FLOATS: &[&str] = &[
    include_str!("kernels/prelude.cu"),
    include_str!("kernels/rows.cu"),
    include_str!("kernels/round.cu"),
    include_str!("kernels/losses.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/attention_mma.cu"),
];

/// Machine code of a program for architecture `arch` (90 for Hopper); from the cache where it is there.
pub(super) fn kernels(arch: u32, program: Program) -> Result<Vec<u8>> {
    let cached = cache_file(arch, program);
    if let Some(code) = cached.as_ref().and_then(|path| std::fs::read(path).ok()) {
        return Ok(code);
    }
    let code = compile(arch, program)?;
    if let Some(path) = cached {
        // The cache only saves time: a folder that cannot be written to is no error.
        let _ = keep(&path, &code);
    }
    Ok(code)
}

/// Compiles without looking at the cache.
pub(super) fn compile(arch: u32, program: Program) -> Result<Vec<u8>> {
    let source = CString::new(program.source().concat()).map_err(|e| problem(e.to_string()))?;
    let options = program.options(arch);
    version()?;
    // SAFETY: the program is made here, used while its source is alive, and destroyed once.
    unsafe {
        let handle = result::create_program(&source, Some(c"storymeter.cu"))
            .map_err(|e| problem(e.to_string()))?;
        let code = match result::compile_program(handle, &options) {
            Ok(()) => machine_code(handle),
            Err(e) => {
                let log = result::get_program_log(handle).unwrap_or_default();
                let log: String = log.iter().map(|c| char::from(*c as u8)).collect();
                Err(problem(format!("{e}: {}", log.trim_end_matches('\0'))))
            }
        };
        let _ = result::destroy_program(handle);
        code
    }
}

/// NVRTC's version, if it can be loaded at all.
fn version() -> Result<(i32, i32)> {
    let missing =
        "libnvrtc (NVRTC of CUDA 12 or 13) was not found; add its folder to LD_LIBRARY_PATH";
    let (mut major, mut minor) = (0, 0);
    // SAFETY: loading a library by name and asking for its version.
    unsafe {
        if !sys::is_culib_present() {
            return Err(Error::Device(missing.into()));
        }
        sys::nvrtcVersion(&mut major, &mut minor).result().map_err(|e| problem(e.to_string()))?;
    }
    Ok((major, minor))
}

/// # Safety
/// `program` must have been compiled.
unsafe fn machine_code(program: sys::nvrtcProgram) -> Result<Vec<u8>> {
    let mut size = 0;
    // SAFETY: the buffer has the size the library asks for.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result().map_err(|e| problem(e.to_string()))?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast())
            .result()
            .map_err(|e| problem(e.to_string()))?;
        Ok(code)
    }
}

fn problem(what: String) -> Error {
    Error::Device(format!("the CUDA kernels could not be compiled: {what}"))
}

/// Where the machine code is kept: a name that changes with the source, the device and the compiler.
fn cache_file(arch: u32, program: Program) -> Option<PathBuf> {
    let mut hash = DefaultHasher::new();
    (program.source(), program.options(arch), version().ok()?).hash(&mut hash);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder =
        std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?.join("storymeter");
    Some(folder.join(format!("kernels-sm{arch}-{}-{:016x}.cubin", program.name(), hash.finish())))
}

/// Writes beside the place and moves there: another process sees all of it or nothing.
fn keep(path: &std::path::Path, code: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, code)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::cuda::Format;

    #[test]
    #[allow(clippy::print_stderr)]
    fn all_kernels_compile_for_hopper_in_all_formats() {
        if let Err(error) = super::version() {
            eprintln!("skipped: {error}");
            return;
        }
        let floats = [Format::F32, Format::Bf16, Format::F16].map(Program::Of);
        for program in floats.into_iter().chain([Program::Int8]) {
            let code = super::compile(90, program).unwrap();
            assert!(code.starts_with(b"\x7fELF"), "machine code is an ELF file");
        }
    }
}
