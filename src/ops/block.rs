//! Named blocks of a function.

use crate::autograd::Var;
use crate::device::Label;

/// What options and profiles call other things.
const TAKEN: [&str; 14] = [
    "batch",
    "block",
    "function",
    "layer",
    "layer_norm",
    "layers",
    "loss",
    "map",
    "masked",
    "matmul",
    "model",
    "rational",
    "source",
    "update",
];

/// Whether blocks may have this name, and those around it.
pub(crate) fn is_free(name: &str) -> bool {
    name.split('.').all(|part| !part.is_empty() && !TAKEN.contains(&part))
}

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
///
/// # Panics
///
/// For an empty name, and for those of parts of a step, of ops and of kinds of layers, such as `loss` and `matmul`.
#[track_caller]
pub fn block<T>(name: &str, x: &Var, work: impl FnOnce() -> T) -> T {
    assert!(
        is_free(name),
        "block: got the name \"{name}\", expected one that is not empty and not {}",
        TAKEN.join(", ")
    );
    let device = x.value().device();
    let outer = device.label().layer;
    let path = if outer.is_empty() { name.to_owned() } else { format!("{outer}.{name}") };
    device.labelled(Label::part(&path), work)
}
