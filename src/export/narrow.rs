//! The effect of storing a model's weights in fewer bits: the narrowed model, loaded from its file, is compared with the original
//! on each row of a table.

use serde::Serialize;

use crate::device::Device;
use crate::error::Result;
use crate::files::Table;
use crate::model::{Model, PredictOptions, Prediction, Storage};

/// Differences between the predictions of two models. Masks apply to models with poles, classes to classifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Rows compared.
    pub rows: usize,
    /// Rows with unchanged bottom, gap and fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_masks: Option<usize>,
    /// Rows that had a number and are now ⊥.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newly_bottom: Option<usize>,
    /// Rows that were ⊥ and now have a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newly_number: Option<usize>,
    /// Rows with a number before and after, but marked as near a pole in only one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_changes: Option<usize>,
    /// Rows whose class changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_changes: Option<usize>,
    /// The largest change of a number, in target units, or of a probability; absent if no row has one before and after.
    pub largest_change: Option<f64>,
    /// The median change.
    pub median_change: Option<f64>,
}

/// The file of `model` with its weights stored as `storage`, and the model loaded from it.
pub fn narrowed(model: &Model, storage: Storage) -> Result<(Vec<u8>, Model)> {
    let bytes = model.save_as(storage)?;
    let narrow = Model::load(&bytes, storage.name())?;
    Ok((bytes, narrow))
}

/// Predicts every row of a table with both models.
pub async fn compare(device: &Device, table: &Table, before: &Model, after: &Model) -> Result<Comparison> {
    let before = before.predict_as(device, table, PredictOptions::lenient()).await?;
    let after = after.predict_as(device, table, PredictOptions::lenient()).await?;
    Ok(Comparison::of(&before, &after))
}

impl Comparison {
    fn of(before: &[Prediction], after: &[Prediction]) -> Self {
        let mut total = Self { rows: before.len(), ..Self::default() };
        let mut changes: Vec<f64> =
            before.iter().zip(after).filter_map(|(before, after)| total.count(before, after)).collect();
        changes.sort_by(f64::total_cmp);
        total.largest_change = changes.last().copied();
        total.median_change = changes.get(changes.len() / 2).copied();
        total
    }

    /// Counts a row and returns the change of its number.
    fn count(&mut self, before: &Prediction, after: &Prediction) -> Option<f64> {
        match (before, after) {
            (Prediction::Number(before), Prediction::Number(after)) => Some((after - before).abs()),
            (Prediction::Normal { mean: before, .. }, Prediction::Normal { mean: after, .. }) => {
                Some((after - before).abs())
            }
            (Prediction::Class { name, probability }, Prediction::Class { name: other, probability: now }) => {
                *self.class_changes.get_or_insert(0) += usize::from(name != other);
                (name == other).then_some((now - probability).abs())
            }
            (
                Prediction::Decoded { value, is_gap, is_fault },
                Prediction::Decoded { value: now, is_gap: now_gap, is_fault: now_fault },
            ) => {
                let is_equal = (value.is_none(), is_gap, is_fault) == (now.is_none(), now_gap, now_fault);
                *self.equal_masks.get_or_insert(0) += usize::from(is_equal);
                *self.newly_bottom.get_or_insert(0) += usize::from(value.is_some() && now.is_none());
                *self.newly_number.get_or_insert(0) += usize::from(value.is_none() && now.is_some());
                let both = value.zip(*now);
                *self.gap_changes.get_or_insert(0) += usize::from(both.is_some() && is_gap != now_gap);
                both.map(|(before, after)| (after - before).abs())
            }
            _ => unreachable!("a narrowed model predicts what its original predicts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(value: Option<f64>, is_gap: bool) -> Prediction {
        Prediction::Decoded { value, is_gap, is_fault: false }
    }

    #[test]
    fn masks_are_compared_row_by_row() {
        let before = [(Some(1.0), false), (Some(2.0), false), (None, false), (Some(4.0), true), (None, false)];
        let after = [(Some(1.5), false), (None, false), (Some(9.0), false), (Some(4.25), false), (None, false)];
        let [before, after] = [before, after].map(|rows| rows.map(|(value, is_gap)| decoded(value, is_gap)));
        let expected = Comparison {
            rows: 5,
            equal_masks: Some(2),
            newly_bottom: Some(1),
            newly_number: Some(1),
            gap_changes: Some(1),
            class_changes: None,
            largest_change: Some(0.5),
            median_change: Some(0.5),
        };
        assert_eq!(Comparison::of(&before, &after), expected);
        assert_eq!(Comparison::of(&before[2..3], &after[4..]).median_change, None);
    }

    #[test]
    fn classes_and_numbers_have_no_masks() {
        let class = |name: &str, probability| Prediction::Class { name: name.into(), probability };
        let seen = Comparison::of(&[class("a", 0.5), class("a", 0.5)], &[class("a", 0.75), class("b", 0.5)]);
        assert_eq!((seen.class_changes, seen.largest_change, seen.equal_masks), (Some(1), Some(0.25), None));
        let seen = Comparison::of(&[Prediction::Number(1.0)], &[Prediction::Number(0.0)]);
        assert_eq!((seen.class_changes, seen.largest_change, seen.equal_masks), (None, Some(1.0), None));
    }
}
