//! Cases of `masked`: every scalar op over all pairs of critical bit patterns and over random ones, compared with f64 formulas and IEEE
//! results; chains, broadcasts, faults and sizes. Bits are compared exactly, on every device.

use super::{Operand, Planes, dispatch, plane_words, planes_words};
use crate::device::{Bound, Case, Expected};
use crate::kernels::evidence::{Numbers, case, within};
use crate::kernels::map::cases::{FORMULAS, Formula, ODD};
use crate::kernels::oracle;
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS, natural};
use crate::program::{Program, expr, op};

/// All cases.
pub fn cases() -> Vec<Case> {
    let rows =
        FORMULAS.iter().flat_map(|formula| [of_row(formula, "patterns", patterns), of_row(formula, "random", random)]);
    rows.chain(zeros()).chain([tiny_powers()]).chain(sizes()).chain([chain(), broadcast()]).collect()
}

/// Bit patterns at which a result changes; each is also used with the opposite sign.
const CRITICAL: &[u32] = &[
    0,
    1,
    2,
    0x20_0000,
    0x20_0001,
    0x7f_ffff,
    0x80_0000,
    0x80_0001,
    0x1a00_0000,
    0x1a00_0001,
    0x1f7f_ffff,
    0x1f80_0000,
    0x2000_0000,
    0x2000_0001,
    0x3727_c5ac,
    0x3c00_0000,
    0x3eff_ffff,
    0x3f00_0000,
    0x3f7f_ff8b,
    0x3f7f_ffff,
    0x3f80_0000,
    0x3f80_0001,
    0x3fc0_0000,
    0x4000_0000,
    0x4040_0000,
    0x42b1_7217,
    0x42b1_7218,
    0x42b2_d4fc,
    0x42b2_d4fd,
    0x42ff_ffff,
    0x4300_0000,
    0x4315_0000,
    0x4b80_0001,
    0x5f7f_ffff,
    0x5f80_0000,
    0x6000_0000,
    0x7445_3acb,
    0x7e00_0000,
    0x7eff_ffff,
    0x7f00_0000,
    0x7f34_0000,
    0x7f7f_fffe,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7f80_0001,
    0x7fc0_0000,
    0x7fff_ffff,
];

/// Whether a scalar op is mathematically defined at finite arguments.
fn is_inside(name: &str, x: &[f64]) -> bool {
    match name {
        "div" | "ratio" => x[1] != 0.0,
        "recip" => x[0] != 0.0,
        "ln" | "log2" | "rsqrt" => x[0] > 0.0,
        "sqrt" => x[0] >= 0.0,
        "log1p" => x[0] > -1.0,
        "pow" => (x[0] != 0.0 || x[1] >= 0.0) && (x[0] >= 0.0 || x[1] == x[1].floor()),
        "asin" | "acos" => x[0].abs() <= 1.0,
        // Restricted to the range of their masked forms.
        "gamma" | "lgamma" => x[0].abs() >= f64::from(f32::MIN_POSITIVE) && (x[0] > 0.0 || x[0] != x[0].floor()),
        "faddeeva_re" | "faddeeva_im" => x[1] >= 0.0,
        // Restricted to the range of its masked form.
        "polygamma" => {
            let is_order = (0.0..=4.0).contains(&x[0]) && x[0] == x[0].floor();
            is_order && x[1].abs() > f64::from(1e-7_f32) && (x[1] > 0.0 || x[1] != x[1].floor())
        }
        _ => true,
    }
}

/// The value at finite arguments, or the cause of ⊥: 1 undefined, 3 a fault.
fn total(formula: &Formula, x: &[f32]) -> Result<f64, u32> {
    let wide = oracle::wide(x);
    if !is_inside(formula.row.name, &wide) {
        return Err(1);
    }
    let y = (formula.value)(&wide);
    let has_slopes = formula.row.name != "ratio" || (x[0].abs() / (x[1] * x[1])).is_finite();
    if (y as f32).is_finite() && has_slopes { Ok(y) } else { Err(3) }
}

/// Columns of arguments for a scalar op: all pairs of critical patterns.
fn patterns(formula: &Formula) -> Vec<Vec<u32>> {
    let all: Vec<u32> = CRITICAL.iter().flat_map(|&word| [word, word | 0x8000_0000]).collect();
    match formula.row.arguments.len() {
        1 => vec![all],
        2 => {
            let pairs = || all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
            vec![pairs().map(|pair| pair.0).collect(), pairs().map(|pair| pair.1).collect()]
        }
        _ => (0..3).map(|at| (0..3 * all.len()).map(|k| all[k * (2 * at + 5) % all.len()]).collect()).collect(),
    }
}

/// Random patterns; for two arguments also pairs whose product or quotient is near the largest float.
fn random(formula: &Formula) -> Vec<Vec<u32>> {
    let mut numbers = Numbers::new(7);
    let mut columns: Vec<Vec<u32>> =
        formula.row.arguments.iter().map(|_| (0..2500).map(|_| numbers.word()).collect()).collect();
    if columns.len() == 2 {
        for k in 0..1200 {
            let a = f32::from_bits(columns[0][k]);
            let near = [f32::MAX / a, a / f32::MAX, (a.abs() / f32::MAX).sqrt(), 128.0 / a.abs().log2()][k % 4];
            columns[1][k] = near.to_bits().wrapping_add(numbers.word() % 7).wrapping_sub(3);
        }
    }
    columns
}

fn of_row(formula: &'static Formula, name: &str, arguments: fn(&Formula) -> Vec<Vec<u32>>) -> Case {
    let columns = arguments(formula);
    let count = columns[0].len();
    let mut numbers = Numbers::new(11);
    // A mask for the first argument, ⊥ and fault for the others.
    let kinds = [Planes::Bottom, Planes::Fault, Planes::Fault];
    let planes: Vec<Vec<u32>> = columns.iter().zip(kinds).map(|(_, kind)| sparse(&mut numbers, kind, count)).collect();
    let outcome = |i: usize| {
        let x: Vec<f32> = columns.iter().map(|column| f32::from_bits(column[i])).collect();
        let cause = |at: usize| operand(x[at], &planes[at], kinds[at] == Planes::Fault, count, i);
        (0..x.len()).map(cause).find(|&cause| cause != 0).map_or_else(|| total(formula, &x), Err)
    };
    let outcomes: Vec<Result<f64, u32>> = (0..count).map(outcome).collect();
    let inputs = columns.iter().chain(&planes).cloned().collect();
    let width = columns.len();
    let bound = match formula.bound {
        Bound::Exact => within(0.0, 2e-38),
        wider @ Bound::Within { .. } => wider,
    };
    case(format!("{} {name}", formula.row.name), bound, inputs, expected(&outcomes, true), |views, out| {
        let operand =
            |at: usize| Operand { values: views[at].clone(), planes: Some((kinds[at], views[width + at].clone())) };
        let operands: Vec<Operand> = (0..width).map(operand).collect();
        let space = IterationSpace::flat([1, 1, 1, count as u32]);
        dispatch(Program::op(formula.row), space, &operands, out[0].clone(), out[1].clone(), true)
    })
}

/// Odd functions: -0 gives -0.
fn zeros() -> impl Iterator<Item = Case> {
    let words = [(-0.0_f32).to_bits(), 0].to_vec();
    ODD.iter().map(move |&row| {
        let expected = vec![Expected::Words(words.clone()), Expected::Words(vec![0])];
        over_columns(
            format!("{} zeros", row.name),
            Bound::Exact,
            std::slice::from_ref(&words),
            expected,
            Program::op(row),
        )
    })
}

/// Powers of a subnormal size, and of subnormal numbers, to one unit.
fn tiny_powers() -> Case {
    let points: [[f32; 2]; 14] = [
        [1e-20, 2.0],
        [2.0, -127.0],
        [2.0, -149.0],
        [2.0, -150.0],
        [0.5, 149.0],
        [-2.0, -141.0],
        [-2.0, -140.0],
        [-1e-14, 3.0],
        [1e30, -1.4],
        [1e-45, 1.0],
        [-1e-40, 1.0],
        [1e-40, 0.5],
        [3.0, 1e-40],
        [1e-42, -1e-42],
    ];
    let columns = [0, 1].map(|at| points.map(|point| point[at].to_bits()).to_vec());
    let outcomes: Vec<_> = points.map(|[a, b]| Ok(f64::from(a).powf(f64::from(b)))).into();
    let bound = within(2e-5, f64::from(f32::from_bits(1)));
    over_columns("pow subnormal".into(), bound, &columns, expected(&outcomes, false), Program::op(&op::POW))
}

/// A case over columns without planes or faults.
fn over_columns(name: String, bound: Bound, columns: &[Vec<u32>], expected: Vec<Expected>, program: Program) -> Case {
    case(name, bound, columns.to_vec(), expected, |views, out| {
        let operands: Vec<_> = views.iter().map(|view| Operand { values: view.clone(), planes: None }).collect();
        let space = IterationSpace::flat([1, 1, 1, columns[0].len() as u32]);
        dispatch(program, space, &operands, out[0].clone(), out[1].clone(), false)
    })
}

/// Planes in which one element in eight is ⊥, half of these by a fault; tail bits are 0.
fn sparse(numbers: &mut Numbers, kind: Planes, count: usize) -> Vec<u32> {
    let mut words = vec![0; planes_words(kind, count)];
    for i in 0..count {
        let draw = numbers.word();
        words[i / 32] |= u32::from(draw.is_multiple_of(8)) << (i % 32);
        if kind == Planes::Fault {
            words[plane_words(count) + i / 32] |= u32::from(draw.is_multiple_of(16)) << (i % 32);
        }
    }
    words
}

/// The cause of an operand's ⊥, or 0.
fn operand(x: f32, planes: &[u32], has_fault: bool, count: usize, i: usize) -> u32 {
    let bit = |at: usize| planes[at + i / 32] >> (i % 32) & 1;
    match bit(0) {
        1 if has_fault => 1 | bit(plane_words(count)) << 1,
        1 => 1,
        _ => u32::from(!x.is_finite()) * 3,
    }
}

/// Values (0 under ⊥) and planes of a column of outcomes.
fn expected(outcomes: &[Result<f64, u32>], has_fault: bool) -> Vec<Expected> {
    let count = outcomes.len();
    let kind = if has_fault { Planes::Fault } else { Planes::Bottom };
    let mut words = vec![0xdead_beef; planes_words(kind, count)];
    words[..count.div_ceil(32)].fill(0);
    if has_fault {
        words[plane_words(count)..].fill(0);
    }
    for (i, outcome) in outcomes.iter().enumerate() {
        let cause = outcome.err().unwrap_or(0);
        words[i / 32] |= (cause & 1) << (i % 32);
        if has_fault {
            words[plane_words(count) + i / 32] |= (cause >> 1) << (i % 32);
        }
    }
    vec![Expected::Floats(outcomes.iter().map(|outcome| outcome.unwrap_or(0.0)).collect()), Expected::Words(words)]
}

/// One element, a word, a workgroup and one more, and many workgroups: a / b without planes or faults.
fn sizes() -> Vec<Case> {
    let sized = |name: &str, count: usize| {
        let mut numbers = Numbers::new(count as u64);
        let mut draw = |_| if numbers.word().is_multiple_of(5) { 0.0 } else { numbers.floats(1)[0] };
        let columns: Vec<Vec<f32>> = (0..2).map(|_| (0..count).map(&mut draw).collect()).collect();
        let quotient = |i: usize| {
            let (a, b) = (columns[0][i], columns[1][i]);
            if b == 0.0 { Err(1) } else { Ok(f64::from(a) / f64::from(b)) }
        };
        let outcomes: Vec<_> = (0..count).map(quotient).collect();
        let inputs: Vec<_> = columns.iter().map(|column| column.iter().map(|x| x.to_bits()).collect()).collect();
        let program = Program::build(2, |v| v[0] / v[1]);
        over_columns(name.into(), within(4e-7, 1e-37), &inputs, expected(&outcomes, false), program)
    };
    vec![
        sized("one", 1),
        sized("a word", 32),
        sized("a word and one", 33),
        sized("a workgroup and one", 1025),
        sized("a tile and a bit", 2051),
        sized("many", 300_007),
    ]
}

/// ln(a / b) + b · b: a chain in one launch.
fn chain() -> Case {
    let count = 5000;
    let mut numbers = Numbers::new(17);
    let mut draw = |_| if numbers.word().is_multiple_of(9) { 0.0 } else { 4.0 * numbers.floats(1)[0] };
    let columns: Vec<Vec<f32>> = (0..2).map(|_| (0..count).map(&mut draw).collect()).collect();
    let outcome = |i: usize| {
        let (a, b) = (f64::from(columns[0][i]), f64::from(columns[1][i]));
        if a * b > 0.0 { Ok((a / b).ln() + b * b) } else { Err(1) }
    };
    let outcomes: Vec<_> = (0..count).map(outcome).collect();
    let inputs = columns.iter().map(|column| column.iter().map(|x| x.to_bits()).collect()).collect();
    case("chain", within(1e-6, 5e-6), inputs, expected(&outcomes, true), |views, out| {
        let operand = |at: usize| Operand { values: views[at].clone(), planes: None };
        let program = Program::build(2, |v| expr::ln(v[0] / v[1]) + v[1] * v[1]);
        let space = IterationSpace::flat([1, 1, 1, count as u32]);
        dispatch(program, space, &[operand(0), operand(1)], out[0].clone(), out[1].clone(), true)
    })
}

/// c ? a : b over [7, 9, 33] with a row, a column and a scalar, each with planes.
fn broadcast() -> Case {
    let dims = [1, 7, 9, 33];
    let shapes: [([u32; 4], usize); 3] = [([0, 0, 0, 1], 33), ([0, 9, 1, 0], 63), ([0, 0, 0, 0], 1)];
    let mut numbers = Numbers::new(23);
    let mut space = IterationSpace { dims, strides: [natural(dims); MAX_INPUTS] };
    let mut inputs = Vec::new();
    for (at, (strides, length)) in shapes.iter().enumerate() {
        space.strides[at] = *strides;
        inputs.push(
            (0..*length)
                .map(|_| if numbers.word().is_multiple_of(3) { 0 } else { numbers.floats(1)[0].to_bits() })
                .collect(),
        );
    }
    inputs.extend(shapes.map(|(_, length)| sparse(&mut numbers, Planes::Fault, length)));
    let outcome = |c: [u32; 4]| {
        let place = |at: usize| c.iter().zip(shapes[at].0).map(|(c, s)| c * s).sum::<u32>() as usize;
        let x = [0, 1, 2].map(|at| f32::from_bits(inputs[at][place(at)]));
        let cause = |at: usize| operand(x[at], &inputs[3 + at], true, shapes[at].1, place(at));
        let bottom = (0..3).map(cause).find(|&cause| cause != 0);
        bottom.map_or(Ok(f64::from(if x[0] == 0.0 { x[2] } else { x[1] })), Err)
    };
    let outcomes: Vec<_> = oracle::indices(dims).map(outcome).collect();
    case("broadcast", Bound::Exact, inputs, expected(&outcomes, true), |views, out| {
        let operand =
            |at: usize| Operand { values: views[at].clone(), planes: Some((Planes::Fault, views[3 + at].clone())) };
        let program = Program::build(3, |v| expr::select(v[0], v[1], v[2]));
        dispatch(program, space, &[0, 1, 2].map(operand), out[0].clone(), out[1].clone(), true)
    })
}
