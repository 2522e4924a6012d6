//! Learning a memory: rows are compared with the rows before them, by a softmax over distances under a linear map, and the map is learned from two phases
//! of that retrieval, a free one and one in which the loss nudges it a little (equilibrium propagation). What training leaves is a map and a memory,
//! which finds the nearest rows, or says that nothing in it is like a row.

mod checks;
mod coupled;
mod curvature;
mod diagnostics;
mod equilibrium;
mod field;
mod file;
mod frame;
mod judge;
mod learn;
mod map;
mod memory;
mod nearest;
mod nudge;
mod options;
mod origin;
mod periodic;
mod rotors;
mod scalar;
mod source;
mod spectral;
mod spsa;
mod tokens;
pub mod trainer2;

pub use checks::{SelfCheck, self_checks};
pub use coupled::Coupled;
pub use curvature::{Collapse, Curvature, collapsed, collapsed_diagonal};
pub use equilibrium::Equilibrium;
pub use field::{Dynamics, Field, PhaseForm, Phases, Symplectic};
pub use frame::derived_frame;
pub use judge::Judged;
pub use learn::{Labelled, Learned, Learning};
pub use map::{Form, Map, Metric, MetricParts, metric_weights, stepped};
pub use memory::{Found, Memory, MemoryHeader, Neighbour, Through};
pub use nudge::Nudge;
pub use options::{ContrastOptions, MapKind, OPTIONS};
pub use origin::{ContrastOrigin, RowOrigin};
pub use rotors::{Planes, Rotors};
pub use scalar::{ScalarRule, Velocity};
pub use source::{Bank, Contrast, REPORT, States, Update, gradients_by_map};
pub use spectral::SpectralContrast;
pub use spsa::{Spsa, Windowed};
pub use tokens::{TokenContrast, TokenRows};

pub use crate::kernels::retrieve::{Cue, Lookup, Retrieval, Sizes, Storage};
