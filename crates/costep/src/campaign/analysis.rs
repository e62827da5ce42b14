//! What follows from the rows of a full plan: effects, the sorted runs and the optimal set.

use costep_experiments::{Choice, Sorting, Variance};

use super::{Campaign, CampaignRow};

/// Effects, the sorted runs and the optimal set.
#[derive(Clone, Debug)]
pub struct PlanAnalysis {
    /// The error of every run; that of runs that diverge, or greater than the plan says, is the greatest one.
    pub errors: Vec<f64>,
    /// What each factor and each pair of them does to it.
    pub variance: Variance,
    /// The runs from the least error on.
    pub sorting: Sorting,
    /// What the best of them have in common, factor by factor.
    pub optimum: Vec<Choice>,
}

impl PlanAnalysis {
    /// Of one row per point.
    pub fn of(campaign: &Campaign, rows: &[CampaignRow]) -> Self {
        let (plan, spec) = (campaign.factorial(), campaign.plan().analysis);
        let error = |row: &CampaignRow| {
            let error = row.error(spec.error).filter(|error| !row.has_diverged() && *error < spec.saturate);
            error.unwrap_or(spec.saturate)
        };
        let errors: Vec<f64> = rows.iter().map(error).collect();
        let variance = Variance::of(plan, &errors);
        let sorting = Sorting::of(plan, &errors, (spec.within, spec.at_least));
        let optimum = sorting.optimum(plan);
        Self { errors, variance, sorting, optimum }
    }

    /// The least error.
    pub fn least(&self) -> Option<f64> {
        self.sorting.order.first().map(|best| self.errors[*best])
    }
}
