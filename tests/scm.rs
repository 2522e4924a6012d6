//! Total arithmetic: the properties that the original package's tests check (numbered as in its list), gradients that are finite for any bits,
//! masks that are the same on every device, and composed operations compared with plain loops.

use meromorph::autograd::Var;
use meromorph::device::Request;
use meromorph::scm::{self, BottomRule, Masked};
use meromorph::tensor::Tensor;
use meromorph::{Device, Result, ops};
use pollster::block_on;

type Operation = (&'static str, usize, fn(&[Masked]) -> Masked);

const OPERATIONS: &[Operation] = &[
    ("add", 2, |x| scm::add(&x[0], &x[1])),
    ("sub", 2, |x| scm::sub(&x[0], &x[1])),
    ("mul", 2, |x| scm::mul(&x[0], &x[1])),
    ("div", 2, |x| scm::div(&x[0], &x[1])),
    ("inv", 1, |x| scm::inv(&x[0])),
    ("neg", 1, |x| scm::neg(&x[0])),
    ("pow", 2, |x| scm::pow(&x[0], &x[1])),
    ("log", 1, |x| scm::log(&x[0])),
    ("exp", 1, |x| scm::exp(&x[0])),
    ("sqrt", 1, |x| scm::sqrt(&x[0])),
    ("square", 1, |x| scm::square(&x[0])),
    ("sin", 1, |x| scm::sin(&x[0])),
    ("cos", 1, |x| scm::cos(&x[0])),
    ("tan", 1, |x| scm::tan(&x[0])),
    ("abs", 1, |x| scm::abs(&x[0])),
    ("min", 2, |x| scm::min(&x[0], &x[1])),
    ("max", 2, |x| scm::max(&x[0], &x[1])),
    ("lt", 2, |x| scm::lt(&x[0], &x[1])),
    ("le", 2, |x| scm::le(&x[0], &x[1])),
    ("gt", 2, |x| scm::gt(&x[0], &x[1])),
    ("ge", 2, |x| scm::ge(&x[0], &x[1])),
    ("eq", 2, |x| scm::eq(&x[0], &x[1])),
    ("ne", 2, |x| scm::ne(&x[0], &x[1])),
    ("hypot", 2, |x| scm::hypot(&x[0], &x[1])),
    ("atan2", 2, |x| scm::atan2(&x[0], &x[1])),
    ("sinh", 1, |x| scm::sinh(&x[0])),
    ("cosh", 1, |x| scm::cosh(&x[0])),
    ("tanh", 1, |x| scm::tanh(&x[0])),
    ("select", 3, |x| scm::select(&x[0], &x[1], &x[2])),
];

/// Zeros, subnormals, ones, limits of operations, the largest floats, infinities and NaN, with both signs.
fn critical() -> Vec<f32> {
    let words: &[u32] = &[
        0,
        1,
        2,
        0x20_0000,
        0x20_0001,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x1a00_0000,
        0x1f80_0000,
        0x2000_0000,
        0x3c00_0000,
        0x3f00_0000,
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
        0x4b80_0001,
        0x5f7f_ffff,
        0x5f80_0000,
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
    words.iter().flat_map(|&word| [f32::from_bits(word), f32::from_bits(word | 0x8000_0000)]).collect()
}

/// `count` floats of random bits (`SplitMix64`).
fn random_bits(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f32::from_bits((z >> 32) as u32)
    };
    (0..count).map(|_| next()).collect()
}

/// Columns of arguments: all pairs of critical floats, then random bits, a quarter of them scaled so that results are near the largest float.
fn columns(arity: usize, random: usize) -> Vec<Vec<f32>> {
    let all = critical();
    let mut columns: Vec<Vec<f32>> = (0..arity).map(|at| random_bits(random, at as u64)).collect();
    if arity > 1 {
        for k in (0..random).step_by(4) {
            let a = columns[0][k];
            columns[1][k] =
                [f32::MAX / a, a / f32::MAX, (a.abs() / f32::MAX).sqrt(), 128.0 / a.abs().log2()][k / 4 % 4];
        }
    }
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            columns.iter_mut().zip([*a, *b, all[(3 * i + 7 * j) % all.len()]]).for_each(|(column, x)| column.push(x));
        }
    }
    columns
}

fn gpu() -> Option<Device> {
    if std::env::var_os("MERO_NO_GPU").is_some() {
        return None;
    }
    let request = Request { device: "webgpu".into(), ..Request::default() };
    Some(block_on(Device::open(&request)).unwrap_or_else(|error| panic!("{error}\nor set MERO_NO_GPU=1")))
}

fn masked(device: &Device, values: &[f32], bottoms: &[usize]) -> Masked {
    let mask: Vec<bool> = (0..values.len()).map(|at| bottoms.contains(&at)).collect();
    Masked::with_mask(device, [values.len()], values, &scm::pack(&mask)).expect("a mask of the right length")
}

fn read(x: &Masked) -> (Vec<f32>, Vec<bool>) {
    let values = block_on(x.value().value().to_f32()).expect("values");
    let words = block_on(x.mask()).expect("words");
    let bits = (0..values.len()).map(|at| words[at / 32] >> (at % 32) & 1 == 1).collect();
    (values, bits)
}

#[test]
fn property_01_bottom_absorbs_in_any_argument_and_x_over_0_is_bottom() {
    let device = Device::cpu(1);
    for (name, arity, run) in OPERATIONS {
        for place in 0..*arity {
            // Element 0 is ⊥ in one argument only; 0 · ⊥ is ⊥ too.
            let inputs: Vec<Masked> =
                (0..*arity).map(|at| masked(&device, &[0.0, 0.75], if at == place { &[0] } else { &[] })).collect();
            let (values, bits) = read(&run(&inputs));
            assert!(bits[0] && values[0].to_bits() == 0, "{name}: ⊥ in place {place} gives {}", values[0]);
            assert!(!bits[1], "{name}: no ⊥, yet ⊥");
        }
    }
    let quotient = scm::div(&masked(&device, &[1.0, 0.0, -3.0], &[]), &masked(&device, &[0.0, -0.0, 0.0], &[]));
    assert_eq!(read(&quotient), (vec![0.0; 3], vec![true; 3]));
}

#[test]
fn property_02_unary_ops_and_pow_of_bottom_are_bottom() {
    let device = Device::cpu(1);
    for exponent in [0.0, 1.0, -1.0, 0.5, 2.0, -7.25] {
        let power = scm::pow(&masked(&device, &[1.0], &[0]), &masked(&device, &[exponent], &[]));
        assert_eq!(read(&power), (vec![0.0], vec![true]), "⊥ to the {exponent}");
    }
    for (name, _, run) in OPERATIONS.iter().filter(|operation| operation.1 == 1) {
        assert_eq!(read(&run(&[masked(&device, &[1.0], &[0])])), (vec![0.0], vec![true]), "{name}");
    }
}

#[test]
fn property_03_sums_and_products_commute_and_associate() {
    let device = Device::cpu(1);
    // Small integers: every result is exact.
    let whole =
        |seed: u64| -> Vec<f32> { random_bits(500, seed).iter().map(|x| (x.to_bits() % 201) as f32 - 100.0).collect() };
    let [a, b, c] = [1, 2, 3].map(|seed| masked(&device, &whole(seed), &[seed as usize, 40, 99 * seed as usize]));
    for op in [scm::add, scm::mul] {
        assert_eq!(read(&op(&a, &b)), read(&op(&b, &a)));
        assert_eq!(read(&op(&op(&a, &b), &c)), read(&op(&a, &op(&b, &c))));
    }
}

#[test]
fn property_04_and_08_results_agree_with_real_arithmetic() {
    let device = Device::cpu(1);
    let x: Vec<f32> = (1..400).map(|k| 0.03 * k as f32).collect();
    let y: Vec<f32> = (1..400).map(|k| 5.0 - 0.011 * k as f32).collect();
    let (a, b) = (masked(&device, &x, &[]), masked(&device, &y, &[]));
    let near = |name: &str, got: &Masked, expected: &dyn Fn(f64, f64) -> f64| {
        let (values, bits) = read(got);
        for (i, value) in values.iter().enumerate() {
            let expected = expected(f64::from(x[i]), f64::from(y[i]));
            let off = (f64::from(*value) - expected).abs();
            assert!(!bits[i] && off <= 3e-7 * expected.abs() + 1e-7, "{name}: {value} for {expected}");
        }
    };
    near("div", &scm::div(&a, &b), &|x, y| x / y);
    near("mul", &scm::mul(&a, &b), &|x, y| x * y);
    near("log", &scm::log(&a), &|x, _| x.ln());
    near("sqrt", &scm::sqrt(&a), &|x, _| x.sqrt());
    near("pow", &scm::pow(&a, &b), &f64::powf);
    near("hypot", &scm::hypot(&a, &b), &f64::hypot);
}

#[test]
fn property_05_constructors_keep_values_and_check_lengths() {
    let device = Device::cpu(1);
    let values = [1.5, -0.0, f32::MIN_POSITIVE / 4.0, f32::MAX];
    let (kept, bits) = read(&masked(&device, &values, &[]));
    assert!(kept.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()) && bits == [false; 4]);
    let refusal = |result: Result<Masked>| result.err().expect("a refusal").to_string();
    let long = refusal(Masked::with_mask(&device, [4], &values, &[0, 0]));
    assert_eq!(long, "mask: got 2 words, expected 1 for [4] (4 elements)");
    let tail = refusal(Masked::with_mask(&device, [4], &values, &[0x10]));
    assert_eq!(tail, "mask: bits after its 4 elements are set, expected 0");
    assert_eq!(refusal(Masked::from_f32(&device, [3], &values)), "4 values, wanted 3 for [3]");
    assert_eq!(scm::pack(&[true, false, true]), [5]);
    assert_eq!(scm::pack(&[true; 33]), [u32::MAX, 1]);
}

#[test]
fn property_06_values_under_the_mask_are_0_and_masks_are_joined() {
    let device = Device::cpu(1);
    let sum = scm::add(&masked(&device, &[1.0, -2.0], &[1]), &masked(&device, &[3.0, 4.0], &[]));
    assert_eq!(read(&sum), (vec![4.0, 0.0], vec![false, true]));
}

#[test]
fn property_07_zero_divisors_are_flagged() {
    let device = Device::cpu(1);
    let quotient = scm::div(&masked(&device, &[1.0, 2.0], &[]), &masked(&device, &[0.0, 4.0], &[]));
    assert_eq!(read(&quotient), (vec![0.0, 0.5], vec![true, false]));
}

#[test]
fn property_09_the_inverse_of_0_is_flagged_and_the_second_mask_is_used() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        assert_eq!(read(&scm::inv(&masked(&device, &[0.0, 4.0], &[]))), (vec![0.0, 0.25], vec![true, false]));
        let sum = scm::add(&masked(&device, &[1.0, 2.0], &[]), &masked(&device, &[1.0, 2.0], &[1]));
        assert_eq!(read(&sum), (vec![2.0, 0.0], vec![false, true]));
    }
}

#[test]
fn property_10_values_that_are_not_finite_are_bottom() {
    let device = Device::cpu(1);
    let x = Masked::from_f32(&device, [5], &[f32::NAN, f32::INFINITY, 2.5, f32::NEG_INFINITY, -0.5]).expect("values");
    assert_eq!(read(&x), (vec![0.0, 0.0, 2.5, 0.0, -0.5], vec![true, true, false, true, false]));
}

#[test]
fn masks_are_the_same_on_every_device() {
    let Some(gpu) = gpu() else { return };
    let cpu = Device::cpu(2);
    let mut failures = Vec::new();
    for (name, arity, run) in OPERATIONS {
        let columns = columns(*arity, 100_000);
        let on = |device: &Device| -> Vec<u32> {
            let inputs: Vec<Masked> = columns
                .iter()
                .map(|column| {
                    Masked::from(&Var::constant(Tensor::from_f32(device, [column.len()], column).expect("room")))
                })
                .collect();
            block_on(run(&inputs).mask()).expect("words")
        };
        let (here, there) = (on(&cpu), on(&gpu));
        let off: Vec<usize> =
            (0..columns[0].len()).filter(|i| (here[i / 32] ^ there[i / 32]) >> (i % 32) & 1 == 1).collect();
        if let Some(&first) = off.first() {
            let shown: Vec<f32> = columns.iter().map(|column| column[first]).collect();
            failures.push(format!("{name}: {} differ, first at {shown:?}", off.len()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn gradients_are_finite_for_any_bits() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        for (name, arity, run) in OPERATIONS {
            let columns = columns(*arity, 20_000);
            let leaves: Vec<Var> = columns
                .iter()
                .map(|column| Var::leaf(Tensor::from_f32(&device, [column.len()], column).expect("room")))
                .collect();
            let out = run(&leaves.iter().map(Masked::from).collect::<Vec<_>>());
            let (values, bits) = read(&out);
            assert!(values.iter().all(|y| y.is_finite()), "{name}: a value is not finite");
            assert!(values.iter().zip(&bits).all(|(y, bit)| !bit || y.to_bits() == 0), "{name}: a value under ⊥");
            let expected: Vec<&Var> = leaves.iter().collect();
            let gradients = scm::grad(out.value(), &expected).expect("gradients");
            for gradient in gradients.into_iter().flatten() {
                let gradient = block_on(gradient.value().to_f32()).expect("values");
                let bad = (0..gradient.len()).find(|&i| !gradient[i].is_finite() || (bits[i] && gradient[i] != 0.0));
                let at = bad.map(|i| (gradient[i], columns.iter().map(|column| column[i]).collect::<Vec<_>>()));
                assert!(at.is_none(), "{name} on {}: {at:?}", device.info().name);
            }
        }
    }
}

#[test]
fn gradients_at_regular_points_equal_those_of_plain_ops() {
    let device = Device::cpu(1);
    let x = [0.3, 0.7, 1.1, 1.9];
    let leaf = || Var::leaf(Tensor::from_f32(&device, [4], &x).expect("room"));
    let (a, b) = (leaf(), leaf());
    let total = scm::div(&scm::log(&Masked::from(&a)), &scm::sqrt(&Masked::from(&a)));
    let plain = ops::div(&ops::ln(&b), &ops::sqrt(&b));
    let of = |output: &Var, input: &Var| scm::grad(output, &[input]).expect("a gradient").remove(0).expect("a path");
    let (first, expected) = (of(total.value(), &a), of(&plain, &b));
    let floats = |x: &Var| block_on(x.value().to_f32()).expect("values");
    let near = |a: &Var, b: &Var| floats(a).iter().zip(floats(b)).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs()));
    assert!(near(&first, &expected), "{:?} for {:?}", floats(&first), floats(&expected));
    assert!(near(&of(&first, &a), &of(&expected, &b)), "second derivatives");
}

#[test]
fn slopes_that_are_not_floats_are_0() {
    let device = Device::cpu(1);
    let slope = |x: f32, run: fn(&Masked) -> Masked| {
        let leaf = Var::leaf(Tensor::from_f32(&device, [1], &[x]).expect("room"));
        let out = run(&Masked::from(&leaf));
        let gradient = scm::grad(out.value(), &[&leaf]).expect("a gradient").remove(0).expect("a path");
        (block_on(gradient.value().to_f32()).expect("a value")[0], read(&out).1[0])
    };
    assert_eq!(slope(0.0, scm::sqrt), (0.0, false));
    assert_eq!(slope(4.0, scm::sqrt), (0.25, false));
    assert_eq!(slope(1e-40, scm::log), (0.0, false));
    assert_eq!(slope(1e-30, scm::inv), (0.0, false));
    assert_eq!(slope(0.0, scm::inv), (0.0, true));
}

#[test]
fn broadcast_gradients_are_summed_and_finite() {
    let device = Device::cpu(1);
    let scalar = Var::leaf(Tensor::from_f32(&device, [1], &[2.0]).expect("room"));
    let product = scm::mul(&masked(&device, &[1.0, 2.0, 3.0, 4.0], &[1]), &Masked::from(&scalar));
    let gradient = scm::grad(product.value(), &[&scalar]).expect("a gradient").remove(0).expect("a path");
    assert_eq!(block_on(gradient.value().to_f32()).expect("a value"), [8.0]);
    let huge = scm::mul(&masked(&device, &[3e38, 3e38], &[]), &Masked::from(&scalar));
    let sum = scm::mul(
        &masked(&device, &[3e38, 3e38], &[]),
        &Masked::from(&ops::mul(&scalar, &ops::constant(&scalar, 0.25))),
    );
    assert_eq!(read(&huge).1, [true, true]);
    let gradient = scm::grad(sum.value(), &[&scalar]).expect("a gradient").remove(0).expect("a path");
    assert_eq!(block_on(gradient.value().to_f32()).expect("a value"), [0.0], "6e38 is no float");
}

#[test]
fn faults_are_distinguished_and_propagated() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let x = Masked::from_f32(&device, [5], &[1.0, 1e38, f32::NAN, -1.0, 0.0]).expect("values").traced();
        let y = masked(&device, &[0.0, 1e-5, 1.0, 1.0, 1.0], &[3]);
        // Division by zero; an overflow; an input that was NaN; a masked operand; none.
        let out = scm::add(&scm::div(&x, &y), &x);
        assert_eq!(read(&out).1, [true, true, true, true, false]);
        // The NaN was canonicalized before tracing, so it is not recorded as a fault.
        assert_eq!(block_on(out.faults()).expect("traced"), [0b00010]);
        let raw = Var::constant(Tensor::from_f32(&device, [2], &[f32::INFINITY, 1.0]).expect("room"));
        let logs = scm::log(&scm::neg(&Masked::from(&raw).traced()));
        assert_eq!(read(&logs).1, [true, true]);
        assert_eq!(block_on(logs.faults()).expect("traced"), [0b01]);
    }
    let device = Device::cpu(1);
    assert!(block_on(masked(&device, &[1.0], &[]).faults()).is_err());
}

#[test]
fn reductions_are_strict_or_ignore_bottoms() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let mask = scm::pack(&[false, false, false, true, false, false, true, true, true]);
        let values = [1.0, 2.0, 3.0, 9.0, 5.0, 6.0, 9.0, 9.0, 9.0];
        let x = Masked::with_mask(&device, [3, 3], &values, &mask).expect("a mask");
        let by_row = |joined: Masked| read(&joined);
        assert_eq!(by_row(scm::sum(&x, 1..2, BottomRule::Strict)), (vec![6.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(scm::sum(&x, 1..2, BottomRule::Drop)), (vec![6.0, 11.0, 0.0], vec![false, false, true]));
        assert_eq!(by_row(scm::mean(&x, 1..2, BottomRule::Strict)), (vec![2.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(scm::mean(&x, 1..2, BottomRule::Drop)), (vec![2.0, 5.5, 0.0], vec![false, false, true]));
        let product = |mode| scm::prod(&x, 1..2, mode).expect("a product");
        assert_eq!(by_row(product(BottomRule::Strict)), (vec![6.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(product(BottomRule::Drop)), (vec![6.0, 30.0, 0.0], vec![false, false, true]));
        let whole = scm::sum(&x, 0..2, BottomRule::Drop);
        assert_eq!((whole.shape().sizes(), read(&whole)), (&[1, 1][..], (vec![17.0], vec![false])));
        assert_eq!(
            read(&scm::sum(&masked(&device, &[3e38, 3e38], &[]), 0..1, BottomRule::Strict)),
            (vec![0.0], vec![true])
        );
        assert_eq!(block_on(x.coverage().value().to_f32()).expect("a share"), [1.0 - 4.0 / 9.0]);
    }
}

#[test]
fn gradients_of_reductions_are_0_at_bottoms() {
    let device = Device::cpu(1);
    let leaf = Var::leaf(Tensor::from_f32(&device, [2, 3], &[2.0, 3.0, 7.0, 0.0, 5.0, 4.0]).expect("room"));
    let x = Masked::masked_by(&leaf, &[0b000100]).expect("a mask");
    let slopes = |out: Masked| {
        let gradient = scm::grad(out.value(), &[&leaf]).expect("a gradient").remove(0).expect("a path");
        block_on(gradient.value().to_f32()).expect("values")
    };
    assert_eq!(slopes(scm::prod(&x, 1..2, BottomRule::Drop).expect("a product")), [3.0, 2.0, 0.0, 20.0, 0.0, 0.0]);
    assert_eq!(slopes(scm::sum(&x, 1..2, BottomRule::Strict)), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(slopes(scm::mean(&x, 1..2, BottomRule::Drop)), [0.5, 0.5, 0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn matrix_products_mask_rows_and_columns() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let a = Masked::with_mask(&device, [2, 3], &[1.0, 2.0, 3.0, 4.0, 0.0, 6.0], &[0b001000]).expect("a mask");
        let b = Masked::with_mask(&device, [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 0.0], &[0b100000]).expect("a mask");
        assert_eq!(read(&scm::matmul(&a, &b)), (vec![22.0, 0.0, 0.0, 0.0], vec![false, true, true, true]));
        let bias = masked(&device, &[0.5, 0.0], &[]);
        assert_eq!(read(&scm::linear(&a, &b, &bias)), (vec![22.5, 0.0, 0.0, 0.0], vec![false, true, true, true]));
        let huge = Masked::from_f32(&device, [1, 1], &[3e38]).expect("values");
        assert_eq!(read(&scm::matmul(&huge, &huge)), (vec![0.0], vec![true]));
    }
}

#[test]
fn indexed_rows_keep_their_bottoms_and_halves_overflow_to_bottom() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let x = Masked::with_mask(&device, [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0b001000]).expect("a mask");
        let index = Tensor::from_u32(&device, [3], &[2, 1, 1]).expect("room");
        assert_eq!(
            read(&scm::take_rows(&x, &index)),
            (vec![5.0, 6.0, 3.0, 0.0, 3.0, 0.0], vec![false, false, false, true, false, true])
        );
        assert_eq!(
            read(&scm::add_rows(&x, &index, 4)),
            (
                vec![0.0, 0.0, 8.0, 0.0, 1.0, 2.0, 0.0, 0.0],
                [false, false, false, true, false, false, false, false].to_vec()
            )
        );
        let half = scm::round_to_half(&masked(&device, &[1.0, 65_504.0, 65_520.0, -1e9, 3.0], &[4]));
        assert_eq!(read(&half), (vec![1.0, 65_504.0, 0.0, 0.0, 0.0], vec![false, false, true, true, true]));
    }
}

#[test]
fn faults_pass_through_reductions_and_products() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        // In rows: numbers; a division by zero; an overflow; both; ⊥ from elsewhere and an infinity; ⊥ throughout.
        let over = [1.0, 2.0, 1.0, 3.0, 3e38, 2.0, 1.0, 3e38, 5.0, f32::INFINITY, 1.0, 1.0];
        let under = [1.0, 2.0, 0.0, 1.0, 1e-3, 1.0, 0.0, 1e-3, 1.0, 1.0, 1.0, 1.0];
        let raw = |values: &[f32]| Var::constant(Tensor::from_f32(&device, [6, 2], values).expect("room"));
        let outside = Masked::with_mask(&device, [6, 2], &[0.0; 12], &[0b1101_0000_0000]).expect("a mask");
        let x = scm::add(&scm::div(&Masked::from(&raw(&over)).traced(), &Masked::from(&raw(&under))), &outside);
        let told = |x: &Masked| {
            let bits =
                |words: Vec<u32>| (0..x.shape().len()).map(|i| words[i / 32] >> (i % 32) & 1).collect::<Vec<_>>();
            (bits(block_on(x.mask()).expect("words")), bits(block_on(x.faults()).expect("traced")))
        };
        let name = device.info().name.clone();
        let (each, faults) = ([0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0]);
        assert_eq!(told(&x), (each.to_vec(), faults.to_vec()), "{name}");
        let strict = (vec![0, 1, 1, 1, 1, 1], vec![0, 0, 1, 1, 1, 0]);
        let drop = (vec![0, 0, 0, 1, 1, 1], vec![0, 0, 0, 1, 1, 0]);
        for (mode, expected) in [(BottomRule::Strict, strict), (BottomRule::Drop, drop)] {
            assert_eq!(told(&scm::sum(&x, 1..2, mode)), expected, "sum {mode:?} on {name}");
            assert_eq!(told(&scm::mean(&x, 1..2, mode)), expected, "mean {mode:?} on {name}");
            assert_eq!(told(&scm::prod(&x, 1..2, mode).expect("a product")), expected, "prod {mode:?} on {name}");
        }
        // A result that is not a float is a fault of the reduction itself; the other row only divides by zero.
        let large = Masked::from_f32(&device, [2, 2], &[3e38, 3e38, 1.0, 2.0]).expect("values").traced();
        for mode in [BottomRule::Strict, BottomRule::Drop] {
            assert_eq!(told(&scm::sum(&large, 1..2, mode)), (vec![1, 0], vec![1, 0]), "{mode:?} on {name}");
            assert_eq!(told(&scm::prod(&large, 1..2, mode).expect("a product")), (vec![1, 0], vec![1, 0]), "{name}");
        }
        let index = Tensor::from_u32(&device, [3], &[2, 1, 0]).expect("room");
        assert_eq!(told(&scm::take_rows(&x, &index)), (vec![1, 0, 1, 0, 0, 0], vec![1, 0, 0, 0, 0, 0]), "{name}");
        let places = Tensor::from_u32(&device, [6], &[0, 1, 0, 2, 2, 3]).expect("room");
        let added = told(&scm::add_rows(&x, &places, 4));
        assert_eq!(added, (vec![1, 0, 1, 0, 1, 1, 1, 1], vec![1, 0, 0, 0, 0, 1, 0, 0]), "{name}");
        // Columns of w: numbers, one that was never finite (an infinity that the product is the first to see).
        let w = Masked::from(&Var::constant(
            Tensor::from_f32(&device, [2, 2], &[1.0, f32::NEG_INFINITY, 1.0, 1.0]).expect("room"),
        ));
        let expected = (vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], vec![0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        assert_eq!(told(&scm::matmul(&x, &w)), expected, "{name}");
        let bias = masked(&device, &[0.0, 0.0], &[0]);
        let expected = (vec![1; 12], vec![0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        assert_eq!(told(&scm::linear(&x, &w, &bias)), expected, "{name}");
        let huge = told(&scm::matmul(&large, &large));
        assert_eq!(huge, (vec![1, 1, 0, 0], vec![1, 1, 0, 0]), "{name}");
        let half = masked(&device, &[1.0, 7e4, 2.0], &[2]).traced();
        assert_eq!(told(&scm::round_to_half(&half)), (vec![0, 1, 1], vec![0, 1, 0]), "{name}");
        // Numbers that are not traced stay untraced and have no fault planes.
        assert!(block_on(scm::sum(&masked(&device, &[1.0], &[0]), 0..1, BottomRule::Strict).faults()).is_err());
    }
}
