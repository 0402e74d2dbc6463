//! The relative position bias of MPNet. Each near distance has a bucket of its own; far distances
//! share buckets on a logarithmic scale.

/// Distances from here on share the last bucket. The number is fixed in the code of MPNet.
const FURTHEST: f32 = 128.0;

/// The bucket of a distance: the position of the key less the position of the query.
pub(crate) fn bucket(distance: isize, buckets: usize) -> usize {
    let half = buckets / 2;
    let exact = half / 2;
    let size = distance.unsigned_abs();
    let bucket = if size < exact {
        size
    } else {
        let far = (size as f32 / exact as f32).ln() / (FURTHEST / exact as f32).ln()
            * (half - exact) as f32;
        (exact + far as usize).min(half - 1)
    };
    // The upper half is for keys that come after the query.
    if distance > 0 { half + bucket } else { bucket }
}

/// For each head, the bias of every distance from `-(longest - 1)` to `longest - 1`.
pub(crate) fn bias_table(weights: &[f32], heads: usize, longest: usize) -> Vec<f32> {
    let buckets = weights.len() / heads;
    let mut table = Vec::with_capacity(heads * (2 * longest - 1));
    for head in 0..heads {
        for place in 0..2 * longest - 1 {
            let distance = place as isize - (longest as isize - 1);
            table.push(weights[bucket(distance, buckets) * heads + head]);
        }
    }
    table
}

/// Adds the gradient of the biases of one story, by head and distance, to the gradient of the
/// table, which has one row per bucket and one column per head.
#[cfg(feature = "train")]
pub(crate) fn add_to_buckets(by_distance: &[f32], heads: usize, len: usize, d_weights: &mut [f32]) {
    let buckets = d_weights.len() / heads;
    for (head, by_distance) in
        by_distance.chunks_exact((2 * len).saturating_sub(1).max(1)).enumerate()
    {
        for (place, d) in by_distance.iter().enumerate() {
            let distance = place as isize - (len as isize - 1);
            d_weights[bucket(distance, buckets) * heads + head] += d;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bucket;
    use serde_json::Value;

    /// The expected buckets come from `MPNetEncoder.relative_position_bucket`
    /// (tools/encoder_fixtures.py).
    #[test]
    fn buckets_are_those_of_transformers() {
        let json: Value =
            serde_json::from_str(include_str!("../tests/fixtures/mpnet/buckets.json")).unwrap();
        let first = json["first"].as_i64().unwrap() as isize;
        for (i, expected) in json["buckets"].as_array().unwrap().iter().enumerate() {
            let distance = first + i as isize;
            assert_eq!(
                bucket(distance, 32) as u64,
                expected.as_u64().unwrap(),
                "distance {distance}"
            );
        }
    }
}
