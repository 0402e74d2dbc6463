//! How far raters agree (HANNA Table 3).

use storymeter_stats::Matrix;
use storymeter_stats::agreement::{
    Icc, Scale as Measure, fleiss_kappa, icc, kendall_w, krippendorff_alpha,
};

use super::{RatedStory, RatingTable};
use crate::error::Result;
use crate::outcome::{Absence, Outcome, finite_or};
use crate::study::{IccEstimate, Interval, RaterAgreement};

impl RatingTable {
    /// Intraclass correlations, Fleiss' kappa and Kendall's W of every criterion over the stories
    /// that all raters rated, and Krippendorff's alpha over all stories with two ratings.
    pub fn agreement(&self) -> Result<Vec<RaterAgreement>> {
        (0..self.criteria.len()).map(|at| self.agreement_on(at)).collect()
    }

    fn agreement_on(&self, at: usize) -> Result<RaterAgreement> {
        let raters = self.most_raters();
        let complete: Vec<f64> = self
            .stories
            .iter()
            .map(|story| &story.ratings[at])
            .filter(|row| row.len() == raters && row.iter().all(Option::is_some))
            .flat_map(|row| row.iter().copied().flatten())
            .collect();
        let n = complete.len().checked_div(raters).unwrap_or(0);
        let alpha = self.alphas_on(at, raters)?;
        let mut found = RaterAgreement {
            criterion: self.criteria[at].clone(),
            raters_known: self.raters,
            raters,
            n,
            left_out: self.stories.len() - n,
            icc: Err(Absence::FewRatings),
            alpha_stories: alpha.stories,
            alpha_ordinal: alpha.ordinal,
            alpha_interval: alpha.interval,
            fleiss_kappa: Err(Absence::FewRatings),
            kendall_w: Err(Absence::FewRatings),
            kendall_w_p: Err(Absence::FewRatings),
        };
        if n < 2 || raters < 2 {
            return Ok(found);
        }
        let matrix = Matrix::new(&complete, n, raters)?;
        let defined = |value| finite_or(value, Absence::EqualRatings);
        found.icc = Ok(icc(matrix)?.iter().map(estimate).collect());
        found.fleiss_kappa = defined(fleiss_kappa(matrix)?.kappa);
        let concordance = kendall_w(matrix)?;
        found.kendall_w = defined(concordance.w);
        found.kendall_w_p = defined(concordance.p_value);
        Ok(found)
    }

    /// Krippendorff's alpha, which was made for missing ratings: it uses every two ratings of one
    /// story.
    fn alphas_on(&self, at: usize, raters: usize) -> Result<Alphas> {
        let rating = |story: &RatedStory, rater: usize| {
            story.ratings[at].get(rater).copied().flatten().unwrap_or(f64::NAN)
        };
        let all = self.stories.iter().flat_map(|story| (0..raters).map(move |r| rating(story, r)));
        let all: Vec<f64> = all.collect();
        let twice = |row: &&[f64]| row.iter().filter(|v| !v.is_nan()).count() > 1;
        let stories = all.chunks(raters.max(1)).filter(twice).count();
        if stories < 2 {
            let (ordinal, interval) = (Err(Absence::FewRatings), Err(Absence::FewRatings));
            return Ok(Alphas { stories, ordinal, interval });
        }
        let matrix = Matrix::new(&all, self.stories.len(), raters)?;
        let alpha = |measure: Measure| -> Result<Outcome<f64>> {
            Ok(finite_or(krippendorff_alpha(matrix, measure)?.alpha, Absence::EqualRatings))
        };
        let (ordinal, interval) = (alpha(Measure::Ordinal)?, alpha(Measure::Interval)?);
        Ok(Alphas { stories, ordinal, interval })
    }
}

/// Krippendorff's alpha of one criterion.
struct Alphas {
    stories: usize,
    ordinal: Outcome<f64>,
    interval: Outcome<f64>,
}

fn estimate(icc: &Icc) -> IccEstimate {
    let defined = |value| finite_or(value, Absence::EqualRatings);
    let (low, high) = (icc.interval.low, icc.interval.high);
    IccEstimate {
        form: icc.form.to_string(),
        value: defined(icc.value),
        f: defined(icc.f),
        df1: icc.df1,
        df2: icc.df2,
        p_value: defined(icc.p_value),
        interval: defined(low).and_then(|low| Ok(Interval { low, high: defined(high)? })),
    }
}
