//! The string metrics against other programs, and on hostile texts.

mod chars;
mod homogeneity;
mod index;
mod linear_time;
mod mteval;
mod nasty_pairs;
mod pages;
mod peers;
mod slop;
mod tokens;
mod vocabulary;
