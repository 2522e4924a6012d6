//! The guide's arithmetic as methods, and in place.
//!
//! In place means: the launch reads each number from the buffer that it writes it to. No memory is taken, and the buffer stays the same one. A value that
//! something else holds, such as a clone or the history of a loss, must not change there: the first call then writes to a buffer of its own, as
//! `Rc::make_mut` does, and later calls stay in that.

use meromorph::autograd::Var;
use meromorph::device::{Command, Dispatch};
use meromorph::error::{Error, Result};
use meromorph::internal::kernels::map::{self, MAP};
use meromorph::internal::kernels::pointwise::IterationSpace;
use meromorph::ops;
use meromorph::program::{Expr, Program};
use meromorph::tensor::{DType, Shape, Tensor};

use super::tape::TrackedTensor;
use super::value::{AsVar, Operand, Values};

/// Sums, differences, products and quotients, with broadcasting; an error where the shapes do not fit. Constants are not recorded.
pub trait TensorOps {
    /// What the methods give.
    type Output;

    /// The sum.
    fn add(&self, other: &impl Operand) -> Result<Self::Output>;
    /// The difference.
    fn sub(&self, other: &impl Operand) -> Result<Self::Output>;
    /// The product of the elements.
    fn mul(&self, other: &impl Operand) -> Result<Self::Output>;
    /// The quotient of the elements.
    fn div(&self, other: &impl Operand) -> Result<Self::Output>;
}

/// Arithmetic that writes into the buffer of its value. Gradients keep no history afterwards.
///
/// ```
/// use meromorph_tenflowers::{GradientTape, InPlace, TensorOps};
///
/// let tape = GradientTape::new();
/// let x = tape.watch([2.0, 3.0]);
/// let decay = tape.constant([1], &[0.5])?;
/// let mut gradient = tape.gradient(&[x.mul(&x)?], &[x])?.remove(0).unwrap();
/// let taken = tape.device().counters().live_bytes;
/// for _ in 0..3 {
///     gradient.mul_inplace(&decay)?;
/// }
/// assert_eq!(gradient.to_vec()?, [0.5, 0.75]);
/// assert!(tape.device().counters().live_bytes <= taken, "no memory was taken");
/// # Ok::<(), meromorph::Error>(())
/// ```
pub trait InPlace {
    /// Adds.
    fn add_inplace(&mut self, other: &impl Operand) -> Result<()>;
    /// Subtracts.
    fn sub_inplace(&mut self, other: &impl Operand) -> Result<()>;
    /// Multiplies each element.
    fn mul_inplace(&mut self, other: &impl Operand) -> Result<()>;
    /// Divides each element.
    fn div_inplace(&mut self, other: &impl Operand) -> Result<()>;
}

/// A value, its fellow, and what they give.
type Binary = (&'static str, fn(&[Expr]) -> Expr);

const ADD: Binary = ("add", |v| v[0] + v[1]);
const SUB: Binary = ("sub", |v| v[0] - v[1]);
const MUL: Binary = ("mul", |v| v[0] * v[1]);
const DIV: Binary = ("div", |v| v[0] / v[1]);

fn apply((name, body): Binary, a: &Var, b: &Var) -> Result<Var> {
    joined(name, a.value(), b.value())?;
    Ok(ops::fused(&[a, b], body))
}

/// The shape of both together. Errors if they do not fit, or are on two devices.
fn joined(name: &str, a: &Tensor, b: &Tensor) -> Result<Shape> {
    if !a.device().is(b.device()) {
        return Err(Error::usage(format!("{name}: got values of two devices, expected values of one device")));
    }
    a.shape().try_joined(b.shape()).map_err(|error| error.within(name))
}

macro_rules! methods {
    ($($type:ty => $output:ty, |$own:ident, $result:ident| $var:expr, $made:expr;)+) => {$(
        impl TensorOps for $type {
            type Output = $output;
            methods!(@each $own, $result, $var, $made; add ADD, sub SUB, mul MUL, div DIV);
        }
    )+};
    (@each $own:ident, $result:ident, $var:expr, $made:expr; $($name:ident $op:ident),+) => {$(
        fn $name(&self, other: &impl Operand) -> Result<Self::Output> {
            let $own = self;
            let $result = {
                let var: &Var = $var;
                apply($op, var, &other.operand(var))?
            };
            Ok($made)
        }
    )+};
}

methods! {
    Var => Var, |own, result| own, result;
    Values => Values, |own, result| own.var(), result.into();
    Tensor => Tensor, |own, result| &Var::constant(own.clone()), result.value().clone();
}

impl<'t> TensorOps for TrackedTensor<'t> {
    type Output = TrackedTensor<'t>;
    methods!(@each own, result, own.var(), own.with(result); add ADD, sub SUB, mul MUL, div DIV);
}

/// Replaces each number of a value by what a program makes of it and of other values, in its own buffer. The value lets go of its history, which would
/// hold its numbers.
pub(crate) fn update(name: &str, value: &mut Var, others: &[&Var], body: impl FnOnce(&[Expr]) -> Expr) -> Result<()> {
    let mut tensor = value.value().clone();
    let empty = Tensor::empty(tensor.device(), [0], DType::F32);
    // With its node, so that the tensor's handle is the only one, unless something else has another.
    let before = std::mem::replace(value, Var::constant(empty));
    let others: Vec<&Tensor> = others.iter().map(|other| other.value()).collect();
    let checked = check(name, &tensor, &others);
    if checked.is_err() {
        *value = before;
        return checked;
    }
    drop(before);
    let done = write(&mut tensor, &others, Program::build(1 + others.len(), body));
    *value = Var::constant(tensor);
    done
}

fn check(name: &str, tensor: &Tensor, others: &[&Tensor]) -> Result<()> {
    for other in others {
        let shape = joined(name, tensor, other)?;
        if shape != *tensor.shape() {
            let own = tensor.shape();
            return Err(Error::usage(format!(
                "{name}: the result has shape {shape}, expected that of the value, {own}"
            )));
        }
    }
    if tensor.device().is_capturing() {
        return Err(Error::usage(format!("{name}: got a capture, expected none: a plan shares memory by itself")));
    }
    Ok(())
}

fn write(tensor: &mut Tensor, others: &[&Tensor], program: Program) -> Result<()> {
    let device = tensor.device().clone();
    // What is recorded before reads the value as it is now.
    device.flush()?;
    let inputs: Vec<&Tensor> = [&*tensor].into_iter().chain(others.iter().copied()).collect();
    if tensor.view().buffer.handles() > 1 {
        *tensor = Tensor::map(&device, program, &inputs, tensor.shape());
        return device.flush();
    }
    let (shape, target) = (tensor.shape(), tensor.view());
    let mut space = IterationSpace::flat(shape.dims());
    for (strides, input) in space.strides.iter_mut().zip(&inputs) {
        *strides = input.shape().broadcast_strides(shape);
    }
    let views = inputs.iter().map(|input| input.view().clone()).collect();
    let apart = map::dispatch(program, space, views, device.floats(target.words).view());
    if let Some(made) = MAP.in_place.and_then(|in_place| in_place(&apart, 0)) {
        device.record(Command::Dispatch(Dispatch { outputs: vec![target.clone()], ..made }));
    } else {
        // One number is computed apart and copied.
        let result = apart.outputs[0].clone();
        device.record(Command::Dispatch(apart));
        device.record(Command::Copy { from: result, to: target.clone() });
    }
    device.flush()
}

macro_rules! in_place {
    ($($type:ty, |$own:ident| $var:expr;)+) => {$(
        impl InPlace for $type {
            in_place!(@each $own, $var; add_inplace ADD, sub_inplace SUB, mul_inplace MUL, div_inplace DIV);
        }
    )+};
    (@tensor $($name:ident),+) => {$(
        fn $name(&mut self, other: &impl Operand) -> Result<()> {
            let empty = Tensor::empty(self.device(), [0], DType::F32);
            let mut var = Var::constant(std::mem::replace(self, empty));
            let done = var.$name(other);
            *self = var.value().clone();
            done
        }
    )+};
    (@each $own:ident, $var:expr; $($name:ident $op:ident),+) => {$(
        fn $name(&mut self, other: &impl Operand) -> Result<()> {
            let $own = self;
            let var: &mut Var = $var;
            let other = other.operand(var);
            update(stringify!($name), var, &[&other], $op.1)
        }
    )+};
}

in_place! {
    Var, |own| own;
    Values, |own| own.var_mut();
}

impl InPlace for Tensor {
    in_place!(@tensor add_inplace, sub_inplace, mul_inplace, div_inplace);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GradientTape;

    fn numbers(value: &Var) -> Vec<f32> {
        Values::from(value.clone()).to_vec().unwrap()
    }

    #[test]
    fn a_value_keeps_its_buffer_and_a_shared_one_moves_once() {
        let tape = GradientTape::new();
        let mut value = tape.constant([3], &[1.0, 2.0, 4.0]).unwrap();
        let factor = tape.constant([1], &[0.5]).unwrap();
        let memory = || tape.device().counters().live_bytes;
        let (before, shared) = (memory(), value.clone());
        value.mul_inplace(&factor).unwrap();
        assert_eq!((numbers(&value), numbers(&shared)), (vec![0.5, 1.0, 2.0], vec![1.0, 2.0, 4.0]));
        assert!(memory() > before, "the clone keeps its numbers");
        let moved = memory();
        value.div_inplace(&factor).unwrap();
        value.sub_inplace(&shared).unwrap();
        value.add_inplace(&factor).unwrap();
        assert_eq!((numbers(&value), memory()), (vec![0.5; 3], moved));
        let mut one = tape.constant([1], &[3.0]).unwrap();
        one.mul_inplace(&factor).unwrap();
        assert_eq!(numbers(&one), [1.5]);
        let mut tensor = Tensor::from_f32(tape.device(), [2], &[2.0, 6.0]).unwrap();
        let taken = memory();
        tensor.mul_inplace(&0.5).unwrap();
        tensor.sub_inplace(&tensor.clone().add(&1.0).unwrap()).unwrap();
        assert_eq!((numbers(&Var::constant(tensor)), memory()), (vec![-1.0; 2], taken));
    }

    #[test]
    fn what_a_loss_has_seen_does_not_change() {
        let tape = GradientTape::new();
        let x = tape.watch([3.0]);
        let mut scale = tape.constant([1], &[5.0]).unwrap();
        let y = x.mul(&scale).unwrap();
        scale.mul_inplace(&scale.clone()).unwrap();
        let gradient = tape.gradient(&[y], &[x]).unwrap().remove(0).unwrap();
        assert_eq!((gradient[0], numbers(&scale)), (5.0, vec![25.0]));
    }

    #[test]
    fn a_wider_result_has_no_place() {
        let tape = GradientTape::new();
        let (mut narrow, wide) = (tape.constant([1], &[2.0]).unwrap(), tape.constant([2], &[1.0, 3.0]).unwrap());
        let error = narrow.mul_inplace(&wide).unwrap_err().to_string();
        assert_eq!(error, "mul_inplace: the result has shape [2], expected that of the value, [1]");
        assert_eq!(numbers(&narrow), [2.0]);
        let three = tape.constant([3], &[0.0; 3]).unwrap();
        assert!(wide.add(&three).is_err_and(|error| error.to_string().starts_with("add: ")));
    }
}
