//! The native module `storymeter._native`.
//!
//! It only adapts the library to Python: values become stories, errors become exceptions, and the
//! work runs without the interpreter's lock. What users see is the Python package around it
//! (`python/storymeter`).

mod catalogue;
mod cli;
mod compare;
mod corpus;
mod correlate;
mod errors;
mod explain;
mod frame;
mod meta;
mod perturb;
mod rows;
mod scored;
mod scorer;
mod shards;
mod tables;
mod work;

/// The allocator of the command line, for the same reason: texts are read on one thread and freed
/// on another. It serves only this module, not Python.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of storymeter.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::catalogue::{list_metrics, metric_page};
    #[pymodule_export]
    use crate::cli::run_command_line;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::corpus::Metric;
    #[pymodule_export]
    use crate::correlate::correlate;
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::meta::{Study, meta};
    #[pymodule_export]
    use crate::perturb::perturb;
    #[pymodule_export]
    use crate::rows::{score_columns, story_columns};
    #[pymodule_export]
    use crate::scored::Scored;
    #[pymodule_export]
    use crate::scorer::PyScorer;
    #[pymodule_export]
    use crate::shards::{Merged, Prepared, merge_shards, plan_shards, score_shard};
    #[pymodule_export]
    use crate::tables::Table;

    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps, reason = "Python's macro wants a result")]
    fn start(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        storymeter_cli::hush_caught_panics();
        Ok(())
    }

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python calls it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
