//! Stories from files, read ahead on a thread of their own, with references from other files.

use std::any::Any;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

use rayon::prelude::*;
use storymeter_core::file::Temporary;
pub use storymeter_core::read::{
    DuplicateIds, Field, FieldNames, Format, RawRecord, ReadOptions, Record, RecordChecker,
    RowFields, RowValue, Rows, Skipped, Summary,
};
use storymeter_core::read::{Parsed, RawRecords, Unchanged, put_aside};
use storymeter_core::{Place, Progress, Story};

use crate::{Error, Result};

/// How many records travel together from the reader to the workers, if they are not long.
const BATCH: usize = 1024;

/// How many bytes they may have together. A longer record travels alone.
const BATCH_BYTES: usize = 8 << 20;

/// The longest record in bytes that is scored or damaged. What is made of a text, such as its
/// tokens or its twins, can take a hundred times its size.
pub(crate) const LONGEST: usize = 16 << 20;

/// The most bytes of text in stories that are all held in memory.
const MOST_HELD: usize = 2 << 30;

/// Files of stories, and how they are read.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("stories.jsonl");
/// # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
/// use storymeter::Progress;
/// use storymeter::input::{Inputs, ReadOptions};
/// let inputs = Inputs::new(vec![path], ReadOptions::default());
/// let mut checker = inputs.checker();
/// let stories = inputs.stories(&mut checker, &Progress::unwatched())?;
/// assert_eq!(stories[0].text, "A door opened.");
/// assert_eq!(checker.summary().to_string(), "read 1 story from 1 file (jsonl)");
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
    references: ReferenceFiles,
    reference_copies: Copies,
}

impl Inputs {
    /// Inputs that can be read once, and several times where all of them are files.
    pub fn new(files: Vec<PathBuf>, options: ReadOptions) -> Self {
        Self {
            files,
            texts: Vec::new(),
            rows: None,
            options,
            copies: Copies::default(),
            references: ReferenceFiles::default(),
            reference_copies: Copies::default(),
        }
    }

    /// Texts that are one story each, instead of files.
    ///
    /// ```
    /// use storymeter::Progress;
    /// use storymeter::input::{Inputs, ReadOptions};
    /// let inputs = Inputs::texts(vec!["A door opened.".to_owned()], ReadOptions::default());
    /// let mut checker = inputs.checker();
    /// assert_eq!(inputs.stories(&mut checker, &Progress::unwatched())?[0].id, "0");
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    pub fn texts(texts: Vec<String>, options: ReadOptions) -> Self {
        Self { texts, ..Self::new(Vec::new(), options) }
    }

    /// Rows in memory, instead of files. Errors call them `stories` and count from 1.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use storymeter::Progress;
    /// use storymeter::input::{Inputs, ReadOptions, RowValue};
    /// let rows: Vec<RowValue> = vec!["A door opened.".into()];
    /// let inputs = Inputs::rows(Arc::new(rows), ReadOptions::default());
    /// let mut checker = inputs.checker();
    /// assert_eq!(inputs.stories(&mut checker, &Progress::unwatched())?[0].id, "0");
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    pub fn rows(rows: Arc<dyn Rows>, options: ReadOptions) -> Self {
        Self { rows: Some(rows), ..Self::new(Vec::new(), options) }
    }

    /// The same stories, with references from other files.
    #[must_use]
    pub fn references(mut self, references: ReferenceFiles) -> Self {
        self.references = references;
        self
    }

    /// The files of stories and of references.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().chain(&self.references.files).map(PathBuf::as_path)
    }

    /// The same inputs, which can be read several times: what is not a file or a folder, such as
    /// standard input or a pipe, is put aside in a temporary file.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("stories.jsonl");
    /// # std::fs::write(&path, "{\"story\": \"A door opened.\"}\n")?;
    /// use storymeter::Progress;
    /// use storymeter::input::{Inputs, ReadOptions};
    /// let inputs = Inputs::new(vec![path], ReadOptions::default()).repeatable()?;
    /// assert_eq!(inputs.batches(&Progress::unwatched())?.count(), 1);
    /// assert_eq!(inputs.batches(&Progress::unwatched())?.count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if such an input cannot be read or put aside, or does not end. Files must
    /// stay as they are until they were read for the last time: otherwise reading ends with an
    /// error.
    pub fn repeatable(mut self) -> Result<Self> {
        self.copies = Copies::make(&self.files, &self.options)?;
        self.options.copies = self.copies.names();
        let references = &self.references;
        self.reference_copies = Copies::make(&references.files, &references.options())?;
        Ok(self)
    }

    /// The file from which an input can be read again: its copy, or the file itself.
    pub fn file_of<'a>(&'a self, input: &'a Path) -> &'a Path {
        let copy = self.options.copies.iter().find(|(named, _)| named == input);
        copy.map_or(input, |(_, copy)| copy)
    }

    /// What takes the records of these inputs, once they are parsed: it skips bad ones, checks ids
    /// and knows what was read.
    pub fn checker(&self) -> RecordChecker {
        RecordChecker::new(&self.options)
    }

    /// All stories at once, for work that must hold them. They pass a [`RecordChecker`], which
    /// knows afterwards what was read. The stage of `progress` that is under way hears of each.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read, a record is bad and bad records are not
    /// skipped, or the stories have more than 2 GiB of text.
    pub fn stories(self, checker: &mut RecordChecker, progress: &Progress) -> Result<Vec<Story>> {
        let mut stories = Vec::new();
        self.add_to(&mut stories, checker, progress)?;
        Ok(stories)
    }

    /// The same, after stories of other inputs, which count for the limit as well.
    ///
    /// # Errors
    /// As [`Inputs::stories`].
    pub fn add_to(
        self,
        stories: &mut Vec<Story>,
        checker: &mut RecordChecker,
        progress: &Progress,
    ) -> Result<()> {
        let mut held: usize = stories.iter().map(bytes).sum();
        for batch in self.batches(progress)? {
            let batch = batch?;
            let size = batch.len() as u64;
            let records = parse(batch, Given(Vec::new()), checker)?;
            progress.advance(size);
            for Record { story, place, .. } in records {
                held = held.saturating_add(bytes(&story));
                if held > MOST_HELD {
                    return Err(Error::TooMuchText { place, most: MOST_HELD });
                }
                stories.push(story);
            }
        }
        Ok(())
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
    /// Returns an error if a file cannot be opened.
    pub fn batches(&self, progress: &Progress) -> Result<Batches> {
        self.batches_with(&self.options, progress)
    }

    /// The same, where a record of more than `max` bytes is bad, because what is made of a story
    /// takes far more memory than the story.
    pub(crate) fn batches_up_to(&self, max: usize, progress: &Progress) -> Result<Batches> {
        let max_line = self.options.max_line.min(max);
        self.batches_with(&self.options.clone().with(|it| it.max_line = max_line), progress)
    }

    /// The stories with their references, of which none is longer than can be scored.
    pub(crate) fn records(&self, progress: &Progress) -> Result<Records> {
        self.records_of(self.batches_up_to(LONGEST, progress)?, progress)
    }

    /// The same, with the stories that have no text: a system that wrote nothing is scored too.
    pub(crate) fn scored_records(&self, progress: &Progress) -> Result<Records> {
        let options = self.options.clone().with(|it| {
            it.allow_empty = true;
            it.max_line = self.options.max_line.min(LONGEST);
        });
        self.records_of(self.batches_with(&options, progress)?, progress)
    }

    fn records_of(&self, batches: Batches, progress: &Progress) -> Result<Records> {
        Ok(Records {
            references: References::open(&self.references, &self.reference_copies)?,
            batches,
            waiting: VecDeque::new(),
            checker: self.checker(),
            progress: progress.clone(),
            failed: false,
        })
    }

    fn batches_with(&self, options: &ReadOptions, progress: &Progress) -> Result<Batches> {
        if let Some(rows) = &self.rows {
            let name = Path::new("stories");
            let records = RawRecords::from_rows(name, rows, options);
            return Batches::start(records, Unchanged::default(), name, progress);
        }
        if self.texts.is_empty() {
            return Batches::open(&self.files, &self.copies, options, progress);
        }
        let records = RawRecords::from_texts(self.texts.clone(), options);
        Batches::start(records, Unchanged::default(), Path::new("text"), progress)
    }
}

/// The stories of inputs in batches, parsed and with their references. After an error nothing
/// follows. The stage that was under way hears of the records that are skipped.
pub(crate) struct Records {
    batches: Batches,
    references: References,
    /// Records that were read and whose references were not.
    waiting: VecDeque<RawRecord>,
    checker: RecordChecker,
    progress: Progress,
    failed: bool,
}

impl Records {
    fn batch(&mut self) -> Result<Option<Vec<Record>>> {
        if self.waiting.is_empty() {
            let Some(batch) = self.batches.next().transpose()? else { return Ok(None) };
            self.waiting.extend(batch);
        }
        let (batch, given) = self.references.next(&mut self.waiting)?;
        let size = batch.len();
        // Records are parsed when they are taken, and not by the workers, because ids are compared
        // in the order of the input.
        let records = parse(batch, given, &mut self.checker)?;
        self.progress.advance((size - records.len()) as u64);
        Ok(Some(records))
    }

    /// Checks that no reference is left over. What was read is known now.
    pub(crate) fn finish(self) -> Result<RecordChecker> {
        self.references.finish()?;
        Ok(self.checker)
    }
}

impl Iterator for Records {
    type Item = Result<Vec<Record>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = if self.failed { None } else { self.batch().transpose() };
        self.failed = matches!(next, Some(Err(_)));
        next
    }
}

/// The bytes of the texts of some stories.
pub(crate) fn bytes_of(records: &[Record]) -> usize {
    records.iter().map(|record| bytes(&record.story)).sum()
}

/// The bytes of the texts of a story.
fn bytes(story: &Story) -> usize {
    let references: usize = story.references.iter().map(String::len).sum();
    story.text.len() + story.prompt.as_ref().map_or(0, String::len) + references
}

/// What inputs need that are read several times.
#[derive(Default)]
struct Copies {
    /// Copies of inputs that can be read only once. They are removed when dropped.
    files: Vec<(PathBuf, Temporary)>,
    /// What the others were like before they were read.
    unchanged: Unchanged,
}

impl Copies {
    /// Puts aside what cannot be read again, and looks at what can.
    fn make(files: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let mut copies: Vec<(PathBuf, Temporary)> = Vec::new();
        for file in files {
            if copies.iter().all(|(named, _)| named != file) {
                copies.extend(put_aside(file, options)?.map(|copy| (file.clone(), copy)));
            }
        }
        Ok(Self { files: copies, unchanged: Unchanged::new(files, options.format)? })
    }

    /// What [`ReadOptions::copies`] expects.
    fn names(&self) -> Vec<(PathBuf, PathBuf)> {
        self.files.iter().map(|(named, copy)| (named.clone(), copy.path().to_owned())).collect()
    }
}

/// Batches of records in input order, which hold a limited number of records and of bytes. The
/// first error is the last item; a reader that panicked is an error too.
pub struct Batches {
    records: Receiver<storymeter_core::Result<Vec<RawRecord>>>,
    /// The thread that reads, until it has ended, and the input that an error about it names.
    reader: Option<JoinHandle<()>>,
    first: PathBuf,
}

impl Batches {
    fn open(
        files: &[PathBuf],
        copies: &Copies,
        options: &ReadOptions,
        progress: &Progress,
    ) -> Result<Self> {
        let first = files.first().cloned().unwrap_or_default();
        let unchanged = copies.unchanged.clone();
        Self::start(RawRecords::open(files, options)?, unchanged, &first, progress)
    }

    /// Reads on a thread of its own. An error about that thread names `first`.
    fn start(
        mut records: RawRecords,
        unchanged: Unchanged,
        first: &Path,
        progress: &Progress,
    ) -> Result<Self> {
        let progress = progress.clone();
        let (sender, receiver) = sync_channel(2);
        let read = move || {
            loop {
                let batch = next_batch(&mut records);
                records.expected().iter().for_each(|&expected| progress.expect(expected));
                if matches!(&batch, Ok(batch) if batch.is_empty()) {
                    break;
                }
                let is_last = batch.is_err();
                // Nobody listens any more when the taker met an error.
                if sender.send(batch).is_err() || is_last {
                    return;
                }
            }
            if let Err(error) = unchanged.check() {
                drop(sender.send(Err(error)));
            }
        };
        let reader = thread::Builder::new().spawn(read);
        let reader = reader.map_err(|e| storymeter_core::Error::io(Place::file(first), e))?;
        Ok(Self { records: receiver, reader: Some(reader), first: first.to_owned() })
    }
}

/// The records of the next batch; none at the end.
fn next_batch(records: &mut RawRecords) -> storymeter_core::Result<Vec<RawRecord>> {
    let (mut batch, mut size) = (Vec::new(), 0);
    while batch.len() < BATCH
        && size < BATCH_BYTES
        && let Some(record) = records.next().transpose()?
    {
        size += record.size();
        batch.push(record);
    }
    Ok(batch)
}

impl Iterator for Batches {
    type Item = storymeter_core::Result<Vec<RawRecord>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Ok(batch) = self.records.recv() {
            return Some(batch);
        }
        // The thread has ended, after the last record or because it panicked.
        let panic = self.reader.take()?.join().err()?;
        let problem = format!("the thread that reads has failed: {}", said(&*panic));
        Some(Err(storymeter_core::Error::io(Place::file(&self.first), io::Error::other(problem))))
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Files of references, one reference per story and in the same order.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReferenceFiles {
    /// The files. Several give each story several references.
    pub files: Vec<PathBuf>,
    /// Their format, where it cannot be told from name and content. Plain text is a list of
    /// references: blocks if it has blank lines, and lines otherwise.
    pub format: Option<Format>,
}

impl ReferenceFiles {
    /// The files after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn options(&self) -> ReadOptions {
        ReadOptions::default().with(|it| {
            it.format = self.format;
            it.text_is_list = true;
            it.max_line = LONGEST;
        })
    }
}

/// Reads files of references in step with the stories.
struct References {
    files: Vec<ReferenceFile>,
    stories: usize,
}

/// A file of references that is being read.
struct ReferenceFile {
    path: PathBuf,
    batches: Batches,
    /// References that were read and belong to later stories.
    ready: VecDeque<RawRecord>,
}

/// The references of a batch of stories: one list per file, one reference per story, not parsed
/// yet.
struct Given(Vec<Vec<RawRecord>>);

/// Some stories, and their references.
type Cut = (Vec<RawRecord>, Given);

impl ReferenceFile {
    fn next(&mut self) -> Result<Option<RawRecord>> {
        if self.ready.is_empty() {
            self.ready.extend(self.batches.next().transpose()?.into_iter().flatten());
        }
        Ok(self.ready.pop_front())
    }
}

impl References {
    fn open(references: &ReferenceFiles, copies: &Copies) -> Result<Self> {
        let options = references.options().with(|it| it.copies = copies.names());
        let open = |path: &PathBuf| {
            let unseen = Progress::unwatched();
            let batches = Batches::open(std::slice::from_ref(path), copies, &options, &unseen)?;
            Ok(ReferenceFile { path: path.clone(), batches, ready: VecDeque::new() })
        };
        let files = references.files.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { files, stories: 0 })
    }

    /// Takes stories from the front, as many as make a batch with their references.
    fn next(&mut self, stories: &mut VecDeque<RawRecord>) -> Result<Cut> {
        let mut given: Vec<Vec<RawRecord>> = self.files.iter().map(|_| Vec::new()).collect();
        let (mut batch, mut size) = (Vec::new(), 0);
        while size < BATCH_BYTES
            && let Some(story) = stories.pop_front()
        {
            for (file, column) in self.files.iter_mut().zip(&mut given) {
                let Some(reference) = file.next()? else {
                    return Err(Error::NoReference {
                        place: story.place(),
                        file: file.path.display().to_string(),
                        references: self.stories,
                    });
                };
                size += reference.size();
                column.push(reference);
            }
            size += story.size();
            self.stories += 1;
            batch.push(story);
        }
        Ok((batch, Given(given)))
    }

    /// Checks that no reference is left over.
    fn finish(self) -> Result<()> {
        for ReferenceFile { path, batches, ready } in self.files {
            let lengths = batches.map(|batch| batch.map(|batch| batch.len()));
            let left = ready.len() + lengths.sum::<storymeter_core::Result<usize>>()?;
            if left > 0 {
                return Err(Error::TooManyReferences {
                    file: path.display().to_string(),
                    references: self.stories + left,
                    stories: self.stories,
                });
            }
        }
        Ok(())
    }
}

/// Parses the records of a batch on all threads, gives them their references, and takes them in
/// order. Bad records are counted or are the error.
fn parse(batch: Vec<RawRecord>, given: Given, checker: &mut RecordChecker) -> Result<Vec<Record>> {
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
        if let Some(mut record) = checker.admit(record)? {
            record.story.references.extend(own);
            records.push(record);
        }
    }
    Ok(records)
}
