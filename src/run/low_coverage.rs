//! Whether a model with poles gives values where the target has them, and what to change if not: the weights of the loss, the threshold, the labels, the rows.

use super::finding::{Finding, Verdict, finding};
use crate::device::Device;
use crate::error::Result;
use crate::files::Table;
use crate::host::number;
use crate::loss::{Loss, PairLoss};
use crate::model::Model;
use crate::nn::{Layer, Spec};
use crate::table::{Encoded, NoteKind, Preparation, Unknown};

/// A smaller share of rows with a value, of those whose target is a number, is low.
const LOW: f64 = 0.9;
/// The threshold is lowered by this factor to see how many rows it refuses.
const LOOSER: f32 = 10.0;
/// A larger share of poles among the targets asks for a second look at them.
const MANY_POLES: f64 = 0.1;

/// What was seen of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Rows whose target is a number, and those of them without a value.
    numbers: usize,
    missed: usize,
    /// Rows whose target is a pole, and those of them without a value.
    poles: usize,
    found: usize,
    /// Of the missed: with a value at a threshold that is a tenth.
    rescued: usize,
    /// Of the missed: an operand that was not finite.
    faults: usize,
    /// Of the missed: beyond what training saw of a column.
    outside: usize,
}

/// The finding about the coverage of a model with poles on rows of a table that can be judged; none for other models.
pub(super) async fn coverage(
    model: &Model,
    device: &Device,
    preparation: &Preparation,
    (table, rows): (&Table, &[u32]),
) -> Result<Option<Finding>> {
    let (Some(head), Loss::Pairs(loss)) = (model.spec.head(), &model.loss) else { return Ok(None) };
    let tau = head.decoding.tau_infer;
    let Encoded { x, notes } = preparation.encode_noting(table, rows, Unknown::Other)?;
    let pairs = preparation.encode_pairs(table, rows)?;
    let decoded = model.decoded(device, &x).await?;
    let mut loose = model.clone();
    if let Some(head) = loose.spec.head_mut() {
        head.decoding.tau_infer = tau / LOOSER;
    }
    let looser = loose.decoded(device, &x).await?;
    let mut is_outside = vec![false; rows.len()];
    for note in notes.iter().filter(|note| matches!(note.kind, NoteKind::Outside | NoteKind::Unseen(_))) {
        is_outside[note.row] = true;
    }
    let mut seen = Seen::default();
    for (at, pair) in pairs.chunks_exact(2).enumerate() {
        let is_bottom = decoded.is_bottom(at);
        if pair[1] == 0.0 {
            seen.poles += 1;
            seen.found += usize::from(is_bottom);
            continue;
        }
        seen.numbers += 1;
        if is_bottom {
            seen.missed += 1;
            seen.faults += usize::from(decoded.is_fault(at));
            seen.rescued += usize::from(!looser.is_bottom(at));
            seen.outside += usize::from(is_outside[at]);
        }
    }
    Ok(Some(seen.finding(&model.spec, loss, tau)))
}

impl Seen {
    fn finding(&self, spec: &Spec, loss: &PairLoss, tau: f32) -> Finding {
        let Self { numbers, missed, poles, found, .. } = *self;
        let covered = numbers - missed;
        let share = if numbers == 0 { 1.0 } else { covered as f64 / numbers as f64 };
        let mut seen = format!("{covered} of {numbers} rows with a number have a value ({:.1} %)", 100.0 * share);
        if poles > 0 {
            seen += &format!("; {found} of {poles} infinite targets are ⊥");
        }
        let verdict = if share >= LOW { Verdict::Pass } else { Verdict::Advise };
        finding("coverage", verdict, seen, &self.advice(spec, loss, tau).join("; "))
    }

    /// What to change, the likeliest cause first.
    fn advice(&self, spec: &Spec, loss: &PairLoss, tau: f32) -> Vec<String> {
        let Self { numbers, missed, poles, rescued, faults, outside, .. } = *self;
        let is_most = |part: usize| part > 0 && 2 * part >= missed;
        let mut all = Vec::new();
        if faults > 0 {
            all.push(format!(
                "{faults} of the {missed} rows without one overflow: lower --lr, or clip gradients (--clip-norm 1)"
            ));
        }
        if is_most(rescued) {
            let [lower, tau] = [tau / LOOSER, tau].map(number);
            all.push(format!(
                "threshold: {rescued} of the {missed} have a value with --tau-infer {lower} instead of {tau}"
            ));
        }
        if is_most(outside) {
            all.push(format!(
                "rows: {outside} of the {missed} lie outside of what training saw; train on such rows, too"
            ));
        }
        all.push(if loss.coverage > 0.0 {
            format!(
                "term: raise the weight of coverage above {} (--term), or --hold-coverage 0.95",
                number(loss.coverage)
            )
        } else {
            "term: reward values with --hold-coverage 0.95, which raises the weight of the term coverage as needed"
                .into()
        });
        if loss.margin == 0.0 && loss.finite == 0.0 {
            all.push(
                "margin: --term margin=0.1, with the other terms, keeps denominators of numbers away from 0".into(),
            );
        }
        let all_rows = numbers + poles;
        if poles as f64 > MANY_POLES * all_rows as f64 {
            all.push(format!(
                "lifting: {poles} of {all_rows} targets are infinite and teach ⊥; those that are only large should be numbers"
            ));
        }
        if spec.layers.iter().any(|layer| matches!(layer, Layer::Rational(_))) {
            all.push("policy: --policy scm_rational=project keeps gradients of rational layers at ⊥".into());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::nn::{Activation, Decoding, Head, Layout, PairNormalization};
    use crate::table::{Feature, NumberFeature, Target};

    /// P = 1 and Q = x, ⊥ where |x| is below `tau`, trained on x from -1 to 1.
    fn reciprocal(tau: f32) -> Model {
        let decoding = Decoding::raw(tau, None);
        let head = Head { anchor: 0.0, gauge: PairNormalization::Free, decoding, ..Head::linear(1) };
        let spec = Spec::projective(1, &[], head, Activation::identity());
        let layout = Layout::of(&spec);
        let mut parameters = vec![0.0; layout.total];
        // Weights of P and Q, then their biases.
        parameters[layout.parameters[0].offset..][..2].copy_from_slice(&[0.0, 1.0]);
        parameters[layout.parameters[1].offset..][..2].copy_from_slice(&[1.0, 0.0]);
        let x = NumberFeature { name: "x".into(), scale: 1.0, min: -1.0, max: 1.0, ..NumberFeature::default() };
        let target = Target::Regression { name: "y".into(), mean: 0.0, scale: 1.0, min: -10.0, max: 10.0 };
        let preparation = Preparation::new(vec![Feature::Numeric(x)], target);
        Model::new(spec, Loss::Pairs(PairLoss::default()), parameters, Some(preparation))
    }

    fn found(tau: f32, rows: &[[f64; 2]]) -> Finding {
        let table = Table::from_matrix("t", &["x", "y"].map(String::from), &rows.concat()).unwrap();
        let model = reciprocal(tau);
        let preparation = model.preparation().unwrap();
        block_on(coverage(&model, &Device::cpu(1), preparation, (&table, &table.every_row()))).unwrap().unwrap()
    }

    #[test]
    fn low_coverage_names_its_causes() {
        // With τ = 0.5, x = 0.2 and 0.1 have no value though their targets are numbers; with 0.05 both have one. x = 0 is a pole.
        let rows = [[1.0, 1.0], [0.8, 1.25], [0.2, 5.0], [0.1, 10.0], [0.0, f64::INFINITY]];
        let low = found(0.5, &rows);
        assert_eq!(low.verdict, Verdict::Advise);
        assert_eq!(low.seen, "2 of 4 rows with a number have a value (50.0 %); 1 of 1 infinite targets are ⊥");
        assert!(
            low.advice.starts_with("threshold: 2 of the 2 have a value with --tau-infer 0.05 instead of 0.5; term: ")
        );
        for expected in ["--hold-coverage 0.95", "margin: ", "lifting: 1 of 5 targets are infinite"] {
            assert!(low.advice.contains(expected), "{expected}: {}", low.advice);
        }
        assert!(!low.advice.contains("policy: ") && !low.advice.contains("rows: "), "{}", low.advice);
        let good = found(0.01, &rows);
        assert_eq!((good.verdict, good.advice.as_str()), (Verdict::Pass, ""));
        assert_eq!(good.seen, "4 of 4 rows with a number have a value (100.0 %); 1 of 1 infinite targets are ⊥");
    }

    #[test]
    fn rows_outside_of_training_are_named() {
        // With τ = 5, x = 2 has no value and lies beyond the range by more than a tenth; a threshold of 0.5 would give it one.
        let low = found(5.0, &[[2.0, 0.5], [3.0, 0.3]]);
        assert!(low.advice.contains("rows: 2 of the 2 lie outside of what training saw"), "{}", low.advice);
    }
}
