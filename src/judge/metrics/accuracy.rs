//! Share of rows whose class was predicted.

use super::{Metric, Predicted};

pub(super) const METRIC: Metric = Metric {
    label: "accuracy",
    doc: "Share of rows whose class was predicted",
    of: |scored| match &scored.predicted {
        Predicted::Classes(classes) => {
            Some(classes.counts().iter().map(|count| count.right).sum::<f64>() / classes.rows())
        }
        Predicted::Shares(shares) => Some(shares.right()),
        _ => None,
    },
};
