//! The one table of the names that fields and columns have in files of others, and which of them is
//! taken.
//!
//! Stories and scores in JSON, CSV, TSV, Parquet and frames all look names up here. Where a record
//! has two names of one field, the more usual one is taken, in the order of [`Field::names`]. Names
//! that the user gives ([`FieldNames`]) are taken instead of all usual names of that field. Names
//! may be in small or capital letters; two that differ only in that are the same name. Names of
//! ratings are [`Rated`].

use super::shown::{cut, quoted};
use crate::error::Missing;
use crate::{Error, Place, Result};

/// What a story is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
    /// Human ratings on all criteria.
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
/// let fields = FieldNames::default().with(|it| it.story = Some("Tale".into()));
/// let options = ReadOptions::default().with(|it| it.fields = fields);
/// let table = "No,Tale\n1,A door opened.\n".as_bytes();
/// let record = from_reader("tales.csv", table, &options).next().unwrap()?;
/// assert_eq!(record.story.text, "A door opened.");
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
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
    /// The position of the name in the order of preference.
    pub position: u8,
}

impl FieldNames {
    /// The names after a change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

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

    /// The place of the name that the user gives to a field; `None` for ratings, which have one
    /// column per criterion.
    ///
    /// ```
    /// use storymeter_core::read::{Field, FieldNames};
    /// let mut names = FieldNames::default();
    /// *names.given_mut(Field::Story).unwrap() = Some("tale".into());
    /// assert_eq!(names.given(Field::Story), Some("tale"));
    /// assert_eq!(names.given_mut(Field::Ratings), None);
    /// ```
    pub fn given_mut(&mut self, field: Field) -> Option<&mut Option<String>> {
        match field {
            Field::Story => Some(&mut self.story),
            Field::System => Some(&mut self.system),
            Field::Id => Some(&mut self.id),
            Field::Item => Some(&mut self.item),
            Field::Prompt => Some(&mut self.prompt),
            Field::Reference => Some(&mut self.reference),
            Field::Ratings => None,
        }
    }

    /// The field that a name stands for.
    pub(super) fn find(&self, name: &str) -> Option<Candidate> {
        let given = |same: fn(&str, &str) -> bool| {
            let is_given =
                |field: &Field| self.given(*field).is_some_and(|given| same(given, name));
            Field::ALL.into_iter().find(is_given)
        };
        if let Some(field) = given(|given, name| given == name) {
            return Some(Candidate { field, position: 0 });
        }
        if let Some(field) = given(str::eq_ignore_ascii_case) {
            return Some(Candidate { field, position: 1 });
        }
        // `Human` is the name of a text in HANNA's files.
        let same = |field: Field, usual: &str| match field {
            Field::Ratings => usual == name,
            _ => usual.eq_ignore_ascii_case(name),
        };
        Field::ALL.into_iter().filter(|field| self.given(*field).is_none()).find_map(|field| {
            let position = field.names().iter().position(|usual| same(field, usual))?;
            Some(Candidate { field, position: position as u8 })
        })
    }

    /// Finds the fields among the names of columns, each under the most usual of its names. Errors
    /// call such a thing `what`: "column" or "field".
    pub(super) fn among(
        &self,
        columns: &[impl AsRef<str>],
        what: &'static str,
        place: &Place,
    ) -> Result<FoundFields> {
        let candidates: Vec<_> = columns.iter().map(|name| self.find(name.as_ref())).collect();
        let mut found =
            FoundFields { fields: vec![None; columns.len()], used: UsedNames::default() };
        for field in Field::ALL {
            let of_field = |(column, one): (usize, &Option<Candidate>)| {
                one.filter(|one| one.field == field).map(|one| (one.position, column))
            };
            let mut named: Vec<_> = candidates.iter().enumerate().filter_map(of_field).collect();
            named.sort_unstable();
            if let [(position, first), (other, second), ..] = named[..]
                && position == other
            {
                let place = place.clone().in_field(cut(columns[second].as_ref()));
                let (first, second) = (first + 1, second + 1);
                let problem =
                    format!("{what}s {first} and {second} have the same name; keep one of them");
                return Err(Error::invalid(place, problem));
            }
            for (preference, (position, column)) in named.into_iter().enumerate() {
                found.fields[column] = Some((field, preference == 0));
                match preference {
                    0 => found.used.take(field, position),
                    _ => found.used.pass_over(field, position),
                }
            }
        }
        Ok(found)
    }

    /// Checks that the fields that must be there are among those that were found: the story, and
    /// all that the user names.
    pub(super) fn check(
        &self,
        has: impl Fn(Field) -> bool,
        what: &'static str,
        place: &Place,
        found: impl FnOnce() -> Vec<String>,
    ) -> Result<()> {
        let needed = |field: &Field| *field == Field::Story || self.given(*field).is_some();
        let Some(field) = Field::ALL.into_iter().filter(needed).find(|field| !has(*field)) else {
            return Ok(());
        };
        let earlier = Field::ALL.into_iter().take_while(|other| *other != field);
        if let Some(name) = self.given(field)
            && earlier.into_iter().any(|other| self.given(other) == Some(name))
        {
            let problem = format!("the {what} is asked for twice");
            return Err(Error::invalid(place.clone().in_field(cut(name)), problem));
        }
        Err(self.missing(field, what, place.clone(), found()))
    }

    /// The name at a position of the order of preference.
    pub(super) fn name(&self, field: Field, position: u8) -> &str {
        self.given(field)
            .or_else(|| field.names().get(usize::from(position)).copied())
            .unwrap_or_default()
    }

    /// The error for a field that a record lacks, or a column that a table lacks.
    fn missing(&self, field: Field, what: &'static str, place: Place, found: Vec<String>) -> Error {
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

/// The fields among the columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFields {
    /// By column: its field, and whether it is taken or passed over for a more usual name.
    pub fields: Vec<Option<(Field, bool)>>,
    pub used: UsedNames,
}

impl FoundFields {
    /// The column of a field.
    pub fn column(&self, field: Field) -> Option<usize> {
        self.fields.iter().position(|one| *one == Some((field, true)))
    }
}

/// What the name of a field or column of ratings says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rated<'a> {
    /// What the ratings are about.
    pub criterion: &'a str,
    /// Whether nothing but ratings has such a name: `human.NAME`, `human/NAME` or `human:NAME`.
    /// `human_NAME`, and `human`, `rating` or `ratings`, hold ratings only if they hold numbers.
    pub certain: bool,
}

/// What a name says about ratings, in small or capital letters; `None` for other names.
pub(super) fn rated(name: &str) -> Option<Rated<'_>> {
    if ["human", "rating", "ratings"].iter().any(|bare| name.eq_ignore_ascii_case(bare)) {
        return Some(Rated { criterion: name, certain: false });
    }
    let (start, end) = name.split_at_checked("human".len())?;
    let criterion = end.strip_prefix(['.', '/', ':', '_'])?;
    let is_rated = start.eq_ignore_ascii_case("human") && !criterion.is_empty();
    is_rated.then_some(Rated { criterion, certain: !end.starts_with('_') })
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

    /// Nothing is said about a field that is not read under its names.
    pub fn forget(&mut self, field: Field) {
        self.taken[field as usize] = 0;
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
            // A name that some records use was not passed over as a whole, and a name that the user
            // gives has no other.
            let (names, instead_of) = match names.given(field) {
                Some(name) => (vec![name.to_owned()], Vec::new()),
                None => (listed(taken), listed(passed_over & !taken)),
            };
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
    fn every_usual_name_is_found_at_its_position_in_any_case() {
        let names = FieldNames::default();
        for field in Field::ALL {
            for (position, name) in field.names().iter().enumerate() {
                let wanted = Candidate { field, position: position as u8 };
                assert_eq!(names.find(name), Some(wanted));
                assert_eq!(names.name(field, wanted.position), *name);
                let capital = names.find(&name.to_uppercase());
                assert_eq!(capital, Some(wanted).filter(|_| field != Field::Ratings));
            }
        }
        assert_eq!(names.find("mood"), None);
        assert_eq!(names.find("Human"), None);
    }

    #[test]
    fn columns_of_ratings_name_their_criterion() {
        let criterion = |name| rated(name).map(|rated| (rated.criterion, rated.certain));
        assert_eq!(criterion("human.plot"), Some(("plot", true)));
        assert_eq!(criterion("Human/plot.pace"), Some(("plot.pace", true)));
        assert_eq!(criterion("human_story"), Some(("story", false)));
        assert_eq!(criterion("Human"), Some(("Human", false)));
        for name in ["human.", "human_", "humane/plot", "humans", "plot", "hümän.x"] {
            assert_eq!(criterion(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_of_the_user_replaces_the_usual_ones_of_that_field() {
        let names = FieldNames { story: Some("prompt".into()), ..FieldNames::default() };
        assert_eq!(names.find("prompt"), Some(Candidate { field: Field::Story, position: 0 }));
        assert_eq!(names.find("story"), None);
        assert_eq!(names.find("model").unwrap().field, Field::System);
    }
}
