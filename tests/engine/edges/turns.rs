//! Other tasks of an executor run while a model is trained.

use crate::devices::devices;
use crate::rows::rows;
use meromorph::nn::{Activation, Spec};
use meromorph::train::{Flow, Trainer, TrainerConfig};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[test]
fn a_run_lets_other_tasks_run_in_every_epoch() {
    for device in devices(&[1]) {
        let config = TrainerConfig { epochs: 5, batch: 16, patience: 0, ..TrainerConfig::default() };
        let data = rows(2, [64, 8], |x| x[0] * x[1]);
        let mut trainer =
            Trainer::new(&device, Spec::mlp(2, &[8], 1, Activation::tanh()), config, data).expect("a trainer");
        let mut watch = |_: &meromorph::train::Event<'_>| Flow::Continue;
        let mut run = pin!(trainer.run(&mut watch));
        let mut turns = 0;
        let outcome = loop {
            match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(outcome) => break outcome,
                Poll::Pending => turns += 1,
            }
        };
        assert_eq!(outcome.expect("a run").epochs, 5);
        assert!(turns >= 5, "{}: {turns} turns", device.info().device);
    }
}

/// A loss with a derivative by the inputs is evaluated on the validation rows as well: (x N)' = 2.
#[test]
fn a_loss_may_contain_derivatives_by_the_inputs() {
    use meromorph::model::{Initial, Network};
    use meromorph::ops;
    for device in devices(&[1]) {
        let line = Network::function(1, [("slope", Initial::zeros([1, 1]))], |p, x| ops::matmul(x, &p["slope"]));
        let equation = |network: Network| {
            network.with_loss(|outputs, batch| {
                let u = &outputs[0] * &batch.x;
                let slope = ops::grad(&u, &[&batch.x]).expect("gradients").remove(0).expect("a gradient");
                batch.mean(&ops::square(&(slope - 2.0)))
            })
        };
        let spec = Network::from(Spec::mlp(1, &[8], 1, Activation::tanh()));
        for network in [line, spec] {
            let config = TrainerConfig { epochs: 3, batch: 16, patience: 0, lr: 1e-6, ..TrainerConfig::default() };
            let mut trainer =
                Trainer::new(&device, equation(network), config, rows(1, [32, 8], |x| x[0])).expect("a trainer");
            pollster::block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
            let last = trainer.history().last().expect("an epoch");
            // The rate is tiny, so that both losses are those of the initial weights; the derivative is smooth in x.
            let (train, validation) = (last.train_loss, last.val_loss.expect("validation rows"));
            assert!((train - validation).abs() < 0.3 * train, "{}: {train} and {validation}", device.info().device);
        }
    }
}
