//! Comparisons of results, which are all made before the test fails.

/// Named results of something that was done on a device.
pub type Results = Vec<(&'static str, Vec<f32>)>;

/// What was compared so far.
pub struct Report {
    /// The precision that is compared, for the messages.
    pub precision: &'static str,
    /// The largest relative difference that is fine.
    pub tolerance: f64,
    /// The comparisons that were not fine.
    pub failures: Vec<String>,
}

impl Report {
    /// Compares by the length of the difference, relative to that of the truth. The line that is
    /// printed also has the largest difference.
    pub fn compare(&mut self, case: &str, truth: &Results, found: &Results) {
        for ((name, truth), (_, found)) in truth.iter().zip(found) {
            let length = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
            let pairs = || truth.iter().zip(found).map(|(a, b)| f64::from(*a) - f64::from(*b));
            let size = length(&mut truth.iter().map(|x| f64::from(*x)));
            let error = length(&mut pairs()) / size.max(1e-6 * (truth.len() as f64).sqrt());
            let largest = pairs().fold(0f64, |most, d| most.max(d.abs()));
            let fine = truth.len() == found.len() && error < self.tolerance;
            let mark = if fine { "ok  " } else { "FAIL" };
            let line = format!(
                "{mark} {} {case}: {name}: relative {error:.2e}, largest {largest:.2e}",
                self.precision
            );
            println!("{line}");
            if !fine {
                self.failures.push(line);
            }
        }
    }
}
