//! Which input is scored to which output.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use storymeter_core::file::FileName;
use storymeter_core::read::{self, Format};
use storymeter_core::write::ScoreFormat;
use storymeter_core::{Error, Header, Place, file};

use super::{ShardError, rows_of};
use crate::Result;

/// A file of stories and the file that its scores are written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// The file of stories.
    pub input: PathBuf,
    /// The file of scores.
    pub output: PathBuf,
    /// The format of the file of scores.
    pub format: ScoreFormat,
    /// The place of the input in the list of all inputs, from 0.
    pub place: u64,
    /// The length of that list.
    pub of: u64,
}

impl Shard {
    /// The header of the scores, which is the mark that the shard is complete.
    pub fn header(&self) -> PathBuf {
        Header::path_of(&self.output)
    }

    /// The row statistics of the stories.
    pub fn rows(&self) -> PathBuf {
        rows_of(&self.output)
    }

    /// Refuses explanations if the file of scores has no room for them.
    pub(super) fn check_explained(&self) -> Result<()> {
        let checked = self.format.check_explained();
        Ok(checked.map_err(|e| Error::io(Place::file(&self.output), e))?)
    }

    /// All files of the shard, in the order in which a shard that is no longer true is removed: the
    /// header, which says that it is complete, goes first.
    pub(super) fn files(&self) -> [PathBuf; 3] {
        [self.header(), self.rows(), self.output.clone()]
    }
}

/// Gives every input an output in a folder, which need not exist yet.
///
/// An output has the file name of its input, without the ending of a compression. If the name ends
/// in `.jsonl`, `.csv` or `.parquet`, that is the format of the output; any other ending is
/// replaced by `.jsonl`. A format that is asked for replaces the ending in any case. A folder among
/// the inputs stands for its files, whose format can be given.
///
/// ```
/// use std::path::Path;
/// use storymeter::shards::plan;
/// # let dir = tempfile::tempdir()?;
/// # let [a, b] = ["a.jsonl.gz", "b.tsv"].map(|name| dir.path().join(name));
/// # for path in [&a, &b] { std::fs::write(path, "")?; }
/// let shards = plan(&[a, b], Path::new("out"), None, None)?;
/// assert_eq!(shards[0].output, Path::new("out/a.jsonl"));
/// assert_eq!(shards[1].output, Path::new("out/b.jsonl"));
/// assert_eq!((shards[1].place, shards[1].of), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if an input is not a file, two inputs would have the same output, an output
/// would replace an input, or a folder cannot be listed.
pub fn plan(
    inputs: &[PathBuf],
    out_dir: &Path,
    format: Option<ScoreFormat>,
    input_format: Option<Format>,
) -> Result<Vec<Shard>> {
    let files = read::files(inputs, input_format)?;
    let of = files.len() as u64;
    let mut shards: Vec<Shard> = Vec::with_capacity(files.len());
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, input) in files.into_iter().enumerate() {
        match input.metadata() {
            Ok(there) if there.is_file() => {}
            Ok(_) => return Err(ShardError::NotAFile { input }.into()),
            Err(_) if input == Path::new("-") => return Err(ShardError::NotAFile { input }.into()),
            Err(e) => return Err(Error::io(Place::file(&input), e).into()),
        }
        let (name, format) = output_name(&input, format);
        let output = out_dir.join(&name);
        // File systems of some computers do not tell capital letters from small ones.
        if let Some(first) = known.insert(name.to_lowercase(), at) {
            let first = shards[first].input.clone();
            return Err(ShardError::SameOutput { first, second: input, output }.into());
        }
        shards.push(Shard { input, output, format, place: at as u64, of });
    }
    let inputs: Vec<&Path> = shards.iter().map(|shard| shard.input.as_path()).collect();
    let beside: Vec<[PathBuf; 2]> =
        shards.iter().map(|shard| [shard.header(), shard.rows()]).collect();
    let outputs = shards.iter().map(|shard| shard.output.as_path());
    let outputs = outputs.chain(beside.iter().flatten().map(PathBuf::as_path));
    file::distinct(&outputs.collect::<Vec<_>>(), &inputs)?;
    Ok(shards)
}

/// Which shards are scored here, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PlanOptions {
    /// The format of the outputs, as in [`plan`].
    pub format: Option<ScoreFormat>,
    /// The format of the files in folders of inputs, as in [`plan`].
    pub input_format: Option<Format>,
    /// The number of this job, counted from 0, and the number of jobs: job I of N scores every N-th
    /// shard, from the I-th on. `None` scores all of them.
    pub job: Option<(u64, u64)>,
    /// Whether outputs may be there already.
    pub resume: bool,
    /// Whether the scorer explains its scores, which not all formats can hold.
    pub explained: bool,
}

impl PlanOptions {
    /// The options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// The shards of a run, and their folder, which is there now; made by [`prepare`].
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The shards that are scored here.
    pub own: Vec<Shard>,
    /// The shards of all jobs, whose inputs are the whole corpus.
    pub all: Vec<Shard>,
    /// The folder, if it was made for this run alone.
    made: Option<PathBuf>,
}

impl Prepared {
    /// Removes the folder if it was made for this run and has no file, because the run failed.
    /// Where there are several jobs it stays, because another one may be about to write into it.
    pub fn remove_empty_folder(&self) {
        if let Some(folder) = &self.made {
            // A folder with files cannot be removed, which is as it should be.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Gives every input an output as [`plan`] does, and makes the folder.
///
/// Unless the run is resumed, the folder must have no file, or, where other jobs write into it too,
/// none of those that this job will write.
///
/// # Errors
/// As [`plan`]; if an output has no room for explanations; and [`ShardError::NotEmpty`].
pub fn prepare(inputs: &[PathBuf], out_dir: &Path, options: &PlanOptions) -> Result<Prepared> {
    let all = plan(inputs, out_dir, options.format, options.input_format)?;
    if options.explained {
        all.iter().try_for_each(Shard::check_explained)?;
    }
    let own = match options.job {
        Some((job, jobs)) => {
            all.iter().filter(|shard| shard.place % jobs.max(1) == job).cloned().collect()
        }
        None => all.clone(),
    };
    let made = (!out_dir.exists() && options.job.is_none()).then(|| out_dir.to_owned());
    std::fs::create_dir_all(out_dir).map_err(|e| Error::io(Place::file(out_dir), e))?;
    if !options.resume {
        refuse_leftovers(out_dir, &own, options.job.is_none())?;
    }
    Ok(Prepared { own, all, made })
}

fn output_name(input: &Path, format: Option<ScoreFormat>) -> (String, ScoreFormat) {
    let name = FileName::of(input);
    let own = ScoreFormat::of_name(name.uncompressed()).filter(|own| {
        name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(own.ending()))
    });
    match (format, own) {
        (None, Some(own)) => (name.uncompressed().to_owned(), own),
        (format, _) => {
            let format = format.unwrap_or(ScoreFormat::Jsonl);
            (format!("{}.{}", name.stem(), format.ending()), format)
        }
    }
}

/// Refuses a folder that has files already. Hidden files, such as what a killed run left, do not
/// count. If these are not all shards of the list, other runs write into the same folder, and only
/// what these shards write must not be there yet.
fn refuse_leftovers(out_dir: &Path, shards: &[Shard], are_all: bool) -> Result<()> {
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let there = if are_all {
        let failed = |e| Error::io(Place::file(out_dir), e);
        let names = file::list(out_dir).map_err(failed)?;
        names.iter().map(|path| name_of(path)).find(|name| !name.starts_with('.'))
    } else {
        let files = shards.iter().flat_map(Shard::files);
        files.into_iter().find(|path| path.exists()).map(|path| name_of(&path))
    };
    match there {
        Some(there) => Err(ShardError::NotEmpty { folder: out_dir.to_owned(), there }.into()),
        None => Ok(()),
    }
}
