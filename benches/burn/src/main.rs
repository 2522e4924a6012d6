//! Steps of a perceptron of 5 inputs and 1 output (SiLU, mse, AdamW, f32) in Burn. The last line of output is JSON with `us_per_step`.
//!
//! usage: burn-peer flex|wgpu HIDDEN BATCH STEPS

use burn::module::Module;
use burn::nn::loss::{MseLoss, Reduction};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamWConfig, GradientsParams};
use burn::prelude::*;
use burn::tensor::activation::silu;
use burn::tensor::{DeviceKind, Distribution};
use std::time::Instant;

/// Batches prepared beforehand, so that only steps are timed.
const BATCHES: usize = 8;

#[derive(Module, Debug)]
struct Perceptron {
    layers: Vec<Linear>,
}

impl Perceptron {
    fn new(hidden: &[usize], device: &Device) -> Self {
        let sizes = [&[5], hidden, &[1]].concat();
        Self { layers: sizes.windows(2).map(|pair| LinearConfig::new(pair[0], pair[1]).init(device)).collect() }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let (last, hidden) = self.layers.split_last().expect("there is an output layer");
        last.forward(hidden.iter().fold(x, |x, layer| silu(layer.forward(x))))
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [kind, hidden, batch, steps] = given.as_slice() else { panic!("usage: burn-peer flex|wgpu HIDDEN BATCH STEPS") };
    let number = |text: &str| text.parse::<usize>().expect("a whole number");
    let hidden: Vec<usize> = hidden.split(',').map(number).collect();
    let (batch, steps) = (number(batch), number(steps));
    let device = match kind.as_str() {
        "flex" => Device::flex(),
        "wgpu" => Device::wgpu(DeviceKind::DefaultDevice),
        _ => panic!("the first argument is flex or wgpu"),
    };
    let device = device.autodiff();
    let random = |width| Tensor::<2>::random([batch, width], Distribution::Normal(0.0, 1.0), &device);
    let batches: Vec<_> = (0..BATCHES).map(|_| (random(5), random(1))).collect();
    let mut model = Perceptron::new(&hidden, &device);
    let mut rule = AdamWConfig::new().with_weight_decay(1e-6).init();
    let mut run = |steps: usize| {
        let start = Instant::now();
        let mut last = None;
        for (x, y) in batches.iter().cycle().take(steps) {
            let loss = MseLoss::new().forward(model.forward(x.clone()), y.clone(), Reduction::Mean);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = rule.step(1e-3, model.clone(), gradients);
            last = Some(loss);
        }
        // Reading the loss waits for the device.
        let loss = last.map(|loss| loss.into_scalar::<f32>());
        assert!(loss.is_some_and(f32::is_finite), "the loss is finite");
        start.elapsed().as_secs_f64() * 1e6 / steps as f64
    };
    run(steps.min(BATCHES));
    println!("{{\"us_per_step\":{}}}", run(steps));
}
