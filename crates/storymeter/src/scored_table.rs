//! Stories in, a score table out.

use std::path::PathBuf;
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Place, Progress, Row, ScoreTable, Story, Value};

use crate::input::Inputs;
use crate::run::Run;
use crate::{ReadyScorer, Result, Scored};

/// How many stories are scored together by [`ReadyScorer::run`].
const BATCH: usize = 1024;

/// The scores of stories in memory, and what is known about all of them.
pub struct ScoredTable {
    /// The scores, with the ratings of the stories and, if the scorer explains its scores, with
    /// the explanations.
    pub table: Arc<ScoreTable>,
    /// By story: the number of its record in the input.
    pub numbers: Vec<u64>,
    /// What is known about all stories.
    pub run: Run,
    /// The files that the stories and references came from. None of them is overwritten.
    pub(crate) sources: Vec<PathBuf>,
}

/// The rows and columns of a table that grows.
#[derive(Default)]
struct Growing {
    rows: Vec<Row>,
    numbers: Vec<u64>,
    values: Vec<Vec<Value>>,
}

impl Growing {
    fn add(&mut self, Scored { records, checks, batch, rationales }: Scored) {
        let mut explanations =
            rationales.iter().map(|one| one.as_ref().map(|rationale| rationale.to_json()));
        let records = records.into_iter().zip(checks).enumerate();
        for (at, (Record { story, number, .. }, check)) in records {
            self.values.resize(batch.values(at).len(), Vec::new());
            for (column, value) in self.values.iter_mut().zip(batch.values(at)) {
                column.push(value.clone());
            }
            self.numbers.push(number);
            self.rows.push(Row {
                item: story.item().to_owned(),
                id: story.id,
                system: story.system,
                ratings: story.ratings,
                words: Some(check.words),
                flags: check.names(),
                explanation: explanations.next().flatten(),
                ..Row::default()
            });
        }
    }

    fn table(mut self, run: &Run) -> (ScoreTable, Vec<u64>) {
        let columns = run.columns();
        self.values.resize(columns.len(), Vec::new());
        let mut table = ScoreTable::new(self.rows);
        columns.into_iter().zip(self.values).for_each(|(column, one)| table.push(column, one));
        (table, self.numbers)
    }
}

impl ReadyScorer {
    /// Scores stories that are in memory. If the scorer explains its scores, the explanations are
    /// in the rows of the table ([`Row::explanation`]).
    ///
    /// # Errors
    /// Returns an error if a metric fails, or a story lacks what a metric needs.
    pub fn run<I>(&self, stories: I) -> Result<ScoreTable>
    where
        I: IntoIterator,
        I::Item: Into<Story>,
    {
        let record = |(number, story): (u64, I::Item)| {
            let mut story: Story = story.into();
            if story.id.is_empty() {
                story.id = number.to_string();
            }
            Record { story, number, place: Place::file(format!("story {number}")) }
        };
        let records: Vec<Record> = (0..).zip(stories).map(record).collect();
        let metrics = self.metrics_on(&records)?;
        let mut records = records.into_iter();
        let batches = std::iter::from_fn(|| {
            let batch: Vec<Record> = records.by_ref().take(BATCH).collect();
            (!batch.is_empty()).then_some(Ok(batch))
        });
        let mut growing = Growing::default();
        let unseen = Progress::unwatched();
        let run =
            self.score_batches(&metrics, batches, &unseen, &|_| Ok(None), &mut |scored, _| {
                growing.add(scored);
                Ok(())
            })?;
        Ok(growing.table(&run).0)
    }

    /// Scores the stories of inputs, and keeps the scores of every story. `progress` hears how many
    /// stories are scored.
    ///
    /// ```
    /// use storymeter::Progress;
    /// use storymeter::input::{Inputs, ReadOptions};
    ///
    /// let scorer = storymeter::Scorer::new().metrics(["text-length"]).build()?;
    /// let texts = ["Rain fell.", "The lamp went out."].map(str::to_owned);
    /// let inputs = Inputs::texts(texts.to_vec(), ReadOptions::default());
    /// let scored = scorer.table(&inputs, &Progress::unwatched())?;
    /// assert_eq!(scored.table.column("text-length")?.values(), [Ok(3.0), Ok(5.0)]);
    /// assert!(String::from_utf8_lossy(&scored.json_lines()?).starts_with(r#"{"id":"0","#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`ReadyScorer::write_scores`].
    pub fn table(&self, inputs: &Inputs, progress: &Progress) -> Result<ScoredTable> {
        let mut growing = Growing::default();
        let run = self.score_inputs(inputs, progress, &|_| Ok(None), &mut |scored, _| {
            growing.add(scored);
            Ok(())
        })?;
        let (table, numbers) = growing.table(&run);
        let sources = inputs.files().map(PathBuf::from).collect();
        Ok(ScoredTable { table: Arc::new(table), numbers, run, sources })
    }
}
