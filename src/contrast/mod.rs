//! Learning a memory: rows are compared with the rows before them, by a softmax over distances under a linear map, and the map is learned from two phases
//! of that retrieval, a free one and one in which the loss nudges it a little (equilibrium propagation). What training leaves is a map and a memory,
//! which finds the nearest rows, or says that nothing in it is like a row.

mod equilibrium;
mod file;
mod judge;
mod learn;
mod map;
mod memory;
mod nearest;
mod options;
mod origin;
mod rotors;
mod scalar;
mod source;

pub use equilibrium::Equilibrium;
pub use judge::Judged;
pub use learn::{Labelled, Learned, Learning};
pub use map::{Form, Map, Metric, MetricParts, metric_weights, stepped};
pub use memory::{Found, Memory, MemoryHeader, Neighbour, Through};
pub use options::{ContrastOptions, MapKind, OPTIONS};
pub use origin::{ContrastOrigin, RowOrigin};
pub use rotors::{Planes, Rotors};
pub use scalar::{ScalarRule, Velocity};
pub use source::{Bank, Contrast, REPORT, States, Update, gradient_by_map};

pub use crate::kernels::retrieve::{Cue, Lookup, Retrieval, Sizes, Storage};
