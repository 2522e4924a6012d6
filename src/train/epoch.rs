//! The epochs of a run: after the steps of each its evaluation, whether its weights are kept, and what the next one changes, until the run ends.

use super::config::curriculum::{bottoms, least_denominators};
use super::criterion::Criterion;
use super::events::{EpochReport, Event, Flow, GradientReport, Outcome, PairReport, Stop};
use super::gap;
use super::learner::Learner;
use super::step::state::{State, figure_offset};
use super::step::validation::validation;
use super::trainer::Trainer;
use crate::device::{Command, View};
use crate::error::Result;
use crate::kernels::optimise::{Limit, UpdateState};
use crate::kernels::strict::Threshold;
use crate::optim::Moment;

/// A larger loss is divergence even where the device has no infinity.
const DIVERGED: f64 = 1e15;

/// The evaluation of an epoch.
#[derive(Default)]
struct Evaluation {
    /// What is compared between epochs.
    value: Option<f64>,
    val_loss: Option<f64>,
    score: Option<f64>,
    pairs: Option<PairReport>,
}

impl Trainer {
    /// Runs until the epochs are done, patience is spent, the loss diverges or `watch` returns `Flow::Stop`; then restores the best weights,
    /// except after a stop by `watch`, from which the run can continue.
    ///
    /// Other tasks of the executor run between windows of steps, of about 50 ms; a window, and the evaluation of an epoch, occupy the thread. A program that
    /// needs its thread more often trains in one of its own, as with `spawn_blocking`.
    pub async fn run(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Outcome> {
        loop {
            if let Some(outcome) = self.epoch(watch).await? {
                return Ok(outcome);
            }
        }
    }

    /// One epoch of `run`: `None` while the run goes on, its outcome once it is over.
    pub async fn epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Option<Outcome>> {
        let Some(stop) = self.try_epoch(watch).await? else { return Ok(None) };
        if stop != Stop::Requested {
            self.conclude().await?;
        }
        let best = self.best_epochs().into_iter().collect::<Option<Vec<usize>>>();
        let (best_epoch, epochs) = (best.and_then(|best| best.into_iter().max()), self.progress.history.len());
        Ok(Some(Outcome { stop, best_epoch, epochs, steps: self.steps_done() }))
    }

    /// Records the plan of the validation loss, as the first epoch does if it is missing; then the device's counters include its memory.
    pub fn prepare(&mut self) -> Result<()> {
        if self.validation.is_none() && matches!(self.criterion, Criterion::Loss) {
            let evaluated = |learner: &'_ Learner| learner.evaluated().cloned();
            let evaluated = self.learners.iter().map(evaluated).collect::<Result<Vec<_>>>()?;
            let models: Vec<_> = self.states().into_iter().zip(evaluated).collect();
            self.validation = Some(validation(&self.setup(), &models)?);
        }
        Ok(())
    }

    async fn try_epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Option<Stop>> {
        if self.progress.history.len() >= self.settings.epochs {
            return Ok(Some(Stop::Epochs));
        }
        if let Some(stop) = self.stop_of_all().filter(|_| self.learners.len() > 1) {
            return Ok(Some(stop));
        }
        self.prepare()?;
        let (ended, requested) = self.steps_of_epoch(watch).await?;
        if ended.is_some() {
            return Ok(ended);
        }
        let Some(report) = self.end_epoch().await? else { return Ok(Some(Stop::Diverged)) };
        let flow = watch(&Event::Epoch(&report));
        if let Some(stop) = self.stop_of_all() {
            return Ok(Some(stop));
        }
        Ok((flow == Flow::Stop || requested == Flow::Stop).then_some(Stop::Requested))
    }

    /// Why all models have ended, if they have.
    fn stop_of_all(&self) -> Option<Stop> {
        let stops = self.progress.standings.iter().map(|standing| standing.stop(&self.settings));
        stops.collect::<Option<Vec<Stop>>>()?.into_iter().next()
    }

    /// Reads the losses, evaluates the epoch and keeps the weights of each model for which it is the best; `None` if the loss diverged: of
    /// several models, if none goes on, or one has no weights to keep.
    async fn end_epoch(&mut self) -> Result<Option<EpochReport>> {
        if let Some(validation) = &self.validation {
            self.learners.iter().try_for_each(|learner| learner.evaluated().map(|_| ()))?;
            validation.run(1)?;
        }
        let words: Vec<f32> = bytemuck::cast_vec(self.device.read(&self.learners[0].state.report.buffer.view()).await?);
        let mut reports = Vec::with_capacity(self.learners.len());
        for at in 0..self.learners.len() {
            if self.has_ended(at) {
                continue;
            }
            let View { offset, words: count, .. } = self.learners[at].state.report;
            let standing = &self.progress.standings[at];
            let keeps_weights = self.learners.len() > 1 && standing.best_epoch.is_some();
            match self.end_epoch_of(at, &words[offset..offset + count]).await? {
                Some(report) => reports.push(report),
                None if keeps_weights => self.progress.standings[at].has_diverged = true,
                None => return Ok(None),
            }
        }
        if reports.is_empty() {
            return Ok(None);
        }
        let report = EpochReport::of_models(&reports);
        self.progress.history.push(report.clone());
        self.progress.cursor = 0;
        Ok(Some(report))
    }

    /// Whether one of several models has ended. It takes further steps, as all do, but keeps the weights that it has, as if it were trained alone.
    fn has_ended(&self, at: usize) -> bool {
        self.learners.len() > 1 && self.progress.standings[at].stop(&self.settings).is_some()
    }

    /// The same of one model, whose report was read.
    async fn end_epoch_of(&mut self, at: usize, report: &[f32]) -> Result<Option<EpochReport>> {
        let train_loss = self.mean_loss(report);
        let evaluation = self.evaluate(at, report).await?;
        let gradients = self.gradient_report(&self.learners[at].state).await?;
        let is_sound = |loss: f64| loss.is_finite() && loss < DIVERGED;
        let is_loss = matches!(self.criterion, Criterion::Loss);
        // The scale of the loss may fall for some epochs before an update fits.
        let falls = |report: GradientReport| {
            self.settings.loss_scale().zip(report.loss_scale).is_some_and(|(scale, now)| now > f64::from(scale.least))
        };
        let has_updates = gradients.is_none_or(|gradients| gradients.updates > 0 || falls(gradients));
        if !has_updates || !is_sound(train_loss) || (is_loss && !evaluation.value.is_some_and(is_sound)) {
            return Ok(None);
        }
        let epoch = self.progress.history.len();
        let since_best = self.progress.standings[at].since_best;
        let is_best = self.keep_if_best(at, epoch, evaluation.value)?;
        let Evaluation { val_loss, score, pairs, .. } = evaluation;
        let standing = &mut self.progress.standings[at];
        if gradients.is_some_and(|gradients| gradients.updates == 0) {
            // No update was made, so that nothing could improve.
            standing.since_best = standing.since_best.min(since_best);
        }
        let updates = self.steps.div_ceil(self.settings.accumulate) as u64;
        standing.skipped += gradients.map_or(0, |gradients| gradients.skipped);
        let update = ((epoch as u64 + 1) * updates).saturating_sub(standing.skipped + 1);
        let moment = Moment { update, updates, epochs: self.settings.epochs, drops: standing.drops };
        let factor = self.settings.schedule.factor(moment);
        standing.notice_plateau(self.settings.schedule.shape, is_best);
        standing.notice_coverage(self.settings.coverage, pairs);
        self.follow_curriculum(at, pairs).await?;
        let lr = self.settings.lr * factor;
        Ok(Some(EpochReport { epoch, train_loss, val_loss, score, lr, is_best, pairs, gradients }))
    }

    /// The evaluation of the weights at the end of an epoch, whose report was read.
    async fn evaluate(&self, at: usize, report: &[f32]) -> Result<Evaluation> {
        match &self.criterion {
            Criterion::Last => Ok(Evaluation::default()),
            Criterion::Score { x, score } => {
                let value = Some(score(&self.outputs_of(&self.learners[at..=at], x).await?));
                Ok(Evaluation { value, score: value, ..Evaluation::default() })
            }
            Criterion::Loss => {
                let figure = |at: usize| f64::from(report[figure_offset(self.steps, at)]);
                let loss = figure(0) / figure(1);
                let pairs = || PairReport { coverage: figure(2), least_q: figure(3), mean_q: figure(4) };
                let val_loss = (!self.data.validation.y.is_empty()).then_some(loss);
                Ok(Evaluation { value: Some(loss), val_loss, score: None, pairs: self.network.head().map(|_| pairs()) })
            }
        }
    }

    /// Keeps the current weights of a model if `value` improves on the best so far, and returns whether it does.
    fn keep_if_best(&mut self, at: usize, epoch: usize, value: Option<f64>) -> Result<bool> {
        let min_delta = self.settings.min_delta;
        let standing = &mut self.progress.standings[at];
        let Some(value) = value.filter(|value| standing.improves(*value, min_delta)) else {
            standing.since_best += 1;
            return Ok(false);
        };
        standing.best_loss = Some(value);
        standing.best_epoch = Some(epoch);
        standing.since_best = 0;
        let learner = &self.learners[at];
        self.device.record(Command::Copy { from: learner.evaluated()?.clone(), to: learner.state.best.clone() });
        self.device.flush()?;
        Ok(true)
    }

    /// Updates what the next epoch takes from this one: the weight of the coverage term, and the rows' weights.
    async fn follow_curriculum(&mut self, at: usize, pairs: Option<PairReport>) -> Result<()> {
        let standing = &mut self.progress.standings[at];
        if let Some(pairs) = pairs {
            standing.held = self.settings.curriculum.held(standing.held, pairs.coverage);
        }
        let Some(mut sampler) = self.learners[at].sampler.take() else { return Ok(()) };
        let z = self.predict_by(at, &self.data.train.x).await?;
        sampler.update(&least_denominators(&z, self.data.targets), &bottoms(&self.data))?;
        self.progress.standings[at].means = sampler.means().to_vec();
        self.learners[at].sampler = Some(sampler);
        Ok(())
    }

    /// The mean of the batch losses, weighted by the rows of their batches. Where updates may be left out, losses that are not finite are as well.
    fn mean_loss(&self, report: &[f32]) -> f64 {
        let rows = self.data.train.rows(self.data.targets);
        let batch = self.settings.batch;
        let skips = self.settings.bounds().skips;
        let counted = report[..self.steps].iter().enumerate().filter(|(_, loss)| !skips || loss.is_finite());
        let sums = counted.fold([0.0; 2], |[sum, seen], (step, loss)| {
            let weight = (rows - step * batch).min(batch) as f64;
            [sum + f64::from(*loss) * weight, seen + weight]
        });
        sums[0] / sums[1]
    }

    /// What the updates of the epoch remember of its gradients.
    async fn gradient_report(&self, state: &State) -> Result<Option<GradientReport>> {
        let bounds = self.settings.bounds();
        if bounds.limit == Limit::None && !bounds.skips && !self.settings.gradients.watches {
            return Ok(None);
        }
        let [_, UpdateState { applied, skipped, limited, largest, scale, .. }] = self.remembered(state).await?;
        let [updates, skipped, limited] = [applied, skipped, limited].map(|count| count as u64);
        let loss_scale = bounds.scale.map(|_| f64::from(scale));
        Ok(Some(GradientReport { updates, skipped, limited, largest_norm: f64::from(largest), loss_scale }))
    }

    /// Ends a run: restores the best weights, and widens the gap of a head with poles to their errors on the rows of
    /// training and validation if the configuration says so. `run` does this
    /// unless it was stopped.
    pub async fn conclude(&mut self) -> Result<()> {
        self.restore_best()?;
        let threshold = self.network.head().map(|head| head.decoding.threshold);
        if !self.settings.measures_gap || threshold != Some(Threshold::Angle) {
            return Ok(());
        }
        let mut errors = Vec::new();
        for part in [&self.data.train, &self.data.validation] {
            let z = self.predict(&part.x).await?;
            errors.extend(gap::chordal_errors(&z, &part.y, self.data.targets / 2));
        }
        let Some(measured) = gap::measured(errors) else { return Ok(()) };
        if let Some(head) = self.network.head_mut() {
            let before = head.decoding.tau_train.unwrap_or(head.decoding.tau_infer);
            head.decoding.tau_train = Some(before.max(measured as f32));
        }
        Ok(())
    }

    /// Replaces the weights by those of the best epoch. Does nothing if a score has chosen none, or the last epoch is kept.
    pub fn restore_best(&mut self) -> Result<()> {
        for (Learner { state, mean, .. }, standing) in self.learners.iter().zip(&self.progress.standings) {
            if standing.best_epoch.is_none() && !matches!(self.criterion, Criterion::Loss) {
                continue;
            }
            self.device.record(Command::Copy { from: state.best.clone(), to: state.parameters.clone() });
            self.device.flush()?;
            if mean.is_some() {
                let total = self.network.layout().total;
                let View { buffer, offset, .. } = &state.moments;
                self.device.write(buffer, offset + 2 * total, &vec![0; total])?;
            }
        }
        Ok(())
    }
}
