//! Inputs made from a recipe, and the answers of other tools to them (`tools/stats_fixtures.py`).

use serde_json::Value;

/// The cases of a fixture. Each row holds a recipe and the answers to it.
pub fn cases(name: &str) -> Vec<Row> {
    let path = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let rows = json["cases"].as_array().expect("cases");
    rows.iter().map(|r| Row(r.as_array().expect("row").clone())).collect()
}

/// One case.
#[derive(Debug)]
pub struct Row(pub Vec<Value>);

impl Row {
    pub fn text(&self, column: usize) -> &str {
        self.0[column].as_str().expect("text")
    }

    pub fn int(&self, column: usize) -> u64 {
        self.0[column].as_u64().expect("integer")
    }

    pub fn size(&self, column: usize) -> usize {
        self.int(column) as usize
    }

    pub fn float(&self, column: usize) -> f64 {
        float(&self.0[column])
    }

    pub fn floats(&self, column: usize) -> Vec<f64> {
        self.0[column].as_array().expect("list").iter().map(float).collect()
    }
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Number(n) => n.as_f64().expect("number"),
        Value::String(s) => s.parse().expect("nan or inf"),
        Value::Null => f64::NAN,
        other => panic!("not a number: {other}"),
    }
}

/// The `i`-th output (from 0) of splitmix64 started at `seed`.
pub fn bits(seed: u64, i: usize) -> u64 {
    let mut z = seed.wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The `i`-th number in [0, 1).
pub fn uniform(seed: u64, i: usize) -> f64 {
    (bits(seed, i) >> 11) as f64 * 2f64.powi(-53)
}

fn bell(seed: u64, i: usize) -> f64 {
    let u = |k| uniform(seed, 4 * i + k);
    u(0) + u(1) + u(2) + u(3) - 2.0
}

/// The vector that a shape such as `bell`, `ties:5`, `follow:2:0.1` or `bell+nan:7` stands for.
pub fn values(shape: &str, seed: u64, n: usize, x: &[f64]) -> Vec<f64> {
    let mut parts = shape.split('+');
    let mut words = parts.next().expect("shape").split(':');
    let kind = words.next().expect("kind");
    let args: Vec<f64> = words.map(|w| w.parse().expect("argument")).collect();
    let mut values: Vec<f64> = (0..n)
        .map(|i| match kind {
            "uniform" => uniform(seed, i),
            "bell" => bell(seed, i),
            "grid" => (bell(seed, i) * 2f64.powi(20)).floor() / 2f64.powi(20),
            "ties" => (uniform(seed, i) * args[0]).floor(),
            "const" => args[0],
            "offset" => args[0] + uniform(seed, i),
            "scaled" => args[0] * bell(seed, i),
            "heavy" => 1.0 / (uniform(seed, i) + 1e-6),
            "ramp" => args[0] * i as f64,
            "follow" => args[0] * x[i] + args[1] * bell(seed, i),
            "step" => ((args[0] * x[i] + args[1] * bell(seed, i)) * args[2]).floor(),
            _ => panic!("unknown shape {shape}"),
        })
        .collect();
    for mark in parts {
        let (what, every) = mark.split_once(':').expect("mark");
        let every: u64 = every.parse().expect("every");
        let value = if what == "nan" { f64::NAN } else { f64::INFINITY };
        for (i, v) in values.iter_mut().enumerate() {
            if bits(seed ^ 0xAB_CDEF, i).is_multiple_of(every) {
                *v = value;
            }
        }
    }
    values
}

/// Whether two numbers agree up to a relative error. NaN agrees with NaN only.
pub fn close(got: f64, want: f64, tolerance: f64) -> bool {
    got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= tolerance * want.abs()
}

/// Fails and names the case unless the numbers agree to 1e-10, absolutely or relatively.
#[track_caller]
pub fn assert_close(got: f64, want: f64, what: &str, row: &Row) {
    let good = close(got, want, 1e-10) || (got - want).abs() <= 1e-10;
    assert!(good, "{what}: got {got:e}, want {want:e}\n{row:?}");
}

/// Ratings that depend on the row: `rate:E:K` gives whole numbers below K, `smooth:E` real numbers.
/// E is the share of the row in the rating.
pub fn ratings(shape: &str, seed: u64, rows: usize, columns: usize) -> Vec<f64> {
    let mut parts = shape.split('+').filter(|p| !p.is_empty());
    let words: Vec<&str> = parts.next().expect("shape").split(':').collect();
    let share: f64 = words[1].parse().expect("share");
    let mut cells: Vec<f64> = (0..rows * columns)
        .map(|c| {
            let row = c / columns;
            if words[0] == "rate" {
                let top: f64 = words[2].parse().expect("top");
                ((share * uniform(seed + 1, row) + (1.0 - share) * uniform(seed, c)) * top).floor()
            } else {
                share * bell(seed + 1, row) + (1.0 - share) * bell(seed, c)
            }
        })
        .collect();
    for mark in parts {
        let every: u64 = mark.split_once(':').expect("mark").1.parse().expect("every");
        for (c, v) in cells.iter_mut().enumerate() {
            if bits(seed ^ 0xAB_CDEF, c).is_multiple_of(every) {
                *v = f64::NAN;
            }
        }
    }
    cells
}
