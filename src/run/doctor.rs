//! A check-up of a model on a table with its target: what steps of training do to it, and what to change. Nothing is kept.

use super::finding::{Finding, Verdict, finding};
use super::low_coverage::coverage;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::host;
use crate::model::{Examples, Model};
use crate::nn::Layout;
use crate::optim::{Optimizer, Schedule};
use crate::train::{
    ActivationFlow, Data, Flow, FlowIssue, GradientConfig, NotFinite, TensorGradient, Trainer, TrainerConfig,
    flow_issues,
};

/// Rows of a gradient that is compared with differences.
const COMPARED: usize = 256;
/// A larger relative difference is an error.
const MOST_DIFFERENCE: f64 = 0.05;
/// Rows that a model with enough parameters can learn by heart.
const FEW: usize = 32;
/// Sizes of a batch that are timed.
const BATCHES: [usize; 5] = [16, 64, 256, 1024, 4096];
/// Rows at least; fewer say nothing.
const LEAST_ROWS: usize = 8;

/// A check-up of a model.
pub struct CheckUp {
    /// What was checked, in order.
    pub findings: Vec<Finding>,
    /// What a short run left; `None` if the model cannot be trained.
    pub trained: Option<Trained>,
}

/// A short run from a model's weights.
pub struct Trained {
    /// The trainer after three epochs.
    pub trainer: Trainer,
    /// Its last training loss.
    pub loss: f64,
    /// The largest norm of a gradient.
    pub largest_norm: f64,
    /// The gradient of each parameter at the last update.
    pub gradients: Vec<TensorGradient>,
    /// How the values after each activation lie.
    pub activations: Vec<ActivationFlow>,
    /// What is wrong with both.
    pub issues: Vec<FlowIssue>,
}

impl Model {
    /// Checks the model on the rows of a table that it could be trained on. Takes some seconds.
    ///
    /// Errors if the table lacks a column or has fewer than 8 such rows, or if the device fails; whatever else is wrong is a finding.
    pub async fn check_up(&self, device: &Device, table: &Table) -> Result<CheckUp> {
        let preparation = self.preparation()?;
        let (rows, gaps) = preparation.judged_rows(table, self.spec.head().is_some())?;
        if rows.len() < LEAST_ROWS {
            let got = rows.len();
            return Err(Error::new(format!(
                "{}: got {got} rows with every input and the target, expected at least {LEAST_ROWS}",
                table.source()
            )));
        }
        let held = (rows.len() / 5).max(1);
        let (train, validation) = rows.split_at(rows.len() - held);
        let examples = |rows: &[u32]| Examples::encode(preparation, table, rows, &self.loss);
        let train = Examples::encode_training(preparation, table, train, &self.loss)?;
        let targets = examples(&rows[..1])?.y.len();
        let data = Data {
            inputs: preparation.inputs(),
            targets,
            train,
            validation: examples(validation)?,
            test: examples(&[])?,
        };
        // The first of several models, as the others differ in their seeds only.
        let first = self.member(0);
        let members = self.members();
        let doctor = Doctor { device, model: &first, data };
        let lost = gaps.dropped as f64 / table.rows() as f64;
        let verdict = if lost > 0.1 { Verdict::Advise } else { Verdict::Pass };
        let seen = format!("{} of {} rows can be used", rows.len(), table.rows());
        let mut findings =
            vec![finding("rows", verdict, seen, "fill the missing cells, or train with --missing impute")];
        let bad = self.parameters.iter().filter(|p| !p.is_finite()).count();
        let seen = format!("{bad} of {} parameters are not finite", self.parameters.len());
        if bad > 0 {
            findings.push(finding("parameters", Verdict::Fail, seen, "train the model again: this file is of no use"));
            return Ok(CheckUp { findings, trained: None });
        }
        findings.push(finding("parameters", Verdict::Pass, "all finite".into(), ""));
        if members > 1 {
            let seen = format!("of {members} models; what follows is about the first");
            findings.push(finding("members", Verdict::Pass, seen, ""));
        }
        findings.extend(coverage(&first, device, preparation, (table, &rows)).await?);
        findings.push(doctor.gradient().await?);
        findings.push(doctor.steady()?);
        let (steps, trained) = doctor.steps().await?;
        findings.extend(steps);
        findings.push(doctor.repeats().await?);
        findings.push(doctor.memory()?);
        findings.push(doctor.learns().await?);
        findings.push(doctor.batches().await?);
        Ok(CheckUp { findings, trained })
    }
}

struct Doctor<'d> {
    device: &'d Device,
    model: &'d Model,
    data: Data,
}

impl Doctor<'_> {
    /// A gentle run from the model's weights.
    fn settings(&self, rows: usize) -> TrainerConfig {
        TrainerConfig {
            loss: self.model.loss.clone(),
            optimizer: Optimizer::adamw(0.0),
            schedule: Schedule::CONSTANT,
            lr: 1e-4,
            epochs: 3,
            batch: rows.clamp(1, 64),
            patience: 0,
            gradients: GradientConfig { watches: true, ..GradientConfig::default() },
            allows_unreachable: true,
            ..TrainerConfig::default()
        }
    }

    fn trainer(&self, settings: TrainerConfig, data: &Data, parameters: &[f32]) -> Result<Trainer> {
        Trainer::with_parameters(self.device, self.model.spec.clone(), settings, data.clone(), parameters)
    }

    fn first_rows(&self, rows: usize) -> Data {
        let Data { inputs, targets, train, .. } = &self.data;
        let rows = rows.min(train.rows(*targets));
        let x = train.x[..rows * inputs].to_vec();
        let y = train.y[..rows * targets].to_vec();
        Data { train: Examples { x, y }, ..self.data.clone() }
    }

    /// The gradient along itself against a central difference of the loss.
    async fn gradient(&self) -> Result<Finding> {
        let data = self.first_rows(COMPARED);
        let rows = data.train.rows(data.targets);
        let optimizer = Optimizer::sgd(0.0)?;
        let settings = TrainerConfig { optimizer, lr: 1.0, batch: rows, ..self.settings(rows) };
        let at = async |parameters: &[f32]| {
            let mut trainer = self.trainer(settings.clone(), &data, parameters)?;
            trainer.advance(1)?;
            let loss = f64::from(trainer.batch_losses().await?[0]);
            Ok::<_, Error>((loss, trainer.parameters().await?))
        };
        let own = &self.model.parameters;
        let (loss, after) = at(own).await?;
        let mut g: Vec<f64> = own.iter().zip(&after).map(|(p, after)| f64::from(*p) - f64::from(*after)).collect();
        // A step also moves running statistics, though not by a gradient.
        for parameter in Layout::of(&self.model.spec).parameters.iter().filter(|parameter| parameter.is_statistic) {
            g[parameter.offset..][..parameter.shape.len()].fill(0.0);
        }
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let length = norm(&g);
        let name = "gradient";
        if !loss.is_finite() || !length.is_finite() {
            let seen = format!("the loss is {}, the norm of the gradient {}", host::number(loss), host::number(length));
            return Ok(finding(
                name,
                Verdict::Fail,
                seen,
                "look for rows with huge values, or lower the learning rate",
            ));
        }
        // A change of the loss by about a thousandth of it, which single precision still resolves.
        let step = (1e-3 * loss.abs().max(1e-3) / length).min(0.1 / length.max(1e-12)) / length.max(1e-12);
        let moved = |sign: f64| -> Vec<f32> {
            own.iter().zip(&g).map(|(p, g)| (f64::from(*p) + sign * step * g) as f32).collect()
        };
        if length < 1e-6 {
            return Ok(finding(
                name,
                Verdict::Pass,
                format!("its norm is {length:.1e}: the model is at a minimum"),
                "",
            ));
        }
        let ((above, _), (below, _)) = (at(&moved(1.0)).await?, at(&moved(-1.0)).await?);
        let slope = (above - below) / (2.0 * step);
        let apart = (slope - length * length).abs() / (length * length);
        let verdict = if apart <= MOST_DIFFERENCE { Verdict::Pass } else { Verdict::Advise };
        let seen = format!("{:.2} % from the difference of losses, norm {length:.2e}", 100.0 * apart);
        Ok(finding(name, verdict, seen, "the loss has kinks or jumps here: prefer a smooth activation such as silu"))
    }

    /// Where numbers that are not finite come from, in a run that leaves out the updates with them.
    async fn source(&self, rows: usize) -> Result<Option<NotFinite>> {
        let gradients = GradientConfig { watches: true, skips_overflow: true, ..GradientConfig::default() };
        let settings = TrainerConfig { gradients, ..self.settings(rows) };
        let mut trainer = self.trainer(settings, &self.data, &self.model.parameters)?;
        trainer.run(&mut |_| Flow::Continue).await?;
        trainer.first_not_finite().await
    }

    /// What steps take from the host besides their work.
    fn steady(&self) -> Result<Finding> {
        let rows = self.data.train.rows(self.data.targets);
        let mut trainer = self.trainer(self.settings(rows), &self.data, &self.model.parameters)?;
        trainer.prepare()?;
        trainer.advance(trainer.steps_per_epoch())?;
        let before = self.device.counters();
        trainer.advance(trainer.steps_per_epoch().saturating_sub(1).max(1))?;
        let after = self.device.counters();
        let uploads = after.uploaded_bytes - before.uploaded_bytes;
        let per_epoch = 4 * (rows as u64 + 4 * trainer.steps_per_epoch() as u64);
        let grown = after.live_bytes.saturating_sub(before.live_bytes);
        let is_steady = uploads <= per_epoch && grown == 0 && after.readbacks == before.readbacks;
        let seen = format!(
            "{} readbacks, {} new bindings, {grown} bytes of memory more",
            after.readbacks - before.readbacks,
            after.bind_groups - before.bind_groups
        );
        let verdict = if is_steady { Verdict::Pass } else { Verdict::Fail };
        Ok(finding("steady steps", verdict, seen, "please report this: a step should need nothing from the host"))
    }

    /// A few epochs: losses, norms, and how gradients flow.
    async fn steps(&self) -> Result<(Vec<Finding>, Option<Trained>)> {
        let rows = self.data.train.rows(self.data.targets);
        let mut trainer = self.trainer(self.settings(rows), &self.data, &self.model.parameters)?;
        trainer.run(&mut |_| Flow::Continue).await?;
        let history = trainer.history();
        let losses: Vec<f64> = history.iter().map(|epoch| epoch.train_loss).collect();
        let Some((first, last)) = losses.first().zip(losses.last()).filter(|_| losses.len() == 3) else {
            let seen = match self.source(rows).await? {
                Some(source) => format!("the loss became infinite or NaN; {source}"),
                None => "the loss became infinite or NaN".to_owned(),
            };
            let advice = "clip gradients (--clip-norm 1) and lower --lr";
            return Ok((vec![finding("stability", Verdict::Fail, seen, advice)], None));
        };
        let verdict = if last - first <= 0.05 * first.abs() { Verdict::Pass } else { Verdict::Advise };
        let seen =
            format!("training loss {} to {} in 3 epochs", host::number(round(*first)), host::number(round(*last)));
        let advice = "the loss rises: lower --lr, or clip gradients (--clip-norm 1)";
        let stability = finding("stability", verdict, seen, advice);
        let norms = history.iter().filter_map(|epoch| epoch.gradients).map(|one| one.largest_norm);
        let (loss, largest_norm) = (*last, norms.fold(0.0, f64::max));
        let gradients = trainer.gradient_flow().await?;
        let activations = trainer.activation_flow().await?;
        let issues = flow_issues(&gradients, &activations);
        let trained = Trained { trainer, loss, largest_norm, gradients, activations, issues };
        Ok((vec![stability, flow(&trained)], Some(trained)))
    }

    /// Two runs with one seed.
    async fn repeats(&self) -> Result<Finding> {
        let rows = self.data.train.rows(self.data.targets);
        let mut ends = Vec::new();
        for _ in 0..2 {
            let mut trainer = self.trainer(self.settings(rows), &self.data, &self.model.parameters)?;
            trainer.advance(5)?;
            ends.push(trainer.parameters().await?);
        }
        let is_same = ends[0] == ends[1];
        let seen = if is_same { "two runs end with the same bits" } else { "two runs with one seed differ" };
        let verdict = if is_same { Verdict::Pass } else { Verdict::Fail };
        Ok(finding("repeatable", verdict, seen.into(), "please report this, with the device"))
    }

    /// What a step needs, against what there is.
    fn memory(&self) -> Result<Finding> {
        let rows = self.data.train.rows(self.data.targets);
        let trainer = self.trainer(self.settings(rows), &self.data, &self.model.parameters)?;
        let summary = trainer.step_summary();
        let (needed, all) = (summary.transient_bytes + summary.persistent_bytes, host::memory_bytes());
        let verdict = if needed < all / 2 { Verdict::Pass } else { Verdict::Advise };
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        let seen = format!(
            "{} for a step, {} of it for one batch; {} in all",
            mib(needed),
            mib(summary.transient_bytes),
            mib(all)
        );
        Ok(finding("memory", verdict, seen, "a smaller --batch with --accumulate keeps the size of an update"))
    }

    /// Whether the model can learn a few rows by heart.
    async fn learns(&self) -> Result<Finding> {
        let data = self.first_rows(FEW);
        let rows = data.train.rows(data.targets);
        let settings = TrainerConfig { lr: 3e-3, batch: rows, ..self.settings(rows) };
        let mut trainer = self.trainer(settings, &data, &self.model.parameters)?;
        trainer.advance(1)?;
        let first = trainer.batch_losses().await?[0];
        trainer.advance(300)?;
        let last = trainer.batch_losses().await?[0];
        let verdict = if last < 0.5 * first || last < 1e-4 { Verdict::Pass } else { Verdict::Advise };
        let seen = format!("loss of {rows} rows {first:.2e} to {last:.2e} in 300 steps");
        let advice = "it cannot learn a few rows by heart: try more or wider layers or less --dropout, and look for rows with the same inputs and other targets";
        Ok(finding("learns", verdict, seen, advice))
    }

    /// Rows a second for some sizes of a batch.
    async fn batches(&self) -> Result<Finding> {
        let rows = self.data.train.rows(self.data.targets);
        let mut speeds: Vec<(usize, f64)> = Vec::new();
        for batch in BATCHES.into_iter().filter(|&batch| batch <= rows) {
            let settings = TrainerConfig { batch, ..self.settings(rows) };
            let mut trainer = self.trainer(settings, &self.data, &self.model.parameters)?;
            trainer.advance(2)?;
            trainer.batch_losses().await?;
            let (start, mut steps) = (host::now_ms(), 0);
            while host::now_ms() - start < 60.0 {
                trainer.advance(4)?;
                trainer.batch_losses().await?;
                steps += 4;
            }
            speeds.push((batch, (steps * batch) as f64 / ((host::now_ms() - start) / 1e3)));
        }
        let best = speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
        let text: Vec<String> = speeds.iter().map(|(batch, speed)| format!("{batch}: {speed:.1e}")).collect();
        let Some((batch, _)) = speeds.iter().find(|(_, speed)| *speed >= 0.8 * best) else {
            return Ok(finding("batch size", Verdict::Pass, "too few rows to compare".into(), ""));
        };
        let seen = format!("rows/s by batch {}; from {batch} on nearly the best", text.join(", "));
        Ok(finding("batch size", Verdict::Pass, seen, ""))
    }
}

/// What is wrong with gradients and activations.
fn flow(trained: &Trained) -> Finding {
    let Trained { gradients, issues, largest_norm, .. } = trained;
    let verdict = if issues.is_empty() { Verdict::Pass } else { Verdict::Advise };
    let seen = if issues.is_empty() {
        let count = gradients.len();
        format!("of {count} tensors, none vanishing, exploding or dead; largest norm {largest_norm:.2e}")
    } else {
        issues.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let advice = "vanishing, dead, saturated or out of balance: another activation (silu), a norm (--norm layer) or fewer layers; exploding: --clip-norm 1";
    finding("gradient flow", verdict, seen, advice)
}

/// Four digits.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::judge::examined::{judged, linear};

    #[test]
    fn a_good_model_passes_and_a_broken_one_does_not() {
        let (mut model, table) = (linear([3.0, -1.0, 0.5]), judged(300));
        let device = Device::cpu(1);
        let findings = block_on(model.check_up(&device, &table)).unwrap().findings;
        let names: Vec<&str> = findings.iter().map(|one| one.check).collect();
        let all = [
            "rows",
            "parameters",
            "gradient",
            "steady steps",
            "stability",
            "gradient flow",
            "repeatable",
            "memory",
            "learns",
            "batch size",
        ];
        assert_eq!(names, all);
        let failed: Vec<&Finding> = findings.iter().filter(|one| one.verdict == Verdict::Fail).collect();
        assert!(failed.is_empty(), "{failed:?}");
        let gradient = &findings[2];
        assert_eq!(gradient.verdict, Verdict::Pass, "{gradient:?}");
        model.parameters[0] = f32::NAN;
        let findings = block_on(model.check_up(&device, &table)).unwrap().findings;
        assert_eq!(findings.last().map(|one| (one.check, one.verdict)), Some(("parameters", Verdict::Fail)));
    }
}
