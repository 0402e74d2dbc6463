//! Stories from files, read ahead on a thread of their own, with references from other files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use rayon::prelude::*;
use storymeter_core::file::Temporary;
use storymeter_core::read::{
    Format, Intake, Parsed, RawRecord, RawRecords, ReadOptions, Record, Rows, put_aside,
};
use storymeter_core::{Place, Progress, Story};

use crate::{Error, Result};

/// How many records travel together from the reader to the workers.
const BATCH: usize = 1024;

/// Files of stories, and how they are read.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("stories.jsonl");
/// # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
/// use storymeter::core::Progress;
/// use storymeter::core::read::ReadOptions;
/// use storymeter::input::Inputs;
/// let inputs = Inputs::new(vec![path], ReadOptions::default());
/// let mut intake = inputs.intake();
/// let stories = inputs.stories(&mut intake, &Progress::unwatched())?;
/// assert_eq!(stories[0].text, "A door opened.");
/// assert_eq!(intake.summary().to_string(), "read 1 story from 1 file (jsonl)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inputs {
    files: Vec<PathBuf>,
    /// Stories that are given as texts, instead of files.
    texts: Vec<String>,
    /// Stories that are rows in memory, instead of files.
    rows: Option<Arc<dyn Rows>>,
    options: ReadOptions,
    copies: Copies,
}

impl Inputs {
    /// Inputs that can be read once, and several times where all of them are files.
    pub fn new(files: Vec<PathBuf>, options: ReadOptions) -> Self {
        Self { files, texts: Vec::new(), rows: None, options, copies: Copies::default() }
    }

    /// Texts that are one story each, instead of files.
    ///
    /// ```
    /// use storymeter::core::Progress;
    /// use storymeter::core::read::ReadOptions;
    /// use storymeter::input::Inputs;
    /// let inputs = Inputs::texts(vec!["A door opened.".to_owned()], ReadOptions::default());
    /// let mut intake = inputs.intake();
    /// assert_eq!(inputs.stories(&mut intake, &Progress::unwatched())?[0].id, "0");
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    pub fn texts(texts: Vec<String>, options: ReadOptions) -> Self {
        Self { texts, ..Self::new(Vec::new(), options) }
    }

    /// Rows in memory, instead of files. Errors call them `stories` and count from 1.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use storymeter::core::Progress;
    /// use storymeter::core::read::ReadOptions;
    /// use storymeter::input::Inputs;
    /// let rows: Vec<serde_json::Value> = vec!["A door opened.".into()];
    /// let inputs = Inputs::rows(Arc::new(rows), ReadOptions::default());
    /// let mut intake = inputs.intake();
    /// assert_eq!(inputs.stories(&mut intake, &Progress::unwatched())?[0].id, "0");
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    pub fn rows(rows: Arc<dyn Rows>, options: ReadOptions) -> Self {
        Self { rows: Some(rows), ..Self::new(Vec::new(), options) }
    }

    /// The same inputs, which can be read several times: what is not a file or a folder, such as
    /// standard input or a pipe, is put aside in a temporary file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("stories.jsonl");
    /// # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
    /// use storymeter::core::Progress;
    /// use storymeter::core::read::ReadOptions;
    /// use storymeter::input::Inputs;
    /// let inputs = Inputs::new(vec![path], ReadOptions::default()).repeatable()?;
    /// assert_eq!(inputs.batches(&Progress::unwatched())?.count(), 1);
    /// assert_eq!(inputs.batches(&Progress::unwatched())?.count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where such an input cannot be read or put aside, or does not end.
    pub fn repeatable(mut self) -> Result<Self> {
        self.copies = Copies::make(&self.files, &self.options)?;
        self.options.copies = self.copies.names();
        Ok(self)
    }

    /// The file from which an input can be read again: its copy, or the file itself.
    pub fn file_of<'a>(&'a self, input: &'a Path) -> &'a Path {
        let copy = self.options.copies.iter().find(|(named, _)| named == input);
        copy.map_or(input, |(_, copy)| copy)
    }

    /// What takes the records of these inputs, once they are parsed: it skips bad ones, checks ids
    /// and knows what was read.
    pub fn intake(&self) -> Intake {
        Intake::new(&self.options)
    }

    /// All stories at once, for work that must hold them. They pass an [`Intake`], which knows
    /// afterwards what was read. The stage of `progress` that is under way hears of each.
    ///
    /// # Errors
    /// Where the input cannot be read, or a record is bad and bad records are not skipped.
    pub fn stories(self, intake: &mut Intake, progress: &Progress) -> Result<Vec<Story>> {
        let mut stories = Vec::new();
        for batch in self.batches(progress)? {
            let batch = batch?;
            let size = batch.len() as u64;
            let records = parse(batch, intake)?;
            progress.advance(size);
            stories.extend(records.into_iter().map(|record| record.story));
        }
        Ok(stories)
    }

    /// Whether bad records are skipped.
    pub fn skips_bad(&self) -> bool {
        self.options.skip_bad
    }

    /// Cuts the input into records on a thread of its own, a few batches ahead of whoever takes
    /// them. Parsing is left to the taker, who has more threads. The stage of `progress` that is
    /// under way hears how many records are expected; how many are done is the taker's to say.
    ///
    /// # Errors
    /// Where a file cannot be opened.
    pub fn batches(&self, progress: &Progress) -> Result<Batches> {
        if let Some(rows) = &self.rows {
            let name = Path::new("stories");
            return Batches::start(
                RawRecords::from_rows(name, rows, &self.options),
                name,
                progress,
            );
        }
        if self.texts.is_empty() {
            return Batches::open(&self.files, &self.options, progress);
        }
        let records = RawRecords::from_texts(self.texts.clone(), &self.options);
        Batches::start(records, Path::new("text"), progress)
    }
}

/// Copies of inputs that can be read only once. They are removed when dropped.
#[derive(Default)]
pub(crate) struct Copies(Vec<(PathBuf, Temporary)>);

impl Copies {
    /// Puts aside what cannot be read again.
    fn make(files: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let mut copies: Vec<(PathBuf, Temporary)> = Vec::new();
        for file in files {
            if copies.iter().all(|(named, _)| named != file) {
                copies.extend(put_aside(file, options)?.map(|copy| (file.clone(), copy)));
            }
        }
        Ok(Self(copies))
    }

    /// What [`ReadOptions::copies`] expects.
    fn names(&self) -> Vec<(PathBuf, PathBuf)> {
        self.0.iter().map(|(named, copy)| (named.clone(), copy.path().to_owned())).collect()
    }
}

/// Batches of records in input order, all of the same size except the last. The first error is the
/// last item.
pub struct Batches(Receiver<storymeter_core::Result<Vec<RawRecord>>>);

impl Batches {
    fn open(files: &[PathBuf], options: &ReadOptions, progress: &Progress) -> Result<Self> {
        let first = files.first().cloned().unwrap_or_default();
        Self::start(RawRecords::open(files, options)?, &first, progress)
    }

    /// Reads on a thread of its own. An error about that thread names `first`.
    fn start(mut records: RawRecords, first: &Path, progress: &Progress) -> Result<Self> {
        let progress = progress.clone();
        let (sender, receiver) = sync_channel(2);
        let reader = thread::Builder::new().spawn(move || {
            loop {
                let batch: storymeter_core::Result<Vec<RawRecord>> =
                    records.by_ref().take(BATCH).collect();
                records.expected().iter().for_each(|&expected| progress.expect(expected));
                let last = !matches!(&batch, Ok(batch) if batch.len() == BATCH);
                let empty = matches!(&batch, Ok(batch) if batch.is_empty());
                // Nobody listens any more when the taker met an error.
                if (!empty && sender.send(batch).is_err()) || last {
                    return;
                }
            }
        });
        reader.map_err(|e| storymeter_core::Error::io(Place::file(first), e))?;
        Ok(Self(receiver))
    }
}

impl Iterator for Batches {
    type Item = storymeter_core::Result<Vec<RawRecord>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.recv().ok()
    }
}

/// Files of references, one reference per story and in the same order.
#[derive(Debug, Clone, Default)]
pub struct ReferenceFiles {
    /// The files. Several give each story several references.
    pub files: Vec<PathBuf>,
    /// Their format, where it cannot be told from name and content. Plain text is a list of
    /// references: blocks if it has blank lines, and lines otherwise.
    pub format: Option<Format>,
}

impl ReferenceFiles {
    /// Puts aside what cannot be read again.
    pub(crate) fn put_aside(&self) -> Result<Copies> {
        Copies::make(&self.files, &self.options())
    }

    fn options(&self) -> ReadOptions {
        ReadOptions { format: self.format, text_is_list: true, ..ReadOptions::default() }
    }
}

/// Reads files of references in step with the stories.
pub(crate) struct References {
    files: Vec<(PathBuf, Batches)>,
    stories: usize,
    /// By file: references of the last batch that no story is for.
    left: Vec<usize>,
}

/// The references of a batch of stories: one list per file, one reference per story, not parsed
/// yet.
pub(crate) struct Given(Vec<Vec<RawRecord>>);

impl References {
    pub(crate) fn open(references: &ReferenceFiles, copies: &Copies) -> Result<Self> {
        let options = ReadOptions { copies: copies.names(), ..references.options() };
        let open = |file: &PathBuf| {
            let file_alone = std::slice::from_ref(file);
            let unseen = Progress::unwatched();
            Ok((file.clone(), Batches::open(file_alone, &options, &unseen)?))
        };
        let files: Vec<_> = references.files.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { left: vec![0; files.len()], files, stories: 0 })
    }

    /// The references of the next batch of stories.
    pub(crate) fn next(&mut self, batch: &[RawRecord]) -> Result<Given> {
        let mut columns = Vec::with_capacity(self.files.len());
        for ((file, batches), left) in self.files.iter_mut().zip(&mut self.left) {
            // Batches of stories and of references have the same size, so both end in the same
            // batch or never.
            let mut column = batches.next().transpose()?.unwrap_or_default();
            if let Some(story) = batch.get(column.len()) {
                return Err(Error::NoReference {
                    place: story.place(),
                    file: file.display().to_string(),
                    references: self.stories + column.len(),
                });
            }
            *left = column.split_off(batch.len()).len();
            columns.push(column);
        }
        self.stories += batch.len();
        Ok(Given(columns))
    }

    /// Checks that no reference is left over.
    pub(crate) fn finish(self) -> Result<()> {
        for ((file, batches), left) in self.files.into_iter().zip(self.left) {
            let lengths = batches.map(|batch| batch.map(|batch| batch.len()));
            let more = lengths.sum::<storymeter_core::Result<usize>>()?;
            if left + more > 0 {
                return Err(Error::TooManyReferences {
                    file: file.display().to_string(),
                    references: self.stories + left + more,
                    stories: self.stories,
                });
            }
        }
        Ok(())
    }
}

/// Parses the records of a batch on all threads, and takes them in order. Bad records are counted
/// or are the error.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("stories.jsonl");
/// # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
/// use storymeter::core::Progress;
/// use storymeter::core::read::ReadOptions;
/// use storymeter::input::{Inputs, parse};
/// let inputs = Inputs::new(vec![path], ReadOptions::default());
/// let mut intake = inputs.intake();
/// for batch in inputs.batches(&Progress::unwatched())? {
///     assert_eq!(parse(batch?, &mut intake)?.len(), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Where a record is bad and bad records are not skipped.
pub fn parse(batch: Vec<RawRecord>, intake: &mut Intake) -> Result<Vec<Record>> {
    parse_with(batch, Given(Vec::new()), intake)
}

/// The same, and gives the records their references.
pub(crate) fn parse_with(
    batch: Vec<RawRecord>,
    given: Given,
    intake: &mut Intake,
) -> Result<Vec<Record>> {
    let text = |raw: RawRecord| Ok(raw.parse()?.story.text);
    let mut references = Vec::with_capacity(given.0.len());
    for column in given.0 {
        let parsed: Vec<storymeter_core::Result<String>> =
            column.into_par_iter().map(text).collect();
        // Of several bad references the first one is the error.
        let texts = parsed.into_iter().collect::<storymeter_core::Result<Vec<String>>>()?;
        references.push(texts.into_iter());
    }
    let parsed: Vec<Parsed> = batch.into_par_iter().map(RawRecord::into_parsed).collect();
    let mut records = Vec::with_capacity(parsed.len());
    for record in parsed {
        let own: Vec<String> = references.iter_mut().filter_map(Iterator::next).collect();
        if let Some(mut record) = intake.admit(record)? {
            record.story.references.extend(own);
            records.push(record);
        }
    }
    Ok(records)
}
