//! Time: 16 bits, what a tape records, where the time and memory of a step go, and the best step against the simplest.

use pollster::block_on;

use crate::measures::{noise, settings};
use crate::{BATCH, Bench, Claim, INPUTS, WIDTH};
use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::device::{Recompute, Tag};
use meromorph::ops;
use meromorph::profile::{Grouping, MemoryProfile, StepProfile};
use meromorph::program::expr::tanh;
use meromorph::tensor::Tensor;
use meromorph::train::{Half, MixedPrecision, TrainerConfig};
use meromorph_tenflowers::{GradientTape, TensorOps};

impl Bench<'_> {
    pub(crate) fn half_speed(&self) -> Result<Vec<Claim>> {
        let claim = |figure: String, is_met| Claim {
            what: "16 bits make a step twice as fast".into(),
            how: "time of a step of 24 layers in f16 and in f32, on a GPU",
            figure,
            is_met,
        };
        if self.device.info().runs_cpu_path() {
            return Ok(vec![claim("no GPU here".into(), None)]);
        }
        let mut whole = self.trainer(24, WIDTH, settings())?;
        let precision = Some(MixedPrecision::new(Half::F16));
        let mut half = self.trainer(24, WIDTH, TrainerConfig { precision, ..settings() })?;
        let slower = self.slower([&mut whole, &mut half], 4)?;
        Ok(vec![claim(slower.text(), Some(slower.is_at_most(-50.0)))])
    }

    /// Three ops before the value that a gradient is wanted of.
    pub(crate) fn unwatched_tape(&self) -> Result<Vec<Claim>> {
        let tape = GradientTape::on(self.device);
        let input = Var::constant(Tensor::from_f32(self.device, [256], &noise(256, 3))?);
        let [constant, scalar, bias] = [1.0, 2.0, 5.0].map(|x| tape.constant([1], &[x]));
        let (constant, scalar, bias) = (constant?, scalar?, bias?);
        let prepared = |x: &Var| x.add(&constant)?.mul(&scalar)?.sub(&bias);
        let gradient = |y: &Var, x: &Var| -> Result<()> {
            let gradients = tape.gradient(&[ops::mul(y, y)], &[x])?;
            gradients[0].as_ref().map_or(Ok(0), |one| block_on(self.first(one))).map(drop)
        };
        let all = || {
            let x = Var::leaf(input.value().clone());
            gradient(&prepared(&x)?, &x)
        };
        let result = || {
            let y = Var::leaf(prepared(&input)?.value().clone());
            gradient(&y, &y)
        };
        let benchmark = self.benchmark("tape").repeat(if self.is_quick { 1 } else { 50 });
        let (_, ratio) = benchmark.compare(all, result)?;
        let less = 100.0 * (1.0 - ratio.median);
        Ok(vec![Claim {
            what: "a tape that watches only the result of three ops costs at least 30 % less".into(),
            how: "time to record, differentiate and run y² of 256 numbers",
            figure: format!(
                "{less:.1} % less ({:.1} to {:.1} %)",
                100.0 * (1.0 - ratio.high),
                100.0 * (1.0 - ratio.low)
            ),
            is_met: Some(less >= 30.0),
        }])
    }

    /// The shares of the passes in the time of a step, and of what it holds in its memory.
    pub(crate) fn cost_of_a_step(&self) -> Result<Vec<Claim>> {
        let layers = if self.is_quick { 4 } else { 24 };
        let memory = MemoryProfile::of(self.device);
        let mut trainer = self.trainer(layers, WIDTH, settings())?;
        trainer.advance(1)?;
        block_on(trainer.batch_losses())?;
        let peak = memory.peak();
        memory.end();
        let windows = if self.is_quick { 1 } else { 5 };
        let claim = |figure: String, is_met| Claim {
            what: "the forward pass takes 30 to 40 % of a step, the backward pass 40 to 50 %".into(),
            how: "time of the launches of a step of 24 layers, by direction",
            figure,
            is_met,
        };
        let time = match block_on(StepProfile::of(&mut trainer, None, windows)) {
            Err(error) => claim(error.to_string(), None),
            Ok(profile) => {
                let groups = profile.grouped(Grouping::Direction);
                let share =
                    |name: &str| groups.iter().find(|one| one.name == name).map_or(0.0, |one| 100.0 * one.share);
                let [forward, backward] = ["forward", "backward"].map(share);
                let text: Vec<String> =
                    groups.iter().map(|one| format!("{} {:.1} %", one.name, 100.0 * one.share)).collect();
                let is_met = (30.0..=40.0).contains(&forward) && (40.0..=50.0).contains(&backward);
                claim(text.join(", "), Some(is_met))
            }
        };
        let all: i64 = Tag::ALL.iter().map(|tag| peak.of(*tag)).sum();
        let share = |tag: Tag| 100.0 * peak.of(tag) as f64 / all.max(1) as f64;
        let shares: Vec<String> =
            Tag::ALL.iter().map(|tag| format!("{} {:.1} %", format!("{tag:?}").to_lowercase(), share(*tag))).collect();
        let is_met = (50.0..=70.0).contains(&share(Tag::Activations)) && (20.0..=30.0).contains(&share(Tag::Gradients));
        Ok(vec![
            time,
            Claim {
                what: "activations take 50 to 70 % of the memory, gradients 20 to 30 %".into(),
                how: "peak bytes of each kind for 24 layers; a gradient shares the memory of an activation that is no longer needed",
                figure: shares.join(", "),
                is_met: Some(is_met),
            },
        ])
    }

    /// A step whose ops run one by one and keep every result, against a replayed one.
    pub(crate) fn best_and_baseline(&self) -> Result<Vec<Claim>> {
        let layers = if self.is_quick { 3 } else { 12 };
        let simple = Simple::new(self, layers, WIDTH, BATCH)?;
        let memory = MemoryProfile::of(self.device);
        let before = memory.peak_bytes();
        simple.step(self)?;
        let held = memory.peak_bytes() - before.min(memory.peak_bytes());
        memory.end();
        let recompute = Recompute::Root;
        let precision = Some(MixedPrecision::new(Half::Bf16));
        let less = self.trainer(layers, WIDTH, TrainerConfig { recompute, precision, ..settings() })?;
        let least = less.step_summary().transient_bytes as f64;
        let saved = 100.0 * (1.0 - least / held as f64);
        let (wide, narrow) = (self.faster(layers, WIDTH, BATCH)?, self.faster(3, 64, 32)?);
        Ok(vec![
            Claim {
                what: "the best step is at least twice as fast as the simplest".into(),
                how: "ops that run one by one and keep their results, with new weights from plain descent, against a replayed step with AdamW: 12 layers with 256 rows, and 8-64-64-64-1 with 32 rows",
                figure: format!("{wide:.2} and {narrow:.1} times as fast"),
                is_met: Some(wide >= 2.0 && narrow >= 2.0),
            },
            Claim {
                what: "and takes at least 40 % less memory".into(),
                how: "bytes of the results of 12 layers: peak of the simple step, against a plan with recomputation in blocks of √N and bf16",
                figure: format!("{saved:.1} % less"),
                is_met: Some(saved >= 40.0),
            },
        ])
    }

    /// How many times as fast a replayed step is as a simple one.
    fn faster(&self, layers: usize, width: usize, rows: usize) -> Result<f64> {
        let simple = Simple::new(self, layers, width, rows)?;
        let mut best = self.trainer(layers, width, TrainerConfig { batch: rows, step: None, ..settings() })?;
        let times = if self.is_quick { 1 } else { 256 / rows };
        let step = || -> Result<()> {
            best.advance(times)?;
            block_on(best.batch_losses()).map(drop)
        };
        let steps = || (0..times).try_for_each(|_| simple.step(self));
        let (_, ratio) = self.benchmark("step").compare(steps, step)?;
        Ok(1.0 / ratio.median)
    }
}

/// A perceptron with tanh, as anyone would write it with single ops.
struct Simple {
    weights: Vec<Var>,
    x: Var,
    y: Var,
}

impl Simple {
    fn new(bench: &Bench<'_>, layers: usize, width: usize, rows: usize) -> Result<Self> {
        let mut widths = vec![width; layers + 2];
        (widths[0], widths[layers + 1]) = (INPUTS, 1);
        let weight = |(at, two): (usize, &[usize])| {
            let values: Vec<f32> =
                noise(two[0] * two[1], at as u64).iter().map(|w| w / (two[0] as f32).sqrt()).collect();
            Tensor::from_f32(bench.device, [two[0], two[1]], &values).map(Var::leaf)
        };
        let weights = widths.windows(2).enumerate().map(weight).collect::<Result<Vec<Var>>>()?;
        let part = |columns: usize| Tensor::from_f32(bench.device, [rows, columns], &noise(rows * columns, 9));
        Ok(Self { weights, x: Var::constant(part(INPUTS)?), y: Var::constant(part(1)?) })
    }

    fn step(&self, bench: &Bench<'_>) -> Result<()> {
        let run = |value: Var| bench.device.flush().map(|()| value);
        let mut z = self.x.clone();
        for (at, weight) in self.weights.iter().enumerate() {
            z = run(ops::matmul(&z, weight))?;
            if at + 1 < self.weights.len() {
                z = run(ops::fused(&[&z], |v| tanh(v[0])))?;
            }
        }
        let apart = run(ops::sub(&z, &self.y))?;
        let squares = run(ops::mul(&apart, &apart))?;
        let loss = run(ops::mean(&ops::reshape(&squares, [squares.shape().len()]), 0..1))?;
        let gradients = ops::grad(&loss, &self.weights.iter().collect::<Vec<&Var>>())?;
        bench.device.flush()?;
        let mut made = Vec::new();
        for (weight, gradient) in self.weights.iter().zip(gradients.iter().flatten()) {
            made.push(run(ops::fused(&[&weight.detach(), &gradient.detach()], |v| v[0] - 1e-3 * v[1]))?);
        }
        made.last().map_or(Ok(0), |last| block_on(bench.first(last))).map(drop)
    }
}
