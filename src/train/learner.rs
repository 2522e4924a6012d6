//! One of the models of a run. Several are trained at once, from different seeds; what a run keeps of them on its device is one buffer.

use super::sampling::AdaptiveSampler;
use super::step::mean::Mean;
use super::step::state::State;
use crate::device::View;
use crate::error::Result;

/// A model in training.
pub(crate) struct Learner {
    pub state: State,
    /// The mean of the weights that is evaluated instead of them, if one is kept.
    pub mean: Option<Mean>,
    pub sampler: Option<AdaptiveSampler>,
}

impl Learner {
    /// The weights that are evaluated: the current ones, or their mean if one is kept.
    pub(crate) fn evaluated(&self) -> Result<&View> {
        let Some(mean) = &self.mean else { return Ok(&self.state.parameters) };
        mean.compute()?;
        Ok(&mean.parameters)
    }
}
