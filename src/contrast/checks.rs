//! Checks of a device before a run: that what the rules rely on holds there.

use super::curvature::{collapsed, collapsed_diagonal};
use super::map::{Form, Map, Metric};
use super::rotors::Rotors;
use crate::autograd::Var;
use crate::device::Device;
use crate::error::Result;
use crate::ops;
use crate::record;
use crate::tensor::Tensor;

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfCheck {
    /// What was checked.
    pub name: String,
    /// The largest relative error.
    pub error: f64,
    /// The largest one that is accepted.
    pub bound: f64,
}

record! { SelfCheck { name, error, bound } }

impl SelfCheck {
    /// Whether it holds.
    pub fn is_passed(&self) -> bool {
        self.error <= self.bound
    }
}

/// Rows of a check.
const ROWS: usize = 4;
/// Coordinates of a collapse at most.
const COLLAPSED: usize = 8;
/// The bound of Trainer2 for forms that must agree.
const BOUND: f64 = 1e-4;

/// Whether a collapse gives a finite R for each row, the diagonal form of a metric is the dense one, and rotations by random angles keep norms.
///
/// Errors if the device fails.
pub async fn self_checks(device: &Device, rotors: Rotors) -> Result<Vec<SelfCheck>> {
    let n = rotors.coordinates;
    let drawn = |shape: &[usize], stream: u32| ops::normal(device, shape.to_vec(), 7, stream).map(Var::constant);
    let check = |name: &str, error: f64| SelfCheck { name: name.to_owned(), error, bound: BOUND };

    let dense_of = |weights: &Var| {
        let n = weights.shape().sizes()[0];
        let unit: Vec<f32> = (0..n * n).map(|at| f32::from(u8::from(at / n == at % n))).collect();
        ops::mul(&Var::constant(Tensor::constant(device, [n, n], &unit)), &ops::reshape(weights, [n, 1]))
    };
    let logarithms = drawn(&[n], 1)?;
    let dense = dense_of(&ops::exp(&logarithms));
    // A tensor has n^4 numbers.
    let few = n.min(COLLAPSED);
    let tensor = drawn(&[ROWS, few.pow(4)], 0)?;
    let weights = ops::exp(&ops::slice(&logarithms, 0, 0..few));
    let collapses = [collapsed(&tensor, &dense_of(&weights), 1e-8), collapsed_diagonal(&tensor, &weights, 1e-8)];
    let [whole, short] = [read(&collapses[0]).await?, read(&collapses[1]).await?];
    let is_sound = whole.len() == ROWS && short.len() == ROWS && whole.iter().chain(&short).all(|r| r.is_finite());
    // Of the dense inverse of this metric only the diagonal entries are not 0.
    let error = if is_sound { apart(&whole, &short) } else { f64::INFINITY };

    let rows = drawn(&[ROWS, n], 2)?;
    let angles = drawn(&[rotors.angles], 3)?;
    let map = Map::new(n, Form::Metric(Metric::Diagonal, None))?;
    let mapped = ops::product(&rows, &map.matrix(&[logarithms]), false, true);
    let forms = ops::mul(&ops::matmul(&rows, &dense), &rows);
    let [diagonal, full] = [squares(&mapped), ops::sum(&forms, 1..2)];
    let turned = rotors.apply(&angles, &ops::transpose(&rows));
    let [before, after] = [squares(&rows), squares(&ops::transpose(&turned))];
    Ok(vec![
        check("R from a tensor is finite for each row", error),
        check("a diagonal metric is the dense one", apart(&read(&diagonal).await?, &read(&full).await?)),
        check("rotations keep norms", apart(&read(&after).await?, &read(&before).await?)),
    ])
}

async fn read(var: &Var) -> Result<Vec<f32>> {
    var.value().to_f32().await
}

/// |x|² of each row.
fn squares(x: &Var) -> Var {
    ops::sum(&ops::mul(x, x), 1..2)
}

/// The largest difference, relative to the second; infinite if a number is not finite.
fn apart(got: &[f32], expected: &[f32]) -> f64 {
    let errors = got.iter().zip(expected).map(|(got, expected)| f64::from((got - expected).abs() / expected.abs()));
    errors.fold(0.0, |worst, error| {
        if error <= worst {
            worst
        } else if error.is_finite() {
            error
        } else {
            f64::INFINITY
        }
    })
}
