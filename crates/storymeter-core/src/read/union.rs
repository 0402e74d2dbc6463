//! Reads UNION's annotations: one story per line, as `ID ||| story ||| r1 .. r7`.
//!
//! The ratings get the criterion `human`. An id such as `a///b` names two stories of the file of
//! references. The first one is used, as in the released evaluation.

use super::fields::MAX_RATERS;
use super::shown::quoted;
use crate::{Error, Place, Ratings, Result, Story};

/// The name of the only criterion of data that have one score per rater.
pub(super) const CRITERION: &str = "human";

/// Parses one line.
pub(super) fn parse(line: &str, place: &Place) -> Result<Story> {
    let mut parts = line.split("|||");
    let (Some(id), Some(text), Some(given), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        let problem = "the line does not have the form `ID ||| story ||| ratings`";
        return Err(Error::invalid(place.clone(), problem));
    };
    let id = id.trim();
    let mut ratings = Ratings::new();
    for (raters, word) in given.split_whitespace().enumerate() {
        if raters == MAX_RATERS {
            let problem = format!("there are more than {MAX_RATERS} ratings");
            return Err(Error::invalid(place.clone().in_field("ratings"), problem));
        }
        let number =
            word.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| {
                Error::invalid(
                    place.clone().in_field("ratings"),
                    format!("{} is not a number", quoted(word)),
                )
            })?;
        ratings.push(CRITERION, Some(number));
    }
    if ratings.is_empty() {
        return Err(Error::invalid(place.clone().in_field("ratings"), "there are no ratings"));
    }
    Ok(Story {
        id: id.split_once("///").map_or(id, |(first, _)| first.trim_end()).to_owned(),
        text: text.trim().to_owned(),
        ratings,
        ..Story::default()
    })
}
