//! What must hold for every transport problem.

use proptest::prelude::*;
use storymeter_transport::sinkhorn::{Settings, in_logarithms};
use storymeter_transport::{Error, Problem, exact};

/// Masses and costs with many ties, which is where the simplex method can go round in circles.
fn problems() -> impl Strategy<Value = Problem> {
    (1..12_usize, 1..12_usize).prop_flat_map(|(n, m)| {
        let masses = |count| {
            prop::collection::vec((0..4_u32).prop_map(f64::from), count)
                .prop_filter("some mass", |masses| masses.iter().any(|mass| *mass > 0.0))
        };
        let costs = prop::collection::vec((0..5_u32).prop_map(f64::from), n * m);
        (masses(n), masses(m), costs)
            .prop_map(|(left, right, costs)| Problem::new(&left, &right, costs).unwrap())
    })
}

/// The least cost by trying all orders of equally heavy points.
fn by_trying(costs: &[f64], n: usize, row: usize, used: u32) -> f64 {
    if row == n {
        return 0.0;
    }
    let free = (0..n).filter(|at| used >> at & 1 == 0);
    let costs = free.map(|at| costs[row * n + at] + by_trying(costs, n, row + 1, used | 1 << at));
    costs.fold(f64::INFINITY, f64::min)
}

proptest! {
    #[test]
    fn a_plan_moves_all_masses_and_costs_what_it_says(problem in problems()) {
        let plan = exact(&problem);
        let (mut left, mut right) = (problem.left().to_vec(), problem.right().to_vec());
        let mut cost = 0.0;
        for moved in &plan.moves {
            prop_assert!(moved.mass > 0.0);
            left[moved.left] -= moved.mass;
            right[moved.right] -= moved.mass;
            cost += moved.mass * problem.row(moved.left)[moved.right];
        }
        prop_assert!(left.iter().chain(&right).all(|rest| rest.abs() < 1e-12));
        prop_assert!((cost - plan.cost).abs() < 1e-12);
        prop_assert!(plan.moves.len() < left.len() + right.len());
    }

    #[test]
    fn no_order_of_points_is_cheaper(
        (n, costs) in (1..7_usize).prop_flat_map(|n| {
            (Just(n), prop::collection::vec((0..7_u32).prop_map(f64::from), n * n))
        })
    ) {
        let plan = exact(&Problem::uniform(n, n, costs.clone()).unwrap());
        let least = by_trying(&costs, n, 0, 0) / n as f64;
        prop_assert!((plan.cost - least).abs() < 1e-12, "{} instead of {least}", plan.cost);
    }

    #[test]
    fn entropy_never_makes_a_plan_cheaper(problem in problems()) {
        let entropic = in_logarithms(&problem, &Settings::new(0.05));
        prop_assert!(entropic.cost.is_finite());
        if entropic.converged {
            prop_assert!(entropic.cost >= exact(&problem).cost - 1e-8);
        }
    }
}

#[test]
fn what_is_no_problem_is_refused() {
    assert_eq!(Problem::new(&[0.0], &[1.0], vec![1.0]), Err(Error::NoMass));
    assert_eq!(Problem::new(&[], &[1.0], vec![]), Err(Error::NoMass));
    assert_eq!(Problem::new(&[-1.0], &[1.0], vec![1.0]), Err(Error::BadMass(-1.0)));
    assert!(matches!(Problem::new(&[1.0], &[1.0], vec![f64::NAN]), Err(Error::BadCost(_))));
    assert!(matches!(Problem::new(&[1.0], &[1.0], vec![]), Err(Error::Shape { .. })));
}
