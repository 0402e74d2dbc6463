//! A plan of the least cost, by the network simplex method.
//!
//! The points are the nodes of a network, and every pair of points is an arc. A basic solution is a
//! spanning tree: only arcs of the tree carry mass. Each step takes an arc into the tree that makes
//! the plan cheaper, sends as much mass as possible around the circle that it closes, and drops an
//! arc that has become empty. When no arc makes the plan cheaper, the plan is optimal (Ahuja,
//! Magnanti and Orlin, *Network Flows*, chapter 11).

use crate::Problem;
use crate::tree::Tree;

/// How mass is moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The sum of mass times cost.
    pub cost: f64,
    /// What is moved: the point on the left, the point on the right, and the mass. There are fewer
    /// entries than points.
    pub moves: Vec<Move>,
}

/// A mass that is moved from a point to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// The point on the left.
    pub left: usize,
    /// The point on the right.
    pub right: usize,
    /// The mass.
    pub mass: f64,
}

/// Finds a plan of the least cost. If several plans have the same cost, the result is one of them,
/// always the same one for the same problem.
///
/// ```
/// use storymeter_transport::{Problem, exact};
/// let problem = Problem::uniform(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
/// assert_eq!(exact(&problem).cost, 0.0);
/// # Ok::<(), storymeter_transport::Error>(())
/// ```
pub fn exact(problem: &Problem) -> Plan {
    let mut tree = Tree::new(problem);
    while let Some(arc) = tree.price() {
        tree.pivot(arc);
    }
    let mut moves = tree.moves();
    moves.sort_unstable_by_key(|moved| (moved.left, moved.right));
    let cost = moves.iter().map(|moved| moved.mass * problem.row(moved.left)[moved.right]).sum();
    Plan { cost, moves }
}
