//! How far raters agree (HANNA Table 3).

use storymeter_stats::Matrix;
use storymeter_stats::agreement::{
    Icc, Scale as Measure, fleiss_kappa, icc, kendall_w, krippendorff_alpha,
};

use super::RatingTable;
use crate::error::Result;
use crate::outcome::{Gap, finite_or};
use crate::study::{IccEstimate, Interval, RaterAgreement};

impl RatingTable {
    /// Intraclass correlations, Krippendorff's alpha, Fleiss' kappa and Kendall's W of every
    /// criterion, over the stories that all raters rated.
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
        let mut found = RaterAgreement {
            criterion: self.criteria[at].clone(),
            raters_known: self.raters,
            raters,
            n,
            left_out: self.stories.len() - n,
            icc: Err(few),
            alpha_ordinal: Err(few),
            alpha_interval: Err(few),
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
        found.alpha_ordinal = finite_or(krippendorff_alpha(matrix, Measure::Ordinal)?.alpha, equal);
        found.alpha_interval =
            finite_or(krippendorff_alpha(matrix, Measure::Interval)?.alpha, equal);
        found.fleiss_kappa = finite_or(fleiss_kappa(matrix)?.kappa, equal);
        let concordance = kendall_w(matrix)?;
        found.kendall_w = finite_or(concordance.w, equal);
        found.kendall_w_p = finite_or(concordance.p_value, equal);
        Ok(found)
    }
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
