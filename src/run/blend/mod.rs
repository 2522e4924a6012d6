//! The default model is a blend, z = a [(1 - w) network + w linear], as no table is then much worse than a linear model makes it. The linear
//! model is fitted to the training rows without their bins; the share w, and for classes the sharpness a = 1 / temperature (Guo et al. 2017),
//! come from the validation rows, which the weights of neither have seen. The blend is one perceptron ([`joined`]), so that whatever takes a model
//! takes it.

mod goal;
mod joined;
mod linear;

use crate::error::Result;
use crate::model::Model;
use crate::nn::Spec;
use crate::record;
use crate::table::Preparation;
use crate::train::Trainer;
use goal::Goal;
use joined::joined;
use linear::{Linear, MOST_VALUES};

/// How the outputs of a network and of a linear model become those of one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The share of the linear model, from 0 to 1.
    pub linear: f64,
    /// What the logits of classes are multiplied by, so that confidence is near accuracy; 1 for numbers.
    pub sharpness: f64,
}

record! { Blend { linear, sharpness } }

/// Keeps a few validation rows from saying much. A share of ½ and a sharpness of 1 cost nothing; another one costs this times the square of its
/// difference, in units of the loss of one row. By measurement on some forty tables (docs/PERFORMANCE.md).
const PRIOR: f64 = 10.0;
/// The largest sharpness, and the reciprocal of the smallest.
const SHARPEST: f64 = 4.0;
/// Halvings of the interval that a share or a sharpness is searched in.
const HALVINGS: u32 = 30;

/// The model of a trainer, and the blend that it is; `None` if the run asks for none, its loss is another one, there are no validation rows, or
/// the table is so large that a network does not need it.
pub(super) async fn blended(trainer: &Trainer, preparation: Option<Preparation>) -> Result<(Model, Option<Blend>)> {
    let (spec, settings, data) = (trainer.traced().await?, trainer.settings(), trainer.data());
    let (loss, parameters) = (settings.loss.clone(), trainer.parameters().await?);
    let plain: Vec<usize> = preparation.as_ref().map(Preparation::plain_inputs).unwrap_or_default();
    let goal = if settings.blends { Goal::of(&loss, spec.outputs()?, &settings.class_weights) } else { None };
    let fits = |goal: &Goal<'_>| data.train.y.len() * plain.len() * goal.outputs() <= MOST_VALUES;
    let Some(goal) = goal.filter(|goal| !data.validation.y.is_empty() && !plain.is_empty() && fits(goal)) else {
        return Ok((Model::new(spec, loss, parameters, preparation), None));
    };
    let linear = Linear::fit(&data.train, data.inputs, plain, &goal).await?;
    let network: Vec<f64> = trainer.predict(&data.validation.x).await?.into_iter().map(f64::from).collect();
    let blend = goal.blend(&network, &linear.outputs(&data.validation.x), &data.validation.y);
    let model = Model::new(spec, loss, parameters, preparation);
    let blended = model.each_member().map(|own| joined(&model.spec, own, &linear, blend)).collect::<Option<Vec<_>>>();
    let Some((specs, parameters)) = blended.map(|each| each.into_iter().unzip::<_, _, Vec<Spec>, Vec<Vec<f32>>>())
    else {
        return Ok((model, None));
    };
    let spec = specs.into_iter().next().unwrap_or_else(|| model.spec.clone());
    Ok((Model { spec, parameters: parameters.concat(), ..model }, Some(blend)))
}

impl Goal<'_> {
    /// The blend that fits these rows best, from the outputs [rows, outputs] of both models for them.
    fn blend(&self, network: &[f64], linear: &[f64], y: &[f32]) -> Blend {
        let both = || network.chunks_exact(self.outputs()).zip(linear.chunks_exact(self.outputs())).zip(y);
        // A row of numbers counts as much as its squared error weighs against the network's mean one.
        let unit = self.unit(network, y);
        let mut z = vec![0.0; self.outputs()];
        let share = root([0.0, 1.0], |share| {
            let slopes = both().map(|((network, linear), y)| {
                mix(&mut z, network, linear, share);
                self.residuals(&mut z, *y);
                let slope = |((r, linear), network): ((&f64, &f64), &f64)| r * (linear - network);
                z.iter().zip(linear).zip(network).map(slope).sum::<f64>()
            });
            slopes.sum::<f64>() / unit + 2.0 * PRIOR * (share - 0.5)
        });
        if self.is_numbers() {
            return Blend { linear: share, sharpness: 1.0 };
        }
        let mut logits = z.clone();
        let sharpness = root([1.0 / SHARPEST, SHARPEST], |sharpness| {
            let slopes = both().map(|((network, linear), y)| {
                mix(&mut logits, network, linear, share);
                z.iter_mut().zip(&logits).for_each(|(z, logit)| *z = sharpness * logit);
                self.residuals(&mut z, *y);
                z.iter().zip(&logits).map(|(r, logit)| r * logit).sum::<f64>()
            });
            slopes.sum::<f64>() + 2.0 * PRIOR * (sharpness - 1.0)
        });
        Blend { linear: share, sharpness }
    }
}

fn mix(z: &mut [f64], network: &[f64], linear: &[f64], share: f64) {
    let each = network.iter().zip(linear).map(|(network, linear)| (1.0 - share) * network + share * linear);
    z.iter_mut().zip(each).for_each(|(z, value)| *z = value);
}

/// Where an ascending function is 0 in an interval, or the end that is nearer.
fn root([mut low, mut high]: [f64; 2], mut slope: impl FnMut(f64) -> f64) -> f64 {
    if slope(low) >= 0.0 {
        return low;
    }
    if slope(high) <= 0.0 {
        return high;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *if slope(middle) < 0.0 { &mut low } else { &mut high } = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::files::{Header, Table, read_plain};
    use crate::loss::Loss;
    use crate::nn::Layout;
    use crate::run::TrainOptions;
    use crate::table::{Choice, Fractions};
    use crate::train::Flow;
    use pollster::block_on;

    fn assert_near(got: f64, expected: f64, within: f64) {
        assert!((got - expected).abs() <= within, "got {got}, expected {expected}");
    }

    #[test]
    fn a_share_follows_the_rows_from_a_half() {
        // The network says 0, the linear model 1, the target is 1, the network's mean squared error 1. Of n rows the slope is
        // n (w - 1) + 20 (w - 1/2), so that w = (n + 10) / (n + 20).
        for (rows, expected) in [(1, 11.0 / 21.0), (20, 0.75), (980, 0.99)] {
            let blend = Goal::Number.blend(&vec![0.0; rows], &vec![1.0; rows], &vec![1.0; rows]);
            assert_near(blend.linear, expected, 1e-8);
            assert_eq!(blend.sharpness, 1.0);
            // In other units it is the same.
            let blend = Goal::Number.blend(&vec![0.0; rows], &vec![50.0; rows], &vec![50.0; rows]);
            assert_near(blend.linear, expected, 1e-8);
        }
        let perfect = Goal::Number.blend(&[1.0, 2.0], &[0.0, 0.0], &[1.0, 2.0]);
        assert_near(perfect.linear, 0.0, 1e-8);
        // The linear model of a far error gets nothing: 1000 (1 - 10 w) 10 > 10 at 0 only beyond it.
        assert_eq!(Goal::Number.blend(&[1.0; 1000], &[11.0; 1000], &[0.0; 1000]).linear, 0.0);
    }

    #[test]
    fn sharpness_makes_confidence_accuracy() {
        // Both models say ln 3 for a class that 9 of 10 rows have: p = 3/4. p = 9/10 is twice the logit, where nothing says otherwise.
        let goal = Goal::Classes { outputs: 2, weights: &[] };
        let blend = |tens: usize| {
            let z = [0.0, 3.0_f64.ln()].repeat(10 * tens);
            let y: Vec<f32> = (0..10 * tens).map(|row| f32::from(u8::from(row % 10 > 0))).collect();
            goal.blend(&z, &z, &y)
        };
        assert_near(blend(1).linear, 0.5, 1e-8);
        // The prior keeps it 20 / (100,000 · ln² 3 · 0.9 · 0.1) below.
        assert_near(blend(10_000).sharpness, 2.0 - 0.00184, 1e-5);
        // Of 10 rows: 10 ln 3 (p - 0.9) + 20 (a - 1) = 0 with p = 3^a / (1 + 3^a).
        let a = blend(1).sharpness;
        let p = 1.0 / (1.0 + 3.0_f64.powf(-a));
        assert!(a > 1.0 && a < 1.1, "{a}");
        assert_near(10.0 * 3.0_f64.ln() * (p - 0.9) + 20.0 * (a - 1.0), 0.0, 1e-6);
        // A class that weighs nothing changes nothing.
        let weighted = Goal::Classes { outputs: 2, weights: &[0.0, 1.0] }.blend(&[0.0, 1.0], &[1.0, 0.0], &[0.0]);
        assert_near(weighted.linear, 0.5, 1e-8);
        assert_near(weighted.sharpness, 1.0, 1e-8);
    }

    fn line() -> Table {
        let text: String = (0..200).map(|i| format!("{},{}\n", i * 37 % 200, 3 * (i * 37 % 200))).collect();
        read_plain(format!("x,y\n{text}").as_bytes(), "line.csv", Header::Yes).unwrap()
    }

    /// The R² over the table of a model of 2 epochs, its widths and its blend.
    fn trained(options: &TrainOptions) -> (f64, usize, Option<Blend>) {
        let (table, device) = (line(), Device::cpu(1));
        let choice = Choice { target: "y".into(), ..Choice::default() };
        let run = TrainOptions { choice, epochs: Some(2), ..options.clone() }.prepare(&table).unwrap();
        let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data).unwrap();
        block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
        let (model, blend) = block_on(blended(&trainer, Some(run.preparation))).unwrap();
        let judged = block_on(model.evaluate(&device, &table)).unwrap();
        (judged.metrics.unwrap().r2.unwrap(), Layout::of(&model.spec).parameters[1].shape.len(), blend)
    }

    #[test]
    fn only_the_default_model_is_blended() {
        // After two epochs the network is far from the line.
        let (r2, width, blend) = trained(&TrainOptions::default());
        assert!(r2 > 0.9 && width == 66, "{r2} {width}");
        assert!(blend.is_some_and(|blend| blend.linear > 0.7 && blend.sharpness == 1.0), "{blend:?}");
        let named = TrainOptions { hidden: Some(vec![64; 3]), ..TrainOptions::default() };
        let (alone, width, blend) = trained(&named);
        assert!(alone < r2 - 0.05 && width == 64 && blend.is_none(), "{alone} {r2} {width} {blend:?}");
        let held = Fractions { validation: 0.0, test: 0.15 };
        let others = [
            TrainOptions { loss: Some(Loss::mae()), ..TrainOptions::default() },
            TrainOptions { fractions: held, patience: Some(0), ..TrainOptions::default() },
        ];
        for options in others {
            assert_eq!(trained(&options).2, None);
        }
    }
}
