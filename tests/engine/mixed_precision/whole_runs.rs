//! The loss of whole runs is nearly that of 32 bits.

use super::{INPUTS, blocks, data, deep, settings, smooth};
use crate::devices::devices;
use meromorph::loss::Loss;
use meromorph::nn::{Activation, Spec};
use meromorph::train::{Flow, Half, MixedPrecision, Trainer, TrainerConfig};
use pollster::block_on;

type Target = fn(&[f32]) -> f32;

#[test]
fn the_loss_is_nearly_that_of_32_bits() {
    let tasks: [(&str, Spec, Loss, Target); 3] = [
        ("regression", deep(3, 24), Loss::mse(), smooth),
        ("classes", Spec::mlp(INPUTS, &[24, 24], 3, Activation::relu()), Loss::cross_entropy(0.1), |x| {
            if x[0] > 0.3 { 0.0 } else { 1.0 + f32::from(u8::from(x[1] * x[2] > 0.0)) }
        }),
        ("blocks", blocks(), Loss::mae(), smooth),
    ];
    for device in devices(&[2]) {
        for (name, spec, loss, target) in &tasks {
            let run = |precision| {
                let config = TrainerConfig { loss: loss.clone(), ..settings(precision) };
                let mut trainer = Trainer::new(&device, spec.clone(), config, data(512, target)).expect("a trainer");
                let outcome = block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
                assert_eq!(outcome.epochs, 20, "{name}");
                trainer.history().iter().rev().take(5).map(|epoch| epoch.train_loss).sum::<f64>() / 5.0
            };
            let whole = run(None);
            for format in [Half::F16, Half::Bf16] {
                let half = run(Some(MixedPrecision::new(format)));
                let bound = if format == Half::F16 { 0.01 } else { 0.03 };
                let apart = (half - whole).abs() / whole;
                assert!(apart < bound && half != whole, "{name} in {format:?}: {half} and {whole}");
            }
        }
    }
}
