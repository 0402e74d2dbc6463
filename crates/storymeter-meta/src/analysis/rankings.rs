//! Metrics ranked over many correlations.

use storymeter_stats::ranking::{BordaTies, borda, kemeny, mean_ranks};
use storymeter_stats::{Coefficient, Matrix};

use super::{Analysis, significant_digits};
use crate::error::Result;
use crate::level::Level;
use crate::study::{Ballot, Edition, Place, RankMethod, Ranking, Voter};

/// A ballot with its voters: the column of the criterion, at a level, with a coefficient.
pub(crate) struct Ballots {
    pub ballot: Ballot,
    voters: Vec<(Level, Coefficient, usize)>,
}

/// The metrics that every voter has a number for, and their correlations, turned by the direction
/// of each metric, one row per metric.
struct Candidates {
    metrics: Vec<usize>,
    strengths: Vec<f64>,
    voters: usize,
}

impl Candidates {
    fn matrix(&self) -> storymeter_stats::Result<Matrix<'_>> {
        Matrix::new(&self.strengths, self.metrics.len(), self.voters)
    }
}

impl Analysis {
    /// All correlations at these levels, then those of each level, of each coefficient, of both,
    /// and of each criterion.
    ///
    /// With story and system level and six criteria these are the 18 rankings that HANNA published.
    pub fn ballots(&self, levels: &[Level]) -> Vec<Ballots> {
        let criteria = &self.criteria;
        let block = |level: Level, coefficient: Coefficient| {
            criteria.iter().map(move |&criterion| (level, coefficient, criterion))
        };
        let all = || {
            levels.iter().flat_map(|&l| Coefficient::ALL.into_iter().flat_map(move |c| block(l, c)))
        };
        let mut ballots = vec![Ballots { ballot: Ballot::Global, voters: all().collect() }];
        for &level in levels {
            let voters = all().filter(|voter| voter.0 == level).collect();
            ballots.push(Ballots { ballot: Ballot::Level(level), voters });
        }
        for coefficient in Coefficient::ALL {
            let voters = all().filter(|voter| voter.1 == coefficient).collect();
            ballots.push(Ballots { ballot: Ballot::Coefficient(coefficient), voters });
        }
        for &level in levels {
            for coefficient in Coefficient::ALL {
                let voters = block(level, coefficient).collect();
                ballots.push(Ballots { ballot: Ballot::Block(level, coefficient), voters });
            }
        }
        for &criterion in criteria {
            let voters = all().filter(|voter| voter.2 == criterion).collect();
            ballots.push(Ballots { ballot: Ballot::Criterion(self.key(criterion)), voters });
        }
        ballots
    }

    fn candidates(&self, ballot: &Ballots) -> Candidates {
        let votes = |metric: usize| -> Vec<f64> {
            let turn = self.turn(metric);
            let one = |&(level, coefficient, criterion): &(Level, Coefficient, usize)| {
                let strength =
                    turn.apply(self.correlations.number(level, coefficient, metric, criterion));
                // A metric and its mirror image are equally strong; their last bits need not be.
                if self.edition == Edition::Corrected {
                    significant_digits(strength)
                } else {
                    strength
                }
            };
            ballot.voters.iter().map(one).collect()
        };
        let complete = |&metric: &usize| votes(metric).iter().all(|vote| !vote.is_nan());
        let metrics: Vec<usize> = self.metrics.iter().copied().filter(complete).collect();
        let strengths = metrics.iter().flat_map(|&metric| votes(metric)).collect();
        Candidates { metrics, strengths, voters: ballot.voters.len() }
    }

    /// The metrics ranked over the correlations of a ballot.
    pub fn ranking(&self, ballot: &Ballots, method: RankMethod) -> Result<Ranking> {
        let candidates = self.candidates(ballot);
        let matrix = candidates.matrix()?;
        let mut exact = None;
        let order: Vec<(usize, Option<f64>)> = match method {
            RankMethod::Borda => {
                let count = borda(matrix, ties(self.edition))?;
                count.order.iter().map(|&at| (at, Some(count.scores[at]))).collect()
            }
            RankMethod::MeanRank => {
                let ranks = mean_ranks(matrix)?;
                let mut order: Vec<usize> = (0..ranks.len()).collect();
                order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
                order.into_iter().map(|at| (at, Some(ranks[at]))).collect()
            }
            RankMethod::Kemeny => {
                let consensus = kemeny(matrix)?;
                exact = Some(consensus.exact);
                consensus.order.into_iter().map(|at| (at, None)).collect()
            }
        };
        let place = |(at, score): (usize, Option<f64>)| Place {
            metric: self.key(candidates.metrics[at]),
            score,
        };
        let voter = |&(level, coefficient, criterion): &(Level, Coefficient, usize)| Voter {
            level,
            coefficient,
            criterion: self.key(criterion),
        };
        Ok(Ranking {
            method,
            ballot: ballot.ballot.clone(),
            voters: ballot.voters.iter().map(voter).collect(),
            places: order.into_iter().map(place).collect(),
            unranked: self.metrics.len() - candidates.metrics.len(),
            exact,
        })
    }
}

/// What equal correlations give to the metrics that have them.
fn ties(edition: Edition) -> BordaTies {
    match edition {
        Edition::Corrected => BordaTies::MidRank,
        Edition::Published => BordaTies::Numpy123,
    }
}
