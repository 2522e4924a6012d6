//! The trainer: sets up a run, runs epochs of replayed steps, evaluates once per epoch, keeps the best weights, and stops on request or
//! when the evaluation stops improving. What happens inside an epoch is in `epoch.rs`.

use super::budget;
use super::checkpoint::{Checkpoint, Progress};
use super::config::{StepKind, TrainerConfig};
use super::data::Data;
use super::epoch::Criterion;
use super::events::{EpochReport, Event, Flow, Outcome, Stop};
use super::first::first_parameters;
use super::gradients::Groups;
use super::mean::Mean;
use super::memory;
use super::sampling::AdaptiveSampler;
use super::setup::Setup;
use super::step::{Plans, State};
use crate::device::{Buffer, Command, Device, Plan, Summary, Timings, View};
use crate::error::{Error, Result};
use crate::host;
use crate::judge::Metrics;
use crate::math;
use crate::model::Network;
use crate::model::predictor::Predictor;
use crate::nn::Spec;
use crate::optim::ScheduleShape;

/// A training run of a model and a loss.
///
/// The model is a `Spec` or a function over `Var`; the loss is that of the configuration (built-in or formula) or the model's own closure.
pub struct Trainer {
    pub(crate) device: Device,
    pub(crate) network: Network,
    pub(crate) settings: TrainerConfig,
    pub(crate) data: Data,
    pub(crate) groups: Groups,
    pub(crate) state: State,
    pub(crate) plans: Plans,
    /// The mean of the weights that is evaluated instead of them, if one is kept.
    pub(crate) mean: Option<Mean>,
    /// Evaluates an epoch; made before the first one, and only if the criterion needs it.
    pub(crate) validation: Option<Plan>,
    pub(crate) criterion: Criterion,
    pub(crate) steps: usize,
    /// Steps handed to the device at a time.
    pub(crate) window: usize,
    pub(crate) progress: Progress,
    pub(crate) shuffle: Box<dyn Fn(usize) -> Vec<u32>>,
    pub(crate) sampler: Option<AdaptiveSampler>,
}

impl Trainer {
    /// Sets up a run of a `Spec` or a [`Network`]: draws parameters from the seed, uploads the data, records the step. With a loss of counts the
    /// last bias of a `Spec` starts at the logarithm of their mean.
    ///
    /// Errors if model, loss, configuration and data do not fit each other, if a function model fails or uses an unknown parameter
    /// (`Parameters::get`), if a closure loss is not of shape [1], or if the loss does not depend on every parameter.
    pub fn new(device: &Device, model: impl Into<Network>, settings: TrainerConfig, data: Data) -> Result<Self> {
        let network = model.into();
        memory::check(network.layout())?;
        let parameters = first_parameters(&network, &settings, &data)?;
        Self::with_parameters(device, network, settings, data, &parameters)
    }

    /// The same with given flat parameters, in the order of the layout.
    pub fn with_parameters(
        device: &Device,
        model: impl Into<Network>,
        settings: TrainerConfig,
        data: Data,
        parameters: &[f32],
    ) -> Result<Self> {
        let network = model.into();
        Self::check(&network, &settings, &data)?;
        let settings = budget::fitted(device, &network, settings, &data, parameters)?;
        Self::build(device, network, settings, data, parameters)
    }

    fn check(network: &Network, settings: &TrainerConfig, data: &Data) -> Result<()> {
        network.check()?;
        settings.check()?;
        data.check()?;
        data.fits(network, settings)
    }

    fn build(
        device: &Device,
        network: Network,
        settings: TrainerConfig,
        data: Data,
        parameters: &[f32],
    ) -> Result<Self> {
        let rows = data.train.rows(data.targets);
        // A loss of the model's own is a mean unless steps are accumulated.
        let is_mean = network.has_own_loss() && settings.accumulate == 1;
        let summed = if is_mean { 1 } else { settings.batch.min(rows) };
        let precision = settings.precision.map(|precision| precision.of_sums(summed));
        let settings = TrainerConfig { precision, ..settings };
        let steps = rows.div_ceil(settings.batch);
        let groups = Groups::of(network.layout(), &settings)?;
        let setup = Setup { device, network: &network, settings: &settings, data: &data, groups: &groups, steps };
        let state = State::new(&setup, parameters)?;
        let plans = Plans::new(&setup, &state)?;
        let mean = settings.rule().has_mean().then(|| Mean::new(&setup, &state)).transpose()?;
        let seed = settings.seed;
        Ok(Self {
            device: device.clone(),
            shuffle: Box::new(move |epoch| math::permutation(rows, seed, epoch)),
            sampler: settings.curriculum.sampler(&data, &[]),
            network,
            settings,
            data,
            groups,
            state,
            plans,
            mean,
            validation: None,
            criterion: Criterion::Loss,
            steps,
            window: 16,
            progress: Progress::default(),
        })
    }

    /// Resumes a run from a checkpoint. Errors if the training rows are not the same, or the checkpoint contradicts itself.
    pub fn resume(device: &Device, data: Data, checkpoint: Checkpoint) -> Result<Self> {
        if checkpoint.fingerprint != data.fingerprint() {
            return Err(Error::new("resume: these are not the rows the checkpoint was trained on"));
        }
        let Checkpoint { spec, settings, parameters, moments, sums, control, best, progress, .. } = checkpoint;
        // A memory budget was kept when the run began: other steps would not be the same run.
        let network = Network::from(spec);
        Self::check(&network, &settings, &data)?;
        let mut trainer = Self::build(device, network, settings, data, &parameters)?;
        let cursor = progress.cursor;
        if cursor >= trainer.steps || progress.losses.len() != cursor || control[1] as usize != cursor {
            return Err(Error::new("resume: the checkpoint's step counters contradict each other"));
        }
        let state = &trainer.state;
        device.write(&state.moments, 0, bytemuck::cast_slice(&moments))?;
        if let Some(held) = state.sums.as_ref().filter(|_| !sums.is_empty()) {
            device.write(held, 0, bytemuck::cast_slice(&sums))?;
        }
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

    /// Replaces the order of the training rows: `shuffle(epoch)`, called once per epoch, returns their numbers. Other numbers are an error of the epoch.
    pub fn shuffle_with(&mut self, shuffle: impl Fn(usize) -> Vec<u32> + 'static) {
        self.shuffle = Box::new(shuffle);
    }

    /// Chooses the best epoch by a score instead of the validation loss: after each epoch the model predicts `x` [rows, inputs], and the
    /// weights with the smallest finite score of its outputs (each row-major) are kept. Patience and plateaus follow the score too.
    ///
    /// Errors after the first epoch, and if the configuration needs the pairs of the validation rows.
    pub fn choose_best_by(&mut self, x: Vec<f32>, score: impl Fn(&[Vec<f32>]) -> f64 + 'static) -> Result<()> {
        self.replace_criterion("choose_best_by", Criterion::Score { x, score: Box::new(score) })
    }

    /// Keeps the weights of the last epoch, whatever they are, and evaluates nothing between epochs.
    ///
    /// Errors after the first epoch, and if the configuration has a patience or anything else that needs an evaluation.
    pub fn keep_last_epoch(&mut self) -> Result<()> {
        let is_plateau = matches!(self.settings.schedule.shape, ScheduleShape::Plateau { .. });
        if self.settings.patience > 0 || is_plateau {
            let got = if is_plateau { "a plateau schedule" } else { "a patience" };
            return Err(Error::new(format!("keep_last_epoch: got {got}, which needs an evaluation of each epoch")));
        }
        self.replace_criterion("keep_last_epoch", Criterion::Last)
    }

    fn replace_criterion(&mut self, place: &str, criterion: Criterion) -> Result<()> {
        if self.steps_done() > 0 {
            return Err(Error::new(format!("{place}: the run has begun: expected a call before the first step")));
        }
        if self.settings.coverage.is_some() || self.settings.curriculum.held_coverage.is_some() {
            return Err(Error::new(format!("{place}: got a coverage goal, which needs the validation loss")));
        }
        self.criterion = criterion;
        Ok(())
    }

    /// The device it trains on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Which step it takes.
    pub fn step_kind(&self) -> StepKind {
        self.plans.kind
    }

    /// Words of the gradients of all parts and their sums in the fused step; 0 for a recorded step.
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

    /// The model and its loss.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The model as data. Errors for a function model.
    pub fn spec(&self) -> Result<&Spec> {
        self.network.required_spec("train")
    }

    /// Its configuration.
    pub fn settings(&self) -> &TrainerConfig {
        &self.settings
    }

    /// The rows for training, validation and test.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Steps so far, including those before a resumption.
    pub fn steps_done(&self) -> u64 {
        (self.progress.history.len() * self.steps + self.progress.cursor) as u64
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochReport] {
        &self.progress.history
    }

    /// Runs until the epochs are done, patience is spent, the loss diverges or `watch` returns `Flow::Stop`; then restores the best weights,
    /// except after a stop by `watch`, from which the run can continue.
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
        let (best_epoch, epochs) = (self.progress.best_epoch, self.progress.history.len());
        Ok(Some(Outcome { stop, best_epoch, epochs, steps: self.steps_done() }))
    }

    /// Replaces the weights by those of the best epoch. Does nothing if a score or `keep_last_epoch` has chosen none.
    pub fn restore_best(&mut self) -> Result<()> {
        if self.progress.best_epoch.is_none() && !matches!(self.criterion, Criterion::Loss) {
            return Ok(());
        }
        self.device.record(Command::Copy { from: self.state.best.view(), to: self.state.parameters.view() });
        self.device.flush()?;
        if self.mean.is_some() {
            let total = self.network.layout().total;
            self.device.write(&self.state.moments, 2 * total, &vec![0; total])?;
        }
        Ok(())
    }

    /// The current flat parameters, in the order of the layout; their mean if one is kept.
    pub async fn parameters(&self) -> Result<Vec<f32>> {
        Ok(bytemuck::cast_vec(self.device.read(&self.evaluated()?.view()).await?))
    }

    /// The weights that are evaluated: the current ones, or their mean if one is kept.
    pub(crate) fn evaluated(&self) -> Result<&Buffer> {
        let Some(mean) = &self.mean else { return Ok(&self.state.parameters) };
        mean.compute()?;
        Ok(&mean.parameters)
    }

    /// Runs steps without evaluating or reading anything, for measurements and for tests that compare step by step. Past the end of the
    /// epoch its order and rates repeat.
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

    /// The same, with every command measured; waits for the end. The time includes what the host does at the start of an epoch.
    pub async fn advance_timed(&mut self, steps: usize) -> Result<Timings> {
        let start = host::now_ms();
        let mut epochs = Vec::new();
        let mut left = steps;
        while left > 0 {
            if self.progress.cursor == 0 {
                self.begin_epoch()?;
            }
            let count = left.min(self.steps - self.progress.cursor);
            epochs.push(self.plans.step.start_timed(count)?);
            left -= count;
            self.progress.cursor = (self.progress.cursor + count) % self.steps;
        }
        let mut timings = Timings::default();
        for epoch in epochs {
            timings.extend(&epoch.await?);
        }
        timings.wall[0] = start;
        Ok(timings)
    }

    /// The losses of this epoch's steps so far; waits for them.
    pub async fn batch_losses(&self) -> Result<Vec<f32>> {
        self.losses(0, self.steps).await
    }

    pub(crate) async fn losses(&self, first: usize, count: usize) -> Result<Vec<f32>> {
        let view = View { buffer: self.state.report.clone(), offset: first, words: count };
        Ok(bytemuck::cast_vec(self.device.read(&view).await?))
    }

    fn predictor(&self) -> Result<Predictor> {
        Ok(Predictor::over(&self.device, self.network.clone(), self.evaluated()?.clone()))
    }

    /// The model's output [rows, columns] with its current weights for encoded inputs [rows, inputs]. Errors for a model with several outputs.
    pub async fn predict(&self, x: &[f32]) -> Result<Vec<f32>> {
        self.predictor()?.run(x).await
    }

    /// Every output of the model on its own, each [rows, columns], for encoded inputs [rows, inputs].
    pub async fn predict_each(&self, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        let mut outputs = self.predictor()?.run_each(x).await?;
        outputs.resize(self.plans.outputs, Vec::new());
        Ok(outputs)
    }

    /// Metrics on the validation and test rows; `scale` turns a scaled error into target units. Errors for a function model and for a
    /// closure loss.
    pub async fn metrics(&self, scale: f64) -> Result<(Metrics, Metrics)> {
        self.network.required_loss("metrics")?;
        let spec = self.network.required_spec("metrics")?;
        let validation = self.predict(&self.data.validation.x).await?;
        let test = self.predict(&self.data.test.x).await?;
        let measure = |z: &[f32], y: &[f32]| Metrics::of(spec, &self.settings.loss, z, y, scale).unwrap_or_default();
        Ok((measure(&validation, &self.data.validation.y), measure(&test, &self.data.test.y)))
    }

    /// Everything that is needed to continue exactly from here. Errors for what a file cannot hold: a function model, a closure loss, a
    /// criterion other than the validation loss.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        self.network.required_loss("checkpoint")?;
        let spec = self.network.required_spec("checkpoint")?.clone();
        if !matches!(self.criterion, Criterion::Loss) {
            return Err(Error::new(
                "checkpoint: the best epoch must be chosen by the validation loss: got another criterion",
            ));
        }
        let read = async |buffer: &Buffer| self.device.read(&buffer.view()).await;
        let mut progress = self.progress.clone();
        progress.losses = self.losses(0, progress.cursor).await?;
        let sums = match self.state.sums.as_ref().filter(|_| self.settings.accumulate > 1) {
            Some(sums) => bytemuck::cast_vec(read(sums).await?),
            None => Vec::new(),
        };
        Ok(Checkpoint {
            spec,
            settings: self.settings.clone(),
            parameters: bytemuck::cast_vec(read(&self.state.parameters).await?),
            moments: bytemuck::cast_vec(read(&self.state.moments).await?),
            sums,
            control: read(&self.state.control).await?,
            best: bytemuck::cast_vec(read(&self.state.best).await?),
            progress,
            fingerprint: self.data.fingerprint(),
            origin: None,
        })
    }
}
