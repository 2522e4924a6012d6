//! Judging a model on a table with its target.

use super::metrics::Metrics;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::host;
use crate::model::{Examples, Model};
use crate::table::MissingReport;

/// What a model makes of the rows of a table that have a target and every input that it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Those rows.
    pub rows: Vec<u32>,
    /// The other rows.
    pub gaps: MissingReport,
    /// The encoded inputs, [rows, inputs].
    pub x: Vec<f32>,
    /// The model's outputs, [rows, outputs].
    pub outputs: Vec<f32>,
    /// The loss's targets; for classes by cross-entropy [rows], otherwise [rows, outputs].
    pub targets: Vec<f32>,
    /// Seconds that the outputs took.
    pub seconds: f64,
    /// The metrics; `None` without rows.
    pub metrics: Option<Metrics>,
    /// The metrics of a prediction that ignores the inputs; `None` for a model with poles.
    pub baseline: Option<Metrics>,
}

impl Model {
    /// Judges the model on a table with its target. Columns are found by name.
    ///
    /// Rows whose class training did not see are left out. Errors if a column is missing, if training saw none of the classes, on a cell that the model cannot use, and if the output for a row
    /// is not finite, because no metric is true then.
    ///
    /// ```
    /// # use meromorph::prelude::*;
    /// # fn main() -> Result<()> {
    /// let text: String = (0..200).map(|i| format!("{i},{}\n", 2 * i)).collect();
    /// let table = read_table(format!("x,y\n{text}").as_bytes(), "lines.csv", Header::Yes)?;
    /// let choice = Choice { target: "y".into(), ..Choice::default() };
    /// let run = TrainOptions { choice, ..TrainOptions::default() }.prepare(&table)?;
    /// let device = Device::cpu(1);
    /// let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data)?;
    /// pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
    /// let model = pollster::block_on(trainer.model(Some(run.preparation)))?;
    /// let judged = pollster::block_on(model.evaluate(&device, &table))?;
    /// assert!(judged.metrics.and_then(|metrics| metrics.r2).is_some_and(|r2| r2 > 0.99));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn evaluate(&self, device: &Device, table: &Table) -> Result<Evaluation> {
        let preparation = self.preparation()?;
        let has_poles = self.spec.head().is_some();
        let (rows, gaps) = preparation.known_rows(table, has_poles)?;
        let Examples { x, y: targets } = Examples::encode(preparation, table, &rows, &self.loss)?;
        check_memory(table, rows.len(), self.spec.outputs()?)?;
        let start = host::now_ms();
        let outputs = self.outputs(device, &x).await?;
        let seconds = (host::now_ms() - start) / 1e3;
        // A model with poles says itself where it has no value.
        if !has_poles && let Some(at) = outputs.iter().position(|z| !z.is_finite()) {
            let row = rows[at / self.spec.outputs()?] as usize + 1;
            let source = table.source();
            return Err(Error::new(format!(
                "{source}: row {row}: the model's output is not finite; leave the row out"
            )));
        }
        let metrics = Metrics::of(&self.spec, &self.loss, &outputs, &targets, preparation.target.scale());
        let baseline = Metrics::baseline(&preparation.target, &self.loss, &targets);
        Ok(Evaluation { rows, gaps, x, outputs, targets, seconds, metrics, baseline })
    }
}

/// Errors if the outputs of so many rows do not fit in memory, with what metrics sort: for each its value and two numbers.
fn check_memory(table: &Table, rows: usize, outputs: usize) -> Result<()> {
    let bytes = (rows * outputs) as u64 * (4 + 3 * 8);
    let said = host::has_room(bytes, || format!("outputs and metrics of {rows} rows"));
    said.map_err(|what| Error::new(format!("{}: {what}; use fewer rows", table.source())))
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::files::{Header, read_plain};
    use crate::judge::examined::{judged, linear};

    #[test]
    fn a_known_model_has_known_figures() {
        let device = Device::cpu(1);
        let found = block_on(linear([3.0, -1.0, 0.0]).evaluate(&device, &judged(100))).unwrap();
        assert_eq!((found.rows.len(), found.gaps.dropped), (100, 0));
        assert!(found.metrics.unwrap().mae.unwrap() < 1e-5);
        assert!((found.baseline.unwrap().mse.unwrap() - 10.0).abs() < 3.0, "the variance of 3 a - b");
    }

    #[test]
    fn an_output_that_is_not_finite_is_an_error_that_names_the_row() {
        let table = read_plain(b"a,b,c,y\n1,1,1,1\n,1,1,1\n3e38,1,1,1\n", "t.csv", Header::Yes).unwrap();
        let said = block_on(linear([3.0, 0.0, 0.0]).evaluate(&Device::cpu(1), &table)).unwrap_err().to_string();
        assert_eq!(said, "t.csv: row 3: the model's output is not finite; leave the row out");
    }
}
