//! The formula language: a program is straight-line code over scalar operations, with numbered inputs, constants in f64 and one or
//! several results that share subterms. Activations, losses, optimiser updates, pointwise kernels and users' formulas are
//! programs. A program is built from expressions (`expr.rs`) or text (`parse.rs`), differentiates to another program (`gradient.rs`), is
//! printed as WGSL, text, LaTeX, Python, Rust and ONNX nodes, and runs on slices of f32 and f64 (`slices.rs`).

mod code;
pub mod constants;
pub mod curve;
pub mod expr;
pub mod functions;
mod gradient;
mod instruction;
mod latex;
pub mod masked;
pub mod onnx;
pub mod op;
pub mod parse;
mod prelude;
mod rules;
pub mod slices;
pub mod source;
mod split;
mod stored;
mod text;
mod wgsl;

pub use code::Program;
pub use curve::Curve;
pub use expr::Expr;
pub use instruction::Instruction;
pub use op::ScalarOp;
pub use wgsl::wgsl_constant;
