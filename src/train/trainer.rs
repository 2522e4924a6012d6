//! The trainer: runs epochs of replayed steps, looks at the loss once per epoch, keeps the best weights, stops when told or when it stops helping.

use super::batches;
use super::checkpoint::{Checkpoint, Progress};
use super::config::{StepKind, TrainerConfig};
use super::curriculum::{bottoms, least_denominators};
use super::data::Data;
use super::events::{EpochReport, Event, Flow, Outcome, PairReport, Stop};
use super::metrics::Metrics;
use super::predictor::Predictor;
use super::room;
use super::sampling::AdaptiveSampler;
use super::step::{Plans, Setup, State, validation_place};
use crate::device::{Command, Device, Summary, View};
use crate::error::{Error, Result};
use crate::host;
use crate::nn::{Layout, Spec, initialise};
use crate::optim::ScheduleShape;

/// Steps between looks at the loss inside a long epoch: bounds the queue of devices that cannot be waited for.
const STEPS_PER_LOOK: usize = 512;
/// Time between questions whether to go on.
const WINDOW_MS: f64 = 50.0;
/// A loss beyond this is divergence even where the device has no infinity to show.
const DIVERGED: f64 = 1e15;

/// A training run.
pub struct Trainer {
    device: Device,
    spec: Spec,
    settings: TrainerConfig,
    data: Data,
    state: State,
    plans: Plans,
    steps: usize,
    window: usize,
    progress: Progress,
    shuffle: Box<dyn Fn(usize) -> Vec<u32>>,
    sampler: Option<AdaptiveSampler>,
}

impl Trainer {
    /// Sets up a run: parameters drawn from the seed, data uploaded, plans made.
    pub fn new(device: &Device, spec: Spec, settings: TrainerConfig, data: Data) -> Result<Self> {
        let layout = Layout::of(&spec);
        room::check(&layout)?;
        let parameters = initialise(&layout, settings.seed);
        Self::with_parameters(device, spec, settings, data, &parameters)
    }

    /// The same from given flat parameters, in the layout's order.
    pub fn with_parameters(
        device: &Device,
        spec: Spec,
        settings: TrainerConfig,
        data: Data,
        parameters: &[f32],
    ) -> Result<Self> {
        settings.check()?;
        data.check()?;
        data.fits(&spec, &settings)?;
        let layout = Layout::of(&spec);
        let rows = data.train.rows(data.targets);
        let steps = rows.div_ceil(settings.batch);
        let setup = Setup { device, spec: &spec, layout: &layout, settings: &settings, data: &data, steps };
        let state = State::new(&setup, parameters)?;
        let plans = Plans::new(&setup, &state)?;
        let seed = settings.seed;
        Ok(Self {
            device: device.clone(),
            shuffle: Box::new(move |epoch| batches::permutation(rows, seed, epoch)),
            sampler: settings.curriculum.sampler(&data, &[]),
            spec,
            settings,
            data,
            state,
            plans,
            steps,
            window: 16,
            progress: Progress::default(),
        })
    }

    /// Takes up a run where a checkpoint left it; the data must be the same.
    pub fn resume(device: &Device, data: Data, checkpoint: Checkpoint) -> Result<Self> {
        if checkpoint.fingerprint != data.fingerprint() {
            return Err(Error::new("resume: these are not the rows the checkpoint was trained on"));
        }
        let Checkpoint { spec, settings, parameters, moments, control, best, progress, .. } = checkpoint;
        let mut trainer = Self::with_parameters(device, spec, settings, data, &parameters)?;
        let cursor = progress.cursor;
        if cursor >= trainer.steps || progress.losses.len() != cursor || control[1] as usize != cursor {
            return Err(Error::new("resume: the checkpoint's step counters contradict each other"));
        }
        let state = &trainer.state;
        device.write(&state.moments, 0, bytemuck::cast_slice(&moments))?;
        device.write(&state.control, 0, &control)?;
        device.write(&state.best, 0, bytemuck::cast_slice(&best))?;
        device.write(&state.report, 0, bytemuck::cast_slice(&progress.losses))?;
        let means = &progress.means;
        if !means.is_empty() && means.len() != trainer.data.train.rows(trainer.data.targets) {
            return Err(Error::new("resume: the checkpoint has not as many means as there are rows"));
        }
        trainer.sampler = trainer.settings.curriculum.sampler(&trainer.data, means);
        trainer.progress = progress;
        if trainer.progress.cursor > 0 {
            trainer.begin_epoch()?;
        }
        Ok(trainer)
    }

    /// Replaces the order of the training rows: `shuffle(epoch)` gives a permutation of them.
    pub fn shuffle_with(&mut self, shuffle: impl Fn(usize) -> Vec<u32> + 'static) {
        self.shuffle = Box::new(shuffle);
    }

    /// Which step it takes.
    pub fn step_kind(&self) -> StepKind {
        self.plans.kind
    }

    /// Words of the gradients of all parts with their sums, as the fused step keeps them; 0 for another step.
    pub fn gradient_words(&self) -> usize {
        self.plans.gradient_words
    }

    /// Launches, bytes and flops of one step, and the memory it needs.
    pub fn step_summary(&self) -> &Summary {
        self.plans.step.summary()
    }

    /// Steps in an epoch.
    pub fn steps_per_epoch(&self) -> usize {
        self.steps
    }

    /// The model it trains.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How it is trained.
    pub fn settings(&self) -> &TrainerConfig {
        &self.settings
    }

    /// The rows it learns from and is measured on.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Steps taken so far, those before a resumption included.
    pub fn steps_done(&self) -> u64 {
        (self.progress.history.len() * self.steps + self.progress.cursor) as u64
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochReport] {
        &self.progress.history
    }

    /// Runs until the epochs are done, patience is spent, the loss diverges or `watch` says stop; then restores the best weights
    /// (unless it was stopped by `watch`, which may want to resume).
    pub async fn run(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Outcome> {
        loop {
            if let Some(outcome) = self.epoch(watch).await? {
                return Ok(outcome);
            }
        }
    }

    /// One epoch of `run`, for callers that pull: the outcome once the run is over, `None` while it goes on.
    pub async fn epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Option<Outcome>> {
        let Some(stop) = self.try_epoch(watch).await? else { return Ok(None) };
        if stop != Stop::Requested {
            self.restore_best()?;
        }
        let (best_epoch, epochs) = (self.progress.best_epoch, self.progress.history.len());
        Ok(Some(Outcome { stop, best_epoch, epochs, steps: self.steps_done() }))
    }

    async fn try_epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<Option<Stop>> {
        if self.progress.history.len() >= self.settings.epochs {
            return Ok(Some(Stop::Epochs));
        }
        let (ended, asked) = self.steps_of_epoch(watch).await?;
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
        Ok((flow == Flow::Stop || asked == Flow::Stop).then_some(Stop::Requested))
    }

    /// Puts the best weights in place of the last.
    pub fn restore_best(&mut self) -> Result<()> {
        self.device.record(Command::Copy { from: self.state.best.view(), to: self.state.parameters.view() });
        self.device.flush()
    }

    /// The flat parameters in use.
    pub async fn parameters(&self) -> Result<Vec<f32>> {
        Ok(bytemuck::cast_vec(self.device.read(&self.state.parameters.view()).await?))
    }

    /// Runs steps without looking, for measuring and for tests that compare step by step. Past the epoch's end its order and
    /// rates repeat.
    pub fn advance(&mut self, steps: usize) -> Result<()> {
        let mut left = steps;
        while left > 0 {
            if self.progress.cursor == 0 {
                self.begin_epoch()?;
            }
            let count = left.min(self.steps - self.progress.cursor);
            self.plans.step.run(count)?;
            left -= count;
            self.progress.cursor = (self.progress.cursor + count) % self.steps;
        }
        Ok(())
    }

    /// The losses of the steps of this epoch so far, and waits for them.
    pub async fn batch_losses(&self) -> Result<Vec<f32>> {
        self.losses(0, self.steps).await
    }

    async fn losses(&self, first: usize, count: usize) -> Result<Vec<f32>> {
        let view = View { buffer: self.state.report.clone(), offset: first, words: count };
        Ok(bytemuck::cast_vec(self.device.read(&view).await?))
    }

    /// Outputs of the model as it is, for encoded inputs.
    pub async fn predict(&self, x: &[f32]) -> Result<Vec<f32>> {
        Predictor::over(&self.device, &self.spec, self.state.parameters.clone()).run(x).await
    }

    /// Metrics on the validation and test rows; `scale` turns a scaled error into target units.
    pub async fn metrics(&self, scale: f64) -> Result<(Metrics, Metrics)> {
        let validation = self.predict(&self.data.validation.x).await?;
        let test = self.predict(&self.data.test.x).await?;
        let measure =
            |z: &[f32], y: &[f32]| Metrics::of(&self.spec, &self.settings.loss, z, y, scale).unwrap_or_default();
        Ok((measure(&validation, &self.data.validation.y), measure(&test, &self.data.test.y)))
    }

    /// Everything needed to go on exactly from here.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        let read = async |buffer: &crate::device::Buffer| self.device.read(&buffer.view()).await;
        let mut progress = self.progress.clone();
        progress.losses = self.losses(0, progress.cursor).await?;
        Ok(Checkpoint {
            spec: self.spec.clone(),
            settings: self.settings.clone(),
            parameters: bytemuck::cast_vec(read(&self.state.parameters).await?),
            moments: bytemuck::cast_vec(read(&self.state.moments).await?),
            control: read(&self.state.control).await?,
            best: bytemuck::cast_vec(read(&self.state.best).await?),
            progress,
            fingerprint: self.data.fingerprint(),
            origin: None,
        })
    }

    fn begin_epoch(&mut self) -> Result<()> {
        let epoch = self.progress.history.len();
        let Self { device, spec, settings, data, steps, .. } = self;
        let layout = Layout::of(spec);
        let loss = settings.curriculum.loss(&settings.loss, epoch, self.progress.held);
        let setup = Setup { device, spec, layout: &layout, settings, data, steps: *steps };
        self.plans.turn_to(loss, &setup, &self.state)?;
        let order = match &self.sampler {
            Some(sampler) => sampler.draw(settings.seed, epoch),
            None => (self.shuffle)(epoch),
        };
        let words = batches::epoch_words(&self.settings, epoch, self.steps, self.progress.drops, &order);
        self.device.write(&self.state.order, 0, &words)
    }

    /// Runs what is left of the epoch in windows; `Some` if the run ends on the way.
    async fn steps_of_epoch(&mut self, watch: &mut dyn FnMut(&Event<'_>) -> Flow) -> Result<(Option<Stop>, Flow)> {
        if self.progress.cursor == 0 {
            self.begin_epoch()?;
        }
        let mut unseen = 0;
        let mut flow = Flow::Continue;
        while self.progress.cursor < self.steps {
            let count = self.window.min(self.steps - self.progress.cursor);
            let start = host::now_ms();
            self.plans.step.run(count)?;
            self.progress.cursor += count;
            unseen += count;
            if unseen >= STEPS_PER_LOOK && self.progress.cursor < self.steps {
                let losses = self.losses(self.progress.cursor - unseen, unseen).await?;
                if !losses.iter().all(|loss| loss.is_finite()) {
                    return Ok((Some(Stop::Diverged), flow));
                }
                unseen = 0;
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

    /// The epoch's one look: its losses, whether it is the best, whether the loss is still a number (`None` if not).
    async fn end_epoch(&mut self) -> Result<Option<EpochReport>> {
        self.plans.validate.run(1)?;
        let report: Vec<f32> = bytemuck::cast_vec(self.device.read(&self.state.report.view()).await?);
        let train_loss = self.mean_loss(&report);
        let figure = |at: usize| f64::from(report[validation_place(self.steps, at)]);
        let watched = figure(0) / figure(1);
        let pairs = self.spec.head().map(|_| PairReport { coverage: figure(2), least_q: figure(3), mean_q: figure(4) });
        let val_loss = (!self.data.validation.y.is_empty()).then_some(watched);
        if ![train_loss, watched].iter().all(|loss| loss.is_finite() && *loss < DIVERGED) {
            return Ok(None);
        }
        let epoch = self.progress.history.len();
        let is_best = self.progress.best_loss.is_none_or(|best| watched < best - self.settings.min_delta);
        if is_best {
            self.device.record(Command::Copy { from: self.state.parameters.view(), to: self.state.best.view() });
            self.device.flush()?;
            self.progress.best_loss = Some(watched);
            self.progress.best_epoch = Some(epoch);
            self.progress.since_best = 0;
        } else {
            self.progress.since_best += 1;
        }
        let last_update = ((epoch + 1) * self.steps.div_ceil(self.settings.accumulate) - 1) as u64;
        let factor = self.settings.schedule.factor(last_update, epoch, self.settings.epochs, self.progress.drops);
        self.notice_plateau(is_best);
        self.follow_course(pairs).await?;
        let report = EpochReport { epoch, train_loss, val_loss, lr: self.settings.lr * factor, is_best, pairs };
        self.progress.history.push(report.clone());
        self.progress.cursor = 0;
        Ok(Some(report))
    }

    /// What the next epoch does otherwise.
    async fn follow_course(&mut self, pairs: Option<PairReport>) -> Result<()> {
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

    /// Whether the coverage was below what is asked for in as many epochs as are borne.
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

    /// Batch losses weighted by the rows of their batches.
    fn mean_loss(&self, report: &[f32]) -> f64 {
        let rows = self.data.train.rows(self.data.targets);
        let batch = self.settings.batch;
        let weighted = |(step, loss): (usize, &f32)| f64::from(*loss) * (rows - step * batch).min(batch) as f64;
        report[..self.steps].iter().enumerate().map(weighted).sum::<f64>() / rows as f64
    }
}
