//! Trains the baselines of Table 5 of the UNION paper (Guan and Huang, EMNLP 2020).
#![forbid(unsafe_code)]
