//! BERTScore, MoverScore, BaryScore and DepthScore as users run them.

mod golden;
mod support;
