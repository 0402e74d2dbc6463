//! Stories for a verb: which files, how they are read, and read ahead while the workers work.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::Context;
use clap::Args;
use rayon::prelude::*;
use storymeter::core::Story;
use storymeter::core::read::{Format, RawRecord, RawRecords, ReadOptions, Skipped};
use tempfile::NamedTempFile;

use crate::args::Common;

/// How many records travel together from the reader to the workers.
const BATCH: usize = 1024;

/// How many batches may be under way at once, for a verb that takes what comes of them in order.
pub const AHEAD: usize = 4;

/// What a verb that reads stories accepts.
#[derive(Debug, Clone, Args)]
pub struct InputArgs {
    /// Stories: files, folders, or - for standard input. JSONL, CSV, TSV, plain text, the layouts of UNION and
    /// HANNA, and gzip of any; the format is found from name and content
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The format of the input, where it cannot be told or is told wrongly: jsonl, csv, tsv, text (stories
    /// separated by blank lines), lines (one story a line), union, roc, wp, hanna, parquet
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<Format>,
    /// Pass over bad records, count them and report them on stderr, instead of stopping at the first one
    #[arg(long)]
    pub skip_bad: bool,
}

/// Inputs that can be read more than once: standard input is put aside in a temporary file.
pub struct Inputs {
    files: Vec<PathBuf>,
    options: ReadOptions,
    // Removed when dropped.
    _spool: Option<NamedTempFile>,
}

impl InputArgs {
    /// Inputs that are read once.
    pub fn once(&self) -> Inputs {
        let options = ReadOptions {
            format: self.input_format,
            skip_bad: self.skip_bad,
            ..ReadOptions::default()
        };
        Inputs { files: self.files.clone(), options, _spool: None }
    }

    /// Inputs that can be read several times.
    pub fn repeatable(&self) -> anyhow::Result<Inputs> {
        let mut inputs = self.once();
        if self.files.iter().any(|file| file == Path::new("-")) {
            let mut spool = NamedTempFile::new().context("cannot put standard input aside")?;
            io::copy(&mut io::stdin().lock(), &mut spool)
                .context("cannot put standard input aside")?;
            inputs.options.spooled_stdin = Some(spool.path().to_owned());
            inputs._spool = Some(spool);
        }
        Ok(inputs)
    }
}

impl Inputs {
    /// The same inputs with records numbered from `offset` on.
    pub fn with_record_offset(mut self, offset: u64) -> Self {
        self.options.record_offset = offset;
        self
    }

    /// The same inputs with stories that have no text let through.
    pub fn allowing_empty_stories(mut self) -> Self {
        self.options.allow_empty = true;
        self
    }

    /// All stories at once, for a verb that must hold them; `watch` hears how many there are so far.
    pub fn stories(
        self,
        skipped: &mut Skipped,
        mut watch: impl FnMut(usize),
    ) -> anyhow::Result<Vec<Story>> {
        let skip_bad = self.skip_bad();
        let mut stories = Vec::new();
        for batch in self.batches()? {
            let parsed: Vec<_> = batch?.into_par_iter().map(|raw| raw.parse()).collect();
            for record in parsed {
                stories.extend(skipped.admit(record, skip_bad)?.map(|record| record.story));
            }
            watch(stories.len());
        }
        Ok(stories)
    }

    /// Whether bad records are passed over.
    pub fn skip_bad(&self) -> bool {
        self.options.skip_bad
    }

    /// Cuts the input into records on a thread of its own, a few batches ahead of whoever takes them. Parsing is
    /// left to the taker, who has more threads.
    pub fn batches(&self) -> storymeter::core::Result<Batches> {
        Batches::open(&self.files, &self.options)
    }
}

/// Batches of records in input order, all of the same size but the last; the first error is the last item.
pub struct Batches(Receiver<storymeter::core::Result<Vec<RawRecord>>>);

impl Batches {
    /// Reads ahead in these files on a thread of its own.
    pub fn open(files: &[PathBuf], options: &ReadOptions) -> storymeter::core::Result<Self> {
        let mut records = RawRecords::open(files, options)?;
        let (sender, receiver) = sync_channel(2);
        thread::spawn(move || {
            loop {
                let batch: storymeter::core::Result<Vec<RawRecord>> =
                    records.by_ref().take(BATCH).collect();
                let last = !matches!(&batch, Ok(batch) if batch.len() == BATCH);
                let empty = matches!(&batch, Ok(batch) if batch.is_empty());
                // Nobody listens any more when the taker met an error.
                if (!empty && sender.send(batch).is_err()) || last {
                    return;
                }
            }
        });
        Ok(Self(receiver))
    }
}

impl Iterator for Batches {
    type Item = storymeter::core::Result<Vec<RawRecord>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.recv().ok()
    }
}

/// Says on stderr what was passed over.
pub fn report_skipped(common: &Common, skipped: &Skipped) {
    if skipped.count == 0 || common.quiet {
        return;
    }
    let note = crate::note;
    note(&format!("{} bad records were passed over:", skipped.count));
    for message in &skipped.messages {
        note(&format!("  {message}"));
    }
    let more = skipped.count - skipped.messages.len() as u64;
    if more > 0 {
        note(&format!("  and {more} more"));
    }
}
