//! How a run is set up, the choices before its first step, and how it is saved and resumed.

use super::budget;
use super::checkpoint::Checkpoint;
use super::config::{Keep, TrainerConfig};
use super::criterion::Criterion;
use super::data::Data;
use super::first::first_parameters;
use super::fits;
use super::groups::Groups;
use super::learner::Learner;
use super::memory;
use super::progress::{Progress, Standing};
use super::step::Plans;
use super::step::mean::Mean;
use super::step::setup::Setup;
use super::step::state::State;
use super::trainer::Trainer;
use crate::device::{Device, View};
use crate::error::{Error, Result};
use crate::math;
use crate::model::{GradientSource, Network, SourceState, StateBlock};

impl Trainer {
    /// Sets up a run of a `Spec` or a [`Network`]: draws parameters from the seed, uploads the data, records the step. With a loss of counts or
    /// amounts the last bias of a `Spec` starts at the logarithm of their mean.
    ///
    /// Errors if model, loss, configuration and data do not fit each other, if a function model fails or uses an unknown parameter
    /// (`Parameters::get`), if a closure loss has another shape than [1] or [rows, columns], or if the loss does not depend on every parameter.
    pub fn new(device: &Device, model: impl Into<Network>, settings: TrainerConfig, data: Data) -> Result<Self> {
        let network = model.into();
        memory::check(network.layout(), settings.members)?;
        let parameters = first_parameters(&network, &settings, &data)?;
        Self::with_parameters(device, network, settings, data, &parameters)
    }

    /// The same with given flat parameters, in the order of the layout, of one model after another.
    pub fn with_parameters(
        device: &Device,
        model: impl Into<Network>,
        settings: TrainerConfig,
        data: Data,
        parameters: &[f32],
    ) -> Result<Self> {
        let network = model.into();
        fits::check(&network, &settings, &data)?;
        let settings = budget::fitted(device, &network, settings, &data, parameters)?;
        Self::build(device, network, settings, data, parameters)
    }

    fn build(
        device: &Device,
        network: Network,
        settings: TrainerConfig,
        data: Data,
        parameters: &[f32],
    ) -> Result<Self> {
        memory::check_rows(device, &data)?;
        let rows = data.train.rows(data.targets);
        // A loss of the model's own is a mean unless steps are accumulated.
        let is_mean = network.has_own_loss() && settings.accumulate == 1;
        let summed = if is_mean { 1 } else { settings.batch.min(rows) };
        let precision = settings.precision.map(|precision| precision.of_sums(summed));
        let settings = TrainerConfig { precision, ..settings };
        let steps = rows.div_ceil(settings.batch);
        let groups = Groups::of(network.layout(), &settings)?;
        let setup = Setup {
            device,
            network: &network,
            settings: &settings,
            data: &data,
            groups: &groups,
            steps,
            seed: settings.seed,
            has_hook: false,
        };
        let states = State::of_each(&setup, parameters)?;
        let plans = Plans::new(&setup, &states.iter().collect::<Vec<_>>())?;
        let learner = |state: State| {
            let mean = settings.rule().has_mean().then(|| Mean::new(&setup, &state)).transpose()?;
            Ok(Learner { state, mean, sampler: settings.curriculum.sampler(&data, &[]) })
        };
        let learners = states.into_iter().map(learner).collect::<Result<Vec<_>>>()?;
        let standings = vec![Standing::default(); learners.len()];
        let criterion = if settings.keep == Keep::Last { Criterion::Last } else { Criterion::Loss };
        Ok(Self {
            device: device.clone(),
            shuffle: Box::new(move |epoch, seed| math::permutation(rows, seed, epoch)),
            network,
            settings,
            data,
            groups,
            learners,
            plans,
            validation: None,
            criterion,
            steps,
            window: 16,
            progress: Progress { standings, ..Progress::default() },
            hook: None,
        })
    }

    /// Resumes a run from a checkpoint. Errors if the training rows are not the same, the checkpoint contradicts itself, or the run had a closure loss or a source of
    /// gradients.
    pub fn resume(device: &Device, data: Data, checkpoint: Checkpoint) -> Result<Self> {
        if checkpoint.has_own_loss {
            return Err(Error::new(
                "resume: the loss of the run is a closure, which no file holds: expected the model with its loss (Trainer::resume_with)",
            ));
        }
        if let Some(SourceState { name, .. }) = &checkpoint.source {
            return Err(Error::new(format!(
                "resume: the gradients of the run came from the source \"{name}\", which no file holds: expected the model with it (Trainer::resume_with)"
            )));
        }
        let network = Network::from(checkpoint.spec.clone());
        Self::continued(device, network, data, checkpoint)
    }

    /// Resumes a run of a model that a program defines: a function, or one with a closure loss or with ops of its own. Errors as [`Trainer::resume`]
    /// does, and if the model is not the one of the checkpoint.
    pub async fn resume_with(
        device: &Device,
        model: impl Into<Network>,
        data: Data,
        checkpoint: Checkpoint,
    ) -> Result<Self> {
        let network = model.into();
        if network.traced(device).await? != checkpoint.spec {
            return Err(Error::new("resume: the model is not the one of the checkpoint"));
        }
        if network.has_own_loss() != checkpoint.has_own_loss {
            let what = if checkpoint.has_own_loss {
                "no closure loss: expected the run's"
            } else {
                "a closure loss: the run had none"
            };
            return Err(Error::new(format!("resume: got a model with {what}")));
        }
        let names = |source: Option<&str>| source.map_or_else(|| "none".to_owned(), |name| format!("\"{name}\""));
        let (got, expected) = (network.source().map(GradientSource::name), checkpoint.source.as_ref());
        let expected = expected.map(|source| source.name.as_str());
        if got != expected {
            let [got, expected] = [got, expected].map(names);
            return Err(Error::new(format!("resume: the source of gradients: got {got}, expected {expected}")));
        }
        Self::continued(device, network, data, checkpoint)
    }

    fn continued(device: &Device, network: Network, data: Data, checkpoint: Checkpoint) -> Result<Self> {
        if checkpoint.fingerprint != data.fingerprint() {
            return Err(Error::new("resume: these are not the rows the checkpoint was trained on"));
        }
        if let Some(part) = checkpoint.other_part(&data) {
            return Err(Error::new(format!("resume: these are not the {part} rows of the checkpoint")));
        }
        let Checkpoint { source, settings, parameters, moments, sums, control, best, progress, .. } = checkpoint;
        // A memory budget was kept when the run began: other steps would not be the same run.
        fits::check(&network, &settings, &data)?;
        let mut trainer = Self::build(device, network, settings, data, &parameters)?;
        let cursor = progress.cursor;
        let has_all = |standing: &Standing| standing.losses.len() == cursor;
        let are_at = |control: &[u32]| control[1] as usize == cursor;
        let is_consistent = cursor < trainer.steps
            && progress.standings.len() == trainer.learners.len()
            && progress.standings.iter().all(has_all)
            && control.chunks_exact(4).all(are_at);
        if !is_consistent {
            return Err(Error::new("resume: the checkpoint's step counters contradict each other"));
        }
        let write = |of: fn(&State) -> &View, words: &[u32]| {
            let count = trainer.learners.len();
            let parts = words.chunks_exact((words.len() / count).max(1));
            trainer.learners.iter().zip(parts).try_for_each(|(Learner { state, .. }, part)| {
                let View { buffer, offset, .. } = of(state);
                device.write(buffer, *offset, part)
            })
        };
        write(|state| &state.moments, bytemuck::cast_slice(&moments))?;
        write(|state| &state.control, &control)?;
        write(|state| &state.best, bytemuck::cast_slice(&best))?;
        if trainer.learners[0].state.sums.is_some() && !sums.is_empty() {
            write(|state| state.sums.as_ref().expect("all have sums"), bytemuck::cast_slice(&sums))?;
        }
        for (Learner { state, .. }, standing) in trainer.learners.iter().zip(&progress.standings) {
            device.write(&state.report.buffer, state.report.offset, bytemuck::cast_slice(&standing.losses))?;
        }
        let state = &trainer.learners[0].state;
        let blocks = source.map(|source| source.blocks).unwrap_or_default();
        let has_all = blocks.len() == state.source.len();
        let fits = |(block, (name, view)): (&StateBlock, &(String, View))| {
            block.name == *name && block.values.len() == view.words
        };
        if !has_all || !blocks.iter().zip(&state.source).all(fits) {
            return Err(Error::new("resume: the state of the source of gradients is not that of the checkpoint"));
        }
        for (block, (_, view)) in blocks.iter().zip(&state.source) {
            device.write(&view.buffer, view.offset, bytemuck::cast_slice(&block.values))?;
        }
        for (learner, Standing { means, .. }) in trainer.learners.iter_mut().zip(&progress.standings) {
            if !means.is_empty() && means.len() != trainer.data.train.rows(trainer.data.targets) {
                return Err(Error::new("resume: the checkpoint has not as many means as there are rows"));
            }
            learner.sampler = trainer.settings.curriculum.sampler(&trainer.data, means);
        }
        trainer.progress = progress;
        if trainer.progress.cursor > 0 {
            trainer.begin_epoch()?;
        }
        Ok(trainer)
    }

    /// Replaces the order of the training rows: `shuffle(epoch)`, called once per epoch for each model, returns their numbers. Other numbers are an error of the epoch.
    pub fn shuffle_with(&mut self, shuffle: impl Fn(usize) -> Vec<u32> + 'static) {
        self.shuffle = Box::new(move |epoch, _| shuffle(epoch));
    }

    /// Chooses the best epoch by a score instead of the validation loss: after each epoch the model predicts `x` [rows, inputs], and the
    /// weights with the smallest finite score of its outputs (each row-major) are kept. Patience and plateaus follow the score too.
    ///
    /// Errors after the first epoch, and if the configuration needs the pairs of the validation rows.
    pub fn choose_best_by(&mut self, x: Vec<f32>, score: impl Fn(&[Vec<f32>]) -> f64 + 'static) -> Result<()> {
        if self.steps_done() > 0 {
            return Err(Error::new("choose_best_by: the run has begun: expected a call before the first step"));
        }
        if self.settings.coverage.is_some() || self.settings.curriculum.held_coverage.is_some() {
            return Err(Error::new("choose_best_by: got a coverage goal, which needs the validation loss"));
        }
        self.criterion = Criterion::Score { x, score: Box::new(score) };
        Ok(())
    }

    /// Everything that is needed to continue exactly from here. A function model is traced; a closure loss is not stored, and has to be given again
    /// ([`Trainer::resume_with`]). Errors for what a file cannot hold: a function that cannot be traced ([`Network::traced`]), a score that chooses
    /// the best epoch, an optimiser of the program's own.
    pub async fn checkpoint(&self) -> Result<Checkpoint> {
        let spec = self.traced().await?;
        if matches!(self.criterion, Criterion::Score { .. }) {
            return Err(Error::new("checkpoint: got a score of the program's own, which no file holds"));
        }
        self.settings.optimizer.check_stored().map_err(|error| error.within("checkpoint"))?;
        let mut progress = self.progress.clone();
        let losses = self.losses(0, progress.cursor).await?;
        progress.standings.iter_mut().zip(losses).for_each(|(standing, losses)| standing.losses = losses);
        let sums = if self.settings.accumulate > 1 && self.learners[0].state.sums.is_some() {
            self.read_each(|learner| Ok(learner.state.sums.as_ref().expect("all have sums"))).await?
        } else {
            Vec::new()
        };
        Ok(Checkpoint {
            spec,
            has_own_loss: self.network.has_own_loss(),
            source: match self.network.source() {
                Some(source) => {
                    Some(SourceState { name: source.name().to_owned(), blocks: self.source_blocks().await? })
                }
                None => None,
            },
            settings: self.settings.clone(),
            parameters: bytemuck::cast_vec(self.read_each(|learner| Ok(&learner.state.parameters)).await?),
            moments: bytemuck::cast_vec(self.read_each(|learner| Ok(&learner.state.moments)).await?),
            sums: bytemuck::cast_vec(sums),
            control: self.read_each(|learner| Ok(&learner.state.control)).await?,
            best: bytemuck::cast_vec(self.read_each(|learner| Ok(&learner.state.best)).await?),
            progress,
            fingerprint: self.data.fingerprint(),
            held: self.data.held_fingerprints().map(|(_, hash)| hash).to_vec(),
            origin: None,
        })
    }
}
