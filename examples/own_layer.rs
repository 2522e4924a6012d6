//! A layer of your own in a `Spec`: a gated linear unit, silu(x A) · (x B), which trains, is saved and exported like any layer.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::export::write_onnx;
use meromorph::nn::{Init, Linear};
use meromorph::prelude::*;
use pollster::block_on;

/// The layer, of so many values before and after it: its parameters with their first values, and its ops, which are traced into a graph.
fn gated(inputs: usize, outputs: usize) -> Result<Layer> {
    let deviation = (1.0 / inputs as f64).sqrt();
    let weight = || Initial::normal([inputs, outputs], deviation);
    let network = Network::function(inputs, [("a", weight()), ("b", weight())], |p, x| {
        let gate = ops::matmul(x, &p["a"]);
        ops::fused(&[&gate, &ops::matmul(x, &p["b"])], |v| v[0] * sigmoid(v[0]) * v[1])
    });
    Ok(block_on(network.traced(&Device::cpu(1)))?.layers.remove(0))
}

fn main() -> Result<()> {
    let linear = |outputs| Layer::from(Linear { outputs, bias: true, init: Init::Linear });
    let spec = Spec { inputs: 2, layers: vec![linear(16), gated(16, 24)?, gated(24, 16)?, linear(1)] };

    // y = a b, which no perceptron of so few layers has exactly.
    let x: Vec<f32> = (0..1024_u16).flat_map(|i| [i % 32, i / 32].map(|at| f32::from(at) / 15.5 - 1.0)).collect();
    let y = x.chunks_exact(2).map(|x| x[0] * x[1]).collect();
    let data = Data { inputs: 2, targets: 1, train: Examples { x, y }, ..Data::default() };
    let device = Device::cpu(1);
    let settings = TrainerConfig { epochs: 150, batch: 64, lr: 5e-3, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&device, spec, settings, data)?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;

    // The file holds the layer's ops: whoever reads it needs nothing of this program.
    let model = Model::load(&block_on(trainer.model(None))?.save()?, "gated.safetensors")?;
    let points = [0.5, 0.5, -0.8, 0.25, 0.9, -0.9];
    let outputs = block_on(model.outputs(&device, &points))?;
    for (x, y) in points.chunks_exact(2).zip(outputs) {
        println!("{} · {} = {y:.3}", x[0], x[1]);
        assert!((y - x[0] * x[1]).abs() < 0.05, "expected {}", x[0] * x[1]);
    }
    println!("as ONNX {} bytes", write_onnx(&model)?.len());
    Ok(())
}
