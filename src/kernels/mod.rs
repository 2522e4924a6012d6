//! The kernels: device code, CPU path, grid and cost, one file per stem of `shaders/`. Nothing here depends on tensors or gradients.

pub mod batch;
pub mod cast;
pub mod check;
pub mod common;
pub mod evidence;
pub mod fold;
pub mod gather;
pub mod halves;
pub mod layer_norm;
pub mod layer_norm_gradient;
pub mod map;
pub mod masked;
pub mod matmul;
pub mod mlp;
pub mod mlp_forward;
pub mod mlp_step;
pub mod normal;
pub mod optimise;
pub mod oracle;
pub mod pointwise;
mod product;
pub mod random;
pub mod rational;
pub mod rational_gradient;
pub mod reduce;
pub mod retrieve;
pub mod retrieve_classes;
pub mod scatter;
pub mod softmax;
pub mod strict;
mod sweep;
pub mod tensor_norms;
mod update;
pub mod window;

use crate::device::{Case, Kernel};

/// A kernel and the function that makes its cases.
pub type Entry = (&'static Kernel, fn() -> Vec<Case>);

/// Every kernel. Only tests, benches and the `bench` command use this list, so the linker drops it from other builds.
pub static ALL: &[Entry] = &[
    (&batch::BATCH, batch::cases),
    (&cast::CAST, cast::cases),
    (&fold::FOLD, fold::cases),
    (&gather::GATHER, gather::cases),
    (&layer_norm::LAYER_NORM, layer_norm::cases),
    (&layer_norm_gradient::LAYER_NORM_GRADIENT, layer_norm_gradient::cases),
    (&map::MAP, map::cases),
    (&masked::MASKED, masked::cases),
    (&matmul::MATMUL, matmul::cases),
    (&mlp_forward::MLP_FORWARD, mlp::cases::of_forward),
    (&mlp_step::MLP_STEP, mlp::cases::of_step),
    (&normal::NORMAL, normal::cases),
    (&optimise::OPTIMISE, optimise::cases),
    (&random::RANDOM, random::cases),
    (&rational::RATIONAL, rational::cases),
    (&rational_gradient::RATIONAL_GRADIENT, rational::cases_of_gradient),
    (&reduce::REDUCE, reduce::cases),
    (&retrieve::RETRIEVE, retrieve::cases),
    (&retrieve_classes::RETRIEVE_CLASSES, retrieve::cases_of_classes),
    (&scatter::SCATTER, scatter::cases),
    (&softmax::SOFTMAX, softmax::cases),
    (&strict::STRICT, strict::cases),
    (&tensor_norms::TENSOR_NORMS, tensor_norms::cases),
    (&window::WINDOW, window::cases),
];
