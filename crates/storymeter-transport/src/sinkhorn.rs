//! Entropic optimal transport: the plan that minimises its cost minus `regularisation` times its
//! entropy.
//!
//! A large regularisation spreads the mass over all pairs; a small one comes close to the exact
//! plan. The functions return the cost of the plan without the entropy, which is what BaryScore
//! calls SD. It is not zero for two equal clouds.

use crate::Problem;

/// How an entropic plan is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The weight of the entropy. It must be positive.
    pub regularisation: f64,
    /// The iteration stops when the masses on the right are wrong by less than this (the Euclidean
    /// norm of the difference).
    pub tolerance: f64,
    /// The largest number of iterations.
    pub iterations: usize,
}

impl Settings {
    /// The settings of POT and of the published metrics: a tolerance of 1e-9 and at most 10,000
    /// iterations.
    pub fn new(regularisation: f64) -> Self {
        Self { regularisation, tolerance: 1e-9, iterations: 10_000 }
    }
}

/// The cost of an entropic plan, and how it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entropic {
    /// The sum of mass times cost.
    pub cost: f64,
    /// The number of iterations.
    pub iterations: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// How often the error is looked at, in iterations. POT does the same.
const CHECK: usize = 10;

/// Finds the plan with logarithms of masses, which neither under- nor overflow.
///
/// ```
/// use storymeter_transport::sinkhorn::{Settings, in_logarithms};
/// use storymeter_transport::{Problem, exact};
/// let problem = Problem::uniform(2, 2, vec![0.1, 0.9, 0.7, 0.2])?;
/// let entropic = in_logarithms(&problem, &Settings::new(0.01));
/// assert!((entropic.cost - exact(&problem).cost).abs() < 1e-6);
/// # Ok::<(), storymeter_transport::Error>(())
/// ```
pub fn in_logarithms(problem: &Problem, settings: &Settings) -> Entropic {
    let (n, m) = (problem.left().len(), problem.right().len());
    let logarithms = |masses: &[f64]| masses.iter().map(|mass| mass.ln()).collect::<Vec<f64>>();
    let (left, right) = (logarithms(problem.left()), logarithms(problem.right()));
    let scaled: Vec<f64> = (0..n)
        .flat_map(|row| problem.row(row).iter().map(|cost| -cost / settings.regularisation))
        .collect();
    let (mut u, mut v) = (vec![0.0; n], vec![0.0; m]);
    let (mut converged, mut iterations) = (false, 0);
    let mut columns = Columns::new(m);
    for iteration in 0..settings.iterations {
        columns.sum(&scaled, &u);
        for (at, v) in v.iter_mut().enumerate() {
            *v = right[at] - columns.logarithm(at);
        }
        for (row, u) in u.iter_mut().enumerate() {
            *u = left[row] - log_sum(scaled[row * m..][..m].iter().zip(&v).map(|(k, v)| k + v));
        }
        iterations = iteration + 1;
        if iteration % CHECK == 0 {
            columns.sum(&scaled, &u);
            let wrong = (0..m).map(|at| {
                let mass = (columns.logarithm(at) + v[at]).exp();
                (mass - problem.right()[at]).powi(2)
            });
            if wrong.sum::<f64>().sqrt() < settings.tolerance {
                converged = true;
                break;
            }
        }
    }
    let mut cost = 0.0;
    for row in 0..n {
        let masses = scaled[row * m..][..m].iter().zip(&v).map(|(k, v)| (u[row] + k + v).exp());
        cost += masses.zip(problem.row(row)).map(|(mass, cost)| mass * cost).sum::<f64>();
    }
    Entropic { cost, iterations, converged }
}

/// The logarithm of a sum of exponentials. Points without mass are minus infinity.
fn log_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + terms.map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// The logarithms of sums over all rows, column by column. Rows are read one after the other,
/// because that is how they lie in memory.
struct Columns {
    most: Vec<f64>,
    sums: Vec<f64>,
}

impl Columns {
    fn new(columns: usize) -> Self {
        Self { most: vec![0.0; columns], sums: vec![0.0; columns] }
    }

    fn sum(&mut self, scaled: &[f64], u: &[f64]) {
        let width = self.most.len();
        self.most.fill(f64::NEG_INFINITY);
        self.sums.fill(0.0);
        for (row, u) in scaled.chunks_exact(width).zip(u) {
            for (most, k) in self.most.iter_mut().zip(row) {
                *most = most.max(k + u);
            }
        }
        for (row, u) in scaled.chunks_exact(width).zip(u) {
            for ((sum, most), k) in self.sums.iter_mut().zip(&self.most).zip(row) {
                if *most > f64::NEG_INFINITY {
                    *sum += (k + u - most).exp();
                }
            }
        }
    }

    fn logarithm(&self, column: usize) -> f64 {
        self.most[column] + self.sums[column].ln()
    }
}

/// Finds the plan by the loop of Sinkhorn and Knopp as POT runs it and the published metrics ran
/// it.
///
/// With a small regularisation, `exp(-cost / regularisation)` underflows to zero. The loop then
/// stops at the last plan before, whatever that is: the published values of BaryScore-SD-0.001 are
/// such plans. The function repeats this; [`in_logarithms`] has no such limit.
pub fn as_published(problem: &Problem, settings: &Settings) -> Entropic {
    let (n, m) = (problem.left().len(), problem.right().len());
    let kernel: Vec<f64> = (0..n)
        .flat_map(|row| problem.row(row).iter().map(|cost| (-cost / settings.regularisation).exp()))
        .collect();
    let (mut u, mut v) = (vec![1.0 / n as f64; n], vec![1.0 / m as f64; m]);
    let (mut converged, mut iterations) = (false, 0);
    let to_columns = |u: &[f64]| {
        let mut sums = vec![0.0; m];
        for (row, u) in kernel.chunks_exact(m).zip(u) {
            sums.iter_mut().zip(row).for_each(|(sum, k)| *sum += k * u);
        }
        sums
    };
    for iteration in 0..settings.iterations {
        let before = (u.clone(), v.clone());
        let sums = to_columns(&u);
        let broken = sums.contains(&0.0);
        v = sums.iter().zip(problem.right()).map(|(sum, mass)| mass / sum).collect();
        for (row, (u, mass)) in u.iter_mut().zip(problem.left()).enumerate() {
            let sum: f64 = kernel[row * m..][..m].iter().zip(&v).map(|(k, v)| k * v).sum();
            *u = 1.0 / (sum / mass);
        }
        if broken || u.iter().chain(&v).any(|x| !x.is_finite()) {
            (u, v) = before;
            break;
        }
        iterations = iteration + 1;
        if iteration % CHECK == 0 {
            let wrong = to_columns(&u).into_iter().zip(&v).zip(problem.right());
            let wrong: f64 = wrong.map(|((sum, v), mass)| (sum * v - mass).powi(2)).sum();
            if wrong.sqrt() < settings.tolerance {
                converged = true;
                break;
            }
        }
    }
    let cost = (0..n)
        .map(|row| {
            let masses = kernel[row * m..][..m].iter().zip(&v).map(|(k, v)| u[row] * k * v);
            masses.zip(problem.row(row)).map(|(mass, cost)| mass * cost).sum::<f64>()
        })
        .sum();
    Entropic { cost, iterations, converged }
}
