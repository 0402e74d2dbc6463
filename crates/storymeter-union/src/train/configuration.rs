//! Reads and writes settings as TOML files.
//!
//! Every error names the line and the field. A written file explains every field in a comment.

use std::fmt::Write as _;
use std::path::Path;

use storymeter_core::{Place, configuration};

use super::settings::{Preset, Settings};
use crate::Result;

impl Settings {
    /// Reads settings from a file. A field that the file does not name has the value of the preset:
    /// that of `preset` if it is given, else of the preset that the file names, else of the default
    /// one.
    ///
    /// # Errors
    /// If the file cannot be read, is too large or is not TOML, or if it has an unknown field or a
    /// value that is not possible. The error names the line and the field.
    pub fn read(path: &Path, preset: Option<Preset>) -> Result<Self> {
        let settings = configuration::read(path, |file| Self::base(file, preset), Self::fault)?;
        Ok(settings.with_preset(preset))
    }

    /// Reads settings from the text of a file. Errors name `path`.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn from_text(path: &Path, text: &str, preset: Option<Preset>) -> Result<Self> {
        let base = |file: &Self| Self::base(file, preset);
        let settings = configuration::from_text(path, text, base, Self::fault)?;
        Ok(settings.with_preset(preset))
    }

    /// The line of a settings file that names a field, if one does.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn line_of(path: &Path, field: &str) -> Result<Option<Place>> {
        Ok(configuration::line_of(path, field)?)
    }

    /// The settings as the text of a file that explains every field.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for note in self.preset.notes() {
            let _ = writeln!(text, "# {note}");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text + &configuration::to_toml(self)
    }

    /// The settings of the fields that a file does not name.
    fn base(file: &Self, preset: Option<Preset>) -> Self {
        Self::of(preset.unwrap_or(file.preset))
    }

    /// The same settings under the name of the preset that was asked for, which the file may not
    /// name.
    fn with_preset(self, preset: Option<Preset>) -> Self {
        Self { preset: preset.unwrap_or(self.preset), ..self }
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::configuration::Documented as _;

    use super::*;

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
                let written = text.contains(&format!("\n{field} = "))
                    || text.contains(&format!("\n[{field}]"));
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
        assert!(
            unknown.starts_with("run.toml:2: field \"epoch\": unknown field `epoch`"),
            "{unknown}"
        );
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
}
