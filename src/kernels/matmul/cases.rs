//! Cases of `matmul`: transposes, batches, sizes around every tile edge, epilogues.

use crate::device::{Bound, Case, Dispatch, Expected, Tiles, View};
use crate::kernels::evidence::{Numbers, case, device, scratch, within, words};
use crate::kernels::matmul::{self, Operand, dispatch};
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS, natural};
use crate::kernels::{halves, map};
use crate::program::{Curve, Program, expr};
use std::sync::Arc;

/// All cases.
pub fn cases() -> Vec<Case> {
    let sizes = [
        [1, 1, 1, 1],
        [1, 1, 7, 1],
        [1, 3, 0, 5],
        [1, 3, 0, 150],
        [1, 64, 16, 64],
        [1, 65, 17, 66],
        [1, 128, 64, 128],
        [1, 129, 33, 257],
        [1, 1, 300, 200],
        [1, 200, 300, 1],
        [1, 256, 5, 64],
        [1, 64, 64, 1],
        [1, 97, 1000, 51],
        [3, 20, 30, 40],
        [7, 5, 64, 9],
        [2, 132, 68, 260],
        [5, 140, 130, 140],
    ];
    let square = [1, 36, 52, 44];
    let plain = sizes.map(|size| product(Product { size, ..PLAIN }));
    let stored = [[false, true], [true, false], [true, true]].into_iter().flat_map(|is_transposed| {
        [square, [1, 67, 35, 131], [3, 20, 33, 18]].map(|size| product(Product { size, is_transposed, ..PLAIN }))
    });
    let shared = [
        product(Product { size: [4, 30, 20, 10], is_shared: [true, false], ..PLAIN }),
        product(Product { size: [4, 30, 20, 10], is_shared: [false, true], ..PLAIN }),
    ];
    let deep = [[1, 2, 1500, 40], [1, 70, 1100, 33], [1, 9, 2049, 70]]
        .map(|size| product(Product { size, is_transposed: [false, true], ..PLAIN }));
    let epilogues = [
        bias_and_relu(Tiles::ManySmall),
        bias_and_relu(Tiles::FewLarge),
        bias_and_relu(Tiles::PerInvocation),
        two_epilogues(),
        same_twice(),
        scaled([3, 20, 31]),
        scaled([75, 40, 90]),
    ];
    let silu = Some(sigmoid_weighted());
    let layers = [
        layer([1, 5, 64], true, silu.clone(), 1, Tiles::ManySmall),
        layer([80, 33, 70], true, silu.clone(), 2, Tiles::ManySmall),
        layer([80, 70, 33], true, silu.clone(), 2, Tiles::PerInvocation),
        layer([3, 300, 37], true, silu.clone(), 2, Tiles::ManySmall),
        layer([150, 20, 130], false, silu, 2, Tiles::ManySmall),
        layer([150, 1030, 17], true, None, 1, Tiles::ManySmall),
    ];
    let sums = [
        with_sums([1, 1, 1], Tiles::ManySmall),
        with_sums([64, 0, 64], Tiles::ManySmall),
        with_sums([64, 256, 5], Tiles::ManySmall),
        with_sums([131, 70, 66], Tiles::ManySmall),
        with_sums([600, 70, 9], Tiles::ManySmall),
        with_sums([70, 33, 65], Tiles::FewLarge),
        with_sums([300, 70, 33], Tiles::PerInvocation),
    ];
    let splits = [Tiles::FewLarge, Tiles::PerInvocation].into_iter().flat_map(split);
    plain
        .into_iter()
        .chain(stored)
        .chain(shared)
        .chain(splits)
        .chain(deep)
        .chain(epilogues)
        .chain(layers)
        .chain(sums)
        .chain(halves::cases::of_products())
        .collect()
}

/// x / (1 + e^-x), as a formula.
fn sigmoid_weighted() -> Arc<Curve> {
    Arc::new(Curve::build("x * sigmoid(x)", 1, |x| x[0] * expr::sigmoid(x[0])))
}

/// f(a · bᵀ + bias) and its slope, for f = `sigmoid_weighted` or the identity.
fn layer(size: [u32; 3], has_bias: bool, curve: Option<Arc<Curve>>, outputs: usize, tiles: Tiles) -> Case {
    let [m, k, n] = size;
    let product = Product { size: [1, m, k, n], is_transposed: [false, true], ..PLAIN };
    let ((a, b), bias) = (product.operands(), Numbers::new(11).floats(n as usize));
    // Small weights: the slope of a large z is 0 or 1, whatever z is.
    let b: Vec<f32> = b.iter().map(|b| b / (k as f32).sqrt()).collect();
    let sums = product.oracle(&a, &b).into_iter().enumerate();
    let sums = sums.map(|(at, z)| if has_bias { z + f64::from(bias[at % n as usize]) } else { z });
    let both = sums.map(|z| {
        let s = 1.0 / (1.0 + (-z).exp());
        if curve.is_some() { (z * s, s + z * s * (1.0 - s)) } else { (z, 1.0) }
    });
    let (values, slopes): (Vec<f64>, Vec<f64>) = both.unzip();
    let expected = [values, slopes].into_iter().take(outputs).map(Expected::Floats).collect();
    let mut inputs = vec![words(&a), words(&b)];
    if has_bias {
        inputs.push(words(&bias));
    }
    let name =
        format!("layer {m} x {k} x {n}, bias {has_bias}, curve {}, outputs {outputs}{}", curve.is_some(), note(tiles));
    case(name, within(2e-5, 2e-5), inputs, expected, |inputs, out| {
        let operand = |at: usize, is_transposed| Operand { view: inputs[at].clone(), is_transposed, is_batched: false };
        let operands = [operand(0, false), operand(1, true)];
        matmul::layer(&device(tiles), size, operands, inputs.get(2).cloned(), curve.as_ref(), out.to_vec())
    })
}

/// aᵀ · b and the sums of a's columns.
fn with_sums([m, k, n]: [u32; 3], tiles: Tiles) -> Case {
    let product = Product { size: [1, m, k, n], tiles, is_transposed: [true, false], ..PLAIN };
    let (a, b) = product.operands();
    let sum = |column: usize| a.iter().skip(column).step_by(m as usize).map(|&x| f64::from(x)).sum();
    let sums = (0..m as usize).map(sum).collect();
    let expected = vec![Expected::Floats(product.oracle(&a, &b)), Expected::Floats(sums)];
    let name = format!("{m} x {k} x {n} with sums{}", note(tiles));
    case(name, bound(k), vec![words(&a), words(&b)], expected, |inputs, out| {
        let pair = |views: &[View]| [views[0].clone(), views[1].clone()];
        matmul::with_sums(&device(tiles), [m, k, n], pair(inputs), pair(out))
    })
}

/// (a · b) times a factor for each result.
fn scaled([m, k, n]: [u32; 3]) -> Case {
    let product = Product { size: [1, m, k, n], ..PLAIN };
    let ((a, b), factor) = (product.operands(), Numbers::new(13).floats((m * n) as usize));
    let expected = product.oracle(&a, &b).iter().zip(&factor).map(|(x, f)| x * f64::from(*f)).collect();
    let inputs = vec![words(&a), words(&b), words(&factor)];
    case(format!("scaled {m} x {k} x {n}"), bound(k), inputs, vec![Expected::Floats(expected)], |inputs, out| {
        let made = scratch((m * n) as usize);
        let producer = product.dispatch(inputs, made.clone());
        let program = Program::build(2, |x| x[0] * x[1]);
        let space = IterationSpace::flat([1, 1, m, n]);
        merged(&producer, &map::dispatch(program, space, vec![made, inputs[2].clone()], out[0].clone()), 0)
    })
}

/// Another split than that of GPUs: drivers take seconds to compile it, so only a few layouts are tested.
fn split(tiles: Tiles) -> impl Iterator<Item = Case> {
    let plain = [[1, 3, 0, 5], [1, 129, 33, 257], [2, 132, 68, 260], [1, 300, 5, 3], [1, 65, 12, 40], [1, 70, 0, 5]];
    let plain = plain.map(|size| Product { size, tiles, ..PLAIN });
    let turned = |size, is_transposed| Product { size, tiles, is_transposed, ..PLAIN };
    let turned = [
        turned([1, 68, 35, 132], [true, false]),
        turned([3, 33, 36, 65], [false, true]),
        turned([1, 72, 150, 36], [true, true]),
    ];
    plain.into_iter().chain(turned).map(product)
}

#[derive(Clone, Copy)]
struct Product {
    size: [u32; 4],
    tiles: Tiles,
    /// Of a and of b.
    is_transposed: [bool; 2],
    is_shared: [bool; 2],
}

const PLAIN: Product =
    Product { size: [1; 4], tiles: Tiles::ManySmall, is_transposed: [false; 2], is_shared: [false; 2] };

impl Product {
    fn name(&self) -> String {
        let Self { size: [batch, m, k, n], .. } = self;
        let mark = |is_set: bool, mark: &'static str| if is_set { mark } else { "" };
        let (at, bt) = (mark(self.is_transposed[0], "T"), mark(self.is_transposed[1], "T"));
        let (shared_a, shared_b) = (mark(self.is_shared[0], " one a"), mark(self.is_shared[1], " one b"));
        let split = note(self.tiles);
        format!("{batch} x [{m}, {k}]{at} x [{k}, {n}]{bt}{shared_a}{shared_b}{split}")
    }

    fn operands(&self) -> (Vec<f32>, Vec<f32>) {
        let [batch, m, k, n] = self.size.map(|size| size as usize);
        let batches = |is_shared: bool| if is_shared { 1 } else { batch };
        let mut numbers = Numbers::new((m * 1000 + n) as u64);
        (numbers.floats(batches(self.is_shared[0]) * m * k), numbers.floats(batches(self.is_shared[1]) * k * n))
    }

    /// Σ_p a[z, i, p] b[z, p, j], with each operand read in its own layout.
    fn oracle(&self, a: &[f32], b: &[f32]) -> Vec<f64> {
        let [batch, m, k, n] = self.size.map(|size| size as usize);
        let mut out = Vec::new();
        for z in 0..batch {
            let a = &a[if self.is_shared[0] { 0 } else { z * m * k }..];
            let b = &b[if self.is_shared[1] { 0 } else { z * k * n }..];
            for i in 0..m {
                for j in 0..n {
                    let left = |p: usize| f64::from(a[if self.is_transposed[0] { p * m + i } else { i * k + p }]);
                    let right = |p: usize| f64::from(b[if self.is_transposed[1] { j * k + p } else { p * n + j }]);
                    out.push((0..k).map(|p| left(p) * right(p)).sum());
                }
            }
        }
        out
    }

    fn dispatch(&self, inputs: &[View], out: View) -> Dispatch {
        let operand = |view: &View, is_transposed, is_shared: bool| Operand {
            view: view.clone(),
            is_transposed,
            is_batched: !is_shared,
        };
        let a = operand(&inputs[0], self.is_transposed[0], self.is_shared[0]);
        let b = operand(&inputs[1], self.is_transposed[1], self.is_shared[1]);
        dispatch(&device(self.tiles), self.size, a, b, out)
    }
}

/// Which split is tested, for the name of a case.
fn note(tiles: Tiles) -> &'static str {
    match tiles {
        Tiles::ManySmall => "",
        Tiles::FewLarge => " fewlarge",
        Tiles::PerInvocation => " perinvocation",
    }
}

/// k products of numbers below 1 in one f32 sum: √k roundings of a partial sum of size √k / 3 are 2e-8 · k in the middle.
fn bound(k: u32) -> Bound {
    within(1e-6, 1e-7 * f64::from(k.max(4)))
}

fn product(product: Product) -> Case {
    let (a, b) = product.operands();
    let expected = vec![Expected::Floats(product.oracle(&a, &b))];
    case(product.name(), bound(product.size[2]), vec![words(&a), words(&b)], expected, |inputs, out| {
        product.dispatch(inputs, out[0].clone())
    })
}

/// relu(a · b + bias), the map merged into the product.
fn bias_and_relu(tiles: Tiles) -> Case {
    let product = Product { size: [1, 70, 40, 90], tiles, ..PLAIN };
    let ((a, b), bias) = (product.operands(), Numbers::new(7).floats(90));
    let plain = product.oracle(&a, &b);
    let expected = plain.iter().enumerate().map(|(at, x)| (x + f64::from(bias[at % 90])).max(0.0)).collect();
    let inputs = vec![words(&a), words(&b), words(&bias)];
    let name = format!("bias and relu{}", note(tiles));
    case(name, bound(40), inputs, vec![Expected::Floats(expected)], |inputs, out| {
        let made = scratch(70 * 90);
        let producer = product.dispatch(inputs, made.clone());
        let program = Program::build(2, |x| expr::relu(x[0] + x[1]));
        let space = over_rows([1, 1, 70, 90]);
        let consumer = map::dispatch(program, space, vec![made, inputs[2].clone()], out[0].clone());
        merged(&producer, &consumer, 0)
    })
}

/// tanh(2 a · b) + bias, merged in two steps: the second must keep the first epilogue.
fn two_epilogues() -> Case {
    let product = Product { size: [2, 17, 23, 31], ..PLAIN };
    let ((a, b), bias) = (product.operands(), Numbers::new(9).floats(31));
    let plain = product.oracle(&a, &b);
    let expected = plain.iter().enumerate().map(|(at, x)| (2.0 * x).tanh() + f64::from(bias[at % 31])).collect();
    let inputs = vec![words(&a), words(&b), words(&bias)];
    case("two epilogues", within(1e-5, 1e-6), inputs, vec![Expected::Floats(expected)], |inputs, out| {
        let (made, squashed) = (scratch(2 * 17 * 31), scratch(2 * 17 * 31));
        let producer = product.dispatch(inputs, made.clone());
        let program = Program::build(1, |x| expr::tanh(x[0] * 2.0));
        let space = over_rows([1, 2, 17, 31]);
        let first = merged(&producer, &map::dispatch(program, space, vec![made], squashed.clone()), 0);
        let program = Program::build(2, |x| x[0] + x[1]);
        let second = map::dispatch(program, space, vec![squashed, inputs[2].clone()], out[0].clone());
        merged(&first, &second, 0)
    })
}

/// (a · b) (a · b + 1): the reader uses the product twice.
fn same_twice() -> Case {
    let product = Product { size: [1, 30, 10, 30], ..PLAIN };
    let (a, b) = product.operands();
    let expected = product.oracle(&a, &b).iter().map(|x| x * (x + 1.0)).collect();
    case(
        "same twice",
        within(1e-5, 1e-6),
        vec![words(&a), words(&b)],
        vec![Expected::Floats(expected)],
        |inputs, out| {
            let made = scratch(900);
            let producer = product.dispatch(inputs, made.clone());
            let program = Program::build(2, |x| x[0] * (x[1] + 1.0));
            let space = IterationSpace::flat([1, 1, 30, 30]);
            merged(&producer, &map::dispatch(program, space, vec![made.clone(), made], out[0].clone()), 0)
        },
    )
}

/// A full first input, and a second input of one row for all rows.
fn over_rows(dims: [u32; 4]) -> IterationSpace {
    let mut space = IterationSpace { dims, strides: [[0; 4]; MAX_INPUTS] };
    space.strides[..2].copy_from_slice(&[natural(dims), [0, 0, 0, 1]]);
    space
}

fn merged(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Dispatch {
    map::MAP.fuse.expect("map fuses")(producer, consumer, at)
        .expect("a reader with natural strides becomes the epilogue")
}
