//! Functions of several outputs.

use super::{config, data, traced};
use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::model::{Batch, Initial, Model, Network};
use meromorph::nn::Spec;
use meromorph::train::{Checkpoint, Flow, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// Two outputs of 3 inputs: a potential u [rows, 1], and e^-x V [rows, 2].
pub(super) fn field() -> Network {
    let parameters = [("w", [3, 8]), ("u", [8, 1]), ("v", [3, 2])];
    Network::function(3, parameters.map(|(name, shape)| (name, Initial::normal(shape, 0.5))), |p, x| {
        let u = ops::matmul(&ops::tanh(&ops::matmul(x, &p["w"])), &p["u"]);
        vec![u, ops::exp(&ops::neg(&ops::matmul(x, &p["v"])))]
    })
}

#[test]
fn several_outputs_are_saved_and_trained_on() -> Result<()> {
    let loss = |outputs: &[Var], batch: &Batch| {
        let [u, flow] = [0, 1].map(|at| outputs[at].clone());
        let wide = ops::sub(&flow, &ops::broadcast_to(&batch.y, flow.shape()));
        ops::add(&ops::mul(&(&u - &batch.y), &(&u - &batch.y)), &ops::mean(&ops::mul(&wide, &wide), 1..2))
    };
    let model = || field().with_loss(loss);
    let lines = traced(&field())?.lines()?;
    assert_eq!(lines.last().map(String::as_str), Some("outputs: v2, v5"), "{lines:?}");
    for device in devices(&[1, 2]) {
        for members in [1, 2] {
            let settings = TrainerConfig { members, ..config() };
            let mut whole = Trainer::new(&device, model(), settings.clone(), data())?;
            block_on(whole.run(&mut |_| Flow::Continue))?;
            let x = noise(3 * 5000, 9);
            let expected = block_on(whole.predict_each(&x))?;
            assert_eq!([expected[0].len(), expected[1].len()], [5000, 10_000]);
            let read = Model::load(&block_on(whole.model(None))?.save()?, "field")?;
            assert_eq!((read.spec.each_output()?, read.members()), (vec![1, 2], members));
            assert_eq!(block_on(read.outputs_each(&device, &x))?, expected, "{}", device.info().device);
            let said = block_on(read.outputs(&device, &x)).expect_err("several").to_string();
            assert_eq!(
                said,
                "predict: the model has 2 outputs, expected one: use predict_each, or outputs_each of a saved model"
            );

            let mut first = Trainer::new(&device, model(), settings, data())?;
            block_on(first.run(&mut |_| Flow::Stop))?;
            let file = block_on(first.checkpoint())?.save(None)?;
            let checkpoint = Checkpoint::load(&file, "run")?.0;
            // The program gives the loss; the outputs come from the file's function as well.
            let from_file = Network::from(checkpoint.spec.clone()).with_loss(loss);
            for (way, network) in [("program", model()), ("file", from_file)] {
                let mut again = block_on(Trainer::resume_with(&device, network, data(), checkpoint.clone()))?;
                block_on(again.run(&mut |_| Flow::Continue))?;
                assert_eq!(
                    block_on(again.parameters())?,
                    block_on(whole.parameters())?,
                    "{way}, {}",
                    device.info().device
                );
            }
        }
    }
    // A built-in loss takes one output, and so does a layer.
    let spec = block_on(field().traced(&Device::cpu(1)))?;
    let said = Trainer::new(&Device::cpu(1), spec.clone(), config(), data()).err().expect("several").to_string();
    assert_eq!(
        said,
        "train: loss \"mse\" needs one output: got 2, expected 1, or a loss of the model's own (with_loss)"
    );
    let other = Spec { inputs: 2, ..spec.clone() };
    let said = other.each_output().expect_err("other inputs").to_string();
    assert_eq!(said, "model: layers.0: a function of 3 inputs: got 2 values");
    let layers = vec![spec.layers[0].clone(), meromorph::nn::Linear::new(1).into()];
    let said = Spec { layers, ..spec }.outputs().expect_err("a layer").to_string();
    assert_eq!(said, "model: layers.0: a function of 2 outputs, expected one here");
    Ok(())
}
