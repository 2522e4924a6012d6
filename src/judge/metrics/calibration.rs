//! Expected calibration error: the mean distance of the predicted classes' probability from the share of them that is right, over ten bins (Naeini et al.
//! 2015).

use super::{Classes, Metric};
use crate::math::largest;

/// Bins of probabilities.
const BINS: usize = 10;

pub(super) const METRIC: Metric = Metric {
    label: "calibration",
    doc: "Mean distance of the predicted classes' probability from the share of them that is right, over ten bins",
    of: |scored| scored.classes().map(error),
};

fn error(classes: &Classes<'_>) -> f64 {
    let mut bins = [[0.0; 2]; BINS];
    for (p, own) in classes.each() {
        let said = largest(p);
        let bin = &mut bins[((p[said] * BINS as f64) as usize).min(BINS - 1)];
        bin.iter_mut().zip([p[said], f64::from(u8::from(said == own))]).for_each(|(sum, x)| *sum += x);
    }
    bins.iter().map(|[p, right]| (p - right).abs()).sum::<f64>() / classes.rows()
}
