//! Settings as TOML files that explain themselves.
//!
//! [`documented_settings!`](crate::documented_settings) declares a struct of settings with their
//! defaults. The documentation of a field is also its comment in a file. Every error of reading
//! names the line and the field.
//!
//! ```
//! use std::path::Path;
//! use storymeter_core::configuration::{Fault, from_text, to_toml};
//!
//! storymeter_core::documented_settings! {
//!     /// The settings of a walk.
//!     pub struct Walk;
//!
//!     /// The number of steps.
//!     steps: u64 = 3;
//! }
//!
//! let fault = |walk: &Walk| Fault::number("steps", walk.steps, 1, 9);
//! let walk = from_text(Path::new("walk.toml"), "steps = 5", |_| Walk::default(), fault).unwrap();
//! assert_eq!(to_toml(&walk), "# The number of steps.\nsteps = 5\n");
//! let error = from_text(Path::new("walk.toml"), "\nsteps = 0", |_| Walk::default(), fault);
//! let said = "walk.toml:2: field \"steps\": must be from 1 to 9, but is 0";
//! assert_eq!(error.unwrap_err().to_string(), said);
//! ```

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::file::read_text;
use crate::{Error, Place, Result};

/// The largest size of a settings file in bytes. All settings with their comments take a few
/// thousand.
const LARGEST_FILE: u64 = 1 << 20;

/// The most characters of a parser's message. It may repeat the text of the file.
const LONGEST_MESSAGE: usize = 1500;

/// The smallest positive number that [`Fault::positive`] allows. Training computes in single
/// precision, in which it must not round to 0.
const SMALLEST: f64 = 1e-30;

/// The largest seed that a TOML file can hold.
pub const LARGEST_SEED: u64 = i64::MAX as u64;

/// Settings whose fields are explained.
pub trait Documented: Serialize + DeserializeOwned {
    /// The name of every field, and the lines of its documentation.
    const FIELDS: &'static [(&'static str, &'static [&'static str])];
}

/// Declares a struct of settings: the documentation, type and default of every field. A field that
/// a file does not name has its default, and an unknown field is refused.
#[macro_export]
macro_rules! documented_settings {
    (
        $(#[doc = $about:literal])+ pub struct $settings:ident;
        $($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $default:expr;)+
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $settings {
            $($(#[doc = $doc])+ pub $name: $kind,)+
        }

        impl Default for $settings {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl $crate::configuration::Documented for $settings {
            const FIELDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$($doc),+]),)+];
        }
    };
}

/// A setting with an impossible value.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The name of the field.
    pub field: &'static str,
    /// What is wrong with its value: "must be from 0 to 1, but is 1.5".
    pub problem: String,
}

impl Fault {
    /// A number that is not from `low` to `high`.
    pub fn within(field: &'static str, x: f64, low: f64, high: f64) -> Option<Self> {
        let problem = || format!("must be from {low} to {high}, but is {x}");
        (!(low..=high).contains(&x)).then(|| Self { field, problem: problem() })
    }

    /// A number that is not positive, or more than `most`.
    pub fn positive(field: &'static str, x: f64, most: f64) -> Option<Self> {
        let problem = || format!("must be from {SMALLEST:e} to {most}, but is {x}");
        (!(SMALLEST..=most).contains(&x)).then(|| Self { field, problem: problem() })
    }

    /// A whole number that is not from `least` to `most`.
    pub fn number(field: &'static str, n: u64, least: u64, most: u64) -> Option<Self> {
        let problem = || format!("must be from {least} to {most}, but is {n}");
        (!(least..=most).contains(&n)).then(|| Self { field, problem: problem() })
    }
}

/// Reads settings from a file.
///
/// # Errors
/// Returns an error if the file cannot be read or is too large, and as [`from_text`].
pub fn read<S: Documented>(
    path: &Path,
    base: impl FnOnce(&S) -> S,
    fault: impl FnOnce(&S) -> Option<Fault>,
) -> Result<S> {
    from_text(path, &read_text(path, LARGEST_FILE)?, base, fault)
}

/// Reads settings from the text of a file. Errors name `path`.
///
/// A field that the text does not name has the value that it has in `base`, which is given the
/// settings of the text alone.
///
/// # Errors
/// Returns an error if the text is not TOML, or has an unknown field or a value that is not
/// possible. The error names the line and the field.
pub fn from_text<S: Documented>(
    path: &Path,
    text: &str,
    base: impl FnOnce(&S) -> S,
    fault: impl FnOnce(&S) -> Option<Fault>,
) -> Result<S> {
    let settings = parse(text, base).map_err(|error| reading_error::<S>(path, text, &error))?;
    match fault(&settings) {
        Some(Fault { field, problem }) => {
            // No line may name the field, because a fault can follow from other fields.
            Err(Error::invalid(place_of(path, text, field), problem))
        }
        None => Ok(settings),
    }
}

/// Reads a table that is not a struct of settings from a TOML file.
///
/// # Errors
/// Returns an error if the file cannot be read or is too large, or if it is not TOML of this form.
/// The error names the line.
pub fn read_table<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = read_text(path, LARGEST_FILE)?;
    toml::from_str(&text).map_err(|error| {
        let start = error.span().map(|span| span.start);
        invalid(path, &text, start, &error)
    })
}

/// The line of a settings file that names a field, if one does.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn line_of(path: &Path, field: &str) -> Result<Option<Place>> {
    let text = read_text(path, LARGEST_FILE)?;
    let place = place_of(path, &text, field);
    Ok(place.line.is_some().then_some(place))
}

/// The settings as the text of a file that explains every field.
pub fn to_toml<S: Documented>(settings: &S) -> String {
    // Numbers, words and lists of them can always be written as TOML.
    let plain = toml::to_string(settings).unwrap_or_default();
    let mut text = String::new();
    let mut in_table = false;
    for line in plain.lines() {
        let name = line.trim_matches(['[', ']']).split(" = ").next().unwrap_or_default();
        // The comment above a table explains all its fields. A field in it may have the name of a
        // setting outside.
        let is_table = line.starts_with('[');
        let documented =
            S::FIELDS.iter().find(|(field, _)| *field == name && (is_table || !in_table));
        in_table |= is_table;
        if documented.is_some() && !text.ends_with("\n\n") && !text.is_empty() {
            text.push('\n');
        }
        for comment in documented.map_or(&[][..], |(_, lines)| *lines) {
            let _ = writeln!(text, "#{comment}");
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Reads the text twice: alone, so that errors know their line, and merged into its base.
fn parse<S: Documented>(
    text: &str,
    base: impl FnOnce(&S) -> S,
) -> std::result::Result<S, toml::de::Error> {
    let base = base(&toml::from_str(text)?);
    // The base passes through text, so that a number in single precision stays the number that was
    // written.
    let mut table: toml::Table = toml::from_str(&toml::to_string(&base).unwrap_or_default())?;
    merge(&mut table, toml::from_str(text)?);
    table.try_into()
}

/// Merges `over` into `under`, table by table. The values of `over` win.
fn merge(under: &mut toml::Table, over: toml::Table) {
    for (name, value) in over {
        match (under.get_mut(&name), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => drop(under.insert(name, value)),
        }
    }
}

fn reading_error<S: Documented>(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let start = error.span().map(|span| span.start).or_else(|| refused_field::<S>(text));
    invalid(path, text, start, error)
}

/// The error of a text that is wrong at the byte `start`, if that is known.
fn invalid(path: &Path, text: &str, start: Option<usize>, error: &toml::de::Error) -> Error {
    let mut place = Place::file(path);
    if let Some(start) = start {
        let line = line_number(text.as_bytes(), start);
        place = place.at_line(line);
        let named = text.lines().nth(line as usize - 1).and_then(|line| line.split_once('='));
        if let Some((name, _)) = named {
            place = place.in_field(name.trim().chars().take(200).collect::<String>());
        }
    }
    let said = error.message().trim();
    let problem = match said.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", &said[..end]),
        None => said.to_owned(),
    };
    Error::invalid(place, problem)
}

/// The byte at which the first field begins that is refused even alone. The TOML reader does not
/// tell the place of a list that is too long.
fn refused_field<S: Documented>(text: &str) -> Option<usize> {
    let refused = |table: toml::Table| table.try_into::<S>().is_err();
    let values: toml::Table = toml::from_str(text).ok()?;
    let places = DeTable::parse(text).ok()?;
    for (name, place) in places.get_ref() {
        let key = name.get_ref().as_ref();
        let value = values.get(key)?;
        if !refused(toml::Table::from_iter([(key.to_owned(), value.clone())])) {
            continue;
        }
        let inner =
            place.get_ref().as_table().zip(value.as_table()).and_then(|(places, values)| {
                let alone = |inner: &str| {
                    let field =
                        toml::Table::from_iter([(inner.to_owned(), values.get(inner)?.clone())]);
                    Some(toml::Table::from_iter([(key.to_owned(), field.into())]))
                };
                places.keys().find(|inner| alone(inner.get_ref()).is_some_and(refused))
            });
        return Some(inner.unwrap_or(name).span().start);
    }
    None
}

/// A field of a file, with the line that names it if there is one.
fn place_of(path: &Path, text: &str, field: &str) -> Place {
    let mut place = Place::file(path);
    let table = DeTable::parse(text);
    if let Ok(Some((name, _))) = table.as_ref().map(|table| table.get_ref().get_key_value(field)) {
        place = place.at_line(line_number(text.as_bytes(), name.span().start));
    }
    place.in_field(field)
}

/// The number of the line in which a byte is, from 1.
fn line_number(text: &[u8], byte: usize) -> u64 {
    1 + text[..byte.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64
}
