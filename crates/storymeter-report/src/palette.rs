//! Colours that people with common forms of colour blindness can tell apart.

/// Red, green and blue, each from 0 to 255.
type Rgb = [f64; 3];

/// ColorBrewer's RdBu, for correlations: the lightest colour stands for no correlation.
const DIVERGING: [Rgb; 7] = [
    [33.0, 102.0, 172.0],
    [103.0, 169.0, 207.0],
    [209.0, 229.0, 240.0],
    [247.0, 247.0, 247.0],
    [253.0, 219.0, 199.0],
    [239.0, 138.0, 98.0],
    [178.0, 24.0, 43.0],
];

/// Five stops of Viridis, for percentages.
const SEQUENTIAL: [Rgb; 5] = [
    [68.0, 1.0, 84.0],
    [59.0, 82.0, 139.0],
    [33.0, 145.0, 140.0],
    [94.0, 201.0, 98.0],
    [253.0, 231.0, 37.0],
];

/// The light to the dark end of ColorBrewer's PuOr without its purple, for disturbances.
const DISTURBANCE: [Rgb; 5] = [
    [247.0, 247.0, 247.0],
    [254.0, 224.0, 182.0],
    [253.0, 184.0, 99.0],
    [224.0, 130.0, 20.0],
    [164.0, 80.0, 5.0],
];

/// The colours of Okabe and Ito without black, then Tol's muted ones. A 17th system gets the first
/// colour again.
const CATEGORIES: [&str; 16] = [
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8a7f00", "#332288",
    "#882255", "#44aa99", "#999933", "#aa4499", "#117733", "#cc6677", "#88ccee", "#777777",
];

/// Dash patterns, which tell lines apart in print without colour.
const DASHES: [&str; 4] = ["", "6 3", "2 3", "8 3 2 3"];

/// The colour of a number between -1 and 1. Numbers beyond get the colour of the nearest end.
pub fn diverging(value: f64) -> String {
    hex(between(&DIVERGING, (value + 1.0) / 2.0))
}

/// The colour of a number between 0 and 1.
pub fn sequential(value: f64) -> String {
    hex(between(&SEQUENTIAL, value))
}

/// The colour of an AUC: blue where originals score above their damaged twins, and red where it is
/// the other way round. The lightest colour stands for chance.
pub fn above_chance(auc: f64) -> String {
    diverging(1.0 - 2.0 * auc)
}

/// The colour of a disturbance between 0 and 1. Numbers beyond get the darkest colour.
pub fn disturbance(share: f64) -> String {
    hex(between(&DISTURBANCE, share))
}

/// The colour of a p-value, in the usual three steps of significance. Darker is more significant.
pub fn significance(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "#08306b",
        p if p < 0.01 => "#2171b5",
        p if p < 0.05 => "#9ecae1",
        _ => "#eeeeee",
    }
}

/// The colour of the n-th system or curve.
pub fn category(at: usize) -> &'static str {
    CATEGORIES[at % CATEGORIES.len()]
}

/// The dash pattern of the n-th curve.
pub fn dash(at: usize) -> &'static str {
    DASHES[at % DASHES.len()]
}

/// Black or white, whichever has the higher contrast on this `#rrggbb`.
pub fn ink_on(background: &str) -> &'static str {
    let channel = |at: usize| {
        let value =
            u8::from_str_radix(background.get(at..at + 2).unwrap_or("ff"), 16).unwrap_or(255);
        let c = f64::from(value) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    // The relative luminance of WCAG 2. At 0.179, black and white have the same contrast.
    let luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    if luminance > 0.179 { "#000000" } else { "#ffffff" }
}

fn between(stops: &[Rgb], at: f64) -> Rgb {
    let position = at.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let below = (position as usize).min(stops.len() - 2);
    let share = position - below as f64;
    [0, 1, 2].map(|c| stops[below][c] + (stops[below + 1][c] - stops[below][c]) * share)
}

fn hex(rgb: Rgb) -> String {
    let [r, g, b] = rgb.map(|c| c.round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_light_and_the_ends_differ() {
        assert_eq!(diverging(0.0), "#f7f7f7");
        assert_eq!((diverging(-1.0), diverging(1.0)), ("#2166ac".into(), "#b2182b".into()));
        assert_eq!(diverging(7.0), diverging(1.0), "beyond the scale is its end");
    }

    #[test]
    fn chance_is_light_and_the_scales_of_a_test_suite_have_ends() {
        assert_eq!((above_chance(0.5), disturbance(0.0)), ("#f7f7f7".into(), "#f7f7f7".into()));
        assert_eq!((above_chance(1.0), above_chance(0.0)), ("#2166ac".into(), "#b2182b".into()));
        assert_eq!(disturbance(9.0), disturbance(1.0), "beyond the scale is its end");
    }

    #[test]
    fn ink_can_be_read_on_every_step() {
        assert_eq!((ink_on("#f7f7f7"), ink_on("#08306b")), ("#000000", "#ffffff"));
    }
}
