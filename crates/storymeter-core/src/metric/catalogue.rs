//! The catalogue of all metrics, with their ids and options.
//!
//! A user types the id of a metric: `bleu`. Options follow a colon: `bleu:hanna` is a preset, and
//! `bleu:intl+floor` has two options of different kinds, which may stand in any order.

use crate::{
    Description, Direction, Key, Metric, MetricError, Needs, Range, Resources, ScoreColumn,
    Signature, nearest,
};

/// The kind of an option that decides everything, such as `hanna`. It excludes all other options.
pub const PRESET: &str = "preset";

/// One option of a metric, as the user types it after the colon.
///
/// An option whose name ends in `-N` stands for all numbers: `layer-N` accepts `layer-6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// What the user types.
    pub name: &'static str,
    /// What it decides, such as `tokeniser`. Only one option of each kind can be chosen.
    pub kind: &'static str,
    /// What it means.
    pub about: &'static str,
}

impl Choice {
    /// An option that decides one thing.
    pub const fn new(kind: &'static str, name: &'static str, about: &'static str) -> Self {
        Self { name, kind, about }
    }

    /// An option that decides everything.
    pub const fn preset(name: &'static str, about: &'static str) -> Self {
        Self::new(PRESET, name, about)
    }

    /// Whether this option was typed. `Some(Some(6))` is an option with a number, such as
    /// `layer-6`, and `Some(None)` is an option without one.
    fn matches(&self, typed: &str) -> Option<Option<usize>> {
        match self.name.strip_suffix("-N") {
            Some(stem) => {
                let number = typed.strip_prefix(stem)?.strip_prefix('-')?;
                let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
                digits.then(|| number.parse().ok()).flatten().map(Some)
            }
            None => (self.name == typed).then_some(None),
        }
    }
}

/// A metric, or a few that differ in one number (`novelty-1` to `novelty-3`), as the catalogue
/// knows it.
pub struct Entry {
    /// The ids.
    pub ids: &'static [&'static str],
    /// The options. If none of a kind is typed, the metric uses its own default.
    pub choices: &'static [Choice],
    /// Whether a larger value means a better story.
    pub direction: Direction,
    /// The possible values.
    pub range: Range,
    /// What the metric needs besides the story.
    pub needs: Needs,
    /// The text of its source file, whose first comment is the page of the metric.
    pub source: &'static str,
    /// Builds the metric.
    pub build: fn(&Request<'_>) -> Result<Box<dyn Metric>, MetricError>,
}

impl Entry {
    /// The page of the metric, in Markdown: the `//!` comment at the top of its source file.
    pub fn page(&self) -> String {
        let mut page = String::new();
        for line in self.source.lines().map_while(|line| line.strip_prefix("//!")) {
            page.push_str(line.strip_prefix(' ').unwrap_or(line));
            page.push('\n');
        }
        page
    }

    /// The page, followed by the ids, the options, the direction, the range and the needs.
    pub fn manual(&self) -> String {
        let mut text = self.page();
        text.push_str(&format!("\nIds: {}\n", self.ids.join(", ")));
        if !self.choices.is_empty() {
            text.push_str(
                "\nOptions (after a colon, joined by `+`, at most one of each kind):\n\n",
            );
            for choice in self.choices {
                let Choice { name, kind, about } = choice;
                text.push_str(&format!("- `{name}` ({kind}): {about}\n"));
            }
        }
        let better = match self.direction {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::None => "neither",
        };
        let needs = match (self.needs.reference, self.needs.prompt) {
            (true, true) => "a reference and the prompt",
            (true, false) => "a reference",
            (false, true) => "the prompt",
            (false, false) => "only the story",
        };
        text.push_str(&format!("\nBetter: {better}. Range: {}. Needs: {needs}.\n", self.range));
        if self.needs.corpus {
            text.push_str(
                "\nThe input is read twice, because scores depend on all stories that are scored \
                 together.\n",
            );
        }
        text
    }

    /// The first sentence of the page.
    pub fn summary(&self) -> String {
        let page = self.page();
        let paragraph: Vec<&str> = page.lines().take_while(|line| !line.is_empty()).collect();
        let paragraph = paragraph.join(" ");
        let end = paragraph.find(". ").unwrap_or(paragraph.len());
        paragraph[..end].trim_end_matches('.').to_owned()
    }
}

/// A metric that a user asked for, with options that were checked against its entry.
pub struct Request<'a> {
    /// The metric as typed, options included.
    pub key: &'a str,
    /// The id without the options.
    pub id: &'a str,
    /// The resources that metrics share.
    pub resources: &'a Resources,
    entry: &'a Entry,
    chosen: Vec<(&'a Choice, Option<usize>)>,
}

impl<'a> Request<'a> {
    fn new(entry: &'a Entry, key: &'a str, resources: &'a Resources) -> Result<Self, MetricError> {
        let (id, typed) = match key.split_once(':') {
            Some((id, typed)) => (id, Some(typed)),
            None => (key, None),
        };
        let mut chosen: Vec<(&Choice, Option<usize>)> = Vec::new();
        for option in typed.into_iter().flat_map(|typed| typed.split('+')) {
            let found = entry
                .choices
                .iter()
                .find_map(|choice| choice.matches(option).map(|number| (choice, number)));
            let (choice, number) = found.ok_or_else(|| {
                let names = || entry.choices.iter().map(|choice| choice.name);
                MetricError::UnknownOption {
                    metric: id.to_owned(),
                    option: option.to_owned(),
                    nearest: nearest(option, names()).map(str::to_owned),
                    known: names().map(str::to_owned).collect(),
                }
            })?;
            let clash = chosen.iter().find(|(other, _)| {
                other.kind == choice.kind || other.kind == PRESET || choice.kind == PRESET
            });
            if let Some((first, _)) = clash {
                let why = match (first.kind == PRESET, choice.kind == PRESET) {
                    (false, false) => format!("both choose the {}", choice.kind),
                    (true, _) => format!("\"{}\" decides everything", first.name),
                    (false, true) => format!("\"{}\" decides everything", choice.name),
                };
                return Err(MetricError::OptionClash {
                    metric: id.to_owned(),
                    first: first.name.to_owned(),
                    second: option.to_owned(),
                    why,
                });
            }
            chosen.push((choice, number));
        }
        Ok(Self { key, id, resources, entry, chosen })
    }

    /// The option of a kind that was typed, if any.
    pub fn chosen(&self, kind: &str) -> Option<&'static str> {
        self.chosen.iter().find(|(choice, _)| choice.kind == kind).map(|(choice, _)| choice.name)
    }

    /// Whether this option was typed.
    pub fn has(&self, name: &str) -> bool {
        self.chosen.iter().any(|(choice, _)| choice.name == name)
    }

    /// The number of an option such as `layer-N`, if it was typed.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.chosen.iter().find(|(choice, _)| choice.name == name).and_then(|(_, number)| *number)
    }

    /// A description that is filled from the catalogue: one column with the direction and the range
    /// of the entry, rows of one number, and a signature without parameters.
    pub fn describe(&self) -> Description {
        Description {
            key: self.key.to_owned(),
            columns: vec![ScoreColumn {
                key: Key::new(self.key),
                direction: self.entry.direction,
                range: self.entry.range,
                validity: None,
                norms: None,
            }],
            needs: self.entry.needs,
            width: 1,
            pooling: crate::Pooling::default(),
            batching: crate::Batching::default(),
            explains: false,
            signature: Signature::new(self.id),
        }
    }
}

/// All metrics that can be asked for by name.
///
/// [`Catalogue::with`] adds a metric from outside the workspace.
#[derive(Clone, Default)]
pub struct Catalogue {
    entries: Vec<&'static Entry>,
}

impl Catalogue {
    /// The catalogue of these metrics.
    pub fn new(entries: impl IntoIterator<Item = &'static Entry>) -> Self {
        Self { entries: entries.into_iter().collect() }
    }

    /// The same catalogue with one more metric. It replaces an older one of the same id.
    #[must_use]
    pub fn with(mut self, entry: &'static Entry) -> Self {
        self.entries.insert(0, entry);
        self
    }

    /// The metrics, in order.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        self.entries.iter().copied()
    }

    /// The entry of a metric, typed with or without options.
    ///
    /// # Errors
    /// Returns an error if there is no such metric. The error suggests the one with the most
    /// similar name.
    pub fn find(&self, typed: &str) -> Result<&'static Entry, MetricError> {
        let id = typed.split_once(':').map_or(typed, |(id, _)| id);
        self.entries().find(|entry| entry.ids.contains(&id)).ok_or_else(|| {
            let ids = self.entries().flat_map(|entry| entry.ids).copied();
            MetricError::UnknownMetric {
                id: typed.to_owned(),
                nearest: nearest(id, ids).map(str::to_owned),
            }
        })
    }

    /// Checks the name of a metric and its options without opening anything.
    ///
    /// # Errors
    /// Returns an error if the metric or an option is unknown, or if two options exclude each
    /// other.
    pub fn check(&self, typed: &str) -> Result<(), MetricError> {
        Request::new(self.find(typed)?, typed, &Resources::default()).map(|_| ())
    }

    /// Builds the metric that was typed, such as `bleu` or `bleu:intl+floor`.
    ///
    /// # Errors
    /// Returns an error if the metric or an option is unknown, if two options exclude each other,
    /// or if a file that the metric needs cannot be opened.
    pub fn build(
        &self,
        typed: &str,
        resources: &Resources,
    ) -> Result<Box<dyn Metric>, MetricError> {
        let entry = self.find(typed)?;
        (entry.build)(&Request::new(entry, typed, resources)?)
    }

    /// The direction and the range of a column, as the catalogue knows them.
    ///
    /// This is for files without a header. Keys of the first version, which named only the member
    /// of a family (`rouge-1-r`), are understood as well.
    pub fn column(&self, key: &Key) -> Option<(Direction, Range)> {
        let family = key.id().split('-').next().unwrap_or_default();
        [key.id(), family]
            .iter()
            .find_map(|id| self.find(id).ok())
            .map(|entry| (entry.direction, entry.range))
    }
}
