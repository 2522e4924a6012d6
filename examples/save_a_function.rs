//! A model that is a function of ops: trained on a table, interrupted and resumed, saved, read back, and exported as ONNX.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::export::write_onnx;
use meromorph::files::read_plain;
use meromorph::prelude::*;
use meromorph::run::TrainOptions;
use meromorph::table::Choice;
use meromorph::train::Checkpoint;
use pollster::block_on;

/// A gated unit on top of a line, which no layer of a `Spec` is: tanh(x A + a) · sigmoid(x B) C + x D.
fn gated(inputs: usize) -> Network {
    let parameters = [
        ("value", Initial::normal([inputs, 32], 1.0)),
        ("shift", Initial::normal([32], 1.0)),
        ("gate", Initial::normal([inputs, 32], 1.0)),
        ("out", Initial::normal([32, 1], 0.2)),
        ("slope", Initial::zeros([inputs, 1])),
    ];
    Network::function(inputs, parameters, |p, x| {
        let gate = ops::sigmoid(&ops::matmul(x, &p["gate"]));
        let value = &ops::tanh(&(&ops::matmul(x, &p["value"]) + &p["shift"])) * &gate;
        &ops::matmul(&value, &p["out"]) + &ops::matmul(x, &p["slope"])
    })
}

fn main() -> Result<()> {
    let row = |i: u32| (f64::from(i % 200) / 80.0, f64::from(i * 7 % 50) / 50.0);
    let text: String = (0..600).map(row).map(|(t, u)| format!("{t},{u},{}\n", (2.0 * t).sin() + 0.3 * t - u)).collect();
    let table = read_plain(format!("t,u,y\n{text}").as_bytes(), "waves.csv", Header::Yes)?;
    let choice = Choice { target: "y".into(), bins: Some(0), ..Choice::default() };
    let options = TrainOptions {
        choice,
        epochs: Some(200),
        batch: Some(32),
        lr: Some(1e-2),
        patience: Some(0),
        ..TrainOptions::default()
    };
    let run = options.prepare(&table)?;
    let device = Device::cpu(1);
    let mut trainer = Trainer::new(&device, gated(run.data.inputs), run.settings, run.data.clone())?;

    // Interrupted after the first window of steps: the checkpoint holds the function as a graph, so that it goes on without this program, too.
    block_on(trainer.run(&mut |_| Flow::Stop))?;
    let file = block_on(trainer.checkpoint())?.save(Some(run.preparation))?;
    let (checkpoint, preparation) = Checkpoint::load(&file, "gated.ckpt")?;
    let mut resumed = Trainer::resume(&device, run.data, checkpoint)?;
    block_on(resumed.run(&mut |_| Flow::Continue))?;

    let model = Model::load(&block_on(resumed.model(preparation))?.save()?, "gated.safetensors")?;
    let [Layer::Function(graph)] = &model.spec.layers[..] else { unreachable!("the model is one function") };
    println!("{}", graph.lines()?.join("\n"));
    let r2 = block_on(model.evaluate(&device, &table))?.metrics.and_then(|metrics| metrics.r2).unwrap_or_default();
    println!("R² {r2:.4}; as ONNX {} bytes", write_onnx(&model)?.len());
    assert!(r2 > 0.9, "expected a good fit, got R² = {r2}");
    Ok(())
}
