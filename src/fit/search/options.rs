//! Options of a search.

use crate::error::Result;
use crate::host::{ThreadPool, threads};

/// How the minimum is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Trust-region reflective: takes bounds.
    #[default]
    TrustRegion,
    /// Levenberg–Marquardt, without bounds.
    LevenbergMarquardt,
}

impl Method {
    /// Every method with its name.
    pub const ALL: [(&'static str, Self); 2] = [("trf", Self::TrustRegion), ("lm", Self::LevenbergMarquardt)];
}

/// Whether and how starts all over the ranges of the parameters are tried, even if a start is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Global {
    /// Only for parameters without a start.
    #[default]
    None,
    /// Searches from the best of many draws and from the given start, on up to a thousand rows; the lowest end is the start.
    MultiStart,
    /// CMA-ES on up to a thousand rows finds the start.
    CmaEs,
}

impl Global {
    /// Every one with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("none", Self::None), ("multistart", Self::MultiStart), ("cmaes", Self::CmaEs)];
}

/// Options of [`solve`](crate::fit::solve()); unset fields get defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveOptions {
    /// How the minimum is searched.
    pub method: Method,
    /// Whether the start is searched globally.
    pub global: Global,
    /// Whether a search that gets stuck, or a start at which the model is not finite, is followed by others from other starts.
    pub recovers: bool,
    /// Probability that an interval holds its parameter.
    pub level: f64,
    /// Evaluations of the model over all rows, at most; 0 = 500 for each free parameter and 500 more.
    pub evaluations: usize,
    /// Threads; 0 = all. The result is the same for any number.
    pub threads: usize,
    /// Whether an answer from given starts that explains little is compared with what other starts lead to.
    pub compares: bool,
    /// Seed of the starts that are tried where none is given.
    pub seed: u64,
    /// Bytes of rows that stay on a device of the search, at most; more rows are uploaded in each pass. 0 = 1 GiB.
    pub device_bytes: u64,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            method: Method::default(),
            global: Global::None,
            recovers: true,
            compares: true,
            level: 0.95,
            evaluations: 0,
            threads: 0,
            seed: 0,
            device_bytes: 0,
        }
    }
}

impl SolveOptions {
    /// The threads.
    pub(crate) fn pool(&self) -> Result<ThreadPool> {
        ThreadPool::new(if self.threads == 0 { threads() } else { self.threads })
    }
}
