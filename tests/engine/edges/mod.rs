//! What ops do outside the ordinary: with NaN and infinities, with indices out of range, with tensors of two devices, with many inputs. Every value is
//! worked out by hand and the same on every device.

mod capture;
mod device;
mod indices;
mod special;
mod turns;
mod wide;

use meromorph::Device;
use meromorph::autograd::Var;
use meromorph::tensor::Tensor;
use pollster::block_on;

fn leaf(device: &Device, shape: &[usize], values: &[f32]) -> Var {
    Var::leaf(Tensor::from_f32(device, shape.to_vec(), values).expect("a tensor"))
}

fn index(device: &Device, values: &[u32]) -> Tensor {
    Tensor::from_u32(device, [values.len()], values).expect("indices")
}

fn read(value: &Var) -> Vec<f32> {
    block_on(value.value().to_f32()).expect("values")
}

/// The gradient of the sum of `y` by `x`.
fn gradient(y: &Var, x: &Var) -> Vec<f32> {
    read(meromorph::ops::grad(y, &[x]).expect("gradients")[0].as_ref().expect("a gradient"))
}

/// Whether two numbers are the same but for rounding, and for numbers that a device flushes to 0: NaN and infinities exactly.
fn is_same(got: f32, expected: f32) -> bool {
    got == expected
        || got.is_nan() && expected.is_nan()
        || got.is_finite() && expected.is_finite() && (got - expected).abs() <= 5e-6 * expected.abs() + 1e-37
}

/// The message of the panic that `work` ends with.
fn panic_of(work: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).expect_err("a panic");
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    panic.downcast_ref::<String>().cloned().or(text).expect("a message")
}
