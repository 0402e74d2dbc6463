//! The names that fields and columns have in files of others, and which of them is taken.
//!
//! The same names are known in JSON, CSV, TSV and Parquet. Where a record has two names of one
//! field, the more usual one is taken, in the order of [`Field::names`]. Names that the user gives
//! ([`FieldNames`]) are taken instead of all usual names of that field. A column `human.NAME` or
//! `human/NAME` has ratings on the criterion NAME.

use super::shown::quoted;
use crate::error::Missing;
use crate::{Error, Place};

/// What a story is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The text of the story.
    Story,
    /// Who wrote it.
    System,
    /// Its id, which is unique within a system.
    Id,
    /// What the stories of several systems have in common.
    Item,
    /// What the writer was given.
    Prompt,
    /// Another story for the same prompt.
    Reference,
    /// Human ratings, in JSON and Parquet.
    Ratings,
}

impl Field {
    /// Every field, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Story,
        Self::System,
        Self::Id,
        Self::Item,
        Self::Prompt,
        Self::Reference,
        Self::Ratings,
    ];

    /// The names by which the field is found, the most usual one first.
    ///
    /// ```
    /// use storymeter_core::read::Field;
    /// assert_eq!(Field::System.names()[..2], ["system", "model"]);
    /// ```
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Story => &[
                "story",
                "text",
                "output",
                "completion",
                "generation",
                "generated",
                "generated_text",
                "response",
                "prediction",
            ],
            Self::System => &["system", "model", "generator"],
            Self::Id => &["id", "story_id", "storyid"],
            Self::Item => &["item", "prompt_index", "prompt_id"],
            Self::Prompt => &["prompt"],
            Self::Reference => &["reference", "references"],
            Self::Ratings => &["human", "ratings"],
        }
    }
}

/// Names that the user gives to fields and columns, instead of the usual ones.
///
/// ```
/// use storymeter_core::read::{FieldNames, ReadOptions, from_reader};
/// let fields = FieldNames { story: Some("Tale".into()), ..FieldNames::default() };
/// let options = ReadOptions { fields, ..ReadOptions::default() };
/// let table = "No,Tale\n1,A door opened.\n".as_bytes();
/// let record = from_reader("tales.csv", table, &options).next().unwrap()?;
/// assert_eq!(record.story.text, "A door opened.");
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FieldNames {
    /// The name of the story.
    pub story: Option<String>,
    /// The name of the system.
    pub system: Option<String>,
    /// The name of the id.
    pub id: Option<String>,
    /// The name of the item.
    pub item: Option<String>,
    /// The name of the prompt.
    pub prompt: Option<String>,
    /// The name of the reference.
    pub reference: Option<String>,
}

/// One of the names of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub field: Field,
    /// The position of the name in the order of preference. A name in capital letters comes after
    /// the same name in small ones.
    pub rank: u8,
}

impl Candidate {
    /// The position of the name in [`Field::names`].
    pub fn position(self) -> u8 {
        self.rank / 2
    }
}

impl FieldNames {
    /// The name that the user gives to a field.
    pub fn given(&self, field: Field) -> Option<&str> {
        match field {
            Field::Story => self.story.as_deref(),
            Field::System => self.system.as_deref(),
            Field::Id => self.id.as_deref(),
            Field::Item => self.item.as_deref(),
            Field::Prompt => self.prompt.as_deref(),
            Field::Reference => self.reference.as_deref(),
            Field::Ratings => None,
        }
    }

    /// The field that a name stands for.
    pub(super) fn find(&self, name: &str) -> Option<Candidate> {
        if let Some(field) = Field::ALL.into_iter().find(|field| self.given(*field) == Some(name)) {
            return Some(Candidate { field, rank: 0 });
        }
        let candidate = usual(name)?;
        self.given(candidate.field).is_none().then_some(candidate)
    }

    /// The name at a position of the order of preference.
    pub(super) fn name(&self, field: Field, position: u8) -> &str {
        self.given(field)
            .or_else(|| field.names().get(usize::from(position)).copied())
            .unwrap_or_default()
    }

    /// The error for a field that a record lacks, or a column that a table lacks.
    pub(super) fn missing(
        &self,
        field: Field,
        what: &'static str,
        place: Place,
        found: Vec<String>,
    ) -> Error {
        let (name, others) = match (self.given(field), field.names()) {
            (Some(name), _) => (name, &[][..]),
            (None, [name, others @ ..]) => (*name, others),
            (None, []) => ("", &[][..]),
        };
        let missing = Missing {
            field,
            what,
            name: name.to_owned(),
            others: others.iter().map(|&name| name.to_owned()).collect(),
            found,
        };
        Error::MissingField { place, missing: Box::new(missing) }
    }
}

/// The field that a usual name stands for, in small or capital letters.
fn usual(name: &str) -> Option<Candidate> {
    let exact = |name: &str| {
        Some(match name {
            "story" => (Field::Story, 0),
            "text" => (Field::Story, 1),
            "output" => (Field::Story, 2),
            "completion" => (Field::Story, 3),
            "generation" => (Field::Story, 4),
            "generated" => (Field::Story, 5),
            "generated_text" => (Field::Story, 6),
            "response" => (Field::Story, 7),
            "prediction" => (Field::Story, 8),
            "system" => (Field::System, 0),
            "model" => (Field::System, 1),
            "generator" => (Field::System, 2),
            "id" => (Field::Id, 0),
            "story_id" => (Field::Id, 1),
            "storyid" => (Field::Id, 2),
            "item" => (Field::Item, 0),
            "prompt_index" => (Field::Item, 1),
            "prompt_id" => (Field::Item, 2),
            "prompt" => (Field::Prompt, 0),
            "reference" => (Field::Reference, 0),
            "references" => (Field::Reference, 1),
            "human" => (Field::Ratings, 0),
            "ratings" => (Field::Ratings, 1),
            _ => return None,
        })
    };
    if let Some((field, position)) = exact(name) {
        return Some(Candidate { field, rank: 2 * position });
    }
    // No usual name is longer, and most names of other fields have no capital letter.
    if name.len() > 16 || !name.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let (field, position) = exact(&name.to_ascii_lowercase())?;
    // Ratings are an object. `Human` is the name of a text in HANNA's files.
    (field != Field::Ratings).then_some(Candidate { field, rank: 2 * position + 1 })
}

/// The criterion of a column or field `human.NAME` or `human/NAME`, which has ratings on NAME.
pub(super) fn criterion(name: &str) -> Option<&str> {
    let (start, rest) = name.split_at_checked("human".len())?;
    let criterion = rest.strip_prefix(['.', '/', ':'])?;
    (start.eq_ignore_ascii_case("human") && !criterion.is_empty()).then_some(criterion)
}

/// Which names of each field were taken, and which were passed over for a more usual one. There is
/// one bit per position in [`Field::names`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct UsedNames {
    taken: [u16; Field::ALL.len()],
    passed_over: [u16; Field::ALL.len()],
}

impl UsedNames {
    pub fn take(&mut self, field: Field, position: u8) {
        self.taken[field as usize] |= 1 << position;
    }

    pub fn pass_over(&mut self, field: Field, position: u8) {
        self.passed_over[field as usize] |= 1 << position;
    }

    pub fn merge(&mut self, other: Self) {
        for (all, more) in self.taken.iter_mut().zip(other.taken) {
            *all |= more;
        }
        for (all, more) in self.passed_over.iter_mut().zip(other.passed_over) {
            *all |= more;
        }
    }

    /// The fields with a name that was passed over for a more usual one.
    pub fn preferred(&self) -> Vec<FieldUse> {
        let mut uses = self.remarkable(&FieldNames::default());
        uses.retain(|one| !one.instead_of.is_empty());
        uses
    }

    /// The fields whose name is worth a word: it is not the standard one, or it was preferred to
    /// another.
    pub fn remarkable(&self, names: &FieldNames) -> Vec<FieldUse> {
        let mut uses = Vec::new();
        for field in Field::ALL {
            let (taken, passed_over) =
                (self.taken[field as usize], self.passed_over[field as usize]);
            let listed = |bits: u16| -> Vec<String> {
                let positions = (0..16).filter(|position| bits >> position & 1 == 1);
                positions.map(|position| names.name(field, position).to_owned()).collect()
            };
            let names = listed(taken);
            // A name that some records use was not passed over as a whole.
            let instead_of = listed(passed_over & !taken);
            let standard = names.iter().all(|name| name == field.names()[0]);
            if taken != 0 && !(standard && instead_of.is_empty()) {
                uses.push(FieldUse { field, names, instead_of });
            }
        }
        uses
    }
}

/// Which name of a field was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldUse {
    /// The field.
    pub field: Field,
    /// The names in the file. There are several if records differ.
    pub names: Vec<String>,
    /// Other names of the same field that are there too, and were ignored.
    pub instead_of: Vec<String>,
}

impl std::fmt::Display for FieldUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |names: &[String]| -> String {
            names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(" and ")
        };
        let field = match self.field {
            Field::Ratings => "ratings",
            field => field.names()[0],
        };
        write!(f, "{field} from {}", list(&self.names))?;
        if !self.instead_of.is_empty() {
            write!(f, " and not {}", list(&self.instead_of))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usual_name_is_found_at_its_position() {
        let names = FieldNames::default();
        for field in Field::ALL {
            for (position, name) in field.names().iter().enumerate() {
                let found = names.find(name).unwrap();
                assert_eq!((found.field, usize::from(found.position())), (field, position));
                assert_eq!(names.name(field, found.position()), *name);
                assert!(name.len() <= 16);
            }
        }
        assert_eq!(names.find("Generated_Text").unwrap().rank, 13);
        assert_eq!(names.find("mood"), None);
        assert_eq!(names.find("Human"), None);
    }

    #[test]
    fn columns_of_ratings_name_their_criterion() {
        assert_eq!(criterion("human.plot"), Some("plot"));
        assert_eq!(criterion("Human/plot.pace"), Some("plot.pace"));
        for name in ["human", "human.", "humane/plot", "human_story", "plot", "hümän.x"] {
            assert_eq!(criterion(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_of_the_user_replaces_the_usual_ones_of_that_field() {
        let names = FieldNames { story: Some("prompt".into()), ..FieldNames::default() };
        assert_eq!(names.find("prompt"), Some(Candidate { field: Field::Story, rank: 0 }));
        assert_eq!(names.find("story"), None);
        assert_eq!(names.find("model").unwrap().field, Field::System);
    }
}
