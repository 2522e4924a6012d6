//! Total arithmetic: every operation has a value, and where there is none it is ⊥, which absorbs.

mod complex;
mod functions;
pub mod orientation;
pub mod policy;
pub mod symbolic;
mod value;

pub use complex::Complex;
pub use value::Scm;
