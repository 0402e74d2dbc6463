//! Reads the fields of a `config.json`, with errors that name them.

use crate::error::excerpt;
use crate::{Error, Result};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The fields of a `config.json`.
pub(crate) struct Fields<'a> {
    pub(crate) source: &'a Map<String, Value>,
    pub(crate) path: PathBuf,
}

/// The largest size. No real model has a larger one, and no product of sizes overflows.
const LARGEST: u64 = 0x100_0000;

impl Fields<'_> {
    pub(crate) fn error(&self, field: &str, problem: String) -> Error {
        Error::Config { path: self.path.clone(), field: field.into(), problem }
    }

    /// The value of a field that is there and not null.
    pub(crate) fn value(&self, field: &str) -> Option<&Value> {
        self.source.get(field).filter(|value| !value.is_null())
    }

    fn wrong(&self, field: &str, expected: &str, value: &Value) -> Error {
        let shown = excerpt(&value.to_string());
        self.error(field, format!("expected {expected}, found {shown}"))
    }

    pub(crate) fn text(&self, field: &str) -> Result<Option<&str>> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(field, "a word", other)),
        }
    }

    /// A positive whole number of at most 2^24.
    pub(crate) fn size(&self, field: &str, default: Option<usize>) -> Result<usize> {
        match (self.value(field), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.error(field, "is missing".into())),
            (Some(value), _) => match value.as_u64() {
                Some(n @ 1..=LARGEST) => Ok(n as usize),
                _ => Err(self.wrong(field, "a positive whole number", value)),
            },
        }
    }

    pub(crate) fn count(&self, field: &str, default: usize) -> Result<usize> {
        match self.value(field) {
            None => Ok(default),
            Some(value) => match value.as_u64() {
                Some(n @ 0..=LARGEST) => Ok(n as usize),
                _ => Err(self.wrong(field, "a whole number", value)),
            },
        }
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&self, field: &str, default: f64) -> Result<f64> {
        match self.value(field) {
            None => Ok(default),
            Some(value) => match value.as_f64() {
                Some(x) if (0.0..1.0).contains(&x) => Ok(x),
                _ => Err(self.wrong(field, "a number from 0 to 1", value)),
            },
        }
    }

    /// A number greater than 0.
    pub(crate) fn positive(&self, field: &str, default: Option<f64>) -> Result<f64> {
        match (self.value(field), default) {
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.error(field, "is missing".into())),
            (Some(value), _) => match value.as_f64() {
                Some(x) if x > 0.0 && x < 1e12 => Ok(x),
                _ => Err(self.wrong(field, "a positive number", value)),
            },
        }
    }

    /// Refuses a choice that is not supported: `field` must be absent, null or `only`. The numbers
    /// 1 and 1.0 are the same.
    pub(crate) fn only(&self, field: &str, only: &Value) -> Result<()> {
        let is_only = |value: &Value| {
            value == only || value.as_f64().is_some_and(|number| only.as_f64() == Some(number))
        };
        match self.value(field).filter(|value| !is_only(value)) {
            None => Ok(()),
            Some(other) => {
                let shown = excerpt(&other.to_string());
                Err(self.error(field, format!("{shown} is not supported")))
            }
        }
    }
}
