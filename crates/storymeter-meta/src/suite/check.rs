//! Whether the parts of a result fit together.
//!
//! A result that [`analyse`](super::analyse) made always does. One that was read from a file may
//! have been edited, and whoever shows it looks up one part by the positions of another.

use storymeter_core::{Aspect, Key};

use super::{Pairing, SuiteCell, SuiteResult};

/// What is wrong with a result.
type Check = Result<(), String>;

impl SuiteResult {
    /// Checks that there is one cell per metric and aspect, that aspects stand in their order and
    /// only once, and that numbers are possible.
    pub(super) fn check(&self) -> Check {
        let tested = self.aspects.iter().map(|own| own.aspect);
        ascends("aspects", tested.clone())?;
        ascends("missing", self.missing.iter().map(|own| own.aspect))?;
        if let Some(both) = self.missing.iter().find(|own| self.summary(own.aspect).is_some()) {
            return Err(format!("\"missing\": {} is also among the aspects", both.aspect));
        }
        let confidence = self.method.confidence;
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(format!("\"confidence\" is {confidence}, must be between 0 and 1"));
        }
        for own in &self.aspects {
            let pairs = if own.pairing == Pairing::Paired { own.twins } else { 0 };
            let paired = own.pairing == Pairing::Unpaired || own.originals == own.twins;
            if own.test != own.aspect.test() || own.pairs != pairs || !paired {
                return Err(format!("\"aspects\": the numbers of {} do not fit", own.aspect));
            }
        }
        let mut keys: Vec<&Key> = self.metrics.iter().map(|column| &column.key).collect();
        keys.sort();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("\"metrics\": a metric is there twice".to_owned());
        }
        let metrics = self.metrics.iter().map(|column| &column.key);
        let expected = metrics.flat_map(|key| tested.clone().map(move |aspect| (key, aspect)));
        if !self.cells.iter().map(|cell| (&cell.metric, cell.aspect)).eq(expected) {
            return Err(
                "\"cells\": there is not one for each metric and aspect, in their order".to_owned()
            );
        }
        if !self.constant.iter().map(|cell| cell.aspect).eq(tested) {
            return Err("\"constant\": there is not one for each aspect, in their order".to_owned());
        }
        self.cells.iter().chain(&self.constant).try_for_each(check_cell)?;
        let known = |key: &Key| self.metrics.iter().any(|column| column.key == *key);
        match self.examples.iter().flat_map(|example| &example.scores).find(|s| !known(&s.metric)) {
            None => Ok(()),
            Some(_) => Err("\"examples\": a score is of a metric that is not there".to_owned()),
        }
    }
}

fn ascends(what: &str, aspects: impl Iterator<Item = Aspect>) -> Check {
    let aspects: Vec<Aspect> = aspects.collect();
    match aspects.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(()),
        false => Err(format!("\"{what}\": the aspects are not in their order, each once")),
    }
}

fn check_cell(cell: &SuiteCell) -> Check {
    let here = |what: &str| format!("\"cells\": {what} of {} does not fit", cell.aspect);
    if cell.test != cell.aspect.test() {
        return Err(here("the test"));
    }
    if cell.pairs > 0 && (cell.pairs, cell.pairs) != (cell.originals, cell.twins) {
        return Err(here("the number of pairs"));
    }
    for (name, value) in SuiteCell::NUMBERS.into_iter().zip(cell.numbers()) {
        let range = match name {
            "auc" | "right_order" | "ties" | "p_r" => 0.0..=1.0,
            "r" => -1.0..=1.0,
            "sd" => 0.0..=f64::MAX,
            _ => f64::MIN..=f64::MAX,
        };
        if value.as_ref().is_ok_and(|value| !range.contains(value)) {
            return Err(here(&format!("\"{name}\"")));
        }
    }
    Ok(())
}
