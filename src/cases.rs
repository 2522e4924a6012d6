//! Every case of every kernel: the kernels' own, and those that activations, heads, losses and optimisers bring for what they put into them.
//! Only tests come here, so other builds drop the list.

use crate::kernels::{self, Entry, mlp_forward, mlp_step, optimise};
use crate::{loss, nn, optim};

/// Kernels and the functions that make their cases; a kernel may occur more than once.
pub fn all() -> Vec<Entry> {
    let others: [Entry; 6] = [
        (&mlp_forward::MLP_FORWARD, nn::activation::cases::of_forward),
        (&mlp_step::MLP_STEP, nn::activation::cases::of_step),
        (&mlp_forward::MLP_FORWARD, nn::head::cases::of_forward),
        (&mlp_step::MLP_STEP, nn::head::cases::of_step),
        (&mlp_step::MLP_STEP, loss::cases::of_step),
        (&optimise::OPTIMISE, optim::cases::of_update),
    ];
    [kernels::ALL, &others].concat()
}
