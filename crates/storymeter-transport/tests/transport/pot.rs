//! The same values as POT, the Python package for optimal transport.

use serde_json::Value;
use storymeter_transport::sinkhorn::{Settings, as_published, in_logarithms};
use storymeter_transport::{Problem, barycentre, exact, squared_distances};

/// The points of `tools/transport_fixtures.py`.
fn cloud(points: usize, width: usize, shift: f64) -> Vec<f64> {
    let mut cloud = Vec::new();
    for i in 0..points {
        let row: Vec<f64> = (0..width)
            .map(|j| {
                let (i, j) = (i as f64, j as f64);
                (1.3 * i + 0.9 * j + shift).sin() + 0.5 * (0.37 * i * (j + 1.0) + shift).cos()
            })
            .collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        cloud.extend(row.iter().map(|x| x / norm));
    }
    cloud
}

fn masses(points: usize, kind: &str) -> Vec<f64> {
    (0..points)
        .map(|i| match kind {
            "equal" => 1.0,
            "some-zero" if i % 3 == 1 => 0.0,
            _ => 1.5 + (2.1 * i as f64).sin(),
        })
        .collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours} instead of {theirs}");
}

#[test]
fn costs_are_those_of_pot() {
    let fixture: Value = serde_json::from_str(include_str!("../fixtures/pot.json")).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let (left, right, width) = (size("left"), size("right"), size("width"));
        let kind = case["masses"].as_str().unwrap();
        let squared = squared_distances(&cloud(left, width, 0.0), &cloud(right, width, 1.0), width);
        let problem = |costs| Problem::new(&masses(left, kind), &masses(right, kind), costs);
        let euclidean = problem(squared.iter().map(|cost| cost.sqrt()).collect()).unwrap();
        let squared = problem(squared).unwrap();
        let what = |key: &str| format!("{left} x {right} x {width}, {kind}, {key}");
        let value = |key: &str| case[key].as_f64();
        close(exact(&squared).cost, value("squared").unwrap(), 1e-11, &what("squared"));
        close(exact(&euclidean).cost, value("euclidean").unwrap(), 1e-11, &what("euclidean"));
        for r in ["10", "1", "0.1", "0.01", "0.001"] {
            let settings = Settings::new(r.parse().unwrap());
            let key = format!("published-{r}");
            if let Some(theirs) = value(&key) {
                close(as_published(&squared, &settings).cost, theirs, 1e-9, &what(&key));
            }
            let key = format!("logarithms-{r}");
            if let Some(theirs) = value(&key) {
                let settings = Settings { iterations: 100_000, ..settings };
                close(in_logarithms(&squared, &settings).cost, theirs, 1e-8, &what(&key));
            }
        }
    }
}

/// Barycentres of five clouds each, and the distance between them, as POT computed them for the
/// released code of BaryScore.
#[test]
fn barycentres_are_those_of_pot() {
    let bary = |points: usize, shift: f64| {
        let clouds: Vec<Vec<f64>> =
            (0..5).map(|layer| cloud(points, 3, shift + 0.1 * layer as f64)).collect();
        let clouds: Vec<&[f64]> = clouds.iter().map(Vec::as_slice).collect();
        barycentre::from_zeros(&clouds, 3).unwrap()
    };
    let costs = squared_distances(&bary(5, 0.0), &bary(4, 1.0), 3);
    let problem = Problem::uniform(5, 4, costs).unwrap();
    close(exact(&problem).cost, 0.42041683222148, 1e-9, "W");
    for (r, theirs) in [
        (10.0, 1.7533372840706),
        (5.0, 1.5790273241829),
        (1.0, 0.7246795186367),
        (0.5, 0.5061209152611),
        (0.1, 0.4204626631318),
        (0.01, 0.4204168319424),
        (0.001, 0.1143031868265),
    ] {
        let entropic = as_published(&problem, &Settings::new(r));
        close(entropic.cost, theirs, 1e-9, &format!("SD {r}"));
    }
}
