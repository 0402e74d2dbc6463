//! A metric's catalogue page is the documentation at the top of its file: one source of truth.

/// The `//!` block at the top of a source file, without the comment marks.
pub(crate) fn page(source: &str) -> String {
    let mut page = String::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        page.push_str(line.strip_prefix(' ').unwrap_or(line));
        page.push('\n');
    }
    page
}

/// The first sentence of a page: what a list of metrics shows.
pub(crate) fn summary(page: &str) -> &str {
    let paragraph = page.split("\n\n").next().unwrap_or_default();
    let first_line = paragraph.lines().next().unwrap_or_default();
    first_line.trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_where_the_code_begins() {
        let page = page("//! Counts.\n//!\n//! More.\nuse std::fmt;\n//! not this\n");
        assert_eq!(page, "Counts.\n\nMore.\n");
        assert_eq!(summary(&page), "Counts");
    }
}
