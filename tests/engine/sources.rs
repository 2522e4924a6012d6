//! Sources of gradients other than the model's own ops, hooks between gradient and update, and what closures see.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::model::{Direction, GradientSource, Initial, Network, SourceStep, Sourced, StateBlock};
use meromorph::nn::{Activation, Spec};
use meromorph::optim::Optimizer;
use meromorph::program::expr::{max, min};
use meromorph::tensor::Tensor;
use meromorph::train::{
    Checkpoint, Clip, Data, Event, Examples, Flow, GradientConfig, GradientHook, Hooked, StepGradients, StepKind,
    Trainer, TrainerConfig,
};
use meromorph::{Result, ops};
use pollster::block_on;

use crate::devices::devices;
use crate::noise::noise;

/// y = 2 a - b + 1/2, in 50 rows: batches of 16 leave a last one of 2.
fn examples(rows: std::ops::Range<usize>) -> Examples {
    let x: Vec<f32> = noise(100, 5)[2 * rows.start..2 * rows.end].to_vec();
    let y = x.chunks_exact(2).map(|x| 2.0 * x[0] - x[1] + 0.5).collect();
    Examples { x, y }
}

fn data() -> Data {
    Data { inputs: 2, targets: 1, train: examples(0..50), ..Data::default() }
}

fn config() -> TrainerConfig {
    TrainerConfig {
        epochs: 6,
        batch: 16,
        patience: 0,
        lr: 0.05,
        optimizer: Optimizer::adamw(0.0),
        ..TrainerConfig::default()
    }
}

fn line() -> Network {
    let parameters = [("w", Initial::values([2, 1], [0.1, 0.2])), ("b", Initial::zeros([1]))];
    Network::function(2, parameters, |p, x| ops::add(&ops::matmul(x, &p["w"]), &p["b"]))
}

fn sum(x: &Var) -> Var {
    ops::reshape(&ops::sum(x, 0..x.shape().rank()), [1])
}

/// The weighted sum of squared errors at some parameters, of which no gradient is known.
fn black_box(step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
    let parameters: Vec<Var> = parameters.iter().map(Var::detach).collect();
    let error = &step.outputs(&parameters)?[0] - &step.batch.y;
    Ok(sum(&ops::mul(&ops::mul(&error, &error), &step.batch.weight)).detach())
}

/// Central differences, and a count of the steps and of the rows.
struct Differences;

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

    fn has_report(&self) -> bool {
        true
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
        let wanted = block_on(own.parameters())?;
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
        let worst = got.iter().zip(&wanted).map(|(got, wanted)| (got - wanted).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{}: {got:?} {wanted:?}", device.info().device);
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

/// Moves w by a tenth of its gradient's direction within [-1, 1], and only in every other step.
struct Clamped;

impl GradientSource for Clamped {
    fn name(&self) -> &'static str {
        "clamped"
    }

    fn state(&self) -> Vec<StateBlock> {
        vec![StateBlock { name: "turn".into(), values: vec![0.0] }]
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let values = step.parameters.values().iter();
        let moved = |value: &Var| ops::fused(&[value], |v| max(min(v[0] + 0.4, 1.0), -1.0));
        let weight = sum(&step.batch.weight);
        Ok(Sourced {
            direction: Direction::Parameters {
                values: values.map(moved).collect(),
                is_accepted: Some(step.state[0].clone()),
            },
            loss: ops::fused(&[&weight], |v| 3.0 * v[0]),
            weight,
            state: vec![ops::fused(&[&step.state[0]], |v| 1.0 - v[0])],
        })
    }
}

#[test]
fn a_source_moves_the_parameters_itself_where_it_accepts_the_step() -> Result<()> {
    for device in devices(&[1]) {
        let mut trainer = Trainer::new(&device, line().with_source(Clamped), config(), data())?;
        let at = |trainer: &Trainer| block_on(trainer.parameters()).map(|flat| [flat[0], flat[1], flat[64]]);
        let mut seen = Vec::new();
        for _ in 0..5 {
            trainer.advance(1)?;
            seen.push(at(&trainer)?);
        }
        let (first, second, third) = ([0.1, 0.2, 0.0], [0.5, 0.6, 0.4], [0.9, 1.0, 0.8]);
        assert_eq!(seen, [first, second, second, third, third], "{}", device.info().device);
        // The loss of a step is its mean over the rows.
        let mut trainer = Trainer::new(&device, line().with_source(Clamped), config(), data())?;
        block_on(trainer.epoch(&mut |_| Flow::Continue))?;
        assert_eq!(trainer.history()[0].train_loss, 3.0);
    }
    let refused = |settings: TrainerConfig, network: Network| {
        Trainer::new(&Device::cpu(1), network, settings, data()).map(drop).unwrap_err().to_string()
    };
    let gradients = GradientConfig { clip: Some(Clip::Norm { most: 1.0 }), ..GradientConfig::default() };
    assert_eq!(
        refused(TrainerConfig { gradients, ..config() }, line().with_source(Clamped)),
        "train: got a limit of gradients, or one that watches or leaves out, which a source with its own update has no use for"
    );
    let gradients = GradientConfig { sharpness: Some(0.1), ..GradientConfig::default() };
    assert_eq!(
        refused(TrainerConfig { gradients, ..config() }, line().with_source(Differences)),
        "train: source \"differences\": got sharpness, which records a step twice: expected a source without state"
    );
    assert_eq!(
        refused(config(), line().with_source(Wrong)),
        "train: source \"wrong\": the gradient of \"w\": got [1], expected [2, 1]"
    );
    Ok(())
}

/// A gradient of another shape.
struct Wrong;

impl GradientSource for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let weight = sum(&step.batch.weight);
        let gradients = vec![weight.clone(), weight.clone()];
        Ok(Sourced { direction: Direction::Gradients(gradients), loss: weight.clone(), weight, state: Vec::new() })
    }
}

/// Adds the sums of another machine to this one's.
struct Exchange {
    to: Sender<Vec<f32>>,
    from: Receiver<Vec<f32>>,
}

impl GradientHook for Exchange {
    fn between<'h>(&'h mut self, gradients: &'h mut StepGradients<'_>) -> Hooked<'h> {
        Box::pin(async move {
            self.to.send(gradients.sums().to_vec()).expect("the other machine runs");
            let other = self.from.recv().expect("the other machine runs");
            gradients.sums().iter_mut().zip(other).for_each(|(own, other)| *own += other);
            Ok(())
        })
    }
}

/// Two trainers with 16 and 14 rows, so that the last batch of the second has two.
fn two_machines(config: &TrainerConfig, network: fn() -> Network) -> [Vec<f32>; 2] {
    let ((to_b, from_a), (to_a, from_b)) = (channel(), channel());
    let machine = |rows: std::ops::Range<usize>, to, from| {
        let config = config.clone();
        thread::spawn(move || -> Result<Vec<f32>> {
            let data = Data { train: examples(rows), ..data() };
            let mut trainer = Trainer::new(&Device::cpu(1), network(), config, data)?;
            let count = trainer.data().train.rows(1) as u32;
            trainer.shuffle_with(move |_| (0..count).collect());
            trainer.hook_with(Exchange { to, from })?;
            block_on(trainer.run(&mut |_| Flow::Continue))?;
            block_on(trainer.parameters())
        })
    };
    let machines = [machine(0..16, to_b, from_b), machine(16..30, to_a, from_a)];
    machines.map(|machine| machine.join().expect("a machine ends").expect("a machine trains"))
}

fn perceptron() -> Network {
    Spec::mlp(2, &[4], 1, Activation::tanh()).into()
}

/// The same with a loss of its own, a mean over the rows.
fn with_own_loss() -> Network {
    perceptron().with_loss(|z, batch| batch.mean(&ops::square(&(&z[0] - &batch.y))))
}

#[test]
fn two_trainers_that_add_their_gradients_train_as_one() -> Result<()> {
    // The last epoch is kept, whatever the losses of a machine's own rows are.
    let clipped = GradientConfig { clip: Some(Clip::Norm { most: 0.05 }), ..GradientConfig::default() };
    let runs: [(StepKind, fn() -> Network); 3] =
        [(StepKind::Fused, perceptron), (StepKind::Recorded, perceptron), (StepKind::Recorded, with_own_loss)];
    for (step, network) in runs {
        for gradients in [GradientConfig::default(), clipped.clone()] {
            let config =
                TrainerConfig { batch: 4, step: Some(step), gradients, epochs: 5, min_delta: -1e9, ..config() };
            let [a, b] = two_machines(&config, network);
            assert_eq!(a, b, "{step:?}");
            // In one trainer, rows 0 to 3 and 16 to 19 are the first step.
            let data = Data { train: examples(0..30), ..data() };
            let config = TrainerConfig { batch: 8, ..config };
            let mut whole = Trainer::new(&Device::cpu(1), network(), config, data)?;
            whole.shuffle_with(|_| {
                let rows = (0..4).flat_map(|step| (0..8).map(move |at| 4 * step + at % 4 + 16 * (at / 4)));
                rows.filter(|row| *row < 30).collect()
            });
            block_on(whole.run(&mut |_| Flow::Continue))?;
            let wanted = block_on(whole.parameters())?;
            let worst = a.iter().zip(&wanted).map(|(got, wanted)| (got - wanted).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-5, "{step:?}: {worst}");
        }
    }
    Ok(())
}

/// Doubles the gradient of the bias, and notes what it sees.
struct Doubled(Rc<RefCell<Vec<Vec<f32>>>>);

impl GradientHook for Doubled {
    fn between<'h>(&'h mut self, gradients: &'h mut StepGradients<'_>) -> Hooked<'h> {
        Box::pin(async move {
            self.0.borrow_mut().push(gradients.of("b")?.to_vec());
            gradients.of("b")?.iter_mut().for_each(|g| *g *= 2.0);
            gradients.of("c").map(drop)
        })
    }
}

#[test]
fn a_hook_sees_sums_by_name_and_its_errors_end_the_run() -> Result<()> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let mut trainer = Trainer::new(&Device::cpu(1), line(), TrainerConfig { batch: 50, ..config() }, data())?;
    trainer.hook_with(Doubled(seen.clone()))?;
    let said = block_on(trainer.run(&mut |_| Flow::Continue)).unwrap_err().to_string();
    assert_eq!(said, "hook: unknown parameter: got \"c\", expected one of w, b");
    // Σ 2 (z - y) over the rows, in f64.
    let rows = examples(0..50);
    let error = |(x, y): (&[f32], &f32)| 2.0 * (0.1 * f64::from(x[0]) + 0.2 * f64::from(x[1]) - f64::from(*y));
    let wanted: f64 = rows.x.chunks_exact(2).zip(&rows.y).map(error).sum();
    let got = seen.borrow()[0].clone();
    assert!(got.len() == 1 && (f64::from(got[0]) - wanted).abs() < 1e-3, "{got:?} {wanted}");
    assert_eq!(trainer.advance(1).unwrap_err().to_string(), "advance: got a run with a hook, expected one without");
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

#[test]
fn a_resumed_run_takes_a_hook() -> Result<()> {
    let settings = TrainerConfig { batch: 50, ..config() };
    let mut whole = Trainer::new(&Device::cpu(1), line(), settings.clone(), data())?;
    block_on(whole.run(&mut |_| Flow::Continue))?;
    let mut first = Trainer::new(&Device::cpu(1), line(), settings, data())?;
    block_on(first.epoch(&mut |_| Flow::Continue))?;
    let mut again = Trainer::resume(&Device::cpu(1), data(), block_on(first.checkpoint())?)?;
    let count = Rc::new(RefCell::new(0));
    again.hook_with(Counted(count.clone()))?;
    block_on(again.run(&mut |_| Flow::Continue))?;
    assert_eq!(*count.borrow(), 5);
    let apart = block_on(again.parameters())?.into_iter().zip(block_on(whole.parameters())?);
    assert!(apart.into_iter().all(|(got, wanted)| (got - wanted).abs() < 1e-6));
    Ok(())
}

/// Counts steps.
struct Counted(Rc<RefCell<usize>>);

impl GradientHook for Counted {
    fn between<'h>(&'h mut self, _gradients: &'h mut StepGradients<'_>) -> Hooked<'h> {
        *self.0.borrow_mut() += 1;
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn closures_see_parameters_and_the_pass_and_return_results() -> Result<()> {
    let device = Device::cpu(1);
    let trained = |network: Network| -> Result<Vec<f32>> {
        let mut trainer = Trainer::new(&device, network, config(), data())?;
        block_on(trainer.run(&mut |_| Flow::Continue))?;
        block_on(trainer.parameters())
    };
    let squares = |outputs: &[Var], y: &Var| {
        let error = &outputs[0] - y;
        ops::mul(&error, &error)
    };
    // Losses of rows, and their mean, are the same loss: rows that fill a batch count in neither.
    let mean = trained(line().with_loss(move |z, batch| batch.mean(&squares(z, &batch.y))))?;
    let rows = trained(line().with_loss(move |z, batch| squares(z, &batch.y)))?;
    assert_eq!(rows, mean);
    // A penalty on a parameter in training alone.
    let held = trained(line().with_loss(move |z, batch| -> Result<Var> {
        let rows = squares(z, &batch.y);
        let penalty = ops::mul(batch.parameters.get("b")?, batch.parameters.get("b")?);
        Ok(if batch.is_training() { ops::add(&rows, &ops::fused(&[&penalty], |v| 100.0 * v[0])) } else { rows })
    }))?;
    assert!(held[64].abs() < 0.1 && mean[64] > 0.2, "{} {}", held[64], mean[64]);
    // A perceptron of `ops::layer` alone takes the fused step, but not one that trains otherwise than it predicts.
    let layered = |is_shifted: bool| {
        Network::function(2, [("w", Initial::zeros([1, 2])), ("b", Initial::zeros([1]))], move |p, x| {
            let y = ops::layer(x, &p["w"], Some(&p["b"]), None);
            if is_shifted && p.is_training() { ops::fused(&[&y], |v| v[0] + 1.0) } else { y }
        })
    };
    for (is_shifted, kind) in [(false, StepKind::Fused), (true, StepKind::Recorded)] {
        let trainer = Trainer::new(&device, layered(is_shifted), config(), data())?;
        assert_eq!(trainer.step_kind(), kind);
    }
    // A model that knows whether it trains.
    let noisy = Network::function(2, [("w", Initial::zeros([2, 1])), ("b", Initial::zeros([1]))], |p, x| {
        let shift = if p.is_training() { 1.0 } else { 0.0 };
        ops::fused(&[&ops::matmul(x, &p["w"]), &p["b"]], |v| v[0] + v[1] + shift)
    });
    let mut trainer = Trainer::new(&device, noisy, TrainerConfig { epochs: 200, ..config() }, data())?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;
    // In training b + 1 is the constant 1/2; in prediction b alone.
    let got = block_on(trainer.predict(&[0.0, 0.0]))?[0];
    assert!((got + 0.5).abs() < 0.05, "{got}");
    let failing = line().with_loss(|_, batch| batch.parameters.get("slope").cloned());
    let said = Trainer::new(&device, failing, config(), data()).map(drop).unwrap_err().to_string();
    assert_eq!(said, "train: the loss: network: unknown parameter: got \"slope\", expected one of w, b");
    Ok(())
}
