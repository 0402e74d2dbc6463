//! A few stories, one by one: their scores, where those stand among human stories of the same
//! length, and what such numbers can and cannot say about a single story.
//!
//! A mean over three stories and its interval answer a question that nobody asks of three stories.

use storymeter_core::{Pooling, ScoreColumn, Validity, length_range, terminal};
use storymeter_executor::Part;

use crate::Run;
use crate::layout::{aligned, arrow, listed, wrapped};
use crate::run::{FewStory, MOST_FEW};

/// What a number of one story is worth.
const ONE_STORY: &str = "The number of one story is a hint and no verdict: readers disagree with each \
                         other, and with these numbers, about single stories. A good story can \
                         score low, and a weak one high.";

/// A few stories and the columns of their scores.
pub(crate) struct Few<'a> {
    pub stories: &'a [FewStory],
    pub columns: &'a [ScoreColumn],
}

impl Run {
    /// The stories, if they are so few that they are shown one by one, and no metric scores them
    /// as a whole.
    pub(crate) fn few(&self) -> Option<Few<'_>> {
        let is_whole = |part: Part<'_>| part.metric.description().pooling == Pooling::Sum;
        let (stories, metrics) = (self.first_stories(), self.metrics());
        let all_known = stories.len() == self.score_rows().len() && !stories.is_empty();
        (all_known && stories.len() <= MOST_FEW && !metrics.parts().any(is_whole))
            .then(|| Few { stories, columns: metrics.columns() })
    }
}

impl Few<'_> {
    /// The cells of the table, the names of its columns first: one row per story and column. Names
    /// of users are as they are.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let header = ["story", "metric", "score", "among human stories", "flags"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        for story in self.stories {
            for (at, (column, value)) in self.columns.iter().zip(&story.values).enumerate() {
                let is_first = at == 0;
                let name = if is_first { story.name.clone() } else { String::new() };
                let metric = format!("{}{}", column.key, arrow(column.direction));
                let (score, standing) = match value {
                    Ok(value) => {
                        (format!("{:.4}", rounded(*value)), standing(column, *value, story))
                    }
                    Err(absence) => ("absent".to_owned(), absence.to_string()),
                };
                let flags: Vec<&str> = story.flags.iter().map(|flag| flag.name()).collect();
                let flags = if is_first { flags.join(", ") } else { String::new() };
                rows.push(vec![name, metric, score, standing, flags]);
            }
        }
        // A column in which no story has anything is left out.
        for column in [4, 3] {
            if rows.iter().skip(1).all(|row| row[column].is_empty()) {
                rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        rows
    }

    /// The table as aligned text, and under it what the numbers can and cannot say. `brief` keeps
    /// that to one line.
    pub fn text(&self, brief: bool) -> String {
        let mut text = aligned(&self.rows(), |column| column != 2);
        let warnings = self.warnings();
        let notes = match (brief, warnings.first()) {
            (false, _) => {
                warnings.into_iter().chain(self.trust()).chain(self.compared_with()).collect()
            }
            (true, Some(warning)) => vec![warning.clone()],
            (true, None) if self.is_learned() => vec![ONE_STORY.to_owned()],
            (true, None) => Vec::new(),
        };
        for (at, note) in notes.iter().enumerate() {
            text.push_str(if at == 0 { "\n" } else { "" });
            // With --quiet, the one line stays one line.
            let note = if brief { note.clone() } else { wrapped(note) };
            text.push_str(&format!("{}\n", terminal::plain_lines(&note)));
        }
        text
    }

    fn is_learned(&self) -> bool {
        self.columns.iter().any(|column| column.validity.is_some())
    }

    /// What says that a text is of another kind than those that a metric was tested on.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for story in self.stories {
            let subject = if self.stories.len() == 1 { "the text" } else { &story.name };
            if self.is_learned() && !story.flags.is_empty() {
                let found: Vec<&str> = story.flags.iter().map(|flag| flag.describes()).collect();
                warnings.push(format!(
                    "Warning: {subject} {}. The scores were made for whole English stories and \
                     nothing else, and mean less here.",
                    listed(&found)
                ));
            }
            for (validity, names) in cards(self.columns) {
                let (fewest, most) = validity.words;
                if !validity.covers(story.words) {
                    warnings.push(format!(
                        "Warning: {subject} has {}, and {} tested on stories of {fewest} to {most} \
                         words.",
                        counted(story.words),
                        was(&names)
                    ));
                }
            }
        }
        warnings
    }

    /// What the numbers are, on what they were tested and where they are wrong, from the cards of
    /// the models, and what a number of one story is worth.
    fn trust(&self) -> Vec<String> {
        let card = |(validity, names): (&Validity, Vec<&str>)| {
            let Validity { measures, tested, doubtful, .. } = validity;
            let doubt = match doubtful.is_empty() {
                true => String::new(),
                false => format!(" It is at chance or wrong on {doubtful}."),
            };
            format!("{} measures {measures}. It was tested on {tested}.{doubt}", each(&names))
        };
        let mut notes: Vec<String> = cards(self.columns).into_iter().map(card).collect();
        if self.is_learned() {
            notes.push(ONE_STORY.to_owned());
        }
        notes
    }

    /// Where the human stories are from.
    fn compared_with(&self) -> Vec<String> {
        let mut sources: Vec<&str> = Vec::new();
        for norms in self.columns.iter().filter_map(|column| column.norms.as_ref()) {
            if !sources.contains(&norms.source.as_str()) {
                sources.push(&norms.source);
            }
        }
        sources.into_iter().map(|source| format!("The human stories: {source}.")).collect()
    }
}

/// Where a value stands among human stories of the same length, if that is known.
fn standing(column: &ScoreColumn, value: f64, story: &FewStory) -> String {
    let Some(norms) = &column.norms else { return String::new() };
    let (place, lengths) = (norms.place(value, story.words), norms.lengths(story.words));
    let (Some(place), Some(lengths)) = (place, lengths) else { return String::new() };
    format!("{place} of {} with {}", norms.stories(story.words), length_range(lengths))
}

/// A number that is shown with four digits, without the sign of a zero.
fn rounded(value: f64) -> f64 {
    if value.abs() < 0.000_05 { 0.0 } else { value }
}

/// The cards of columns, each with the names of the columns that share it.
fn cards(columns: &[ScoreColumn]) -> Vec<(&Validity, Vec<&str>)> {
    let mut cards: Vec<(&Validity, Vec<&str>)> = Vec::new();
    for column in columns {
        let Some(validity) = &column.validity else { continue };
        match cards.iter_mut().find(|(known, _)| *known == validity) {
            Some((_, names)) => names.push(column.key.as_str()),
            None => cards.push((validity, vec![column.key.as_str()])),
        }
    }
    cards
}

/// `a was`, or `a and b were`.
fn was(names: &[&str]) -> String {
    format!("{} {}", listed(names), if names.len() == 1 { "was" } else { "were" })
}

fn each(names: &[&str]) -> String {
    if names.len() == 1 { listed(names) } else { format!("Each of {}", listed(names)) }
}

fn counted(words: u64) -> String {
    if words == 1 { "1 word".to_owned() } else { format!("{words} words") }
}

#[cfg(test)]
mod tests {
    use storymeter_core::{Absence, Column, Direction, LengthClass, Norms, Range, Value};
    use storymeter_text::flags::Flag;
    use storymeter_text::kind::TextKind;

    use super::*;

    fn column(key: &str, validity: Option<Validity>, norms: Option<Norms>) -> ScoreColumn {
        ScoreColumn::from(&Column::metric(key, Direction::Higher).with(|it| {
            it.range = Range::UNIT;
            (it.validity, it.norms) = (validity, norms);
        }))
    }

    fn card(measures: &str) -> Option<Validity> {
        Some(Validity {
            measures: measures.into(),
            tested: "old stories".into(),
            doubtful: "new stories".into(),
            words: (30, 500),
        })
    }

    fn norms() -> Option<Norms> {
        Some(Norms {
            source: "four stories".into(),
            low: 0.0,
            high: 1.0,
            classes: vec![LengthClass { longest: Some(100), counts: vec![1, 1, 1, 1] }],
        })
    }

    fn story(name: &str, words: u64, flags: &[Flag], values: &[Value]) -> FewStory {
        FewStory { name: name.into(), words, flags: flags.to_vec(), values: values.to_vec() }
    }

    #[test]
    fn a_story_of_the_tested_kind_has_its_standing_and_no_warning() {
        let stories = [story("draft", 80, &[], &[Ok(0.75)])];
        let columns = [column("union", card("whether it hangs together"), norms())];
        let few = Few { stories: &stories, columns: &columns };
        assert_eq!(
            few.text(false),
            "\
story  metric    score  among human stories
draft  union ↑  0.7500  higher than 75% of 4 with up to 100 words

union measures whether it hangs together. It was tested on old stories. It is at chance or wrong on
new stories.
The number of one story is a hint and no verdict: readers disagree with each other, and with these
numbers, about single stories. A good story can score low, and a weak one high.
The human stories: four stories.
"
        );
        assert_eq!(few.text(true).lines().count(), 4, "rows, an empty line and one line");
    }

    #[test]
    fn a_text_of_another_kind_or_length_has_a_warning() {
        let flags = [Flag::Preamble, Flag::Kind(TextKind::Poem)];
        let stories = [
            story("a", 700, &flags, &[Ok(0.75), Ok(-1e-9)]),
            story("b", 80, &[], &[Ok(0.25), Err(Absence::because("the story has no prompt"))]),
        ];
        let columns = [column("x/one", card("much"), norms()), column("x/two", card("much"), None)];
        let few = Few { stories: &stories, columns: &columns };
        let text = few.text(false);
        let begins = "\
story  metric   score  among human stories                          flags
a      x/one ↑  0.7500                                               preamble, poem
       x/two ↑  0.0000";
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&text).starts_with(&squeezed(begins)), "{text}");
        assert!(text.contains("absent  the story has no prompt"), "{text}");
        let text = squeezed(&text);
        assert!(
            text.contains(
                "Warning: a begins with words to the user and looks like a poem or a song. \
                 The scores were made for whole English stories and nothing else, and mean \
                 less here. Warning: a has 700 words, and x/one and x/two were tested on stories \
                 of 30 to 500 words. Each of x/one and x/two measures much."
            ),
            "{text}"
        );
        assert_eq!(few.text(true).matches("Warning").count(), 1);
    }

    #[test]
    fn metrics_without_a_card_get_no_words_about_trust() {
        let stories = [story("0", 3, &[Flag::Cut], &[Ok(2.0)])];
        let few = Few { stories: &stories, columns: &[column("text-length", None, None)] };
        assert_eq!(few.text(false).lines().count(), 2);
        assert_eq!(few.text(true), few.text(false));
    }
}
