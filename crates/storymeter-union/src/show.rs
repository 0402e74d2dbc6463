//! Writes an explanation for people: what the score says, what is wrong with the story, and what
//! each sentence does to the score.

use storymeter_core::number::place;
use storymeter_core::{Effect, Rationale, Span, SpanKind};

use crate::explain::{HARDLY, LITTLE, LOT, two_digits};
use crate::{Diagnosis, Explanation, SentenceShare, Standing};

/// A diagnosis is called likely from this probability on.
const LIKELY: f64 = 0.5;
/// A diagnosis is called possible from this probability on, and unlikely below it.
const POSSIBLE: f64 = 0.2;

/// The most sentences that lower the score of which people are shown.
const MOST_LOWERING: usize = 3;
/// The most sentences that raise the score of which people are shown.
const MOST_RAISING: usize = 2;

/// The width of the longest words for an effect, so that all sentences begin in one column.
const WIDTH: usize = 25;

/// What repeated words cost is said if two digits show it.
const SHOWN_COST: f64 = 0.005;

impl Rationale for Explanation {
    fn to_json(&self) -> String {
        // Every field is a number, a text or a list of them: it cannot fail.
        serde_json::to_value(self).unwrap_or_default().to_string()
    }

    /// The score and where it stands, warnings, the diagnosis, one line per sentence with what it
    /// does to the score and the edits in it, and the pair of sentences that fits least.
    fn spans(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        spans.plain(&format!("union {:.4}", self.union));
        if let Some(standing) = &self.standing {
            spans.plain(&format!(", {}", stands(standing)));
        }
        spans.plain("\n");
        for warning in &self.warnings {
            spans.push(&format!("  Warning: the text {}.", warning.looks), SpanKind::Warning);
            spans.plain(" The score was made for English stories.\n");
        }
        if let Some(diagnosis) = &self.diagnosis {
            spans.plain(&diagnosed(diagnosis));
        }
        if self.repetition_effect >= SHOWN_COST {
            let by = self.repetition_effect;
            spans
                .plain(&format!("  Words that come again and again lower the score by {by:.2}.\n"));
        }
        self.weighed_sentences(&mut spans);
        self.pair(&mut spans);
        spans.0
    }

    fn legend(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        spans.plain(
            "How to read this: the number before a sentence is the score with the sentence minus \
             the score\nwithout it. In words, a sentence\n",
        );
        for (lowers, raises, from) in [
            (Effect::LowersALot, Effect::RaisesALot, LOT),
            (Effect::Lowers, Effect::Raises, LITTLE),
            (Effect::LowersALittle, Effect::RaisesALittle, HARDLY),
        ] {
            let (lower, raise) = (lowers.words(), raises.words());
            spans.plain("  ");
            spans.push(lower, SpanKind::Changes(lowers));
            spans.plain(&format!("{:>1$}", " or ", WIDTH + 4 - lower.len()));
            spans.push(raise, SpanKind::Changes(raises));
            let blanks = WIDTH + 2 - raise.len();
            spans.plain(&format!("{:blanks$}if that is {from:.2} or more,\n", ""));
        }
        spans.plain(
            "and otherwise hardly changes it. A long story is read in parts; there it is the score \
             of the\nsentence's part.\n",
        );
        if !self.every_sentence {
            spans.plain(&format!(
                "Shown are the {MOST_LOWERING} sentences that lower the score most and the \
                 {MOST_RAISING} that raise it most, if they change\nit by {HARDLY:.2} or more. Less is \
                 within the error of these numbers.\n",
            ));
        }
        spans.plain("\n");
        spans.0
    }
}

impl Explanation {
    /// One line per sentence: what it does to the score, and its words.
    fn weighed_sentences(&self, spans: &mut Spans) {
        if self.sentences.is_empty() {
            spans.plain("  ");
            self.passage(0, self.text.len(), 2, SpanKind::Plain, spans);
            spans.plain("\n");
        }
        let weighed = self.sentences.iter().filter(|s| s.effect.is_some()).count();
        if weighed < self.sentences.len() {
            let all = self.sentences.len();
            spans.plain(&format!(
                "  {weighed} of {all} sentences were weighed: those of the weakest windows\n"
            ));
        }
        let shown = self.shown_sentences();
        if shown.is_empty() && !self.sentences.is_empty() {
            spans.plain(&format!("  No sentence changes the score by {HARDLY:.2} or more.\n"));
        }
        for sentence in shown {
            let kind = sentence.in_words.map_or(SpanKind::Plain, SpanKind::Changes);
            let words = sentence.in_words.map_or("", Effect::words);
            let effect = sentence.effect.map_or(String::new(), signed);
            spans.plain("  ");
            spans.push(words, kind);
            spans.plain(&format!("{:blanks$}  {effect:>5}  ", "", blanks = WIDTH - words.len()));
            self.passage(sentence.start, sentence.end, WIDTH + 11, kind, spans);
            spans.plain("\n");
        }
    }

    /// The sentences that people are shown, in the order of the story: all, or the strongest of
    /// those that do not hardly change the score.
    fn shown_sentences(&self) -> Vec<&SentenceShare> {
        if self.every_sentence {
            return self.sentences.iter().collect();
        }
        let strongest = |sign: f64, most: usize| {
            let own = |sentence: &SentenceShare| sign * sentence.effect.unwrap_or_default();
            let mut found: Vec<&SentenceShare> =
                self.sentences.iter().filter(|one| two_digits(own(one)) >= HARDLY).collect();
            // Of equal ones, the first come first.
            found.sort_by(|one, two| own(two).total_cmp(&own(one)));
            found.truncate(most);
            found
        };
        let mut shown = strongest(-1.0, MOST_LOWERING);
        shown.extend(strongest(1.0, MOST_RAISING));
        shown.sort_by_key(|sentence| sentence.start);
        shown
    }

    /// Words of the story with the suggested edits, `{old -> new 80%}`. Lines after the first are
    /// indented.
    fn passage(&self, start: usize, end: usize, indent: usize, kind: SpanKind, spans: &mut Spans) {
        let mut push = |text: &str, kind: SpanKind| {
            spans.push(&text.replace('\n', &format!("\n{:indent$}", "")), kind);
        };
        let mut from = start;
        for edit in self.edits.iter().filter(|edit| edit.start >= start && edit.end <= end) {
            // Two pieces that the model read may stand for one mark of the story.
            if edit.start < from {
                continue;
            }
            push(&self.text[from..edit.start], kind);
            push("{", SpanKind::Plain);
            push(&edit.text, SpanKind::Old);
            push(" -> ", SpanKind::Plain);
            push(&edit.suggestion, SpanKind::New);
            push(&format!(" {:.0}%}}", 100.0 * edit.probability), SpanKind::Plain);
            from = edit.end;
        }
        push(&self.text[from..end], kind);
    }

    /// The pair of sentences that fits least.
    fn pair(&self, spans: &mut Spans) {
        let Some(pair) = &self.weakest_pair else { return };
        let Some([one, two]) = self.sentences.get(pair.first..pair.first + 2) else { return };
        spans.plain(&format!(
            "  No single sentence is to blame: the story as a whole does not hang together.\n  These \
             two neighbours fit least (as a story of their own they score {:.2}):\n",
            pair.score
        ));
        for sentence in [one, two] {
            spans.plain("    ");
            self.passage(
                sentence.start,
                sentence.end,
                4,
                SpanKind::Changes(Effect::LowersALot),
                spans,
            );
            spans.plain("\n");
        }
    }
}

/// Where a score stands, as a part of a sentence.
fn stands(standing: &Standing) -> String {
    let [human, machine] = [standing.above_human, standing.above_machine].map(place);
    // What both have in common is said once.
    let both = ["higher than ", "among "].into_iter().find(|verb| human.starts_with(verb));
    let machine = both.and_then(|verb| machine.strip_prefix(verb)).unwrap_or(&machine);
    format!(
        "{human} of human stories and {machine} of stories by {} of this length ({})",
        standing.machines,
        standing.lengths()
    )
}

/// The diagnoses that can be trusted, or all of them if nobody knows.
fn diagnosed(diagnosis: &Diagnosis) -> String {
    let trusted = |of: fn(&crate::Trust) -> bool| diagnosis.trusted.as_ref().is_none_or(of);
    let shown: Vec<String> = [
        ("repetition", diagnosis.repetition, trusted(|trust| trust.repetition)),
        ("incoherence", diagnosis.incoherence, trusted(|trust| trust.incoherence)),
        ("wrong order", diagnosis.wrong_order, trusted(|trust| trust.wrong_order)),
        ("contradiction", diagnosis.contradiction, trusted(|trust| trust.contradiction)),
    ]
    .into_iter()
    .filter(|(.., shown)| *shown)
    .map(|(name, probability, _)| {
        let likely = match probability {
            x if x >= LIKELY => "likely",
            x if x >= POSSIBLE => "possible",
            _ => "unlikely",
        };
        format!("{name} {likely} ({probability:.2})")
    })
    .collect();
    match (shown.is_empty(), diagnosis.trusted.is_some()) {
        (true, _) => String::new(),
        (false, true) => format!("  {}\n", shown.join(", ")),
        (false, false) => format!("  {} (not compared with readers)\n", shown.join(", ")),
    }
}

/// A change with its sign, and without one if two digits do not show it.
pub(crate) fn signed(change: f64) -> String {
    let shown = format!("{change:+.2}");
    if shown.trim_start_matches(['+', '-']) == "0.00" { "0.00".to_owned() } else { shown }
}

/// The pieces of a text for people. Neighbours of one kind become one.
#[derive(Default)]
pub(crate) struct Spans(pub Vec<Span>);

impl Spans {
    pub fn plain(&mut self, text: &str) {
        self.push(text, SpanKind::Plain);
    }

    pub fn push(&mut self, text: &str, kind: SpanKind) {
        match self.0.last_mut() {
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.0.push(Span { text: text.to_owned(), kind }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::effect_of;
    use crate::{Trust, Warning, WeakPair};

    fn shown(spans: &[Span]) -> String {
        spans.iter().map(|span| span.text.as_str()).collect()
    }

    fn explanation(text: &str, effects: &[f64]) -> Explanation {
        let mut at = 0;
        let sentence = |effect: &f64| {
            let start = at;
            let end = text[start..].find(['.', '!']).map_or(text.len(), |dot| start + dot + 1);
            at = end + 1;
            SentenceShare {
                start,
                end,
                contribution: Some(10.0 * effect),
                effect: Some(*effect),
                in_words: Some(effect_of(*effect)),
            }
        };
        Explanation {
            text: text.to_owned(),
            read_as: text.replace("Mira", "[FEMALE]"),
            union: 0.5,
            logit: 2.0,
            repetition_cost: 0.0,
            repetition_effect: 0.0,
            standing: None,
            warnings: Vec::new(),
            diagnosis: None,
            sentences: effects.iter().map(sentence).collect(),
            weakest_pair: None,
            edits: Vec::new(),
            every_sentence: true,
        }
    }

    #[test]
    fn every_part_of_an_explanation_is_shown_in_words() {
        let standing = Standing {
            above_human: 0.62,
            above_machine: 0.97,
            human_stories: 100,
            machine_stories: 100,
            machines: "models of 2018 to 2021".to_owned(),
            shortest: 0,
            longest: Some(80),
        };
        let trusted =
            Trust { repetition: true, incoherence: true, wrong_order: false, contradiction: false };
        let explanation = Explanation {
            standing: Some(standing),
            warnings: vec![Warning { kind: "poem", looks: "looks like a poem or a song" }],
            diagnosis: Some(Diagnosis {
                repetition: 0.51,
                incoherence: 0.2,
                wrong_order: 0.9,
                contradiction: 0.9,
                trusted: Some(trusted),
            }),
            repetition_effect: 0.034,
            weakest_pair: Some(WeakPair { first: 1, score: 0.03 }),
            ..explanation("Mira ran. It rained.\nA whale! She sat.", &[0.3, -0.15, -0.08, 0.0])
        };
        assert_eq!(
            shown(&explanation.spans()),
            "\
union 0.5000, higher than 62% of human stories and 97% of stories by models of 2018 to 2021 of \
this length (up to 80 words)
  Warning: the text looks like a poem or a song. The score was made for English stories.
  repetition likely (0.51), incoherence possible (0.20)
  Words that come again and again lower the score by 0.03.
  raises the score a lot     +0.30  Mira ran.
  lowers the score           -0.15  It rained.
  lowers the score a little  -0.08  A whale!
  hardly changes the score    0.00  She sat.
  No single sentence is to blame: the story as a whole does not hang together.
  These two neighbours fit least (as a story of their own they score 0.03):
    It rained.
    A whale!
"
        );
        let kinds: Vec<SpanKind> = explanation.spans().into_iter().map(|span| span.kind).collect();
        assert!(kinds.contains(&SpanKind::Warning));
        assert!(kinds.contains(&SpanKind::Changes(Effect::RaisesALot)));
    }

    /// The table of the stories has the same words.
    #[test]
    fn the_ends_are_among_the_lowest_and_highest() {
        let place = |above_human: f64, above_machine: f64| {
            let standing = Standing {
                above_human,
                above_machine,
                human_stories: 100,
                machine_stories: 100,
                machines: "models".to_owned(),
                shortest: 0,
                longest: Some(80),
            };
            let text = stands(&standing);
            text.strip_suffix(" of stories by models of this length (up to 80 words)")
                .expect("the machine stories")
                .to_owned()
        };
        let lowest = "among the lowest 1% of human stories and";
        assert_eq!(place(0.002, 0.04), format!("{lowest} higher than 4%"));
        assert_eq!(place(0.0, 0.001), format!("{lowest} the lowest 1%"));
        assert_eq!(place(0.5, 0.999), "higher than 50% of human stories and among the highest 1%");
    }

    #[test]
    fn a_diagnosis_that_nobody_compared_with_readers_says_so() {
        let diagnosis = Diagnosis {
            repetition: 0.0,
            incoherence: 0.1,
            wrong_order: 0.3,
            contradiction: 0.7,
            trusted: None,
        };
        assert_eq!(
            diagnosed(&diagnosis),
            "  repetition unlikely (0.00), incoherence unlikely (0.10), wrong order possible (0.30), \
             contradiction likely (0.70) (not compared with readers)\n"
        );
    }

    #[test]
    fn the_legend_names_the_limits_of_the_words() {
        let legend = shown(&explanation("It rained.", &[]).legend());
        assert!(
            legend.contains(
                "\n  lowers the score a lot    or raises the score a lot     if that is 0.20 or \
                 more,\n  lowers the score          or raises the score           if that is 0.10 \
                 or more,\n"
            ),
            "{legend}"
        );
        assert!(legend.lines().all(|line| line.len() <= 100), "{legend}");
        assert_eq!(effect_of(0.2), Effect::RaisesALot);
        assert_eq!(effect_of(-0.094), Effect::LowersALittle);
        // The number that is shown is -0.10, and the legend says "0.10 or more".
        assert_eq!(effect_of(-0.0951), Effect::Lowers);
    }

    #[test]
    fn only_the_strongest_sentences_are_shown_unless_all_are_asked_for() {
        let text = "A one. B two. C three. D four. E five. F six. G seven.";
        let effects = [-0.08, 0.3, -0.2, 0.01, -0.09, 0.07, -0.064];
        let short = Explanation { every_sentence: false, ..explanation(text, &effects) };
        let names = |text: &str| -> Vec<char> {
            text.lines().skip(1).filter_map(|line| line.trim().chars().nth(34)).collect()
        };
        assert_eq!(names(&shown(&short.spans())), ['A', 'B', 'C', 'E', 'F']);
        assert_eq!(names(&shown(&explanation(text, &effects).spans())).len(), 7);
        assert!(shown(&short.legend()).contains("Shown are the 3 sentences"));
        let calm = Explanation { every_sentence: false, ..explanation(text, &[0.01, -0.01]) };
        assert!(shown(&calm.spans()).contains("No sentence changes the score by 0.07 or more."));
    }

    #[test]
    fn the_lines_of_a_sentence_stand_under_each_other() {
        let explanation = explanation("The boats\ncome home. It rained.", &[0.0, 0.0]);
        assert!(
            shown(&explanation.spans()).contains(&format!("  The boats\n{:36}come home.\n", "")),
            "{}",
            shown(&explanation.spans())
        );
    }
}
