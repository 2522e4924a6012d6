//! What a caller chooses of the passes.

use std::rc::Rc;

use crate::device::record::{Cost, Dispatch, Label, View};

/// Chooses launches by what they are part of and by their cost.
pub type Choice = Rc<dyn Fn(&Label, Cost) -> bool>;

/// The passes that a caller chooses.
#[derive(Clone)]
pub struct Passes {
    /// Which results are dropped before [`Device::turn`](crate::device::Device::turn) and computed again after it.
    pub recompute: Recompute,
    /// Chooses, instead of `recompute`, the launches whose results are dropped, by what they are part of and their cost.
    pub drops: Option<Choice>,
    /// Which are stored in 16 bits.
    pub halves: Option<Halves>,
    /// Whether launches write over inputs that nothing reads later, where that saves memory. On by default; the bits are the same.
    pub in_place: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Self { recompute: Recompute::default(), drops: None, halves: None, in_place: true }
    }
}

/// Which results are dropped and computed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recompute {
    /// None.
    #[default]
    Nothing,
    /// All but what every so many-th launch passes on to the next, or one of up to as many after it if that passes on less, as at the end of a residual
    /// block; with 1 only what is not passed on, such as slopes.
    Every(usize),
    /// The same with the root of the number of launches, which takes the least memory.
    Root,
    /// Those of launches with fewer operations than this.
    Cheap(u64),
    /// As few as keep the memory of intermediate results within so many bytes.
    Within(u64),
}

/// Packs or unpacks all of a view into another.
type Conversion = Rc<dyn Fn(View, View) -> Dispatch>;

/// Which results a plan stores in 16 bits, and the launches that convert them.
#[derive(Clone)]
pub struct Halves {
    /// Whether launches with this label compute and read such results.
    pub takes: Rc<dyn Fn(&Label) -> bool>,
    /// From floats into half as many words.
    pub pack: Conversion,
    /// Back into floats.
    pub unpack: Conversion,
    /// Whether kernels that can read and write halves do. Else every conversion is a launch of its own; the bits are the same, except
    /// where cooperative matrices multiply merged f16 operands.
    pub is_merged: bool,
}
