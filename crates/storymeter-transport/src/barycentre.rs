//! Points that are close to several clouds of points at once.

use crate::{Error, Problem, Result, exact, squared_distances};

/// The iteration of [`from_zeros`] stops when the points move by less than this (the squared
/// Euclidean norm), as in POT.
const STANDSTILL: f64 = 1e-7;

/// The largest number of iterations of [`from_zeros`].
const MOST_ITERATIONS: usize = 1000;

/// The mean of clouds whose points belong together by their order: the first point of the result is
/// the mean of the first points, and so on.
///
/// It is a point at which the iteration of [`from_zeros`] stands still, and often a better one than
/// the iteration finds.
///
/// ```
/// use storymeter_transport::barycentre::in_order;
/// let clouds = [&[0.0, 2.0][..], &[1.0, 4.0]];
/// assert_eq!(in_order(&clouds, 1)?, [0.5, 3.0]);
/// # Ok::<(), storymeter_transport::Error>(())
/// ```
///
/// # Errors
/// Returns an error if there is no cloud, or the clouds differ in size.
pub fn in_order(clouds: &[&[f64]], width: usize) -> Result<Vec<f64>> {
    let size = common_size(clouds, width)?;
    let mut mean = vec![0.0; size];
    for cloud in clouds {
        mean.iter_mut().zip(*cloud).for_each(|(mean, x)| *mean += x);
    }
    mean.iter_mut().for_each(|mean| *mean /= clouds.len() as f64);
    Ok(mean)
}

/// The Wasserstein barycentre with free support of clouds of equally many, equally heavy points, by
/// the iteration of Cuturi and Doucet (2014, algorithm 2), which starts with all points at zero.
///
/// The first transport problem has constant costs, so every plan is optimal, and the result depends
/// on which one the solver happens to find. The published BaryScore is defined in this way; another
/// solver gives slightly different values. [`in_order`] has no such freedom.
///
/// # Errors
/// Returns an error if there is no cloud, or the clouds differ in size.
pub fn from_zeros(clouds: &[&[f64]], width: usize) -> Result<Vec<f64>> {
    from_zeros_by(clouds, width, |left, right| squared_distances(left, right, width))
}

/// The same as [`from_zeros`] for callers that have a faster way to compute squared Euclidean
/// distances, such as the matrix products of a neural network.
///
/// # Errors
/// Fails as [`from_zeros`] does, and if a distance is negative or not finite.
pub fn from_zeros_by(
    clouds: &[&[f64]],
    width: usize,
    squared_distances: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) -> Result<Vec<f64>> {
    let size = common_size(clouds, width)?;
    let points = size / width;
    let mut atoms = vec![0.0; size];
    for _ in 0..MOST_ITERATIONS {
        let mut next = vec![0.0; size];
        for cloud in clouds {
            let costs = squared_distances(&atoms, cloud);
            let plan = exact(&Problem::uniform(points, points, costs)?);
            for moved in &plan.moves {
                let weight = moved.mass * points as f64 / clouds.len() as f64;
                let to = &mut next[moved.left * width..][..width];
                let from = &cloud[moved.right * width..][..width];
                to.iter_mut().zip(from).for_each(|(atom, x)| *atom += weight * x);
            }
        }
        let moved: f64 = next.iter().zip(&atoms).map(|(new, old)| (new - old).powi(2)).sum();
        atoms = next;
        if moved <= STANDSTILL {
            break;
        }
    }
    Ok(atoms)
}

fn common_size(clouds: &[&[f64]], width: usize) -> Result<usize> {
    let size = clouds.first().map_or(0, |cloud| cloud.len());
    if size == 0
        || width == 0
        || !size.is_multiple_of(width)
        || clouds.iter().any(|c| c.len() != size)
    {
        let points = size.checked_div(width).unwrap_or(0);
        return Err(Error::UnequalClouds { points, width });
    }
    Ok(size)
}
