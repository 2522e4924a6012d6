//! Masked complex tensors compared with the scalar type, on random numbers and special patterns, on every device.

#[path = "../../../tests/engine/devices.rs"]
mod devices;

use devices::devices;
use meromorph::Device;
use meromorph::autograd::Var;
use meromorph::scm::{self, Masked};
use meromorph::tensor::Tensor;
use meromorph_meadow::{Complex, ComplexTensor, Scm};
use pollster::block_on;

/// Critical sizes of numbers.
const SPECIAL: [f32; 17] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.7,
    1e-30,
    -1e-30,
    1e-20,
    1e19,
    1e30,
    -1e38,
    3e38,
    20.5,
    -89.0,
    95.0,
    f32::MIN_POSITIVE,
];

/// Every pair of critical sizes, then numbers of many sizes.
fn numbers(seed: u32, shift: usize) -> Vec<[f32; 2]> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let unit = (state >> 8) as f32 / 16_777_216.0;
        let sign = if state & 128 == 0 { 1.0 } else { -1.0 };
        sign * (8.0 * unit - 5.0).exp()
    };
    let mut all: Vec<[f32; 2]> = SPECIAL.iter().flat_map(|&re| SPECIAL.map(|im| [re, im])).collect();
    all.rotate_left(shift);
    all.extend((0..3000).map(|_| [next(), next()]));
    all
}

fn planar(device: &Device, numbers: &[[f32; 2]]) -> ComplexTensor {
    let part = |at: usize| {
        let values: Vec<f32> = numbers.iter().map(|z| z[at]).collect();
        Masked::from_f32(device, [numbers.len()], &values).unwrap()
    };
    ComplexTensor::new(&part(0), &part(1))
}

/// Both parts of each number, or `None` for ⊥.
fn read(z: &ComplexTensor) -> Vec<Option<[f32; 2]>> {
    let [re, im] = [z.re(), &z.im()].map(|part| block_on(part.value().value().to_f32()).unwrap());
    let [mask, same] = [z.re(), &z.im()].map(|part| block_on(part.mask()).unwrap());
    assert_eq!(mask, same, "one mask for both parts");
    let one = |(at, (re, im)): (usize, (f32, f32))| {
        let is_bottom = mask[at / 32] >> (at % 32) & 1 == 1;
        assert!(!is_bottom || (re.to_bits(), im.to_bits()) == (0, 0), "0 under ⊥");
        (!is_bottom).then_some([re, im])
    };
    re.into_iter().zip(im).enumerate().map(one).collect()
}

/// An operation on tensors and on scalars, the largest size of its arguments, and its allowed error relative to the result.
struct Operation {
    name: &'static str,
    tensor: fn(&ComplexTensor, &ComplexTensor) -> ComplexTensor,
    scalar: fn(Scm, Scm) -> Scm,
    most: [f32; 2],
    off: f64,
}

const ANY: [f32; 2] = [f32::MAX; 2];

/// In the order of the scalar type's.
const OPERATIONS: &[Operation] = &[
    Operation { name: "add", tensor: ComplexTensor::add, scalar: |a, b| a + b, most: ANY, off: 2e-7 },
    Operation { name: "sub", tensor: ComplexTensor::sub, scalar: |a, b| a - b, most: ANY, off: 2e-7 },
    Operation { name: "mul", tensor: ComplexTensor::mul, scalar: |a, b| a * b, most: [1e19; 2], off: 4e-7 },
    Operation { name: "div", tensor: ComplexTensor::div, scalar: |a, b| a / b, most: ANY, off: 2e-6 },
    Operation { name: "neg", tensor: |a, _| a.neg(), scalar: |a, _| -a, most: ANY, off: 0.0 },
    Operation { name: "inv", tensor: |a, _| a.inv(), scalar: |a, _| a.inv(), most: ANY, off: 2e-6 },
    Operation { name: "sqrt", tensor: |a, _| a.sqrt(), scalar: |a, _| a.sqrt(), most: ANY, off: 1e-6 },
    Operation { name: "ln", tensor: |a, _| a.ln(), scalar: |a, _| a.ln(), most: ANY, off: 4e-5 },
    Operation { name: "exp", tensor: |a, _| a.exp(), scalar: |a, _| a.exp(), most: [3e38, 100.0], off: 2e-5 },
    Operation { name: "sin", tensor: |a, _| a.sin(), scalar: |a, _| a.sin(), most: [100.0, 3e38], off: 2e-5 },
    Operation { name: "cos", tensor: |a, _| a.cos(), scalar: |a, _| a.cos(), most: [100.0, 3e38], off: 2e-5 },
    Operation { name: "tan", tensor: |a, _| a.tan(), scalar: |a, _| a.tan(), most: [50.0, 3e38], off: 2e-4 },
    Operation { name: "pow 0", tensor: |a, _| a.pow(0.0), scalar: |a, _| a.pow(0.0), most: ANY, off: 0.0 },
    Operation { name: "pow 3", tensor: |a, _| a.pow(3.0), scalar: |a, _| a.pow(3.0), most: [1e12; 2], off: 2e-6 },
    Operation { name: "pow -2", tensor: |a, _| a.pow(-2.0), scalar: |a, _| a.pow(-2.0), most: [1e19; 2], off: 4e-6 },
    Operation {
        name: "pow 0.4",
        tensor: |a, _| a.pow(0.4),
        scalar: |a, _| a.pow(f64::from(0.4_f32)),
        most: ANY,
        off: 1e-5,
    },
    Operation { name: "pow -1.5", tensor: |a, _| a.pow(-1.5), scalar: |a, _| a.pow(-1.5), most: ANY, off: 3e-5 },
    Operation { name: "pow NaN", tensor: |a, _| a.pow(f32::NAN), scalar: |a, _| a.pow(f64::NAN), most: ANY, off: 0.0 },
];

/// Whether a result is wrong: it must be ⊥ where the scalar is ⊥ or too large for a float, and a number where the scalar is clearly smaller.
fn problem(got: Option<[f32; 2]>, expected: Scm, off: f64) -> bool {
    let Some(Complex { re, im }) = expected.number() else { return got.is_some() };
    let largest = re.abs().max(im.abs()) / f64::from(f32::MAX);
    match got {
        None => largest < 0.999,
        Some(_) if largest > 1.000_01 => true,
        Some([x, y]) => {
            let error = (f64::from(x) - re).hypot(f64::from(y) - im);
            // Subnormal numbers have fewer bits, and some devices flush them.
            largest < 1.0 && error > off * re.hypot(im) + 2.0 * f64::from(f32::MIN_POSITIVE)
        }
    }
}

#[test]
fn tensors_of_complex_numbers_agree_with_the_scalar_type() {
    let (first, second) = (numbers(5, 0), numbers(9, 101));
    let scalar = |z: [f32; 2]| Scm::complex(f64::from(z[0]), f64::from(z[1])).unwrap();
    let mut masks: Vec<Vec<Vec<bool>>> = Vec::new();
    for device in devices(&[2]) {
        let mut failures = Vec::new();
        let mut told = Vec::new();
        for Operation { name, tensor, scalar: exact, most, off } in OPERATIONS {
            let fits = |z: &[f32; 2]| z[0].abs() <= most[0] && z[1].abs() <= most[1];
            let pairs: Vec<([f32; 2], [f32; 2])> =
                first.iter().copied().zip(second.iter().copied()).filter(|(a, b)| fits(a) && fits(b)).collect();
            let (a, b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let got = read(&tensor(&planar(&device, &a), &planar(&device, &b)));
            told.push(got.iter().map(Option::is_none).collect());
            let bad: Vec<_> =
                (0..got.len()).filter(|&at| problem(got[at], exact(scalar(a[at]), scalar(b[at])), *off)).collect();
            if let Some(&at) = bad.first() {
                let expected = exact(scalar(a[at]), scalar(b[at]));
                failures.push(format!(
                    "{name}: {} of {}: {:?} of {:?}, {:?} for {expected}",
                    bad.len(),
                    got.len(),
                    got[at],
                    a[at],
                    b[at]
                ));
            }
        }
        assert!(failures.is_empty(), "on {}\n{}", device.info().name, failures.join("\n"));
        masks.push(told);
    }
    assert!(masks.iter().all(|told| *told == masks[0]), "masks are the same on every device");
}

#[test]
fn sizes_and_angles_are_masked_numbers() {
    for device in devices(&[2]) {
        let z = planar(&device, &[[3.0, -4.0], [0.0, 0.0], [-2.0, 0.0], [-2.0, -0.0], [3e38, 3e38], [f32::NAN, 1.0]]);
        let read = |x: &Masked| (block_on(x.value().value().to_f32()).unwrap(), block_on(x.mask()).unwrap());
        assert_eq!(read(&z.modulus()), (vec![5.0, 0.0, 2.0, 2.0, 0.0, 0.0], vec![0b11_0000]));
        let (angles, mask) = read(&z.argument());
        let pi = std::f32::consts::PI;
        let expected = [-0.927_295_2, 0.0, pi, pi, pi / 4.0, 0.0];
        assert!(angles.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{angles:?}");
        assert_eq!(mask, [0b10_0000]);
    }
}

#[test]
fn bottom_and_its_cause_pass_through_both_parts() {
    for device in devices(&[2]) {
        let masked = |values: &[f32], mask: u32| Masked::with_mask(&device, [4], values, &[mask]).unwrap();
        let z =
            ComplexTensor::new(&masked(&[1.0, 1.0, 3e38, 2.0], 0).traced(), &masked(&[0.0, 5.0, 3e38, 0.0], 0b0010));
        let w = ComplexTensor::new(&masked(&[0.0, 1.0, 2.0, 4.0], 0).traced(), &masked(&[0.0, 1.0, 2.0, 0.0], 0));
        let words = |made: ComplexTensor| {
            [made.re(), &made.im()].map(|part| (block_on(part.mask()).unwrap(), block_on(part.faults()).unwrap()))
        };
        // A divisor of 0, a part that was ⊥, a product that is not a float, a number.
        let (quotient, product) = (words(z.div(&w)), words(z.mul(&w)));
        assert_eq!(quotient, [(vec![0b0011], vec![0]), (vec![0b0011], vec![0])], "on {}", device.info().name);
        assert_eq!(product, [(vec![0b0110], vec![0b0100]), (vec![0b0110], vec![0b0100])], "on {}", device.info().name);
    }
}

#[test]
fn gradients_are_finite_and_equal_the_derivative() {
    for device in devices(&[2]) {
        let values = numbers(3, 7);
        let leaf = |at: usize| {
            let part: Vec<f32> = values.iter().map(|z| z[at]).collect();
            Var::leaf(Tensor::from_f32(&device, [values.len()], &part).unwrap())
        };
        let parts = [leaf(0), leaf(1)];
        let z = ComplexTensor::new(&Masked::from(&parts[0]), &Masked::from(&parts[1]));
        // A software GPU is slow to compile a program for each part and slope.
        let is_asked = |name: &str| device.info().device == "cpu" || ["div", "sqrt", "ln"].contains(&name);
        for Operation { name, tensor, .. } in OPERATIONS.iter().filter(|operation| is_asked(operation.name)) {
            let made = tensor(&z, &z);
            for part in [made.re(), &made.im()] {
                for gradient in scm::grad(part.value(), &[&parts[0], &parts[1]]).unwrap().into_iter().flatten() {
                    let gradient = block_on(gradient.value().to_f32()).unwrap();
                    let bad = gradient.iter().position(|g| !g.is_finite());
                    assert!(bad.is_none(), "{name} on {}: {:?}", device.info().name, values[bad.unwrap()]);
                }
            }
        }
        // d(z³)/dz = 3 z², whose parts are the slopes of the real part along re and, with its sign turned, along im.
        let at = [Var::leaf(Tensor::scalar(&device, 1.5)), Var::leaf(Tensor::scalar(&device, -0.5))];
        let cube = ComplexTensor::new(&Masked::from(&at[0]), &Masked::from(&at[1])).pow(3.0);
        let slopes = scm::grad(cube.re().value(), &[&at[0], &at[1]]).unwrap();
        let slopes: Vec<f32> = slopes.iter().flatten().map(|g| block_on(g.value().to_f32()).unwrap()[0]).collect();
        assert!((slopes[0] - 6.0).abs() < 1e-5 && (slopes[1] - 4.5).abs() < 1e-5, "{slopes:?}");
    }
}
