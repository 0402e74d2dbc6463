//! The tables of antonyms and keywords that the user may give to verbs that damage stories.

use std::path::{Path, PathBuf};

use clap::Args;
use storymeter::damage::LexiconFiles;
use storymeter_text::lexicon::Lexicon;

/// The options for antonyms and keywords.
#[derive(Debug, Clone, Default, Args)]
pub struct LexiconArgs {
    /// A table of antonyms that replaces the embedded one (Open English WordNet). Each line has the
    /// form of ConceptNet: head|||/r/Antonym|||tail tail. Its words are also the keywords, unless
    /// --keywords is given
    #[arg(long, value_name = "FILE", conflicts_with = "more_antonyms")]
    pub antonyms: Option<PathBuf>,
    /// A table of the same form that is added to WordNet's
    #[arg(long, value_name = "FILE")]
    pub more_antonyms: Option<PathBuf>,
    /// A list of keywords: a substitution of words replaces only these words, and puts in their
    /// antonyms or others of these words. The first word of each line is read, and the rest of the
    /// line is not
    #[arg(long, value_name = "FILE")]
    pub keywords: Option<PathBuf>,
}

impl LexiconArgs {
    /// The files that the user named.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.antonyms, &self.more_antonyms, &self.keywords]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }

    /// The options that were given, by name.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        [
            self.antonyms.is_some().then_some("--antonyms"),
            self.more_antonyms.is_some().then_some("--more-antonyms"),
            self.keywords.is_some().then_some("--keywords"),
        ]
        .into_iter()
        .flatten()
    }

    /// The lexicon that follows from the tables, or the embedded one.
    pub fn read(&self) -> anyhow::Result<Lexicon> {
        let files = LexiconFiles {
            antonyms: self.antonyms.clone(),
            more_antonyms: self.more_antonyms.clone(),
            keywords: self.keywords.clone(),
        };
        Ok(files.read()?)
    }
}
