//! Total arithmetic: the properties that the original package's tests check (numbered as in its list), gradients that are finite for any bits,
//! masks that are the same on every device, and composed operations compared with plain loops.

mod properties;
mod reductions;

use meromorph::autograd::Var;
use meromorph::device::Request;
use meromorph::scm::{self, Masked};
use meromorph::tensor::Tensor;
use meromorph::{Device, ops};
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
    let request = Request { device: crate::devices::gpu(), ..Request::default() };
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
                    Masked::from(&Var::constant(Tensor::from_f32(device, [column.len()], column).expect("an upload")))
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
                .map(|column| Var::leaf(Tensor::from_f32(&device, [column.len()], column).expect("an upload")))
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
    let leaf = || Var::leaf(Tensor::from_f32(&device, [4], &x).expect("an upload"));
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
        let leaf = Var::leaf(Tensor::from_f32(&device, [1], &[x]).expect("an upload"));
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
    let scalar = Var::leaf(Tensor::from_f32(&device, [1], &[2.0]).expect("an upload"));
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
        let raw = Var::constant(Tensor::from_f32(&device, [2], &[f32::INFINITY, 1.0]).expect("an upload"));
        let logs = scm::log(&scm::neg(&Masked::from(&raw).traced()));
        assert_eq!(read(&logs).1, [true, true]);
        assert_eq!(block_on(logs.faults()).expect("traced"), [0b01]);
    }
    let device = Device::cpu(1);
    assert!(block_on(masked(&device, &[1.0], &[]).faults()).is_err());
}
