//! Finite differences as a source: they train like the model's own gradients, resume, and predict every output.

use super::{config, data, examples, line, sum};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::model::{Direction, GradientSource, Initial, Network, SourceStep, Sourced, StateBlock};
use meromorph::tensor::Tensor;
use meromorph::train::{Checkpoint, Data, Event, Flow, StepKind, Trainer, TrainerConfig};
use meromorph::{Result, ops};
use pollster::block_on;

/// The weighted sum of squared errors at some parameters, of which no gradient is known.
fn black_box(step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
    let parameters: Vec<Var> = parameters.iter().map(Var::detach).collect();
    let error = &step.outputs(&parameters)?[0] - &step.batch.y;
    Ok(sum(&ops::mul(&ops::mul(&error, &error), &step.batch.weight)).detach())
}

/// Central differences, and a count of the steps and of the rows.
pub(super) struct Differences;

impl GradientSource for Differences {
    fn name(&self) -> &'static str {
        "differences"
    }

    fn state(&self) -> Vec<StateBlock> {
        vec![StateBlock { name: "seen".into(), values: vec![0.0, 0.0] }]
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        const REACH: f32 = 0.25;
        let values = step.parameters.values();
        let mut gradients = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let device = value.value().device();
            let mut columns: Option<Var> = None;
            for entry in 0..value.shape().len() {
                let one: Vec<f32> = (0..value.shape().len()).map(|k| f32::from(u8::from(k == entry))).collect();
                let one = Var::constant(Tensor::constant(device, value.shape().clone(), &one));
                let shifted = |reach: f32| {
                    let mut all = values.to_vec();
                    all[at] = ops::fused(&[value, &one], |v| v[0] + v[1] * reach);
                    black_box(step, &all)
                };
                let (above, below) = (shifted(REACH)?, shifted(-REACH)?);
                let slope = ops::fused(&[&above, &below, &one], |v| (v[0] - v[1]) * (0.5 / REACH) * v[2]);
                columns = Some(columns.map_or(slope.clone(), |sum| ops::add(&sum, &slope)));
            }
            gradients.push(columns.expect("a parameter has entries"));
        }
        let weight = sum(&step.batch.weight);
        let (first, second) = (Tensor::constant(weight.value().device(), [2], &[1.0, 0.0]), [0.0, 1.0]);
        let second = Tensor::constant(weight.value().device(), [2], &second);
        let inputs = [&step.state[0], &Var::constant(first), &Var::constant(second), &weight];
        let seen = ops::fused(&inputs, |v| v[0] + v[1] + v[2] * v[3]);
        Ok(Sourced {
            direction: Direction::Gradients(gradients),
            loss: black_box(step, values)?,
            weight,
            state: vec![seen],
        })
    }

    fn reported(&self) -> &'static [&'static str] {
        &["seen"]
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        let [steps, rows] = state[0].values[..] else { unreachable!("the block has two words") };
        vec![("steps".into(), f64::from(steps)), ("rows".into(), f64::from(rows))]
    }
}

#[test]
fn finite_differences_train_like_the_model_s_own_gradients_and_resume() -> Result<()> {
    let data = || Data { validation: examples(40..50), ..data() };
    for device in devices(&[1, 2]) {
        let mut own =
            Trainer::new(&device, line(), TrainerConfig { step: Some(StepKind::Recorded), ..config() }, data())?;
        block_on(own.run(&mut |_| Flow::Continue))?;
        let expected = block_on(own.parameters())?;
        let mut whole = Trainer::new(&device, line().with_source(Differences), config(), data())?;
        let mut last = Vec::new();
        block_on(whole.run(&mut |event| {
            if let Event::Source(report) = event {
                last = report.to_vec();
            }
            Flow::Continue
        }))?;
        // Six epochs of 16 + 16 + 16 + 2 rows; rows that only fill a batch have weight 0.
        assert_eq!(last, [("steps".to_owned(), 24.0), ("rows".to_owned(), 300.0)]);
        let got = block_on(whole.parameters())?;
        // Differences of squares are exact but for rounding.
        let worst = got.iter().zip(&expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{}: {got:?} {expected:?}", device.info().device);
        let losses = |trainer: &Trainer| trainer.history().iter().map(|epoch| epoch.train_loss).collect::<Vec<_>>();
        assert!(losses(&own).iter().zip(losses(&whole)).all(|(own, got)| (own - got).abs() < 1e-4));

        let mut first = Trainer::new(&device, line().with_source(Differences), config(), data())?;
        block_on(async {
            first.epoch(&mut |_| Flow::Continue).await?;
            first.epoch(&mut |_| Flow::Continue).await
        })?;
        let bytes = block_on(first.checkpoint())?.save(None)?;
        let checkpoint = || Checkpoint::load(&bytes, "a.ckpt").map(|(checkpoint, _)| checkpoint);
        let said = Trainer::resume(&device, data(), checkpoint()?).map(drop).unwrap_err().to_string();
        assert_eq!(
            said,
            "resume: the gradients of the run came from the source \"differences\", which no file holds: expected the model with it (Trainer::resume_with)"
        );
        let said = block_on(Trainer::resume_with(&device, line(), data(), checkpoint()?)).map(drop).unwrap_err();
        assert_eq!(said.to_string(), "resume: the source of gradients: got none, expected \"differences\"");
        let mut again =
            block_on(Trainer::resume_with(&device, line().with_source(Differences), data(), checkpoint()?))?;
        block_on(again.run(&mut |_| Flow::Continue))?;
        assert_eq!(block_on(again.parameters())?, got);
        assert_eq!(block_on(again.source_blocks())?[0].values, [24.0, 300.0]);
    }
    Ok(())
}

#[test]
fn every_output_of_a_model_with_a_source_is_predicted() -> Result<()> {
    let both =
        Network::function(2, [("w", Initial::values([2, 1], [0.1, 0.2])), ("b", Initial::zeros([1]))], |p, x| {
            [ops::matmul(x, &p["w"]), ops::add(&ops::matmul(x, &p["w"]), &p["b"])]
        });
    let both = both.with_loss(|z, batch| ops::square(&(&z[0] - &batch.y))).with_source(Differences);
    let trainer = Trainer::new(&Device::cpu(1), both, config(), data())?;
    let outputs = block_on(trainer.predict_each(&[1.0, 2.0]))?;
    assert!(outputs.len() == 2 && outputs.iter().all(|output| (output[0] - 0.5).abs() < 1e-6), "{outputs:?}");
    Ok(())
}
