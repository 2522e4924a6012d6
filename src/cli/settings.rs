//! From flags to a recipe, and from a recipe and a table to a run.

use super::poles::Poles;
use super::recipe::{Flags, HiddenFunction, ScheduleName};
use super::{Answer, Failure};
use crate::error::Error;
use crate::io::{Choice, Fractions, Table, Task};
use crate::loss::Loss;
use crate::optim::{Optimizer, Schedule, ScheduleShape};
use crate::train::{Run, SplitTable, TrainOptions, TrainerConfig};

impl Flags {
    /// The recipe the flags ask for. Refuses what can be told before any file is read.
    pub(super) fn recipe(&self, poles: &Poles, choice: Choice, fractions: Fractions) -> Answer<TrainOptions> {
        let head = poles.head()?;
        // What has poles is a number.
        let task = choice.task.or(head.map(|_| Task::Regression));
        let choice = Choice { has_poles: head.is_some(), task, ..choice };
        let recipe = TrainOptions {
            choice,
            fractions,
            hidden: self.hidden.as_ref().map(|widths| widths.0.clone()),
            activation: match &self.activation {
                Some(HiddenFunction::Function(function)) => Some(function.clone()),
                _ => None,
            },
            rational: match &self.activation {
                Some(HiddenFunction::Rational(layer)) => Some(*layer),
                _ => None,
            },
            norm: self.norm.map(Into::into),
            dropout: self.dropout.unwrap_or(0.0),
            loss: self.loss()?.or(poles.loss()),
            smoothing: self.smoothing,
            optimizer: self.optimizer()?,
            weight_decay: self.weight_decay,
            schedule: Some(self.schedule()),
            lr: self.lr,
            epochs: self.epochs,
            batch: self.batch,
            accumulate: self.accumulate,
            patience: self.patience,
            seed: self.seed.unwrap_or(0),
            step: self.step.map(Into::into),
            is_balanced: self.class_weights.is_some(),
            head,
            decoding: poles.decoding()?,
            coverage: poles.coverage(),
            curriculum: poles.curriculum(),
            policies: self.policy.iter().map(|governed| (governed.layer.clone(), governed.policy)).collect(),
        };
        recipe.check().map_err(|error| refused(&error))?;
        Ok(recipe)
    }

    fn loss(&self) -> Answer<Option<Loss>> {
        let loss = self.loss.clone();
        let Some(delta) = self.delta else { return Ok(loss) };
        let set = loss.unwrap_or_else(Loss::mse).with("delta", delta);
        set.map(Some).map_err(|error| refused(&error))
    }

    fn optimizer(&self) -> Answer<Option<Optimizer>> {
        let optimizer = self.optimizer.clone();
        let Some(momentum) = self.momentum else { return Ok(optimizer) };
        let set = optimizer.unwrap_or_else(|| Optimizer::adamw(0.0)).with("momentum", momentum);
        set.map(Some).map_err(|error| refused(&error))
    }

    fn schedule(&self) -> Schedule {
        let epochs = self.epochs.unwrap_or(TrainerConfig::default().epochs);
        let shape = match self.schedule.unwrap_or(ScheduleName::Cosine) {
            ScheduleName::Constant => ScheduleShape::Constant,
            ScheduleName::Cosine => ScheduleShape::Cosine { floor: 0.0 },
            ScheduleName::Step => ScheduleShape::Step { every: epochs.div_ceil(3), factor: 0.1 },
            ScheduleName::Plateau => ScheduleShape::Plateau { patience: 5, factor: 0.5 },
        };
        Schedule { warmup_steps: self.warmup.unwrap_or(0), shape }
    }
}

/// [`TrainOptions::prepare`], but a recipe that does not fit the table is wrong usage. The table is gone when it returns.
pub(super) fn prepare(recipe: &TrainOptions, table: Table) -> Answer<Run> {
    let dealt = SplitTable::new(&table, &recipe.choice, recipe.fractions, recipe.seed)?;
    let (spec, settings) = recipe.settle(&dealt).map_err(|error| refused(&error))?;
    Ok(dealt.run(&table, spec, settings)?)
}

/// A question that a recipe refused; the command's own name comes before it.
pub(super) fn refused(error: &Error) -> Failure {
    let message = error.to_string();
    Failure::usage(message.strip_prefix("train: ").unwrap_or(&message))
}
