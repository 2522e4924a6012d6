//! How a fit compares with that of another model.

use serde_json::{Value, json};

use crate::Answer;
use meromorph::fit::{FTest, FitRows, Problem, SavedFit};

/// A comparison of two models of the same data.
pub(super) enum Comparison {
    /// The other model is a special case of this one.
    Nested(FTest),
    /// It is not.
    Apart { aic_difference: f64 },
}

impl Comparison {
    /// Compares the fit of a problem with another fit; `rows` are those of the problem, or some of them.
    pub(super) fn of(problem: &Problem<'_>, other: &SavedFit, fitted: &SavedFit, rows: &FitRows<'_>) -> Answer<Self> {
        let aic_difference = other.aic_difference(fitted)?;
        let has_more = fitted.free_count() > other.free_count();
        let is_within = || other.is_within(problem, fitted, &rows.columns, &rows.levels, rows.sigma.as_deref());
        if has_more && is_within()? {
            return Ok(Self::Nested(other.tested_against(fitted)?));
        }
        Ok(Self::Apart { aic_difference })
    }

    pub(super) fn json(&self) -> Value {
        match self {
            Self::Nested(FTest { f, dof: [more, dof], p, aic_difference }) => json!({
                "event": "test", "is_nested": true, "f": f, "additional_parameters": more, "dof": dof, "p": p, "aic_difference": aic_difference,
            }),
            Self::Apart { aic_difference } => json!({
                "event": "test", "is_nested": false, "aic_difference": aic_difference,
            }),
        }
    }
}
