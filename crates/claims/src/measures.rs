//! How each claim is measured.

use pollster::block_on;

use super::{BATCH, Bench, Claim, INPUTS, WIDTH};
use meromorph::compress::{Compressor, Count, Method};
use meromorph::device::Recompute;
use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::nn::{Activation, Spec};
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{
    Clip, Data, Examples, Flow, GradientConfig, Half, LossScaling, MixedPrecision, StepKind, Trainer, TrainerConfig,
};
use meromorph::{Error, Result};
use meromorph_benchmark::{Benchmark, WarmUp};

/// Bytes of memory that the process has, if the system tells.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Numbers from -1 to 1, from a seed.
pub(super) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(STEP);
        (mixed(state) >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| draw()).collect()
}

/// Rows of a smooth function, from a seed.
pub(super) fn data(rows: usize) -> Data {
    let part = |rows: usize, seed: u64| {
        let x = noise(rows * INPUTS, seed);
        let y = x.chunks_exact(INPUTS).map(|x| x[0] - x[1] * x[2] + (3.0 * x[3]).sin()).collect();
        Examples { x, y }
    };
    Data { inputs: INPUTS, targets: 1, train: part(rows, 1), validation: part(rows / 4, 2), ..Data::default() }
}

pub(super) fn settings() -> TrainerConfig {
    TrainerConfig {
        schedule: Schedule::CONSTANT,
        batch: BATCH,
        patience: 0,
        step: Some(StepKind::Recorded),
        ..TrainerConfig::default()
    }
}

/// Percent by which something is slower: the median, and where the true figure lies with a probability of 95 %.
pub(super) struct Slower([f64; 3]);

impl Slower {
    pub(super) fn text(&self) -> String {
        let [median, low, high] = self.0;
        format!("{median:+.1} % ({low:+.1} to {high:+.1} %)")
    }

    pub(super) fn is_at_most(&self, percent: f64) -> bool {
        self.0[0] <= percent
    }
}

impl Bench<'_> {
    pub(super) fn trainer(&self, layers: usize, width: usize, settings: TrainerConfig) -> Result<Trainer> {
        self.trainer_over(BATCH, layers, width, settings)
    }

    pub(super) fn trainer_over(
        &self,
        rows: usize,
        layers: usize,
        width: usize,
        settings: TrainerConfig,
    ) -> Result<Trainer> {
        let spec = Spec::mlp(INPUTS, &vec![width; layers], 1, Activation::tanh());
        let mut trainer = Trainer::new(self.device, spec, settings, data(rows))?;
        trainer.prepare()?;
        Ok(trainer)
    }

    /// How much more time a step of the second takes than one of the first.
    pub(super) fn slower(&self, [a, b]: [&mut Trainer; 2], steps: usize) -> Result<Slower> {
        let (iterations, warm_up) = if self.is_quick { (2, 0) } else { (41, 2) };
        let one = |trainer: &mut Trainer| -> Result<()> {
            trainer.advance(steps)?;
            block_on(trainer.batch_losses()).map(drop)
        };
        let benchmark = Benchmark::new("step").iterations(iterations).warm_up(WarmUp::Runs(warm_up));
        let ratio = benchmark.compare(|| one(a), || one(b))?.1;
        Ok(Slower([ratio.median, ratio.low, ratio.high].map(|ratio| 100.0 * (ratio - 1.0))))
    }

    pub(super) fn recomputation(&self) -> Result<Vec<Claim>> {
        let mut claims = Vec::new();
        let depths: &[(usize, f64)] =
            if self.is_quick { &[(12, 50.0)] } else { &[(12, 50.0), (24, 60.0), (50, 65.0), (100, 70.0)] };
        for &(layers, least) in depths {
            let bytes = |trainer: &Trainer| trainer.step_summary().transient_bytes as f64;
            let modes = [(Recompute::Every(3), "blocks of 3", least), (Recompute::Root, "blocks of √N", 80.0)];
            for (recompute, name, least) in modes.into_iter().filter(|mode| mode.2 < 80.0 || layers == 100) {
                // Both make the same steps, so that their weights can be compared.
                let mut plain = self.trainer(layers, WIDTH, settings())?;
                let mut less = self.trainer(layers, WIDTH, TrainerConfig { recompute, ..settings() })?;
                let saved = 100.0 * (1.0 - bytes(&less) / bytes(&plain));
                claims.push(Claim {
                    what: format!("{layers} layers in {name}: at least {least:.0} % less memory between the passes"),
                    how: "bytes of the intermediate results of a step",
                    figure: format!("{saved:.1} % less"),
                    is_met: Some(saved >= least),
                });
                // Laps of about the same length at every depth.
                let steps = (100 / layers).max(1);
                let slower = self.slower([&mut plain, &mut less], steps)?;
                claims.push(Claim {
                    what: format!("{layers} layers in {name}: at most 30 % more time"),
                    how: "time of a step",
                    figure: slower.text(),
                    is_met: Some(slower.is_at_most(30.0)),
                });
                let bits = |trainer: &Trainer| -> Result<Vec<u32>> {
                    Ok(block_on(trainer.parameters())?.iter().map(|value| value.to_bits()).collect())
                };
                let is_same = bits(&plain)? == bits(&less)?;
                claims.push(Claim {
                    what: format!("{layers} layers in {name}: the same gradients"),
                    how: "bits of all weights after those steps",
                    figure: if is_same { "the same".into() } else { "different".into() },
                    is_met: Some(is_same),
                });
            }
        }
        Ok(claims)
    }

    /// The memory that the process takes for a step, where the system tells (Linux), on the CPU.
    pub(super) fn resident(&self) -> Result<Vec<Claim>> {
        let Some(before) = resident_bytes().filter(|_| self.device.info().runs_cpu_path()) else {
            return Ok(Vec::new());
        };
        let live = self.device.counters().live_bytes;
        let spec = Spec::mlp(INPUTS, &[WIDTH; 24], 1, Activation::tanh());
        let settings = TrainerConfig { batch: 16 * BATCH, ..settings() };
        let mut trainer = Trainer::new(self.device, spec, settings, data(16 * BATCH))?;
        trainer.prepare()?;
        trainer.advance(1)?;
        block_on(trainer.batch_losses())?;
        let grown = resident_bytes().unwrap_or(before) as f64 - before as f64;
        let known = (self.device.counters().live_bytes - live) as f64;
        let apart = 100.0 * (grown / known - 1.0);
        Ok(vec![Claim {
            what: "the process takes the bytes that the device counts, within 10 %".into(),
            how: "growth of the resident memory over bytes of device memory, 24 layers, 4,096 rows",
            figure: format!("{:.0} MiB counted, {apart:+.1} %", known / f64::from(1 << 20)),
            is_met: Some(apart.abs() <= 10.0),
        }])
    }

    pub(super) fn mixed_precision(&self) -> Result<Vec<Claim>> {
        let depths = if self.is_quick { [6, 12] } else { [25, 50] };
        let bytes = |precision: Option<&MixedPrecision>| -> Result<[f64; 2]> {
            let bytes = |layers: usize| -> Result<f64> {
                let precision = precision.cloned();
                let trainer = self.trainer(layers, WIDTH, TrainerConfig { precision, ..settings() })?;
                Ok(trainer.step_summary().transient_bytes as f64)
            };
            Ok([bytes(depths[0])?, bytes(depths[1])?])
        };
        let whole = bytes(None)?;
        let mut claims = Vec::new();
        for format in [Half::F16, Half::Bf16] {
            let precision = MixedPrecision::new(format);
            let name = precision.name();
            let halves = bytes(Some(&precision))?;
            let saved = |less: f64, whole: f64| 100.0 * (1.0 - less / whole);
            let of_layers = saved(halves[1] - halves[0], whole[1] - whole[0]);
            let of_all = saved(halves[1], whole[1]);
            claims.push(Claim {
                what: format!("{name}: what a layer keeps between the passes takes half the bytes"),
                how: "bytes of the intermediate results of a step, what more layers add; all of them with the results at work, which are in f32, in brackets",
                figure: format!("{of_layers:.1} % less ({of_all:.1} % with {} layers)", depths[1]),
                is_met: Some(of_layers >= 50.0),
            });
            claims.push(self.final_losses(&precision)?);
        }
        Ok(claims)
    }

    /// Runs that overflow once, and runs that never do.
    pub(super) fn overflow(&self) -> Result<Vec<Claim>> {
        let after = |initial: f64, epochs: usize| -> Result<(Vec<u32>, Option<f64>)> {
            let scale = Some(LossScaling { initial, ..LossScaling::default() });
            let precision = Some(MixedPrecision { scale, ..MixedPrecision::new(Half::F16) });
            let mut trainer = self.trainer(3, 32, TrainerConfig { precision, ..settings() })?;
            trainer.shuffle_with(|_| (0..BATCH as u32).collect());
            for _ in 0..epochs {
                block_on(trainer.epoch(&mut |_| Flow::Continue))?;
            }
            let bits = block_on(trainer.parameters())?.iter().map(|value| value.to_bits()).collect();
            Ok((bits, trainer.history().last().and_then(|epoch| epoch.gradients?.loss_scale)))
        };
        let fits = after(2_f64.powi(32), 40)?.1.ok_or_else(|| Error::internal("claims: no loss scale was reported"))?;
        let is_untouched = after(2.0 * fits, 1)? == (after(fits, 0)?.0, Some(fits));
        let is_same = after(2.0 * fits, 6)?.0 == after(fits, 5)?.0;
        let word = |is_so: bool| if is_so { "the same bits".to_owned() } else { "other bits".to_owned() };
        Ok(vec![
            Claim {
                what: "an update that overflows in f16 changes no weight".into(),
                how: "bits of all weights before and after a step whose loss scale is twice the largest that fits",
                figure: word(is_untouched),
                is_met: Some(is_untouched),
            },
            Claim {
                what: "the updates after it are those of a run without overflow".into(),
                how: "bits of all weights after five more steps",
                figure: word(is_same),
                is_met: Some(is_same),
            },
        ])
    }

    pub(super) fn steady_steps(&self) -> Result<Vec<Claim>> {
        let gradients = GradientConfig { clip: Some(Clip::Norm { most: 1.0 }), ..GradientConfig::default() };
        let fused = TrainerConfig { step: Some(StepKind::Fused), ..settings() };
        // Steps of one epoch: the next one begins with an upload of its order.
        let rows = 128 * BATCH;
        let mut plain = self.trainer_over(rows, 3, 64, fused.clone())?;
        let mut limited = self.trainer_over(rows, 3, 64, TrainerConfig { gradients, ..fused })?;
        limited.advance(4)?;
        block_on(limited.batch_losses())?;
        let before = self.device.counters();
        limited.advance(64)?;
        let after = self.device.counters();
        let made = [
            after.bind_groups - before.bind_groups,
            after.uploaded_bytes - before.uploaded_bytes,
            after.readbacks - before.readbacks,
            after.peak_bytes - before.peak_bytes,
        ];
        let launches = limited.step_summary().launches.len();
        let slower = self.slower([&mut plain, &mut limited], 200)?;
        Ok(vec![
            Claim {
                what: "a step allocates, binds, uploads and reads back nothing".into(),
                how: "counters of the device over 64 steps: bind groups, bytes uploaded, readbacks, bytes of memory",
                figure: made.map(|count| count.to_string()).join(", "),
                is_met: Some(made == [0; 4]),
            },
            Claim {
                what: "a fused step with clipping is 3 launches".into(),
                how: "launches of its plan",
                figure: launches.to_string(),
                is_met: Some(launches == 3),
            },
            Claim {
                what: "clipping costs at most 5 % of a fused step".into(),
                how: "time of 200 steps of 8-64-64-64-1 with and without",
                figure: slower.text(),
                is_met: Some(slower.is_at_most(5.0)),
            },
        ])
    }

    pub(super) fn dynamic_batch(&self) -> Result<Vec<Claim>> {
        let loss = |recompute: Recompute, layers: usize| -> Result<(f64, usize)> {
            let settings = TrainerConfig { recompute, epochs: 3, optimizer: Optimizer::sgd(0.9)?, ..settings() };
            let mut trainer = self.trainer(layers, WIDTH, settings)?;
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            let last = trainer.history().last().map_or(f64::NAN, |epoch| epoch.train_loss);
            Ok((last, trainer.settings().batch))
        };
        let (whole, _) = loss(Recompute::Nothing, 8)?;
        let (split, rows) = loss(Recompute::Within(1 << 20), 8)?;
        let apart = (split - whole).abs() / whole;
        Ok(vec![Claim {
            what: "a memory budget that splits batches changes the final loss by at most 1e-6".into(),
            how: "relative difference of the training loss, 8 layers, a budget of 1 MiB",
            figure: format!("{apart:.1e} with steps of {rows} rows"),
            is_met: Some(apart <= 1e-6 && rows < BATCH),
        }])
    }

    /// Plain descent on a sparse problem, with the gradient sent as messages.
    pub(super) fn compression(&self) -> Result<Vec<Claim>> {
        const COUNT: usize = 4096;
        let steps = if self.is_quick { 200 } else { 2000 };
        let goal = noise(COUNT, 5);
        let curvature: Vec<f32> = noise(COUNT, 6).iter().map(|x| 0.05 + x.abs()).collect();
        let mut saved = 0.0;
        let mut run = |compressor: Option<Compressor>| -> Result<f64> {
            let mut w = vec![0.0_f32; COUNT];
            let mut compressor = compressor;
            for _ in 0..steps {
                let gradient: Vec<f32> = (0..COUNT).map(|at| curvature[at] * (w[at] - goal[at])).collect();
                let sent = match &mut compressor {
                    None => gradient,
                    Some(compressor) => {
                        let message = compressor.compress("w", &gradient)?;
                        saved = 100.0 * message.saved();
                        message.decompress()?
                    }
                };
                w.iter_mut().zip(sent).for_each(|(w, g)| *w -= 0.04 * g);
            }
            let loss = |at: usize| f64::from(curvature[at]) * f64::from(w[at] - goal[at]).powi(2);
            Ok((0..COUNT).map(loss).sum::<f64>() / COUNT as f64)
        };
        let first: f64 =
            (0..COUNT).map(|at| f64::from(curvature[at]) * f64::from(goal[at]).powi(2)).sum::<f64>() / COUNT as f64;
        let top = || Compressor::new(Method::TopK(Count::Share(0.05)));
        let (whole, with, without) = (run(None)?, run(Some(top()?))?, run(Some(top()?.without_feedback()))?);
        let [with, without] = [with, without].map(|loss| 100.0 * (loss - whole) / first);
        Ok(vec![
            Claim {
                what: "the largest 5 % of a gradient save at least 90 % of its bytes".into(),
                how: "length of the message",
                figure: format!("{saved:.1} %"),
                is_met: Some(saved >= 90.0),
            },
            Claim {
                what: "with feedback training ends at most 1 % worse".into(),
                how: "loss above that without compression, as a share of the first loss; without feedback in brackets",
                figure: format!("{with:+.3} % ({without:+.3} %)"),
                is_met: Some(with <= 1.0 && without > with),
            },
        ])
    }
}
