//! What a suite is made of: the file `suite.json`, which also says that the folder is complete.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use storymeter_core::Aspect;
use storymeter_meta::view::{Cell, Form, Sheet, Subject};

/// The name of the file.
pub(super) const FILE: &str = "suite.json";

/// What `suite.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `pairs`, by which the file is told from others of the same name.
    pub kind: ManifestKind,
    /// The version of storymeter that made the suite.
    pub version: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of stories.
    pub stories: usize,
    /// The number of stories that foreign words and sentences come from.
    pub donors: usize,
    /// The number of sentences in the table of paraphrases, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paraphrases: Option<usize>,
    /// The number of facts in the table of triples, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triples: Option<usize>,
    /// Whether stories without a reference got another story of the donors as their reference.
    #[serde(default)]
    pub borrowed_references: bool,
    /// The aspects that have a file of pairs.
    pub aspects: Vec<AspectCount>,
    /// The aspects that were left out.
    #[serde(default)]
    pub left_out: Vec<LeftOutAspect>,
}

/// The mark of a [`Manifest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ManifestKind {
    /// A suite of pairs.
    #[default]
    Pairs,
}

/// The pairs of one aspect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AspectCount {
    /// The aspect.
    pub aspect: Aspect,
    /// The name of the file of pairs.
    pub file: String,
    /// The number of pairs.
    pub pairs: usize,
    /// Which rule made how many of them.
    #[serde(default)]
    pub rules: BTreeMap<String, usize>,
    /// Why the other stories have no twin, and how many of them.
    #[serde(default)]
    pub without: BTreeMap<String, usize>,
}

/// An aspect that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutAspect {
    /// The aspect.
    pub aspect: Aspect,
    /// Why.
    pub reason: String,
}

impl Manifest {
    /// The counts as a table: one row per aspect.
    pub fn sheet(&self) -> Sheet {
        let title = format!("{} stories", self.stories);
        let mut sheet = Sheet::new("suite", Subject::Other, title, Form::Table)
            .columns(["aspect", "test", "pairs", "rules", "without a twin"], 0);
        for aspect in Aspect::ALL {
            let (pairs, rules, without) =
                if let Some(count) = self.aspects.iter().find(|count| count.aspect == aspect) {
                    (Cell::from(count.pairs), counted(&count.rules), counted(&count.without))
                } else if let Some(left) = self.left_out.iter().find(|left| left.aspect == aspect) {
                    (Cell::from("-"), "-".to_owned(), left.reason.clone())
                } else {
                    continue;
                };
            let test = aspect.test().name();
            sheet.push(vec![
                aspect.name().into(),
                test.into(),
                pairs,
                rules.as_str().into(),
                without.as_str().into(),
            ]);
        }
        sheet
    }
}

/// What was counted, in words: "because 69, so 98".
fn counted(counts: &BTreeMap<String, usize>) -> String {
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}
