//! Cases of launches that read and write halves themselves: the operands are small integers, so that every sum is exact in both formats.

use std::sync::Arc;

use super::Half;
use crate::device::{Bound, Case, Dispatch, Expected, Info, MATRICES_FEATURE, Tiles, View};
use crate::kernels::cast::{self, Conversion};
use crate::kernels::evidence::{Numbers, case, device, scratch, within, words};
use crate::kernels::matmul::{self, Operand};
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS, natural};
use crate::kernels::{map, oracle};
use crate::program::{Curve, Program, expr};

const FORMATS: [Half; 2] = [Half::F16, Half::Bf16];

/// Numbers of a binding, and whether it has halves.
type Side = (Vec<f32>, bool);

/// A case of what `launch` makes over floats, with the conversions of `inputs` and `outputs` merged into it.
fn converted(
    name: &str,
    half: Half,
    inputs: &[Side],
    outputs: Vec<Side>,
    launch: impl FnOnce(&[View], &[View]) -> Dispatch,
) -> Case {
    let expected = outputs.iter().map(|(values, is_half)| match is_half {
        true => Expected::Words(packed(half, values)),
        false => Expected::Floats(values.iter().map(|&x| f64::from(x)).collect()),
    });
    let expected = expected.collect();
    case(format!("{half:?} {name}"), Bound::Exact, given(half, inputs), expected, |given, made| {
        merged(half, [inputs, &outputs], [given, made], launch)
    })
}

/// The words of inputs.
fn given(half: Half, inputs: &[Side]) -> Vec<Vec<u32>> {
    inputs.iter().map(|(values, is_half)| if *is_half { packed(half, values) } else { words(values) }).collect()
}

fn packed(half: Half, values: &[f32]) -> Vec<u32> {
    let mut words = vec![0; values.len().div_ceil(2)];
    half.pack(values, &mut words);
    words
}

/// What `launch` makes over floats, with the conversions from `given` and into `made` merged into it.
fn merged(
    half: Half,
    [inputs, outputs]: [&[Side]; 2],
    [given, made]: [&[View]; 2],
    launch: impl FnOnce(&[View], &[View]) -> Dispatch,
) -> Dispatch {
    let floats = |sides: &[Side], views: &[View]| -> Vec<View> {
        let one =
            |((values, is_half), view): (&Side, &View)| if *is_half { scratch(values.len()) } else { view.clone() };
        sides.iter().zip(views).map(one).collect()
    };
    let (read, written) = (floats(inputs, given), floats(outputs, made));
    let mut merged = launch(&read, &written);
    for (floats, halves) in read.iter().zip(given).filter(|(floats, halves)| !floats.buffer.is(&halves.buffer)) {
        let unpack = cast::dispatch(Conversion::Unpack(half), floats.words as u32, halves.clone(), floats.clone());
        while let Some(at) = merged.inputs.iter().position(|view| view.buffer.is(&floats.buffer)) {
            let fuse = merged.kernel.fuse.expect("a kernel that reads halves");
            merged = fuse(&unpack, &merged, at).expect("reads what is unpacked");
        }
    }
    for (floats, halves) in written.iter().zip(made).filter(|(floats, halves)| !floats.buffer.is(&halves.buffer)) {
        let pack = cast::dispatch(Conversion::Pack(half), floats.words as u32, floats.clone(), halves.clone());
        merged = cast::CAST.fuse.expect("packs")(&merged, &pack, 0).expect("writes what is packed");
    }
    merged
}

/// Integers from -2 to 2.
fn integers(seed: u64, count: usize) -> Vec<f32> {
    Numbers::new(seed).indices(count, 5).into_iter().map(|x| x as f32 - 2.0).collect()
}

/// A product [batch, m, k] · [batch, k, n].
#[derive(Clone, Copy)]
struct Product {
    size: [u32; 4],
    is_transposed: [bool; 2],
    tiles: Tiles,
    /// Which of a, b and the result are halves.
    halves: [bool; 3],
    /// Whether the device has cooperative matrices.
    has_matrices: bool,
}

impl Product {
    fn name(&self) -> String {
        let Self { size: [batch, m, k, n], is_transposed, halves, tiles, has_matrices } = self;
        let tiles = match tiles {
            Tiles::ManySmall if *has_matrices => " matrices",
            Tiles::ManySmall => "",
            Tiles::FewLarge => " fewlarge",
            Tiles::PerInvocation => " perinvocation",
        };
        format!("halves {batch} x {m} x {k} x {n} {is_transposed:?} {halves:?}{tiles}")
    }

    fn operands(&self) -> [Vec<f32>; 2] {
        let [batch, m, k, n] = self.size.map(|size| size as usize);
        [integers(3, batch * m * k), integers(4, batch * k * n)]
    }

    /// Integers, at most 4 k.
    fn result(&self, [a, b]: &[Vec<f32>; 2]) -> Vec<f32> {
        let [batch, m, k, n] = self.size.map(|size| size as usize);
        let [is_a, is_b] = self.is_transposed;
        let left = |z: usize, i: usize, p: usize| a[z * m * k + if is_a { p * m + i } else { i * k + p }];
        let right = |z: usize, p: usize, j: usize| b[z * k * n + if is_b { j * k + p } else { p * n + j }];
        let sum = |at: usize| (0..k).map(|p| left(at / (m * n), at / n % m, p) * right(at / (m * n), p, at % n)).sum();
        (0..batch * m * n).map(sum).collect()
    }

    fn dispatch(&self, inputs: &[View], out: View) -> Dispatch {
        let operand =
            |at: usize| Operand { view: inputs[at].clone(), is_transposed: self.is_transposed[at], is_batched: true };
        matmul::dispatch(&self.info(), self.size, operand(0), operand(1), out)
    }

    /// The device that it is tiled for.
    fn info(&self) -> Info {
        let features = if self.has_matrices { vec![MATRICES_FEATURE.to_owned()] } else { Vec::new() };
        Info { features, ..device(self.tiles) }
    }

    fn case(self, half: Half) -> Case {
        let operands = self.operands();
        let out = (self.result(&operands), self.halves[2]);
        let [a, b] = operands;
        converted(&self.name(), half, &[(a, self.halves[0]), (b, self.halves[1])], vec![out], |inputs, out| {
            self.dispatch(inputs, out[0].clone())
        })
    }
}

/// Cases of `matmul`.
pub(crate) fn of_products() -> Vec<Case> {
    let plain = [false; 2];
    let all = [true; 3];
    let products = [
        ([1, 64, 16, 64], plain, all, Tiles::ManySmall),
        ([1, 65, 17, 66], plain, all, Tiles::ManySmall),
        ([1, 7, 33, 35], plain, [true, true, false], Tiles::ManySmall),
        ([1, 36, 52, 44], [true, false], all, Tiles::ManySmall),
        ([1, 67, 35, 130], [false, true], [true, false, true], Tiles::ManySmall),
        ([1, 67, 35, 130], [true, true], [false, true, false], Tiles::ManySmall),
        ([3, 20, 33, 18], [true, true], all, Tiles::ManySmall),
        ([1, 40, 140, 36], plain, all, Tiles::ManySmall),
        ([1, 9, 1100, 10], plain, [true, true, false], Tiles::ManySmall),
        ([1, 1100, 5, 6], plain, all, Tiles::ManySmall),
        ([1, 129, 33, 66], plain, all, Tiles::FewLarge),
        ([1, 68, 36, 34], [true, true], all, Tiles::FewLarge),
        ([1, 129, 70, 40], [true, false], [true, true, false], Tiles::PerInvocation),
        ([1, 80, 12, 33], plain, [true, true, false], Tiles::PerInvocation),
    ];
    let of = |half| {
        // Compiling takes seconds on some drivers, and only `float_of` and `half_of` differ.
        let count = if half == Half::F16 { products.len() } else { 4 };
        products.into_iter().take(count).map(move |(size, is_transposed, halves, tiles)| {
            Product { size, is_transposed, tiles, halves, has_matrices: false }.case(half)
        })
    };
    let others = |half| {
        let with_sums = |m| with_sums(half, [m, 41, 33], false);
        [scaled(half, 90, false), biased(half), with_sums(69), with_sums(301)]
    };
    let mut cases: Vec<Case> = FORMATS.into_iter().flat_map(of).collect();
    cases.extend(FORMATS.into_iter().flat_map(others));
    cases.extend([layer(Tiles::ManySmall, 10, false), layer(Tiles::FewLarge, 10, false)]);
    cases.extend([layer(Tiles::ManySmall, 12, true), scaled(Half::F16, 92, true)]);
    cases.extend([with_sums(Half::F16, [68, 41, 36], true), with_sums(Half::F16, [300, 41, 36], true)]);
    let is_of_matrices =
        |(_, _, halves, tiles): &(_, _, [bool; 3], _)| halves[..2] == [true; 2] && *tiles == Tiles::ManySmall;
    let turns = [[false, false], [false, true], [true, false], [true, true]];
    // Small tiles, then large ones.
    let more = [[2, 72, 44, 140], [64, 68, 36, 132]];
    let more = more.into_iter().flat_map(|size| turns.map(|turned| (size, turned, all, Tiles::ManySmall)));
    let of_matrices = products.into_iter().filter(is_of_matrices).chain(more);
    cases.extend(of_matrices.map(|(size, is_transposed, halves, tiles)| {
        Product { size, is_transposed, tiles, halves, has_matrices: true }.case(Half::F16)
    }));
    cases
}

/// (a · b) times a factor in halves for each result, as in the gradient of a layer.
fn scaled(half: Half, n: u32, has_matrices: bool) -> Case {
    let product = Product {
        size: [1, 75, 20, n],
        is_transposed: [false; 2],
        tiles: Tiles::ManySmall,
        halves: [true; 3],
        has_matrices,
    };
    let operands = product.operands();
    let factor = integers(5, 75 * n as usize);
    let out = product.result(&operands).iter().zip(&factor).map(|(x, factor)| x * factor).collect();
    let [a, b] = operands;
    let name = format!("scaled {}", product.name());
    converted(&name, half, &[(a, true), (b, true), (factor, true)], vec![(out, true)], |inputs, out| {
        let made = scratch(75 * n as usize);
        let producer = product.dispatch(inputs, made.clone());
        let program = Program::build(2, |x| x[0] * x[1]);
        let space = IterationSpace::flat([1, 1, 75, n]);
        let consumer = map::dispatch(program, space, vec![made, inputs[2].clone()], out[0].clone());
        map::MAP.fuse.expect("map fuses")(&producer, &consumer, 0).expect("an epilogue")
    })
}

/// A layer without a curve, whose bias stays in floats.
fn biased(half: Half) -> Case {
    let product = Product {
        size: [1, 70, 20, 34],
        is_transposed: [false; 2],
        tiles: Tiles::ManySmall,
        halves: [true; 3],
        has_matrices: false,
    };
    let operands = product.operands();
    let bias = integers(6, 34);
    let out = product.result(&operands).iter().enumerate().map(|(at, x)| x + bias[at % 34]).collect();
    let [a, b] = operands;
    converted("layer of halves", half, &[(a, true), (b, false), (bias, false)], vec![(out, true)], |inputs, out| {
        let operand = |at: usize| Operand { view: inputs[at].clone(), is_transposed: false, is_batched: false };
        let bias = Some(inputs[2].clone());
        matmul::layer(
            &device(Tiles::ManySmall),
            [70, 20, 34],
            [operand(0), operand(1)],
            bias,
            None,
            vec![out[0].clone()],
        )
    })
}

/// aᵀ · b and the sums of a's columns.
fn with_sums(half: Half, [m, k, n]: [u32; 3], has_matrices: bool) -> Case {
    let product = Product {
        size: [1, m, k, n],
        is_transposed: [true, false],
        tiles: Tiles::ManySmall,
        halves: [true, true, false],
        has_matrices,
    };
    let operands = product.operands();
    let sum = |column: usize| operands[0].iter().skip(column).step_by(m as usize).sum::<f32>();
    let sums = (0..m as usize).map(sum).collect();
    let outputs = vec![(product.result(&operands), false), (sums, false)];
    let [a, b] = operands;
    let name = format!("sums and {}", product.name());
    converted(&name, half, &[(a, true), (b, true)], outputs, |inputs, out| {
        let pair = |views: &[View]| [views[0].clone(), views[1].clone()];
        matmul::with_sums(&product.info(), [m, k, n], pair(inputs), pair(out))
    })
}

/// tanh(a · b) and its slope, both in f16.
fn layer(tiles: Tiles, k: u32, has_matrices: bool) -> Case {
    let halves = [has_matrices, has_matrices, true];
    let product = Product { size: [1, 1100, k, 36], is_transposed: [false; 2], tiles, halves, has_matrices };
    let [a, b] = product.operands();
    // Weights small enough for slopes that are not 0.
    let b: Vec<f32> = b.iter().map(|x| x / 16.0).collect();
    let operands = [a, b];
    let made: Vec<f64> = product.result(&operands).iter().map(|&z| f64::from(z).tanh()).collect();
    let slopes = made.iter().map(|y| 1.0 - y * y).collect();
    let expected = vec![Expected::Halves(made), Expected::Halves(slopes)];
    let sides = operands.map(|values| (values, has_matrices));
    let none = [(vec![0.0; 1100 * 36], true), (vec![0.0; 1100 * 36], true)];
    let given = given(Half::F16, &sides);
    // One unit of f16, because a device may round either way.
    case(format!("layer and slope {}", product.name()), within(9.8e-4, 6.2e-5), given, expected, |given, made| {
        merged(Half::F16, [&sides, &none], [given, made], |inputs, out| {
            let operand = |at: usize| Operand { view: inputs[at].clone(), is_transposed: false, is_batched: false };
            let curve = Some(Arc::new(Curve::build("tanh(x)", 1, |x| expr::tanh(x[0]))));
            let sizes = [1100, k, 36];
            matmul::layer(&product.info(), sizes, [operand(0), operand(1)], None, curve.as_ref(), out.to_vec())
        })
    })
}

/// Cases of `map`: x0 + x1 · x2, with x1 broadcast or one number and x2 strided.
pub(crate) fn of_maps() -> Vec<Case> {
    let of = |half| {
        [
            map_of(half, [1, 1, 37, 53], [0, 0, 0, 1], [0, 0, 1, 0], [true; 4]),
            map_of(half, [1, 1, 70, 33], [0; 4], [0, 0, 1, 70], [true, true, true, false]),
            map_of(half, [3, 4, 5, 6], [0, 6, 0, 1], [1, 3, 72, 12], [false, true, false, true]),
            map_of(half, [1, 9, 1, 300], [0, 0, 0, 2], [0, 600, 0, 2], [true; 4]),
            map_of(half, [1, 1, 1, 1], [0; 4], [0; 4], [true; 4]),
            map_of(half, [1, 1, 200, 333], [0, 0, 0, 1], [0, 0, 333, 1], [true; 4]),
        ]
    };
    FORMATS.into_iter().flat_map(of).collect()
}

fn map_of(half: Half, dims: [u32; 4], one: [u32; 4], two: [u32; 4], halves: [bool; 4]) -> Case {
    let mut space = IterationSpace { dims, strides: [[0; 4]; MAX_INPUTS] };
    space.strides[..3].copy_from_slice(&[natural(dims), one, two]);
    let length = |s: [u32; 4]| 1 + s.iter().zip(dims).map(|(s, d)| s * (d - 1)).sum::<u32>() as usize;
    let inputs: Vec<Side> = (0..3).map(|at| (integers(7 + at as u64, length(space.strides[at])), halves[at])).collect();
    let out = oracle::indices(dims).map(|c| {
        let read = |at: usize| inputs[at].0[c.iter().zip(space.strides[at]).map(|(c, s)| c * s).sum::<u32>() as usize];
        read(0) + read(1) * read(2)
    });
    let outputs = vec![(out.collect(), halves[3])];
    converted(&format!("halves {dims:?}"), half, &inputs, outputs, |inputs, out| {
        let program = Program::build(3, |x| x[0] + x[1] * x[2]);
        map::dispatch(program, space, inputs.to_vec(), out[0].clone())
    })
}
