//! The operations of causal language models, and whole ones, compared with the CPU.

use super::next_token::learn;
use super::report::{Report, Results};
use super::shape::language_model;
use super::{get, gradients, numbers, store, stories_for};
use storymeter_encoder::cuda::{Cuda, Number};
use storymeter_encoder::train::{
    AdamW, Backend, Cpu, Dropout, ForwardOptions, Linear, Network, Norm, Optimiser, Rotary,
    TableRows,
};
use storymeter_encoder::{Activation, Config, Parameters, Stream};

/// Compares every operation with its twin on the CPU.
pub(super) fn operations<N: Number>(cuda: &Cuda<N>, report: &mut Report) {
    let cpu = Cpu::default();
    macro_rules! both {
        ($case:expr, $function:ident, $($argument:expr),*) => {
            report.compare(
                $case,
                &$function(&cpu, $($argument),*),
                &$function(cuda, $($argument),*),
            )
        };
    }
    for (rows, width) in [(1, 8), (5, 256), (333, 576), (2001, 768), (65, 1600)] {
        for rms in [false, true] {
            both!(&format!("plain norm {rows} x {width}, RMS {rms}"), norm, rows, width, rms);
        }
        both!(&format!("gated product {rows} x {width}"), gated, rows, width);
    }
    for (rows, width) in [(5, 256), (333, 576)] {
        for rate in [0.0, 0.1] {
            both!(&format!("sum {rows} x {width}, dropout {rate}"), sum, rows, width, rate);
            both!(
                &format!("plain embedding {rows} x {width}, dropout {rate}"),
                embedding,
                rows,
                width,
                rate
            );
        }
    }
    for (heads, key_heads, head_width) in [(9, 3, 64), (4, 4, 8), (8, 1, 32)] {
        let rotary = Rotary { heads, key_heads, head_width };
        both!(&format!("turned heads, {rotary:?}"), turned, rotary);
    }
}

fn norm<B: Backend>(b: &B, rows: usize, width: usize, rms: bool) -> Results {
    let mut store = store(b, &[numbers(width, 2), numbers(width, 3)]);
    let norm = Norm { gain: 0, shift: (!rms).then_some(1), width, eps: 1e-5 };
    let (x, d) = (b.upload(&numbers(rows * width, 1)), b.upload(&numbers(rows * width, 5)));
    let out = b.norm(&store, norm, &x);
    let mut d_x = b.upload(&numbers(rows * width, 6));
    b.norm_backward(&mut store, norm, &x, &d, &mut d_x);
    let mut all = vec![("out", get(b, &out)), ("d_x", get(b, &d_x))];
    let names: &[&str] = if rms { &["d_gain"] } else { &["d_gain", "d_shift"] };
    all.extend(gradients(b, &store, names));
    all
}

fn gated<B: Backend>(b: &B, rows: usize, width: usize) -> Results {
    let [gate, up, d] = [1, 2, 3].map(|seed| b.upload(&numbers(rows * width, seed)));
    let out = b.gated(&gate, &up, Activation::Silu);
    let [d_gate, d_up] = b.gated_backward(&gate, &up, Activation::Silu, &d);
    vec![("out", get(b, &out)), ("d_gate", get(b, &d_gate)), ("d_up", get(b, &d_up))]
}

fn sum<B: Backend>(b: &B, rows: usize, width: usize, rate: f32) -> Results {
    let dropout = Dropout { rate, stream: Stream::new(9) };
    let [branch, residual] = [1, 2].map(|seed| b.upload(&numbers(rows * width, seed)));
    let dropped = b.dropped(&branch, dropout);
    let sum = b.add(branch, &residual, dropout);
    vec![("sum", get(b, &sum)), ("dropped", get(b, &dropped))]
}

fn embedding<B: Backend>(b: &B, rows: usize, width: usize, rate: f32) -> Results {
    let (words, positions) = (211, 64);
    let mut store = store(b, &[numbers(words * width, 1), numbers(positions * width, 2)]);
    let dropout = Dropout { rate, stream: Stream::new(9) };
    let ids: Vec<u32> =
        (0..rows as u64).map(|i| (Stream::new(7).bits(i) % words as u64) as u32).collect();
    let places: Vec<u32> = (0..rows).map(|i| (i % positions) as u32).collect();
    let rows_of =
        TableRows { words: b.lookups(&ids), positions: b.lookups(&places), segments: None };
    let with = b.embed_plain(&store, (0, Some(1)), width, &rows_of, dropout);
    let without = b.embed_plain(&store, (0, None), width, &rows_of, dropout);
    let d = b.upload(&numbers(rows * width, 12));
    b.embed_plain_backward(&mut store, (0, Some(1)), width, &rows_of, d, dropout);
    let mut all = vec![("with positions", get(b, &with)), ("without", get(b, &without))];
    all.extend(gradients(b, &store, &["d_words", "d_positions"]));
    all
}

/// Queries, keys and values from a projection, turned, through attention and back.
fn turned<B: Backend>(b: &B, rotary: Rotary) -> Results {
    let (inputs, lengths) = (rotary.queries(), [7, 1, 64, 70]);
    let mut bounds = vec![0];
    lengths.iter().for_each(|len| bounds.push(bounds[bounds.len() - 1] + len));
    let rows = bounds[lengths.len()];
    let outputs = [rotary.queries(), rotary.keys(), rotary.keys()];
    let scale = 1.5 / (inputs as f32).sqrt();
    let matrix = |(seed, outputs): (u64, &usize)| -> Vec<f32> {
        numbers(outputs * inputs, seed).iter().map(|x| x * scale).collect()
    };
    let mut store = store(b, &(1..).zip(&outputs).map(matrix).collect::<Vec<_>>());
    let maps =
        [0, 1, 2].map(|weight| Linear { weight, bias: None, inputs, outputs: outputs[weight] });
    let half = rotary.head_width / 2;
    let angle = |place: usize, pair: usize| place as f32 * 0.5f32.powi(pair as i32);
    let angles: Vec<f32> = (0..70)
        .flat_map(|place| {
            let cosines = (0..half).map(move |pair| angle(place, pair).cos());
            cosines.chain((0..half).map(move |pair| angle(place, pair).sin()))
        })
        .collect();
    let places: Vec<u32> = lengths.iter().flat_map(|len| 0..*len as u32).collect();
    let (angles, places) = (b.floats(&angles), b.lookups(&places));
    let x = b.upload(&numbers(rows * inputs, 8));
    let projected = b.project(&store, maps, &x, rows);
    let projected = b.turn(rotary, projected, &angles, &places);
    let shape = storymeter_encoder::train::Attention {
        heads: rotary.heads,
        width: rotary.queries(),
        longest: 512,
        causal: true,
        relative: None,
        dropout: Dropout::none(),
    };
    let stories = b.stories(&bounds);
    let (out, softmax) = b.attention(&store, shape, &stories, &projected);
    let d_out = b.upload(&numbers(rows * rotary.queries(), 10));
    let d = b.attention_backward(&mut store, shape, &stories, &projected, &softmax, &out, &d_out);
    let d = b.turn_backward(rotary, d, &angles, &places);
    let mut d_x = b.zeros(rows * inputs);
    b.project_backward(&mut store, maps, &x, rows, d, &mut d_x);
    let mut all = vec![("out", get(b, &out)), ("d_x", get(b, &d_x))];
    all.extend(gradients(b, &store, &["d_query", "d_key", "d_value"]));
    all
}

/// Attention on tensor cores with heads of 64 and of 32 columns, and the plain one.
pub(super) fn small_configs() -> [(&'static str, Config); 4] {
    [
        ("GPT-2", language_model(2, 128, 2, None, 512)),
        ("GPT-2, heads of 8", language_model(2, 32, 4, None, 64)),
        ("Llama", language_model(2, 192, 3, Some(1), 256)),
        ("Llama, heads of 32", language_model(2, 128, 4, Some(2), 256)),
    ]
}

/// The states, loss and gradients of a whole network with dropout, and the losses of a few steps.
pub(super) fn network<B: Backend>(backend: B, config: &Config, recompute: bool) -> Results {
    let mut network =
        Network::new(backend, config.clone(), &Parameters::random(config, 1), &[]).unwrap();
    let stories = stories_for(config);
    let hidden = network.encode(&stories.iter().map(Vec::as_slice).collect()).unwrap();
    let mut all = vec![("hidden states", network.backend().download(&hidden).unwrap())];
    let options = ForwardOptions { dropout: Some(Stream::new(11)), recompute, first_row: 0 };
    network.clear_gradients();
    all.push(("loss", vec![learn(&mut network, &stories, options) as f32]));
    for tensor in network.gradients().unwrap().tensors {
        // The gradient of the bias of a key is zero but for rounding, because softmax does not see
        // a shift.
        if !tensor.name.ends_with("key.bias") {
            all.push((Box::leak(tensor.name.into_boxed_str()), tensor.data));
        }
    }
    let mut optimiser = Optimiser::new(AdamW::default());
    let steps = (0..8).map(|step| {
        network.clear_gradients();
        let options =
            ForwardOptions { dropout: Some(Stream::new(12).child(step)), recompute, first_row: 0 };
        let loss = learn(&mut network, &stories, options);
        optimiser.step(&mut network, 1e-4);
        loss as f32
    });
    all.push(("losses of steps", steps.collect()));
    all
}
