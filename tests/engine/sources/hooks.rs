//! Hooks between gradient and update: sums over machines, names, errors, resumed runs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::{config, data, examples, line};
use meromorph::device::Device;
use meromorph::model::Network;
use meromorph::nn::{Activation, Spec};
use meromorph::train::{
    Clip, Data, Flow, GradientConfig, GradientHook, Hooked, StepGradients, StepKind, Trainer, TrainerConfig,
};
use meromorph::{Result, ops};
use pollster::block_on;

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
            let expected = block_on(whole.parameters())?;
            let worst = a.iter().zip(&expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f32::max);
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
    let expected: f64 = rows.x.chunks_exact(2).zip(&rows.y).map(error).sum();
    let got = seen.borrow()[0].clone();
    assert!(got.len() == 1 && (f64::from(got[0]) - expected).abs() < 1e-3, "{got:?} {expected}");
    assert_eq!(trainer.advance(1).unwrap_err().to_string(), "advance: got a run with a hook, expected one without");
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
    assert!(apart.into_iter().all(|(got, expected)| (got - expected).abs() < 1e-6));
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
