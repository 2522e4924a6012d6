//! The reference: hyper-dual numbers in f64 (Fike and Alonso 2011), which know nothing of the engine. A function of them computes its value, its
//! slopes along two directions, and its second derivative along both, without rounding beyond that of f64.

use std::ops::{Add, Mul, Neg, Sub};

use statrs::function::erf;

/// v + a ε₁ + b ε₂ + ab ε₁ε₂ with ε₁² = ε₂² = 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dual {
    pub(crate) v: f64,
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) ab: f64,
}

impl Dual {
    pub(crate) fn constant(v: f64) -> Self {
        Self { v, ..Self::default() }
    }

    /// f of it, by f(v), f'(v) and f''(v).
    pub(crate) fn lift(self, [value, first, second]: [f64; 3]) -> Self {
        Self { v: value, a: first * self.a, b: first * self.b, ab: first * self.ab + second * self.a * self.b }
    }

    pub(crate) fn exp(self) -> Self {
        self.lift([self.v.exp(); 3])
    }

    pub(crate) fn ln(self) -> Self {
        self.lift([self.v.ln(), 1.0 / self.v, -1.0 / (self.v * self.v)])
    }

    pub(crate) fn sin(self) -> Self {
        self.lift([self.v.sin(), self.v.cos(), -self.v.sin()])
    }

    pub(crate) fn cos(self) -> Self {
        self.lift([self.v.cos(), -self.v.sin(), -self.v.cos()])
    }

    pub(crate) fn tanh(self) -> Self {
        let y = self.v.tanh();
        self.lift([y, 1.0 - y * y, -2.0 * y * (1.0 - y * y)])
    }

    pub(crate) fn recip(self) -> Self {
        let y = 1.0 / self.v;
        self.lift([y, -y * y, 2.0 * y * y * y])
    }

    pub(crate) fn sqrt(self) -> Self {
        let y = self.v.sqrt();
        self.lift([y, 0.5 / y, -0.25 / (y * self.v)])
    }

    pub(crate) fn abs(self) -> Self {
        self.scale(self.v.signum())
    }

    pub(crate) fn atan(self) -> Self {
        let square = 1.0 + self.v * self.v;
        self.lift([self.v.atan(), 1.0 / square, -2.0 * self.v / (square * square)])
    }

    pub(crate) fn erf(self) -> Self {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-self.v * self.v).exp();
        self.lift([erf::erf(self.v), slope, -2.0 * self.v * slope])
    }

    pub(crate) fn sigmoid(self) -> Self {
        (Self::constant(1.0) + (-self).exp()).recip()
    }

    pub(crate) fn softplus(self) -> Self {
        (Self::constant(1.0) + self.exp()).ln()
    }

    pub(crate) fn scale(self, by: f64) -> Self {
        Self { v: by * self.v, a: by * self.a, b: by * self.b, ab: by * self.ab }
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { v: self.v + other.v, a: self.a + other.a, b: self.b + other.b, ab: self.ab + other.ab }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        self.scale(-1.0)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self {
            v: self.v * other.v,
            a: self.a * other.v + self.v * other.a,
            b: self.b * other.v + self.v * other.b,
            ab: self.ab * other.v + self.a * other.b + self.b * other.a + self.v * other.ab,
        }
    }
}

impl std::iter::Sum for Dual {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// [rows, columns], row-major.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) columns: usize,
    pub(crate) data: Vec<Dual>,
}

impl Matrix {
    pub(crate) fn build(rows: usize, columns: usize, at: impl Fn(usize, usize) -> Dual) -> Self {
        Self { columns, data: (0..rows * columns).map(|k| at(k / columns, k % columns)).collect() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.data.len() / self.columns
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> Dual {
        self.data[row * self.columns + column]
    }

    pub(crate) fn row(&self, row: usize) -> &[Dual] {
        &self.data[row * self.columns..(row + 1) * self.columns]
    }

    pub(crate) fn map(&self, f: impl Fn(Dual) -> Dual) -> Self {
        Self { columns: self.columns, data: self.data.iter().map(|x| f(*x)).collect() }
    }

    pub(crate) fn zip(&self, other: &Self, f: impl Fn(Dual, Dual) -> Dual) -> Self {
        Self { columns: self.columns, data: self.data.iter().zip(&other.data).map(|(x, y)| f(*x, *y)).collect() }
    }

    /// Each row by a function of it.
    pub(crate) fn map_rows(&self, f: impl Fn(&[Dual]) -> Vec<Dual>) -> Self {
        Self { columns: self.columns, data: (0..self.rows()).flat_map(|row| f(self.row(row))).collect() }
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::build(self.columns, self.rows(), |row, column| self.at(column, row))
    }

    pub(crate) fn product(&self, other: &Self) -> Self {
        let entry = |row, column| (0..self.columns).map(|k| self.at(row, k) * other.at(k, column)).sum();
        Self::build(self.rows(), other.columns, entry)
    }

    /// x Wᵀ + b.
    pub(crate) fn dense(&self, weight: &Self, bias: &Self) -> Self {
        let made = self.product(&weight.transposed());
        Self::build(made.rows(), made.columns, |row, column| made.at(row, column) + bias.data[column])
    }
}

/// A smooth activation by its name.
pub(crate) fn activation(name: &str, x: Dual) -> Dual {
    match name {
        "elu" if x.v > 0.0 => x,
        "elu" => x.exp() - Dual::constant(1.0),
        "gelu" => {
            let inner = x + (x * x * x).scale(0.044_715);
            (x + x * inner.scale((2.0 / std::f64::consts::PI).sqrt()).tanh()).scale(0.5)
        }
        "mish" => x * x.softplus().tanh(),
        "sigmoid" => x.sigmoid(),
        "silu" => x * x.sigmoid(),
        "softplus" => x.softplus(),
        "tanh" => x.tanh(),
        _ => unreachable!("{name} is not a smooth activation"),
    }
}

/// A scalar function of several arrays at `values`: its derivative along `directions` and the product of its Hessian with them.
pub(crate) fn products(
    values: &[Vec<f32>],
    directions: &[Vec<f32>],
    function: impl Fn(&[Vec<Dual>]) -> Dual,
) -> (f64, Vec<f64>) {
    let along: Vec<Vec<Dual>> = values
        .iter()
        .zip(directions)
        .map(|(values, directions)| {
            let number = |(v, b): (&f32, &f32)| Dual { v: f64::from(*v), b: f64::from(*b), ..Dual::default() };
            values.iter().zip(directions).map(number).collect()
        })
        .collect();
    let slope = function(&along).b;
    let mut product = Vec::new();
    for at in 0..values.len() {
        for element in 0..values[at].len() {
            let mut inputs = along.clone();
            inputs[at][element].a = 1.0;
            product.push(function(&inputs).ab);
        }
    }
    (slope, product)
}
