//! References from files of their own, in step with the stories.

use std::path::PathBuf;

use anyhow::bail;
use rayon::prelude::*;
use storymeter::core::read::{Format, RawRecord, ReadOptions};

use crate::input::Batches;

/// Files of references, read beside the stories.
pub(super) struct References {
    files: Vec<(PathBuf, Batches)>,
    stories: usize,
    /// References of the last batch that no story is for, by file.
    left: Vec<usize>,
}

/// The references of a batch of stories: for each file, one a story, not parsed yet.
pub(super) struct Given(Vec<Vec<RawRecord>>);

impl References {
    pub(super) fn open(files: &[PathBuf], format: Option<Format>) -> anyhow::Result<Self> {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let open = |file: &PathBuf| {
            Ok((file.clone(), Batches::open(std::slice::from_ref(file), &options)?))
        };
        let files: Vec<_> = files.iter().map(open).collect::<anyhow::Result<_>>()?;
        Ok(Self { left: vec![0; files.len()], files, stories: 0 })
    }

    /// The references of the next batch of stories.
    pub(super) fn next(&mut self, batch: &[RawRecord]) -> anyhow::Result<Given> {
        let mut columns = Vec::with_capacity(self.files.len());
        for ((file, batches), left) in self.files.iter_mut().zip(&mut self.left) {
            // Batches of stories and of references have the same size, so both end in the same batch or never.
            let mut column = batches.next().transpose()?.unwrap_or_default();
            if let Some(story) = batch.get(column.len()) {
                let only = self.stories + column.len();
                bail!(
                    "{}: the story has no reference: {} has only {only}",
                    story.place(),
                    file.display()
                );
            }
            *left = column.split_off(batch.len()).len();
            columns.push(column);
        }
        self.stories += batch.len();
        Ok(Given(columns))
    }

    /// Checks that no reference is left over.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        for ((file, batches), left) in self.files.into_iter().zip(self.left) {
            let more =
                batches.map(|batch| batch.map(|batch| batch.len())).sum::<Result<usize, _>>()?;
            let references = self.stories + left + more;
            if references > self.stories {
                let stories = self.stories;
                bail!(
                    "{} has {references} references, but there are {stories} stories",
                    file.display()
                );
            }
        }
        Ok(())
    }
}

impl Given {
    /// The texts, file by file.
    pub(super) fn parse(self) -> storymeter::core::Result<Vec<std::vec::IntoIter<String>>> {
        let text = |raw: RawRecord| Ok(raw.parse()?.story.text);
        let parse = |column: Vec<RawRecord>| column.into_par_iter().map(text).collect::<Vec<_>>();
        let parsed = self.0.into_iter().map(parse);
        // Of several bad references the first one is the error.
        let all =
            |column: Vec<_>| column.into_iter().collect::<storymeter::core::Result<Vec<String>>>();
        parsed.map(|column| Ok(all(column)?.into_iter())).collect()
    }
}
