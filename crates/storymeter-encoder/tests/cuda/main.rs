//! Compares every operation on the GPU with its twin on the CPU, and whole networks with the CPU
//! and with PyTorch.
//!
//!     cargo test --release -p storymeter-encoder --features cuda --test cuda -- \
//!         --include-ignored --skip pytorch_steps
//!
//! The tests need an NVIDIA GPU, so that they are ignored unless they are asked for. Each makes all
//! of its comparisons before it fails; `--nocapture` shows them. They are a program of their own,
//! because it is built on one machine and run on another that has a GPU.
#![allow(clippy::print_stdout)]

mod causal;
mod int8;
#[path = "../support/loss.rs"]
mod loss;
mod models;
#[path = "../support/next_token.rs"]
mod next_token;
mod pytorch_steps;
mod report;
#[path = "../support/shape.rs"]
mod shape;
mod steps;
#[allow(dead_code, reason = "some of it is for tests/encoder")]
#[path = "../support/tiny.rs"]
mod tiny;

use half::{bf16, f16};
use loss::{head_tensors, learn};
use report::{Report, Results};
use shape::config;
use steps::{Leeway, fixture, pytorchs_losses};
use storymeter_encoder::cuda::{Cuda, Number};
use storymeter_encoder::train::{
    AdamStep, AdamW, Attention, Backend, Cpu, Dropout, ForwardOptions, Given, LabelLoss, Linear,
    Network, Norm, Optimiser, Part, TableRows, Tables,
};
use storymeter_encoder::{
    Activation, Config, DeviceError, Error, Family, Parameters, Rounded, Stream,
};

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| 0.7 * stream.normal(i)).collect()
}

fn store<B: Backend>(b: &B, tensors: &[Vec<f32>]) -> B::Store {
    let given: Vec<Given<'_>> =
        tensors.iter().map(|data| Given { data, decays: data.len() > 500 }).collect();
    b.store(&given, &(0..tensors.len()).collect::<Vec<_>>()).unwrap()
}

/// All gradients of a store, named.
fn gradients<B: Backend>(b: &B, store: &B::Store, names: &[&'static str]) -> Results {
    let read =
        |(i, name): (usize, &&'static str)| (*name, b.read(store, Part::Gradients, i).unwrap());
    names.iter().enumerate().map(read).collect()
}

fn get<B: Backend>(b: &B, x: &B::Numbers) -> Vec<f32> {
    b.download(x).unwrap()
}

fn linear<B: Backend>(
    b: &B,
    (rows, inputs, outputs): (usize, usize, usize),
    activation: Activation,
) -> Results {
    let weight: Vec<f32> = numbers(inputs * outputs, 2).iter().map(|x| 0.1 * x).collect();
    let mut store = store(b, &[weight, numbers(outputs, 3)]);
    let map = Linear { weight: 0, bias: Some(1), inputs, outputs };
    let (x, d) = (b.upload(&numbers(rows * inputs, 1)), b.upload(&numbers(rows * outputs, 4)));
    let y = b.linear(&store, map, &x, rows);
    let d_x = b.linear_backward(&mut store, map, &x, rows, &d);
    let [_, after] = b.linear_activate(&store, map, &x, rows, activation);
    // Given rather than computed: rounding moves numbers across the kink of ReLU, where the slope
    // jumps by one.
    let before: Vec<f32> =
        numbers(rows * outputs, 6).iter().map(|x| bf16::from_f32(*x).to_f32()).collect();
    let before = b.upload(&before);
    let mut d_more = b.upload(&numbers(rows * inputs, 5));
    b.linear_activate_backward(&mut store, map, &x, rows, &before, activation, d, &mut d_more);
    let mut all = vec![
        ("out", get(b, &y)),
        ("d_x", get(b, &d_x)),
        ("activated", get(b, &after)),
        ("added d_x", get(b, &d_more)),
    ];
    all.extend(gradients(b, &store, &["d_weight", "d_bias"]));
    all
}

/// A linear map with rounded weights, those weights, and the weights before.
fn rounding<B: Backend>(b: &B, step: f32) -> Results {
    let (rows, inputs, outputs) = (9, 128, 192);
    let mut store = store(b, &[numbers(inputs * outputs, 2), numbers(outputs, 3)]);
    let map = Linear { weight: 0, bias: Some(1), inputs, outputs };
    let x = b.upload(&numbers(rows * inputs, 1));
    b.round(&mut store, &[Rounded { tensor: 0, width: inputs, step }]);
    let y = b.linear(&store, map, &x, rows);
    let rounded = b.read(&store, Part::Weights, 0).unwrap();
    b.restore(&mut store);
    let exact = b.read(&store, Part::Weights, 0).unwrap();
    vec![("out", get(b, &y)), ("rounded", rounded), ("restored", exact)]
}

fn norm<B: Backend>(b: &B, rows: usize, width: usize, rate: f32) -> Results {
    let mut store = store(b, &[numbers(width, 2), numbers(width, 3)]);
    let norm = Norm { gain: 0, shift: Some(1), width, eps: 1e-12 };
    let dropout = Dropout { rate, stream: Stream::new(9) };
    let (branch, residual) =
        (b.upload(&numbers(rows * width, 1)), b.upload(&numbers(rows * width, 4)));
    let [sum, out] = b.add_norm(&store, norm, branch, &residual, dropout);
    let d = b.upload(&numbers(rows * width, 5));
    let [d_residual, d_branch] = b.add_norm_backward(&mut store, norm, &sum, &d, dropout);
    let mut all = vec![("sum", get(b, &sum)), ("out", get(b, &out))];
    all.extend([("d_residual", get(b, &d_residual)), ("d_branch", get(b, &d_branch))]);
    all.extend(gradients(b, &store, &["d_gain", "d_shift"]));
    all
}

fn embedding<B: Backend>(b: &B, rows: usize, width: usize, rate: f32, segments: bool) -> Results {
    let (words, positions) = (211, 64);
    let tensors = [words * width, positions * width, 2 * width, width, width];
    let tensors: Vec<Vec<f32>> =
        tensors.iter().enumerate().map(|(i, n)| numbers(*n, i as u64)).collect();
    let mut store = store(b, &tensors);
    let tables = Tables { words: 0, positions: 1, segments: Some(2) };
    let norm = Norm { gain: 3, shift: Some(4), width, eps: 1e-12 };
    let dropout = Dropout { rate, stream: Stream::new(9) };
    // One word makes up a third of all, as in real text.
    let id = |i: usize| {
        if i.is_multiple_of(3) { 5 } else { (Stream::new(7).bits(i as u64) % words as u64) as u32 }
    };
    let (ids, places): (Vec<u32>, Vec<u32>) =
        (0..rows).map(|i| (id(i), (i % positions) as u32)).unzip();
    let segments: Option<Vec<u32>> =
        segments.then(|| (0..rows).map(|i| u32::from(i % 7 > 2)).collect());
    let rows_of_tables = TableRows {
        words: b.lookups(&ids),
        positions: b.lookups(&places),
        segments: segments.map(|segments| b.lookups(&segments)),
    };
    let [sum, out] = b.embed(&store, tables, norm, &rows_of_tables, dropout);
    let mut all = vec![("sum", get(b, &sum)), ("out", get(b, &out))];
    let d = b.upload(&numbers(rows * width, 12));
    b.embed_backward(&mut store, tables, norm, &rows_of_tables, &sum, d, dropout);
    all.extend(gradients(
        b,
        &store,
        &["d_words", "d_positions", "d_segments", "d_gain", "d_shift"],
    ));
    all
}

fn attention<B: Backend>(
    b: &B,
    lengths: &[usize],
    heads: usize,
    width: usize,
    (relative, causal): (bool, bool),
    rate: f32,
) -> Results {
    let mut bounds = vec![0];
    lengths.iter().for_each(|len| bounds.push(bounds[bounds.len() - 1] + len));
    let rows = bounds[lengths.len()];
    let scale = 1.5 / (width as f32).sqrt();
    let matrix =
        |seed| numbers(width * width, seed).iter().map(|x| x * scale).collect::<Vec<f32>>();
    let mut tensors = vec![
        matrix(1),
        matrix(2),
        matrix(3),
        numbers(width, 4),
        numbers(width, 5),
        numbers(width, 6),
    ];
    tensors.push(numbers(32 * heads, 7));
    let mut store = store(b, &tensors);
    let maps = [0, 1, 2].map(|weight| Linear {
        weight,
        bias: Some(weight + 3),
        inputs: width,
        outputs: width,
    });
    let dropout = Dropout { rate, stream: Stream::new(9) };
    let relative = relative.then_some(6);
    let shape = Attention { heads, width, longest: 512, causal, relative, dropout };
    let stories = b.stories(&bounds);
    let x = b.upload(&numbers(rows * width, 8));
    let projected = b.project(&store, maps, &x, rows);
    let (out, softmax) = b.attention(&store, shape, &stories, &projected);
    let d_out = b.upload(&numbers(rows * width, 10));
    let d = b.attention_backward(&mut store, shape, &stories, &projected, &softmax, &out, &d_out);
    let mut d_x = b.zeros(rows * width);
    b.project_backward(&mut store, maps, &x, rows, d, &mut d_x);
    let mut all = vec![("out", get(b, &out)), ("d_x", get(b, &d_x))];
    let names =
        ["d_query", "d_key", "d_value", "d_query_bias", "d_key_bias", "d_value_bias", "d_relative"];
    let found = gradients(b, &store, &names).into_iter().filter(|(name, _)| *name != "d_key_bias");
    if lengths == [1] {
        // A single token attends to itself whatever its scores are. Their true gradients are zero,
        // and relative to zero every error is infinite. All gradients as one vector have a length
        // to compare with.
        all.push(("all gradients", found.flat_map(|(_, numbers)| numbers).collect()));
    } else {
        all.extend(found);
    }
    all
}

fn rows_and_means<B: Backend>(b: &B, width: usize) -> Results {
    let bounds = [0, 3, 4, 70, 133];
    let (x, stories) = (b.upload(&numbers(133 * width, 1)), b.stories(&bounds));
    let rows = b.lookups(&[0, 132, 7, 3, 4, 100]);
    let picked = b.gather(&x, &rows, width);
    let mut to = b.upload(&numbers(133 * width, 2));
    b.scatter(&picked, &rows, &mut to, width);
    let means = b.story_means(&x, &stories, width);
    b.story_means_backward(&means, &stories, &mut to, width);
    vec![
        ("gather", get(b, &picked)),
        ("means", get(b, &means)),
        ("scattered and spread", get(b, &to)),
    ]
}

fn losses<B: Backend>(b: &B, rows: usize, inputs: usize, outputs: usize) -> Results {
    let weight: Vec<f32> = numbers(inputs * outputs, 2).iter().map(|x| 0.2 * x).collect();
    let head = numbers(4 * inputs, 6).iter().map(|x| 0.2 * x).collect();
    let mut store = store(b, &[weight, numbers(outputs, 3), head, numbers(4, 7)]);
    let map = Linear { weight: 0, bias: Some(1), inputs, outputs };
    let x = b.upload(&numbers(rows * inputs, 1));
    let targets: Vec<u32> =
        (0..rows as u64).map(|i| (Stream::new(5).bits(i) % outputs as u64) as u32).collect();
    let weights: Vec<f32> =
        (0..rows as u64).map(|i| Stream::new(6).uniform(i) / rows as f32).collect();
    let (targets, weights) = (b.indices(&targets), b.floats(&weights));
    let d_tokens = b.softmax_loss(&mut store, map, &x, rows, &targets, &weights, 1);
    let map = Linear { weight: 2, bias: Some(3), inputs, outputs: 4 };
    let labels: Vec<f32> = (0..rows * 4).map(|i| (i % 3 % 2) as f32).collect();
    let weights = vec![1.0 / rows as f32; rows * 4];
    let (labels, weights) = (b.floats(&labels), b.floats(&weights));
    let mut all = vec![("d_x of tokens", get(b, &d_tokens))];
    let kinds = [
        ("d_x of cross-entropy", LabelLoss::CrossEntropy),
        ("d_x of squares", LabelLoss::SquaredError),
        ("d_x of losses on the host", LabelLoss::OnHost),
    ];
    for (loss, (name, kind)) in (2..).zip(kinds) {
        let d = b.label_loss(&mut store, map, &x, rows, &labels, &weights, kind, loss);
        all.push((name, get(b, &d)));
    }
    let mut scaled = b.upload(&numbers(rows * inputs, 1));
    b.scale(&mut scaled, &b.floats(&numbers(rows * inputs, 8)));
    all.push(("scaled", get(b, &scaled)));
    all.extend(gradients(b, &store, &["d_weight", "d_bias", "d_head", "d_head_bias"]));
    let sums = b.take_losses(&mut store).unwrap();
    assert_eq!(b.take_losses(&mut store).unwrap(), [0.0; 8], "losses are taken once");
    all.push(("losses", sums.map(|x| x as f32).to_vec()));
    all
}

fn optimiser<B: Backend>(b: &B, clip: f32) -> Results {
    let sizes = [1001, 7, 64];
    let tensors: Vec<Vec<f32>> = sizes.iter().map(|n| numbers(*n, *n as u64)).collect();
    let mut store = store(b, &tensors);
    let adam = |step: i32| {
        let (correction1, correction2) = (1.0 - 0.9f32.powi(step), 1.0 - 0.999f32.powi(step));
        let [rate, eps, decay] = [1e-2, 1e-8, 0.1];
        AdamStep { rate, beta1: 0.9, beta2: 0.999, eps, decay, correction1, correction2, clip }
    };
    for step in 1..4 {
        b.clear_gradients(&mut store);
        for (i, n) in sizes.iter().enumerate() {
            b.write(&mut store, Part::Gradients, i, &numbers(*n, 100 * step + i as u64)).unwrap();
        }
        b.step(&mut store, adam(step as i32));
    }
    let mut all = vec![("norm", vec![b.steps(&store).unwrap().0 as f32])];
    // A gradient that is not a number moves nothing, and the step is counted.
    b.write(&mut store, Part::Gradients, 1, &[f32::NAN; 7]).unwrap();
    b.step(&mut store, adam(4));
    let (norm, skipped) = b.steps(&store).unwrap();
    assert!(norm.is_nan());
    all.push(("skipped", vec![skipped.all as f32, skipped.in_a_row as f32]));
    for i in 0..sizes.len() {
        all.push(("weights", b.read(&store, Part::Weights, i).unwrap()));
        all.push(("means", b.read(&store, Part::Means, i).unwrap()));
        all.push(("squares", b.read(&store, Part::Squares, i).unwrap()));
    }
    all
}

/// Attention on tensor cores with heads of 32 and of 64 columns, and the plain one.
fn small_configs() -> [(&'static str, Config); 3] {
    [
        ("BERT", config(Family::Bert, 2, 96, 3, 192)),
        ("MPNet", config(Family::Mpnet, 2, 128, 2, 256)),
        ("DistilBERT-like heads of 8", config(Family::Bert, 2, 32, 4, 64)),
    ]
}

/// Stories of 1 to 200 tokens.
fn stories_for(config: &Config) -> Vec<Vec<u32>> {
    let story = |(i, len): (usize, usize)| -> Vec<u32> {
        (0..len as u64)
            .map(|t| (Stream::new(i as u64).bits(t) % config.vocabulary as u64) as u32)
            .collect()
    };
    [1, 40, 65, 7, 130, 64, 12, 200, 55].into_iter().enumerate().map(story).collect()
}

/// The last hidden states alone.
fn hidden<B: Backend>(backend: B, config: &Config) -> Results {
    let network =
        Network::new(backend, config.clone(), &Parameters::random(config, 1), &[]).unwrap();
    let hidden = network.encode(&stories_for(config).iter().map(Vec::as_slice).collect()).unwrap();
    vec![("hidden states", network.backend().download(&hidden).unwrap())]
}

/// The states, loss and gradients of a whole network with dropout, and the losses of a few steps.
fn network<B: Backend>(backend: B, config: &Config, recompute: bool) -> Results {
    let heads = head_tensors(config.hidden, config.vocabulary, numbers(config.hidden, 3));
    let mut network =
        Network::new(backend, config.clone(), &Parameters::random(config, 1), &heads).unwrap();
    let stories = stories_for(config);
    let stories: Vec<&[u32]> = stories.iter().map(Vec::as_slice).collect();
    // All labels are alike. With labels of both kinds the gradients of biases are small differences
    // of large terms, whose relative error says nothing about the terms.
    let labels = vec![1.0; stories.len()];
    let hidden = network.encode(&stories.iter().copied().collect()).unwrap();
    let mut all = vec![("hidden states", network.backend().download(&hidden).unwrap())];
    let options = ForwardOptions { dropout: Some(Stream::new(11)), recompute, first_row: 0 };
    network.clear_gradients();
    let loss = learn(&mut network, &stories, &labels, options);
    all.push(("loss", vec![loss as f32]));
    for tensor in network.gradients().unwrap().tensors {
        // The gradient of the bias of a key is zero but for rounding, because softmax does not see
        // a shift.
        let key_bias = tensor.name.ends_with("key.bias") || tensor.name.ends_with("attn.k.bias");
        if !key_bias {
            all.push((Box::leak(tensor.name.into_boxed_str()), tensor.data));
        }
    }
    let mut optimiser = Optimiser::new(AdamW::default());
    let steps = (0..8).map(|step| {
        network.clear_gradients();
        let options =
            ForwardOptions { dropout: Some(Stream::new(12).child(step)), recompute, first_row: 0 };
        let loss = learn(&mut network, &stories, &labels, options);
        optimiser.step(&mut network, 1e-4);
        loss as f32
    });
    all.push(("losses of steps", steps.collect()));
    all
}

fn all_of<N: Number>(
    precision: &'static str,
    tolerance: f64,
    network_tolerance: f64,
) -> Vec<String> {
    let cuda = Cuda::<N>::open(0).unwrap();
    let cpu = Cpu::default();
    let mut report = Report { precision, tolerance, failures: Vec::new() };
    macro_rules! both {
        ($case:expr, $function:ident, $($argument:expr),*) => {
            report.compare(
                $case,
                &$function(&cpu, $($argument),*),
                &$function(&cuda, $($argument),*),
            )
        };
    }
    for (rows, inputs, outputs) in [(1, 8, 8), (13, 32, 96), (513, 384, 1536), (1001, 768, 768)] {
        use Activation::{GeluErf, GeluTanh, Relu, Silu, Tanh};
        for activation in [GeluErf, GeluTanh, Relu, Silu, Tanh] {
            let case = format!("linear {rows} x {inputs} to {outputs}, {activation:?}");
            both!(&case, linear, (rows, inputs, outputs), activation);
        }
    }
    for (rows, width) in [(1, 8), (5, 256), (333, 384), (2001, 768), (65, 1024)] {
        for rate in [0.0, 0.1] {
            both!(&format!("norm {rows} x {width}, dropout {rate}"), norm, rows, width, rate);
            for segments in [false, true] {
                let case = format!("embedding {rows} x {width}, dropout {rate}, {segments}");
                both!(&case, embedding, rows, width, rate, segments);
            }
        }
    }
    let lengths: &[&[usize]] = &[&[1], &[7, 1, 16, 17, 64, 65], &[63, 512, 100, 129, 2]];
    for (heads, width) in [(2, 16), (3, 96), (2, 128), (1, 40)] {
        for lengths in lengths {
            for (relative, rate) in [(false, 0.0), (true, 0.0), (true, 0.1), (false, 0.1)] {
                for causal in [false, true] {
                    let case = format!(
                        "attention {lengths:?}, heads of {}, bias {relative}, causal {causal}, \
                         dropout {rate}",
                        width / heads
                    );
                    both!(&case, attention, lengths, heads, width, (relative, causal), rate);
                }
            }
        }
    }
    for width in [8, 384] {
        both!(&format!("rows and means of {width}"), rows_and_means, width);
    }
    causal::operations(&cuda, &mut report);
    for (rows, inputs, outputs) in [(1, 8, 8), (37, 32, 87), (2500, 64, 1003), (40, 384, 30_522)] {
        both!(&format!("losses {rows} x {inputs} over {outputs}"), losses, rows, inputs, outputs);
    }
    for step in [0.25, 0.7, 1.15] {
        both!(&format!("weights on a grid of {step}"), rounding, step);
    }
    for clip in [1.0, f32::INFINITY] {
        both!(&format!("AdamW, clip {clip}"), optimiser, clip);
    }
    report.tolerance = network_tolerance;
    for (name, config) in &small_configs() {
        let truth = network(cpu, config, false);
        let found = network(Cuda::<N>::open(0).unwrap(), config, false);
        report.compare(&format!("network {name}"), &truth, &found);
    }
    for (name, config) in &causal::small_configs() {
        let truth = causal::network(cpu, config, false);
        let found = causal::network(Cuda::<N>::open(0).unwrap(), config, false);
        report.compare(&format!("network {name}"), &truth, &found);
    }
    let leeway = if N::HALF { Leeway::OrTwiceAutocast(1e-2) } else { Leeway::Within(1e-3) };
    for model in ["distilbert", "mpnet"] {
        pytorchs_losses(&mut report, cuda.clone(), &fixture(model), leeway);
    }
    report.failures
}

/// Small enough for a memory checker: `compute-sanitizer TEST_BINARY --ignored small_run`.
#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn a_small_run_gives_the_same_bytes_twice_and_recomputing() {
    for (name, config) in &small_configs() {
        let bf16 = |recompute| network(Cuda::<bf16>::open(0).unwrap(), config, recompute);
        let once = bf16(false);
        assert!(once == bf16(false) && once == bf16(true), "{name} in bf16");
        let f32 = |recompute| network(Cuda::<f32>::open(0).unwrap(), config, recompute);
        let once = f32(false);
        assert!(once == f32(false) && once == f32(true), "{name} in f32");
        assert!(once.iter().all(|(_, numbers)| numbers.iter().all(|x| x.is_finite())), "{name}");
    }
    for (name, config) in &causal::small_configs() {
        let bf16 = |recompute| causal::network(Cuda::<bf16>::open(0).unwrap(), config, recompute);
        let once = bf16(false);
        assert!(once == bf16(false) && once == bf16(true), "{name} in bf16");
        assert!(once.iter().all(|(_, numbers)| numbers.iter().all(|x| x.is_finite())), "{name}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn the_gpu_does_what_the_cpu_does() {
    let mut failures = all_of::<f32>("f32", 1e-4, 5e-4);
    failures.extend(all_of::<bf16>("bf16", 2e-2, 6e-2));
    // The format of scoring: it has three more bits than bf16, and only the forward pass is used.
    let mut report = Report { precision: "f16", tolerance: 2e-3, failures: Vec::new() };
    for (name, config) in &small_configs() {
        let (truth, found) =
            (hidden(Cpu::default(), config), hidden(Cuda::<f16>::open(0).unwrap(), config));
        report.compare(&format!("network {name}"), &truth, &found);
    }
    failures.extend(report.failures);
    println!("{} failures", failures.len());
    failures.iter().for_each(|failure| println!("{failure}"));
    assert!(failures.is_empty(), "{} comparisons failed", failures.len());
}

/// What does not fit together never reaches the GPU: it would read or write beyond its buffers.
#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn arguments_that_do_not_fit_together_are_refused() {
    let cuda = || Cuda::<f32>::open(0).unwrap();
    let refused = |work: &dyn Fn()| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).expect_err("a panic")
    };
    let b = cuda();
    let x = b.upload(&numbers(4 * 8, 1));
    refused(&|| drop(b.gather(&x, &b.lookups(&[0, 4]), 8)));
    refused(&|| drop(b.gather(&x, &b.lookups(&[3]), 16)));
    refused(&|| drop(b.stories(&[0, 5, 3])));
    refused(&|| drop(b.story_means(&x, &b.stories(&[0, 5]), 8)));
    let mut store = store(&b, &[numbers(8 * 8, 2), numbers(8, 3)]);
    let map = Linear { weight: 0, bias: Some(1), inputs: 8, outputs: 8 };
    refused(&|| drop(b.linear(&store, Linear { outputs: 16, ..map }, &x, 4)));
    let (targets, weights) = (b.indices(&[0, 8, 1, 2]), b.floats(&[1.0; 4]));
    let loss = std::panic::AssertUnwindSafe(|| {
        drop(b.softmax_loss(&mut store, map, &x, 4, &targets, &weights, 0));
    });
    std::panic::catch_unwind(loss).expect_err("target 8 of 8 outputs");
    b.wait().expect("nothing of this has reached the GPU");
    assert_eq!(b.download(&x).unwrap(), numbers(4 * 8, 1));

    // A product is checked when it is started, which makes the device fail instead.
    let b = cuda();
    let store = self::store(&b, &[numbers(8 * 8, 2), numbers(8, 3)]);
    let y = b.linear(&store, map, &b.upload(&numbers(3 * 8, 1)), 4);
    let error = b.download(&y).unwrap_err();
    assert!(matches!(error, Error::Device(DeviceError::Mismatch(_))), "{error}");
}
