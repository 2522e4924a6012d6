//! Retrieval from a memory: per query z a softmax over the distances of the keys k_j, and how it moves under a small nudge of the cost.
//!
//! cost_j = R sqrt(|k_j - z|² + ε), w = softmax(-β cost), y = Σ w_j s_j. Under a nudge b of the loss C(y), w_j ∝ exp(-β (cost_j + b e_j)) with
//! e_j = s_j · dC/dy at the y that is reached by `steps` steps y += rate (Σ w s - y). The pull of a key is what both phases disagree on,
//! pull_j = (w_j(+b) - w_j(-b)) / 2b · R / sqrt(|k_j - z|² + ε), or the same against the free phase: Σ_j pull_j (z - k_j) is the gradient of C by z as
//! b → 0 (equilibrium propagation, Scellier and Bengio 2017; symmetric nudges: Laborieux et al. 2021).

mod cases;
mod mixed;
pub(super) mod rows;
mod several;
mod tiles;

use std::rc::Rc;

use super::common::{self, Variant};
use crate::device::{Cost, Dispatch, EXCHANGE, Info, Kernel, View, groups};
use crate::error::{Error, Result};
use crate::{params, record};

pub use cases::{cases, cases_of_classes};
pub use several::{SEVERAL, squares_of_several};

/// The `retrieve` kernel, of states that are vectors.
pub static RETRIEVE: Kernel = Kernel {
    name: "retrieve",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, EXCHANGE, common::TREE, SHARED, crate::wgsl!("retrieve")],
    cpu: mixed::run,
    grid: |dispatch| groups(dispatch.params::<Params>().rows as usize, 1),
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let passes = 2 * u64::from(params.steps) + 4;
        cost(dispatch, 3 * u64::from(params.coordinates) + 4 * passes * u64::from(params.width))
    },
    fuse: None,
    in_place: None,
};

/// WGSL that both retrievals share.
pub(super) const SHARED: &str = crate::wgsl!("common/retrieve");

/// The widest state.
pub const WIDEST: usize = 768;
/// Invocations of a workgroup.
const LANES: u64 = 128;
/// After so many rounds of loops llvmpipe ends them (LP_MAX_TGSI_LOOP_ITERATIONS of Mesa).
const MOST_ROUNDS: u64 = 65_535;
/// Figures of a row before its mix: the loss, and of the free phase Σ w cost, Σ w distance, Σ w ln w.
pub const FIGURES: usize = 4;
/// Added to the probability under the logarithm of the cross-entropy.
pub const FLOOR: f64 = 1e-3;

params! {
    /// Sizes and constants: `width` numbers per state, before its row's number; β, b and the rate.
    pub struct Params {
        rows: u32,
        keys: u32,
        coordinates: u32,
        width: u32,
        steps: u32,
        sharpness: f32,
        nudge: f32,
        rate: f32,
        epsilon: f32,
    }
}

/// The loss of a retrieved state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cue {
    /// ½ |y - y*|².
    Squared,
    /// -ln(y · y* + 1e-3), for states and targets that are probabilities.
    CrossEntropy,
}

record! { enum Cue { Squared, CrossEntropy } }

/// How a memory holds the numbers of its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In 32 bits.
    Floats,
    /// In 16 bits, of which 5 are the exponent: half as much to read, and rounded to 11 bits.
    Halves,
}

record! { enum Storage { Floats, Halves } }

impl Storage {
    /// How a kernel reads a state and the number of a row.
    fn wgsl(self) -> &'static str {
        match self {
            Self::Floats => crate::wgsl!("common/retrieve_floats"),
            Self::Halves => crate::wgsl!("common/retrieve_halves"),
        }
    }
}

/// How a window retrieves and nudges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrieval {
    /// β.
    pub sharpness: f32,
    /// b.
    pub nudge: f32,
    /// Whether the second phase is nudged by -b; otherwise it is the free one.
    pub is_symmetric: bool,
    /// Steps of the relaxation.
    pub steps: u32,
    /// Share of the way that y moves in a step.
    pub rate: f32,
    /// ε.
    pub epsilon: f32,
}

/// Sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Queries.
    pub rows: usize,
    /// Slots of the memory.
    pub keys: usize,
    /// Coordinates of a query.
    pub coordinates: usize,
    /// Numbers of a state.
    pub width: usize,
}

/// What a launch reads: queries [rows, coordinates]; keys [coordinates, keys]; states [keys, width + 1] and targets [rows, width + 1], whose last
/// column is the number of the row they come from (negative: the slot is empty, or the query is in no memory), so that no row finds itself; control
/// [filled slots, R]. States of [`Storage::Halves`] are one buffer of words: [keys, width] halves, two in a word, then the numbers of the rows in 32 bits.
pub struct Lookup {
    /// Queries.
    pub queries: View,
    /// Keys.
    pub keys: View,
    /// States.
    pub states: View,
    /// Targets.
    pub targets: View,
    /// Number of slots that are filled, and R.
    pub control: View,
}

impl Retrieval {
    /// Of vectors, at most [`WIDEST`] wide. Fills `pulls` [rows, keys] and `found` [rows, FIGURES + width]: figures, then y of the free phase.
    #[track_caller]
    pub fn mixed(&self, form: (Cue, Storage), sizes: Sizes, lookup: Lookup, outputs: [View; 2]) -> Dispatch {
        let width = sizes.width;
        assert!((1..=WIDEST).contains(&width), "retrieve: got states of {width} numbers, expected 1 to {WIDEST}");
        self.dispatch(&RETRIEVE, form, sizes, lookup, outputs)
    }

    /// Rounds of all loops of an invocation, of classes or of vectors.
    pub fn rounds(&self, sizes: Sizes, is_classes: bool) -> u64 {
        let [keys, coordinates, width] = [sizes.keys, sizes.coordinates, sizes.width].map(|size| size as u64);
        let (tiles, steps) = (keys.div_ceil(LANES), u64::from(self.steps));
        if is_classes {
            return tiles * (coordinates + 3) + 2 * steps;
        }
        let columns = width.div_ceil(LANES);
        let pass = tiles * (width + columns * (LANES + 1) + 1) + 3 * columns;
        tiles * (coordinates + width + 2) + (2 * steps + 3) * pass
    }

    /// Errors for a device that would end the loops early. llvmpipe does, and gives what it has by then.
    pub fn check(&self, info: &Info, sizes: Sizes, is_classes: bool) -> Result<()> {
        let rounds = self.rounds(sizes, is_classes);
        if !info.name.starts_with("llvmpipe") || rounds <= MOST_ROUNDS {
            return Ok(());
        }
        Err(Error::device(format!(
            "retrieve: {} ends loops after {MOST_ROUNDS} rounds: got {rounds}; use the device cpu, or a smaller memory",
            info.name
        )))
    }

    pub(super) fn dispatch(
        &self,
        kernel: &'static Kernel,
        (cue, storage): (Cue, Storage),
        sizes: Sizes,
        lookup: Lookup,
        outputs: [View; 2],
    ) -> Dispatch {
        let [rows, keys, coordinates, width] =
            [sizes.rows, sizes.keys, sizes.coordinates, sizes.width].map(|size| size as u32);
        let Self { sharpness, nudge, is_symmetric, steps, rate, epsilon } = *self;
        let params = Params { rows, keys, coordinates, width, steps, sharpness, nudge, rate, epsilon };
        let is_squared = cue == Cue::Squared;
        let states = storage.wgsl();
        let wgsl =
            format!("const IS_SYMMETRIC: bool = {is_symmetric};\nconst IS_SQUARED: bool = {is_squared};\n{states}");
        Dispatch {
            kernel,
            body: Some(Rc::new(Variant { kind: Form { cue, storage, is_symmetric }, wgsl })),
            params: params.words(),
            inputs: vec![lookup.queries, lookup.keys, lookup.states, lookup.targets, lookup.control],
            outputs: outputs.into(),
        }
    }
}

/// What the launch is compiled for.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub cue: Cue,
    pub storage: Storage,
    pub is_symmetric: bool,
}

/// The cost of a launch with `each` operations per query and key.
pub(super) fn cost(dispatch: &Dispatch, each: u64) -> Cost {
    let params: Params = dispatch.params();
    Cost { flops: u64::from(params.rows) * u64::from(params.keys) * each, bytes: dispatch.bytes() }
}
