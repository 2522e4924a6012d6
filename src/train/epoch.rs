//! One epoch of a run: its steps in windows of bounded time, its evaluation, and what the next epoch changes.

use super::batches;
use super::config::StepKind;
use super::curriculum::{bottoms, least_denominators};
use super::events::{EpochReport, Event, Flow, GradientReport, PairReport, Stop};
use super::geometry;
use super::setup::Setup;
use super::step::Plans;
use super::trainer::Trainer;
use super::validation::{figure_offset, validation};
use crate::device::{Command, View};
use crate::error::{Error, Result};
use crate::host;
use crate::kernels::optimise::{Limit, STATE, UpdateState};
use crate::optim::{Moment, ScheduleShape};

/// Steps between two reads of the loss inside a long epoch: bounds the queue of devices that cannot be waited for.
const STEPS_PER_LOOK: usize = 512;
/// Time between two `Event::Steps`.
const WINDOW_MS: f64 = 50.0;
/// A larger loss is divergence even where the device has no infinity.
const DIVERGED: f64 = 1e15;

/// A score of the model's outputs, each row-major; smaller is better.
type Score = Box<dyn Fn(&[Vec<f32>]) -> f64>;

/// How a run chooses the epoch whose weights it keeps.
pub(crate) enum Criterion {
    /// The smallest loss on the validation rows; on the training rows without any.
    Loss,
    /// The smallest finite score of the outputs for `x`.
    Score { x: Vec<f32>, score: Score },
    /// The last epoch.
    Last,
}

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
    /// Records the plan of the validation loss, as the first epoch does if it is missing; then the device's counters include its memory.
    pub fn prepare(&mut self) -> Result<()> {
        if self.validation.is_none() && matches!(self.criterion, Criterion::Loss) {
            let evaluated = self.evaluated()?.clone();
            self.validation = Some(validation(&self.setup(), &self.state, evaluated)?);
        }
        Ok(())
    }

    /// Finds out how a GPU splits the batches of a fused step, if its device was opened to measure that, and plans the step anew.
    pub async fn choose_geometry(&mut self) -> Result<()> {
        let rows = self.settings.batch.min(self.data.train.rows(self.data.targets));
        if self.plans.kind == StepKind::Fused && self.device.known_geometry(rows).is_none() {
            geometry::choose(&self.device, rows).await?;
            self.plans = Plans::new(&self.setup(), &self.state)?;
        }
        Ok(())
    }

    fn setup(&self) -> Setup<'_> {
        let Self { device, network, settings, data, groups, steps, .. } = self;
        Setup { device, network, settings, data, groups, steps: *steps }
    }

    pub(crate) async fn try_epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Option<Stop>> {
        if self.progress.history.len() >= self.settings.epochs {
            return Ok(Some(Stop::Epochs));
        }
        self.prepare()?;
        let (ended, requested) = self.steps_of_epoch(watch).await?;
        if ended.is_some() {
            return Ok(ended);
        }
        let Some(report) = self.end_epoch().await? else { return Ok(Some(Stop::Diverged)) };
        let flow = watch(&Event::Epoch(&report));
        if self.settings.patience > 0 && self.progress.since_best >= self.settings.patience {
            return Ok(Some(Stop::Patience));
        }
        if self.is_uncovered(&report) {
            return Ok(Some(Stop::Coverage));
        }
        Ok((flow == Flow::Stop || requested == Flow::Stop).then_some(Stop::Requested))
    }

    /// Ends a run: restores the best weights, and widens the gap of a head with poles to their errors if the configuration says so. `run` does this
    /// unless it was stopped.
    pub async fn conclude(&mut self) -> Result<()> {
        self.restore_best()?;
        self.measure_gap().await
    }

    /// Uploads the table and the order of an epoch; a curriculum may change the loss first.
    pub(crate) fn begin_epoch(&mut self) -> Result<()> {
        let epoch = self.progress.history.len();
        let loss = self.settings.curriculum.loss(&self.settings.loss, epoch, self.progress.held);
        let Self { device, network, settings, data, groups, steps, .. } = self;
        let setup = Setup { device, network, settings, data, groups, steps: *steps };
        self.plans.turn_to(loss, &setup, &self.state)?;
        let order = match &self.sampler {
            Some(sampler) => sampler.draw(self.settings.seed, epoch),
            None => order_of_rows((self.shuffle)(epoch), data.train.rows(data.targets))?,
        };
        let words = batches::epoch_words(&self.settings, &self.groups, self.steps, &self.progress, &order);
        self.device.write(&self.state.order, 0, &words)
    }

    /// Runs the rest of the epoch in windows; `Some` if the run ends on the way.
    async fn steps_of_epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<(Option<Stop>, Flow)> {
        if self.progress.cursor == 0 {
            self.begin_epoch()?;
        }
        let mut unread = 0;
        let mut flow = Flow::Continue;
        while self.progress.cursor < self.steps {
            let count = self.window.min(self.steps - self.progress.cursor);
            let start = host::now_ms();
            self.plans.step.run(count)?;
            self.progress.cursor += count;
            unread += count;
            if unread >= STEPS_PER_LOOK && self.progress.cursor < self.steps {
                let losses = self.losses(self.progress.cursor - unread, unread).await?;
                let finite = losses.iter().filter(|loss| loss.is_finite()).count();
                // A step whose update is left out has no loss.
                if finite < if self.settings.bounds().skips { 1 } else { losses.len() } {
                    return Ok((Some(Stop::Diverged), flow));
                }
                unread = 0;
            }
            host::breathe().await;
            let wanted = count as f64 * WINDOW_MS / (host::now_ms() - start).max(0.05);
            self.window = (wanted as usize).clamp(1, STEPS_PER_LOOK);
            let (epoch, done) = (self.progress.history.len(), self.progress.cursor);
            flow = watch(&Event::Steps { epoch, done, steps: self.steps });
            if flow == Flow::Stop && self.progress.cursor < self.steps {
                return Ok((Some(Stop::Requested), flow));
            }
        }
        Ok((None, flow))
    }

    /// Reads the losses, evaluates the epoch and keeps its weights if it is the best; `None` if the loss diverged.
    async fn end_epoch(&mut self) -> Result<Option<EpochReport>> {
        if let Some(validation) = &self.validation {
            self.evaluated()?;
            validation.run(1)?;
        }
        let report: Vec<f32> = bytemuck::cast_vec(self.device.read(&self.state.report.view()).await?);
        let train_loss = self.mean_loss(&report);
        let evaluation = self.evaluate(&report).await?;
        let gradients = self.gradient_report().await?;
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
        let since_best = self.progress.since_best;
        let is_best = self.keep_if_best(epoch, evaluation.value)?;
        if gradients.is_some_and(|gradients| gradients.updates == 0) {
            // No update was made, so that nothing could improve.
            self.progress.since_best = self.progress.since_best.min(since_best);
        }
        let updates = self.steps.div_ceil(self.settings.accumulate) as u64;
        self.progress.skipped += gradients.map_or(0, |gradients| gradients.skipped);
        let update = ((epoch as u64 + 1) * updates).saturating_sub(self.progress.skipped + 1);
        let at = Moment { update, updates, epochs: self.settings.epochs, drops: self.progress.drops };
        let factor = self.settings.schedule.factor(at);
        self.notice_plateau(is_best);
        let Evaluation { val_loss, score, pairs, .. } = evaluation;
        self.follow_curriculum(pairs).await?;
        let lr = self.settings.lr * factor;
        let report = EpochReport { epoch, train_loss, val_loss, score, lr, is_best, pairs, gradients };
        self.progress.history.push(report.clone());
        self.progress.cursor = 0;
        Ok(Some(report))
    }

    /// The evaluation of the weights at the end of an epoch, whose report was read.
    async fn evaluate(&self, report: &[f32]) -> Result<Evaluation> {
        match &self.criterion {
            Criterion::Last => Ok(Evaluation::default()),
            Criterion::Score { x, score } => {
                let value = Some(score(&self.predict_each(x).await?));
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

    /// Keeps the current weights if `value` improves on the best so far, and returns whether it does.
    fn keep_if_best(&mut self, epoch: usize, value: Option<f64>) -> Result<bool> {
        let is_better = |value: &f64| {
            value.is_finite() && self.progress.best_loss.is_none_or(|best| *value < best - self.settings.min_delta)
        };
        let Some(value) = value.filter(is_better) else {
            self.progress.since_best += 1;
            return Ok(false);
        };
        self.device.record(Command::Copy { from: self.evaluated()?.view(), to: self.state.best.view() });
        self.device.flush()?;
        self.progress.best_loss = Some(value);
        self.progress.best_epoch = Some(epoch);
        self.progress.since_best = 0;
        Ok(true)
    }

    /// Updates what the next epoch takes from this one: the weight of the coverage term, and the rows' weights.
    async fn follow_curriculum(&mut self, pairs: Option<PairReport>) -> Result<()> {
        if let Some(pairs) = pairs {
            self.progress.held = self.settings.curriculum.held(self.progress.held, pairs.coverage);
        }
        let Some(mut sampler) = self.sampler.take() else { return Ok(()) };
        let z = self.predict(&self.data.train.x).await?;
        sampler.update(&least_denominators(&z, self.data.targets), &bottoms(&self.data))?;
        self.progress.means = sampler.means().to_vec();
        self.sampler = Some(sampler);
        Ok(())
    }

    /// Whether the coverage has been below its goal for as many epochs as the goal allows.
    fn is_uncovered(&mut self, report: &EpochReport) -> bool {
        let (Some(goal), Some(pairs)) = (self.settings.coverage, report.pairs) else { return false };
        self.progress.uncovered = if pairs.coverage < goal.least { self.progress.uncovered + 1 } else { 0 };
        self.progress.uncovered >= goal.patience
    }

    fn notice_plateau(&mut self, is_best: bool) {
        let ScheduleShape::Plateau { patience, .. } = self.settings.schedule.shape else { return };
        self.progress.since_drop = if is_best { 0 } else { self.progress.since_drop + 1 };
        if self.progress.since_drop >= patience.max(1) {
            self.progress.drops += 1;
            self.progress.since_drop = 0;
        }
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
    async fn gradient_report(&self) -> Result<Option<GradientReport>> {
        let bounds = self.settings.bounds();
        if bounds.limit == Limit::None && !bounds.skips && !self.settings.gradients.watches {
            return Ok(None);
        }
        let [_, UpdateState { applied, skipped, limited, largest, scale, .. }] = self.remembered().await?;
        let [updates, skipped, limited] = [applied, skipped, limited].map(|count| count as u64);
        let loss_scale = bounds.scale.map(|_| f64::from(scale));
        Ok(Some(GradientReport { updates, skipped, limited, largest_norm: f64::from(largest), loss_scale }))
    }

    /// What updates remembered before the last step, and after it.
    pub(crate) async fn remembered(&self) -> Result<[UpdateState; 2]> {
        let offset = self.settings.update_state_at(self.network.layout());
        let view = View { buffer: self.state.moments.clone(), offset, words: 2 * STATE };
        let words: Vec<f32> = bytemuck::cast_vec(self.device.read(&view).await?);
        // Steps write the two copies by turns; the first word of control counts the steps, also those of `advance`.
        let control = self.device.read(&self.state.control.view()).await?;
        let before = control[0] as usize % 2;
        Ok([before, 1 - before].map(|copy| UpdateState::read(&words[STATE * copy..])))
    }
}

/// An order with as many rows as there are, perhaps some more than once. Errors for a row that does not exist: kernels use the numbers unchecked.
fn order_of_rows(order: Vec<u32>, rows: usize) -> Result<Vec<u32>> {
    if order.len() != rows {
        return Err(Error::usage(format!("shuffle: got an order of {} rows, expected {rows}", order.len())));
    }
    match order.iter().find(|&&row| row as usize >= rows) {
        Some(row) => Err(Error::usage(format!("shuffle: got row {row} in an order, expected rows below {rows}"))),
        None => Ok(order),
    }
}
