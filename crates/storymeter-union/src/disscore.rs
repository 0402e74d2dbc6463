//! `disscore`: how likely a human wrote the story, and not a machine.
//!
//! The judge is a discriminator: a model that was trained to tell human stories from stories that
//! machines wrote (Kannan and Vinyals, 2017). It is a baseline in Table 5 of the UNION paper (Guan
//! and Huang, EMNLP 2020), where it hardly agrees with readers: it learns the habits of the
//! machines that it saw, and not what makes a story good. On ROCStories its Pearson, Spearman and
//! Kendall correlations with readers are 0.041, 0.063 and 0.046 there.
//!
//! Definition: an encoder of the BERT family reads `[CLS] story [SEP]`, and a linear layer on the
//! vector of the story gives a logit. The score is the sigmoid of the logit divided by a
//! temperature that was fitted on held-out stories.
//!
//! Needs: the story. Long stories are read in windows, as by the metric `union`.
//!
//! Model: a folder that `storymeter train --kind disscore` wrote, or a model file packed from it.
//! There is no published model of this metric.
//!
//! Direction: higher is better. Range: 0 to 1.

use storymeter_core::{Direction, Entry, Needs, Range};

use crate::Kind;
use crate::metric::{HumanScore, open};

/// The entry of the metric `disscore` in the catalogue.
///
/// Its model is the one that [`Settings::weights`](storymeter_core::Settings::weights) names under
/// `disscore`.
pub static ENTRY: Entry = Entry {
    ids: &["disscore"],
    choices: &[],
    direction: Direction::Higher,
    range: Range::UNIT,
    needs: Needs::STORY,
    source: include_str!("disscore.rs"),
    build: |request| {
        let scorer = open(request, Kind::DisScore)?;
        let description = request.describe().in_batches().signature(scorer.signature());
        Ok(Box::new(HumanScore { scorer, description }))
    },
};
