//! METEOR's tables: abbreviations, function words, synonyms and paraphrases.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use storymeter_core::terminal::excerpt;
use storymeter_core::{Error, Place};
use storymeter_text::lexicon::Lexicon;

use super::jar::TableSource;
use super::paraphrases::Paraphrases;

/// When a full stop belongs to the word before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nonbreaking {
    /// Always: `Dr.`
    Always,
    /// Before a number: `No. 5`
    BeforeNumbers,
}

/// Everything METEOR looks up.
pub(crate) struct Tables {
    /// Abbreviations that keep their full stop.
    pub abbreviations: HashMap<String, Nonbreaking>,
    /// Words that count less. Without the user's files there are none, and all words count the
    /// same.
    pub function_words: HashSet<String>,
    /// Words that mean the same.
    pub synonyms: Synonyms,
    /// Phrases that mean the same, if there is a table of them.
    pub paraphrases: Option<Paraphrases>,
}

/// The abbreviations that are known without the user's files.
const USUAL_ABBREVIATIONS: &[&str] =
    &["Dr", "Gen", "Hon", "Jr", "Lt", "Mr", "Mrs", "Ms", "Prof", "Rev", "Sgt", "Sr", "St", "vs"];

impl Tables {
    /// The tables that need no files of METEOR: synonyms of storymeter's WordNet, and a few
    /// abbreviations.
    pub fn built_in() -> Self {
        let usual = USUAL_ABBREVIATIONS.iter().map(|&word| word.to_owned());
        let initials = ('A'..='Z').map(String::from);
        Self {
            abbreviations: usual.chain(initials).map(|word| (word, Nonbreaking::Always)).collect(),
            function_words: HashSet::new(),
            synonyms: Synonyms::WordNet,
            paraphrases: None,
        }
    }

    /// Reads the tables of METEOR 1.5 for English from a folder, or from `meteor-1.5.jar` itself.
    ///
    /// A folder has either the jar or its folders `function`, `nonbreaking` and `synonym`. The
    /// paraphrases, `paraphrase-en.gz`, are beside them or in a folder `data`.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let (folder, source) = if path.is_file() {
            (path.parent().unwrap_or(Path::new("")), TableSource::Jar(path.to_owned()))
        } else if path.join("synonym").is_dir() {
            (path, TableSource::Folder(path.to_owned()))
        } else if path.join("meteor-1.5.jar").is_file() {
            (path, TableSource::Jar(path.join("meteor-1.5.jar")))
        } else {
            let problem =
                "neither meteor-1.5.jar nor its folders function, nonbreaking and synonym are here";
            return Err(Error::invalid(Place::file(path), problem));
        };
        let paraphrases =
            ["paraphrase-en.gz", "data/paraphrase-en.gz"].map(|name| folder.join(name));
        let Some(paraphrases) = paraphrases.iter().find(|path| path.is_file()) else {
            let problem = "the table of paraphrases, paraphrase-en.gz, is neither here nor in data";
            return Err(Error::invalid(Place::file(folder), problem));
        };
        Ok(Self {
            abbreviations: read_abbreviations(&source.read("nonbreaking/english.prefixes")?),
            function_words: source
                .read("function/english.words")?
                .lines()
                .map(str::to_owned)
                .collect(),
            synonyms: Synonyms::Meteor(MeteorSynonyms::read(&source)?),
            paraphrases: Some(Paraphrases::read(paraphrases)?),
        })
    }
}

/// Reads a list with one abbreviation per line, in which `#` starts a comment.
fn read_abbreviations(text: &str) -> HashMap<String, Nonbreaking> {
    let mut table = HashMap::new();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        if let Some(word) = fields.next().filter(|word| !word.starts_with('#')) {
            let numbers = fields.next() == Some("#NUMERIC_ONLY#");
            let kind = if numbers { Nonbreaking::BeforeNumbers } else { Nonbreaking::Always };
            table.insert(word.to_owned(), kind);
        }
    }
    table
}

/// Where synonyms come from.
pub(crate) enum Synonyms {
    /// The lexicon that comes with storymeter.
    WordNet,
    /// The user's copy of METEOR's own lists.
    Meteor(MeteorSynonyms),
}

impl Synonyms {
    /// The sets that a word is in, ascending, each once. Words that share a set are synonyms.
    pub fn sets(&self, word: &str) -> Vec<u32> {
        match self {
            Self::WordNet => Lexicon::embedded().synsets_of_form(word),
            Self::Meteor(synonyms) => synonyms.sets(word),
        }
    }
}

/// METEOR's synonyms: sets by word, and base forms of irregular words.
pub(crate) struct MeteorSynonyms {
    /// The range of `numbers` that each word has.
    words: HashMap<Box<str>, (u32, u32)>,
    numbers: Vec<u32>,
    bases: HashMap<Box<str>, Vec<Box<str>>>,
}

/// Endings and their replacements, in the order in which they are tried (WordNet's rules of
/// detachment).
///
/// `storymeter_text` has the same rules by part of speech. METEOR tries them all in one list, in
/// which some occur twice.
const ENDINGS: &[(&str, &str)] = &[
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
];

impl MeteorSynonyms {
    /// Reads both files. They have pairs of lines: a word and its sets, and a base form and its
    /// irregular forms.
    fn read(source: &TableSource) -> Result<Self, Error> {
        let mut synonyms =
            Self { words: HashMap::new(), numbers: Vec::new(), bases: HashMap::new() };
        let (exceptions, synsets) =
            (source.read("synonym/english.exceptions")?, source.read("synonym/english.synsets")?);
        for (base, forms) in line_pairs(&exceptions) {
            for form in forms.split_ascii_whitespace() {
                synonyms.bases.entry(form.into()).or_default().push(base.into());
            }
        }
        for (at, (word, sets)) in line_pairs(&synsets).enumerate() {
            let start = synonyms.numbers.len() as u32;
            for number in sets.split_ascii_whitespace() {
                let number = number.parse().map_err(|_| {
                    let file = source.path("synonym/english.synsets");
                    let problem = format!("{} is not the number of a synset", excerpt(number, 80));
                    Error::invalid(Place::file(file).at_line(2 * at as u64 + 2), problem)
                })?;
                synonyms.numbers.push(number);
            }
            synonyms.words.insert(word.into(), (start, synonyms.numbers.len() as u32));
        }
        Ok(synonyms)
    }

    fn own_sets(&self, word: &str) -> &[u32] {
        self.words
            .get(word)
            .map_or(&[], |&(start, end)| &self.numbers[start as usize..end as usize])
    }

    fn sets(&self, word: &str) -> Vec<u32> {
        let mut sets = self.own_sets(word).to_vec();
        match self.bases.get(word) {
            Some(bases) => bases.iter().for_each(|base| sets.extend(self.own_sets(base))),
            None => {
                if let Some(base) = self.regular_base(word) {
                    sets.extend(self.own_sets(&base));
                }
            }
        }
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// The first known word that results from taking an ending off.
    fn regular_base(&self, word: &str) -> Option<String> {
        if word.ends_with("ss") || word.encode_utf16().nth(2).is_none() {
            return None;
        }
        ENDINGS
            .iter()
            .filter_map(|(ending, other)| Some(format!("{}{other}", word.strip_suffix(ending)?)))
            .find(|base| self.words.contains_key(base.as_str()))
    }
}

fn line_pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut lines = text.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_tables_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = Tables::load(folder.path()).err().expect("no tables").to_string();
        assert!(error.contains("neither meteor-1.5.jar nor its folders"), "{error}");
    }

    #[test]
    fn abbreviations_are_read_with_their_kind() {
        let table = read_abbreviations("# comment\nDr\n\nNo #NUMERIC_ONLY#\n");
        assert_eq!(table.len(), 2);
        assert_eq!(table["No"], Nonbreaking::BeforeNumbers);
    }

    #[test]
    fn tables_are_read_from_folders_as_from_the_jar() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["function", "nonbreaking", "synonym", "data"] {
            std::fs::create_dir(folder.path().join(name)).expect("made");
        }
        let write = |name: &str, text: &[u8]| {
            std::fs::write(folder.path().join(name), text).expect("written")
        };
        write("function/english.words", b"the\nof\n");
        write("nonbreaking/english.prefixes", b"Mr\n");
        write("synonym/english.exceptions", b"mouse\nmice\n");
        write("synonym/english.synsets", b"mouse\n7 3\nlamp\n4\nrodent\n3\n");
        let table = b"0.1\nwent out\nleft\n";
        let file =
            std::fs::File::create(folder.path().join("data/paraphrase-en.gz")).expect("made");
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, table).expect("written");
        packed.finish().expect("written");

        let tables = Tables::load(folder.path()).expect("all are there");
        assert!(tables.function_words.contains("of"));
        assert_eq!(tables.synonyms.sets("mice"), [3, 7]);
        assert_eq!(tables.synonyms.sets("lamps"), [4]);
        assert_eq!(tables.synonyms.sets("glass"), Vec::<u32>::new());
        assert!(tables.paraphrases.is_some());
    }
}
