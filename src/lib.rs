//! Meromorph trains and runs models in a terminal, in a Rust program and in a browser tab, on GPUs and on plain CPUs.

// Everything public is for users, except the modules of `internal`.
pub mod autograd;
pub mod compress;
pub mod contrast;
pub mod device;
pub mod error;
#[cfg(not(target_arch = "wasm32"))]
pub mod export;
#[cfg(target_arch = "wasm32")]
#[path = "export/web.rs"]
pub mod export;
pub mod files;
pub mod fit;
pub mod graph;
pub mod judge;
pub mod loss;
pub mod model;
pub mod nn;
pub mod ops;
pub mod optim;
pub mod options;
pub mod profile;
pub mod program;
#[cfg(not(target_arch = "wasm32"))]
pub mod report;
pub mod run;
pub mod scm;
pub mod table;
pub mod tensor;
pub mod train;

/// Moved to [`files`] and [`table`].
#[deprecated(note = "use meromorph::files and meromorph::table")]
pub mod io {
    pub use crate::files::*;
    pub use crate::table::*;
}

/// Moved to [`files`].
#[cfg(not(target_arch = "wasm32"))]
#[deprecated(note = "use meromorph::files")]
pub mod readers {
    pub use crate::files::{check_bytes, is_text, open_rows, ranges, read_table, unpack};
}

/// For the project's own crates and tests: may change at any time.
#[doc(hidden)]
#[path = "."]
pub mod internal {
    pub mod cases;
    pub mod host;
    pub mod json;
    pub mod kernels;
    pub mod math;
    pub mod simd;
}

use internal::{host, json, kernels, math, simd};

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
    #[cfg(not(target_arch = "wasm32"))]
    pub use crate::files::read_table;
    pub use crate::files::{Header, Table};
    pub use crate::loss::{Loss, PairLoss};
    pub use crate::model::{Batch, Initial, Input, Inputs, Model, Network, Parameters, Ready};
    pub use crate::nn::{Activation, Decoding, Head, Layer, Spec};
    pub use crate::ops;
    pub use crate::optim::{Optimizer, Schedule};
    pub use crate::program::Expr;
    pub use crate::program::expr::{
        abs, cos, cosh, exp, ln, max, min, sigmoid, sin, sinh, softplus, sqrt, square, tanh,
    };
    pub use crate::run::TrainOptions;
    pub use crate::scm::{self, Masked};
    pub use crate::table::Choice;
    pub use crate::tensor::Tensor;
    pub use crate::train::{Data, Event, Examples, Flow, Trainer, TrainerConfig};
}

pub use device::Device;
pub use error::{Error, ErrorKind, Result};

/// The Rust programs of the README, compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadMe;
