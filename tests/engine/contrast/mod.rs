//! The contrastive trainer: an f64 reference with properties of its own, and the engine against it.

mod coupled;
mod curvature;
mod equilibrium;
mod field;
mod memory;
mod oracle;
mod properties;
mod rule;
mod scalar;
mod spectral;
mod spsa;
mod tokens;
mod trainer2;
mod window;
