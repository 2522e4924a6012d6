//! Total arithmetic outside of models: scalars with ⊥ (f64, real or complex), complex tensors under one mask, orientations of denominators and
//! symbolic fractions of polynomials. Masked real tensors, which models use, are [`meromorph::scm`].

mod complex;
mod complex_tensor;
mod functions;
pub mod orientation;
pub mod symbolic;
mod value;

pub use complex::Complex;
pub use complex_tensor::ComplexTensor;
pub use value::Scm;

use meromorph::scm::policy::Policy;

/// Applies a policy to complex gradients in place; bit i of word w of `bottom` marks element 32w + i as ⊥. Complex numbers have no order, so that
/// nothing is clamped.
#[track_caller]
pub fn apply_policy(policy: Policy, gradients: &mut [Complex], bottom: &[u32]) {
    policy.each(gradients, bottom, |gradient| gradient);
}
