//! From a table to rows the trainer takes, and from outputs of a model to figures.

use crate::Result;
use crate::io::{self, Preparation, Table, Target};
use crate::loss::Loss;
use crate::train::{self, Data, Examples, Metrics, Origin};

/// A table ready to be learnt from, and what was settled on the way.
pub(super) struct Prepared {
    pub data: Data,
    pub preparation: Preparation,
    /// Why the task is what it is.
    pub reason: String,
    /// What was dropped and what is filled in.
    pub gaps: io::Report,
    /// The name of the table.
    pub source: String,
}

/// Settles columns and rows, deals them out by the seed, and encodes them. The table is gone when it returns.
pub(super) fn prepare(table: Table, origin: &Origin, seed: u64) -> Result<Prepared> {
    let chosen = io::choose(&table, &origin.choice)?;
    let order = train::split_order(chosen.rows.len(), seed);
    let split = io::split(order.len(), origin.fractions, &order).map_err(|error| error.within(table.source()))?;
    let split = split.of(&chosen.rows);
    let preparation = Preparation::fit(&table, &chosen, &split.train)?;
    let examples = |rows: &[u32]| -> Result<Examples> {
        Ok(Examples { x: preparation.encode(&table, rows)?, y: preparation.encode_target(&table, rows)? })
    };
    let (train, validation, test) = (examples(&split.train)?, examples(&split.validation)?, examples(&split.test)?);
    let data = Data { inputs: preparation.inputs(), targets: 1, train, validation, test };
    Ok(Prepared { data, preparation, reason: chosen.reason, gaps: chosen.report, source: table.source().to_owned() })
}

impl Prepared {
    /// Turns class indices into one target per class where the loss takes them so.
    pub(super) fn fit_to(&mut self, loss: Loss) {
        let classes = self.preparation.target.levels().len();
        if loss != Loss::Bce || classes == 0 || self.data.targets == classes {
            return;
        }
        self.data.targets = classes;
        for part in [&mut self.data.train, &mut self.data.validation, &mut self.data.test] {
            part.y = one_hot(&part.y, classes);
        }
    }
}

/// [rows, classes] of 1 for a row's own class and 0 for the others.
pub(super) fn one_hot(indices: &[f32], classes: usize) -> Vec<f32> {
    let row = |&index: &f32| (0..classes).map(move |class| f32::from(u8::from(class == index as usize)));
    indices.iter().flat_map(row).collect()
}

/// Figures of outputs `z` against targets `y` as the model was given them; nothing for no rows.
pub(super) fn measure(target: &Target, loss: Loss, z: &[f32], y: &[f32]) -> Option<Metrics> {
    if y.is_empty() {
        return None;
    }
    let classes = target.levels().len();
    Some(match target {
        Target::Regression { scale, .. } => Metrics::regression(loss, z, y, 1, *scale),
        Target::Classification { .. } if loss == Loss::Bce => {
            let indices: Vec<f32> = y.chunks_exact(classes).map(|row| largest(row) as f32).collect();
            let loss = Metrics::regression(loss, z, y, classes, 1.0).loss;
            Metrics { loss, ..Metrics::classification(z, &indices, classes) }
        }
        Target::Classification { .. } => Metrics::classification(z, y, classes),
    })
}

/// What a model said of some rows beside what was true, for pictures.
pub(super) enum Picture {
    /// Actual and predicted numbers.
    Numbers(Vec<[f64; 2]>),
    /// Rows by actual and predicted class.
    Classes {
        /// Names of the classes.
        names: Vec<String>,
        /// counts[actual][predicted].
        counts: Vec<Vec<u64>>,
    },
}

impl Picture {
    pub(super) fn of(preparation: &Preparation, z: &[f32], y: &[f32]) -> Self {
        let names = preparation.target.levels().to_vec();
        if names.is_empty() {
            let pair = |(&z, &y): (&f32, &f32)| [preparation.decode_target(y), preparation.decode_target(z)];
            return Self::Numbers(z.iter().zip(y).map(pair).collect());
        }
        let classes = names.len();
        let mut counts = vec![vec![0; classes]; classes];
        let targets = y.len() * classes / z.len().max(1);
        for (z, y) in z.chunks_exact(classes).zip(y.chunks_exact(targets.max(1))) {
            let actual = if targets > 1 { largest(y) } else { y[0] as usize };
            counts[actual][largest(z)] += 1;
        }
        Self::Classes { names, counts }
    }
}

fn largest(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_against_the_rest() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let target = Target::Classification { name: "y".into(), levels: names, counts: vec![1, 1, 1] };
        let preparation = Preparation { features: Vec::new(), target };
        let (z, y) = ([2.0, -1.0, 0.0, -3.0, -1.0, -2.0], one_hot(&[0.0, 2.0], 3));
        assert_eq!(y, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let metrics = measure(&preparation.target, Loss::Bce, &z, &y).unwrap();
        assert_eq!((metrics.rows, metrics.accuracy), (2, Some(0.5)));
        let Picture::Classes { counts, .. } = Picture::of(&preparation, &z, &y) else { panic!("classes") };
        assert_eq!(counts, [[1, 0, 0], [0, 0, 0], [0, 1, 0]]);
        assert_eq!(measure(&preparation.target, Loss::Bce, &[], &[]), None);
    }
}
