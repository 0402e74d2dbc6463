//! The first training steps of real encoders on real stories, compared with those of PyTorch.
//!
//! `tools/training_steps.py` writes a folder per encoder. STORYMETER_STEPS names the folders, with
//! colons between them:
//!
//!     STORYMETER_STEPS=OUT cargo test --release -p storymeter-encoder --features cuda \
//!         --test cuda pytorch_steps -- --include-ignored --nocapture

use super::report::Report;
use super::steps::{Leeway, Steps, pytorchs_losses};
use half::bf16;
use storymeter_encoder::cuda::Cuda;

#[test]
#[ignore = "needs an NVIDIA GPU, and folders that STORYMETER_STEPS names; run with --ignored"]
fn the_first_steps_of_real_encoders_are_pytorchs() {
    let folders = std::env::var_os("STORYMETER_STEPS").expect("STORYMETER_STEPS names folders");
    let mut report = Report { precision: "f32", tolerance: 0.0, failures: Vec::new() };
    let mut seen = 0;
    for folder in std::env::split_paths(&folders) {
        seen += 1;
        // Gradients are compared where nothing has been amplified by steps yet.
        let errors = Steps::read(&folder).gradient_errors(Cuda::<f32>::open(0).unwrap());
        if let Some(errors) = errors {
            let worst: Vec<String> =
                errors.iter().take(3).map(|(e, name)| format!("{name} {e:.1e}")).collect();
            println!(
                "     f32 gradients of the first step beside PyTorch's f64: {}",
                worst.join(", ")
            );
            assert!(errors[0].0 < 1e-3, "{errors:?}");
        }
        report.precision = "f32";
        pytorchs_losses(&mut report, Cuda::<f32>::open(0).unwrap(), &folder, Leeway::Within(1e-3));
        report.precision = "bf16";
        pytorchs_losses(&mut report, Cuda::<bf16>::open(0).unwrap(), &folder, Leeway::Within(1e-2));
    }
    assert!(seen > 0, "STORYMETER_STEPS names no folder");
    assert!(report.failures.is_empty(), "{:?}", report.failures);
}
