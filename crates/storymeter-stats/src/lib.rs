//! Correlations, tests, intervals, agreement and rank aggregation on plain slices.
#![forbid(unsafe_code)]
