//! Makes a suite: pairs of stories and twins, one file per aspect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use storymeter_core::file::{StagedFile, StagedFolder};
use storymeter_core::read::{ReadOptions, Record, Skipped, Summary};
use storymeter_core::{Aspect, Error as CoreError, MetricError, Place, Progress, Story};

use storymeter_perturb::aspect::{NoTwin, Paraphrases, Triples, TwinMaker};
use storymeter_perturb::{DEFAULT_SAMPLE, Donors};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

use super::manifest::{self, AspectCount, LeftOutAspect, Manifest, ManifestKind};
use super::pair::Pair;
use crate::damage::{BadDonors, Damage};
use crate::input::Inputs;
use crate::{Error, Result};

/// The file with all texts, for programs that score them.
const TEXTS: &str = "texts.jsonl";

/// The name that originals have as a system in the file with all texts.
pub(super) const ORIGINAL: &str = "original";

/// The number of records that a worker takes at once.
const RECORDS_PER_WORKER: usize = 64;

/// The largest table of the user that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Makes suites.
#[derive(Debug, Clone)]
pub struct SuiteMaker {
    /// The aspects to make pairs for.
    pub aspects: Vec<Aspect>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of stories that foreign words and sentences come from. The seed decides which.
    pub donor_sample: usize,
    /// Synonyms, antonyms and keywords.
    pub lexicon: Lexicon,
    /// Sentences in other words.
    pub paraphrases: Option<Paraphrases>,
    /// Facts about the world.
    pub triples: Option<Triples>,
    /// Whether stories without a reference get another story of the donors as their reference.
    pub borrow_references: bool,
    /// The number of pairs of each aspect that are kept to be shown ([`MadeSuite::examples`]).
    pub examples: usize,
}

impl Default for SuiteMaker {
    fn default() -> Self {
        Self {
            aspects: Aspect::ALL.to_vec(),
            seed: 0,
            donor_sample: DEFAULT_SAMPLE,
            lexicon: Lexicon::embedded().clone(),
            paraphrases: None,
            triples: None,
            borrow_references: false,
            examples: 0,
        }
    }
}

/// What is known after a suite was made.
#[derive(Debug)]
pub struct MadeSuite {
    /// What `suite.json` says.
    pub manifest: Manifest,
    /// The bad records, which were skipped.
    pub skipped: Skipped,
    /// What was read.
    pub summary: Summary,
    /// The first pairs of each aspect.
    pub examples: Vec<Pair>,
    /// The files of the suite.
    pub files: Vec<PathBuf>,
}

/// A suite that is written and has not got its name yet.
pub struct PendingSuite {
    staged: StagedFolder,
    made: MadeSuite,
}

impl PendingSuite {
    /// What is known about the suite.
    pub fn made(&self) -> &MadeSuite {
        &self.made
    }

    /// Refuses to replace files that are also inputs.
    ///
    /// # Errors
    /// For the first file that is an input.
    pub fn check_inputs(&self, inputs: &[&Path]) -> Result<()> {
        Ok(self.staged.check_inputs(inputs, &older())?)
    }

    /// Gives the files their names.
    ///
    /// # Errors
    /// Returns an error if the file system refuses it.
    pub fn commit(self) -> Result<MadeSuite> {
        let files = self.staged.commit(&older())?;
        Ok(MadeSuite { files, ..self.made })
    }
}

/// The files of an older suite, the mark of completeness first.
fn older() -> Vec<String> {
    let pairs = Aspect::ALL.iter().map(|&aspect| pair_file(aspect));
    [manifest::FILE, TEXTS].into_iter().map(str::to_owned).chain(pairs).collect()
}

/// The name of the file of pairs.
pub(super) fn pair_file(aspect: Aspect) -> String {
    format!("{}.jsonl", aspect.file_stem())
}

/// A text in the file with all texts.
#[derive(Serialize)]
struct TextLine<'a> {
    id: &'a str,
    system: &'a str,
    item: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    story: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    reference: &'a [String],
}

/// The pairs of a few stories, made by one worker.
struct Part {
    /// The lines of each aspect.
    pairs: Vec<Vec<u8>>,
    texts: Vec<u8>,
    counts: Vec<Counts>,
    /// The first pairs of each aspect.
    examples: Vec<Vec<Pair>>,
    stories: usize,
}

#[derive(Default, Clone)]
struct Counts {
    pairs: usize,
    rules: BTreeMap<&'static str, usize>,
    without: BTreeMap<NoTwin, usize>,
}

impl Counts {
    fn merge(&mut self, other: Self) {
        self.pairs += other.pairs;
        for (rule, count) in other.rules {
            *self.rules.entry(rule).or_default() += count;
        }
        for (reason, count) in other.without {
            *self.without.entry(reason).or_default() += count;
        }
    }
}

impl SuiteMaker {
    /// Reads a table of paraphrases.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has another form.
    pub fn read_paraphrases(&mut self, file: &Path) -> Result<()> {
        let (text, name) = read_table(file)?;
        self.paraphrases = Some(Paraphrases::parse(&text, &name).map_err(bad_table)?);
        Ok(())
    }

    /// Reads a table of facts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has another form.
    pub fn read_triples(&mut self, file: &Path) -> Result<()> {
        let (text, name) = read_table(file)?;
        self.triples = Some(Triples::parse(&text, &name).map_err(bad_table)?);
        Ok(())
    }

    /// Draws the stories that foreign words and sentences come from, from the inputs themselves,
    /// which must be [`Inputs::repeatable`].
    ///
    /// # Errors
    /// Returns an error if a file cannot be read. Bad records are left out, and reported when pairs
    /// are made.
    pub fn donors(&self, inputs: &Inputs, progress: &Progress) -> Result<Donors> {
        let sampler = self.damage().donor_sampler(inputs, BadDonors::Pass, progress)?;
        Ok(sampler.finish_without_keywords())
    }

    /// Draws them from another file, or reads a sample that `perturb` saved.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has no story.
    pub fn donors_in(
        &self,
        file: &Path,
        options: ReadOptions,
        progress: &Progress,
    ) -> Result<Donors> {
        self.damage().donors_in(file, options, progress)
    }

    fn damage(&self) -> Damage {
        Damage {
            seed: self.seed,
            donor_sample: self.donor_sample,
            lexicon: self.lexicon.clone(),
            ..Damage::default()
        }
    }

    /// Makes the pairs, and writes them to a folder that gets its name when
    /// [`PendingSuite::commit`] is called: one file per aspect, `texts.jsonl` with every text once,
    /// and `suite.json` with the counts. A story to which no rule applies is counted.
    ///
    /// A pair depends on the seed, the aspect and the number of its record, and never on the number
    /// of threads.
    ///
    /// # Errors
    /// Returns an error if the input is bad or a record has more than 16 MiB, the folder holds
    /// other files, the disk is full, or the work was cancelled ([`MetricError::Interrupted`]).
    pub fn make(
        &self,
        donors: &Donors,
        inputs: &Inputs,
        folder: &Path,
        progress: &Progress,
    ) -> Result<PendingSuite> {
        refuse_foreign(folder)?;
        let mut maker = TwinMaker::new(donors, &self.lexicon, Tagger::embedded());
        if let Some(paraphrases) = &self.paraphrases {
            maker = maker.with_paraphrases(paraphrases);
        }
        if let Some(triples) = &self.triples {
            maker = maker.with_triples(triples);
        }
        let can = |aspect: &Aspect| maker.can_make(*aspect);
        let aspects: Vec<Aspect> = self.aspects.iter().copied().filter(can).collect();
        let mut staged = StagedFolder::new(folder)?;
        let mut texts = staged.create(TEXTS)?;
        let mut files = Vec::with_capacity(aspects.len());
        for &aspect in &aspects {
            files.push(staged.create(&pair_file(aspect))?);
        }
        progress.begin("making pairs");
        let mut records = inputs.records(progress)?;
        let mut counts = vec![Counts::default(); aspects.len()];
        let mut examples: Vec<Vec<Pair>> = vec![Vec::new(); aspects.len()];
        let mut stories = 0;
        for batch in &mut records {
            let parts: Vec<Result<Part>> = batch?
                .par_chunks(RECORDS_PER_WORKER)
                .map(|records| {
                    if progress.is_cancelled() {
                        return Err(MetricError::Interrupted.into());
                    }
                    Ok(self.part(maker, records, &aspects))
                })
                .collect();
            for part in parts {
                let part = part?;
                progress.advance(part.stories as u64);
                stories += part.stories;
                texts.write(&part.texts)?;
                for (file, lines) in files.iter_mut().zip(&part.pairs) {
                    file.write(lines)?;
                }
                counts.iter_mut().zip(part.counts).for_each(|(all, own)| all.merge(own));
                for (all, own) in examples.iter_mut().zip(part.examples) {
                    let missing = self.examples - all.len().min(self.examples);
                    all.extend(own.into_iter().take(missing));
                }
            }
        }
        let checker = records.finish()?;
        texts.finish()?;
        files.into_iter().try_for_each(StagedFile::finish)?;
        let manifest = self.manifest(&aspects, counts, stories, donors.len());
        let json = serde_json::to_string_pretty(&manifest).expect("a manifest is plain data");
        staged.write(manifest::FILE, format!("{json}\n").as_bytes())?;
        let made = MadeSuite {
            manifest,
            skipped: checker.skipped().clone(),
            summary: checker.summary(),
            examples: examples.into_iter().flatten().collect(),
            files: Vec::new(),
        };
        Ok(PendingSuite { staged, made })
    }

    fn part<'a>(&'a self, maker: TwinMaker<'a>, records: &'a [Record], aspects: &[Aspect]) -> Part {
        let mut part = Part {
            pairs: vec![Vec::new(); aspects.len()],
            texts: Vec::new(),
            counts: vec![Counts::default(); aspects.len()],
            examples: vec![Vec::new(); aspects.len()],
            stories: records.len(),
        };
        for Record { story, number, .. } in records {
            let open = maker.open(story);
            let id = suite_id(story);
            let mut references = story.references.clone();
            if references.is_empty() && self.borrow_references {
                references.extend(open.other_story(self.seed, *number).map(str::to_owned));
            }
            let prompt = story.prompt.as_deref();
            let text = |system: &str, story: &str, out: &mut Vec<u8>| {
                let line =
                    TextLine { id: &id, system, item: &id, prompt, story, reference: &references };
                serde_json::to_writer(&mut *out, &line).expect("a text is plain data");
                out.push(b'\n');
            };
            text(ORIGINAL, &story.text, &mut part.texts);
            for (at, &aspect) in aspects.iter().enumerate() {
                match open.twin(aspect, self.seed, *number) {
                    Ok(twin) => {
                        part.counts[at].pairs += 1;
                        *part.counts[at].rules.entry(twin.rule).or_default() += 1;
                        text(aspect.name(), &twin.text, &mut part.texts);
                        let pair = Pair {
                            id: id.clone(),
                            aspect,
                            rule: twin.rule.to_owned(),
                            prompt: story.prompt.clone(),
                            reference: references.clone(),
                            original: story.text.clone(),
                            twin: twin.text,
                            edits: twin.edits,
                        };
                        part.pairs[at].extend_from_slice(pair.to_json().as_bytes());
                        part.pairs[at].push(b'\n');
                        if part.examples[at].len() < self.examples {
                            part.examples[at].push(pair);
                        }
                    }
                    Err(why) => *part.counts[at].without.entry(why).or_default() += 1,
                }
            }
        }
        part
    }

    fn manifest(
        &self,
        aspects: &[Aspect],
        counts: Vec<Counts>,
        stories: usize,
        donors: usize,
    ) -> Manifest {
        let named = |(rule, count): (&str, usize)| (rule.to_owned(), count);
        let count = |(&aspect, own): (&Aspect, Counts)| AspectCount {
            aspect,
            file: pair_file(aspect),
            pairs: own.pairs,
            rules: own.rules.into_iter().map(named).collect(),
            without: own.without.into_iter().map(|(why, n)| named((why.reason(), n))).collect(),
        };
        let left_out = self.aspects.iter().filter(|aspect| !aspects.contains(aspect));
        Manifest {
            kind: ManifestKind::Pairs,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: self.seed,
            stories,
            donors,
            paraphrases: self.paraphrases.as_ref().map(Paraphrases::len),
            triples: self.triples.as_ref().map(Triples::len),
            borrowed_references: self.borrow_references,
            aspects: aspects.iter().zip(counts).map(count).collect(),
            left_out: left_out.map(|&aspect| left_out_aspect(aspect)).collect(),
        }
    }
}

/// An aspect for which a table is missing.
fn left_out_aspect(aspect: Aspect) -> LeftOutAspect {
    let table = match aspect {
        Aspect::CommonSense => "a table of facts, such as ConceptNet's triples",
        _ => "a table of paraphrases",
    };
    LeftOutAspect { aspect, reason: format!("it needs {table}") }
}

/// The id of a story within a suite. Ids are unique only within a system.
fn suite_id(story: &Story) -> String {
    match &story.system {
        Some(system) => format!("{system}/{}", story.id),
        None => story.id.clone(),
    }
}

/// Refuses to write among files that are not those of a suite.
fn refuse_foreign(folder: &Path) -> Result<()> {
    let entries = storymeter_core::file::list(folder).unwrap_or_default();
    if entries.is_empty() || folder.join(manifest::FILE).is_file() {
        return Ok(());
    }
    let problem = "the folder is not empty and holds no suite; name a new folder";
    Err(CoreError::invalid(Place::file(folder), problem).into())
}

fn read_table(file: &Path) -> Result<(String, String)> {
    let bytes = storymeter_core::file::read(file, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        CoreError::invalid(Place::file(file).at_line(line), "the file is not UTF-8")
    })?;
    Ok((text, file.display().to_string()))
}

fn bad_table(error: storymeter_perturb::aspect::TableError) -> Error {
    let place = Place::file(&error.place).at_line(error.line as u64);
    CoreError::invalid(place, error.problem).into()
}
