//! One file a metric. The documentation at the top of each is its page in the catalogue.

mod text_length;

use crate::Entry;

/// The catalogue, in its order.
pub(crate) const ENTRIES: &[Entry] = &[text_length::ENTRY];
