//! Cases of the fused kernels with a projective head. The oracle computes a row's loss in f64 and differentiates it by
//! central differences; quantities that gradients treat as constants are held fixed.

use super::{Basis, Denominators, Head, HeadForm, PairNormalization};
use crate::device::{Case, Execution, Expected, Geometry, Info, Tiles};
use crate::kernels::evidence::{Numbers, case, device, within, words};
use crate::kernels::mlp::cases::{Example, LEAST_WORKGROUP_BYTES, Oracle, STEP_BOUND, model, parameters};
use crate::kernels::mlp::goals::{Function, Goal};
use crate::kernels::mlp::{COEFFICIENTS_STEP, Layer, Mlp, PairRule, Pairing, Precision, forward, step};
use crate::kernels::oracle::wide;
use crate::kernels::random::threefry;

const SEED: u64 = 0x0123_4567_89ab_cdef;
const STREAM: u32 = 5;
/// The step for which thresholds are drawn: one more than the initial counter in `control`.
const STEP_NUMBER: u32 = 9;

/// Heads of every form, normalisation and kind of denominator, with every loss; sizes end in the head's features.
fn examples() -> Vec<(Head, PairRule, &'static [u32])> {
    use Basis::{Chebyshev, Monomial};
    use Denominators::{Each, Shared};
    let head = |outputs, form, denominators| Head { form, denominators, ..Head::linear(outputs) };
    let rational = |numerator, denominator, basis| HeadForm::Rational { numerator, denominator, basis };
    let none = PairRule {
        implicit: 0.0,
        gamma: 1e-9,
        is_detached: false,
        chordal: 0.0,
        decoded: 0.0,
        margin: 0.0,
        sign: 0.0,
        sign_within: 1e-3,
        tau: [1e-4; 2],
    };
    let usual = PairRule { chordal: 1.0, ..none };
    let implicit = PairRule { implicit: 0.7, ..none };
    let detached = PairRule { implicit: 0.7, is_detached: true, decoded: 0.3, tau: [0.2; 2], ..none };
    let drawn = PairRule { decoded: 1.5, margin: 2.0, tau: [0.9, 1.8], ..none };
    // A large gamma keeps every row's implicit residual flat enough for differences.
    let gentle = PairRule { implicit: 0.5, gamma: 1e-2, sign: 1.5, sign_within: 2.0, ..drawn };
    let all = PairRule { chordal: 0.25, decoded: 0.75, ..gentle };
    let floored = |head: Head| Head { floor: Some(0.3), anchor: 0.2, ..head };
    let angular = |outputs, scale| Head { anchor: 0.0, ..head(outputs, HeadForm::Angular { scale }, Each) };
    vec![
        (head(1, rational(3, 2, Monomial), Shared), usual, &[5, 64, 64, 64, 2]),
        (head(1, HeadForm::Linear, Each), usual, &[3, 7, 2]),
        (head(3, HeadForm::Linear, Shared), implicit, &[2, 9, 4]),
        (floored(head(3, rational(2, 4, Chebyshev), Each)), detached, &[4, 6, 6]),
        (Head { gauge: PairNormalization::Unit, ..head(5, rational(3, 2, Monomial), Shared) }, drawn, &[3, 12, 6]),
        (
            Head { gauge: PairNormalization::UnitAttached, ..head(2, rational(0, 1, Chebyshev), Shared) },
            all,
            &[3, 8, 3],
        ),
        (angular(2, 1.7), PairRule { sign_within: 2.0, ..usual }, &[4, 10, 2]),
        (angular(1, 0.5), drawn, &[1, 1]),
        (Head { gauge: PairNormalization::UnitAttached, ..floored(head(2, HeadForm::Linear, Each)) }, all, &[6, 5, 4]),
        (head(70, rational(1, 1, Monomial), Shared), usual, &[2, 20, 71]),
        (
            Head { gauge: PairNormalization::Unit, ..head(1, HeadForm::Linear, Each) },
            PairRule { margin: 1.0, tau: [0.8; 2], ..none },
            &[2, 2],
        ),
    ]
}

/// Cases of `mlp_step`. Drivers take seconds to compile coarse tiles and panels, so only the first example uses them.
pub(crate) fn of_step() -> Vec<Case> {
    let first =
        |tiles, geometry| examples().into_iter().take(1).map(move |example| step_case(example, 13, tiles, geometry));
    let coarse = [Tiles::FewLarge, Tiles::PerInvocation].map(|tiles| first(tiles, Geometry::DEFAULT));
    let held = first(Tiles::ManySmall, Geometry { is_held: true, ..Geometry::DEFAULT });
    examples()
        .into_iter()
        .zip(5..)
        .map(|(example, batch)| step_case(example, batch, Tiles::ManySmall, Geometry::DEFAULT))
        .chain(coarse.into_iter().flatten())
        .chain(held)
        .collect()
}

/// Cases of `mlp_forward`.
pub(crate) fn of_forward() -> Vec<Case> {
    let first = |tiles| examples().into_iter().take(1).map(move |example| forward_case(example, 130, tiles));
    let coarse = first(Tiles::FewLarge).chain(first(Tiles::PerInvocation));
    examples()
        .into_iter()
        .zip(31..)
        .map(|(example, rows)| forward_case(example, rows, Tiles::ManySmall))
        .chain(coarse)
        .collect()
}

/// The kernels' model, its layers, its initial parameters and how it makes pairs.
fn whole(example: &Example, head: &Head, numbers: &mut Numbers) -> (Mlp, Vec<Layer>, Vec<f32>, Pairing) {
    let (_, layers, plain) = model(example);
    let mut flat = parameters(&layers, plain, numbers);
    let mut coefficients = [0; 2];
    if let HeadForm::Rational { numerator, denominator, .. } = head.form {
        let parts = [(numerator, head.outputs), (denominator, head.denominators())];
        for (first, (degree, count)) in coefficients.iter_mut().zip(parts) {
            *first = flat.len();
            for k in 0..=degree {
                let centre = if k == 1 { 0.6 } else { 0.0 };
                flat.extend(numbers.floats(count).iter().map(|value| centre + 0.3 * value));
                flat.resize(flat.len().next_multiple_of(COEFFICIENTS_STEP), 0.0);
            }
        }
    }
    let pairing = head.pairing(coefficients).expect("the kernels make its pairs");
    let mlp = Mlp::new(example.activation.curve.clone(), layers.clone(), flat.len())
        .expect("a case fits the kernels")
        .with_pairs(pairing);
    (mlp, layers, flat, pairing)
}

fn name(example: &Example, head: &Head, tiles: Tiles) -> String {
    let Head { outputs, form, denominators, floor, gauge, .. } = head;
    let Goal::Pairs(PairRule { implicit, chordal, decoded, margin, sign, .. }) = example.goal else {
        unreachable!("a head's goal is one of pairs")
    };
    let tiles = format!("{tiles:?}").to_lowercase();
    format!(
        "{:?} {form:?} of {outputs}, {denominators:?}, floor {floor:?}, {gauge:?}, weights {implicit} {chordal} {decoded} {margin} {sign}, {tiles}",
        example.sizes
    )
}

/// Target pairs: mostly finite, some ⊥ of either sign.
fn targets(numbers: &mut Numbers, rows: usize, outputs: usize) -> Vec<f32> {
    let pair = |(at, value): (usize, &f32)| match at % 5 {
        3 => [1.0, 0.0],
        4 if *value < 0.0 => [-1.0, 0.0],
        _ => [2.0 * value, 1.0],
    };
    let pairs: Vec<[f32; 2]> = numbers.floats(rows * outputs).iter().enumerate().map(pair).collect();
    pairs.chunks(outputs).flat_map(|row| [0, 1].map(|half| row.iter().map(move |pair| pair[half]))).flatten().collect()
}

fn step_case(
    (head, rule, sizes): (Head, PairRule, &'static [u32]),
    batch: usize,
    tiles: Tiles,
    geometry: Geometry,
) -> Case {
    let info = Info { workgroup_bytes: LEAST_WORKGROUP_BYTES, ..device(tiles) };
    let mut numbers = Numbers::new(74);
    let example = Example { sizes, activation: Function::silu(), goal: Goal::Pairs(rule), batch };
    let (mlp, layers, flat, pairing) = whole(&example, &head, &mut numbers);
    let (inputs, width, total) = (sizes[0] as usize, 2 * head.outputs, flat.len());
    // The second and last batch lacks three rows.
    let (rows, steps, cursor) = (2 * batch - 3, 2_u32, 1_u32);
    let x = numbers.floats(rows * inputs);
    let y = targets(&mut numbers, rows, head.outputs);
    let permutation: Vec<u32> = (0..rows as u32).rev().collect();
    let order = [vec![0; 4 * steps as usize], permutation.clone()].concat();
    let bits = threefry([SEED as u32, (SEED >> 32) as u32], [0, STREAM.wrapping_mul(0x9e37_79b9) + STEP_NUMBER])[0];
    let [low, high] = rule.tau.map(f64::from);
    let tau = low + (high - low) * f64::from(bits >> 8) / f64::from(1 << 24);
    let mut oracle = Oracle::new(&example, &layers, &flat);
    for &row in &permutation[batch..] {
        let row = row as usize;
        let z = oracle.predict(&x[row * inputs..][..inputs]);
        let row = Row { head: &head, pairing, rule: &rule, tau, y: wide(&y[row * width..][..width]) };
        oracle.loss += row.loss(&z, &oracle.flat, &z, &oracle.flat);
        oracle.weight += 1.0;
        for (word, slope) in row.slopes_of_coefficients(&z, &oracle.flat) {
            oracle.gradient[word] += slope;
        }
        let slopes = row.slopes(&z, &oracle.flat);
        oracle.walk_back(slopes);
    }
    let mut partials = oracle.gradient;
    partials.extend([oracle.loss, oracle.weight]);
    partials.resize(total + 64, 0.0);
    let fused = mlp.training(&info, geometry, [rows, batch], steps as usize, width).drawing(SEED, STREAM);
    let cpu = Info { execution: Execution::CpuPath, ..info.clone() };
    let scratch = fused.scratch_words(&info).max(fused.scratch_words(&cpu));
    let control = Expected::Words(vec![STEP_NUMBER - 1, cursor, STEP_NUMBER, cursor]);
    let expected = vec![control, Expected::Floats(partials), Expected::Anything(scratch)];
    let given = vec![words(&x), words(&y), order, words(&flat), words(&[1.0])];
    let held = if geometry.is_held { " held" } else { "" };
    let mut made = case(name(&example, &head, tiles) + held, STEP_BOUND, given, expected, |given, out| {
        let inputs = [0, 1, 2, 3, 4].map(|at: usize| given[at].clone());
        step(&fused, example.goal.goal(), inputs, [0, 1, 2].map(|at: usize| out[at].clone()))
    });
    made.outputs[0] = vec![STEP_NUMBER - 1, cursor, 0, 0];
    // The kernel does not write the padding between tensors.
    made.outputs[1].fill(0);
    made
}

fn forward_case((head, rule, sizes): (Head, PairRule, &'static [u32]), rows: usize, tiles: Tiles) -> Case {
    let mut numbers = Numbers::new(75);
    let example = Example { sizes, activation: Function::tanh(), goal: Goal::Pairs(rule), batch: rows };
    let (mlp, layers, flat, pairing) = whole(&example, &head, &mut numbers);
    let inputs = sizes[0] as usize;
    let x = numbers.floats(rows * inputs);
    let mut oracle = Oracle::new(&example, &layers, &flat);
    let mut pairs = |x: &[f32]| {
        let z = oracle.predict(x);
        let pairs = free_pairs(&head, pairing, &z, &oracle.flat).into_iter().map(|pair| {
            let size = if head.gauge == PairNormalization::Free { 1.0 } else { pair[0].hypot(pair[1]) };
            pair.map(|part| part / size)
        });
        let (p, q): (Vec<f64>, Vec<f64>) = pairs.map(|[p, q]| (p, q)).unzip();
        [p, q].concat()
    };
    let expected = x.chunks_exact(inputs).flat_map(&mut pairs).collect();
    let fused = mlp.predicting(&device(tiles), rows, Precision::F32);
    let scratch = Expected::Anything(fused.scratch_words(&device(tiles)));
    let given = vec![words(&x), words(&flat)];
    let expected = vec![Expected::Floats(expected), scratch];
    case(name(&example, &head, tiles), within(1e-5, 1e-5), given, expected, |given, out| {
        forward(&fused, [given[0].clone(), given[1].clone()], [out[0].clone(), out[1].clone()])
    })
}

/// The pairs of a row's features, not normalised.
fn free_pairs(head: &Head, pairing: Pairing, z: &[f64], flat: &[f64]) -> Vec<[f64; 2]> {
    let shift = f64::from(head.anchor) + f64::from(head.floor.unwrap_or(0.0));
    let curve = |feature: usize| {
        let HeadForm::Rational { basis, .. } = head.form else { return z[feature] };
        let polynomial = pairing.polynomial(feature).expect("the head is rational");
        let term = |k: usize| flat[polynomial.first + k * polynomial.step] * phi(basis, k, z[feature]);
        (0..=polynomial.degree).map(term).sum()
    };
    let pair = |o: usize| {
        if let HeadForm::Angular { scale } = head.form {
            let angle = f64::from(scale) * z[o];
            return [angle.cos(), angle.sin()];
        }
        let below = curve(head.outputs + if head.denominators() == 1 { 0 } else { o });
        [curve(o), shift + if head.floor.is_some() { below.exp().ln_1p() } else { below }]
    };
    (0..head.outputs).map(pair).collect()
}

fn phi(basis: Basis, k: usize, x: f64) -> f64 {
    match (basis, k) {
        (Basis::Monomial, k) => x.powi(k as i32),
        (Basis::Chebyshev, 0) => 1.0,
        (Basis::Chebyshev, 1) => x,
        (Basis::Chebyshev, k) => 2.0 * x * phi(basis, k - 1, x) - phi(basis, k - 2, x),
    }
}

/// One row's loss.
struct Row<'a> {
    head: &'a Head,
    pairing: Pairing,
    rule: &'a PairRule,
    tau: f64,
    /// Numerators, then denominators.
    y: Vec<f64>,
}

impl Row<'_> {
    /// The loss at features z and parameters `flat`; detached quantities are computed from `still_z` and `still_flat`.
    fn loss(&self, z: &[f64], flat: &[f64], still_z: &[f64], still_flat: &[f64]) -> f64 {
        let gauge = self.head.gauge;
        let long = |pair: [f64; 2]| pair[0].hypot(pair[1]);
        let pairs = free_pairs(self.head, self.pairing, z, flat).into_iter().zip(free_pairs(
            self.head,
            self.pairing,
            still_z,
            still_flat,
        ));
        let each = pairs.enumerate().map(|(o, (pair, still))| {
            let sizes = match gauge {
                PairNormalization::Free => [1.0; 2],
                PairNormalization::Unit => [long(still); 2],
                PairNormalization::UnitAttached => [long(pair), long(still)],
            };
            let expected = [self.y[o], self.y[self.head.outputs + o]];
            self.pair_loss(pair.map(|part| part / sizes[0]), still.map(|part| part / sizes[1]), expected)
        });
        each.sum::<f64>() / self.head.outputs as f64
    }

    fn pair_loss(&self, [p, q]: [f64; 2], still: [f64; 2], [yn, yd]: [f64; 2]) -> f64 {
        let PairRule { implicit, gamma, is_detached, chordal, decoded, margin, sign, sign_within, .. } = *self.rule;
        let [implicit, gamma, chordal, decoded, margin, sign, within] =
            [implicit, gamma, chordal, decoded, margin, sign, sign_within].map(f64::from);
        let cross = p * yd - q * yn;
        let [a, b] = if is_detached { still } else { [p, q] };
        let finite = f64::from(u8::from(yd != 0.0));
        let bounded = q.abs().max(self.tau) * if q < 0.0 { -1.0 } else { 1.0 };
        let sizes = (p * p + q * q + gamma).sqrt() * (yn * yn + yd * yd + gamma).sqrt();
        let turned = if yd.abs() <= within { 1.0 - (p * yn + q * yd) / sizes } else { 0.0 };
        implicit * cross * cross / ((b * yd).powi(2) + (a * yn).powi(2) + gamma)
            + chordal * cross * cross / ((p * p + q * q) * (yn * yn + yd * yd) + gamma)
            + decoded * finite * (p / bounded - yn).powi(2)
            + margin * finite * (self.tau - q.abs()).max(0.0).powi(2)
            + sign * turned
    }

    /// Derivatives by the features.
    fn slopes(&self, z: &[f64], flat: &[f64]) -> Vec<f64> {
        let at = |feature: usize, step: f64| {
            let mut moved = z.to_vec();
            moved[feature] += step;
            self.loss(&moved, flat, z, flat)
        };
        (0..z.len()).map(|feature| central(|step| at(feature, step))).collect()
    }

    /// Word offsets of the coefficients, and the derivatives by them.
    fn slopes_of_coefficients(&self, z: &[f64], flat: &[f64]) -> Vec<(usize, f64)> {
        let polynomials = (0..z.len()).filter_map(|feature| self.pairing.polynomial(feature));
        let coefficients = polynomials.flat_map(|of| (0..=of.degree).map(move |k| of.first + k * of.step));
        let mut moved = flat.to_vec();
        let mut slope = |word: usize| {
            central(|step| {
                moved[word] = flat[word] + step;
                let loss = self.loss(z, &moved, z, flat);
                moved[word] = flat[word];
                loss
            })
        };
        coefficients.map(|word| (word, slope(word))).collect()
    }
}

/// The derivative at 0.
fn central(mut f: impl FnMut(f64) -> f64) -> f64 {
    const STEP: f64 = 1e-5;
    (f(STEP) - f(-STEP)) / (2.0 * STEP)
}
