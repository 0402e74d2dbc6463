//! Makes the bytes of a PDF the same in every run.

/// Sorts the references within each dictionary of a PDF.
///
/// `svg2pdf` writes the names of resources in the order of a hash table, which differs from run to
/// run. Each stands on a line of its own (`/gs5 12 0 R`), and the order of the lines means nothing.
/// The sum of their lengths stays the same, so all positions in the file stay right.
pub(crate) fn in_order(pdf: Vec<u8>) -> Vec<u8> {
    let mut sorted = Vec::with_capacity(pdf.len());
    let mut references: Vec<&[u8]> = Vec::new();
    for line in pdf.split_inclusive(|byte| *byte == b'\n') {
        if is_reference(line) {
            references.push(line);
            continue;
        }
        references.sort_unstable();
        references.drain(..).for_each(|reference| sorted.extend_from_slice(reference));
        sorted.extend_from_slice(line);
    }
    references.sort_unstable();
    references.into_iter().for_each(|reference| sorted.extend_from_slice(reference));
    sorted
}

/// Whether a line names an object and has nothing else.
fn is_reference(line: &[u8]) -> bool {
    let Ok(line) = str::from_utf8(line) else { return false };
    let mut words = line.strip_suffix('\n').unwrap_or_default().split_ascii_whitespace();
    let name = words.next().is_some_and(|name| name.starts_with('/'));
    let number = words.next().is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    name && number && words.eq(["0", "R"])
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn references_of_a_dictionary_are_sorted_and_nothing_else_moves() {
        let pdf =
            "<<\n  /ExtGState <<\n    /gs5 12 0 R\n    /gs0 7 0 R\n  >>\n  /Kids [3 0 R]\n>>\n";
        let sorted =
            "<<\n  /ExtGState <<\n    /gs0 7 0 R\n    /gs5 12 0 R\n  >>\n  /Kids [3 0 R]\n>>\n";
        assert_eq!(in_order(pdf.into()), sorted.as_bytes());
        assert_eq!(in_order(b"stream \xff\n/b 1\n/a 2".to_vec()), b"stream \xff\n/b 1\n/a 2");
    }
}
