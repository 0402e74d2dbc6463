//! The kernels: CUDA C++ in `kernels/`, which NVRTC compiles for the GPU at hand when it is first
//! used. The machine code is kept on disk, because compiling takes some seconds.

use super::Format;
use super::gemm::Choice;
use crate::error::DeviceError;
use crate::{Error, Result};
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Kernels that are compiled together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Program {
    /// Training and scoring with activations of one format.
    Floats(Format),
    /// Inference alone, for all families, with products in one format.
    Forward(Format),
    /// Scoring in eight bits. It rounds as the CPU does: no multiplication is fused with an
    /// addition.
    Int8,
}

impl Program {
    fn source(self) -> &'static [&'static str] {
        match self {
            Program::Floats(_) => FLOATS,
            Program::Forward(_) => FORWARD,
            Program::Int8 => BYTES,
        }
    }

    fn options(self, architecture: u32) -> Vec<String> {
        let (format, fused) = match self {
            Program::Floats(format) | Program::Forward(format) => (format, true),
            Program::Int8 => (Format::F32, false),
        };
        let mut options = vec![
            format!("--gpu-architecture=sm_{architecture}"),
            format!("-DFORMAT={}", format as u8),
            "--std=c++17".into(),
        ];
        if !fused {
            options.push("--fmad=false".into());
        }
        options
    }

    /// How the algorithms of products are chosen beside these kernels.
    pub(super) fn choice(self) -> Choice {
        match self {
            Program::Forward(_) => Choice::Steady,
            Program::Floats(_) | Program::Int8 => Choice::ByRows,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Program::Floats(Format::F32) => "f32",
            Program::Floats(Format::Bf16) => "bf16",
            Program::Floats(Format::F16) => "f16",
            Program::Forward(Format::F32) => "forward-f32",
            Program::Forward(Format::Bf16) => "forward-bf16",
            Program::Forward(Format::F16) => "forward-f16",
            Program::Int8 => "int8",
        }
    }
}

const BYTES: &[&str] = &[
    include_str!("kernels/prelude.cu"),
    include_str!("kernels/int8.cu"),
    include_str!("kernels/pool.cu"),
];

const FLOATS: &[&str] = &[
    include_str!("kernels/prelude.cu"),
    include_str!("kernels/activations.cu"),
    include_str!("kernels/rows.cu"),
    include_str!("kernels/pre_norm.cu"),
    include_str!("kernels/round.cu"),
    include_str!("kernels/convert.cu"),
    include_str!("kernels/losses.cu"),
    include_str!("kernels/attention.cu"),
    include_str!("kernels/mma.cu"),
    include_str!("kernels/attention_mma.cu"),
];

const FORWARD: &[&str] = &[
    include_str!("kernels/prelude.cu"),
    include_str!("kernels/activations.cu"),
    include_str!("kernels/convert.cu"),
    include_str!("kernels/pool.cu"),
    include_str!("kernels/forward.cu"),
    include_str!("kernels/mma.cu"),
    include_str!("kernels/forward_attention.cu"),
];

/// The machine code of a program for a GPU (90 for Hopper), from the cache if it is there.
pub(super) fn kernels(architecture: u32, program: Program) -> Result<Vec<u8>> {
    let cached = cache_file(architecture, program);
    if let Some(code) = cached.as_deref().and_then(read_cached) {
        return Ok(code);
    }
    let code = compile(architecture, program)?;
    if let Some(path) = cached {
        // The cache only saves time, so that a folder that cannot be written to is not an error.
        let _ = write_cached(&path, &code);
    }
    Ok(code)
}

/// A program in NVRTC's hands, destroyed when it is dropped.
struct Compilation(sys::nvrtcProgram);

impl Compilation {
    fn new(source: &CStr) -> Result<Compilation> {
        let program = result::create_program(source, Some(c"storymeter.cu"));
        program.map(Compilation).map_err(|error| problem(error.to_string()))
    }

    #[expect(unsafe_code, reason = "calls NVRTC")]
    fn run(&self, options: &[String]) -> Result<()> {
        // SAFETY: the program is alive.
        let outcome = unsafe { result::compile_program(self.0, options) };
        outcome.map_err(|error| {
            // SAFETY: the program is alive.
            let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
            let log: String = log.iter().map(|c| char::from(*c as u8)).collect();
            problem(format!("{error}: {}", log.trim_end_matches('\0')))
        })
    }

    /// The machine code, once [`Compilation::run`] has succeeded.
    #[expect(unsafe_code, reason = "calls NVRTC")]
    fn code(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program is alive, and NVRTC writes one number.
        let outcome = unsafe { sys::nvrtcGetCUBINSize(self.0, &mut size) };
        outcome.result().map_err(|error| problem(error.to_string()))?;
        let mut code = vec![0u8; size];
        // SAFETY: the buffer has the size that NVRTC asked for.
        let outcome = unsafe { sys::nvrtcGetCUBIN(self.0, code.as_mut_ptr().cast()) };
        outcome.result().map_err(|error| problem(error.to_string()))?;
        Ok(code)
    }
}

impl Drop for Compilation {
    #[expect(unsafe_code, reason = "calls NVRTC")]
    fn drop(&mut self) {
        // SAFETY: made in `Compilation::new` and destroyed only here.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

/// Compiles without looking at the cache.
pub(super) fn compile(architecture: u32, program: Program) -> Result<Vec<u8>> {
    version()?;
    let source =
        CString::new(program.source().concat()).map_err(|error| problem(error.to_string()))?;
    let compilation = Compilation::new(&source)?;
    compilation.run(&program.options(architecture))?;
    compilation.code()
}

/// The version of NVRTC, if it can be loaded at all.
#[expect(unsafe_code, reason = "calls NVRTC")]
fn version() -> Result<(i32, i32)> {
    // SAFETY: this only tries to load the library by its name.
    if !unsafe { sys::is_culib_present() } {
        let library = "libnvrtc (NVRTC of CUDA 12 or 13)";
        return Err(DeviceError::MissingLibrary { library }.into());
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: NVRTC writes two integers.
    let outcome = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    outcome.result().map_err(|error| problem(error.to_string()))?;
    Ok((major, minor))
}

fn problem(what: String) -> Error {
    DeviceError::Compile(what).into()
}

/// Where the machine code is kept: a name that changes with the source, the GPU and the compiler.
fn cache_file(architecture: u32, program: Program) -> Option<PathBuf> {
    let mut hash = DefaultHasher::new();
    (program.source(), program.options(architecture), version().ok()?).hash(&mut hash);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?;
    let (name, hash) = (program.name(), hash.finish());
    let file = format!("kernels-sm{architecture}-{name}-{hash:016x}.cubin");
    Some(folder.join("storymeter").join(file))
}

/// The checksum that follows the machine code in a file of the cache.
fn checksum(code: &[u8]) -> [u8; 8] {
    let mut hash = DefaultHasher::new();
    code.hash(&mut hash);
    hash.finish().to_le_bytes()
}

/// The machine code of a file in the cache; `None` if there is no such file or it is damaged. The
/// driver would follow the tables of a truncated file to wherever they lead.
fn read_cached(path: &Path) -> Option<Vec<u8>> {
    let mut code = std::fs::read(path).ok()?;
    let sum = *code.last_chunk::<8>()?;
    code.truncate(code.len() - sum.len());
    (checksum(&code) == sum).then_some(code)
}

/// Writes beside the place and moves the file there, so that another process sees all of it or
/// nothing. `core::file` does this for files of the user; this one is only a cache, and the engine
/// uses no other crate of ours.
fn write_cached(path: &Path, code: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&beside, [code, &checksum(code)].concat())?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::{Program, compile, read_cached, write_cached};
    use crate::cuda::Format;

    #[test]
    #[ignore = "needs NVRTC (libnvrtc of CUDA 12 or 13); run with --ignored"]
    fn all_kernels_compile_for_hopper_in_all_formats() {
        let formats = [Format::F32, Format::Bf16, Format::F16];
        let programs = formats.map(Program::Floats).into_iter().chain([Program::Int8]);
        for program in programs.chain(formats.map(Program::Forward)) {
            let code = compile(90, program).unwrap();
            assert!(code.starts_with(b"\x7fELF"), "machine code is an ELF file");
        }
    }

    #[test]
    fn a_damaged_file_of_the_cache_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below").join("kernels.cubin");
        assert_eq!(read_cached(&path), None, "there is no file yet");
        let code: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
        write_cached(&path, &code).unwrap();
        assert_eq!(read_cached(&path).as_deref(), Some(&code[..]));
        let whole = std::fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 1], &whole[..500], &whole[1..], &whole[..7], &[]] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read_cached(&path), None, "{} bytes", damaged.len());
        }
    }
}
