//! The loss of preferences: of two stories of one item, the preferred one must have the larger
//! output.
//!
//! Where people compared stories, a number per story says only which of them they preferred: ranks
//! of two items cannot be compared. So the model learns the differences (Bradley and Terry 1952). A
//! pair costs `ln(1 + exp(-(better - worse)))`, and a story as much as a rated one on average.

use storymeter_encoder::train::HostLoss;

/// The stories of one item, which were compared with each other.
#[derive(Default)]
pub(super) struct Compared<'a> {
    /// For each story its windows: the number of the vector, and its share in the story.
    pub stories: Vec<Vec<(usize, f32)>>,
    /// For each story, what was said about it for each head.
    pub targets: Vec<&'a [Option<f32>]>,
    /// How much a story weighs.
    pub weight: f32,
}

/// The loss of the outputs of `heads` heads for all vectors of a batch.
pub(super) fn loss(outputs: &[f32], heads: usize, items: &[Compared<'_>]) -> HostLoss {
    let mut found =
        HostLoss { losses: vec![0.0; outputs.len()], gradients: vec![0.0; outputs.len()] };
    for item in items {
        for head in 0..heads {
            add(&mut found, outputs, (heads, head), item);
        }
    }
    found
}

fn add(found: &mut HostLoss, outputs: &[f32], (heads, head): (usize, usize), item: &Compared<'_>) {
    let place = |vector: usize| vector * heads + head;
    let output = |story: usize| -> f32 {
        item.stories[story].iter().map(|(vector, share)| share * outputs[place(*vector)]).sum()
    };
    let target = |story: usize| item.targets[story][head];
    let count = item.stories.len();
    let all = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
    let pairs: Vec<(usize, usize)> = all
        .filter(|(better, worse)| {
            matches!((target(*better), target(*worse)), (Some(b), Some(w)) if b > w)
        })
        .collect();
    // A story with few criteria counts as much as one with many.
    let criteria = item.targets.iter().map(|own| own.iter().flatten().count()).max();
    let share = item.weight * count as f32
        / (pairs.len().max(1) as f32 * criteria.unwrap_or(1).max(1) as f32);
    for (better, worse) in pairs {
        let margin = output(better) - output(worse);
        // ln(1 + exp(-margin)), which must not overflow.
        let cost = (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
        let slope = share / (1.0 + margin.exp());
        for (story, sign) in [(better, -1.0), (worse, 1.0)] {
            for (vector, part) in &item.stories[story] {
                found.gradients[place(*vector)] += sign * slope * part;
            }
        }
        if let Some((vector, _)) = item.stories[better].first() {
            found.losses[place(*vector)] += share * cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three stories, the second in two windows, and two heads. Nobody said anything about the
    /// third story for the second head.
    fn example() -> (Vec<f32>, Vec<[Option<f32>; 2]>) {
        let outputs = vec![0.3, -0.2, 0.9, 0.1, -0.4, 0.8, 0.5, 0.6];
        let said = vec![[Some(3.0), Some(1.0)], [Some(1.0), Some(2.0)], [Some(2.0), None]];
        (outputs, said)
    }

    fn compared(said: &[[Option<f32>; 2]]) -> [Compared<'_>; 1] {
        [Compared {
            stories: vec![vec![(0, 1.0)], vec![(1, 0.75), (2, 0.25)], vec![(3, 1.0)]],
            targets: said.iter().map(|own| &own[..]).collect(),
            weight: 0.5,
        }]
    }

    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        let (outputs, said) = example();
        let items = compared(&said);
        let total = |outputs: &[f32]| -> f64 {
            loss(outputs, 2, &items).losses.iter().map(|loss| f64::from(*loss)).sum()
        };
        let found = loss(&outputs, 2, &items);
        for (place, gradient) in found.gradients.iter().enumerate() {
            let at = |step: f32| {
                let mut moved = outputs.clone();
                moved[place] += step;
                total(&moved)
            };
            let slope = (at(0.01) - at(-0.01)) / 0.02;
            assert!((slope - f64::from(*gradient)).abs() < 1e-3, "{place}: {slope} {gradient}");
        }
    }

    #[test]
    fn only_differences_inside_an_item_count() {
        let (outputs, said) = example();
        let items = compared(&said);
        let moved: Vec<f32> = outputs.iter().map(|output| output + 7.0).collect();
        let (here, there) = (loss(&outputs, 2, &items), loss(&moved, 2, &items));
        let sum = |found: &HostLoss| found.losses.iter().sum::<f32>();
        assert!((sum(&here) - sum(&there)).abs() < 1e-5);
        // Far apart in the right order costs nothing, in the wrong order about the distance.
        let far = |first: f32, second: f32| {
            let said = [[Some(2.0)], [Some(1.0)]];
            let item = Compared {
                stories: vec![vec![(0, 1.0)], vec![(1, 1.0)]],
                targets: said.iter().map(|own| &own[..]).collect(),
                weight: 0.5,
            };
            sum(&loss(&[first, second], 1, &[item]))
        };
        assert!(far(100.0, -100.0) < 1e-6);
        assert!((far(-100.0, 100.0) - 200.0).abs() < 1e-3);
    }
}
