//! What a sheet of a meta-evaluation shows, read from its title: what a page lets its reader choose by.

use serde::Serialize;
use storymeter_meta::{Form, Sheet};

/// What the rows and columns of a heat-map are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Metrics against criteria.
    Against,
    /// Metrics against metrics.
    Metrics,
    /// Criteria against criteria.
    Criteria,
    /// p-values of Williams' tests between metrics.
    Williams,
    /// Weighted F1 of paired bootstrap verdicts.
    Bootstrap,
    /// Anything else.
    Other,
}

/// Where a heat-map belongs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facets {
    /// What is correlated or compared.
    pub kind: Kind,
    /// `story`, `system` or `pooled`.
    pub level: Option<&'static str>,
    /// `pearson`, `spearman` or `kendall`.
    pub coefficient: Option<&'static str>,
    /// The criterion of a Williams matrix.
    pub criterion: Option<String>,
}

impl Facets {
    /// The facets of a heat-map; `None` for other forms.
    pub fn of(sheet: &Sheet) -> Option<Self> {
        if sheet.form != Form::Heatmap {
            return None;
        }
        let title = sheet.title.to_lowercase();
        let named =
            |names: &[&'static str]| names.iter().copied().find(|name| title.contains(*name));
        let kind = match () {
            () if title.contains("williams") => Kind::Williams,
            () if title.contains("f1") => Kind::Bootstrap,
            () if title.contains("between metrics and criteria") => Kind::Against,
            () if title.contains("between criteria") => Kind::Criteria,
            () if title.contains("between metrics") => Kind::Metrics,
            () => Kind::Other,
        };
        let criterion = match kind {
            Kind::Williams => between(&sheet.title, " for ", ","),
            _ => None,
        };
        Some(Self {
            kind,
            level: named(&["story-level", "system-level", "pooled-level"])
                .map(|name| name.trim_end_matches("-level")),
            coefficient: named(&["pearson", "spearman", "kendall"]),
            criterion,
        })
    }
}

fn between(text: &str, start: &str, end: &str) -> Option<String> {
    let rest = text.split_once(start)?.1;
    Some(rest.rsplit_once(end).map_or(rest, |(before, _)| before).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facets(title: &str) -> Facets {
        Facets::of(&Sheet::new("x", title, Form::Heatmap)).unwrap()
    }

    #[test]
    fn titles_of_the_papers_figures_are_understood() {
        let against = facets("story-level kendall correlations between metrics and criteria");
        assert_eq!((against.kind, against.level), (Kind::Against, Some("story")));
        assert_eq!(against.coefficient, Some("kendall"));
        let williams =
            facets("Williams tests between metrics for Plot, or so, system-level Pearson");
        assert_eq!(williams.criterion.as_deref(), Some("Plot, or so"));
        assert_eq!(facets("Weighted macro F1 (%), all metrics").kind, Kind::Bootstrap);
        assert_eq!(facets("pearson correlation between metrics").kind, Kind::Metrics);
    }
}
