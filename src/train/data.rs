//! The rows of a run: encoded, row-major, on the host.

use super::config::TrainerConfig;
use crate::error::{Error, Result};
use crate::files::Table;
use crate::host::number;
use crate::loss::{Loss, Target};
use crate::model::Network;
use crate::nn::{Head, Spec};
use crate::table::Preparation;

/// Inputs and targets of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples {
    /// [rows, inputs], row-major.
    pub x: Vec<f32>,
    /// [rows, targets], row-major; class indices for cross-entropy.
    pub y: Vec<f32>,
}

/// A table split in three.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Values per row of the inputs.
    pub inputs: usize,
    /// Values per row of the targets: one per output, or 1 for a class index; anything for a closure loss.
    pub targets: usize,
    /// Rows that the model is trained on.
    pub train: Examples,
    /// Rows that choose the best epoch and decide when to stop.
    pub validation: Examples,
    /// Rows that do not influence training.
    pub test: Examples,
}

impl Examples {
    /// Rows of a table as inputs of a model and targets of its loss, to judge it: a category that training did not see counts as none of
    /// those it saw. Classes become one value each, 1 for the row's class, if the loss is pointwise. Errors if the table does not fit the
    /// preparation, or a row does not fit the loss.
    pub fn encode(preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        Self::with_targets(preparation.encode_known(table, rows)?, preparation, table, rows, loss)
    }

    /// The same for rows to train on; see [`Preparation::encode_training`].
    pub fn encode_training(preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        Self::with_targets(preparation.encode_training(table, rows)?, preparation, table, rows, loss)
    }

    fn with_targets(x: Vec<f32>, preparation: &Preparation, table: &Table, rows: &[u32], loss: &Loss) -> Result<Self> {
        if let Loss::Pairs(_) = loss {
            return Ok(Self { x, y: preparation.encode_pairs(table, rows)? });
        }
        let y = preparation.encode_target(table, rows)?;
        check_values(loss, &y, preparation.target.outputs(), &|row, column| {
            let (source, row) = (table.source(), rows[row] + 1);
            let column = column.map(|at| format!(", column \"{}\"", preparation.target.columns()[at]));
            format!("{source}: row {row}{}", column.unwrap_or_default())
        })?;
        let y = match preparation.target.levels().len() {
            classes @ 1.. if matches!(loss, Loss::Pointwise(_)) => one_hot(&y, classes),
            _ => y,
        };
        Ok(Self { x, y })
    }

    /// Number of rows.
    pub fn rows(&self, targets: usize) -> usize {
        self.y.len() / targets.max(1)
    }
}

impl Data {
    /// Errors if the sizes of a part are inconsistent, a value is not finite, or there are no training rows.
    pub fn check(&self) -> Result<()> {
        for (name, part) in [("training", &self.train), ("validation", &self.validation), ("test", &self.test)] {
            let rows = part.rows(self.targets);
            if part.x.len() != rows * self.inputs || part.y.len() != rows * self.targets {
                let (x, y, inputs, targets) = (part.x.len(), part.y.len(), self.inputs, self.targets);
                return Err(Error::new(format!(
                    "train: {name} rows do not fit: {x} inputs and {y} targets for {inputs} and {targets} per row"
                )));
            }
            if let Some(at) = part.x.iter().chain(&part.y).position(|value| !value.is_finite()) {
                return Err(Error::new(format!("train: {name} data hold a value that is not finite (place {at})")));
            }
        }
        if self.train.rows(self.targets) == 0 {
            return Err(Error::new("train: there are no training rows"));
        }
        Ok(())
    }

    /// A hash of the training rows, which identifies them in a checkpoint (FNV-1a over their bits).
    pub fn fingerprint(&self) -> u64 {
        let words = self.train.x.iter().chain(&self.train.y).map(|value| u64::from(value.to_bits()));
        words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
    }

    /// Errors if the model does not fit the rows, the loss or the configuration.
    pub(crate) fn fits(&self, network: &Network, settings: &TrainerConfig) -> Result<()> {
        let outputs = network.spec().map(Spec::outputs).transpose()?;
        let (inputs, got) = (network.inputs(), self.inputs);
        if inputs != got {
            return Err(Error::new(format!("train: the model takes {inputs} inputs, the rows have {got}")));
        }
        settings.check_network(network)?;
        let (Some(spec), Some(outputs), false) = (network.spec(), outputs, network.has_own_loss()) else {
            return Ok(());
        };
        let is_classes = matches!(settings.loss, Loss::CrossEntropy { .. });
        if !is_classes && spec.head().is_some() != matches!(settings.loss, Loss::Pairs(_)) {
            return Err(Error::new(
                "train: a projective head and a loss of pairs go together; the run has only one of them",
            ));
        }
        if let Some(head) = spec.head().filter(|_| !is_classes) {
            self.has_reachable_bottoms(head, settings.allows_unreachable)?;
        }
        self.fits_outputs(outputs, settings)
    }

    /// Errors if a model of so many outputs per row does not fit the targets and a built-in loss or formula.
    pub(crate) fn fits_outputs(&self, outputs: usize, settings: &TrainerConfig) -> Result<()> {
        if let Loss::CrossEntropy { .. } = settings.loss {
            return self.has_classes(outputs, &settings.class_weights);
        }
        if !settings.class_weights.is_empty() {
            return Err(Error::new("train: class weights belong to cross-entropy; this loss has no classes to weight"));
        }
        let wanted = settings.loss.outputs(self.targets);
        if outputs == wanted {
            return self.has_values(&settings.loss);
        }
        let targets = self.targets;
        let expected = if wanted == targets {
            String::new()
        } else {
            format!(", for which loss \"{}\" needs {wanted} outputs", settings.loss.text())
        };
        Err(Error::new(format!("train: the model gives {outputs} outputs, the rows have {targets} targets{expected}")))
    }

    /// Errors if a target is not what the loss takes.
    fn has_values(&self, loss: &Loss) -> Result<()> {
        for (name, part) in [("training", &self.train), ("validation", &self.validation), ("test", &self.test)] {
            let place = |row: usize, target: Option<usize>| {
                let target = target.map(|at| format!(", target {}", at + 1));
                format!("{name} row {}{}", row + 1, target.unwrap_or_default())
            };
            check_values(loss, &part.y, self.targets, &place).map_err(|error| error.within("train"))?;
        }
        Ok(())
    }

    /// Errors if there are ⊥ targets but the head's denominators cannot come near 0.
    fn has_reachable_bottoms(&self, head: &Head, allows_unreachable: bool) -> Result<()> {
        let width = 2 * head.outputs;
        let is_bottom = |pairs: &[f32]| pairs.len() == width && pairs[head.outputs..].contains(&0.0);
        let bottoms = self.train.y.chunks(width).filter(|pairs| is_bottom(pairs)).count();
        if bottoms == 0 || head.can_say_bottom() || allows_unreachable {
            return Ok(());
        }
        let [floor, tau] = [head.floor.unwrap_or(0.0) + head.anchor, head.decoding.tau_infer].map(number);
        Err(Error::new(format!(
            "train: {bottoms} training rows are ⊥, but the model's denominators stay above {floor}, so that |Q| < {tau} never holds"
        )))
    }

    fn has_classes(&self, classes: usize, weights: &[f32]) -> Result<()> {
        if self.targets != 1 {
            return Err(Error::new(format!(
                "train: cross-entropy takes one class index per row, not {}",
                self.targets
            )));
        }
        if !weights.is_empty() && weights.len() != classes {
            return Err(Error::new(format!("train: {} class weights for {classes} classes", weights.len())));
        }
        let is_class = |y: f32| y >= 0.0 && y.fract() == 0.0 && (y as usize) < classes;
        let all = [&self.train, &self.validation, &self.test];
        match all.iter().flat_map(|part| &part.y).find(|&&y| !is_class(y)) {
            Some(y) => {
                let (y, last) = (number(*y), classes - 1);
                Err(Error::new(format!("train: {y} is not a class index; the model has classes 0 to {last}")))
            }
            None => Ok(()),
        }
    }
}

/// How far the sum of a row's shares may be from 1: those written with three digits are further off than f32 rounds.
const SHARE_ERROR: f64 = 2e-3;

/// Errors if targets [rows, targets] are not what the loss takes: counts of at least 0, or shares whose sum is 1. `place` names a row, or one
/// of its targets.
fn check_values(loss: &Loss, y: &[f32], targets: usize, place: &dyn Fn(usize, Option<usize>) -> String) -> Result<()> {
    let err = |place: String, got: String, expected: &str| {
        Err(Error::new(format!("loss \"{}\": {place}: got {got}, expected {expected}", loss.text())))
    };
    let expected = match loss.target() {
        Target::Counts => "a count of at least 0",
        Target::Shares => "a share of at least 0",
        Target::Numbers | Target::Classes => return Ok(()),
    };
    if let Some(at) = y.iter().position(|y| *y < 0.0) {
        return err(place(at / targets, Some(at % targets)), number(y[at]).to_string(), expected);
    }
    let sums = y.chunks_exact(targets).map(|row| row.iter().map(|y| f64::from(*y)).sum::<f64>());
    let is_off = |(_, sum): &(usize, f64)| loss.target() == Target::Shares && (sum - 1.0).abs() > SHARE_ERROR;
    match sums.enumerate().find(is_off) {
        Some((row, sum)) => {
            let sum = number((1e6 * sum).round() / 1e6);
            err(place(row, None), format!("shares whose sum is {sum}"), "shares whose sum is 1")
        }
        None => Ok(()),
    }
}

/// [rows, classes] of 1 for a row's own class and 0 for the others.
fn one_hot(indices: &[f32], classes: usize) -> Vec<f32> {
    let row = |&index: &f32| (0..classes).map(move |class| f32::from(u8::from(class == index as usize)));
    indices.iter().flat_map(row).collect()
}
