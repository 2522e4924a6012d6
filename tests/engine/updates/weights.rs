//! Means of weights, a look at sharper places, and running statistics, which no update changes.

use super::{KINDS, advanced, data, moved, norm, settings, spec, trainer};
use crate::devices::devices;
use meromorph::nn::{Layer, Layout, MaskedNorm};
use meromorph::optim::Optimizer;
use meromorph::train::{GradientConfig, ParameterGroup, StepKind, Trainer};
use meromorph::{Device, Result};
use pollster::block_on;

#[test]
fn a_mean_of_weights_is_evaluated_and_kept() {
    for device in devices(&[1]) {
        for kind in KINDS {
            let decay = 0.75;
            let mut plain = trainer(&device, settings(GradientConfig::default(), kind));
            let mut mean: Vec<f64> = advanced(&mut plain, 0)[1].iter().map(|&p| f64::from(p)).collect();
            for _ in 0..6 {
                let [_, after] = advanced(&mut plain, 1);
                mean.iter_mut().zip(after).for_each(|(mean, p)| *mean = decay * *mean + (1.0 - decay) * f64::from(p));
            }
            let config = GradientConfig { mean_decay: Some(decay), ..GradientConfig::default() };
            let mut averaged = trainer(&device, settings(config, kind));
            let [_, got] = advanced(&mut averaged, 6);
            let worst = got.iter().zip(&mean).map(|(got, mean)| (f64::from(*got) - mean).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{kind:?}: {worst:e}");
        }
    }
}

#[test]
fn a_sharp_place_is_looked_for_along_the_gradient() -> Result<()> {
    for device in devices(&[1, 2]) {
        for kind in KINDS {
            let distance = 0.05;
            let free = advanced(&mut trainer(&device, settings(GradientConfig::default(), kind)), 1);
            let step = moved(&free);
            // The gradient at the weights moved by the distance along the gradient.
            let scale = distance / norm(&step);
            let shifted: Vec<f32> =
                free[0].iter().zip(&step).map(|(p, step)| (f64::from(*p) - scale * step) as f32).collect();
            let config = settings(GradientConfig::default(), kind);
            let mut there = Trainer::with_parameters(&device, spec(), config, data(192), &shifted)?;
            let expected = moved(&advanced(&mut there, 1));
            let config = GradientConfig { sharpness: Some(distance), ..GradientConfig::default() };
            let mut aware = trainer(&device, settings(config, kind));
            let got = moved(&advanced(&mut aware, 1));
            let apart: Vec<f64> = got.iter().zip(&expected).map(|(got, expected)| got - expected).collect();
            assert!(norm(&apart) < 1e-4 * norm(&expected), "{kind:?}: {:e}", norm(&apart) / norm(&expected));
            // The loss that is reported is that of the weights.
            let losses = block_on(aware.batch_losses())?;
            let mut plain = trainer(&device, settings(GradientConfig::default(), kind));
            plain.advance(1)?;
            assert!((losses[0] - block_on(plain.batch_losses())?[0]).abs() < 1e-6);
        }
    }
    Ok(())
}

/// Statistics of a batch norm are set by a step: neither decay nor a mean of weights changes them.
#[test]
fn running_statistics_are_not_updated_like_weights() -> Result<()> {
    let mut spec = spec();
    spec.layers.insert(2, Layer::MaskedNorm(MaskedNorm { epsilon: 1e-5, policy: None }));
    let layout = Layout::of(&spec);
    let statistics = |mean_decay, decay: f32| -> Result<Vec<f32>> {
        // Weights that stay as they are give the same statistics.
        let parameters = vec!["weight".to_owned(), "bias".to_owned()];
        let groups = vec![ParameterGroup { parameters, rate: 1.0, weight_decay: Some(0.0), is_frozen: false }];
        let gradients = GradientConfig { mean_decay, groups, ..GradientConfig::default() };
        let mut config = settings(gradients, StepKind::Recorded);
        config.lr = 1e-30;
        config.optimizer = Optimizer::sgd(0.0)?.with_weight_decay(decay);
        let mut trainer = Trainer::new(&Device::cpu(1), spec.clone(), config, data(192))?;
        let [_, after] = advanced(&mut trainer, 6);
        let own = layout.parameters.iter().filter(|parameter| parameter.is_statistic);
        Ok(own.flat_map(|parameter| after[parameter.offset..][..parameter.shape.len()].to_vec()).collect())
    };
    let expected = statistics(None, 0.0)?;
    assert!(expected.iter().any(|value| *value > 0.0));
    assert_eq!(statistics(None, 1e29)?, expected);
    assert_eq!(statistics(Some(0.9), 1e29)?, expected);
    Ok(())
}
