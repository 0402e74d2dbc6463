//! The parts of RUBER-BERT that its metric and its training share: what is read of a story, the
//! vectors of texts, and the head of the unreferenced score.
//!
//! Sources: Tao et al., "RUBER" (AAAI 2018); Ghazarian et al., "Better Automatic Evaluation of
//! Open-Domain Dialogue Systems with Contextualized Embeddings" (NeuralGen 2019); UNION, section
//! 4.1.

mod head;
mod reading;
mod saved;
mod vectors;

pub use head::{Forward, Head, ReadyHead};
pub use reading::{Reading, masked};
pub use saved::{CARD, Card, HEAD, LEAST_TOKENS};
pub use vectors::{Pool, PooledText, pooled};
