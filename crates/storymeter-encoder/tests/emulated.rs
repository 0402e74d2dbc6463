//! Whatever call of the driver fails, nothing of what was taken from the GPU before is left behind.
//!
//! No GPU is needed: `emulated/driver.rs` stands for the driver and its libraries. The test
//! compiles it, then runs itself in processes of their own that load it in their place; it is a
//! program of its own for that.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

#[path = "support/shape.rs"]
mod shape;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use storymeter_encoder::cuda::{Cuda, CudaEncoder, Vectors};
use storymeter_encoder::train::{AdamW, ForwardOptions, LabelLoss, Network, Optimiser, Selection};
use storymeter_encoder::{
    Batch, Device, Family, Grid, Isa, Model, Outputs, Parameters, Pooling, Precision, Result,
    Stream, Tensor,
};

/// The calls that fail, one at a time, and whether the work fails with them. Some are tried again.
const FAILURES: &[(&str, bool)] = &[
    ("cuInit:1", true),
    ("cuDevicePrimaryCtxRetain:1", true),
    ("cuCtxSetCurrent:1", true),
    ("cuMemGetInfo_v2:1", true),
    ("cuStreamCreate:1", true),
    ("cuModuleLoadData:1", true),
    ("cuMemHostAlloc:1", true),
    ("cuMemHostAlloc:8", true),
    ("cuEventCreate:1", true),
    ("cuEventCreate:8", true),
    ("cublasLtCreate:1", true),
    ("cuMemAlloc_v2:1", true),
    ("cuMemAlloc_v2:2", false),
    ("nvrtcCreateProgram:1", true),
    ("nvrtcCompileProgram:1", true),
    ("nvrtcGetCUBIN:1", true),
    ("cuMemcpyHtoDAsync_v2:2", true),
    ("cuModuleGetFunction:3", true),
    ("cuLaunchKernel:7", true),
    ("cublasLtMatmulDescSetAttribute:2", true),
    ("cublasLtMatrixLayoutCreate:3", true),
    ("cublasLtMatmul:2", false),
    ("cuMemcpyDtoDAsync_v2:1", true),
    ("cuMemcpyDtoH_v2:1", true),
    ("cuMemcpyDtoHAsync_v2:1", true),
    ("cuEventRecord:1", true),
    ("cuEventSynchronize:1", true),
    ("cuFuncSetAttribute:1", true),
];

/// Compiles the emulated driver under the names of the libraries that it stands for.
fn emulated_libraries(folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emulated/driver.rs");
    let library = folder.join("libcuda.so");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=cdylib", "-o"]).arg(&library).arg(source);
    let output = rustc.output().expect("cargo has a rustc beside it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["libnvrtc.so", "libcublasLt.so"] {
        std::os::unix::fs::symlink(&library, folder.join(name)).unwrap();
    }
}

/// Runs [`on_the_emulated_gpu`] in a process of its own. Returns what it printed, and of each kind
/// of thing how many were taken and how many given back.
fn run(libraries: &Path, failure: Option<&str>) -> (String, BTreeMap<String, [usize; 2]>) {
    let folder = tempfile::tempdir().unwrap();
    let log: PathBuf = folder.path().join("log");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "whatever_fails_everything_is_given_back", "--nocapture"])
        .env("LD_LIBRARY_PATH", libraries)
        .env("XDG_CACHE_HOME", folder.path())
        .env("EMULATED_LOG", &log);
    if let Some(failure) = failure {
        command.env("EMULATED_FAILURE", failure);
    }
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{failure:?}: {printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for line in std::fs::read_to_string(&log).unwrap_or_default().lines() {
        let (sign, kind) = line.split_once(' ').unwrap();
        counts.entry(kind.into()).or_default()[usize::from(sign == "-")] += 1;
    }
    (printed, counts)
}

#[test]
fn whatever_fails_everything_is_given_back() {
    if std::env::var_os("EMULATED_LOG").is_some() {
        return on_the_emulated_gpu();
    }
    let folder = tempfile::tempdir().unwrap();
    emulated_libraries(folder.path());
    let (printed, counts) = run(folder.path(), None);
    assert!(printed.contains("all six went well"), "{printed}");
    let kinds: Vec<&str> = counts.keys().map(String::as_str).collect();
    let expected = [
        "context",
        "event",
        "handle",
        "layout",
        "memory",
        "module",
        "operation",
        "pinned",
        "preference",
        "program",
        "stream",
    ];
    assert_eq!(kinds, expected);
    for (kind, [taken, returned]) in counts {
        assert_eq!(taken, returned, "{kind}");
    }
    for (failure, fatal) in FAILURES {
        let (printed, counts) = run(folder.path(), Some(failure));
        assert_eq!(printed.contains("failed: "), *fatal, "{failure}: {printed}");
        for (kind, [taken, returned]) in counts {
            assert_eq!(taken, returned, "{failure}: {kind}");
        }
    }
}

/// Takes training steps, encodes in f32 and in int8, and runs a model.
fn on_the_emulated_gpu() {
    let work: [fn() -> Result<()>; 6] =
        [train, train_a_pooled_head, encode, encode_in_int8, run_a_model, train_language_models];
    let errors: Vec<String> =
        work.iter().filter_map(|work| work().err()).map(|error| error.to_string()).collect();
    match errors.is_empty() {
        true => println!("all six went well"),
        false => errors.iter().for_each(|error| println!("failed: {error}")),
    }
}

fn stories() -> Batch {
    [&[1u32, 2, 3, 4, 5][..], &[6, 7, 8]].into_iter().collect()
}

fn train() -> Result<()> {
    let config = shape::config(Family::Mpnet, 2, 32, 2, 64);
    let zeros = |shape: &[usize]| Tensor {
        name: String::new(),
        shape: shape.into(),
        data: vec![0.0; shape.iter().product()],
    };
    let heads = [zeros(&[1, config.hidden]), zeros(&[1]), zeros(&[config.vocabulary])];
    let parameters = Parameters::random(&config, 1);
    let mut network = Network::new(Cuda::<f32>::open(0)?, config, &parameters, &heads)?;
    network.clear_gradients();
    network.round(Grid { layers: 0.7, words: 1.0 });
    let trace = network.forward(&stories(), ForwardOptions::default())?;
    let mut states = network.states(&trace);
    let (label, word) = (network.head(0, 1), network.tied_head(2));
    let labels: (&[f32], &[f32]) = (&[1.0, 0.0], &[0.5; 2]);
    network.label_loss(
        &mut states,
        label,
        Selection::StoryMeans,
        labels,
        LabelLoss::CrossEntropy,
        0,
    );
    network.token_loss(&mut states, word, (&[1, 6], &[9, 1], &[0.1; 2]), 1);
    let gradient = states.into_gradient();
    network.backward(trace, gradient);
    network.take_losses()?;
    network.restore();
    Optimiser::new(AdamW::default()).step(&mut network, 1e-4);
    network.parameters().map(drop)
}

/// A pair of two segments through BERT's pooler, with dropout.
fn train_a_pooled_head() -> Result<()> {
    let config = shape::config(Family::Bert, 1, 32, 2, 64);
    let zeros = |shape: &[usize]| Tensor {
        name: String::new(),
        shape: shape.into(),
        data: vec![0.0; shape.iter().product()],
    };
    let heads = [zeros(&[32, 32]), zeros(&[32]), zeros(&[1, 32]), zeros(&[1])];
    let parameters = Parameters::random(&config, 1);
    let mut network = Network::new(Cuda::<f32>::open(0)?, config, &parameters, &heads)?;
    let mut batch = Batch::new();
    batch.push_pair(&[1, 2, 3, 4, 5], 3);
    let options = ForwardOptions { dropout: Some(Stream::new(1)), ..ForwardOptions::default() };
    let trace = network.forward(&batch, options)?;
    let (mut states, head) = (network.states(&trace), network.pooled_head(0));
    let labels: (&[f32], &[f32]) = (&[0.5], &[1.0]);
    network.pooled_loss(&mut states, head, &[0], labels, LabelLoss::SquaredError, 0);
    let gradient = states.into_gradient();
    network.backward(trace, gradient);
    network.take_losses()?;
    assert_eq!(network.pooled_outputs(&batch, head, &[0])?.len(), 1);
    Ok(())
}

fn encode() -> Result<()> {
    let config = shape::config(Family::Bert, 1, 32, 2, 64);
    let parameters = Parameters::random(&config, 1);
    let encoder = CudaEncoder::new::<f32>(0, config, parameters)?;
    let states = encoder.submit(stories(), Vectors::States)?;
    let means = encoder.submit(stories(), Vectors::Means)?;
    assert_eq!(states.wait()?.len(), 8 * 32);
    assert_eq!(means.wait()?.len(), 2 * 32);
    Ok(())
}

fn encode_in_int8() -> Result<()> {
    let config = shape::config(Family::Mpnet, 1, 32, 2, 64);
    let parameters = Parameters::random(&config, 1);
    let encoder = Model::on_cpu(config, &parameters, Precision::Int8, Isa::detect())?;
    let encoder = CudaEncoder::int8(0, Arc::new(encoder))?;
    let firsts = encoder.submit(stories(), Vectors::Firsts)?;
    assert_eq!(firsts.wait()?.len(), 2 * 32);
    Ok(())
}

fn run_a_model() -> Result<()> {
    // Heads of 128 columns ask for more shared memory than a kernel has without asking.
    let config = shape::config(Family::Bert, 1, 128, 1, 128);
    let weights = Parameters::random(&config, 1);
    let model = Model::from_tensors(config, &weights, Device::Cuda(0), Precision::F32)?;
    let run = model.run(&stories(), &Outputs::new().layers([0, 1]).pooled(Pooling::Mean))?;
    assert_eq!(run.layer(1).sequence(1).len(), 3 * 128);
    assert_eq!(run.pooled(0).len(), 128);
    Ok(())
}

fn train_language_models() -> Result<()> {
    // Heads of 64 columns have kernels of their own in sixteen bits; keys and values are shared.
    for (heads, key_heads) in [(2, None), (2, Some(1)), (4, Some(2))] {
        let config = shape::language_model(2, 128, heads, key_heads, 256);
        let parameters = Parameters::random(&config, 1);
        let cuda = Cuda::<half::bf16>::open(0)?;
        let mut network = Network::new(cuda, config, &parameters, &[])?;
        let options = ForwardOptions { dropout: Some(Stream::new(1)), ..Default::default() };
        network.clear_gradients();
        let batch = stories();
        let trace = network.forward(&batch, options)?;
        let (mut states, head) = (network.states(&trace), network.next_token_head());
        network.token_loss(&mut states, head, (&[0, 5], &[2, 7], &[0.5; 2]), 0);
        let gradient = states.into_gradient();
        network.backward(trace, gradient);
        network.take_losses()?;
        Optimiser::new(AdamW::default()).step(&mut network, 1e-4);
        network.parameters()?;
    }
    Ok(())
}
