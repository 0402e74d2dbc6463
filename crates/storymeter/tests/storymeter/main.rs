//! The library as its users call it, and the pages that are made with it.

mod columns;
mod corpus_stats;
mod damage;
mod explain_page;
mod facade;
mod flags;
mod metric_pages;
#[cfg(unix)]
mod pipes;
mod slop;
mod written;
