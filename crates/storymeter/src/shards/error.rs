//! What can go wrong with shards.

use std::path::PathBuf;

/// Files that cannot be scored one by one, or scores of such files that cannot be merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// Two inputs would have the same output.
    #[error("{} and {} would both be written to {}; give the inputs different names",
        .first.display(), .second.display(), .output.display())]
    SameOutput {
        /// One input.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
        /// The output of both.
        output: PathBuf,
    },
    /// An input that is not a file, such as standard input or a pipe, has no name to go by.
    #[error("{}: only files can be scored one by one, and this is none",
        if .input == &PathBuf::from("-") { "standard input".to_owned() }
        else { .input.display().to_string() })]
    NotAFile {
        /// The input.
        input: PathBuf,
    },
    /// The folder of the outputs has files already.
    #[error("{}: the folder is not empty: it has {}", .folder.display(), .there)]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of the files in it.
        there: String,
    },
    /// A file that this program may not have written has the name of an output.
    #[error("{}: nothing says that storymeter wrote this file, so it is not replaced; remove or \
        rename it", .file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The score of a story depends on all other stories, so files cannot be scored one by one.
    #[error("metric \"{metric}\" needs to know all stories, so files cannot be scored one by one")]
    NeedsCorpus {
        /// The metric.
        metric: String,
    },
    /// A finished shard was scored in another way than the one that is asked for now.
    #[error("{}: this file was scored in another way: then {there}, and now {wanted}",
        .header.display())]
    OtherSettings {
        /// The header of the shard.
        header: PathBuf,
        /// How it was scored.
        there: String,
        /// How it should be scored now.
        wanted: String,
    },
    /// An input was changed while it was read.
    #[error("{}: the file was changed while it was read", .input.display())]
    Changed {
        /// The input.
        input: PathBuf,
    },
    /// A file that is not the header of a score file.
    #[error("{}: this is not the header of a score file: its name does not end in .meta.json",
        .path.display())]
    NotAHeader {
        /// The file.
        path: PathBuf,
    },
    /// There is no header.
    #[error("{}: there is no header of a score file", .path.display())]
    NoHeader {
        /// The folder or the file.
        path: PathBuf,
    },
    /// A header of an older version has no sums.
    #[error("{}: this header has no sums to merge; an older version of storymeter wrote it",
        .header.display())]
    NoSums {
        /// The header.
        header: PathBuf,
    },
    /// A header has sums for too many systems.
    #[error("{}: there are too many systems to merge more than {most} stories",
        .header.display())]
    TooManySystems {
        /// The header.
        header: PathBuf,
        /// The number of stories up to which rows are read.
        most: usize,
    },
    /// Two shards were scored in different ways.
    #[error("{} and {} do not belong together: the first one has {there}, and the other {other}",
        .first.display(), .second.display())]
    Mixed {
        /// One header.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
        /// What the first one says.
        there: String,
        /// What the other one says instead.
        other: String,
    },
    /// Shards of the list are not there.
    #[error("{}", missing(.of, .places))]
    Missing {
        /// The length of the list of inputs.
        of: u64,
        /// The places that are missing, from 0, each with the input before it if that is there.
        places: Vec<(u64, Option<String>)>,
    },
    /// There are more or fewer shards than expected.
    #[error("there are {there} shards, and {expected} are expected")]
    Count {
        /// How many there are.
        there: u64,
        /// How many are expected.
        expected: u64,
    },
    /// A shard is there twice.
    #[error("{} and {} are the same shard: {input}", .first.display(), .second.display())]
    Doubled {
        /// One header.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
        /// The input of both.
        input: String,
    },
    /// Two stories of one system have the same id, in two shards.
    #[error("{} and {} have a story of the same system with the same id", .first.display(),
        .second.display())]
    SameId {
        /// The score file of one story.
        first: PathBuf,
        /// The score file of the other one.
        second: PathBuf,
    },
    /// A file of a shard is not there, or is not what its header says.
    #[error("{}: {problem}; score the input again", .file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The scores of the shards cannot be joined to one file.
    #[error("{}: {problem}", .file.display())]
    NotJoined {
        /// A score file that does not fit.
        file: PathBuf,
        /// Why.
        problem: String,
    },
}

/// The first few missing shards, with the inputs that stand before them.
fn missing(of: &u64, places: &[(u64, Option<String>)]) -> String {
    const SHOWN: usize = 5;
    let shown = places.iter().take(SHOWN).map(|(place, before)| match before {
        Some(before) => format!("number {} (after {before})", place + 1),
        None => format!("number {}", place + 1),
    });
    let shown: Vec<String> = shown.collect();
    let more = match places.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if places.len() == 1 { "is" } else { "are" };
    format!("{} of {of} shards {verb} missing: {}{more}", places.len(), shown.join(", "))
}
