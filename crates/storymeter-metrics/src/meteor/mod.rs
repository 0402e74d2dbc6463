//! What METEOR does: normalise, find words and phrases that mean the same, align them, count.
//!
//! The 1.5 release is a Java program; here its behaviour is followed step by step, so that the same tables give the
//! same numbers: [`normalize`] and [`words`] make the words, [`tables`] reads the tables, [`stages`] finds every
//! possible match, [`beam`] chooses among them, [`score`] weighs what was chosen. [`nltk`] is METEOR 1.0 as NLTK
//! has it.

mod beam;
mod jar;
pub(crate) mod nltk;
mod normalize;
mod paraphrases;
pub(crate) mod score;
mod stages;
pub(crate) mod tables;
pub(crate) mod words;
