//! Rows like those that a model was trained on, from what its file says of each column: numbers and times between the least and the largest, levels as
//! often as training had them. Columns are drawn on their own, so that rows may be combinations that no training row had.

use meromorph::Result;
use meromorph::files::{Column, Table};
use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::table::{Preparation, Seen};

/// As many rows of the columns that the model reads; always the same ones.
pub(super) fn drawn(preparation: &Preparation, rows: usize) -> Result<Table> {
    let mut state = 0;
    let mut unit = move || {
        state += 1;
        (mixed(STEP.wrapping_mul(state)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let columns = preparation.features.iter().map(|feature| {
        let name = feature.name();
        let between = |unit: f64, min: f64, max: f64| min + unit * (max - min);
        match feature.seen() {
            Seen::Numbers(number) => {
                Column::numeric(name, (0..rows).map(|_| between(unit(), number.min, number.max)).collect())
            }
            Seen::Times(date) => {
                let text = |unit| date.text(between(unit, date.elapsed.min, date.elapsed.max));
                Column::categorical(name, &(0..rows).map(|_| text(unit())).collect::<Vec<_>>())
            }
            Seen::Levels { levels, counts, .. } => {
                Column::categorical(name, &(0..rows).map(|_| level(levels, counts, unit())).collect::<Vec<_>>())
            }
            Seen::Texts { example, .. } => Column::categorical(name, &vec![example.to_owned(); rows]),
        }
    });
    Table::new("drawn from the ranges of training", columns.collect())
}

/// The level at a share of all training rows.
fn level(levels: &[String], counts: &[u32], share: f64) -> String {
    let all: f64 = counts.iter().copied().map(f64::from).sum();
    let mut left = share * all;
    for (level, count) in levels.iter().zip(counts) {
        left -= f64::from(*count);
        if left < 0.0 {
            return level.clone();
        }
    }
    levels.last().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_as_frequent_as_in_training() {
        let levels = ["a", "b", "c"].map(String::from);
        let at = |share| level(&levels, &[1, 0, 3], share);
        assert_eq!([at(0.0), at(0.24), at(0.26), at(1.0)], ["a", "a", "c", "c"]);
    }
}
