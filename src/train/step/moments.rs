//! The words of the moments: what a motion of whole tensors keeps, what the optimiser's formula keeps, then what updates remember.

use crate::kernels::fold::LINE;
use crate::kernels::optimise::UPDATE_WORDS;
use crate::nn::{Layout, Parameter};
use crate::train::TrainerConfig;

impl TrainerConfig {
    /// The shapes of what is kept of a parameter for the motion of whole tensors. Frozen parameters have them as well.
    pub(crate) fn kept(&self, parameter: &Parameter) -> Vec<Vec<usize>> {
        let motion = self.optimizer.tensor_motion().filter(|_| !parameter.is_statistic);
        motion.map(|motion| (motion.kept)(parameter.shape.sizes())).unwrap_or_default()
    }

    /// Words of what is kept of all parameters for it.
    pub(crate) fn kept_words(&self, layout: &Layout) -> usize {
        layout.parameters.iter().flat_map(|parameter| self.kept(parameter)).map(|sizes| words(&sizes)).sum()
    }

    /// Where in the moments is what updates remember: after what the optimiser keeps of the parameters.
    pub(crate) fn update_state_at(&self, layout: &Layout) -> usize {
        self.kept_words(layout) + self.rule().arrays() * layout.total
    }

    /// Words of the moments.
    pub(crate) fn moment_words(&self, layout: &Layout) -> usize {
        self.update_state_at(layout) + UPDATE_WORDS
    }
}

/// Words of something that is kept, which begins where it can be bound.
pub(crate) fn words(sizes: &[usize]) -> usize {
    sizes.iter().product::<usize>().next_multiple_of(LINE)
}
