//! Metrics of stories that need no trained weights, one file each.
#![forbid(unsafe_code)]
