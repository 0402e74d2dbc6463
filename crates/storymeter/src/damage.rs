//! Damaged stories from files or from memory: the assembly around `storymeter-perturb`.
//!
//! ```
//! use storymeter::Progress;
//! use storymeter::damage::Damage;
//! let story = "Ken woke up. He went out. The rain was cold. He ran home.";
//! let damage = Damage::default().with(|it| it.seed = 7);
//! let made = damage.run([story], None, &Progress::unwatched())?;
//! let sample = &made.samples[0];
//! assert_ne!(sample.perturbation.story, story);
//! assert_eq!(sample.undo()?, story);
//! # Ok::<(), storymeter::Error>(())
//! ```

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
pub use storymeter_perturb::{
    CheckedConfig, Config, DamageCounts, Donors, Edit, Perturbation, Preset, Technique, Unchanged,
};
pub use storymeter_text::lexicon::{Lexicon, LexiconError, PartOfSpeech, Sense};

use storymeter_core::read::{RawRecord, ReadOptions, Record, Skipped, Summary};
use storymeter_core::rng::StreamId;
use storymeter_core::{MetricError, Place, Progress, Story};
use storymeter_perturb::{DEFAULT_SAMPLE, DonorSampler, Perturber, delexicalised, undo};
use storymeter_text::tagger::Tagger;

use crate::input::{Inputs, LONGEST};
use crate::{Error, Result};

/// The number of records that a worker takes at once. It is small enough to keep all threads busy,
/// and large enough that sharing the work costs nothing.
const RECORDS_PER_WORKER: usize = 64;

/// How many records in memory are damaged before whoever watches hears of it.
const RECORDS_PER_BATCH: usize = 1024;

/// How stories are damaged. The default is one sample per story by the rules of the paper.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Damage {
    /// Which techniques are drawn, how many, and by whose rules.
    pub config: CheckedConfig,
    /// Antonyms and keywords.
    pub lexicon: Lexicon,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of samples per story.
    pub per_story: u64,
    /// The number of donor stories that are kept. The seed decides which.
    pub donor_sample: usize,
    /// Whether the names of persons are first replaced by placeholders.
    pub delexicalise: bool,
}

impl Damage {
    /// The options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for Damage {
    fn default() -> Self {
        Self {
            config: CheckedConfig::default(),
            lexicon: Lexicon::embedded().clone(),
            seed: 0,
            per_story: 1,
            donor_sample: DEFAULT_SAMPLE,
            delexicalise: false,
        }
    }
}

/// One damaged story. As JSON, it is one line of what `storymeter perturb` writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The id of the story.
    pub id: String,
    /// Which sample of its story it is, from 0.
    pub draw: u64,
    /// The story before the damage.
    pub original: String,
    /// The damaged story, the techniques and the edits.
    #[serde(flatten)]
    pub perturbation: Perturbation,
}

impl Sample {
    /// The line of JSON, without its line break. Offsets are bytes.
    pub fn to_json(&self) -> String {
        // All keys are strings, and writing to memory cannot fail.
        serde_json::to_string(self).expect("a sample is plain data")
    }

    /// Takes all edits back, in reverse order, which gives the original.
    ///
    /// # Errors
    /// Returns an error if the sample was changed, so that an edit does not fit it any more.
    pub fn undo(&self) -> Result<String> {
        Ok(undo(&self.perturbation.story, &self.perturbation.edits)?)
    }
}

/// What is known after all stories were damaged.
#[derive(Debug, Default)]
pub struct Account {
    /// How often each technique was used.
    pub counts: DamageCounts,
    /// The bad records, which were skipped.
    pub skipped: Skipped,
    /// What was read; nothing for stories in memory.
    pub summary: Summary,
}

/// Samples of stories in memory.
#[derive(Debug, Default)]
pub struct Samples {
    /// The samples, in the order of the stories.
    pub samples: Vec<Sample>,
    /// How often each technique was used.
    pub counts: DamageCounts,
}

/// What becomes of bad records among the donors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadDonors {
    /// They are left out. The donors are the stories themselves, and what is wrong with them is
    /// reported when they are damaged.
    Pass,
    /// They are an error, unless the inputs skip bad records.
    Refuse,
}

/// Tables of antonyms and keywords in files of the user.
#[derive(Debug, Clone, Default)]
pub struct LexiconFiles {
    /// A table of antonyms in the form of ConceptNet, instead of the embedded one.
    pub antonyms: Option<PathBuf>,
    /// A table of the same form that is added to the embedded one. It counts only if there is no
    /// other table of antonyms.
    pub more_antonyms: Option<PathBuf>,
    /// A list of keywords.
    pub keywords: Option<PathBuf>,
}

impl LexiconFiles {
    /// The lexicon that follows from the tables, or the embedded one.
    ///
    /// # Errors
    /// Returns an error if a table cannot be read.
    pub fn read(&self) -> Result<Lexicon> {
        let embedded = Lexicon::embedded();
        let lexicon = match (&self.antonyms, &self.more_antonyms) {
            (Some(path), _) => Lexicon::from_conceptnet(open(path)?, &name(path))?,
            (None, Some(path)) => embedded.extended_with(open(path)?, &name(path))?,
            (None, None) => embedded.clone(),
        };
        Ok(match &self.keywords {
            Some(path) => lexicon.with_keywords(open(path)?, &name(path))?,
            None => lexicon,
        })
    }
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(|e| storymeter_core::Error::io(Place::file(path), e))?;
    Ok(BufReader::new(file))
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The samples of a few records, made by one worker.
#[derive(Default)]
struct Part {
    samples: Vec<Sample>,
    counts: DamageCounts,
    skipped: Skipped,
    records: u64,
}

impl Damage {
    /// Draws the donors from the stories of a file, or reads a sample that [`Donors::write_to`]
    /// wrote.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, a record is bad and bad records are not
    /// skipped, or there is no story.
    pub fn donors_in(
        &self,
        file: &Path,
        options: ReadOptions,
        progress: &Progress,
    ) -> Result<Donors> {
        // The file is opened twice, first to see whether it is a saved sample.
        let inputs = Inputs::new(vec![file.to_owned()], options).repeatable()?;
        if let Some(prepared) = read_prepared(file, inputs.file_of(file))? {
            return Ok(prepared);
        }
        let donors = self.donors(&inputs, BadDonors::Refuse, progress)?;
        if donors.is_empty() {
            return Err(Error::NoDonor { file: file.to_owned() });
        }
        Ok(donors)
    }

    /// Draws the donors from stories in files. If the same stories are damaged afterwards, the
    /// inputs must be [`Inputs::repeatable`].
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or a record is bad and must not be.
    pub fn donors(&self, inputs: &Inputs, bad: BadDonors, progress: &Progress) -> Result<Donors> {
        let sampler = self.donor_sampler(inputs, bad, progress)?;
        Ok(sampler.finish(Tagger::embedded(), &self.lexicon))
    }

    /// The same before the donors are tagged.
    pub(crate) fn donor_sampler(
        &self,
        inputs: &Inputs,
        bad: BadDonors,
        progress: &Progress,
    ) -> Result<DonorSampler> {
        progress.begin("reading donors");
        let mut sampler = DonorSampler::new(self.seed, self.donor_sample);
        let batches = match bad {
            // What is too long to be damaged is refused or skipped afterwards.
            BadDonors::Pass => inputs.batches_up_to(LONGEST, progress)?,
            BadDonors::Refuse => inputs.batches(progress)?,
        };
        for batch in batches {
            go_on(progress)?;
            let batch = batch?;
            let size = batch.len() as u64;
            let is_wanted =
                |raw: &RawRecord| raw.missing().is_none() && sampler.wants(raw.number());
            let wanted: Vec<RawRecord> = batch.into_iter().filter(is_wanted).collect();
            let parsed: Vec<_> = wanted
                .into_par_iter()
                .map(|raw| Ok(self.masked(raw.parse()?)))
                .collect::<Vec<storymeter_core::Result<Record>>>();
            for record in parsed {
                match record {
                    Ok(record) => sampler.offer(record.number, &record.story),
                    Err(_) if bad == BadDonors::Pass || inputs.skips_bad() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            progress.advance(size);
        }
        Ok(sampler)
    }

    /// Draws the donors from stories in memory.
    pub fn donors_among(&self, stories: &[Story]) -> Donors {
        let mut sampler = DonorSampler::new(self.seed, self.donor_sample);
        for (number, story) in (0..).zip(stories) {
            if self.delexicalise && sampler.wants(number) {
                sampler.offer(number, &delexicalised(story));
            } else {
                sampler.offer(number, story);
            }
        }
        sampler.finish(Tagger::embedded(), &self.lexicon)
    }

    /// Damages stories from files, batch by batch, in bounded memory.
    ///
    /// `work` is done on all threads, on the samples of a few stories. What comes of it is handed
    /// to `take` in input order. A sample depends on the seed and on the number of its record, and
    /// never on the number of threads.
    ///
    /// # Errors
    /// Returns an error if the input is bad, a record has more than 16 MiB or only its leading
    /// context and bad records are not skipped, `take` fails, or the work was cancelled
    /// ([`MetricError::Interrupted`]).
    pub fn over<R: Send, E: From<Error>>(
        &self,
        donors: &Donors,
        inputs: &Inputs,
        progress: &Progress,
        work: impl Fn(Vec<Sample>) -> R + Sync,
        take: impl FnMut(R) -> Result<(), E>,
    ) -> Result<Account, E> {
        progress.begin("damaging stories");
        let mut records = inputs.records(progress)?;
        let skip_bad = inputs.skips_bad();
        let account = self.each(donors, &mut records, skip_bad, progress, work, take)?;
        let checker = records.finish()?;
        let mut skipped = checker.skipped().clone();
        skipped.merge(account.skipped);
        Ok(Account { skipped, summary: checker.summary(), ..account })
    }

    fn each<R: Send, E: From<Error>>(
        &self,
        donors: &Donors,
        batches: impl Iterator<Item = Result<Vec<Record>>>,
        skip_bad: bool,
        progress: &Progress,
        work: impl Fn(Vec<Sample>) -> R + Sync,
        mut take: impl FnMut(R) -> Result<(), E>,
    ) -> Result<Account, E> {
        let perturber =
            Perturber::new(self.config.clone(), donors, &self.lexicon, Tagger::embedded());
        let worked = |records: Vec<Record>| -> Result<(R, Part)> {
            go_on(progress)?;
            let mut part = self.part(&perturber, records, skip_bad)?;
            Ok((work(std::mem::take(&mut part.samples)), part))
        };
        let mut account = Account::default();
        for batch in batches {
            let parts: Vec<Result<(R, Part)>> = split(batch?).into_par_iter().map(worked).collect();
            for part in parts {
                let (result, part) = part?;
                progress.advance(part.records);
                take(result)?;
                account.counts.merge(&part.counts);
                account.skipped.merge(part.skipped);
            }
        }
        Ok(account)
    }

    /// Damages stories that are in memory. Without donors, the stories are their own donors.
    /// Stories without an id get their number.
    ///
    /// # Errors
    /// Returns an error if a story has only its leading context, so that there is nothing to
    /// damage.
    pub fn run<I>(
        &self,
        stories: I,
        donors: Option<&Donors>,
        progress: &Progress,
    ) -> Result<Samples>
    where
        I: IntoIterator,
        I::Item: Into<Story>,
    {
        let mut stories: Vec<Story> = stories.into_iter().map(Into::into).collect();
        for (number, story) in stories.iter_mut().enumerate() {
            if story.id.is_empty() {
                story.id = number.to_string();
            }
        }
        let own;
        let donors = match donors {
            Some(donors) => donors,
            None => {
                own = self.donors_among(&stories);
                &own
            }
        };
        progress.begin("damaging stories");
        progress.expect(stories.len() as u64);
        let record = |(number, story)| Record {
            story,
            number,
            place: Place::file(format!("story {number}")),
        };
        let mut records = (0u64..).zip(stories).map(record);
        let batches = std::iter::from_fn(|| {
            let batch: Vec<Record> = records.by_ref().take(RECORDS_PER_BATCH).collect();
            (!batch.is_empty()).then_some(Ok(batch))
        });
        let mut made = Samples::default();
        let same = |samples: Vec<Sample>| samples;
        let account = self.each(donors, batches, false, progress, same, |samples| {
            made.samples.extend(samples);
            Ok::<(), Error>(())
        })?;
        Ok(Samples { counts: account.counts, ..made })
    }

    fn part(
        &self,
        perturber: &Perturber<'_>,
        records: Vec<Record>,
        skip_bad: bool,
    ) -> Result<Part> {
        let mut part = Part::default();
        for record in records {
            part.records += 1;
            match self.draw_all(perturber, self.masked(record), &mut part) {
                Err(error) if skip_bad => {
                    part.skipped.merge(Skipped { count: 1, messages: vec![error.to_string()] });
                }
                drawn => drawn?,
            }
        }
        Ok(part)
    }

    /// Makes all samples of one story.
    fn draw_all(&self, perturber: &Perturber<'_>, record: Record, part: &mut Part) -> Result<()> {
        let Record { story, number, place } = record;
        for draw in 0..self.per_story {
            let stream = StreamId::Draw { record: number, draw };
            let outcome = perturber.perturb(&story, self.seed, stream);
            part.counts.add(&outcome);
            match outcome {
                Ok(perturbation) => part.samples.push(Sample {
                    id: story.id.clone(),
                    draw,
                    original: story.text.clone(),
                    perturbation,
                }),
                Err(Unchanged::OnlyContext) => {
                    return Err(Error::OnlyContext { place: place.in_field("story") });
                }
                // There is no sample, as the tally says.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// The record with its names masked, if that is wanted.
    fn masked(&self, record: Record) -> Record {
        if self.delexicalise {
            Record { story: delexicalised(&record.story), ..record }
        } else {
            record
        }
    }
}

/// Ends the work if somebody asked for it.
fn go_on(progress: &Progress) -> Result<()> {
    if progress.is_cancelled() { Err(MetricError::Interrupted.into()) } else { Ok(()) }
}

fn split(mut batch: Vec<Record>) -> Vec<Vec<Record>> {
    let mut pieces = Vec::new();
    while !batch.is_empty() {
        let later = batch.split_off(batch.len().min(RECORDS_PER_WORKER));
        pieces.push(std::mem::replace(&mut batch, later));
    }
    pieces
}

/// The saved sample in a file, or `None` if the file is something else. Errors name `path`, of
/// which `file` may be a copy.
fn read_prepared(path: &Path, file: &Path) -> Result<Option<Donors>> {
    if file.is_dir() {
        return Ok(None);
    }
    let failed = |e| storymeter_core::Error::io(Place::file(path), e);
    let mut beginning = Vec::new();
    File::open(file).map_err(failed)?.take(32).read_to_end(&mut beginning).map_err(failed)?;
    if !Donors::is_prepared(&beginning) {
        return Ok(None);
    }
    let donors = Donors::read_from(&mut File::open(file).map_err(failed)?)
        .map_err(|source| Error::DonorFile { file: path.to_owned(), source })?;
    Ok(Some(donors))
}
