//! File names for sheets, whatever the criteria and metrics are called.

use std::collections::HashSet;

/// The longest stem, in bytes. Most file systems allow 255 for the whole name.
const LONGEST: usize = 120;

/// Names that Windows reserves for devices, whatever the ending.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// A name without its ending that every file system accepts, made from any text.
///
/// Letters and digits of any script stay; `-`, `_` and `.` stay; everything else, such as `/` or a
/// space, becomes `-`. The result is never empty, never begins or ends with a dot, is not a
/// reserved device name, and has at most 120 bytes. Different texts can give the same stem;
/// [`unique_stems`] makes a whole set of them distinct.
///
/// ```
/// use storymeter_meta::view::file_stem;
/// assert_eq!(file_stem("williams-story-plot/pace"), "williams-story-plot-pace");
/// assert_eq!(file_stem("../../etc/passwd"), "-..-etc-passwd");
/// assert_eq!(file_stem("con"), "con_");
/// ```
pub fn file_stem(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let stem: String = text.chars().map(kept).collect();
    let stem = &stem[..boundary(&stem, LONGEST)];
    let mut stem = stem.trim_matches('.').to_owned();
    if stem.is_empty() {
        stem.push('_');
    }
    let device = stem.split('.').next().unwrap_or_default().to_lowercase();
    let numbered = |prefix: &str| {
        device
            .strip_prefix(prefix)
            .is_some_and(|n| n.len() == 1 && n != "0" && n.parse::<u8>().is_ok())
    };
    if RESERVED.contains(&device.as_str()) || numbered("com") || numbered("lpt") {
        stem.insert(device.len(), '_');
    }
    stem
}

/// The last boundary between characters at or before so many bytes.
fn boundary(text: &str, bytes: usize) -> usize {
    (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Stems for a whole set of texts, each different from all others, also without regard to case.
///
/// The first of several texts with the same stem keeps it. Later ones get `-2`, `-3` and so on.
/// `taken` are names that none may have.
///
/// ```
/// use storymeter_meta::view::unique_stems;
/// let stems = unique_stems(["plot/pace", "plot-pace", "Plot pace", "index"], &["index"]);
/// assert_eq!(stems, ["plot-pace", "plot-pace-2", "Plot-pace-3", "index-2"]);
/// ```
pub fn unique_stems<'a>(texts: impl IntoIterator<Item = &'a str>, taken: &[&str]) -> Vec<String> {
    let mut seen: HashSet<String> = taken.iter().map(|name| name.to_lowercase()).collect();
    let mut unique = |text: &str| {
        let stem = file_stem(text);
        let mut candidate = stem.clone();
        let mut copy = 2;
        while !seen.insert(candidate.to_lowercase()) {
            let suffix = format!("-{copy}");
            let end = boundary(&stem, LONGEST - suffix.len());
            candidate = format!("{}{suffix}", &stem[..end]);
            copy += 1;
        }
        candidate
    };
    texts.into_iter().map(&mut unique).collect()
}
