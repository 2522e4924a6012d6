//! Values of the guide's snippets: what a tape tracks, and gradients whose numbers are read by index.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, Index};

use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::error::Result;
use meromorph::tensor::Tensor;
use pollster::block_on;

/// Whatever is a value on a device: [`Var`], [`Values`], [`TrackedTensor`](crate::TrackedTensor), and references to them.
pub trait AsVar {
    /// The value.
    fn var(&self) -> &Var;
}

impl AsVar for Var {
    fn var(&self) -> &Var {
        self
    }
}

impl<T: AsVar + ?Sized> AsVar for &T {
    fn var(&self) -> &Var {
        (**self).var()
    }
}

impl AsVar for Values {
    fn var(&self) -> &Var {
        &self.var
    }
}

/// The second of two numbers or tensors in [`TensorOps`](crate::TensorOps) and [`InPlace`](crate::InPlace): a value, a tensor or a number.
pub trait Operand {
    /// As a value on the device of the first.
    fn operand(&self, first: &Var) -> Var;
}

impl<T: AsVar> Operand for T {
    fn operand(&self, _: &Var) -> Var {
        self.var().clone()
    }
}

impl Operand for Tensor {
    fn operand(&self, _: &Var) -> Var {
        Var::constant(self.clone())
    }
}

impl Operand for &Tensor {
    fn operand(&self, _: &Var) -> Var {
        Var::constant((*self).clone())
    }
}

impl Operand for f32 {
    fn operand(&self, first: &Var) -> Var {
        Var::constant(Tensor::scalar(first.value().device(), *self))
    }
}

/// A value whose numbers can be read by index, as gradients are in the guide. They are read from the device once, at the first index. It is a [`Var`] in
/// all else.
///
/// ```
/// use meromorph_tenflowers::{GradientTape, TensorOps};
///
/// let tape = GradientTape::new();
/// let x = tape.watch(vec![1.0, 2.0]);
/// let gradient = tape.gradient(&[x.mul(&x)?], &[x])?[0].clone().unwrap();
/// assert_eq!((gradient[0], gradient[1]), (2.0, 4.0));
/// # Ok::<(), meromorph::Error>(())
/// ```
#[derive(Clone)]
pub struct Values {
    var: Var,
    read: OnceCell<Vec<f32>>,
}

impl Values {
    /// Waits for the numbers, row by row.
    pub fn to_vec(&self) -> Result<Vec<f32>> {
        match self.read.get() {
            Some(read) => Ok(read.clone()),
            None => block_on(self.var.value().to_f32()),
        }
    }

    /// The value, to be changed; what was read is forgotten.
    pub(crate) fn var_mut(&mut self) -> &mut Var {
        self.read = OnceCell::new();
        &mut self.var
    }

    /// The value without the copy of its numbers.
    pub fn into_var(self) -> Var {
        self.var
    }
}

impl From<Var> for Values {
    fn from(var: Var) -> Self {
        Self { var, read: OnceCell::new() }
    }
}

impl Deref for Values {
    type Target = Var;

    fn deref(&self) -> &Var {
        &self.var
    }
}

impl Index<usize> for Values {
    type Output = f32;

    /// Panics if there is no such number, or if the device fails; [`Values::to_vec`] returns the error.
    #[track_caller]
    fn index(&self, at: usize) -> &f32 {
        let read = self.read.get_or_init(|| {
            let numbers = block_on(self.var.value().to_f32());
            numbers.unwrap_or_else(|error| panic!("{error}"))
        });
        let count = read.len();
        read.get(at).unwrap_or_else(|| panic!("values: got index {at}, expected one below {count}"))
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_vec() {
            Ok(numbers) => numbers.fmt(f),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

/// What a tape can watch: tensors and values on a device, or numbers, which become a vector on the tape's device.
pub trait Watched {
    /// The tensor. Errors if the device refuses the numbers.
    fn tensor(self, device: &Device) -> Result<Tensor>;
}

impl Watched for Tensor {
    fn tensor(self, _: &Device) -> Result<Tensor> {
        Ok(self)
    }
}

impl Watched for &Tensor {
    fn tensor(self, _: &Device) -> Result<Tensor> {
        Ok(self.clone())
    }
}

impl Watched for Vec<f32> {
    fn tensor(self, device: &Device) -> Result<Tensor> {
        (&self[..]).tensor(device)
    }
}

impl Watched for &Vec<f32> {
    fn tensor(self, device: &Device) -> Result<Tensor> {
        (&self[..]).tensor(device)
    }
}

impl Watched for &[f32] {
    fn tensor(self, device: &Device) -> Result<Tensor> {
        Tensor::from_f32(device, [self.len()], self)
    }
}

impl<const N: usize> Watched for [f32; N] {
    fn tensor(self, device: &Device) -> Result<Tensor> {
        (&self[..]).tensor(device)
    }
}

impl<T: AsVar> Watched for T {
    fn tensor(self, _: &Device) -> Result<Tensor> {
        Ok(self.var().value().clone())
    }
}
