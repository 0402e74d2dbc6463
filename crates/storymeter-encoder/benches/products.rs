//! How many operations per second the matrix products do, beside the peak of the processor: the
//! linear maps of BERT-base for 96 tokens, in f32 and int8, with weights in a cache and from
//! memory. The example `peak` prints the shares of the peak for more shapes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use storymeter_encoder::measure::{Peak, ProductF32, ProductI8, Shape, Work};
use storymeter_encoder::{Activation, Isa};

fn products(criterion: &mut Criterion) {
    let isa = Isa::detect();
    for int8 in [false, true] {
        let mut group = criterion.benchmark_group(if int8 { "int8" } else { "f32" });
        group.sample_size(20);
        let mut measure = |name: String, mut work: Box<dyn Work>| {
            group.throughput(Throughput::Elements(work.operations() as u64));
            group.bench_function(name, |bencher| bencher.iter(|| work.run()));
        };
        if let Some(peak) = Peak::new(isa, int8) {
            measure("peak".into(), Box::new(peak));
        }
        for (k, n, activation) in
            [(768, 2304, None), (768, 3072, Some(Activation::GeluErf)), (3072, 768, None)]
        {
            for (rights, from) in [(1, "a cache"), (50, "memory")] {
                let shape = Shape { m: 96, k, n, activation, rights };
                let work: Box<dyn Work> = if int8 {
                    Box::new(ProductI8::new(isa, shape, true))
                } else {
                    Box::new(ProductF32::new(isa, shape))
                };
                let gelu = if activation.is_some() { " with GELU" } else { "" };
                measure(format!("96 x {k} x {n}{gelu}, weights from {from}"), work);
            }
        }
        group.finish();
    }
}

criterion_group!(benches, products);
criterion_main!(benches);
