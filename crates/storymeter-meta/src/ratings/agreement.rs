//! How far raters agree (HANNA Table 3).

use storymeter_stats::Matrix;
use storymeter_stats::agreement::{
    Icc, Scale as Measure, fleiss_kappa, icc, kendall_w, krippendorff_alpha,
};

use super::{RatedStory, RatingTable};
use crate::error::Result;
use crate::outcome::{Gap, Outcome, finite_or};
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
        let few = Gap::FewRatings;
        let alpha = self.alphas_on(at, raters)?;
        let mut found = RaterAgreement {
            criterion: self.criteria[at].clone(),
            raters_known: self.raters,
            raters,
            n,
            left_out: self.stories.len() - n,
            icc: Err(few),
            alpha_stories: alpha.stories,
            alpha_ordinal: alpha.ordinal,
            alpha_interval: alpha.interval,
            fleiss_kappa: Err(few),
            kendall_w: Err(few),
            kendall_w_p: Err(few),
        };
        if n < 2 || raters < 2 {
            return Ok(found);
        }
        let matrix = Matrix::new(&complete, n, raters)?;
        let equal = Gap::EqualRatings;
        found.icc = Ok(icc(matrix)?.iter().map(estimate).collect());
        found.fleiss_kappa = finite_or(fleiss_kappa(matrix)?.kappa, equal);
        let concordance = kendall_w(matrix)?;
        found.kendall_w = finite_or(concordance.w, equal);
        found.kendall_w_p = finite_or(concordance.p_value, equal);
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
            let (ordinal, interval) = (Err(Gap::FewRatings), Err(Gap::FewRatings));
            return Ok(Alphas { stories, ordinal, interval });
        }
        let matrix = Matrix::new(&all, self.stories.len(), raters)?;
        let alpha = |measure: Measure| -> Result<Outcome<f64>> {
            Ok(finite_or(krippendorff_alpha(matrix, measure)?.alpha, Gap::EqualRatings))
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
    let gap = Gap::EqualRatings;
    let (low, high) = (icc.interval.low, icc.interval.high);
    let defined = low.is_finite() && high.is_finite();
    IccEstimate {
        form: icc.form.to_string(),
        value: finite_or(icc.value, gap),
        f: finite_or(icc.f, gap),
        df1: icc.df1,
        df2: icc.df2,
        p_value: finite_or(icc.p_value, gap),
        interval: if defined { Ok(Interval { low, high }) } else { Err(gap) },
    }
}
