//! From options and a table to a run: its model, and the configuration with the defaults that depend on task and size.

use super::TrainOptions;
use super::defaults::{BEYOND_TAU, DECAY_OF_POLES, Defaults, HIDDEN, PATIENCE_OF_POLES};
use crate::error::{Error, Result, hint, listed};
use crate::files::Table;
use crate::host::parse_number;
use crate::loss::{self, Loss, PairLoss, TargetForm};
use crate::nn::{Activation, Decoding, Dropout, Head, Layer, Spec};
use crate::optim::{Optimizer, Schedule};
use crate::run::split::{Run, SplitTable};
use crate::table::Target;
use crate::train::{GradientConfig, ParameterGroup, TrainerConfig};

/// So many classes are named in a message.
const MOST_LISTED: usize = 5;

impl TrainOptions {
    /// Resolves the options on a table and encodes its rows.
    pub fn prepare(&self, table: &Table) -> Result<Run> {
        self.check()?;
        let split = SplitTable::new(table, &self.fitted_choice(), self.fractions, self.seed)?;
        let (spec, settings) = self.resolve(&split)?;
        split.run(table, spec, settings)
    }

    /// The model and its settings for a split table. Errors if the loss, the decoding or a policy is invalid for it.
    pub fn resolve(&self, table: &SplitTable) -> Result<(Spec, TrainerConfig)> {
        let (inputs, target) = (table.preparation.inputs(), &table.preparation.target);
        let mut spec = self.spec(inputs, self.outputs(target.outputs()));
        if let Some(Layer::Projective(head)) = spec.layers.last_mut() {
            head.decoding = self.decoding.unwrap_or_else(|| default_decoding(target));
            head.decoding.check().map_err(|error| error.within("train"))?;
        }
        let mut settings = self.settings(target, table.split.train.len())?;
        for (layer, policy) in &self.policies {
            check_policy_layer(&spec, layer)?;
            settings.policies.register(layer, *policy)?;
        }
        Ok((spec, settings))
    }

    /// Outputs of the model for so many values to predict.
    pub fn outputs(&self, values: usize) -> usize {
        self.loss.as_ref().map_or(values, |loss| loss.outputs(values))
    }

    /// Widths of the hidden layers.
    pub fn hidden(&self) -> &[usize] {
        self.hidden.as_deref().unwrap_or(&HIDDEN)
    }

    /// The model for `inputs` and `outputs`.
    pub fn spec(&self, inputs: usize, outputs: usize) -> Spec {
        let hidden = self.hidden();
        let activation = self.activation.clone().unwrap_or_else(Activation::silu);
        let mut spec = match self.head {
            Some(head) => Spec::projective(inputs, hidden, Head { outputs, ..head }, activation),
            None => Spec::mlp(inputs, hidden, outputs, activation),
        };
        let between = |layer: Layer| match layer {
            Layer::Activation(_) => {
                let function = self.rational.map_or(layer, Layer::Rational);
                let dropout = (self.dropout > 0.0).then_some(Dropout { rate: self.dropout }.into());
                [Some(function), self.norm.map(|norm| (norm.layer)()), dropout].into_iter().flatten()
            }
            _ => [Some(layer), None, None].into_iter().flatten(),
        };
        spec.layers = spec.layers.into_iter().flat_map(between).collect();
        spec
    }

    /// The configuration of a run over `rows` training rows. Errors if the loss does not fit the target.
    pub fn settings(&self, target: &Target, rows: usize) -> Result<TrainerConfig> {
        let (plain, defaults) = (TrainerConfig::default(), Defaults::of(rows));
        let optimizer = self.optimizer.clone().unwrap_or_else(|| Optimizer::adamw(0.0));
        let has_mean = optimizer.rule(None).has_mean();
        // Small weights move poles away from where they are.
        let usual_decay = if self.head.is_some() { DECAY_OF_POLES } else { defaults.weight_decay };
        let usual_decay = optimizer.usual_decay().map_or(usual_decay, |decay| decay as f32);
        let loss = self.loss(target, self.smoothing.unwrap_or(defaults.smoothing))?;
        Ok(TrainerConfig {
            gradients: self.gradients(&loss),
            loss,
            lr: self.lr.unwrap_or(optimizer.usual_rate()),
            optimizer: optimizer.with_weight_decay(self.weight_decay.unwrap_or(usual_decay)),
            schedule: self.schedule.unwrap_or(if has_mean { Schedule::CONSTANT } else { plain.schedule }),
            epochs: self.epochs.unwrap_or(plain.epochs),
            batch: self.batch.unwrap_or(defaults.batch),
            accumulate: self.accumulate.unwrap_or(plain.accumulate),
            recompute_layers: self.recompute_layers.clone(),
            precision: self.precision.clone(),
            recompute: self.recompute,
            patience: self.patience.unwrap_or(if self.head.is_some() { PATIENCE_OF_POLES } else { plain.patience }),
            seed: self.seed,
            members: self.members.unwrap_or(plain.members),
            step: self.step,
            class_weights: if self.is_balanced { balanced(target) } else { Vec::new() },
            coverage: self.coverage,
            measures_gap: self.head.is_some() && self.decoding.is_none(),
            blends: self.blends(),
            curriculum: self.curriculum.clone(),
            ..plain
        })
    }

    /// Whether the model is the default one, a network blended with a linear model. Who names a part of a network gets that network.
    fn blends(&self) -> bool {
        let has_layers = self.hidden.is_some() || self.activation.is_some() || self.head.is_some();
        !has_layers && self.rational.is_none() && self.norm.is_none() && self.dropout == 0.0
    }

    /// What happens to gradients. The last bias does not decay where training starts from the mean of the targets.
    fn gradients(&self, loss: &Loss) -> GradientConfig {
        let mut gradients = self.gradients.clone();
        if loss.link().starts_at_mean {
            let last = self.spec(1, 1).layers.len() - 1;
            let parameters = vec![format!("layers.{last}.bias")];
            gradients.groups.push(ParameterGroup { parameters, rate: 1.0, weight_decay: Some(0.0), is_frozen: false });
        }
        gradients
    }

    fn loss(&self, target: &Target, smoothing: f32) -> Result<Loss> {
        if self.head.is_some() {
            return self.pair_loss(target);
        }
        let (usual, taken): (_, &[TargetForm]) = match target {
            Target::Regression { .. } => (Loss::mse(), &[TargetForm::Scaled]),
            Target::Shares { .. } => (Loss::kl(), &[TargetForm::Shares]),
            Target::Counts { .. } => (Loss::poisson(), &[TargetForm::AsItIs]),
            Target::Classification { .. } => {
                (Loss::cross_entropy(smoothing), &[TargetForm::Class, TargetForm::EachClass])
            }
        };
        let chosen = match &self.loss {
            None => usual,
            Some(loss) if loss.constant("smoothing").is_some() => loss.clone().with("smoothing", smoothing)?,
            Some(loss) => loss.clone(),
        };
        if self.smoothing.is_some() && chosen.constant("smoothing").is_none() {
            return Err(Error::usage("train: smoothing applies only to loss \"cross-entropy\""));
        }
        if self.is_balanced && chosen.target().form != TargetForm::Class {
            let names = loss::ALL.iter().filter(|loss| loss.target.form == TargetForm::Class);
            let names: Vec<&str> = names.map(|loss| loss.name).collect();
            return Err(Error::usage(format!("train: class weights apply only to loss {}", listed(&names))));
        }
        if !taken.contains(&chosen.target().form) || chosen.as_output_loss().is_none() {
            return Err(misfit(&chosen, target, taken));
        }
        if chosen.target().is_ordered && self.choice.classes.is_empty() {
            check_order(&chosen, target)?;
        }
        Ok(chosen)
    }

    /// The loss of a model with a head. Errors if the target is a class or the loss is not one of pairs.
    fn pair_loss(&self, target: &Target) -> Result<Loss> {
        if !target.levels().is_empty() {
            return Err(Error::usage("train: a head with poles predicts numbers, the target is a class"));
        }
        if self.smoothing.is_some() || self.is_balanced {
            return Err(Error::usage(
                "train: smoothing and class weights belong to classes; the head predicts numbers",
            ));
        }
        match &self.loss {
            None => Ok(Loss::Pairs(PairLoss::default())),
            Some(Loss::Pairs(loss)) => Ok(Loss::Pairs(*loss)),
            Some(_) => Err(Error::usage("train: a head with poles has a loss of its own; leave the loss out")),
        }
    }
}

/// The error for a loss that does not take targets of these forms. A loss of numbers as they are makes the target one of them.
fn misfit(loss: &Loss, target: &Target, taken: &[TargetForm]) -> Error {
    let what = match target {
        Target::Regression { .. } => "a number",
        Target::Shares { .. } => "shares of classes",
        Target::Counts { .. } => "a number of at least 0",
        Target::Classification { .. } => "a class",
    };
    let is_number = taken.contains(&TargetForm::Scaled);
    let fits = |form: TargetForm| taken.contains(&form) || is_number && form == TargetForm::AsItIs;
    let names = loss::ALL.iter().filter(|record| fits(record.target.form)).map(|record| record.name);
    let names: Vec<&str> = names.chain(is_number.then_some("a formula")).collect();
    let (name, names) = (loss.text(), names.join(", "));
    let names = names.rsplit_once(", ").map_or(names.clone(), |(first, last)| format!("{first} or {last}"));
    Error::usage(format!("train: the loss \"{name}\" does not fit the target, which is {what}; use {names}"))
}

/// Errors unless the classes of a target whose order matters are numbers, which have one.
fn check_order(loss: &Loss, target: &Target) -> Result<()> {
    if target.levels().iter().all(|level| parse_number(level).is_some()) {
        return Ok(());
    }
    let (loss, name) = (loss.text(), target.name());
    let levels: Vec<&str> = target.levels().iter().take(MOST_LISTED).map(String::as_str).collect();
    Err(Error::usage(format!(
        "train: the loss \"{loss}\" needs the order of the classes of \"{name}\": got {}, expected them from lowest to highest under classes",
        listed(&levels)
    )))
}

/// Errors if `name` is neither the path nor the kind of a layer with a gradient policy.
fn check_policy_layer(spec: &Spec, name: &str) -> Result<()> {
    let (mut kinds, mut places) = (Vec::new(), Vec::new());
    for (at, layer) in spec.layers.iter().enumerate() {
        let Some((kind, _)) = layer.as_kind().gradient_policy() else { continue };
        if !kinds.iter().any(|known| known == kind) {
            kinds.push(kind.to_owned());
        }
        places.push(format!("layers.{at}"));
    }
    let near = hint(name, kinds.iter().map(String::as_str));
    kinds.append(&mut places);
    if kinds.is_empty() {
        return Err(Error::usage("train: policy: only rational and masked layers have one; try activation rational"));
    }
    if !kinds.iter().any(|known| known == name) {
        let known = listed(&kinds.iter().map(String::as_str).collect::<Vec<_>>());
        return Err(Error::usage(format!("train: policy: \"{name}\" is no layer with one; there are {known}{near}")));
    }
    Ok(())
}

/// No value beyond the largest finite training target; values beyond a third of it are marked as near a pole. The limit is at least
/// ten times their spread.
pub(crate) fn default_decoding(target: &Target) -> Decoding {
    let Target::Regression { mean, scale, min, max, .. } = target else { return Decoding::default() };
    let largest = ((max - mean).max(mean - min) / scale).clamp(10.0, 1e6);
    let sine = (1.0 / (largest * largest + 1.0).sqrt()) as f32;
    Decoding { tau_infer: sine, tau_train: Some(BEYOND_TAU * sine), ..Decoding::default() }
}

/// Class weights: rows / (classes · rows of the class); 1 for a class without training rows.
pub(crate) fn balanced(target: &Target) -> Vec<f32> {
    let Target::Classification { counts, .. } = target else { return Vec::new() };
    let share = counts.iter().sum::<u32>() as f32 / counts.len() as f32;
    counts.iter().map(|&count| if count == 0 { 1.0 } else { share / count as f32 }).collect()
}
