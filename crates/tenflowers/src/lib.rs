//! The names of the "Autograd Performance Optimization Guide" of TenfloweRS 0.1.0-alpha.2, over this engine: each snippet of the guide runs in its own
//! form as a test (`tests/guide`). Under the name `tenflowers_autograd` in a `Cargo.toml`, imports stay as they are. New code uses what is behind the
//! names: [`ops`](meromorph::ops), [`train`](meromorph::train), [`compress`](meromorph::compress), [`profile`](meromorph::profile),
//! [`benchmark`](meromorph_benchmark). `docs/FROM_TENFLOWERS.md` has what is here of the rest of TenfloweRS, and what is not.
//!
//! | the guide | here | what does the work |
//! | --- | --- | --- |
//! | gradient tape | [`GradientTape`] | [`Var`](meromorph::autograd::Var), [`ops::grad`](meromorph::ops::grad) |
//! | activation checkpointing | [`ActivationCheckpointPolicy`] | [`Recompute`](meromorph::device::Recompute), [`Passes`](meromorph::device::Passes) |
//! | arithmetic, in place or not | [`TensorOps`], [`InPlace`] | a launch that reads from its own output; in a [plan](meromorph::device::Plan) results share memory |
//! | gradient accumulation | [`GradientAccumulator`] | `accumulate` of [`TrainerConfig`](meromorph::train::TrainerConfig) |
//! | mixed precision | [`AMPConfig`], [`AMPPolicy`] | [`MixedPrecision`](meromorph::train::MixedPrecision) |
//! | clipping | [`clip_by_global_norm`], [`clip_by_value`] | [`Clip`](meromorph::train::Clip) |
//! | compression | [`GradientCompressor`] | [`compress`](meromorph::compress) |
//! | second order | [`hessian_vector_product`], [`compute_hessian_diagonal`] | [`ops::hvp`](meromorph::ops::hvp) |
//! | batches that grow and shrink | [`BatchSearch`] | the device's memory; [`Recompute::Within`](meromorph::device::Recompute) needs no trial |
//! | memory profiler | [`GradientMemoryProfiler`] | [`MemoryProfile`](meromorph::profile::MemoryProfile) |
//! | benchmarks | [`PerformanceBenchmark`] | [`benchmark`](meromorph_benchmark) |
//! | gradient flow | [`GradientFlowVisualizer`] | [`Trainer::gradient_flow`](meromorph::train::Trainer::gradient_flow) |
//!
//! # In-place operations
//!
//! The guide multiplies a gradient a thousand times in place; [`InPlace::mul_inplace`] writes into its buffer. A plan needs no such calls: it knows the last reader of each result, so results share
//! memory, and a chain of pointwise ops is a few launches without intermediate results.
//!
//! ```
//! use meromorph::prelude::*;
//!
//! let device = Device::cpu(1);
//! let gradient = Var::constant(Tensor::from_f32(&device, [1 << 16], &vec![1.0; 1 << 16])?);
//! let (plan, _decayed) = device.capture(|| {
//!     let mut decayed = gradient.clone();
//!     for _ in 0..100 {
//!         decayed = ops::fused(&[&decayed], |v| v[0] * 0.99);
//!     }
//!     Ok(decayed)
//! })?;
//! assert!(plan.summary().transient_bytes <= 2 * 4 * (1 << 16));
//! # Ok::<(), Error>(())
//! ```
//!
//! # Batches
//!
//! Every op takes rows, and `per_sample_gradients` gives the gradient of each row where that is wanted:
//!
//! ```
//! use meromorph::prelude::*;
//!
//! let device = Device::cpu(1);
//! let w = Var::leaf(Tensor::from_f32(&device, [2], &[1.0, -2.0])?);
//! let x = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(|row| Tensor::from_f32(&device, [2], &row).map(Var::constant));
//! let loss = |row: usize| Ok(ops::sum(&ops::mul(&w, &x[row].clone()?), 0..1));
//! let each = ops::per_sample_gradients(loss, &[&w], 3)?;
//! assert_eq!(pollster::block_on(each[0].value().to_f32())?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! # Ok::<(), Error>(())
//! ```

mod accumulate;
mod arithmetic;
mod batch;
mod benchmark;
mod checkpointing;
mod clip;
mod clock;
mod compression;
mod flow;
mod memory;
mod place;
mod precision;
mod second;
mod tape;
mod value;

pub use accumulate::GradientAccumulator;
pub use arithmetic::{InPlace, TensorOps};
pub use batch::{BatchSearch, Found, Tried};
pub use benchmark::{BenchmarkConfig, BenchmarkResult, PerformanceBenchmark};
pub use checkpointing::{ActivationCheckpointPolicy, CheckpointStrategy};
pub use clip::{ClippedGradients, clip_by_global_norm, clip_by_value, global_norm};
pub use compression::{CompressionConfig, CompressionMethod, GradientCompressor};
pub use flow::{FlowAnalysis, FlowSource, FlowStatistics, GradientFlowVisualizer, HealthSummary};
pub use memory::{GradientMemoryProfiler, LeakReport};
pub use meromorph::train::{FlowIssue, IssueType, Severity};
pub use place::current as current_device;
pub use precision::{AMPConfig, AMPPolicy, DType};
pub use second::{compute_hessian_diagonal, hessian_vector_product};
pub use tape::{GradientTape, TrackedTensor};
pub use value::{AsVar, Operand, Values, Watched};
