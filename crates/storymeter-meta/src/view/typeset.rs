//! Sheets as tables for documents: Markdown and LaTeX.
//!
//! Names of systems and metrics come from files. In both formats they are text and nothing else:
//! characters that the format would obey are escaped, and control characters are written out.

use std::fmt::Write as _;

use storymeter_core::terminal::plain;

use super::text::{Printed, cells, missing, word_columns};
use super::{Sheet, capitalised};

/// A sheet as a Markdown table with its title above it and its notes below it.
///
/// ```
/// use storymeter_meta::view::{Form, Sheet, Subject, typeset};
/// let mut sheet = Sheet::new("means", Subject::Other, "Means", Form::Table)
///     .column("system", 0)
///     .column("mean", 2);
/// sheet.push(vec!["a|b".into(), 0.5.into()]);
/// sheet.mark(1, true, "");
/// let text = "**Means**\n\n| system | mean |\n|:--|--:|\n| a\\|b | **0.50** |\n";
/// assert_eq!(typeset::markdown(&sheet), text);
/// ```
pub fn markdown(sheet: &Sheet) -> String {
    let mut text = format!("**{}**\n\n", markdown_text(&sheet.title));
    let heads: Vec<String> = sheet.columns.iter().map(|head| markdown_text(&head.name)).collect();
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let rule: Vec<&str> =
        word_columns(sheet).iter().map(|words| if *words { ":--" } else { "--:" }).collect();
    let _ = writeln!(text, "|{}|", rule.join("|"));
    for row in cells(sheet) {
        let field = |cell: &Printed| {
            let (text, suffix) = (markdown_text(&cell.text), markdown_text(&cell.suffix));
            if cell.bold { format!("**{text}**{suffix}") } else { format!("{text}{suffix}") }
        };
        let fields: Vec<String> = row.iter().map(field).collect();
        let _ = writeln!(text, "| {} |", fields.join(" | "));
    }
    for note in notes(sheet) {
        let _ = write!(text, "\n{}\n", markdown_text(&note));
    }
    text
}

/// A sheet as a LaTeX table, which needs the package `booktabs`. The caption has the title and the
/// notes.
///
/// ```
/// use storymeter_meta::view::{Form, Sheet, Subject, typeset};
/// let mut sheet = Sheet::new("means", Subject::Other, "Means", Form::Table)
///     .column("system", 0)
///     .column("mean", 2);
/// sheet.push(vec!["R&D_1".into(), 0.5.into()]);
/// sheet.mark(1, true, "");
/// let text = typeset::latex(&sheet);
/// assert!(text.contains(r"R\&D\_1 & \textbf{0.50} \\"));
/// assert!(text.contains(r"\caption{Means.}"));
/// ```
pub fn latex(sheet: &Sheet) -> String {
    let mut caption = format!("{}.", latex_text(&sheet.title));
    for note in notes(sheet) {
        let _ = write!(caption, " {}.", latex_text(&capitalised(&note)));
    }
    let words = word_columns(sheet);
    let alignment: String = words.iter().map(|words| if *words { 'l' } else { 'r' }).collect();
    let mut text = String::from("\\begin{table}\n\\centering\n");
    let _ = writeln!(text, "\\caption{{{caption}}}");
    let _ = writeln!(text, "\\label{{tab:{}}}", label(&sheet.id));
    let _ = writeln!(text, "\\begin{{tabular}}{{{alignment}}}\n\\toprule");
    let heads: Vec<String> = sheet.columns.iter().map(|head| latex_text(&head.name)).collect();
    let _ = writeln!(text, "{} \\\\\n\\midrule", heads.join(" & "));
    for row in cells(sheet) {
        let field = |(cell, words): (&Printed, &bool)| {
            let text = if *words { latex_text(&cell.text) } else { latex_number(&cell.text) };
            let text = if cell.bold { format!("\\textbf{{{text}}}") } else { text };
            match cell.suffix.trim() {
                "" => text,
                suffix => format!("{text}\\textsuperscript{{{}}}", latex_text(suffix)),
            }
        };
        let fields: Vec<String> = row.iter().zip(&words).map(field).collect();
        let _ = writeln!(text, "{} \\\\", fields.join(" & "));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
    text
}

/// The notes of a sheet, and why cells are without a number.
fn notes(sheet: &Sheet) -> Vec<String> {
    let reason = |reason: String| format!("no number for {reason}");
    sheet.notes.iter().cloned().chain(missing(sheet).into_iter().map(reason)).collect()
}

/// Text in Markdown that shows as itself.
///
/// ```
/// use storymeter_meta::view::typeset::markdown_text;
/// assert_eq!(markdown_text("a|b *c* <d>"), r"a\|b \*c\* \<d>");
/// ```
pub fn markdown_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' | '~' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Text in LaTeX that shows as itself.
///
/// Letters of any script stay as they are. A few signs that `pdflatex` does not know by itself,
/// such as arrows, become its commands.
///
/// ```
/// use storymeter_meta::view::typeset::latex_text;
/// assert_eq!(latex_text("50% of a_b & {c}"), r"50\% of a\_b \& \{c\}");
/// assert_eq!(latex_text(r"\~^"), r"\textbackslash{}\textasciitilde{}\textasciicircum{}");
/// assert_eq!(latex_text("p ≤ 0.01"), r"p $\leq$ 0.01");
/// ```
pub fn latex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' | '%' | '_' | '#' | '$' | '{' | '}' => escaped.extend(['\\', c]),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '"' => escaped.push_str("''"),
            '<' | '>' | '|' => escaped.extend(['$', c, '$']),
            // `[` after a line break and `*` after a row would be arguments.
            '[' | ']' => escaped.extend(['{', c, '}']),
            '≤' => escaped.push_str("$\\leq$"),
            '≥' => escaped.push_str("$\\geq$"),
            '↑' => escaped.push_str("$\\uparrow$"),
            '↓' => escaped.push_str("$\\downarrow$"),
            // The glyphs in the names of HANNA's metrics.
            'Ξ' => escaped.push_str("$\\Xi$"),
            'Δ' => escaped.push_str("$\\Delta$"),
            'ε' => escaped.push_str("$\\varepsilon$"),
            '¤' => escaped.push_str("\\textcurrency{}"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A number in LaTeX, whose minus sign is one.
fn latex_number(cell: &str) -> String {
    match cell.strip_prefix('-') {
        Some(digits) => format!("$-${}", latex_text(digits)),
        None => latex_text(cell),
    }
}

/// A label without anything that LaTeX would obey.
fn label(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}
