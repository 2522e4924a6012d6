//! A loss of a model's outputs: one of the records with its constants, or a formula of a user.

use std::sync::Arc;

use super::sums::pointwise;
use super::{Compared, Link, LossRecord, Rule, Target};
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::kernels::mlp::RowGoal;
use crate::program::constants::Values;
use crate::program::curve::ByHand;
use crate::program::{Curve, Program};

/// A loss of a model's outputs.
#[derive(Clone, Debug)]
pub struct OutputLoss {
    /// Absent for a formula of a user.
    record: Option<&'static LossRecord>,
    constants: Values,
    /// The function of a prediction p and its target y, if the loss is pointwise.
    curve: Option<Arc<Curve>>,
}

impl PartialEq for OutputLoss {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() && self.curve == other.curve && self.constants == other.constants
    }
}

impl OutputLoss {
    /// With its default constants.
    pub(super) fn of_record(record: &'static LossRecord) -> Self {
        Self::new(record, Values::new(record.constants))
    }

    fn new(record: &'static LossRecord, constants: Values) -> Self {
        let curve = match record.rule {
            Rule::Pointwise { formula, .. } => {
                let value = Program::build(2, |v| formula(v[0], v[1], &constants));
                Some(Arc::new(Curve::new(record.name, value, ByHand::NONE)))
            }
            Rule::Row { .. } => None,
        };
        Self { record: Some(record), constants, curve }
    }

    /// From a JSON object with every constant.
    pub(super) fn read(record: &'static LossRecord, constants: &Json) -> Result<Self> {
        let mut values = Values::new(record.constants);
        values.read(constants)?;
        Ok(Self::new(record, values))
    }

    pub(super) fn of_program(text: String, program: Program) -> Result<Self> {
        if program.results.len() != 1 {
            return Err(Error::new(format!("loss: got {} results, expected 1", program.results.len())));
        }
        if !program.clone().compacted().1.contains(&0) {
            return Err(Error::new(format!("loss: \"{text}\" does not depend on the prediction p")));
        }
        program.check_f32().map_err(|error| error.within("loss"))?;
        let curve = Some(Arc::new(Curve::new(text, program, ByHand::NONE)));
        Ok(Self { record: None, constants: Values::new(&[]), curve })
    }

    pub(super) fn with(self, name: &str, value: f32) -> Result<Self> {
        let Self { record: Some(record), mut constants, .. } = self else {
            return Err(Error::internal(format!("a formula has no constant {name}")));
        };
        constants.set(name, value)?;
        Ok(Self::new(record, constants))
    }

    /// The value of a constant, if the loss has it.
    pub(super) fn constant(&self, name: &str) -> Option<f64> {
        self.constants.has(name).then(|| self.constants.get(name))
    }

    /// What is known about it; `None` for a formula of a user.
    pub fn record(&self) -> Option<&'static LossRecord> {
        self.record
    }

    /// Its name, or the formula.
    pub fn text(&self) -> &str {
        match (self.record, &self.curve) {
            (Some(record), _) => record.name,
            (None, curve) => curve.as_ref().map_or("", |curve| &curve.text),
        }
    }

    /// What it takes as targets; numbers for a formula.
    pub fn target(&self) -> Target {
        self.record.map_or(Target::NUMBERS, |record| record.target)
    }

    /// How outputs become predictions.
    pub fn link(&self) -> &'static Link {
        self.record.map_or(&Link::IDENTITY, |record| record.link)
    }

    /// The mean over rows of weight 1, in f64, from outputs [rows, outputs] and targets; 0 if there are none.
    pub fn mean(&self, z: &[f32], y: &[f32], outputs: usize) -> f64 {
        if let Some(LossRecord { rule: Rule::Row { mean, .. }, .. }) = self.record {
            return mean(z, y, outputs);
        }
        let value = |curve: &Curve, (&p, &y): (&f32, &f32)| curve.value.at(&[f64::from(p), f64::from(y)])[0];
        let sum = self.curve.iter().flat_map(|curve| z.iter().zip(y).map(|pair| value(curve, pair))).sum::<f64>();
        sum / z.len().max(1) as f64
    }

    pub(super) fn sums(&self, rows: &Compared<'_>) -> (Var, Var) {
        match (self.record, &self.curve) {
            (Some(LossRecord { rule: Rule::Row { sums, .. }, .. }), _) => sums(rows, &self.constants),
            (_, Some(curve)) => pointwise(&curve.value, rows),
            (_, None) => unreachable!("a loss has a formula or sums"),
        }
    }

    pub(super) fn objective(&self) -> Option<RowGoal> {
        match self.record {
            Some(LossRecord { rule: Rule::Row { fused, .. }, .. }) => fused.map(|fused| fused(&self.constants)),
            _ => self.curve.clone().map(RowGoal::Pointwise),
        }
    }

    pub(super) fn to_json(&self) -> Json {
        match self.record {
            Some(record) if !record.constants.is_empty() => Json::Fields(vec![(key(record), self.constants.to_json())]),
            _ => Json::Text(self.text().to_owned()),
        }
    }
}

/// The key of its constants in JSON.
pub(super) fn key(record: &LossRecord) -> String {
    record.name.replace('-', "_")
}
