//! Reads and writes settings as TOML files.
//!
//! Every error names the line and the field. A written file explains every field in a comment.

use std::fmt::Write as _;
use std::path::Path;

use storymeter_core::file::read_text;
use storymeter_core::{Error as FileError, Place};
use toml::de::DeTable;

use super::limits::Fault;
use super::settings::{Preset, Settings};
use crate::Result;
use crate::error::brief;

/// The largest size of a settings file in bytes. All settings with their comments take a few
/// thousand.
const LARGEST_FILE: u64 = 1 << 20;

impl Settings {
    /// Reads settings from a file. A field that the file does not name has the value of the preset:
    /// that of `preset` if it is given, else of the preset that the file names, else of the default
    /// one.
    ///
    /// # Errors
    /// If the file cannot be read, is too large or is not TOML, or if it has an unknown field or a
    /// value that is not possible. The error names the line and the field.
    pub fn read(path: &Path, preset: Option<Preset>) -> Result<Self> {
        Self::from_text(path, &read_text(path, LARGEST_FILE)?, preset)
    }

    /// Reads settings from the text of a file. Errors name `path`.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn from_text(path: &Path, text: &str, preset: Option<Preset>) -> Result<Self> {
        let settings = parse(text, preset).map_err(|error| reading_error(path, text, &error))?;
        match settings.fault() {
            Some(fault) => Err(fault_in_file(path, text, fault).into()),
            None => Ok(settings),
        }
    }

    /// The line of a settings file that names a field, if one does.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn line_of(path: &Path, field: &str) -> Result<Option<Place>> {
        let text = read_text(path, LARGEST_FILE)?;
        let place = place_of(path, &text, field);
        Ok(place.line.is_some().then_some(place))
    }

    /// The settings as the text of a file that explains every field.
    pub fn to_toml(&self) -> String {
        // Numbers, words and lists of them can always be written as TOML.
        let plain = toml::to_string(self).unwrap_or_default();
        let mut text = String::new();
        for note in self.preset.notes() {
            let _ = writeln!(text, "# {note}");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let mut in_table = false;
        for line in plain.lines() {
            let name = line.trim_matches(['[', ']']).split(" = ").next().unwrap_or_default();
            // The comment above a table explains all its fields. A field in it may have the name of
            // a setting outside.
            let documented = Self::FIELDS.iter().find(|(field, _)| *field == name && !in_table);
            in_table |= line.starts_with('[');
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
}

/// Reads the text twice: alone, so that errors know their line, and merged into its preset.
fn parse(text: &str, preset: Option<Preset>) -> Result<Settings, toml::de::Error> {
    let alone: Settings = toml::from_str(text)?;
    let preset = preset.unwrap_or(alone.preset);
    let mut table = as_table(&Settings::of(preset))?;
    merge(&mut table, toml::from_str(text)?);
    let settings: Settings = table.try_into()?;
    Ok(Settings { preset, ..settings })
}

fn as_table(settings: &Settings) -> Result<toml::Table, toml::de::Error> {
    // The settings pass through text, so that a number in single precision stays the number that
    // was written.
    toml::from_str(&toml::to_string(settings).unwrap_or_default())
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

fn reading_error(path: &Path, text: &str, error: &toml::de::Error) -> FileError {
    let mut place = Place::file(path);
    if let Some(start) = error.span().map(|span| span.start).or_else(|| refused_field(text)) {
        let line = line_of(text.as_bytes(), start);
        place = place.at_line(line);
        let named = text.lines().nth(line as usize - 1).and_then(|line| line.split_once('='));
        if let Some((name, _)) = named {
            place = place.in_field(name.trim().chars().take(200).collect::<String>());
        }
    }
    FileError::invalid(place, brief(error.message().trim()))
}

/// The byte at which the first field begins that is refused even alone. The TOML reader does not
/// tell the place of a list that is too long.
fn refused_field(text: &str) -> Option<usize> {
    let refused = |table: toml::Table| table.try_into::<Settings>().is_err();
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

/// The error for a faulty setting, at the line that names the field. No line may name it, because a
/// fault can follow from other fields.
fn fault_in_file(path: &Path, text: &str, fault: Fault) -> FileError {
    FileError::invalid(place_of(path, text, fault.field), fault.problem)
}

/// A field of a file, with the line that names it if there is one.
fn place_of(path: &Path, text: &str, field: &str) -> Place {
    let mut place = Place::file(path);
    let table = DeTable::parse(text);
    if let Ok(Some((name, _))) = table.as_ref().map(|table| table.get_ref().get_key_value(field)) {
        place = place.at_line(line_of(text.as_bytes(), name.span().start));
    }
    place.in_field(field)
}

/// The number of the line in which a byte is, from 1.
fn line_of(text: &[u8], byte: usize) -> u64 {
    1 + text[..byte.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let error = |text: &str| {
            reading_error(Path::new("run.toml"), text, &parse(text, None).unwrap_err()).to_string()
        };
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
                let message = reading_error(Path::new("run.toml"), &text, &error).to_string();
                proptest::prop_assert!(message.starts_with("run.toml"));
            }
        }
    }
}
