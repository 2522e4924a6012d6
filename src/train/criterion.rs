//! How a run chooses the epoch whose weights it keeps.

/// A score of the model's outputs, each row-major; smaller is better.
type Score = Box<dyn Fn(&[Vec<f32>]) -> f64>;

/// How a run chooses the epoch whose weights it keeps.
pub(crate) enum Criterion {
    /// The smallest loss on the validation rows; on the training rows without any.
    Loss,
    /// The smallest finite score of the outputs for `x`.
    Score { x: Vec<f32>, score: Score },
    /// The last epoch.
    Last,
}
