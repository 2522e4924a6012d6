//! Named blocks of a function.

use crate::autograd::Var;
use crate::device::Label;

/// Applies the ops of `work` as a block of this name, on the device of `x`. A name chooses what is computed again or stored in 16 bits in training
/// (`recompute_layers`, `keep_f32`, `keep_half`), and is in profiles, in the file of the function and in what is printed of it. A block within another
/// one has the name of both, as `encoder.norm`.
///
/// ```
/// use meromorph::prelude::*;
/// use meromorph::ops;
///
/// let wave = Network::function(1, [("w", Initial::normal([1, 8], 1.0)), ("out", Initial::normal([8, 1], 0.3))], |p, x| {
///     let h = ops::block("features", x, || ops::sin(&ops::matmul(x, &p["w"])));
///     ops::matmul(&h, &p["out"])
/// });
/// let device = Device::cpu(1);
/// let traced = pollster::block_on(wave.traced(&device))?;
/// let Layer::Function(graph) = &traced.layers[0] else { unreachable!() };
/// assert_eq!(graph.blocks(), ["features"]);
/// # Ok::<(), Error>(())
/// ```
pub fn block<T>(name: &str, x: &Var, work: impl FnOnce() -> T) -> T {
    let device = x.value().device();
    let outer = device.label().layer;
    let path = if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") };
    device.labelled(Label::part(&path), work)
}
