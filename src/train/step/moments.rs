//! The words of the moments: what the optimiser keeps of the parameters, then what updates remember.

use crate::kernels::optimise::UPDATE_WORDS;
use crate::nn::{Layout, Parameter};
use crate::optim::{Adafactor, Motion};
use crate::train::TrainerConfig;

/// Words of the squares that Adafactor keeps of a parameter. Frozen ones have them as well.
pub(crate) fn words_of_squares(parameter: &Parameter) -> usize {
    if parameter.is_statistic { 0 } else { Adafactor::words(parameter.shape.sizes()).iter().sum() }
}

impl TrainerConfig {
    /// Where in the moments is what updates remember: after what the optimiser keeps of the parameters.
    pub(crate) fn update_state_at(&self, layout: &Layout) -> usize {
        match self.optimizer.motion() {
            Motion::Factored => layout.parameters.iter().map(words_of_squares).sum(),
            _ => self.rule().arrays() * layout.total,
        }
    }

    /// Words of the moments.
    pub(crate) fn moment_words(&self, layout: &Layout) -> usize {
        self.update_state_at(layout) + UPDATE_WORDS
    }
}
