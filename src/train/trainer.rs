//! What a trainer is, and what it can be queried for. `start.rs` sets a run up, `windows.rs` and `epoch.rs` run it.

use super::config::{StepKind, TrainerConfig};
use super::criterion::Criterion;
use super::data::Data;
use super::events::EpochReport;
use super::flow::TensorGradient;
use super::groups::Groups;
use super::hook::GradientHook;
use super::learner::Learner;
use super::not_finite::NotFinite;
use super::progress::Progress;
use super::step::Plans;
use super::step::setup::Setup;
use super::step::state::State;
use crate::device::{Device, Plan, Summary, View};
use crate::error::{Error, Result};
use crate::judge::Metrics;
use crate::kernels::optimise::{STATE, UpdateState};
use crate::model::predictor::Predictor;
use crate::model::{Network, StateBlock};
use crate::nn::Spec;

/// A training run of a model and a loss.
///
/// The model is a `Spec` or a function over `Var`; the loss is that of the configuration (built-in or formula) or the model's own closure.
pub struct Trainer {
    pub(crate) device: Device,
    pub(crate) network: Network,
    pub(crate) settings: TrainerConfig,
    pub(crate) data: Data,
    pub(crate) groups: Groups,
    pub(crate) learners: Vec<Learner>,
    pub(crate) plans: Plans,
    /// Evaluates an epoch; made before the first one, and only if the criterion needs it.
    pub(crate) validation: Option<Plan>,
    pub(crate) criterion: Criterion,
    pub(crate) steps: usize,
    /// Steps handed to the device at a time.
    pub(crate) window: usize,
    pub(crate) progress: Progress,
    /// The order of the rows in an epoch, for a seed.
    pub(crate) shuffle: Box<Shuffle>,
    pub(crate) hook: Option<Box<dyn GradientHook>>,
}

/// The order of the rows from an epoch and a seed.
pub(crate) type Shuffle = dyn Fn(usize, u64) -> Vec<u32>;

impl Trainer {
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

    /// The model as data: a function is traced. Errors for one that cannot be stored; see [`Network::traced`].
    pub async fn traced(&self) -> Result<Spec> {
        self.network.traced(&self.device).await
    }

    /// The model as data. Errors for a function model, which [`Trainer::traced`] takes.
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

    /// The current flat parameters, in the order of the layout, of one model after another; their mean over steps if one is kept.
    pub async fn parameters(&self) -> Result<Vec<f32>> {
        Ok(bytemuck::cast_vec(self.read_each(Learner::evaluated).await?))
    }

    /// The words of each model, one after another.
    pub(crate) async fn read_each<'t>(&'t self, of: impl Fn(&'t Learner) -> Result<&'t View>) -> Result<Vec<u32>> {
        let mut words = Vec::new();
        for learner in &self.learners {
            words.extend(self.device.read(of(learner)?).await?);
        }
        Ok(words)
    }

    pub(crate) fn states(&self) -> Vec<&State> {
        self.learners.iter().map(|learner| &learner.state).collect()
    }

    /// Number of parameter values, of all models.
    pub fn parameter_count(&self) -> usize {
        self.learners.len() * self.network.layout().count()
    }

    /// The validation loss, or the score, of the weights that each model keeps; absent before one is chosen.
    pub fn best_losses(&self) -> Vec<Option<f64>> {
        self.progress.standings.iter().map(|standing| standing.best_loss).collect()
    }

    /// The epoch whose weights each model keeps, from 0; absent before one is chosen.
    pub fn best_epochs(&self) -> Vec<Option<usize>> {
        self.progress.standings.iter().map(|standing| standing.best_epoch).collect()
    }

    /// What the source of gradients keeps; nothing without one.
    pub async fn source_blocks(&self) -> Result<Vec<StateBlock>> {
        self.read_blocks(|_| true).await
    }

    /// Those blocks of the source whose names are chosen.
    pub(super) async fn read_blocks(&self, is_chosen: impl Fn(&str) -> bool) -> Result<Vec<StateBlock>> {
        let mut blocks = Vec::new();
        for (name, block) in self.learners[0].state.source.iter().filter(|(name, _)| is_chosen(name)) {
            let name = name.clone();
            blocks.push(StateBlock { name, values: bytemuck::cast_vec(self.device.read(block).await?) });
        }
        Ok(blocks)
    }

    fn predictor(&self, learners: &[Learner]) -> Result<Predictor> {
        let parameters = learners.iter().map(|learner| learner.evaluated().cloned()).collect::<Result<_>>()?;
        Ok(Predictor::over(&self.device, self.network.clone(), parameters, &self.settings.loss))
    }

    /// The model's output [rows, columns] with its current weights for encoded inputs [rows, inputs]; of several models, the outputs whose predictions
    /// are the mean of theirs. Errors for a model with several outputs.
    pub async fn predict(&self, x: &[f32]) -> Result<Vec<f32>> {
        self.predictor(&self.learners)?.run(x).await
    }

    /// The same of one of several models.
    pub(crate) async fn predict_by(&self, learner: usize, x: &[f32]) -> Result<Vec<f32>> {
        self.predictor(&self.learners[learner..=learner])?.run(x).await
    }

    /// Every output of the model on its own, each [rows, columns], for encoded inputs [rows, inputs].
    pub async fn predict_each(&self, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        self.outputs_of(&self.learners, x).await
    }

    pub(crate) async fn outputs_of(&self, learners: &[Learner], x: &[f32]) -> Result<Vec<Vec<f32>>> {
        let mut outputs = self.predictor(learners)?.run_each(x).await?;
        // Without rows nothing is predicted.
        outputs.resize(outputs.len().max(self.plans.outputs), Vec::new());
        Ok(outputs)
    }

    /// Metrics on the validation and test rows; `scale` turns a scaled error into target units. Errors for a closure loss.
    pub async fn metrics(&self, scale: f64) -> Result<(Metrics, Metrics)> {
        self.network.required_loss("metrics")?;
        let spec = &self.traced().await?;
        let validation = self.predict(&self.data.validation.x).await?;
        let test = self.predict(&self.data.test.x).await?;
        let measure = |z: &[f32], y: &[f32]| Metrics::of(spec, &self.settings.loss, z, y, scale).unwrap_or_default();
        Ok((measure(&validation, &self.data.validation.y), measure(&test, &self.data.test.y)))
    }

    /// The losses of this epoch's steps so far, of one model after another; waits for them.
    pub async fn batch_losses(&self) -> Result<Vec<f32>> {
        Ok(self.losses(0, self.steps).await?.concat())
    }

    /// Losses of each model.
    pub(crate) async fn losses(&self, first: usize, count: usize) -> Result<Vec<Vec<f32>>> {
        let mut losses = Vec::with_capacity(self.learners.len());
        for Learner { state, .. } in &self.learners {
            losses.push(bytemuck::cast_vec(self.device.read(&state.report.part(first, count)).await?));
        }
        Ok(losses)
    }

    /// What updates remembered before the last step of a model, and after it.
    pub(crate) async fn remembered(&self, state: &State) -> Result<[UpdateState; 2]> {
        let offset = self.settings.update_state_at(self.network.layout());
        let words: Vec<f32> = bytemuck::cast_vec(self.device.read(&state.moments.part(offset, 2 * STATE)).await?);
        // Steps write the two copies by turns; the first word of control counts the steps, also those of `advance`.
        let control = self.device.read(&state.control).await?;
        let before = control[0] as usize % 2;
        Ok([before, 1 - before].map(|copy| UpdateState::read(&words[STATE * copy..])))
    }

    /// The gradient of each parameter at the last update, in the order of the layout, without the scale of the loss; of several models, of the first.
    ///
    /// Errors unless gradients are limited, may be left out, or are watched
    /// ([`GradientConfig::watches`](super::GradientConfig)): otherwise their norms are not computed.
    pub async fn gradient_flow(&self) -> Result<Vec<TensorGradient>> {
        self.gradient_flow_of(&self.learners[0].state).await
    }

    async fn gradient_flow_of(&self, state: &State) -> Result<Vec<TensorGradient>> {
        let Some(sums) = &state.sums else {
            return Err(Error::usage(
                "gradient_flow: norms are not computed: expected a configuration that watches gradients",
            ));
        };
        let words: Vec<f32> = bytemuck::cast_vec(self.device.read(sums).await?);
        let layout = self.network.layout();
        let weight = words[layout.total + 2];
        if weight == 0.0 {
            return Err(Error::usage("gradient_flow: no step was made yet: expected at least one"));
        }
        // Gradients of a loss that is scaled are as much larger.
        let [before, _] = self.remembered(state).await?;
        let share = f64::from(before.unscaled(weight.recip(), self.settings.bounds().scale));
        Ok(TensorGradient::of_sums(layout, &self.groups.frozen, &words, share))
    }

    /// The first place with numbers that are not finite, for the weights that are evaluated (their mean if one is kept), of each model in turn: parameters, values of training
    /// rows after a layer (of a `Spec`), or gradients of the last update, where they are watched. With
    /// [`GradientConfig::skips_overflow`](super::GradientConfig) the weights stay as they were before such an update, so that its cause is found.
    pub async fn first_not_finite(&self) -> Result<Option<NotFinite>> {
        let layout = self.network.layout();
        for learner in &self.learners {
            let flat = learner.evaluated()?;
            let parameters: Vec<f32> = bytemuck::cast_vec(self.device.read(flat).await?);
            let mut found = NotFinite::in_parameters(layout, &parameters);
            if found.is_none() {
                found = NotFinite::in_values(&self.device, &self.network, flat, &self.data.train.x).await?;
            }
            if found.is_none() && learner.state.sums.is_some() && self.steps_done() > 0 {
                found = NotFinite::in_gradients(layout, &self.gradient_flow_of(&learner.state).await?);
            }
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// What its plans are made from.
    pub(crate) fn setup(&self) -> Setup<'_> {
        let Self { device, network, settings, data, groups, steps, .. } = self;
        let has_hook = self.learners[0].state.gathered.is_some();
        Setup { device, network, settings, data, groups, steps: *steps, seed: settings.seed, has_hook }
    }
}
