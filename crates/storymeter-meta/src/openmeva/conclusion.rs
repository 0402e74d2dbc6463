//! What the tasks say about each metric, in one sentence.

use storymeter_core::Key;

use super::tasks::{HumanTasks, StorySet};
use crate::study::{Agreement, Estimate};
use crate::view::{joined, p_value, short};

/// The star of the paper: a p-value below 0.01.
pub(super) const SIGNIFICANT: f64 = 0.01;

/// What a correlation means.
#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    Agrees,
    Contradicts,
    Unclear,
    None,
}

/// Whether a correlation is significant.
pub(super) fn is_significant(estimate: &Estimate) -> bool {
    estimate.p_value.is_some_and(|p| p < SIGNIFICANT)
}

fn meaning(one: &Agreement) -> Meaning {
    match &one.value {
        Err(_) => Meaning::None,
        Ok(estimate) if !is_significant(estimate) => Meaning::Unclear,
        Ok(estimate) if estimate.value > 0.0 => Meaning::Agrees,
        Ok(_) => Meaning::Contradicts,
    }
}

impl HumanTasks {
    /// What the tasks say about each metric, in one sentence.
    ///
    /// Names stand in it as they are in the data, at most 60 characters of each. Whoever shows the
    /// sentence on a terminal or a page must escape it.
    pub fn conclusions(&self) -> Vec<(Key, String)> {
        let metrics = self.across_datasets.rows.iter().map(|row| &row.metric);
        metrics.map(|metric| (metric.clone(), self.conclusion(metric))).collect()
    }

    fn conclusion(&self, metric: &Key) -> String {
        let found: Vec<(&str, &Agreement)> = self
            .overall
            .iter()
            .flat_map(|one| one.metrics.iter().map(move |own| (one.dataset.as_str(), own)))
            .filter(|(_, own)| own.metric == *metric)
            .filter_map(|(dataset, own)| Some((dataset, own.pearson()?)))
            .collect();
        let mut parts = Vec::new();
        for (wanted, claim) in [
            (Meaning::Agrees, "agrees with people"),
            (Meaning::Contradicts, "contradicts people"),
            (Meaning::Unclear, "shows no clear agreement with people"),
            (Meaning::None, "cannot be compared with people"),
        ] {
            let here = found.iter().filter(|(_, one)| meaning(one) == wanted);
            let places: Vec<String> = here.map(|(dataset, one)| place(dataset, one)).collect();
            if !places.is_empty() {
                parts.push(format!("{claim} {}", joined(&places)));
            }
        }
        let mut sentence = format!("{} {}", short(metric.as_str()), joined(&parts));
        sentence.extend(self.inside(metric));
        sentence.extend(self.errors(metric));
        sentence.push('.');
        sentence
    }

    /// In how many generators the metric agrees with people.
    fn inside(&self, metric: &Key) -> Option<String> {
        let sets = self.inside_generators.iter().filter_map(|one| one.sets.as_ref().ok()).flatten();
        let defined = |one: &&Agreement| one.value.is_ok();
        let found: Vec<&Agreement> =
            sets.filter_map(|set| pearson(set, metric)).filter(defined).collect();
        let agrees = found.iter().filter(|one| meaning(one) == Meaning::Agrees).count();
        match found.len() {
            0 => None,
            1 if agrees == 1 => Some("; inside the only generator it agrees too".to_owned()),
            1 => Some("; inside the only generator it does not agree clearly".to_owned()),
            all if agrees == all => Some(format!("; it agrees inside each of {all} generators")),
            all => Some(format!("; inside one generator it agrees for {agrees} of {all}")),
        }
    }

    /// The error types that the metric sees best and least.
    fn errors(&self, metric: &Key) -> Option<String> {
        let several = self.by_error_type.len() > 1;
        let mut found: Vec<(String, f64)> = Vec::new();
        for one in &self.by_error_type {
            for set in one.sets.iter().flatten() {
                let Some(Ok(estimate)) = pearson(set, metric).map(|found| &found.value) else {
                    continue;
                };
                let place =
                    if several { format!(" on {}", short(&one.dataset)) } else { String::new() };
                found.push((format!("{}{place}", short(&set.name)), estimate.value));
            }
        }
        let best = found.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let least = found.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let shown = |(name, r): &(String, f64)| format!("{name} (r = {r:.3})");
        (found.len() > 1).then(|| {
            let (best, least) = (shown(best), shown(least));
            format!("; of the error types it sees {best} best and {least} least")
        })
    }
}

/// The Pearson correlation of a metric on a set.
fn pearson<'a>(set: &'a StorySet, metric: &Key) -> Option<&'a Agreement> {
    set.metrics.iter().find(|own| own.metric == *metric)?.pearson()
}

/// "on roc (r = 0.412, p < 0.001, n = 1000)".
fn place(dataset: &str, one: &Agreement) -> String {
    let dataset = short(dataset);
    match &one.value {
        Err(reason) => format!("on {dataset} ({reason})"),
        Ok(Estimate { value, p_value: p, .. }) => {
            let p = p.map_or(String::new(), |p| format!(", {}", p_value(p)));
            format!("on {dataset} (r = {value:.3}{p}, n = {})", one.n)
        }
    }
}
