//! What budgets, accumulation, replayed plans, batches and second derivatives cost.

use pollster::block_on;

use super::measures::{noise, settings};
use super::{BATCH, Bench, Claim, WIDTH};
use meromorph::autograd::Var;
use meromorph::device::Recompute;
use meromorph::ops;
use meromorph::program::expr::tanh;
use meromorph::tensor::Tensor;
use meromorph::train::TrainerConfig;
use meromorph::{Error, Result};
use meromorph_benchmark::{Benchmark, WarmUp};

impl Bench<'_> {
    pub(super) fn benchmark(&self, name: &str) -> Benchmark {
        let (iterations, warm_up) = if self.is_quick { (2, 0) } else { (21, 2) };
        Benchmark::new(name).iterations(iterations).warm_up(WarmUp::Runs(warm_up))
    }

    /// Budgets from all that a step takes down to a fifth.
    pub(super) fn budgets(&self) -> Result<Vec<Claim>> {
        let layers = if self.is_quick { 6 } else { 24 };
        let bytes = |recompute: Recompute| -> Result<(u64, usize)> {
            let trainer = self.trainer(layers, WIDTH, TrainerConfig { recompute, ..settings() })?;
            Ok((trainer.step_summary().transient_bytes, trainer.settings().batch))
        };
        let whole = bytes(Recompute::Nothing)?.0;
        let (mut shares, mut is_met) = (Vec::new(), true);
        for percent in [100, 80, 60, 40, 20] {
            let most = whole * percent / 100;
            let (taken, rows) = bytes(Recompute::Within(most))?;
            is_met &= taken <= most;
            let batch = if rows == BATCH { String::new() } else { format!(" with steps of {rows} rows") };
            shares.push(format!("{percent} %: {:.1} %{batch}", 100.0 * taken as f64 / whole as f64));
        }
        Ok(vec![Claim {
            what: format!("a step keeps within its memory budget, {layers} layers"),
            how: "bytes of the intermediate results of a step for budgets of 100 to 20 % of those without one",
            figure: shares.join("; "),
            is_met: Some(is_met),
        }])
    }

    pub(super) fn accumulation(&self) -> Result<Vec<Claim>> {
        let bytes = |steps: usize| -> Result<f64> {
            let settings = TrainerConfig { batch: BATCH / steps, accumulate: steps, ..settings() };
            let trainer = self.trainer(8, WIDTH, settings)?;
            Ok(trainer.step_summary().transient_bytes as f64)
        };
        let [one, four, sixteen] = [bytes(1)?, bytes(4)?, bytes(16)?].map(|bytes| bytes / f64::from(1 << 20));
        Ok(vec![Claim {
            what: "an update of several steps takes the memory of one of them".into(),
            how: "bytes of the intermediate results of a step, 256 rows for an update in 1, 4 and 16 steps",
            figure: format!("{one:.2}, {four:.2}, {sixteen:.2} MiB"),
            is_met: Some(four <= 0.27 * one && sixteen <= 0.08 * one),
        }])
    }

    /// The same ops recorded anew for each step, and replayed.
    pub(super) fn replay(&self) -> Result<Vec<Claim>> {
        const OPS: usize = 200;
        let x = Var::constant(Tensor::from_f32(self.device, [16, 16], &noise(256, 3))?);
        // Products, because a chain of pointwise ops would be one launch.
        let step = || Ok((0..OPS).fold(x.clone(), |y, _| ops::matmul(&y, &x)));
        let (plan, _out) = self.device.capture(step)?;
        let recorded = || -> Result<()> {
            let out = step()?;
            block_on(out.value().to_f32()).map(drop)
        };
        let replayed = || -> Result<()> {
            plan.run(1)?;
            block_on(x.value().to_f32()).map(drop)
        };
        let ([anew, again], ratio) = self.benchmark("ops").compare(recorded, replayed)?;
        let each = |ms: f64| 1e6 * ms / OPS as f64;
        Ok(vec![Claim {
            what: "a replayed step costs at most a fifth of one whose ops are recorded anew".into(),
            how: "200 products of 16 x 16: nanoseconds an op, recorded and run, and replayed",
            figure: format!(
                "{:.0} and {:.0} ns, ratio {:.3}",
                each(anew.median_ms()),
                each(again.median_ms()),
                ratio.median
            ),
            is_met: Some(ratio.median <= 0.2),
        }])
    }

    pub(super) fn batches(&self) -> Result<Vec<Claim>> {
        let speed = |rows: usize| -> Result<f64> {
            let mut trainer =
                self.trainer_over(2 * BATCH, 3, 64, TrainerConfig { batch: rows, step: None, ..settings() })?;
            let steps = if self.is_quick { 2 } else { 200 };
            let timed = self.benchmark("step").run(|| -> Result<()> {
                trainer.advance(steps)?;
                block_on(trainer.batch_losses()).map(drop)
            })?;
            Ok((steps * rows) as f64 / (timed.median_ms() / 1e3))
        };
        let sizes = [1, 2, 8, 32, 128, 256];
        let speeds = sizes.iter().map(|&rows| speed(rows)).collect::<Result<Vec<f64>>>()?;
        let ratios: Vec<String> =
            sizes.iter().zip(&speeds).map(|(rows, speed)| format!("{rows}: {:.1}", speed / speeds[0])).collect();
        Ok(vec![Claim {
            what: "batches of 32 rows train at least 10 times as many rows a second as single rows".into(),
            how: "rows per second of 8-64-64-64-1, relative to single rows",
            figure: ratios.join(", "),
            is_met: Some(speeds[3] >= 10.0 * speeds[0]),
        }])
    }

    /// The cost of a product with the Hessian, against that of a gradient.
    pub(super) fn second_order(&self) -> Result<Vec<Claim>> {
        let width = if self.is_quick { 32 } else { 256 };
        let tensor = |rows: usize, columns: usize, seed: u64| {
            let values: Vec<f32> = noise(rows * columns, seed).iter().map(|x| x / (width as f32).sqrt()).collect();
            Tensor::from_f32(self.device, [rows, columns], &values)
        };
        let x = Var::constant(tensor(BATCH, width, 1)?);
        let (weights, vectors) =
            ([2, 3, 4].map(|seed| tensor(width, width, seed)), [5, 6, 7].map(|seed| tensor(width, width, seed)));
        let weights: Vec<Var> = weights.into_iter().map(|w| w.map(Var::leaf)).collect::<Result<_>>()?;
        let vectors: Vec<Var> = vectors.into_iter().map(|v| v.map(Var::constant)).collect::<Result<_>>()?;
        let (weights, vectors): (Vec<&Var>, Vec<&Var>) = (weights.iter().collect(), vectors.iter().collect());
        let loss = || {
            let y = weights.iter().fold(x.clone(), |y, w| ops::fused(&[&ops::matmul(&y, w)], |v| tanh(v[0])));
            ops::sum(&ops::mul(&y, &y), 0..2)
        };
        let (gradient, _kept) = self.device.capture(|| ops::grad(&loss(), &weights))?;
        let (product, _kept_too) = self.device.capture(|| ops::hvp(&loss(), &weights, &vectors))?;
        let waited = |plan: &meromorph::device::Plan| -> Result<()> {
            plan.run(4)?;
            block_on(x.value().to_f32()).map(drop)
        };
        let (_, ratio) = self.benchmark("product").compare(|| waited(&gradient), || waited(&product))?;
        if !ratio.median.is_finite() {
            return Err(Error::internal("claims: the time of a gradient is 0"));
        }
        Ok(vec![Claim {
            what: "a product with the Hessian costs at most 3 gradients".into(),
            how: "time of three layers with tanh, 256 wide, 256 rows, with the forward pass",
            figure: format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.low, ratio.high),
            is_met: Some(ratio.median <= 3.0),
        }])
    }
}
