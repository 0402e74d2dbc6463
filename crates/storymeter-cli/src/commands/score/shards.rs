//! `storymeter score --out-dir`: every file is scored to a file of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail};
use storymeter::input::Inputs;
use storymeter::shards::{self, Outcome as Done, PlanOptions, Prepared, Shard, ShardOptions};
use storymeter_core::read::Skipped;
use storymeter_core::{Progress, file};

use super::{OutputFormat, ScoreArgs, scorer, text_cells};
use crate::Outcome;
use crate::args::Common;
use crate::input::report_skipped;
use crate::progress;

/// One job of several: its number, from 0, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    number: u64,
    of: u64,
}

/// Parses `I/N`.
pub(super) fn job(text: &str) -> Result<Job, String> {
    let parsed = text
        .split_once('/')
        .and_then(|(number, of)| Some(Job { number: number.parse().ok()?, of: of.parse().ok()? }));
    match parsed {
        Some(job) if job.number < job.of => Ok(job),
        Some(job) => Err(format!(
            "jobs are counted from 0, so of {} jobs the last one is {}",
            job.of,
            job.of.saturating_sub(1)
        )),
        None => Err(format!("\"{text}\" does not have the form I/N, such as 0/8")),
    }
}

/// Scores the files one by one.
pub(super) fn run(args: &ScoreArgs, out_dir: &Path, common: &Common) -> anyhow::Result<Outcome> {
    if args.format == Some(OutputFormat::Table) {
        bail!("--out-dir writes the scores of every story; `storymeter merge` makes the table")
    }
    let format = args.format.and_then(OutputFormat::of_scores);
    let options = ShardOptions::default().with(|it| {
        it.read = args.input.read.options();
        it.text_cells = text_cells(args);
        it.resume = args.resume;
    });
    let plan = PlanOptions::default().with(|it| {
        it.format = format;
        it.input_format = options.read.format;
        it.job = args.shard.map(|job| (job.number, job.of));
        it.resume = args.resume;
        it.explained = args.explain.is_some();
    });
    let prepared = shards::prepare(&args.input.files, out_dir, &plan)?;
    let result = score(args, &prepared, &options, common);
    if result.is_err() {
        prepared.remove_empty_folder();
    }
    result
}

/// Scores the files of this job into a folder that exists.
fn score(
    args: &ScoreArgs,
    Prepared { own, all, .. }: &Prepared,
    options: &ShardOptions,
    common: &Common,
) -> anyhow::Result<Outcome> {
    check_model_files(args, all)?;
    let mut scorer = scorer(args).build()?;
    args.scorer.refuse_unused_model(&scorer, args.explain.is_some())?;
    if args.corpus_stats.is_some() {
        // All files are the corpus, also those of other jobs.
        let bar = progress::Shown::new(common);
        let corpus = all.iter().map(|shard| shard.input.clone());
        let inputs = Inputs::new(corpus.collect(), options.read.clone());
        scorer.gather_corpus_stats(&inputs, bar.progress())?;
    }
    shards::refuse_corpus(&scorer)?;
    if args.resume {
        // Before time is spent on shards that do not belong to the finished ones.
        own.iter().try_for_each(|shard| shards::check_settings(&scorer, shard, options))?;
    }
    let bar = Bar::new(common, own);
    let mut counts = ShardCounts::default();
    for shard in own {
        match bar.watch(shard, |progress| shards::score_shard(&scorer, shard, options, progress)) {
            Ok(done) => counts.add(shard, &done),
            Err(error) => {
                counts.failed += 1;
                let error = anyhow::Error::from(error);
                let advice = crate::advice::advice(&error, true);
                let advice = advice.map_or(String::new(), |advice| format!(" ({advice})"));
                let input = shard.input.display().to_string();
                let message = crate::message(&error);
                let named = if message.contains(&input) { String::new() } else { input + ": " };
                crate::note(&format!("{named}{message}{advice}"));
            }
        }
    }
    drop(bar);
    counts.finish(own.len(), common)
}

/// Checks that no output is a model or a table that is read.
fn check_model_files(args: &ScoreArgs, all: &[Shard]) -> anyhow::Result<()> {
    let inputs: Vec<&Path> = args.scorer.files().chain(args.corpus_stats.as_deref()).collect();
    let outputs: Vec<&Path> = all.iter().map(|shard| shard.output.as_path()).collect();
    Ok(file::distinct(&outputs, &inputs)?)
}

/// What was done with the shards.
#[derive(Default)]
struct ShardCounts {
    scored: u64,
    stories: u64,
    complete: u64,
    failed: usize,
    /// Notes about files that were scored again.
    changed: Vec<String>,
    skipped: Skipped,
}

impl ShardCounts {
    fn add(&mut self, shard: &Shard, done: &Done) {
        let header = done.header();
        match done {
            Done::AlreadyDone(_) => {
                self.complete += 1;
                return;
            }
            Done::Rescored(_) => self.changed.push(format!(
                "{}: the file had changed, so it was scored again",
                shard.input.display()
            )),
            _ => {}
        }
        self.scored += 1;
        self.stories += header.rows;
        let messages = header.totals.as_ref().map_or(Vec::new(), |totals| totals.skipped.clone());
        self.skipped.merge(Skipped { count: header.skipped, messages });
    }

    fn finish(self, shards: usize, common: &Common) -> anyhow::Result<Outcome> {
        if !common.quiet {
            crate::notes(&self.changed);
            let counted = |count: u64, one: &str, many: &str| match count {
                1 => format!("1 {one}"),
                count => format!("{count} {many}"),
            };
            let mut note = format!(
                "scored {} from {}",
                counted(self.stories, "story", "stories"),
                counted(self.scored, "file", "files")
            );
            if self.complete > 0 {
                let were = counted(self.complete, "file was", "files were");
                note.push_str(&format!("; {were} complete already"));
            }
            crate::note(&note);
        }
        report_skipped(common, &self.skipped);
        match self.failed {
            0 => Ok(Outcome::Done),
            failed => Err(anyhow!("{failed} of {shards} files could not be scored")),
        }
    }
}

/// A progress bar over all files, in bytes.
struct Bar {
    bar: indicatif::ProgressBar,
}

impl Bar {
    fn new(common: &Common, shards: &[Shard]) -> Self {
        let bytes = shards.iter().map(size).sum();
        Self { bar: progress::bar(common, "scoring, in bytes", bytes) }
    }

    /// Shows how far the work on a shard is.
    fn watch<T>(&self, shard: &Shard, work: impl FnOnce(&Progress) -> T) -> T {
        let (before, bytes) = (self.bar.position(), size(shard));
        let result = if self.bar.is_hidden() {
            work(&Progress::unwatched())
        } else {
            let progress = Progress::watched();
            let look = || {
                if let Some(stage) = progress.now() {
                    let share = stage.done as f64 / stage.total.unwrap_or(1).max(1) as f64;
                    let done = (share.min(1.0) * bytes as f64) as u64;
                    self.bar.set_position(before + done);
                }
            };
            looked_at(look, || work(&progress))
        };
        self.bar.set_position(before + bytes);
        result
    }
}

/// Does some work, and calls `look` again and again on another thread until the work has ended or
/// panicked.
fn looked_at<T>(look: impl Fn() + Sync, work: impl FnOnce() -> T) -> T {
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                look();
                thread::park_timeout(Duration::from_millis(100));
            }
        });
        let _over = Over(&is_over);
        work()
    })
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn size(shard: &Shard) -> u64 {
    shard.input.metadata().map_or(0, |there| there.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_ends_the_thread_that_looks_at_it() {
        assert_eq!(looked_at(|| (), || 7), 7);
        let panicked = std::panic::catch_unwind(|| looked_at(|| (), || panic!("of the test")));
        assert!(panicked.is_err());
    }

    #[test]
    fn jobs_are_counted_from_zero() {
        assert_eq!(job("0/8"), Ok(Job { number: 0, of: 8 }));
        assert_eq!(
            job("8/8").unwrap_err(),
            "jobs are counted from 0, so of 8 jobs the last one is 7"
        );
        for wrong in ["", "3", "a/b", "-1/3", "0/0"] {
            assert!(job(wrong).is_err(), "{wrong}");
        }
    }
}
