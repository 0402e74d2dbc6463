//! The spanning tree of the network simplex method.
//!
//! Beside the points there is a root, which every point is tied to at first by an arc so dear that
//! the optimal plan does not use it. Of several arcs that become empty in one step, the last one
//! leaves the tree, counted along the circle from the node nearest to the root (the rule of
//! Cunningham). This keeps every tree such that a little mass could be sent from each node to the
//! root, and no sequence of steps comes back to the same tree.

use crate::Problem;
use crate::exact::Move;

/// No node.
const NONE: u32 = u32::MAX;

/// The tree, and the search for arcs that improve it.
pub(crate) struct Tree<'a> {
    problem: &'a Problem,
    /// Points with mass, by their numbers in the problem: those on the left, then those on the
    /// right. Node numbers are positions in this list; the root comes after the last.
    points: Vec<u32>,
    /// The number of nodes on the left.
    left: usize,
    nodes: Vec<Node>,
    /// The price of a unit of mass at each node. On the arcs of the tree, the difference of the
    /// prices is the cost.
    prices: Vec<f64>,
    /// Prices that differ by less are equal. It covers the rounding of the largest price.
    tolerance: f64,
    /// Where the search for an arc continues.
    next_row: usize,
}

/// A node and the arc to its parent.
#[derive(Clone)]
struct Node {
    parent: u32,
    depth: u32,
    first_child: u32,
    next: u32,
    previous: u32,
    /// Whether the arc leads from this node to its parent.
    upwards: bool,
    cost: f64,
    /// The mass on the arc.
    mass: f64,
}

/// An arc from a node on the left to a node on the right that is not in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arc {
    from: usize,
    to: usize,
    cost: f64,
}

impl<'a> Tree<'a> {
    /// The first tree, in which all mass goes over the root. Points without mass are left out.
    pub(crate) fn new(problem: &'a Problem) -> Self {
        let with_mass = |masses: &[f64]| -> Vec<u32> {
            (0..masses.len()).filter(|at| masses[*at] > 0.0).map(|at| at as u32).collect()
        };
        let mut points = with_mass(problem.left());
        let left = points.len();
        points.extend(with_mass(problem.right()));
        let root = points.len();
        let dearest = points[..left]
            .iter()
            .flat_map(|point| problem.row(*point as usize))
            .fold(0.0, |most: f64, cost| most.max(*cost));
        // No path has more arcs than there are nodes.
        let dear = if dearest > 0.0 { dearest * (root + 1) as f64 } else { 1.0 };
        let mut nodes = Vec::with_capacity(root + 1);
        let mut prices = Vec::with_capacity(root + 1);
        for (node, point) in points.iter().enumerate() {
            let upwards = node < left;
            let masses = if upwards { problem.left() } else { problem.right() };
            nodes.push(Node {
                parent: root as u32,
                depth: 1,
                first_child: NONE,
                next: if node + 1 < root { node as u32 + 1 } else { NONE },
                previous: if node > 0 { node as u32 - 1 } else { NONE },
                upwards,
                cost: dear,
                mass: masses[*point as usize],
            });
            prices.push(if upwards { -dear } else { dear });
        }
        let alone = Node {
            parent: NONE,
            depth: 0,
            first_child: 0,
            next: NONE,
            previous: NONE,
            upwards: true,
            cost: 0.0,
            mass: 0.0,
        };
        nodes.push(alone);
        prices.push(0.0);
        let tolerance = 4.0 * f64::EPSILON * dear;
        Self { problem, points, left, nodes, prices, tolerance, next_row: 0 }
    }

    /// An arc that makes the plan cheaper; `None` if the plan is optimal.
    ///
    /// Rows are searched in turn, and the best arc of the first few rows that have any is taken.
    /// Looking at all rows each time would save steps, but costs more than it saves.
    pub(crate) fn price(&mut self) -> Option<Arc> {
        let rows_at_once = (self.left as f64).sqrt().ceil() as usize;
        let mut best: Option<(f64, Arc)> = None;
        for searched in 1..=self.left {
            let row = self.next_row;
            self.next_row = (row + 1) % self.left;
            if let Some((gain, arc)) = self.best_of_row(row)
                && best.is_none_or(|(most, _)| gain > most)
            {
                best = Some((gain, arc));
            }
            if searched % rows_at_once == 0 && best.is_some() {
                break;
            }
        }
        best.map(|(_, arc)| arc)
    }

    fn best_of_row(&self, from: usize) -> Option<(f64, Arc)> {
        let costs = self.problem.row(self.points[from] as usize);
        let (rights, root) = (&self.points[self.left..], self.points.len());
        let own = self.prices[from];
        let gains = rights
            .iter()
            .zip(&self.prices[self.left..root])
            .map(|(right, price)| price - own - costs[*right as usize]);
        let mut best = (self.tolerance, NONE);
        for (at, gain) in gains.enumerate() {
            if gain > best.0 {
                best = (gain, at as u32);
            }
        }
        let (gain, at) = best;
        (at != NONE).then(|| {
            let to = self.left + at as usize;
            (gain, Arc { from, to, cost: costs[self.points[to] as usize] })
        })
    }

    /// Takes an arc into the tree, moves mass around the circle, and drops an arc that is empty.
    pub(crate) fn pivot(&mut self, arc: Arc) {
        let top = self.common_ancestor(arc.from, arc.to);
        // Mass flows from the top down to `from`, over the new arc, and from `to` up to the top.
        // On the way down, arcs that lead upwards lose mass, and on the way up those that lead
        // downwards do.
        let (mut most, mut leaving, mut on_the_way_down) = (f64::INFINITY, NONE, true);
        self.climb(arc.from, top, |number, node| {
            if node.upwards && node.mass < most {
                (most, leaving) = (node.mass, number);
            }
        });
        self.climb(arc.to, top, |number, node| {
            if !node.upwards && node.mass <= most {
                (most, leaving, on_the_way_down) = (node.mass, number, false);
            }
        });
        self.move_mass(arc.from, top, most, true);
        self.move_mass(arc.to, top, most, false);
        let (inside, outside) =
            if on_the_way_down { (arc.from, arc.to) } else { (arc.to, arc.from) };
        self.hang((inside, outside), leaving as usize, (arc.cost, most));
        self.renew(inside);
    }

    fn common_ancestor(&self, a: usize, b: usize) -> usize {
        let (mut a, mut b) = (a, b);
        while a != b {
            if self.nodes[a].depth >= self.nodes[b].depth {
                a = self.nodes[a].parent as usize;
            } else {
                b = self.nodes[b].parent as usize;
            }
        }
        a
    }

    fn climb(&self, from: usize, top: usize, mut visit: impl FnMut(u32, &Node)) {
        let mut at = from;
        while at != top {
            visit(at as u32, &self.nodes[at]);
            at = self.nodes[at].parent as usize;
        }
    }

    /// Sends mass along the path between a node and the top of the circle.
    fn move_mass(&mut self, from: usize, top: usize, mass: f64, down: bool) {
        let mut at = from;
        while at != top {
            let node = &mut self.nodes[at];
            node.mass += if node.upwards == down { -mass } else { mass };
            at = node.parent as usize;
        }
    }

    /// Cuts the arc above `leaving`, and hangs its subtree by the node `inside` below `outside`, by
    /// an arc of this cost and mass.
    fn hang(&mut self, (inside, outside): (usize, usize), leaving: usize, arc: (f64, f64)) {
        let (mut at, mut parent) = (inside, outside);
        let mut arc = (inside < self.left, arc.0, arc.1);
        loop {
            let above = self.nodes[at].parent as usize;
            self.detach(at);
            let node = &mut self.nodes[at];
            let old = (node.upwards, node.cost, node.mass);
            (node.upwards, node.cost, node.mass) = arc;
            self.attach(at, parent);
            if at == leaving {
                return;
            }
            // Between `inside` and `leaving` parents become children, so their arcs turn around.
            arc = (!old.0, old.1, old.2);
            (at, parent) = (above, at);
        }
    }

    fn detach(&mut self, at: usize) {
        let Node { parent, next, previous, .. } = self.nodes[at];
        match previous {
            NONE => self.nodes[parent as usize].first_child = next,
            previous => self.nodes[previous as usize].next = next,
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
    }

    fn attach(&mut self, at: usize, parent: usize) {
        let next = std::mem::replace(&mut self.nodes[parent].first_child, at as u32);
        if next != NONE {
            self.nodes[next as usize].previous = at as u32;
        }
        let node = &mut self.nodes[at];
        (node.parent, node.next, node.previous) = (parent as u32, next, NONE);
    }

    /// Computes the prices and depths of a subtree anew. Adding the change of the price would be
    /// simpler, but errors of rounding would add up.
    fn renew(&mut self, top: usize) {
        let mut at = top;
        loop {
            let Node { parent, upwards, cost, .. } = self.nodes[at];
            let above = self.prices[parent as usize];
            self.prices[at] = if upwards { above - cost } else { above + cost };
            self.nodes[at].depth = self.nodes[parent as usize].depth + 1;
            if self.nodes[at].first_child != NONE {
                at = self.nodes[at].first_child as usize;
                continue;
            }
            while at != top && self.nodes[at].next == NONE {
                at = self.nodes[at].parent as usize;
            }
            if at == top {
                return;
            }
            at = self.nodes[at].next as usize;
        }
    }

    /// The masses on the arcs of the tree. What rounding leaves on an arc of the root is left out.
    pub(crate) fn moves(&self) -> Vec<Move> {
        let root = self.points.len();
        let arcs = (0..root).filter(|at| self.nodes[*at].parent as usize != root);
        let moves = arcs.map(|at| {
            let above = self.nodes[at].parent as usize;
            let (from, to) = if at < self.left { (at, above) } else { (above, at) };
            Move {
                left: self.points[from] as usize,
                right: self.points[to] as usize,
                mass: self.nodes[at].mass.max(0.0),
            }
        });
        moves.filter(|moved| moved.mass > 0.0).collect()
    }
}
