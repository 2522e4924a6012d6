//! Defaults of training options that help texts name, or that depend on the size of the table.

/// Default widths of the hidden layers.
pub(crate) const HIDDEN: [usize; 3] = [64, 64, 64];
/// Default patience of a model with poles: its loss falls in steps, as poles are found.
pub(crate) const PATIENCE_OF_POLES: usize = 50;
/// The weight decay of a head with poles, for tables of any size.
pub(crate) const DECAY_OF_POLES: f32 = 1e-6;
/// Default ratio of `tau_train` to `tau_infer`.
pub(crate) const BEYOND_TAU: f32 = 3.0;
/// A table with fewer training rows is small.
pub(crate) const SMALL: usize = 2000;

/// Defaults that depend on the size of the table. For small tables, a batch of 32 gives enough steps per epoch; a decay of 1 per
/// unit of learning rate and smoothed labels keep 9,000 weights from overfitting a few hundred rows. Chosen over 20 seeds on
/// scikit-learn's wine, breast cancer, digits and diabetes tables.
pub(crate) struct Defaults {
    pub batch: usize,
    pub weight_decay: f32,
    pub smoothing: f32,
}

impl Defaults {
    pub(crate) fn of(rows: usize) -> Self {
        match rows {
            0..SMALL => Self { batch: 32, weight_decay: 1.0, smoothing: 0.1 },
            _ => Self { batch: 256, weight_decay: 1e-6, smoothing: 0.0 },
        }
    }
}
