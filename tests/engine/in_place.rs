//! Launches that write over an input which nothing reads later: the same bits in less memory, and as much as was predicted.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::autograd::Var;
use meromorph::device::{Label, Passes, Recompute};
use meromorph::internal::kernels::cast;
use meromorph::nn::Activation;
use meromorph::tensor::Tensor;
use meromorph::train::Half;
use meromorph::{Device, Result, ops};
use pollster::block_on;

/// Enough values for several threads, in blocks that are not rounded up.
const ROWS: usize = 160;
const COLUMNS: usize = 64;
const BLOCK: u64 = 4 * (ROWS * COLUMNS) as u64;

/// Inputs x [rows, columns], a square matrix and a row.
struct Inputs {
    x: Var,
    square: Var,
    row: Var,
}

impl Inputs {
    fn new(device: &Device) -> Result<Self> {
        let tensor = |sizes: [usize; 2], seed| Tensor::from_f32(device, sizes, &noise(sizes[0] * sizes[1], seed));
        Ok(Self {
            x: Var::leaf(tensor([ROWS, COLUMNS], 1)?),
            square: Var::leaf(tensor([COLUMNS, COLUMNS], 2)?),
            row: Var::leaf(tensor([1, COLUMNS], 3)?),
        })
    }
}

type Work = fn(&Inputs) -> Result<Vec<Tensor>>;

/// Bytes of intermediate results without the pass and with it. Checks that results are the same in both and that predicted bytes are allocated.
fn planned(device: &Device, passes: &Passes, work: Work) -> Result<[u64; 2]> {
    let inputs = Inputs::new(device)?;
    let name = device.info().device;
    let run = |in_place: bool| -> Result<(u64, Vec<Vec<f32>>)> {
        let passes = Passes { in_place, ..passes.clone() };
        let outline = device.outline(&passes, || work(&inputs))?;
        let before = device.counters().live_bytes;
        let (plan, results) = device.capture_with(&passes, || work(&inputs))?;
        let bytes = plan.summary().transient_bytes;
        let made: u64 = results.iter().map(|result| 4 * result.shape().len() as u64).sum();
        assert_eq!(device.counters().live_bytes - before, bytes + made, "allocated, {in_place} on {name}");
        if passes.recompute == Recompute::Nothing {
            assert_eq!(outline.transient_bytes, bytes, "predicted, {in_place} on {name}");
        }
        plan.run(2)?;
        let values = results.iter().map(|result| block_on(result.to_f32())).collect::<Result<Vec<_>>>()?;
        Ok((bytes, values))
    };
    let ((apart, expected), (shared, got)) = (run(false)?, run(true)?);
    assert!(expected == got, "other bits on {name}");
    assert!(expected.iter().flatten().all(|x| x.is_finite()) && shared <= apart, "{shared} of {apart} bytes on {name}");
    Ok([apart, shared])
}

/// A result that no launch reads index by index.
fn product(x: &Var, inputs: &Inputs) -> Tensor {
    ops::matmul(x, &inputs.square).value().clone()
}

/// A value that cannot be merged into its reader.
fn start(inputs: &Inputs) -> Var {
    ops::softmax(&inputs.x)
}

#[test]
fn a_result_takes_the_block_of_an_input_that_is_not_read_later() -> Result<()> {
    let works: [(&str, Work); 5] = [
        ("a chain", |all| Ok(vec![product(&ops::exp(&start(all)), all)])),
        ("broadcast", |all| Ok(vec![product(&ops::mul(&all.row, &start(all)), all)])),
        ("twice", |all| {
            let s = start(all);
            Ok(vec![product(&ops::add(&ops::square(&s), &ops::mul(&s, &s)), all)])
        }),
        ("the last of several readers", |all| {
            let s = start(all);
            Ok(vec![product(&s, all), product(&ops::exp(&s), all)])
        }),
        ("one after the other", |all| {
            let once = ops::exp(&start(all));
            Ok(vec![product(&once, all), product(&ops::sqrt(&once), all)])
        }),
    ];
    for device in devices(&[1, 2]) {
        for (name, work) in works {
            let [apart, shared] = planned(&device, &Passes::default(), work)?;
            assert_eq!([apart, shared], [2 * BLOCK, BLOCK], "{name} on {}", device.info().device);
        }
    }
    Ok(())
}

/// A product that keeps halves, and before it a launch that writes over its input.
#[test]
fn halves_and_launches_in_place_share_a_plan() -> Result<()> {
    let halves = cast::stored(Half::F16, |label| &*label.layer == "layers.0");
    let passes = Passes { halves: Some(halves), ..Passes::default() };
    let work: Work = |all| {
        let device = all.x.value().device().clone();
        let layer = |x: &Var| device.labelled(Label::part("layers.0"), || ops::matmul(x, &all.square));
        Ok(vec![layer(&layer(&ops::exp(&start(all)))).value().clone()])
    };
    for device in devices(&[1, 2]) {
        // The softmax and its exponential share a block, and the product between has half of one.
        let bytes = planned(&device, &passes, work)?;
        assert_eq!(bytes, [2 * BLOCK, BLOCK + BLOCK / 2], "{}", device.info().device);
    }
    Ok(())
}

#[test]
fn what_is_read_later_keeps_its_block() -> Result<()> {
    let works: [(&str, Work); 4] = [
        ("read later", |all| {
            let s = start(all);
            let first = product(&ops::exp(&s), all);
            Ok(vec![first, product(&s, all)])
        }),
        ("given to the plan", |all| {
            let u = ops::exp(&all.x);
            Ok(vec![product(&u, all), product(&u, all)])
        }),
        ("held by the caller", |all| {
            let s = start(all);
            let first = product(&ops::exp(&s), all);
            Ok(vec![first, s.value().clone()])
        }),
        ("broadcast and read once more, transposed", |all| {
            let s = ops::softmax(&all.square);
            Ok(vec![product(&ops::add(&s, &ops::transpose(&s)), all)])
        }),
    ];
    for device in devices(&[1, 2]) {
        for (name, work) in works {
            let inputs = Inputs::new(&device)?;
            let before = block_on(inputs.x.value().to_f32())?;
            let [apart, shared] = planned(&device, &Passes::default(), work)?;
            assert_eq!(apart, shared, "{name} on {}", device.info().device);
            assert_eq!(block_on(inputs.x.value().to_f32())?, before, "{name} on {}", device.info().device);
        }
    }
    Ok(())
}

/// The gradient of layers, between which values are scaled: the backward pass reads only what is scaled.
fn gradients(all: &Inputs) -> Result<Vec<Tensor>> {
    let silu = Activation::silu();
    let scale = Var::constant(all.row.value().clone());
    let layer = |x: &Var| ops::layer(x, &all.square, None, Some(silu.curve()));
    let y = (0..6).fold(all.x.clone(), |x, _| ops::mul(&layer(&x), &scale));
    let gradients = ops::grad(&ops::sum(&ops::square(&y), 0..2), &[&all.square])?;
    Ok(gradients.into_iter().flatten().map(|gradient| gradient.value().clone()).collect())
}

#[test]
fn gradients_have_the_same_bits_whatever_is_computed_again() -> Result<()> {
    for device in devices(&[1, 2]) {
        let [whole, shared] = planned(&device, &Passes::default(), gradients)?;
        let all = [Recompute::Every(2), Recompute::Root, Recompute::Cheap(u64::MAX), Recompute::Within(shared - 1)];
        for recompute in all {
            let [_, bytes] = planned(&device, &Passes { recompute, ..Passes::default() }, gradients)?;
            assert!(bytes < whole, "{recompute:?}: {bytes} of {whole} bytes on {}", device.info().device);
        }
    }
    Ok(())
}

#[test]
fn a_budget_counts_blocks_that_are_shared() -> Result<()> {
    let device = Device::cpu(1);
    let [whole, shared] = planned(&device, &Passes::default(), gradients)?;
    assert!(shared < whole, "{shared} of {whole} bytes");
    let inputs = Inputs::new(&device)?;
    let passes = |in_place| Passes { recompute: Recompute::Within(shared), in_place, ..Passes::default() };
    let again = |in_place| -> Result<usize> {
        let (plan, _results) = device.capture_with(&passes(in_place), || gradients(&inputs))?;
        assert!(plan.summary().transient_bytes <= shared);
        Ok(plan.summary().recomputed.0)
    };
    assert_eq!(again(true)?, 0);
    assert!(again(false)? > 0);
    Ok(())
}
