//! Damaged stories (negative samples), and exactly what was damaged.
#![forbid(unsafe_code)]
