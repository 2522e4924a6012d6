//! What mixed precision does to the loss at the end of training: three tasks, each from several seeds, because one run ends by chance a little
//! higher or lower than another.

use pollster::block_on;

use super::measures::{noise, settings};
use super::{Bench, Claim, INPUTS};
use meromorph::Result;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Layer, LayerNorm, Residual, Spec};
use meromorph::optim::Schedule;
use meromorph::train::{Data, Examples, Flow, MixedPrecision, Trainer, TrainerConfig};

const ROWS: usize = 2048;

/// A model, a loss, and the target of a row of inputs.
struct Task {
    name: &'static str,
    spec: Spec,
    loss: Loss,
    target: fn(&[f32]) -> f32,
}

fn smooth(x: &[f32]) -> f32 {
    x[0] - x[1] * x[2] + (3.0 * x[3]).sin()
}

fn tasks() -> [Task; 3] {
    let mlp = |hidden: &[usize], outputs| Spec::mlp(INPUTS, hidden, outputs, Activation::silu());
    let mut residual = mlp(&[64, 64, 64], 1);
    let inner =
        vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), residual.layers[2].clone(), residual.layers[3].clone()];
    residual.layers.splice(2..4, [Layer::Residual(Residual { layers: inner })]);
    let class = |x: &[f32]| {
        if x[0] > 0.3 { 0.0 } else { 1.0 + f32::from(u8::from(x[1] * x[2] > 0.0)) }
    };
    [
        Task { name: "regression", spec: mlp(&[64, 64, 64], 1), loss: Loss::mse(), target: smooth },
        Task { name: "three classes", spec: mlp(&[64, 64], 3), loss: Loss::cross_entropy(0.1), target: class },
        Task { name: "residual layers", spec: residual, loss: Loss::mae(), target: smooth },
    ]
}

impl Task {
    fn data(&self) -> Data {
        let x = noise(ROWS * INPUTS, 1);
        let y = x.chunks_exact(INPUTS).map(self.target).collect();
        Data { inputs: INPUTS, targets: 1, train: Examples { x, y }, ..Data::default() }
    }
}

impl Bench<'_> {
    /// The mean training loss of the last five epochs, from a seed.
    fn final_loss(&self, task: &Task, precision: Option<MixedPrecision>, seed: u64) -> Result<f64> {
        let epochs = if self.is_quick { 6 } else { 60 };
        let schedule = Schedule::COSINE;
        let settings =
            TrainerConfig { precision, epochs, seed, schedule, batch: 32, loss: task.loss.clone(), ..settings() };
        let mut trainer = Trainer::new(self.device, task.spec.clone(), settings, task.data())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        let last = trainer.history().iter().rev().take(5).map(|epoch| epoch.train_loss);
        Ok(last.sum::<f64>() / 5.0)
    }

    pub(super) fn final_losses(&self, precision: &MixedPrecision) -> Result<Claim> {
        let seeds = if self.is_quick { 2 } else { 8 };
        let (mut figures, mut is_met) = (Vec::new(), true);
        for task in tasks() {
            let losses = |precision: Option<&MixedPrecision>| -> Result<Vec<f64>> {
                (0..seeds).map(|seed| self.final_loss(&task, precision.cloned(), seed)).collect()
            };
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let (whole, half) = (losses(None)?, losses(Some(precision))?);
            let each: Vec<f64> = half.iter().zip(&whole).map(|(half, whole)| 100.0 * (half / whole - 1.0)).collect();
            let apart = mean(&each);
            let squares = each.iter().map(|one| (one - apart).powi(2)).sum::<f64>();
            let error = (squares / (seeds * (seeds - 1)) as f64).sqrt();
            figures.push(format!("{} {apart:+.2} ± {error:.2} %", task.name));
            is_met &= apart <= 1.0;
        }
        Ok(Claim {
            what: format!("{}: a final loss at most 1 % above that of f32", precision.name()),
            how: "training loss of the last five of 60 epochs, rates that fall to 0, 2,048 rows; mean and its standard error over 8 seeds",
            figure: figures.join("; "),
            is_met: Some(is_met),
        })
    }
}
