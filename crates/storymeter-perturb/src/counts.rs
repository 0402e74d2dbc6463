//! Counts samples, to compare what was requested with what came out.

use std::fmt;

use crate::{CheckedConfig, Perturbation, Technique, Unchanged};

/// Counts over many samples. Those of parts add up to those of the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DamageCounts {
    /// The number of samples.
    pub samples: u64,
    /// The number of samples with 1, 2, 3 and 4 techniques.
    pub by_number: [u64; 4],
    /// The number of samples for which each technique was drawn, in the order of
    /// [`Technique::ALL`].
    pub techniques: [u64; 4],
    /// The number of samples for which each technique was drawn but could change nothing.
    pub ineffective: [u64; 4],
    /// The number of edits of each technique.
    pub edits: [u64; 4],
    /// The number of samples that were drawn more than once.
    pub redrawn: u64,
    /// The number of draws without a sample, because no chosen technique could change the story.
    pub unchanged: u64,
    /// The number of stories that have only their leading context.
    pub only_context: u64,
}

impl DamageCounts {
    /// Counts one outcome.
    pub fn add(&mut self, outcome: &Result<Perturbation, Unchanged>) {
        match outcome {
            Ok(sample) => {
                self.samples += 1;
                self.by_number[sample.techniques.len() + sample.ineffective.len() - 1] += 1;
                for technique in sample.techniques.iter().chain(&sample.ineffective) {
                    self.techniques[technique.index()] += 1;
                }
                for technique in &sample.ineffective {
                    self.ineffective[technique.index()] += 1;
                }
                for edit in &sample.edits {
                    self.edits[edit.technique().index()] += 1;
                }
                self.redrawn += u64::from(sample.attempts > 1);
            }
            Err(Unchanged::NoEffect) => self.unchanged += 1,
            Err(Unchanged::OnlyContext) => self.only_context += 1,
        }
    }

    /// Adds the counts of another part of the work.
    pub fn merge(&mut self, other: &Self) {
        let add = |a: &mut [u64; 4], b: &[u64; 4]| a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
        self.samples += other.samples;
        add(&mut self.by_number, &other.by_number);
        add(&mut self.techniques, &other.techniques);
        add(&mut self.ineffective, &other.ineffective);
        add(&mut self.edits, &other.edits);
        self.redrawn += other.redrawn;
        self.unchanged += other.unchanged;
        self.only_context += other.only_context;
    }

    /// A table of the distributions: what was requested beside what came out.
    pub fn report<'a>(&'a self, config: &'a CheckedConfig) -> impl fmt::Display + 'a {
        Report { counts: self, config }
    }

    fn share(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.samples.max(1) as f64
    }
}

struct Report<'a> {
    counts: &'a DamageCounts,
    config: &'a CheckedConfig,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts;
        writeln!(f, "techniques per sample    asked for     came out")?;
        for (n, (asked, &count)) in
            self.config.expected_counts().iter().zip(&counts.by_number).enumerate()
        {
            writeln!(f, "{:<22} {:>10.2}% {:>11.2}%", n + 1, 100.0 * asked, counts.share(count))?;
        }
        writeln!(f)?;
        writeln!(f, "technique                  implied     came out   no effect   edits per use")?;
        for (technique, implied) in
            Technique::ALL.into_iter().zip(self.config.expected_techniques())
        {
            let i = technique.index();
            let effective = counts.techniques[i] - counts.ineffective[i];
            writeln!(
                f,
                "{technique:<22} {:>10.2}% {:>11.2}% {:>10.2}% {:>15.2}",
                100.0 * implied,
                counts.share(counts.techniques[i]),
                counts.share(counts.ineffective[i]),
                counts.edits[i] as f64 / effective.max(1) as f64,
            )?;
        }
        writeln!(f)?;
        writeln!(f, "samples       {:>10}", counts.samples)?;
        writeln!(f, "redrawn       {:>10}", counts.redrawn)?;
        writeln!(f, "not changed   {:>10}", counts.unchanged)?;
        write!(f, "only context  {:>10}", counts.only_context)
    }
}
