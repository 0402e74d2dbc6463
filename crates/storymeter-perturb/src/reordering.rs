//! Reordering: cause after effect.
//!
//! The paper: "we randomly reorder the sentences in a story to create negative stories with conflicting plot."

use crate::Technique::Reordering;
use crate::draft::Draft;
use crate::draw::Draw;

/// A random order of all sentences but the leading context.
pub fn paper(draft: &mut Draft, draw: &mut Draw) -> bool {
    let slots: Vec<usize> = draft.open().collect();
    shuffle(draft, draw, &slots)
}

/// As the released code does it: of the L - 1 sentences after the context, 2 to L - 1 change places.
pub fn released_code(draft: &mut Draft, draw: &mut Draw) -> bool {
    let open = draft.open();
    let count = draw.between(2, draft.length_with_context() - 1);
    let mut slots: Vec<usize> =
        draw.distinct(open.len(), count).into_iter().map(|i| i + open.start).collect();
    slots.sort_unstable();
    shuffle(draft, draw, &slots)
}

/// Shuffles the contents of these places until the story reads differently, ten times at most.
fn shuffle(draft: &mut Draft, draw: &mut Draw, slots: &[usize]) -> bool {
    let contents: Vec<String> = slots.iter().map(|&slot| draft.sentence(slot).to_owned()).collect();
    let mut order: Vec<usize> = (0..slots.len()).collect();
    for _ in 0..10 {
        draw.shuffle(&mut order);
        if order.iter().enumerate().any(|(to, &from)| contents[to] != contents[from]) {
            return rearrange(draft, slots, &order);
        }
    }
    false
}

/// Gives each place the content of another: `slots[i]` gets what `slots[order[i]]` holds now.
pub fn rearrange(draft: &mut Draft, slots: &[usize], order: &[usize]) -> bool {
    let contents: Vec<String> = slots.iter().map(|&slot| draft.sentence(slot).to_owned()).collect();
    let sources: Vec<usize> = order.iter().map(|&from| slots[from]).collect();
    draft.permute_touched(slots, &sources);
    let changes =
        slots.iter().zip(order).map(|(&slot, &from)| draft.putting(slot, &contents[from])).collect();
    draft.replace_all(Reordering, changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::Story;

    #[test]
    fn sentences_change_places_and_the_first_stays() {
        let story = Story { text: "A came. B sat. C ran. D left".into(), ..Story::default() };
        let mut draft = Draft::new(&story);
        assert!(rearrange(&mut draft, &[1, 2, 3], &[2, 0, 1]));
        // A sentence without a final mark gets one where another follows.
        assert_eq!(draft.text(), "A came. D left. B sat. C ran.");
        let (text, edits) = draft.finish();
        assert_eq!(crate::undo(&text, &edits).unwrap(), story.text);
    }
}
