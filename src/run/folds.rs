//! Cross-validation: the splits of its folds, one trained fold, and mean and spread over the folds.

use super::options::TrainOptions;
use super::split::{Run, SplitTable};
use crate::device::Device;
use crate::error::Result;
use crate::files::Table;
use crate::judge::{Metrics, ResidualGroup};
use crate::math::split_order;
use crate::model::{Examples, Model};
use crate::table::{self, Task};
use crate::train::{Event, Flow, Outcome, Trainer};

/// A fold: a model that was trained on the other rows.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The model, with the weights of its best epoch.
    pub model: Model,
    /// How its training ended.
    pub outcome: Outcome,
    /// Rows for training, validation and of the fold.
    pub rows: [usize; 3],
    /// Metrics of the fold's rows; absent only if the model has no metrics.
    pub metrics: Option<Metrics>,
    /// Metrics of the fold's rows without the inputs.
    pub baseline: Option<Metrics>,
    /// Errors of the fold's rows; absent for classes and for models with poles.
    pub residuals: Option<ResidualGroup>,
}

impl TrainOptions {
    /// The splits of a cross-validation with `count` folds, each to be resolved and run like a split table. A share of test rows is held out
    /// of all folds; the share of validation rows is of the rows outside of each fold.
    pub fn folds(&self, table: &Table, count: usize) -> Result<Vec<SplitTable>> {
        self.check()?;
        let choice = self.fitted_choice();
        let mut chosen = table::choose(table, &choice)?;
        let seed = choice.split_seed.unwrap_or(self.seed);
        if self.fractions.test > 0.0 {
            let order = split_order(chosen.rows.len(), seed);
            let split = table::split_table(table, &chosen, self.fractions, &order)?;
            let mut is_test = vec![false; table.rows()];
            split.test.iter().for_each(|&row| is_test[row as usize] = true);
            chosen.rows.retain(|&row| !is_test[row as usize]);
        }
        let order = split_order(chosen.rows.len(), seed);
        let splits = table::fold_splits(table, &chosen, count, self.fractions.validation, &order)?;
        splits.into_iter().map(|split| SplitTable::of(table, &chosen, split)).collect()
    }
}

impl Fold {
    /// Trains a fold and measures it on its rows. `watch` as in [`Trainer::run`].
    pub async fn train(device: &Device, run: Run, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Self> {
        let Run { data, spec, settings, preparation, .. } = run;
        let mut trainer = Trainer::new(device, spec, settings, data)?;
        let outcome = trainer.run(watch).await?;
        let (data, settings) = (trainer.data(), trainer.settings());
        let rows = [&data.train, &data.validation, &data.test].map(|part| part.rows(data.targets));
        let model = trainer.model(Some(preparation)).await?;
        let z = model.outputs(device, &data.test.x).await?;
        let (spec, loss, y) = (&model.spec, &settings.loss, &data.test.y);
        let target = &model.preparation()?.target;
        let metrics = Metrics::of(spec, loss, &z, y, target.scale());
        let baseline = Metrics::baseline(target, loss, y);
        let residuals = residuals(&model, &z, &data.test)?;
        Ok(Self { model, outcome, rows, metrics, baseline, residuals })
    }
}

/// The absolute errors of a model's outputs `z`, in the target's units; `None` without rows, for classes and for models with poles.
pub fn residuals(model: &Model, z: &[f32], examples: &Examples) -> Result<Option<ResidualGroup>> {
    let target = &model.preparation()?.target;
    if target.task() == Task::Classification || model.spec.head().is_some() || examples.y.is_empty() {
        return Ok(None);
    }
    let link = model.loss.link();
    let error = |(z, y): (&f32, &f32)| (link.number(*z) - f64::from(*y)) * target.scale();
    let first = z.iter().step_by(model.spec.outputs()?);
    Ok(Some(ResidualGroup::of(&first.zip(&examples.y).map(error).collect::<Vec<_>>())))
}

/// Mean and sample standard deviation of every metric that all folds have; the rows are summed.
pub fn mean_and_spread(folds: &[Metrics]) -> [Metrics; 2] {
    let of = |figure: fn(&Metrics) -> Option<f64>| {
        let all: Vec<f64> = folds.iter().filter_map(figure).collect();
        if all.len() < folds.len() || all.is_empty() {
            return [None; 2];
        }
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let squares = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        [Some(mean), (count > 1.0).then(|| (squares / (count - 1.0)).sqrt())]
    };
    let rows = folds.iter().map(|fold| fold.rows).sum();
    [0, 1].map(|at| Metrics::of_each(rows, |figure| of(figure)[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_spread_of_what_all_folds_have() {
        let fold = |rows, mae, r2| Metrics { rows, loss: mae, mae: Some(mae), r2, ..Metrics::default() };
        let folds = [fold(2, 1.0, Some(0.5)), fold(3, 2.0, None), fold(2, 6.0, Some(0.7))];
        let [mean, spread] = mean_and_spread(&folds);
        assert_eq!((mean.rows, mean.loss, mean.mae, mean.r2, mean.mse), (7, 3.0, Some(3.0), None, None));
        assert_eq!((spread.mae, spread.r2), (Some(7.0_f64.sqrt()), None));
        assert_eq!(mean_and_spread(&folds[..1])[1].mae, None);
    }
}
