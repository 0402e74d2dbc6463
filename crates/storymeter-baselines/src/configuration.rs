//! The settings of a kind of training as a TOML file.

use std::path::Path;

use storymeter_core::Place;
pub use storymeter_core::configuration::{Documented, Fault};

use crate::Result;

/// The settings of one kind of training
/// ([`documented_settings!`](storymeter_core::documented_settings)), each with a default.
pub trait Configuration: Documented + Default {
    /// The first setting that is impossible, if any.
    fn fault(&self) -> Option<Fault>;

    /// Reads settings from a file. A field that the file does not name has its default.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is too large or is not TOML, or if it has an
    /// unknown field or a value that is not possible. The error names the line and the field.
    fn read(path: &Path) -> Result<Self> {
        Ok(storymeter_core::configuration::read(path, |_| Self::default(), Self::fault)?)
    }

    /// The line of a settings file that names a field, if one does.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    fn line_of(path: &Path, field: &str) -> Result<Option<Place>> {
        Ok(storymeter_core::configuration::line_of(path, field)?)
    }

    /// The settings as the text of a file that explains every field.
    fn to_toml(&self) -> String {
        storymeter_core::configuration::to_toml(self)
    }
}
