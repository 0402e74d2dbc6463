//! What is worth a word after a run.

use crate::Run;

impl Run {
    /// How many stories are empty, were read only in part, or have no value: one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let stories = self.ledger().len();
        let mut notes = Vec::new();
        if self.empty_stories() > 0 {
            let empty = self.empty_stories();
            notes.push(format!("{empty} of {stories} stories have no text; they are scored too"));
        }
        let mut told: Vec<&str> = Vec::new();
        let columns = self.columns();
        for column in &columns {
            let metric = column.key.metric();
            if told.contains(&metric) {
                continue;
            }
            told.push(metric);
            if column.counts.truncated > 0 {
                let cut = column.counts.truncated;
                notes.push(format!("{metric}: of {cut} of {stories} stories only a part was read"));
            }
            if column.counts.absent > 0 {
                let absent = column.counts.absent;
                notes.push(format!("{metric}: {absent} of {stories} stories have no value"));
            }
        }
        notes
    }

    /// A note about texts that do not look like English stories, if there are any.
    pub fn unlike_note(&self) -> Option<String> {
        self.unlike.note(&self.learned(), self.ledger().len())
    }
}
