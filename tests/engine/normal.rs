//! The kernel `normal` over many rows: totals agree with sums in f64, are the same to the bit each time and with any number of threads, and a
//! launch that does not fit its views is an error.

use std::ops::Range;
use std::rc::Rc;

use crate::devices::devices;
use crate::noise::noise;
use meromorph::device::{Command, Device};
use meromorph::error::Result;
use meromorph::internal::kernels::normal::{self, Residuals, Totals, loss};
use meromorph::program::Program;
use meromorph::program::expr::exp;
use pollster::block_on;

const ROWS: usize = 300_000;
const POINT: [f64; 3] = [1.25, 2.0, 0.25];

/// a exp(-b x) + c, its derivatives, and what depends on the parameters only as further scalars.
fn residuals() -> (Residuals, Vec<f32>) {
    let value = Program::build(4, |x| x[0] * exp(x[1] * -1.0 * x[3]) + x[2]);
    let (outer, rest) = value.with_gradient(&[0, 1, 2]).split(|at| at < 3);
    let count = outer.results.len();
    let program = Program::with_results(4 + count, |inputs| {
        let (scalars, column) = inputs.split_at(3 + count);
        rest.emit_all(&[&scalars[..3], column, &scalars[3..]].concat())
    });
    let scalars = POINT.iter().chain(&outer.at(&POINT)).map(|&value| value as f32).collect();
    (Residuals { program, columns: 1, is_weighted: false, loss: None }, scalars)
}

/// x in [0, 2), and y with noise.
fn data() -> [Vec<f32>; 2] {
    let x: Vec<f32> = noise(ROWS, 3).iter().map(|x| x + 1.0).collect();
    let y = x.iter().zip(noise(ROWS, 4)).map(|(x, noise)| 1.2 * (-2.1 * x).exp() + 0.25 + 0.01 * noise);
    [x.clone(), y.collect()]
}

fn launch(device: &Device, data: &[f32], rows: Range<usize>) -> Result<(Totals, Vec<u32>)> {
    let (residuals, scalars) = residuals();
    let size = residuals.size();
    let upload = |values: &[f32]| device.upload(bytemuck::cast_slice(values)).map(|buffer| buffer.view());
    let groups = normal::groups(rows.len());
    let [sums, bad] = [groups * size, 2 * groups].map(|words| device.buffer(words).view());
    let (inputs, outputs) = ([upload(data)?, upload(&scalars)?], [sums.clone(), bad.clone()]);
    device.record(Command::Dispatch(normal::dispatch(Rc::new(residuals), rows, ROWS, 1.0, inputs, outputs)?));
    let (words, bad) = (block_on(device.read(&sums))?, block_on(device.read(&bad))?);
    Ok((normal::totals(size, bytemuck::cast_slice(&words), &bad), words))
}

#[test]
fn totals_agree_with_sums_in_f64() {
    let [x, y] = data();
    let mut expected = [0.0; 11];
    for (x, y) in x.iter().zip(&y).map(|(&x, &y)| (f64::from(x), f64::from(y))) {
        let [a, b, c] = POINT;
        let e = (-b * x).exp();
        let row = [e, -a * x * e, 1.0, a * e + c - y];
        let products = (0..3).flat_map(|i| (i..4).map(move |j| row[i] * row[j])).chain([row[3] * row[3]; 2]);
        expected.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
    }
    expected[10] *= 0.5;
    for device in devices(&[1, 2]) {
        let (totals, _) = launch(&device, &[&x[..], &y].concat(), 0..ROWS).unwrap();
        assert_eq!((totals.bad, totals.first_bad), (0, None));
        for (at, (got, expected)) in totals.sums.iter().zip(expected).enumerate() {
            // Of an exponential, devices may be off by a few units in the last place, in the same direction for all rows.
            assert!((got - expected).abs() < 1e-5 * expected.abs(), "{}, {at}: {got} {expected}", device.info().name);
        }
    }
}

#[test]
fn the_same_rows_have_the_same_bits() {
    let data = data().concat();
    let all: Vec<_> =
        devices(&[1, 2, 3]).iter().map(|device| [(); 2].map(|()| launch(device, &data, 7..ROWS))).collect();
    let bits: Vec<_> = all.into_iter().map(|two| two.map(|one| one.unwrap().1)).collect();
    assert!(bits.iter().all(|[one, other]| one == other));
    assert!(bits[0] == bits[1] && bits[1] == bits[2], "the number of threads changes bits");
}

#[test]
fn rows_that_are_not_finite_are_named_by_their_place() {
    let mut data = data().concat();
    for row in [5, 4000, 250_000, 250_001] {
        data[row] = f32::NAN;
    }
    data[ROWS + 100_000] = f32::INFINITY;
    for device in devices(&[2]) {
        for (rows, bad, first) in
            [(0..ROWS, 5, 5), (6..ROWS, 4, 4000), (4001..100_000, 0, 0), (200_000..ROWS, 2, 250_000)]
        {
            let (totals, _) = launch(&device, &data, rows).unwrap();
            assert_eq!((totals.bad, totals.first_bad), (bad, (bad > 0).then_some(first)), "{}", device.info().name);
            assert!(totals.sums.iter().all(|sum| sum.is_finite()));
        }
    }
}

#[test]
fn a_launch_that_does_not_fit_is_an_error() {
    let device = Device::dry();
    let tried = |residuals: Residuals, [data, scalars, sums, bad]: [usize; 4], rows: Range<usize>, scale: f32| {
        let [data, scalars, sums, bad] = [data, scalars, sums, bad].map(|words| device.buffer(words).view());
        let made = normal::dispatch(Rc::new(residuals), rows, 2000, scale, [data, scalars], [sums, bad]);
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let fits = [4000, 6, 22, 4];
    let plain = || residuals().0;
    let many = || {
        let program = Program::with_results(66, <[_]>::to_vec);
        Residuals { program, ..plain() }
    };
    let robust = |loss| Residuals { loss: Some(loss), ..plain() };
    let scalars = residuals().1.len();
    assert_eq!(tried(plain(), fits, 0..2000, 0.0), "");
    let rows = [
        (tried(many(), fits, 0..2000, 1.0), "normal: got 65 parameters, expected at most 64".to_owned()),
        (
            tried(plain(), [3999, 6, 22, 4], 0..2000, 1.0),
            "normal: got 3999 words of data, expected at least 4000".to_owned(),
        ),
        (
            tried(plain(), [4000, 0, 22, 4], 0..2000, 1.0),
            format!("normal: got 0 words of scalars, expected at least {scalars}"),
        ),
        (
            tried(plain(), [4000, 6, 21, 4], 0..2000, 1.0),
            "normal: got 21 words of sums, expected at least 22".to_owned(),
        ),
        (
            tried(plain(), [4000, 6, 22, 2], 0..2000, 1.0),
            "normal: got 2 words of bad rows, expected at least 4".to_owned(),
        ),
        (
            tried(plain(), fits, 1..2001, 1.0),
            "normal: got rows up to 2001, expected at most the stride 2000".to_owned(),
        ),
        (
            tried(robust(loss::huber()), fits, 0..2000, 0.0),
            "normal: got the loss scale 0, expected a positive number".to_owned(),
        ),
        (
            tried(robust(Program::build(1, |z| z[0])), fits, 0..2000, 1.0),
            "normal: got a loss with 1 inputs and 1 results, expected 1 and 3".to_owned(),
        ),
    ];
    for (got, expected) in rows {
        assert_eq!(got, expected);
    }
}
