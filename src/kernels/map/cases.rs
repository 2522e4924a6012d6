//! Cases of `map`: every scalar op over its domain and, from the same f64 formulas, every partial derivative; then broadcasts, strides, sizes.

use crate::device::{Bound, Case, Expected};
use crate::kernels::evidence::{Numbers, case, scratch, within, words};
use crate::kernels::halves;
use crate::kernels::map::{MAP, dispatch};
use crate::kernels::oracle;
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS, natural};
use crate::math::special;
use crate::program::{Expr, Program, ScalarOp, expr, op};

/// All cases.
pub fn cases() -> Vec<Case> {
    let rows = FORMULAS.iter().flat_map(|formula| std::iter::once(formula.values()).chain(formula.slopes()));
    rows.chain(zeros())
        .chain(not_numbers())
        .chain(layouts())
        .chain([fused()])
        .chain(in_place())
        .chain(sizes())
        .chain(halves::cases::of_maps())
        .collect()
}

/// The f64 formula of a scalar op, the points at which it is checked, and the allowed error of an implementation.
pub(crate) struct Formula {
    pub(crate) row: &'static ScalarOp,
    pub(crate) value: fn(&[f64]) -> f64,
    domain: &'static [&'static [f32]],
    pub(crate) bound: Bound,
}

/// Zero, ordinary, tiny and large.
const ANY: &[f32] = &[
    0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, -1.5, 0.3, -0.2, 7.0, 1e-4, -3e-3, 1e-30, -1e-30, 17.25, -300.0, 1e30,
    -1e30,
];
const FEW: &[f32] = &[0.0, 1.0, -1.0, 0.25, -3.5, 1e-30, -1e30];
/// Both sides of every switch point in the WGSL formulas, up to where e^x is still a float.
const SMOOTH: &[f32] = &[
    0.0, 1e-30, 1e-6, -1e-6, 1e-3, -1e-3, 0.1, -0.1, 0.24, -0.24, 0.26, -0.26, 0.34, -0.34, 0.36, -0.36, 0.49, -0.49,
    0.51, -0.51, 1.0, -1.0, 1.7, -1.7, 3.0, -3.0, 5.5, -5.5, 9.9, -9.9, 10.1, -10.1, 20.0, -20.0, 80.0, -80.0,
];
/// Denser near 1, where logarithms cancel.
const POSITIVE: &[f32] = &[
    1e-30, 1e-6, 0.3, 0.51, 0.71, 0.999, 0.999993, 0.99999994, 1.0, 1.0000001, 1.00001, 1.001, 1.41, 1.5, 1.99, 2.5,
    17.25, 1e6, 1e30,
];
const ANGLES: &[f32] = &[
    0.0, 1e-30, 1e-3, -0.7, 0.7853982, 1.2, -1.5, 1.7, 2.9, -3.1415927, 4.0, 5.5, -6.2831855, 20.0, 100.5, -777.25,
    1000.0,
];
const AWAY: &[f32] = &[1.0, -1.0, 0.5, -2.5, 0.3, 7.0, 17.25, -300.0];
const GENTLE: &[f32] = &[0.0, 1e-3, -0.7, 1.0, -1.2, 1.9, 2.9, 3.3, -4.0];
const UNIT: &[f32] = &[0.0, 1e-30, 1e-3, -0.2, 0.49, -0.51, 0.7, 0.9, -0.99, 0.9999];
const TAIL: &[f32] = &[0.0, 1e-6, -0.3, 0.49, 0.51, -1.0, 1.7, 2.9, 3.9, 4.1, 6.5, 9.0, -5.0];
/// Away from the poles at 0, -1, …
const FACTORIAL: &[f32] =
    &[1e-3, 0.3, 0.5, 0.99, 1.0, 1.01, 1.4616, 1.99, 2.0, 2.5, 6.0, 12.3, 33.0, -0.5, -1.3, -2.75];
const WIDTHS: &[f32] = &[0.0, 0.01, -0.3, 0.26, 1.0, -2.5, 4.0, 7.5, -30.0, 1e3];
const WIDTHS_ABOVE: &[f32] = &[0.01, 0.3, 1.0, 3.5, 20.0, 1e3];
const BASES: &[f32] = &[0.0, 0.3, 1.0, 2.5, 17.25, -2.0, -0.5, 0.87, 0.9999, 1.0001, 1.3, 1.74, 1e-30, 1e30];
const POWERS: &[f32] = &[0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -1.5, 2.5, 10.0, 1.2, -61.7, 300.0];

const EXACT: Bound = Bound::Exact;
/// One rounding; the absolute part allows devices to flush subnormals.
const ROUNDED: Bound = Bound::Within { relative: 1.2e-7, absolute: 1e-37 };
/// WGSL allows a division an error of 2.5 units in the last place.
const DIVIDED: Bound = Bound::Within { relative: 3.6e-7, absolute: 1e-37 };
/// WGSL allows e^x an error of 3 + 2 |x| units; |x| <= 80 here.
const EXPONENTIAL: Bound = Bound::Within { relative: 2e-5, absolute: 1e-37 };
/// A function of this crate on every device but the CPU, within 4 units in the last place.
const POWER: Bound = Bound::Within { relative: 4.8e-7, absolute: 1e-37 };
/// WGSL allows a logarithm an error of 3 units, but between 1/2 and 2, where this crate has a polynomial.
const LOGARITHM: Bound = Bound::Within { relative: 1e-6, absolute: 1e-37 };
/// Polynomials of this crate, a few roundings each.
const POLYNOMIAL: Bound = Bound::Within { relative: 2e-6, absolute: 1e-37 };
/// Values of order one, computed from e^x.
const SATURATING: Bound = Bound::Within { relative: 2e-6, absolute: 3e-7 };

const fn formula(
    row: &'static ScalarOp,
    value: fn(&[f64]) -> f64,
    domain: &'static [&'static [f32]],
    bound: Bound,
) -> Formula {
    Formula { row, value, domain, bound }
}

fn truth(is_true: bool) -> f64 {
    f64::from(u8::from(is_true))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// One line per entry of `op::OPS`, in its order.
pub(crate) static FORMULAS: &[Formula] = &[
    formula(&op::ADD, |x| x[0] + x[1], &[ANY, ANY], ROUNDED),
    formula(&op::SUB, |x| x[0] - x[1], &[ANY, ANY], ROUNDED),
    formula(&op::MUL, |x| x[0] * x[1], &[ANY, ANY], ROUNDED),
    formula(&op::DIV, |x| x[0] / x[1], &[ANY, ANY], DIVIDED),
    formula(&op::RATIO, |x| x[0] / x[1], &[ANY, ANY], DIVIDED),
    formula(&op::NEG, |x| -x[0], &[ANY], EXACT),
    formula(&op::RECIP, |x| 1.0 / x[0], &[ANY], DIVIDED),
    formula(&op::ABS, |x| x[0].abs(), &[ANY], EXACT),
    formula(&op::SIGN, |x| truth(x[0] > 0.0) - truth(x[0] < 0.0), &[ANY], EXACT),
    formula(&op::MIN, |x| x[0].min(x[1]), &[ANY, ANY], EXACT),
    formula(&op::MAX, |x| x[0].max(x[1]), &[ANY, ANY], EXACT),
    formula(&op::CLAMP, |x| x[0].max(x[1]).min(x[2]), &[ANY, &[-2.0, 0.0], &[0.5, 1.0, 1e30]], EXACT),
    formula(&op::SQUARE, |x| x[0] * x[0], &[ANY], ROUNDED),
    formula(&op::SQRT, |x| x[0].sqrt(), &[ANY], DIVIDED),
    formula(&op::RSQRT, |x| 1.0 / x[0].sqrt(), &[ANY], DIVIDED),
    formula(&op::POW, power, &[BASES, POWERS], POWER),
    formula(&op::FLOOR, |x| x[0].floor(), &[ANY], EXACT),
    formula(&op::CEIL, |x| x[0].ceil(), &[ANY], EXACT),
    formula(&op::ROUND, |x| x[0].round_ties_even(), &[ANY], EXACT),
    formula(&op::LT, |x| truth(x[0] < x[1]), &[ANY, ANY], EXACT),
    formula(&op::LE, |x| truth(x[0] <= x[1]), &[ANY, ANY], EXACT),
    formula(&op::GT, |x| truth(x[0] > x[1]), &[ANY, ANY], EXACT),
    formula(&op::GE, |x| truth(x[0] >= x[1]), &[ANY, ANY], EXACT),
    formula(&op::EQ, |x| truth(x[0] == x[1]), &[ANY, ANY], EXACT),
    formula(&op::NE, |x| truth(x[0] != x[1]), &[ANY, ANY], EXACT),
    formula(&op::NOT, |x| truth(x[0] == 0.0), &[ANY], EXACT),
    formula(&op::AND, |x| truth(x[0] != 0.0 && x[1] != 0.0), &[ANY, ANY], EXACT),
    formula(&op::OR, |x| truth(x[0] != 0.0 || x[1] != 0.0), &[ANY, ANY], EXACT),
    formula(&op::SELECT, |x| if x[0] == 0.0 { x[2] } else { x[1] }, &[FEW, FEW, FEW], EXACT),
    formula(&op::EXP, |x| x[0].exp(), &[SMOOTH], EXPONENTIAL),
    formula(&op::EXP2, |x| x[0].exp2(), &[SMOOTH], EXPONENTIAL),
    formula(&op::EXPM1, |x| x[0].exp_m1(), &[SMOOTH], EXPONENTIAL),
    formula(&op::LN, |x| x[0].ln(), &[POSITIVE], LOGARITHM),
    formula(&op::LOG2, |x| x[0].log2(), &[POSITIVE], LOGARITHM),
    formula(&op::LOG1P, |x| x[0].ln_1p(), &[SMOOTH], POLYNOMIAL),
    formula(&op::SIN, |x| x[0].sin(), &[ANGLES], within(1e-6, 3e-7)),
    formula(&op::COS, |x| x[0].cos(), &[ANGLES], within(1e-6, 3e-7)),
    formula(&op::TAN, |x| x[0].tan(), &[GENTLE], POLYNOMIAL),
    formula(&op::ASIN, |x| x[0].asin(), &[UNIT], POLYNOMIAL),
    formula(&op::ACOS, |x| x[0].acos(), &[UNIT], within(2e-6, 3e-7)),
    formula(&op::ATAN, |x| x[0].atan(), &[ANY], POLYNOMIAL),
    // WGSL allows atan an error of 4,096 units.
    formula(&op::ATAN2, |x| x[0].atan2(x[1]), &[AWAY, AWAY], within(5e-4, 1e-37)),
    formula(&op::HYPOT, |x| x[0].hypot(x[1]), &[ANY, ANY], DIVIDED),
    formula(&op::SINH, |x| x[0].sinh(), &[SMOOTH], EXPONENTIAL),
    formula(&op::COSH, |x| x[0].cosh(), &[SMOOTH], EXPONENTIAL),
    formula(&op::TANH, |x| x[0].tanh(), &[SMOOTH], POLYNOMIAL),
    formula(&op::ASINH, |x| x[0].asinh(), &[ANY], POLYNOMIAL),
    formula(&op::ERF, |x| oracle::erf(x[0]), &[SMOOTH], within(1e-6, 1e-37)),
    // Special functions are compared with mpmath's values in `program/special`.
    formula(&op::ERFC, |x| special::erfc(x[0]), &[TAIL], within(3e-6, 1e-37)),
    formula(&op::SINC, |x| special::sinc(x[0]), &[ANGLES], within(1e-6, 1e-7)),
    formula(&op::SINC_SLOPE, |x| special::sinc_slope(x[0]), &[ANGLES], within(3e-6, 3e-7)),
    formula(&op::GAMMA, |x| special::gamma(x[0]), &[FACTORIAL], within(5e-6, 1e-37)),
    formula(&op::LGAMMA, |x| special::lgamma(x[0]), &[FACTORIAL], within(5e-6, 5e-6)),
    formula(
        &op::POLYGAMMA,
        |x| special::polygamma(x[0] as u32, x[1]),
        &[&[0.0, 1.0, 2.0], FACTORIAL],
        within(5e-6, 5e-6),
    ),
    formula(&op::FADDEEVA_RE, |x| special::faddeeva(x[0], x[1]).0, &[WIDTHS, WIDTHS_ABOVE], within(3e-6, 1e-37)),
    formula(&op::FADDEEVA_IM, |x| special::faddeeva(x[0], x[1]).1, &[WIDTHS, WIDTHS_ABOVE], within(3e-6, 1e-37)),
    formula(&op::J0, |x| special::bessel_j0(x[0]), &[ANGLES], within(1e-6, 5e-7)),
    formula(&op::J1, |x| special::bessel_j1(x[0]), &[ANGLES], within(1e-6, 5e-7)),
    formula(&op::SIGMOID, |x| sigmoid(x[0]), &[SMOOTH], SATURATING),
    formula(&op::SOFTPLUS, |x| x[0].max(0.0) + (-x[0].abs()).exp().ln_1p(), &[SMOOTH], EXPONENTIAL),
    formula(&op::RELU, |x| x[0].max(0.0), &[ANY], EXACT),
];

/// A zero to a negative power is a pole: outside the domain.
fn power(x: &[f64]) -> f64 {
    x[0].powf(x[1])
}

impl Formula {
    fn at(&self, x: &[f32]) -> f64 {
        (self.value)(&x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>())
    }

    /// All tuples of the domain at which the result is a finite float.
    fn points(&self) -> Vec<Vec<f32>> {
        let mut points = vec![Vec::new()];
        for values in self.domain {
            let longer = |point: &Vec<f32>| values.iter().map(|&x| [&point[..], &[x]].concat()).collect::<Vec<_>>();
            points = points.iter().flat_map(longer).collect();
        }
        points.retain(|point| self.at(point).abs() < 3e38);
        points
    }

    fn values(&self) -> Case {
        let points = self.points();
        let expected = points.iter().map(|point| self.at(point)).collect();
        over_points(self.row.name.into(), &points, Program::op(self.row), expected, self.bound)
    }

    /// The partial derivative by each argument that the op depends on, compared with differences of the f64 formula.
    fn slopes(&self) -> Vec<Case> {
        let slope_of = |at: usize| {
            let program = Program::op(self.row).vjp(at)?;
            let (mut points, mut expected) = (Vec::new(), Vec::new());
            for mut point in self.points() {
                if let Some(slope) = self.difference(&point, at) {
                    // The upstream gradient: not 1, so that a missing factor shows.
                    point.push(0.5);
                    points.push(point);
                    expected.push(0.5 * slope);
                }
            }
            let name = format!("d {} / d {}", self.row.name, self.row.arguments[at]);
            Some(over_points(name, &points, program, expected, within(3e-5, 3e-6)))
        };
        (0..self.row.arguments.len()).filter_map(slope_of).collect()
    }

    /// The central difference where both one-sided differences agree, so not at kinks, jumps or poles.
    fn difference(&self, point: &[f32], at: usize) -> Option<f64> {
        let x: Vec<f64> = point.iter().map(|&x| f64::from(x)).collect();
        let h = 1e-5 * x[at].abs().clamp(1.0, 10.0);
        let moved = |by: f64| {
            let mut x = x.clone();
            x[at] += by;
            (self.value)(&x)
        };
        let (left, right) = ((moved(0.0) - moved(-h)) / h, (moved(h) - moved(0.0)) / h);
        let slope = 0.5 * (left + right);
        let is_smooth = (left - right).abs() < 1e-3 * (slope.abs() + 1e-3);
        (is_smooth && slope.abs() < 1e37 && x.iter().all(|x| x.abs() < 1e4)).then_some(slope)
    }
}

/// A case of `program` over columns of points.
fn over_points(name: String, points: &[Vec<f32>], program: Program, expected: Vec<f64>, bound: Bound) -> Case {
    let column = |at: usize| words(&points.iter().map(|point| point[at]).collect::<Vec<_>>());
    let inputs = (0..program.inputs).map(column).collect();
    let space = IterationSpace::flat([1, 1, 1, points.len() as u32]);
    case(name, bound, inputs, vec![Expected::Floats(expected)], |inputs, out| {
        dispatch(program, space, inputs.to_vec(), out[0].clone())
    })
}

/// Odd functions: -0 gives -0.
pub(crate) const ODD: &[&ScalarOp] = &[
    &op::SQRT,
    &op::FLOOR,
    &op::CEIL,
    &op::ROUND,
    &op::EXPM1,
    &op::LOG1P,
    &op::SIN,
    &op::TAN,
    &op::ASIN,
    &op::ATAN,
    &op::SINH,
    &op::TANH,
    &op::ERF,
];

fn zeros() -> impl Iterator<Item = Case> {
    let space = IterationSpace::flat([1, 1, 1, 2]);
    let words = [(-0.0_f32).to_bits(), 0].to_vec();
    ODD.iter().map(move |&row| {
        let expected = vec![Expected::Words(words.clone())];
        case(format!("{} zeros", row.name), EXACT, vec![words.clone()], expected, |inputs, out| {
            dispatch(Program::op(row), space, inputs.to_vec(), out[0].clone())
        })
    })
}

/// The ops that choose one of their arguments: NaN in any of them gives NaN, an infinity is a number.
fn not_numbers() -> Vec<Case> {
    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;
    let pairs = [[NAN, 1.0], [1.0, NAN], [NAN, -INF], [INF, NAN], [NAN, NAN], [INF, 1.0], [-INF, 1.0], [-2.0, 3.0]];
    let triples =
        [[NAN, -1.0, 1.0], [0.5, NAN, 1.0], [0.5, -1.0, NAN], [INF, -1.0, 1.0], [-INF, -1.0, 1.0], [0.5, -1.0, 1.0]];
    let [pairs, triples] = [pairs.map(|pair| pair.to_vec()).to_vec(), triples.map(|triple| triple.to_vec()).to_vec()];
    let nan = f64::NAN;
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    [
        (&op::MIN, &pairs, vec![nan, nan, nan, nan, nan, 1.0, low, -2.0]),
        (&op::MAX, &pairs, vec![nan, nan, nan, nan, nan, high, 1.0, 3.0]),
        (&op::CLAMP, &triples, vec![nan, nan, nan, 1.0, -1.0, 0.5]),
    ]
    .map(|(row, points, expected)| over_points(format!("{} NaN", row.name), points, Program::op(row), expected, EXACT))
    .into()
}

/// x0 + x1 · x2 over spaces in which x1 is broadcast and x2 strided.
fn layouts() -> Vec<Case> {
    let layout = |name: &str, dims: [u32; 4], one: [u32; 4], two: [u32; 4]| {
        let mut space = IterationSpace { dims, strides: [[0; 4]; MAX_INPUTS] };
        space.strides[..3].copy_from_slice(&[natural(dims), one, two]);
        let length = |s: [u32; 4]| 1 + s.iter().zip(dims).map(|(s, d)| s * (d - 1)).sum::<u32>() as usize;
        let mut numbers = Numbers::new(3);
        let values: Vec<_> = space.strides[..3].iter().map(|&strides| numbers.floats(length(strides))).collect();
        let expected = oracle::indices(dims).map(|c| {
            let read = |at: usize| {
                let place: u32 = c.iter().zip(space.strides[at]).map(|(c, s)| c * s).sum();
                f64::from(values[at][place as usize])
            };
            read(0) + read(1) * read(2)
        });
        let program = Program::build(3, |x| x[0] + x[1] * x[2]);
        let inputs = values.iter().map(|values| words(values)).collect();
        case(name, within(3e-7, 1e-7), inputs, vec![Expected::Floats(expected.collect())], |inputs, out| {
            dispatch(program, space, inputs.to_vec(), out[0].clone())
        })
    };
    vec![
        layout("row and column vectors", [1, 1, 37, 53], [0, 0, 0, 1], [0, 0, 1, 0]),
        layout("scalar and transpose", [1, 1, 70, 33], [0, 0, 0, 0], [0, 0, 1, 70]),
        layout("four dimensions", [3, 4, 5, 6], [0, 6, 0, 1], [1, 3, 72, 12]),
        layout("every other element", [1, 9, 1, 300], [0, 0, 0, 2], [0, 600, 0, 2]),
        layout("one element", [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]),
    ]
}

/// tanh(a + b) · a, built by merging the sum into its reader.
fn fused() -> Case {
    let mut numbers = Numbers::new(5);
    let (a, b) = (numbers.floats(1000), numbers.floats(1000));
    let expected = a.iter().zip(&b).map(|(&a, &b)| (f64::from(a) + f64::from(b)).tanh() * f64::from(a)).collect();
    let space = IterationSpace::flat([1, 10, 10, 10]);
    case("fused", within(2e-6, 1e-7), vec![words(&a), words(&b)], vec![Expected::Floats(expected)], |inputs, out| {
        let sum = scratch(1000);
        let producer = dispatch(Program::op(&op::ADD), space, inputs.to_vec(), sum.clone());
        let program = Program::build(2, |x| expr::tanh(x[0]) * x[1]);
        let consumer = dispatch(program, space, vec![sum, inputs[0].clone()], out[0].clone());
        MAP.fuse.expect("map fuses")(&producer, &consumer, 0)
            .expect("a reader with natural strides inlines its producer")
    })
}

/// x0 · row - x2, in turn with each input that can be read from the output, and x0 · row - x0: one buffer at two inputs.
fn in_place() -> Vec<Case> {
    let dims = [1, 1, 170, 53];
    let mut space = IterationSpace::flat(dims);
    space.strides[1] = [0, 0, 0, 1];
    let mut numbers = Numbers::new(13);
    let columns = [170 * 53, 53, 170 * 53].map(|count| numbers.floats(count));
    [("first", 0, 2), ("last", 2, 2), ("twice", 0, 0)]
        .map(|(name, at, other)| {
            let value = |i: usize| {
                let [x, row, y] = [columns[0][i], columns[1][i % 53], columns[other][i]].map(f64::from);
                x * row - y
            };
            let expected = vec![Expected::Floats((0..170 * 53).map(value).collect())];
            let inputs = columns.iter().map(|column| words(column)).collect();
            let made = case(format!("in place {name}"), within(3e-7, 1e-7), inputs, expected, |inputs, out| {
                let program = Program::build(3, |x| x[0] * x[1] - x[2]);
                let views = [0, 1, other].map(|input| inputs[input].clone()).to_vec();
                let apart = dispatch(program, space, views, out[0].clone());
                MAP.in_place.expect("map writes over inputs")(&apart, at).expect("an input of natural strides")
            });
            Case { outputs: vec![words(&columns[at])], ..made }
        })
        .into()
}

/// One element, a workgroup and one more, a grid of more than 65,535 workgroups, and a program of sixty ops.
fn sizes() -> Vec<Case> {
    let sized = |name: &str, count: u32, steps: usize| {
        let x = Numbers::new(u64::from(count)).floats(count as usize);
        let expected = x.iter().map(|&x| (0..steps).fold(f64::from(x), |y, _| y * 0.5 - 0.25)).collect();
        let program = Program::build(1, |x| (0..steps).fold(x[0], |y: Expr, _| y * 0.5 - 0.25));
        case(name, within(1e-6, 1e-6), vec![words(&x)], vec![Expected::Floats(expected)], |inputs, out| {
            dispatch(program, IterationSpace::flat([1, 1, 1, count]), inputs.to_vec(), out[0].clone())
        })
    };
    vec![
        sized("one", 1, 1),
        sized("a workgroup", 256, 1),
        sized("a workgroup and one", 257, 1),
        sized("long program", 5000, 30),
        sized("past 65,535 workgroups", 65_536 * 256 + 77, 1),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_op_has_a_formula() {
        let rows: Vec<_> = super::op::OPS.iter().map(|row| row.name).collect();
        let formulas: Vec<_> = super::FORMULAS.iter().map(|formula| formula.row.name).collect();
        assert_eq!(rows, formulas);
    }
}
