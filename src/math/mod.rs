//! Statistics, order, random numbers for data and draws, and special functions, all in f64.

mod eigen;
pub(crate) mod measure;
pub(crate) mod order;
mod permutation;
mod quantile;
pub mod special;
pub mod splitmix;
mod student;

pub use eigen::symmetric_eigen;
pub use measure::median;
pub use order::largest;
pub(crate) use permutation::{permutation, split_order};
pub use quantile::{mean, quantile_of_sorted};
pub use student::{normal_reach, student_reach};
