//! Kernels that read and write results in 16 bits themselves: the bits are those of launches that convert, with fewer launches and bytes.

use std::sync::Arc;

use crate::devices::devices;
use crate::noise::noise;
use crate::rows::rows;
use meromorph::autograd::Var;
use meromorph::device::{Halves, Label, Passes, Recompute, Summary};
use meromorph::internal::kernels::cast;
use meromorph::nn::{Activation, Spec};
use meromorph::program::{Curve, expr};
use meromorph::tensor::Tensor;
use meromorph::train::{Half, MixedPrecision, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, ops};
use pollster::block_on;

const FORMATS: [Half; 2] = [Half::F16, Half::Bf16];
const ROWS: usize = 72;

/// Results of all layers in 16 bits.
fn passes(half: Half, is_merged: bool, recompute: Recompute) -> Passes {
    let halves = cast::stored(half, |label| label.layer.starts_with("layers"));
    let halves = Halves { is_merged, ..halves };
    Passes { recompute, halves: Some(halves), ..Passes::default() }
}

/// The loss and the gradients of a model with layers of even and of odd width, a norm, a residual, products of batches and pointwise functions of
/// transposed and of broadcast values.
fn model(device: &Device) -> Result<(Vec<Var>, Var)> {
    let tensor = |shape: [usize; 2], seed| Tensor::from_f32(device, shape, &noise(shape[0] * shape[1], seed));
    let sizes = [[40, 12], [40, 40], [40, 40], [33, 40], [40, 33], [40, 40]];
    let weights: Vec<Var> =
        (0..).zip(sizes).map(|(seed, shape)| Ok(Var::leaf(tensor(shape, seed)?))).collect::<Result<_>>()?;
    let biases: Vec<Var> = sizes
        .iter()
        .map(|[n, _]| Ok(Var::leaf(Tensor::from_f32(device, [*n], &noise(*n, 9))?)))
        .collect::<Result<_>>()?;
    let curve = Arc::new(Curve::build("tanh(x)", 1, |x| expr::tanh(x[0])));
    let part = |at: usize, work: &dyn Fn() -> Var| device.labelled(Label::part(&format!("layers.{at}")), work);
    let layer = |at: usize, x: &Var| part(at, &|| ops::layer(x, &weights[at], Some(&biases[at]), Some(&curve)));
    let mut h = layer(0, &Var::constant(tensor([ROWS, 12], 20)?));
    h = layer(1, &h);
    let inner = layer(2, &ops::layer_norm(&h, 1e-5));
    h = part(2, &|| ops::add(&h, &inner));
    h = layer(4, &layer(3, &h));
    h = part(6, &|| {
        let scores = ops::product(&h, &h, false, true);
        let mixed = ops::add(&ops::sigmoid(&scores), &ops::transpose(&scores));
        ops::add(&ops::matmul(&mixed, &h), &ops::tanh(&ops::mul(&h, &biases[1])))
    });
    h = layer(5, &h);
    let loss = device.labelled(Label::part("loss"), || ops::mean(&ops::square(&h), 0..2));
    Ok(([weights, biases].concat(), loss))
}

/// The bits of the loss and of the gradients, and the plan.
fn step(device: &Device, passes: &Passes) -> Result<(Vec<Vec<u32>>, Summary)> {
    let (plan, made) = device.capture_with(passes, || {
        let (parameters, loss) = model(device)?;
        device.turn();
        let gradients = ops::grad(&loss, &parameters.iter().collect::<Vec<_>>())?;
        let gradients = gradients.iter().map(|gradient| gradient.as_ref().expect("reached"));
        // Values without their tapes, which would hold everything.
        Ok(std::iter::once(&loss).chain(gradients).map(|var| var.value().clone()).collect::<Vec<Tensor>>())
    })?;
    let summary = plan.summary().clone();
    if device.info().device == "dry" {
        return Ok((Vec::new(), summary));
    }
    plan.run(1)?;
    let bits = |tensor: &Tensor| Ok(block_on(tensor.to_f32())?.into_iter().map(f32::to_bits).collect());
    Ok((made.iter().map(bits).collect::<Result<_>>()?, summary))
}

#[test]
fn merged_conversions_change_no_bit() -> Result<()> {
    for device in devices(&[1, 2]) {
        let whole = step(&device, &Passes::default())?.0;
        // Products of merged f16 operands add up in an order of their own there.
        let has_matrices = device.info().has_matrices();
        for half in FORMATS.into_iter().filter(|half| *half != Half::F16 || !has_matrices) {
            for recompute in [Recompute::Nothing, Recompute::Every(2)] {
                let [merged, apart] = [true, false].map(|is_merged| step(&device, &passes(half, is_merged, recompute)));
                let (merged, apart) = (merged?.0, apart?.0);
                assert!(apart != whole, "{half:?}: nothing is in 16 bits");
                let differing: Vec<usize> = (0..apart.len()).filter(|&at| merged[at] != apart[at]).collect();
                assert_eq!(differing, [0; 0], "results of {half:?}, {recompute:?} on {}", device.info().name);
            }
        }
    }
    Ok(())
}

fn casts(summary: &Summary) -> usize {
    summary.launches.iter().filter(|launch| launch.kernel == "cast").count()
}

#[test]
fn most_launches_that_convert_go() -> Result<()> {
    let device = Device::dry();
    let plain = step(&device, &Passes::default())?.1;
    let [merged, apart] =
        [true, false].map(|is_merged| step(&device, &passes(Half::F16, is_merged, Recompute::Nothing)));
    let (merged, apart) = (merged?.1, apart?.1);
    let count = |summary: &Summary| (summary.launches.len(), casts(summary));
    assert_eq!([count(&plain), count(&apart), count(&merged)], [(39, 0), (126, 87), (46, 7)]);
    assert!(merged.transient_bytes < apart.transient_bytes && merged.cost.bytes < apart.cost.bytes);
    Ok(())
}

#[test]
fn a_step_of_layers_has_no_launch_that_converts() -> Result<()> {
    let device = Device::dry();
    let summary = |width: usize, precision| {
        let spec = Spec::mlp(4, &[width; 12], 1, Activation::tanh());
        let step = Some(StepKind::Recorded);
        let config = TrainerConfig { batch: 256, step, precision, ..TrainerConfig::default() };
        let mut trainer = Trainer::new(&device, spec, config, rows(4, [256, 8], |x| x[0]))?;
        trainer.prepare()?;
        Ok::<_, meromorph::Error>(trainer.step_summary().clone())
    };
    for half in FORMATS {
        let precision = || Some(MixedPrecision { scale: None, ..MixedPrecision::new(half) });
        let [whole, halves] = [summary(256, None)?, summary(256, precision())?];
        assert_eq!((casts(&halves), halves.launches.len()), (0, whole.launches.len()), "{half:?}");
        let share = halves.transient_bytes as f64 / whole.transient_bytes as f64;
        assert!(share < 0.53, "{share:.3} of the bytes in f32");
        // Words have two columns, so an odd number of them is packed by launches of its own.
        assert_eq!(casts(&summary(255, precision())?), 3 * 12, "values, slopes and gradients");
    }
    Ok(())
}
