//! The contrastive trainer: an f64 reference with properties of its own, and the engine against it.

mod equilibrium;
mod memory;
mod oracle;
mod properties;
mod rule;
mod scalar;
mod window;
