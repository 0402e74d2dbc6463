//! The perplexities of SmolLM2, against transformers (`smollm2.json` of storymeter-neural).

use std::collections::BTreeMap;

use storymeter_checks::{Result, weights};
use storymeter_core::Story;

use super::scoring::{pair, score};
use super::{examples, fixture};

fn smollm2_gives_the_perplexities_of_transformers() -> Result {
    let folder = weights("smollm2")?;
    let texts: BTreeMap<String, String> = examples().into_iter().collect();
    let fixture = fixture("smollm2.json");
    let expected = fixture["stories"].as_array().unwrap();
    assert!(expected.len() >= 20);
    let stories: Vec<Story> =
        expected.iter().map(|one| pair(&texts[one["story"].as_str().unwrap()], &[])).collect();
    let scored = score(&["perplexity:nll"], &folder, &stories, 8)?;
    for (found, one) in scored.column("perplexity:nll").iter().zip(expected) {
        let numbers = one["likelihoods"].as_array().unwrap();
        let sum: f64 = numbers.iter().map(|number| number.as_f64().unwrap()).sum();
        let nats = -sum / numbers.len() as f64;
        assert!((found - nats).abs() < 1e-3, "{}: {found}, not {nats}", one["story"]);
    }
    Ok(())
}

storymeter_checks::checks!(smollm2_gives_the_perplexities_of_transformers);
