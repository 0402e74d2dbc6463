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
    /// Returns an error if the file cannot be read, is too large or is not TOML, or if it has an
    /// unknown field or a value that is not possible. The error names the line and the field.
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
    /// Returns an error if the file cannot be read.
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
