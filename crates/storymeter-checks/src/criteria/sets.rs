//! The nine rated sets, with the ids that `recipes/criteria/rated_sets.py` gives to their stories.

use storymeter::core::Story;

use crate::Result;
use crate::evaluate::{Rated, hanna, hanna_machine, is_machine_story, other, union_roc};

/// A rated set, of which some stories may not be judged.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// The stories that predictions are compared with, and their ratings.
    pub set: Rated,
    /// Stories that models are trained on and that are left out of every figure: those that people
    /// wrote for HANNA's prompts. With them, a metric would only have to tell people from machines.
    pub aside: Vec<Story>,
}

impl Judged {
    /// All stories of a set.
    pub fn whole(set: Rated) -> Self {
        Self { set, aside: Vec::new() }
    }
}

/// Reads the nine sets: HANNA, the ROC stories of UNION's authors, and the seven smaller studies.
///
/// # Errors
/// If the shared data is absent or does not have its layout.
pub fn nine_sets() -> Result<Vec<Judged>> {
    let aside = hanna()?.stories.into_iter().filter(|story| !is_machine_story(story)).collect();
    let mut sets = vec![Judged { set: hanna_machine()?, aside }, Judged::whole(roc_stories()?)];
    sets.extend(other()?.into_iter().map(Judged::whole));
    Ok(sets)
}

fn roc_stories() -> Result<Rated> {
    let name = "union_roc".to_owned();
    let found = union_roc()?;
    let named = |story: Story| {
        let item = Some(story.id.clone());
        Story { id: format!("{name}-{}", story.id), item, ..story }
    };
    let stories = found.stories.into_iter().map(named).collect();
    Ok(Rated { stories, criteria: vec![("score".to_owned(), found.human)], name })
}
