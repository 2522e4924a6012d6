//! The names of the "Autograd Performance Optimization Guide" of TenfloweRS 0.1.0-alpha.2, over this engine: each snippet of the guide, adapted, runs
//! here as a test of the documentation. New code uses what is behind the names: [`ops`](crate::ops), [`train`](crate::train),
//! [`compress`](crate::compress), [`profile`](crate::profile), [`benchmark`](crate::benchmark). `docs/FROM_TENFLOWERS.md` has what is here of the rest of
//! TenfloweRS, and what is not.
//!
//! | the guide | here | what does the work |
//! | --- | --- | --- |
//! | gradient tape | [`GradientTape`] | [`Var`](crate::autograd::Var), [`ops::grad`](crate::ops::grad) |
//! | activation checkpointing | [`ActivationCheckpointPolicy`] | [`Recompute`](crate::device::Recompute), [`Passes`](crate::device::Passes) |
//! | in-place operations | a [plan](crate::device::Plan) | results share memory; chains are one launch |
//! | gradient accumulation | [`GradientAccumulator`] | `accumulate` of [`TrainerConfig`](crate::train::TrainerConfig) |
//! | mixed precision | [`AMPConfig`], [`AMPPolicy`] | [`MixedPrecision`](crate::train::MixedPrecision) |
//! | clipping | [`clip_by_global_norm`], [`clip_by_value`] | [`Clip`](crate::train::Clip) |
//! | compression | [`GradientCompressor`] | [`compress`](crate::compress) |
//! | second order | [`hessian_vector_product`], [`compute_hessian_diagonal`] | [`ops::hvp`](crate::ops::hvp) |
//! | memory profiler | [`GradientMemoryProfiler`] | [`MemoryProfile`](crate::profile::MemoryProfile) |
//! | benchmarks | [`PerformanceBenchmark`] | [`benchmark`](crate::benchmark) |
//! | gradient flow | [`GradientFlowVisualizer`] | [`Trainer::gradient_flow`](crate::train::Trainer::gradient_flow) |
//!
//! # In-place operations
//!
//! The guide multiplies a gradient a thousand times in place. A plan needs no such calls: it knows the last reader of each result, so results share
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
mod benchmark;
mod checkpointing;
mod clip;
mod compression;
mod flow;
mod memory;
mod precision;
mod second;
mod tape;

pub use accumulate::GradientAccumulator;
pub use benchmark::{BenchmarkConfig, BenchmarkResult, PerformanceBenchmark};
pub use checkpointing::{ActivationCheckpointPolicy, CheckpointStrategy};
pub use clip::{clip_by_global_norm, clip_by_value};
pub use compression::{CompressionConfig, CompressionMethod, GradientCompressor};
pub use flow::{FlowAnalysis, GradientFlowVisualizer, HealthSummary};
pub use memory::{GradientMemoryProfiler, LeakReport};
pub use precision::{AMPConfig, AMPPolicy, TargetDtype};
pub use second::{compute_hessian_diagonal, hessian_vector_product};
pub use tape::GradientTape;
