//! How near a pole predictions are uncertain, from the errors of the model itself. A pole that was learned a little aside of the true one gives large
//! numbers of either sign at the true one. As points of the projective line they are near the target, at a distance that held-out rows show; where a
//! prediction is no farther from ⊥ than that, the true value may be on the other side of the pole.

use super::trainer::Trainer;
use crate::error::Result;
use crate::judge::pairs::with_targets;
use crate::kernels::strict::Threshold;
use crate::math::quantile_of_sorted;

/// Fewest values that errors are taken from.
const FEWEST: usize = 20;
/// Share of the values nearest to poles that errors are taken from.
const NEAREST: f64 = 0.02;
/// Share of those errors that the gap covers.
const COVERED: f64 = 0.95;
/// The widest gap, as the sine of an angle: values farther than 1.7 times the target's scale from its middle.
const WIDEST: f64 = 0.5;

impl Trainer {
    /// Widens the gap of a head with poles to the errors near poles, over the rows of training and validation, if the configuration wants that.
    pub(crate) async fn measure_gap(&mut self) -> Result<()> {
        let threshold = self.network.head().map(|head| head.decoding.threshold);
        if !self.settings.measures_gap || threshold != Some(Threshold::Angle) {
            return Ok(());
        }
        let mut errors = Vec::new();
        for part in [&self.data.train, &self.data.validation] {
            let z = self.predict(&part.x).await?;
            errors.extend(chordal_errors(&z, &part.y, self.data.targets / 2));
        }
        let Some(measured) = measured(errors) else { return Ok(()) };
        if let Some(head) = self.network.head_mut() {
            let before = head.decoding.tau_train.unwrap_or(head.decoding.tau_infer);
            head.decoding.tau_train = Some(before.max(measured as f32));
        }
        Ok(())
    }
}

/// Of each target its distance from ⊥ and that of the prediction from it, as sines of the angle between pairs; pairs are [rows, 2 · outputs].
fn chordal_errors(z: &[f32], y: &[f32], outputs: usize) -> Vec<[f64; 2]> {
    let one = |pairs: [f32; 4]| {
        let [p, q, yn, yd] = pairs.map(f64::from);
        let (length, of_target) = (p.hypot(q), yn.hypot(yd));
        let error = (p * yd - q * yn).abs() / (length * of_target);
        error.is_finite().then_some([yd.abs() / of_target, error])
    };
    with_targets(outputs, z, y).filter_map(one).collect()
}

/// The error that covers most of those at the targets nearest to ⊥; `None` if there are too few.
fn measured(mut errors: Vec<[f64; 2]>) -> Option<f64> {
    if errors.len() < FEWEST {
        return None;
    }
    errors.sort_by(|a, b| a[0].total_cmp(&b[0]));
    errors.truncate(((errors.len() as f64 * NEAREST) as usize).max(FEWEST));
    let mut near: Vec<f64> = errors.into_iter().map(|[_, error]| error).collect();
    near.sort_by(f64::total_cmp);
    Some(quantile_of_sorted(&near, COVERED).min(WIDEST))
}
