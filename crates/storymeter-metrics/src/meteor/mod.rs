//! The steps of METEOR: normalise, find words and phrases that mean the same, align them, and
//! count.
//!
//! METEOR 1.5 is a Java program. Its behaviour is followed step by step, so that the same tables
//! give the same numbers. [`normalize`] and [`words`] make the words, [`tables`] reads the tables,
//! [`stages`] finds every possible match, [`beam`] chooses among the matches, and [`score`] makes
//! the score. [`nltk`] is METEOR 1.0 as in NLTK.

mod beam;
mod jar;
pub(crate) mod nltk;
mod normalize;
mod paraphrases;
pub(crate) mod score;
mod stages;
pub(crate) mod tables;
pub(crate) mod words;
