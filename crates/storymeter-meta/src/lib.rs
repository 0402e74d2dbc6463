//! Meta-evaluation: how good a measure of stories is.
#![forbid(unsafe_code)]
