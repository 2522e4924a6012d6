//! Meromorph trains and runs models in a terminal, in a Rust program and in a browser tab, on GPUs and on plain CPUs.

// Modules hidden from the documentation serve the project's own tests and may change at any time.
pub mod autograd;
#[cfg(any(not(target_arch = "wasm32"), feature = "fit"))]
pub mod benchmark;
#[doc(hidden)]
pub mod cases;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod cli;
pub mod compress;
pub mod device;
pub mod error;
#[cfg(not(target_arch = "wasm32"))]
pub mod experiment;
#[cfg(not(target_arch = "wasm32"))]
pub mod export;
#[cfg(all(target_arch = "wasm32", feature = "onnx"))]
#[path = "export/web.rs"]
pub mod export;
#[cfg(any(not(target_arch = "wasm32"), feature = "fit"))]
pub mod fit;
#[cfg(not(target_arch = "wasm32"))]
pub mod guide;
#[doc(hidden)]
pub mod host;
pub mod io;
mod json;
#[doc(hidden)]
pub mod kernels;
pub mod loss;
pub mod nn;
pub mod ops;
pub mod optim;
pub mod options;
pub mod profile;
pub mod program;
#[cfg(not(target_arch = "wasm32"))]
pub mod readers;
#[cfg(not(target_arch = "wasm32"))]
pub mod report;
pub mod scm;
mod simd;
pub mod tensor;
pub mod train;
#[cfg(all(target_arch = "wasm32", not(any(feature = "portable", feature = "onnx", feature = "fit"))))]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "fit"))]
#[path = "wasm/fit.rs"]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "onnx", not(feature = "fit")))]
#[path = "wasm/onnx.rs"]
pub mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "portable", not(any(feature = "onnx", feature = "fit"))))]
#[path = "wasm/portable.rs"]
pub mod wasm;
#[cfg(not(target_arch = "wasm32"))]
pub mod xpcs;

/// The kernels' cases for the browser tests.
#[cfg(all(target_arch = "wasm32", feature = "evidence"))]
#[path = "wasm/evidence.rs"]
pub mod evidence;

/// Curve fits that search on WebGPU.
#[cfg(all(target_arch = "wasm32", feature = "fit-webgpu"))]
#[path = "wasm/fit_webgpu.rs"]
pub mod fit_webgpu;

/// What most programs use: `use meromorph::prelude::*;`.
///
/// ```
/// use meromorph::prelude::*;
///
/// let x: Vec<f32> = (0..256).map(|i| i as f32 / 128.0 - 1.0).collect();
/// let y = x.iter().map(|x| x * x).collect();
/// let data = Data { inputs: 1, targets: 1, train: Examples { x, y }, ..Data::default() };
/// let spec = Spec::mlp(1, &[16, 16], 1, Activation::silu());
/// let settings = TrainerConfig { epochs: 100, lr: 1e-2, batch: 64, ..TrainerConfig::default() };
/// let mut trainer = Trainer::new(&Device::cpu(1), spec, settings, data)?;
/// pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
/// assert!((pollster::block_on(trainer.predict(&[0.5]))?[0] - 0.25).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
pub mod prelude {
    pub use crate::autograd::Var;
    pub use crate::device::{Device, Request};
    pub use crate::error::{Error, ErrorKind, Result};
    pub use crate::io::{Choice, Header, Table};
    pub use crate::loss::{Loss, PairLoss};
    pub use crate::nn::{Activation, Decoding, Head, Layer, Spec};
    pub use crate::ops;
    pub use crate::optim::{Optimizer, Schedule};
    pub use crate::program::Expr;
    pub use crate::program::expr::{
        abs, cos, cosh, exp, ln, max, min, sigmoid, sin, sinh, softplus, sqrt, square, tanh,
    };
    #[cfg(not(target_arch = "wasm32"))]
    pub use crate::readers::read_table;
    pub use crate::scm::{self, Masked};
    pub use crate::tensor::Tensor;
    pub use crate::train::{
        Batch, Data, Event, Examples, Flow, Initial, Model, Network, Parameters, Ready, TrainOptions, Trainer,
        TrainerConfig,
    };
}

pub use device::Device;
pub use error::{Error, ErrorKind, Result};

/// The Rust programs of the README, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadMe;
