//! Reads a suite: which texts there are, and which belong together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use storymeter_core::{Aspect, Error as CoreError, Place, Story, file};
use storymeter_meta::suite::{LeftOut, MissingAspect, Pairing, RuleCount};

use super::make::{ORIGINAL, pair_file};
use super::manifest::{self, Manifest, ManifestKind};
use super::pair::Pair;
use crate::Result;

/// The largest file of pairs that is read.
const MOST_BYTES: u64 = 4 << 30;

/// A suite in memory: every text once, and which texts each aspect compares.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    /// The texts: all originals, and all twins.
    pub texts: Vec<SuiteText>,
    /// The aspects, each at most once.
    pub aspects: Vec<SuiteAspect>,
    /// The aspects that were left out.
    pub missing: Vec<MissingAspect>,
    /// The files that the suite was read from.
    pub files: Vec<PathBuf>,
}

/// A text of a suite.
#[derive(Debug, Clone)]
pub struct SuiteText {
    /// The aspect of a twin; `None` for an original.
    pub aspect: Option<Aspect>,
    /// The text with its id, prompt and references.
    pub story: Story,
}

impl SuiteText {
    /// The system that the text has in `texts.jsonl`: `original`, or the name of the aspect.
    pub fn system(&self) -> &'static str {
        self.aspect.map_or(ORIGINAL, Aspect::name)
    }
}

/// The texts of an aspect, as places in [`Suite::texts`].
#[derive(Debug, Clone)]
pub struct SuiteAspect {
    /// The aspect.
    pub aspect: Aspect,
    /// Whether original `i` belongs to twin `i`.
    pub pairing: Pairing,
    /// The originals.
    pub originals: Vec<usize>,
    /// The twins.
    pub twins: Vec<usize>,
    /// The number of stories that were offered to the aspect.
    pub stories: usize,
    /// Why stories are without a twin, and how many of them.
    pub left_out: Vec<LeftOut>,
    /// Which rule made how many twins.
    pub rules: Vec<RuleCount>,
    /// The pairs with their edits; empty where the edits are not known.
    pub pairs: Vec<Pair>,
}

impl Suite {
    /// Whether a folder holds a suite that `suite make` wrote.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(manifest::FILE).is_file()
    }

    /// Reads a suite that [`SuiteMaker`](super::SuiteMaker) wrote.
    ///
    /// # Errors
    /// Returns an error if the folder holds no suite, a file is missing, a line is no pair, its
    /// edits do not lead from the original to the twin, or two pairs give the same id to different
    /// originals.
    pub fn read(folder: &Path) -> Result<Self> {
        Self::read_aspects(folder, &Aspect::ALL)
    }

    /// The same with these aspects only.
    ///
    /// # Errors
    /// Fails as [`Suite::read`] does.
    pub fn read_aspects(folder: &Path, wanted: &[Aspect]) -> Result<Self> {
        let manifest = read_manifest(folder)?;
        let mut suite = Self { files: vec![folder.join(manifest::FILE)], ..Self::default() };
        let mut originals: HashMap<String, usize> = HashMap::new();
        for count in manifest.aspects.iter().filter(|count| wanted.contains(&count.aspect)) {
            // The name in the manifest is not used: it could be any path.
            let path = folder.join(pair_file(count.aspect));
            let pairs = read_pairs(&path, count.aspect)?;
            if pairs.len() != count.pairs {
                let problem = format!(
                    "{} pairs, but suite.json counts {}; make the suite again",
                    pairs.len(),
                    count.pairs
                );
                return Err(CoreError::invalid(Place::file(&path), problem).into());
            }
            let rules = count.rules.iter();
            let without = count.without.iter();
            let mut aspect = SuiteAspect {
                aspect: count.aspect,
                pairing: Pairing::Paired,
                originals: Vec::with_capacity(pairs.len()),
                twins: Vec::with_capacity(pairs.len()),
                stories: manifest.stories,
                left_out: without
                    .map(|(reason, &stories)| LeftOut { reason: reason.clone(), stories })
                    .collect(),
                rules: rules
                    .map(|(rule, &pairs)| RuleCount { rule: rule.clone(), pairs })
                    .collect(),
                pairs: Vec::new(),
            };
            for (line, pair) in (1u64..).zip(&pairs) {
                let at = *originals.entry(pair.id.clone()).or_insert(suite.texts.len());
                if at == suite.texts.len() {
                    suite
                        .texts
                        .push(SuiteText { aspect: None, story: story(pair, &pair.original) });
                } else if suite.texts[at].story.text != pair.original {
                    let problem = format!("the id \"{}\" has two different originals", pair.id);
                    let place = Place::file(&path).at_line(line).in_field("original");
                    return Err(CoreError::invalid(place, problem).into());
                }
                aspect.originals.push(at);
                aspect.twins.push(suite.texts.len());
                let twin = story(pair, &pair.twin);
                suite.texts.push(SuiteText { aspect: Some(count.aspect), story: twin });
            }
            aspect.pairs = pairs;
            suite.files.push(path);
            suite.aspects.push(aspect);
        }
        let left_out = manifest.left_out.into_iter().filter(|left| wanted.contains(&left.aspect));
        suite.missing = left_out
            .map(|left| MissingAspect { aspect: left.aspect, reason: left.reason })
            .collect();
        Ok(suite)
    }
}

fn story(pair: &Pair, text: &str) -> Story {
    Story {
        id: pair.id.clone(),
        item: Some(pair.id.clone()),
        prompt: pair.prompt.clone(),
        references: pair.reference.clone(),
        ..Story::from(text)
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest> {
    #[derive(Deserialize)]
    struct Mark {
        #[serde(rename = "kind")]
        _kind: ManifestKind,
    }
    let path = folder.join(manifest::FILE);
    if folder.is_dir() && !path.exists() {
        let problem = "the folder holds no suite: it has no suite.json";
        return Err(CoreError::invalid(Place::file(folder), problem).into());
    }
    let bytes = file::read(&path, 64 << 20)?;
    let bad = |e: serde_json::Error| {
        let place = Place::file(&path).at_line(e.line() as u64);
        CoreError::invalid(place, format!("not the list of a suite: {e}"))
    };
    serde_json::from_slice::<Mark>(&bytes).map_err(bad)?;
    Ok(serde_json::from_slice(&bytes).map_err(bad)?)
}

/// Reads the pairs of an aspect, and checks that their edits fit.
fn read_pairs(path: &Path, aspect: Aspect) -> Result<Vec<Pair>> {
    let bytes = file::read(path, MOST_BYTES)?;
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let lines: Vec<(u64, &[u8])> = (1u64..).zip(lines).collect();
    let read = |&(line, text): &(u64, &[u8])| -> Option<std::result::Result<Pair, CoreError>> {
        (!text.trim_ascii().is_empty()).then(|| read_pair(path, line, text, aspect))
    };
    let pairs: Vec<std::result::Result<Pair, CoreError>> =
        lines.par_iter().filter_map(read).collect();
    // Of several bad lines the first one is the error.
    Ok(pairs.into_iter().collect::<std::result::Result<Vec<Pair>, CoreError>>()?)
}

fn read_pair(
    path: &Path,
    line: u64,
    text: &[u8],
    aspect: Aspect,
) -> std::result::Result<Pair, CoreError> {
    let place = || Place::file(path).at_line(line);
    let pair: Pair = serde_json::from_slice(text)
        .map_err(|e| CoreError::invalid(place(), format!("not a pair: {e}")))?;
    if pair.aspect != aspect {
        let problem =
            format!("the aspect is \"{}\", but the file is for \"{aspect}\"", pair.aspect);
        return Err(CoreError::invalid(place().in_field("aspect"), problem));
    }
    let fits = storymeter_perturb::apply(&pair.original, &pair.edits);
    if fits.as_deref().ok() != Some(pair.twin.as_str()) {
        let problem = "the edits do not lead from the original to the twin";
        return Err(CoreError::invalid(place().in_field("edits"), problem));
    }
    Ok(pair)
}
