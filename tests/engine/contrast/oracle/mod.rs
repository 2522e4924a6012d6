//! An f64 reference of the contrastive two-phase trainer: plain loops over rows, candidates and planes, and nothing of the engine.
//!
//! Tensors are row-major slices: queries [B, n], keys [C, n], states and targets [C, d] and [B, d], fields [N_x, N_y, D_f * D_f, 2].

mod bank;
mod contrastive;
mod energy;
mod field;
mod numeric;
mod propagator;
mod random;
mod retrieval;
mod rotor;
mod scalar;
mod statistics;
pub(crate) mod tasks;

pub(crate) use bank::Bank;
pub(crate) use contrastive::{Rates, descend, pool, scatter, wrap};
pub(crate) use energy::{Batch, Energy, Error, Nudge, Relaxed};
pub(crate) use field::{Border, Field, Symplectic, Wave, laplacian};
pub(crate) use numeric::{central, relative_error};
pub(crate) use propagator::{Dissipative, Phase, memory_weight};
pub(crate) use random::Random;
pub(crate) use retrieval::{Geometry, Retrieval, speed};
pub(crate) use rotor::Rotor;
pub(crate) use scalar::{ScalarRule, Velocity, Window};
pub(crate) use statistics::Statistics;
