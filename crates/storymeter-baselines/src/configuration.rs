//! Settings of training as TOML files.
//!
//! A written file explains every field in a comment. Errors in a file name the line and the field.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use storymeter_core::file::read_text;
use storymeter_core::terminal::excerpt;
use storymeter_core::{Error as FileError, Place};
use toml::de::DeTable;

use crate::Result;

/// The largest size of a settings file in bytes. All settings with their comments take a few
/// thousand.
const LARGEST_FILE: u64 = 1 << 20;

/// The most characters of what the reader of TOML says about a file. It may repeat a line of it.
const SHOWN: usize = 1500;

/// A setting with an impossible value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The name of the setting.
    pub field: &'static str,
    /// What is wrong with its value, as the end of a sentence that begins with the name.
    pub problem: String,
}

impl Fault {
    /// The fault of a number that is not from `low` to `high`, if it is not.
    pub fn unless_within(field: &'static str, x: f64, low: f64, high: f64) -> Option<Self> {
        let problem = || format!("must be from {low} to {high}, but is {x}");
        (!(low..=high).contains(&x)).then(|| Self { field, problem: problem() })
    }
}

/// The settings of one kind of training: a flat list of fields, each with a default.
pub trait Configuration: Serialize + DeserializeOwned {
    /// The name of every field, and the lines of its documentation.
    const FIELDS: &'static [(&'static str, &'static [&'static str])];

    /// The first setting that is impossible, if any.
    fn fault(&self) -> Option<Fault>;

    /// Reads settings from a file. A field that the file does not name has its default.
    ///
    /// # Errors
    /// If the file cannot be read, is too large or is not TOML, or if it has an unknown field or a
    /// value that is not possible. The error names the line and the field.
    fn read(path: &Path) -> Result<Self> {
        Self::from_text(path, &read_text(path, LARGEST_FILE)?)
    }

    /// Reads settings from the text of a file. Errors name `path`.
    ///
    /// # Errors
    /// As [`Configuration::read`].
    fn from_text(path: &Path, text: &str) -> Result<Self> {
        let settings: Self =
            toml::from_str(text).map_err(|error| reading_error(path, text, &error))?;
        match settings.fault() {
            Some(Fault { field, problem }) => {
                Err(FileError::invalid(place_of(path, text, field), problem).into())
            }
            None => Ok(settings),
        }
    }

    /// The settings as the text of a file that explains every field.
    fn to_toml(&self) -> String {
        // Numbers and words can always be written as TOML.
        let plain = toml::to_string(self).unwrap_or_default();
        let mut text = String::new();
        for line in plain.lines() {
            let name = line.split(" = ").next().unwrap_or_default();
            let documented = Self::FIELDS.iter().find(|(field, _)| *field == name);
            if !text.is_empty() {
                text.push('\n');
            }
            for comment in documented.map_or(&[][..], |(_, lines)| *lines) {
                let _ = writeln!(text, "#{comment}");
            }
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// Declares the settings of a kind of training. The documentation of a field is also its comment in
/// a settings file.
macro_rules! settings {
    (
        $(#[$about:meta])+
        $settings:ident { $($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $default:expr;)+ }
        fault($self:ident) $fault:block
    ) => {
        $(#[$about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $settings {
            $($(#[doc = $doc])+ pub $name: $kind,)+
        }

        impl Default for $settings {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl $crate::configuration::Configuration for $settings {
            const FIELDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$($doc),+]),)+];

            fn fault(&$self) -> Option<$crate::configuration::Fault> $fault
        }
    };
}
pub(crate) use settings;

fn reading_error(path: &Path, text: &str, error: &toml::de::Error) -> FileError {
    let mut place = Place::file(path);
    if let Some(span) = error.span() {
        let line = line_of(text, span.start);
        place = place.at_line(line);
        let named = text.lines().nth(line as usize - 1).and_then(|line| line.split_once('='));
        if let Some((name, _)) = named {
            place = place.in_field(name.trim().chars().take(200).collect::<String>());
        }
    }
    let said = error.message().trim();
    let brief = if said.chars().count() > SHOWN { excerpt(said, SHOWN) } else { said.to_owned() };
    FileError::invalid(place, brief)
}

/// A field of a file, with the line that names it if there is one.
fn place_of(path: &Path, text: &str, field: &str) -> Place {
    let mut place = Place::file(path);
    let table = DeTable::parse(text);
    if let Ok(Some((name, _))) = table.as_ref().map(|table| table.get_ref().get_key_value(field)) {
        place = place.at_line(line_of(text, name.span().start));
    }
    place.in_field(field)
}

/// The number of the line in which a byte is, from 1.
fn line_of(text: &str, byte: usize) -> u64 {
    let before = &text.as_bytes()[..byte.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    settings! {
        /// Settings of nothing.
        Example {
            /// The number of passes.
            passes: u64 = 3;
            /// How fast it learns, from 0
            /// to 1.
            speed: f64 = 0.5;
        }
        fault(self) { Fault::unless_within("speed", self.speed, 0.0, 1.0) }
    }

    #[test]
    fn settings_are_written_with_their_meaning_and_read_back() {
        let settings = Example { passes: 7, ..Example::default() };
        let text = settings.to_toml();
        assert_eq!(
            text,
            "# The number of passes.\npasses = 7\n\n# How fast it learns, from 0\n# to 1.\n\
             speed = 0.5\n"
        );
        assert_eq!(Example::from_text(Path::new("run.toml"), &text).unwrap(), settings);
    }

    #[test]
    fn errors_name_file_line_and_field() {
        let error = |text: &str| {
            Example::from_text(Path::new("run.toml"), text).expect_err("wrong").to_string()
        };
        let unknown = error("passes = 3\npasses_ = 2\n");
        assert!(unknown.starts_with("run.toml:2: field \"passes_\": unknown field"), "{unknown}");
        let kind = error("\n\nspeed = \"fast\"\n");
        assert!(kind.starts_with("run.toml:3: field \"speed\": invalid type: string"), "{kind}");
        let fault = error("passes = 1\nspeed = 2.0\n");
        assert_eq!(fault, "run.toml:2: field \"speed\": must be from 0 to 1, but is 2");
    }
}
