//! What the guide to training promises of memory, precision, limits and compression, measured on one device. `mero bench claims` prints the claims and
//! writes them as a part of `docs/CLAIMS.md`.

pub mod contrast;
mod guide;
mod losses;
mod measures;
mod steps;

use meromorph::{Device, Result};

/// A claim: what is said, how it is measured, what was measured.
pub struct Claim {
    /// What is said.
    pub what: String,
    /// How it is measured.
    pub how: &'static str,
    /// What was measured, with its unit.
    pub figure: String,
    /// Whether the figure is what is said; `None` if it cannot be measured here.
    pub is_met: Option<bool>,
}

/// Where and how thoroughly claims are measured.
pub struct Bench<'a> {
    /// The device that trains.
    pub device: &'a Device,
    /// Only few layers and steps, to see that every row can be measured.
    pub is_quick: bool,
}

/// Measures some claims.
pub type Measure<'a> = fn(&Bench<'a>) -> Result<Vec<Claim>>;

/// Every measure, with a name for the progress.
pub fn measures<'a>() -> [(&'static str, Measure<'a>); 21] {
    [
        ("resident memory", Bench::resident),
        ("recomputation", Bench::recomputation),
        ("mixed precision", Bench::mixed_precision),
        ("overflow", Bench::overflow),
        ("steady steps", Bench::steady_steps),
        ("dynamic batch", Bench::dynamic_batch),
        ("compression", Bench::compression),
        ("budgets", Bench::budgets),
        ("accumulation", Bench::accumulation),
        ("replay", Bench::replay),
        ("batches", Bench::batches),
        ("second order", Bench::second_order),
        ("selective recomputation", Bench::selective),
        ("in place", Bench::in_place),
        ("half speed", Bench::half_speed),
        ("clipped steps", Bench::clipped_steps),
        ("message sizes", Bench::message_sizes),
        ("unwatched tape", Bench::unwatched_tape),
        ("newton", Bench::newton),
        ("cost of a step", Bench::cost_of_a_step),
        ("best and baseline", Bench::best_and_baseline),
    ]
}

/// Width of the layers.
pub const WIDTH: usize = 256;
/// Rows of a step.
pub const BATCH: usize = 256;
/// Columns of the data.
const INPUTS: usize = 8;
