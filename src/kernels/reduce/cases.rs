//! Cases of `reduce`: every join over whole, inner, middle and outer extents, in chunks, and with prologues.

use crate::device::{Bound, Case, Expected};
use crate::kernels::evidence::{Numbers, case, scratch, within, words};
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS, natural};
use crate::kernels::reduce::{Join, REDUCE, dispatch};
use crate::kernels::{map, oracle};
use crate::program::{Program, expr, op};

/// All cases.
pub fn cases() -> Vec<Case> {
    let shapes: [(&str, [u32; 3], u32); 12] = [
        ("one", [1, 1, 1], 1),
        ("one per lane", [300, 5, 1], 5),
        ("a workgroup less one", [3, 127, 1], 127),
        ("a workgroup", [3, 128, 1], 128),
        ("a workgroup and one", [1, 129, 1], 129),
        ("whole", [1, 10_007, 1], 10_007),
        ("rows", [37, 1000, 1], 1000),
        ("columns", [1, 130, 77], 130),
        ("middle", [3, 40, 50], 40),
        ("short columns", [1, 7, 300], 7),
        ("chunks", [2, 1000, 3], 300),
        ("chunks of a long row", [1, 100_000, 1], 1024),
    ];
    let joined = |join: Join| shapes.map(|(name, shape, chunk)| plain(name, join, shape, chunk, 1.0));
    let all = [Join::Sum, Join::Max, Join::Argmax].into_iter().flat_map(joined);
    let mean = plain("mean", Join::Sum, [20, 333, 4], 333, 1.0 / 333.0);
    let many = plain("past 65,535 workgroups", Join::Max, [65_537, 33, 1], 33, 1.0);
    all.chain([mean, many, empty(), ties(), prologue(), fused()]).collect()
}

/// Joins `value` over chunks of the middle of [outer, extent, inner].
fn joined(join: Join, value: &[f64], [outer, extent, inner]: [u32; 3], chunk: u32, scale: f64) -> Expected {
    let (mut floats, mut places) = (Vec::new(), Vec::new());
    for o in 0..outer {
        for first in (0..extent).step_by(chunk as usize) {
            for i in 0..inner {
                let at = |r: u32| value[((o * extent + r) * inner + i) as usize];
                let chunk = first..extent.min(first + chunk);
                let best = chunk.clone().fold(first, |best, r| if at(r) > at(best) { r } else { best });
                floats.push(if join == Join::Sum { chunk.map(at).sum::<f64>() * scale } else { at(best) });
                places.push(best);
            }
        }
    }
    if join == Join::Argmax { Expected::Words(places) } else { Expected::Floats(floats) }
}

/// Numbers below 1 summed in f32 in runs of at most a hundred: each rounds by about 2e-7 and errors add like √chunk.
/// The others are exact.
fn bound(join: Join, chunk: u32) -> Bound {
    if join == Join::Sum { within(1e-6, 5e-7 * f64::from(chunk).sqrt()) } else { Bound::Exact }
}

fn plain(name: &str, join: Join, shape: [u32; 3], chunk: u32, scale: f32) -> Case {
    let count = shape.iter().product::<u32>();
    let x = Numbers::new(11).floats(count as usize);
    let expected = joined(join, &oracle::wide(&x), shape, chunk, f64::from(scale));
    let program = Program::build(1, |x| x[0]);
    let name = format!("{join:?} {name}");
    case(name, bound(join, chunk), vec![words(&x)], vec![expected], |inputs, out| {
        dispatch(
            join,
            program,
            IterationSpace::flat([1, 1, 1, count]),
            shape,
            chunk,
            scale,
            inputs.to_vec(),
            out[0].clone(),
        )
    })
}

/// The sum over nothing is 0.
fn empty() -> Case {
    let program = Program::build(1, |x| x[0]);
    case("sum of nothing", Bound::Exact, vec![Vec::new()], vec![Expected::Floats(vec![0.0; 5])], |inputs, out| {
        let space = IterationSpace::flat([1, 5, 0, 1]);
        dispatch(Join::Sum, program, space, [5, 0, 1], 0, 1.0, inputs.to_vec(), out[0].clone())
    })
}

/// Of equal values the first counts, even if lanes see them out of order.
fn ties() -> Case {
    let x: Vec<f32> = (0..3000_u16).map(|i| f32::from(i % 1000 / 3 % 7)).collect();
    let expected = joined(Join::Argmax, &oracle::wide(&x), [3, 1000, 1], 1000, 1.0);
    case("ties", Bound::Exact, vec![words(&x)], vec![expected], |inputs, out| {
        let program = Program::build(1, |x| x[0]);
        let space = IterationSpace::flat([1, 1, 3, 1000]);
        dispatch(Join::Argmax, program, space, [3, 1000, 1], 1000, 1.0, inputs.to_vec(), out[0].clone())
    })
}

/// Σ over columns of (a - b)², where b is one row for all.
fn prologue() -> Case {
    let mut numbers = Numbers::new(13);
    let (a, b) = (numbers.floats(40 * 90), numbers.floats(90));
    let square = |(at, &a): (usize, &f32)| (f64::from(a) - f64::from(b[at % 90])).powi(2);
    let value: Vec<f64> = a.iter().enumerate().map(square).collect();
    let expected = joined(Join::Sum, &value, [40, 90, 1], 90, 1.0);
    case("prologue", bound(Join::Sum, 90), vec![words(&a), words(&b)], vec![expected], |inputs, out| {
        let dims = [1, 1, 40, 90];
        let mut space = IterationSpace { dims, strides: [[0; 4]; MAX_INPUTS] };
        space.strides[..2].copy_from_slice(&[natural(dims), [0, 0, 0, 1]]);
        let program = Program::build(2, |x| expr::square(x[0] - x[1]));
        dispatch(Join::Sum, program, space, [40, 90, 1], 90, 1.0, inputs.to_vec(), out[0].clone())
    })
}

/// max(a · b) per column, the product merged into the reduction.
fn fused() -> Case {
    let mut numbers = Numbers::new(17);
    let (a, b) = (numbers.floats(600), numbers.floats(600));
    let value: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| f64::from(a) * f64::from(b)).collect();
    let expected = joined(Join::Max, &value, [1, 30, 20], 30, 1.0);
    case("fused", within(1.2e-7, 0.0), vec![words(&a), words(&b)], vec![expected], |inputs, out| {
        let (space, product) = (IterationSpace::flat([1, 1, 30, 20]), scratch(600));
        let producer = map::dispatch(Program::op(&op::MUL), space, inputs.to_vec(), product.clone());
        let program = Program::build(1, |x| x[0]);
        let consumer = dispatch(Join::Max, program, space, [1, 30, 20], 30, 1.0, vec![product], out[0].clone());
        REDUCE.fuse.expect("reduce fuses")(&producer, &consumer, 0)
            .expect("a reader with natural strides inlines its producer")
    })
}
