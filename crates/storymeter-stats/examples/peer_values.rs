//! Computes what `tools/peers` compares with other programs and no verb prints.
//!
//! Every line of standard input is a JSON object that names a statistic and has its numbers. The
//! answer is one line with a JSON list of numbers, in which `null` stands for an undefined one.
#![allow(clippy::print_stdout)]

use std::io::{self, BufRead as _};

use serde_json::Value;
use storymeter_stats::agreement::{Scale, krippendorff_alpha};
use storymeter_stats::{
    Matrix, auc, benjamini_hochberg, benjamini_yekutieli, holm, meng_rosenthal_rubin, steiger,
    weighted_f1, williams,
};

/// The numbers under a key; `null` is a missing value.
fn numbers(request: &Value, key: &str) -> Vec<f64> {
    let list = request[key].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect()
}

fn labels(request: &Value, key: &str) -> Vec<i64> {
    numbers(request, key).iter().map(|&label| label as i64).collect()
}

/// The answer to a request, or `None` if the statistic refuses the numbers.
fn answer(request: &Value) -> Option<Vec<f64>> {
    let (x, n) = (numbers(request, "x"), request["n"].as_u64().unwrap_or(0) as usize);
    let alpha = |scale| {
        let ratings = Matrix::new(&x, x.len() / n.max(1), n).ok()?;
        Some(vec![krippendorff_alpha(ratings, scale).ok()?.alpha])
    };
    let dependent = match request["name"].as_str()? {
        "auc" => {
            let positive: Vec<bool> = labels(request, "y").iter().map(|&y| y == 1).collect();
            return Some(vec![auc(&x, &positive).ok()?.value]);
        }
        "weighted-f1" => {
            let f1 = weighted_f1(&labels(request, "x"), &labels(request, "y")).ok()?;
            return Some(vec![f1.value]);
        }
        "holm" => return holm(&x).ok(),
        "benjamini-hochberg" => return benjamini_hochberg(&x).ok(),
        "benjamini-yekutieli" => return benjamini_yekutieli(&x).ok(),
        "alpha-nominal" => return alpha(Scale::Nominal),
        "alpha-ratio" => return alpha(Scale::Ratio),
        "williams" => williams,
        "steiger" => steiger,
        "meng" => meng_rosenthal_rubin,
        _ => return None,
    };
    let test = dependent(*x.first()?, *x.get(1)?, *x.get(2)?, n).ok()?;
    Some(vec![test.statistic, test.p_value, test.p_two_sided])
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request = serde_json::from_str(&line?)?;
        // Values that are not finite become `null`.
        println!("{}", Value::from(answer(&request).unwrap_or_default()));
    }
    Ok(())
}
