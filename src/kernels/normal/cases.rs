//! Cases of `normal`: numbers of parameters on both sides of the panel, every loss, weights, numbers of rows around a workgroup and a group, and rows
//! that are not finite.

use std::ops::Range;
use std::rc::Rc;

use super::{Residuals, dispatch, loss};
use crate::device::{Case, Expected};
use crate::kernels::evidence::{Numbers, case, within, words};
use crate::program::Program;
use crate::program::expr::square;

/// All cases.
pub fn cases() -> Vec<Case> {
    let plain = Example { parameters: 3, rows: 0..257, is_weighted: false, loss: Loss::Linear, bad: &[] };
    let mut examples: Vec<Example> = Vec::new();
    for parameters in [0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 16, 17, 33, 64] {
        for is_weighted in [false, true] {
            examples.push(Example { parameters, is_weighted, ..plain.clone() });
        }
    }
    for rows in [0, 1, 255, 256, 1024, 1025, 5000] {
        for parameters in [3, 10, 17] {
            examples.push(Example { parameters, rows: 0..rows, ..plain.clone() });
        }
    }
    for loss in [Loss::SoftL1, Loss::Huber, Loss::Cauchy, Loss::Arctan] {
        for (parameters, is_weighted) in [(1, false), (3, true), (9, false), (10, false), (17, true)] {
            examples.push(Example { parameters, is_weighted, loss, ..plain.clone() });
        }
    }
    for (parameters, rows) in [(1, 7..1300), (9, 100..5000), (17, 64..320)] {
        let example = Example { parameters, rows, bad: &[0, 9, 64, 65, 1290], ..plain.clone() };
        examples.push(Example { loss: Loss::Cauchy, is_weighted: true, ..example.clone() });
        examples.push(example);
    }
    examples.iter().map(Example::case).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    Linear,
    SoftL1,
    Huber,
    Cauchy,
    Arctan,
}

impl Loss {
    fn program(self) -> Option<Program> {
        match self {
            Self::Linear => None,
            Self::SoftL1 => Some(loss::soft_l1()),
            Self::Huber => Some(loss::huber()),
            Self::Cauchy => Some(loss::cauchy()),
            Self::Arctan => Some(loss::arctan()),
        }
    }

    /// ρ(z), ρ'(z) and ρ''(z).
    fn at(self, z: f64) -> [f64; 3] {
        let root = (1.0 + z).sqrt();
        match self {
            Self::SoftL1 => [2.0 * root - 2.0, 1.0 / root, -0.5 / root.powi(3)],
            Self::Huber if z > 1.0 => [2.0 * z.sqrt() - 1.0, z.powf(-0.5), -0.5 * z.powf(-1.5)],
            Self::Linear | Self::Huber => [z, 1.0, 0.0],
            Self::Cauchy => [(1.0 + z).ln(), 1.0 / (1.0 + z), -(1.0 + z).powi(-2)],
            Self::Arctan => [z.atan(), 1.0 / (1.0 + z * z), -2.0 * z * (1.0 + z * z).powi(-2)],
        }
    }
}

/// The loss scale.
const SCALE: f64 = 0.5;

/// A fit of f = s + Σ p_k v / (1 + k/4 + (p_k u)²) to noise, with a scalar s that is not a parameter, to some rows of the columns u and v.
#[derive(Clone)]
struct Example {
    parameters: usize,
    rows: Range<usize>,
    is_weighted: bool,
    loss: Loss,
    /// Rows that are not finite, some of them outside of `rows`.
    bad: &'static [usize],
}

impl Example {
    fn case(&self) -> Case {
        let stride = self.rows.end + 3;
        let mut numbers = Numbers::new(19);
        let mut columns: Vec<Vec<f32>> = (0..4).map(|_| numbers.floats(stride)).collect();
        columns[3].iter_mut().for_each(|weight| *weight = 1.0 + 0.5 * *weight);
        for (at, &row) in self.bad.iter().enumerate().filter(|(_, row)| **row < stride) {
            columns[[0, 2, 2][at % 3]][row] = [f32::NAN, f32::NAN, f32::INFINITY][at % 3];
        }
        let scalars = numbers.floats(self.parameters + 1);
        let data = columns[..3 + usize::from(self.is_weighted)].concat();
        let (sums, bad) = self.expected(&columns, &scalars);
        let name = format!(
            "{} parameters, rows {:?}, {:?}{}{}",
            self.parameters,
            self.rows,
            self.loss,
            if self.is_weighted { ", weighted" } else { "" },
            if self.bad.is_empty() { "" } else { ", not all finite" }
        );
        // Terms are at most about 10, those of 64 parameters with a relative error of 1e-6; errors of the terms add like the square root of their number.
        let bound = within(2e-6, 2e-5);
        let expected = vec![Expected::Floats(sums), Expected::Words(bad)];
        case(name, bound, vec![words(&data), words(&scalars)], expected, |inputs, out| {
            let residuals = Rc::new(self.residuals());
            let [inputs, outputs] = [inputs, out].map(|views| [views[0].clone(), views[1].clone()]);
            dispatch(residuals, self.rows.clone(), stride, SCALE as f32, inputs, outputs).expect("a correct dispatch")
        })
    }

    fn residuals(&self) -> Residuals {
        let count = self.parameters;
        let value = Program::build(count + 3, |inputs| {
            let (u, v) = (inputs[count + 1], inputs[count + 2]);
            (0..count)
                .fold(inputs[count], |sum, k| sum + inputs[k] * v / (1.0 + 0.25 * k as f64 + square(inputs[k] * u)))
        });
        let program = value.with_gradient(&(0..count).collect::<Vec<_>>());
        Residuals { program, columns: 2, is_weighted: self.is_weighted, loss: self.loss.program() }
    }

    /// The residual and the derivatives of a row.
    fn row(&self, [u, v, y, weight]: [f64; 4], scalars: &[f32]) -> Vec<f64> {
        let weight = if self.is_weighted { weight } else { 1.0 };
        let mut row = vec![f64::from(scalars[self.parameters]) - y];
        for (k, &p) in scalars[..self.parameters].iter().enumerate() {
            let (p, constant) = (f64::from(p), 1.0 + 0.25 * k as f64);
            let square = (p * u).powi(2);
            row[0] += p * v / (constant + square);
            row.push(v * (constant - square) / (constant + square).powi(2));
        }
        row.iter().map(|value| value * weight).collect()
    }

    /// The sums of each group of 1,024 rows, and its counters.
    fn expected(&self, columns: &[Vec<f32>], scalars: &[f32]) -> (Vec<f64>, Vec<u32>) {
        let (mut sums, mut counters) = (Vec::new(), Vec::new());
        for first in (0..self.rows.len().max(1)).step_by(1024) {
            let mut group = vec![0.0; self.residuals().size()];
            let mut bad = [0, u32::MAX];
            for at in self.rows.clone().skip(first).take(1024) {
                let mut row = self.row(std::array::from_fn(|column| f64::from(columns[column][at])), scalars);
                if row.iter().any(|value| !value.is_finite()) {
                    bad = [bad[0] + 1, bad[1].min(at as u32)];
                    continue;
                }
                let (r, z) = (row[0], (row[0] / SCALE).powi(2));
                let [rho, slope, curvature] = self.loss.at(z);
                let factor = (slope + 2.0 * curvature * z).max(f64::EPSILON).sqrt();
                // The derivatives, then the residual.
                row.rotate_left(1);
                row = row.iter().map(|value| value * factor).collect();
                row[self.parameters] = r * slope / factor;
                let pairs = (0..self.parameters).flat_map(|i| (i..=self.parameters).map(move |j| (i, j)));
                let products = pairs.map(|(i, j)| row[i] * row[j]).chain([r * r, 0.5 * SCALE * SCALE * rho]);
                group.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
            }
            sums.extend(group);
            counters.extend(bad);
        }
        (sums, counters)
    }
}
