//! Settings of training as files.

use std::path::Path;

use storymeter_union::Result;
use storymeter_union::train::{Preset, Settings};

use storymeter_core::configuration::Documented as _;

fn parse(text: &str, preset: Option<Preset>) -> Result<Settings> {
    Settings::from_text(Path::new("run.toml"), text, preset)
}

#[test]
fn every_preset_reads_back_as_it_was_written_and_every_field_is_explained() {
    for preset in [Preset::Default, Preset::Paper, Preset::ReleasedCode] {
        let settings = Settings { learning_rate: 3e-5, ..Settings::of(preset) };
        let text = settings.to_toml();
        assert_eq!(parse(&text, None).unwrap(), settings, "{text}");
        for (field, comment) in Settings::FIELDS {
            let written =
                text.contains(&format!("\n{field} = ")) || text.contains(&format!("\n[{field}]"));
            assert!(written && text.contains(comment[0]), "{field} in\n{text}");
        }
    }
}

#[test]
fn a_share_of_typos_reads_back_as_it_was_written() {
    let settings = parse("reconstruction = \"none\"\ntypos = 0.25\n", None).unwrap();
    assert_eq!((settings.typos, Settings::default().typos), (0.25, 0.0));
    assert_eq!(parse(&settings.to_toml(), None).unwrap(), settings);
}

#[test]
fn what_a_file_names_wins_over_its_preset_and_the_rest_is_the_preset_s() {
    let text = "preset = \"released-code\"\nepochs = 7\n[perturb]\nkeyword_share = 0.2\n";
    let settings = parse(text, None).unwrap();
    let released = Settings::of(Preset::ReleasedCode);
    assert_eq!((settings.epochs, settings.perturb.keyword_share), (7, 0.2));
    assert_eq!(settings.perturb.preset, released.perturb.preset);
    assert_eq!((settings.adam_epsilon, settings.bias_correction), (1e-6, false));
    assert_eq!(parse("epochs = 7", Some(Preset::Paper)).unwrap().stories_a_batch, 10);
}

#[test]
fn errors_name_file_line_and_field() {
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    let unknown = error("seed = 3\nepoch = 2\n");
    assert!(unknown.starts_with("run.toml:2: field \"epoch\": unknown field `epoch`"), "{unknown}");
    let kind = error("\n\nlearning_rate = \"fast\"\n");
    assert!(
        kind.starts_with("run.toml:3: field \"learning_rate\": invalid type: string"),
        "{kind}"
    );
    let inner = error("[perturb]\ncounts = [1.0]\n");
    assert!(inner.starts_with("run.toml:2: field \"counts\""), "{inner}");
    let long = error("seed = 1\n\n[perturb]\nkeyword_share = 0.2\ncounts = [1, 2, 3, 4, 5]\n");
    assert!(long.starts_with("run.toml:5: field \"counts\": invalid length 5"), "{long}");
    let broken = error("seed = \n");
    assert!(broken.starts_with("run.toml:1: field \"seed\""), "{broken}");
}

proptest::proptest! {
    #[test]
    fn no_file_is_too_odd_for_an_error(
        parts in proptest::collection::vec("[a-z_]{0,9}|\\PC{0,4}|seed = |\\[perturb\\]|[\"'=\n.#é0-9]{0,4}", 0..12)
    ) {
        let text = parts.concat();
        if let Err(error) = parse(&text, None) {
            proptest::prop_assert!(error.to_string().starts_with("run.toml"));
        }
    }
}
