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
    /// The iteration stops when the masses are wrong by less than this (the Euclidean norm of the
    /// difference).
    pub tolerance: f64,
    /// The largest number of iterations.
    pub iterations: usize,
    /// How far an iteration goes beyond what would make the masses right: 1 is the plain iteration.
    /// With up to 1.9 (successive over-relaxation), small regularisations need a fraction of the
    /// iterations. [`as_published`] does not use it.
    pub relaxation: f64,
}

impl Settings {
    /// The settings of POT and of the published metrics: a tolerance of 1e-9 and at most 10,000
    /// iterations.
    pub fn new(regularisation: f64) -> Self {
        Self { regularisation, tolerance: 1e-9, iterations: 10_000, relaxation: 1.0 }
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
    Scaling::new(problem).solve(settings)
}

/// Finds the plans for several regularisations one after the other, each search starting from the
/// result of the one before. From large to small regularisations, that takes far fewer iterations
/// than separate searches with [`in_logarithms`].
pub fn descending(problem: &Problem, settings: &[Settings]) -> Vec<Entropic> {
    let mut scaling = Scaling::new(problem);
    settings.iter().map(|settings| scaling.solve(settings)).collect()
}

/// When a factor leaves the range from `1 / LARGEST_FACTOR` to this, the factors are moved into the
/// logarithms.
const LARGEST_FACTOR: f64 = 1e10;

/// If the error grows by more than this between two looks at it, relaxation is given up.
const LARGEST_GROWTH: f64 = 10.0;

/// The state of an iteration with logarithms.
///
/// The plan is `exp(-cost / regularisation + u + v)`, times one factor per row and per column. An
/// iteration changes only the factors, which needs no exponentials (Schmitzer, 2019, section 3.1).
/// Before factors become too large or too small, they are moved into the logarithms `u` and `v`.
struct Scaling<'a> {
    problem: &'a Problem,
    /// What a unit of mass at a point costs, one number per point: the logarithms times the
    /// regularisation.
    left_prices: Vec<f64>,
    right_prices: Vec<f64>,
}

impl<'a> Scaling<'a> {
    fn new(problem: &'a Problem) -> Self {
        let zeros = |masses: &[f64]| vec![0.0; masses.len()];
        let (left_prices, right_prices) = (zeros(problem.left()), zeros(problem.right()));
        Self { problem, left_prices, right_prices }
    }

    fn solve(&mut self, settings: &Settings) -> Entropic {
        let (left, right) = (self.problem.left(), self.problem.right());
        let columns = right.len();
        let mut kernel = self.kernel(settings.regularisation);
        let (mut of_rows, mut of_columns) = (vec![1.0; left.len()], vec![1.0; columns]);
        let mut sums = column_sums(&kernel, &of_rows, columns);
        let (mut converged, mut iterations) = (false, 0);
        let (mut relaxation, mut last_error) = (settings.relaxation, f64::INFINITY);
        for iteration in 0..settings.iterations {
            iterations = iteration + 1;
            let mut safe = true;
            for ((factor, &mass), &sum) in of_columns.iter_mut().zip(right).zip(&sums) {
                *factor = relaxed(*factor, mass, sum, relaxation);
                safe &= mass == 0.0 || in_range(*factor);
            }
            let mut wrong = 0.0;
            if safe {
                sums.fill(0.0);
                for ((factor, &mass), row) in
                    of_rows.iter_mut().zip(left).zip(kernel.chunks_exact(columns))
                {
                    let sum = dot(row, &of_columns);
                    *factor = relaxed(*factor, mass, sum, relaxation);
                    safe &= mass == 0.0 || in_range(*factor);
                    wrong += (sum * *factor - mass).powi(2);
                    sums.iter_mut().zip(row).for_each(|(sum, k)| *sum += k * *factor);
                }
            }
            if !safe {
                self.absorb(&of_rows, &of_columns, settings.regularisation);
                self.step(settings.regularisation);
                kernel = self.kernel(settings.regularisation);
                of_rows.fill(1.0);
                of_columns.fill(1.0);
                sums = column_sums(&kernel, &of_rows, columns);
                wrong = 0.0;
            }
            if iteration % CHECK == 0 {
                let masses = sums.iter().zip(&of_columns).map(|(sum, factor)| sum * factor);
                wrong += masses.zip(right).map(|(mass, goal)| (mass - goal).powi(2)).sum::<f64>();
                let error = wrong.sqrt();
                if error < settings.tolerance {
                    converged = true;
                    break;
                }
                // Far from the solution, a relaxed iteration may run away from it.
                if error > LARGEST_GROWTH * last_error {
                    relaxation = 1.0;
                }
                last_error = error;
            }
        }
        let mut cost = 0.0;
        for (at, (row, factor)) in kernel.chunks_exact(columns).zip(&of_rows).enumerate() {
            let masses = row.iter().zip(&of_columns).map(|(k, v)| k * v);
            let costs = masses.zip(self.problem.row(at)).map(|(mass, cost)| mass * cost);
            cost += factor * costs.sum::<f64>();
        }
        self.absorb(&of_rows, &of_columns, settings.regularisation);
        Entropic { cost, iterations, converged }
    }

    /// The plan without factors.
    fn kernel(&self, regularisation: f64) -> Vec<f64> {
        let row = |at: usize| {
            let prices = self.right_prices.iter().zip(self.problem.row(at));
            let own = self.left_prices[at];
            prices.map(move |(price, cost)| ((own + price - cost) / regularisation).exp())
        };
        (0..self.left_prices.len()).flat_map(row).collect()
    }

    /// Moves factors into the logarithms. Factors that are out of every range are left out: the
    /// step that follows does not need them.
    fn absorb(&mut self, of_rows: &[f64], of_columns: &[f64], regularisation: f64) {
        let absorb = |prices: &mut [f64], factors: &[f64]| {
            for (price, factor) in prices.iter_mut().zip(factors) {
                let logarithm = factor.ln();
                if logarithm.is_finite() {
                    *price += regularisation * logarithm;
                }
            }
        };
        absorb(&mut self.left_prices, of_rows);
        absorb(&mut self.right_prices, of_columns);
    }

    /// One iteration with logarithms only.
    fn step(&mut self, regularisation: f64) {
        let Self { problem, left_prices, right_prices } = self;
        let mut columns = Columns::new(right_prices.len());
        let scaled: Vec<f64> = (0..left_prices.len())
            .flat_map(|row| problem.row(row).iter().map(|cost| -cost / regularisation))
            .collect();
        let u: Vec<f64> = left_prices.iter().map(|price| price / regularisation).collect();
        columns.sum(&scaled, &u);
        for (at, (price, mass)) in right_prices.iter_mut().zip(problem.right()).enumerate() {
            *price = regularisation * (mass.ln() - columns.logarithm(at));
        }
        let v: Vec<f64> = right_prices.iter().map(|price| price / regularisation).collect();
        let rows = scaled.chunks_exact(v.len());
        for ((price, mass), row) in left_prices.iter_mut().zip(problem.left()).zip(rows) {
            let sum = log_sum(row.iter().zip(&v).map(|(k, v)| k + v));
            *price = regularisation * (mass.ln() - sum);
        }
    }
}

/// A factor that makes a mass right, or goes beyond that.
fn relaxed(factor: f64, mass: f64, sum: f64, relaxation: f64) -> f64 {
    if mass == 0.0 {
        0.0
    } else if relaxation == 1.0 {
        mass / sum
    } else {
        factor * (relaxation * (mass / (sum * factor)).ln()).exp()
    }
}

fn in_range(factor: f64) -> bool {
    (1.0 / LARGEST_FACTOR..=LARGEST_FACTOR).contains(&factor)
}

/// For each column the sum of its numbers, each times the factor of its row.
fn column_sums(kernel: &[f64], of_rows: &[f64], columns: usize) -> Vec<f64> {
    let mut sums = vec![0.0; columns];
    for (row, factor) in kernel.chunks_exact(columns).zip(of_rows) {
        sums.iter_mut().zip(row).for_each(|(sum, k)| *sum += k * factor);
    }
    sums
}

/// The sum of products, over eight partial sums that the processor can add at the same time.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, x_end) = x.as_chunks::<8>();
    let (y, y_end) = y.as_chunks::<8>();
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    let end: f64 = x_end.iter().zip(y_end).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + end
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
