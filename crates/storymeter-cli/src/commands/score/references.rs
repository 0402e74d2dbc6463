//! References from files of their own, in step with the stories.

use std::path::PathBuf;

use anyhow::{Context, bail};
use storymeter::core::read::{Format, RawRecord, RawRecords, ReadOptions};

/// Files of references, read beside the stories.
pub(super) struct References {
    files: Vec<(PathBuf, RawRecords)>,
    stories: u64,
}

impl References {
    pub(super) fn open(files: &[PathBuf], format: Option<Format>) -> anyhow::Result<Self> {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let open =
            |file: &PathBuf| Ok((file.clone(), RawRecords::open(std::slice::from_ref(file), &options)?));
        Ok(Self { files: files.iter().map(open).collect::<anyhow::Result<_>>()?, stories: 0 })
    }

    /// The references of a batch of stories: for each file, one a story.
    pub(super) fn next(&mut self, batch: &[RawRecord]) -> anyhow::Result<Vec<Vec<String>>> {
        let mut columns = Vec::with_capacity(self.files.len());
        for (file, records) in &mut self.files {
            let mut column = Vec::with_capacity(batch.len());
            for (at, story) in (self.stories..).zip(batch) {
                let record = records.next().transpose()?.with_context(|| {
                    format!("{}: the story has no reference: {} has only {at}", story.place(), file.display())
                })?;
                column.push(record.parse()?.story.text);
            }
            columns.push(column);
        }
        self.stories += batch.len() as u64;
        Ok(columns)
    }

    /// Checks that no reference is left over.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        for (file, records) in &mut self.files {
            let more = records.by_ref().count();
            if more > 0 {
                let references = self.stories + more as u64;
                bail!(
                    "{} has {references} references, but there are {} stories",
                    file.display(),
                    self.stories
                );
            }
        }
        Ok(())
    }
}
