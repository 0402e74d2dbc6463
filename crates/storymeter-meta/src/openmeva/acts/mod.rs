//! Reads the automatically made texts of OpenMEVA (`acts_data`), which its paper calls AutoS.
//!
//! For every corpus there is a folder:
//!
//! ```text
//! acts_data/roc/roc_{train,valid,test}_{ipt,opt}.txt             contexts and stories, by line
//! acts_data/roc/discrimination_test/roc_{aspect}.txt             human stories
//! acts_data/roc/discrimination_test/roc_{aspect}_perturb.txt     damaged stories
//! acts_data/roc/invariance_test/roc_{aspect}_perturb.txt         changed stories
//! acts_data/roc/invariance_test/roc_negative_sample.txt          damaged stories ...
//! acts_data/roc/invariance_test/roc_negative_sample_{aspect}_perturb.txt   ... and changed ones
//! ```
//!
//! A line of the lower five is `id|||context|||story|||rule`, of which the rule may be missing. In
//! the files of the invariance test, the id is the number of a line: of the file of test stories,
//! or of the negative samples. Only the story is ever changed, never its context.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let folder = dir.path().join("acts_data");
//! # let tests = folder.join("roc/discrimination_test");
//! # std::fs::create_dir_all(&tests)?;
//! # std::fs::write(tests.join("roc_time.txt"), "7|||Mara ran.|||Then she fell.\n")?;
//! # std::fs::write(tests.join("roc_time_perturb.txt"), "9|||Theo sat.|||Once he sang.|||word\n")?;
//! use storymeter_meta::openmeva::acts;
//! let corpora = acts::find(&folder)?;
//! assert_eq!(corpora[0].name, "roc");
//! let texts = acts::read(&corpora[0].tests[0])?;
//! assert_eq!(texts.originals[0].to_story().text, "Mara ran. Then she fell.");
//! assert_eq!(texts.twins[0].rule.as_deref(), Some("word"));
//! assert_eq!(corpora[0].missing.len(), 7 + 5 + 5, "all other aspects");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod texts;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use storymeter_core::{Aspect, AspectTest, Error as CoreError, Place, Story};

pub use texts::read;
use texts::{Skips, blank, two_files};

use crate::error::{Error, Result};

/// A corpus, and what its folder has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// The name of the folder, with which the names of its files begin: `roc` or `wp`.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// The tests whose files are there, in the order of [`Aspect::ALL`], those of human stories
    /// first.
    pub tests: Vec<TestFiles>,
    /// The tests of which a file is missing.
    pub missing: Vec<MissingTest>,
}

/// The files of one aspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFiles {
    /// The name of the corpus.
    pub corpus: String,
    /// The aspect.
    pub aspect: Aspect,
    /// What the originals are.
    pub origin: Origin,
    originals: Originals,
    twins: PathBuf,
}

/// Where originals stand.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Originals {
    /// Contexts and stories in two files, line by line.
    TwoFiles(PathBuf, PathBuf),
    /// Rows `id|||context|||story`.
    Rows(PathBuf),
}

impl Originals {
    fn files(&self) -> Vec<&PathBuf> {
        match self {
            Self::TwoFiles(contexts, stories) => vec![contexts, stories],
            Self::Rows(file) => vec![file],
        }
    }
}

/// A test that cannot be made, because a file is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTest {
    /// The aspect.
    pub aspect: Aspect,
    /// What the originals would be.
    pub origin: Origin,
    /// The files that are missing.
    pub files: Vec<PathBuf>,
    /// The files that are there and cannot be used without the others.
    pub unused: Vec<PathBuf>,
}

impl fmt::Display for MissingTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |files: &[PathBuf]| {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            names.join(", ")
        };
        write!(f, "{} ({}): there is no {}", self.aspect, self.origin, listed(&self.files))?;
        if !self.unused.is_empty() {
            write!(f, ", so {} is not used", listed(&self.unused))?;
        }
        Ok(())
    }
}

/// What the originals of a test are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Stories that people wrote.
    Human,
    /// Damaged stories, of which a metric should think as badly after a harmless change.
    Damaged,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Human => "human stories",
            Self::Damaged => "damaged stories",
        })
    }
}

/// How originals and twins belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// The twin at a position is made from the original at the same position.
    Paired,
    /// Two groups of stories, which may have different sizes.
    Unpaired,
}

/// A context and the story that goes on from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The id in the file, or the number of the line. It is unique among the originals and among
    /// the twins.
    pub id: String,
    /// The first sentence of the story, or a writing prompt.
    pub context: String,
    /// The story without its context.
    pub story: String,
}

impl Text {
    /// The story that a metric scores: its text is the context, a space and the story, as in
    /// OpenMEVA.
    ///
    /// Most metrics do not read a prompt that stands beside the text, so the text must begin with
    /// the context. The context is also the prompt, for metrics that tell the two apart, such as
    /// RUBER; none of them reads it twice.
    pub fn to_story(&self) -> Story {
        Story {
            id: self.id.clone(),
            item: Some(self.id.clone()),
            prompt: Some(self.context.clone()),
            text: format!("{} {}", self.context, self.story),
            ..Story::default()
        }
    }
}

/// A text that was made by a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Twin {
    /// The text.
    pub text: Text,
    /// The rule that made it, where the file says so.
    pub rule: Option<String>,
}

/// The texts of one aspect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AspectTexts {
    /// The name of the corpus.
    pub corpus: String,
    /// The aspect.
    pub aspect: Aspect,
    /// What the originals are.
    pub origin: Origin,
    /// Whether every twin has an original.
    pub design: Design,
    /// The originals. Those of a paired test are as many as the twins, in the same order.
    pub originals: Vec<Text>,
    /// The texts that were made by a rule.
    pub twins: Vec<Twin>,
    /// Lines that were left out.
    pub skipped: Vec<SkippedLines>,
    /// The number of ids that were there before and were made unique: `7#2`.
    pub renumbered: usize,
    /// The number of pairs whose contexts differ in more than spaces, marks and capitals. They are
    /// kept, but many of them mean that the ids are not those of the originals.
    pub unlike_contexts: usize,
    /// Whether the originals were put into small letters, as the twins are.
    pub lower_cased: bool,
}

/// Why a line was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The line is empty.
    BlankLine,
    /// The context is empty.
    BlankContext,
    /// The story is empty.
    BlankStory,
    /// The original has no line of that number.
    NoOriginal,
    /// The context or the story of the original is empty.
    BlankOriginal,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::BlankLine => "the line is empty",
            Self::BlankContext => "the context is empty",
            Self::BlankStory => "the story is empty",
            Self::NoOriginal => "no original has this number",
            Self::BlankOriginal => "the context or the story of the original is empty",
        })
    }
}

/// Lines of one file that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLines {
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub reason: SkipReason,
    /// How many.
    pub lines: usize,
    /// The first of them, from 1.
    pub first: u64,
}

impl fmt::Display for SkippedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, reason, lines, first } = self;
        let what = if *lines == 1 { "line was" } else { "lines were" };
        write!(f, "{}: {lines} {what} left out (first line {first}): {reason}", file.display())
    }
}

/// Which stories of a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Those that metrics are trained on.
    Train,
    /// Those that a training is watched with.
    Valid,
    /// Those that the tests are made from.
    Test,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

/// Finds the corpora of a folder: `acts_data` itself, the folder of one corpus, or the folder that
/// `acts_data` is in.
///
/// # Errors
/// If the folder cannot be listed, or is none of these.
pub fn find(folder: &Path) -> Result<Vec<Corpus>> {
    if !folder.is_dir() {
        let problem =
            if folder.exists() { "it is not a folder" } else { "there is no such folder" };
        return Err(CoreError::invalid(Place::file(folder), problem).into());
    }
    let inner = folder.join("acts_data");
    for place in [folder, &inner] {
        if is_corpus(place) {
            return Ok(vec![Corpus::of(place)]);
        }
        let corpora = folders_of(place)?;
        if !corpora.is_empty() {
            return Ok(corpora.iter().map(|corpus| Corpus::of(corpus)).collect());
        }
    }
    let problem = "it is not OpenMEVA's acts_data: neither the folder nor a folder in it has a \
                   folder discrimination_test or invariance_test";
    Err(CoreError::invalid(Place::file(folder), problem).into())
}

/// Whether a folder is one that [`find`] finds corpora in.
pub fn holds_corpora(folder: &Path) -> bool {
    find(folder).is_ok()
}

fn is_corpus(folder: &Path) -> bool {
    [DISCRIMINATION, INVARIANCE].iter().any(|test| folder.join(test).is_dir())
}

const DISCRIMINATION: &str = "discrimination_test";
const INVARIANCE: &str = "invariance_test";

/// The corpora in a folder, sorted by name. A folder that is not there has none.
fn folders_of(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |e| Error::from(CoreError::io(Place::file(folder), e));
    let mut corpora = storymeter_core::file::list(folder).map_err(failed)?;
    corpora.retain(|path| is_corpus(path));
    Ok(corpora)
}

impl Corpus {
    fn of(folder: &Path) -> Self {
        let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = folder.to_owned();
        let mut corpus = Self { name, folder, tests: Vec::new(), missing: Vec::new() };
        for origin in [Origin::Human, Origin::Damaged] {
            for aspect in Aspect::ALL {
                let Some(test) = corpus.test(aspect, origin) else { continue };
                let mut files = test.originals.files();
                files.push(&test.twins);
                let (there, absent): (Vec<&PathBuf>, Vec<&PathBuf>) =
                    files.into_iter().partition(|file| file.is_file());
                if absent.is_empty() {
                    corpus.tests.push(test);
                    continue;
                }
                let owned = |files: Vec<&PathBuf>| files.into_iter().cloned().collect();
                // Originals that other tests use too are not left unused by this one.
                let own = |file: &&PathBuf| {
                    **file == test.twins || aspect.test() == AspectTest::Discrimination
                };
                let unused = there.into_iter().filter(own).collect();
                corpus.missing.push(MissingTest {
                    aspect,
                    origin,
                    files: owned(absent),
                    unused: owned(unused),
                });
            }
        }
        corpus
    }

    /// The files that a test would have. Damaged stories are the originals of invariance only.
    fn test(&self, aspect: Aspect, origin: Origin) -> Option<TestFiles> {
        let (name, stem) = (&self.name, aspect.openmeva_name()?);
        let (originals, twins) = match (aspect.test(), origin) {
            (AspectTest::Discrimination, Origin::Damaged) => return None,
            (AspectTest::Discrimination, Origin::Human) => {
                let folder = self.folder.join(DISCRIMINATION);
                let originals = Originals::Rows(folder.join(format!("{name}_{stem}.txt")));
                (originals, folder.join(format!("{name}_{stem}_perturb.txt")))
            }
            (AspectTest::Invariance, Origin::Human) => {
                let [contexts, stories] = self.part_files(Part::Test);
                let file = format!("{name}_{stem}_perturb.txt");
                let originals = Originals::TwoFiles(contexts, stories);
                (originals, self.folder.join(INVARIANCE).join(file))
            }
            (AspectTest::Invariance, Origin::Damaged) => {
                let folder = self.folder.join(INVARIANCE);
                let file = format!("{name}_negative_sample.txt");
                let inside = folder.join(&file);
                let beside = self.folder.join(&file);
                let rows = if !inside.is_file() && beside.is_file() { beside } else { inside };
                let twins = folder.join(format!("{name}_negative_sample_{stem}_perturb.txt"));
                (Originals::Rows(rows), twins)
            }
        };
        Some(TestFiles { corpus: name.clone(), aspect, origin, originals, twins })
    }

    fn part_files(&self, part: Part) -> [PathBuf; 2] {
        let (name, part) = (&self.name, part.name());
        ["ipt", "opt"].map(|kind| self.folder.join(format!("{name}_{part}_{kind}.txt")))
    }

    /// The human stories of a part, in order, with the lines that were left out. The id of a story
    /// is the number of its line, from 0.
    ///
    /// # Errors
    /// If a file is missing or cannot be read, or the two files have different numbers of lines.
    pub fn stories(&self, part: Part) -> Result<(Vec<Text>, Vec<SkippedLines>)> {
        let [contexts, stories] = self.part_files(part);
        let mut skipped = Skips::default();
        let mut texts = Vec::new();
        two_files(&contexts, &stories, |number, context, story| match blank(&context, &story) {
            Some(reason) => skipped.add(&stories, reason, number + 1),
            None => texts.push(Text { id: number.to_string(), context, story }),
        })?;
        Ok((texts, skipped.0))
    }
}
