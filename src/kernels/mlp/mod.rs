//! The fused multi-layer perceptron: which models it supports, and the parameters that its kernels share.
//! `mlp_step` and `mlp_forward` are its kernels; `engine` and the modules it uses are their CPU path.

pub mod cases;
pub(super) mod engine;
mod formula;
pub(super) mod fused;
pub mod goals;
mod layer;
mod loss;
mod model;
mod pack;
mod pairs;
pub(super) mod params;
mod plan;
pub(super) mod row_goal;
mod scratch;
pub(super) mod shape;
mod tile;
mod tiling;

pub use super::mlp_forward::dispatch as forward;
pub use super::mlp_step::dispatch as step;
pub use fused::{Choice, Fused};
pub use model::{Mlp, max_width};
pub use pairs::pairing::{COEFFICIENTS_STEP, PairForm, PairScaling, Pairing};
pub use pairs::rule::PairRule;
pub use params::{Layer, MAX_LAYERS, Params};
pub use row_goal::RowGoal;
pub use scratch::Precision;
