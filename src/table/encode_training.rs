//! Encodes training rows: so that the model learns what to say of a category it does not know, and not a row's target from its input.

use super::feature::TrainingRows;
use super::prepare::{Preparation, find};
use crate::error::Result;
use crate::files::Table;
use crate::math::splitmix::{STEP, mixed};

/// In one of so many training rows a category counts as unseen.
const DROPPED: u64 = 20;

impl Preparation {
    /// As [`Self::encode_known`], for training rows. In one of twenty rows a category counts as unseen, chosen by the positions of the row and
    /// the column. Mean targets of a level are those of other rows.
    pub fn encode_training(&self, table: &Table, rows: &[u32]) -> Result<Vec<f32>> {
        let mut x = self.encode_known(table, rows)?;
        let inputs = self.inputs();
        let mut at = 0;
        for (j, feature) in self.features.iter().enumerate() {
            let (kind, column) = (feature.as_kind(), find(table, feature.name())?);
            let of_targets = || Ok((self.encode_target(table, rows)?, self.target.levels().len()));
            let fold = |at: usize| hash(u64::from(rows[at]));
            let training = TrainingRows { table, column, rows, of_targets: &of_targets, fold: &fold };
            let own = at..at + feature.inputs();
            kind.write_training(&training, &mut x.chunks_exact_mut(inputs).map(|row| &mut row[own.clone()]))?;
            let is_dropped = |row: &u32| hash(u64::from(*row) << 32 | j as u64).is_multiple_of(DROPPED);
            for (x, row) in x.chunks_exact_mut(inputs).zip(rows) {
                if kind.learns_unknown() && is_dropped(row) {
                    x[own.clone()].fill(0.0);
                }
            }
            at += feature.inputs();
        }
        Ok(x)
    }
}

fn hash(word: u64) -> u64 {
    mixed(word.wrapping_add(STEP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::csv::{Header, read};
    use crate::table::choose::{Choice, choose};

    fn prepared(text: &str) -> (Table, Preparation) {
        let table = read(text.as_bytes(), "a.csv", Header::Yes).unwrap();
        let chosen = choose(&table, &Choice { target: "y".into(), ..Choice::default() }).unwrap();
        let preparation = Preparation::fit(&table, &chosen, &chosen.rows).unwrap();
        (table, preparation)
    }

    #[test]
    fn a_twentieth_of_the_training_rows_have_no_category() {
        let (_, preparation) = prepared(&format!("x,colour,y\n{}", "0,red,1\n10,blue,2.5\n".repeat(50)));
        let text = format!("x,colour\n{}", "0,red\n".repeat(10_000));
        let table = read(text.as_bytes(), "b.csv", Header::Yes).unwrap();
        let rows = table.every_row();
        let x = preparation.encode_training(&table, &rows).unwrap();
        let dropped = x.chunks(preparation.inputs()).filter(|x| x[x.len() - 2..] == [0.0, 0.0]).count();
        assert!((430..570).contains(&dropped), "{dropped}");
        assert_eq!(x, preparation.encode_training(&table, &rows).unwrap());
    }

    #[test]
    fn a_row_does_not_see_its_own_target() {
        // Every level has two rows; the target is noise, so that only a row's own target could be learnt from the means.
        let noise = |row: u64| (hash(row) >> 40) as f64;
        let text: String = (0..2000).map(|row| format!("k{},{}\n", row % 1000, noise(row))).collect();
        let (table, preparation) = prepared(&format!("k,y\n{text}"));
        assert_eq!(preparation.inputs(), 129);
        let rows = table.every_row();
        let y = preparation.encode_target(&table, &rows).unwrap();
        let correlation = |x: &[f32]| {
            let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            sum(x, &y) / (sum(x, x) * sum(&y, &y)).sqrt()
        };
        let means = |x: Vec<f32>| x.chunks(129).map(|x| x[128]).collect::<Vec<f32>>();
        let own = correlation(&means(preparation.encode(&table, &rows).unwrap()));
        let others = correlation(&means(preparation.encode_training(&table, &rows).unwrap()));
        assert!(own > 0.5, "{own}");
        assert!(others.abs() < 0.1, "{others}");
    }
}
