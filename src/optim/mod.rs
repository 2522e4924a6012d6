//! Optimisers and learning-rate schedules. An optimiser is one formula in its own file: the new parameter and moments from gradient,
//! parameter, moments and the step's rates, which the host computes in f64 and uploads as a table, one row per step.

pub mod cases;
mod schedule;

use std::sync::Arc;

use crate::error::{Result, unknown_name};
use crate::json::{self, Json, Record};
use crate::kernels::optimise::{ByHand, ParameterPiece, RATES, Rule};
use crate::program::constants::{Constant, Values, not_for};

use crate::program::{Expr, Program};

pub use schedule::{Schedule, ScheduleShape};

// To add one: add a file with its formula, and its name here.
crate::built_ins! { OPTIMIZER: Method; adamw, adam, lion, sgd }

/// An optimisation method.
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// Its description in one line.
    pub doc: &'static str,
    /// Its constants that a user may set. Every method has a `weight_decay`.
    pub constants: &'static [Constant],
    /// The rates of step `step`, counted from 1, at a learning rate.
    pub rates: fn(&Values, f64, u64) -> [f64; RATES],
    /// The new [p, m, v].
    pub update: fn(&State<Expr>, &Values) -> [Expr; 3],
    /// A hand-written CPU version, where measurements justify it.
    pub by_hand: Option<fn(&Values, [f32; RATES], ParameterPiece<'_>)>,
    /// The same in plain f64, for comparison in cases.
    pub oracle: fn(&State<f64>, &Values) -> [f64; 3],
}

/// The inputs of an update of one parameter.
#[derive(Clone, Copy)]
pub struct State<T> {
    /// The gradient of the batch's mean loss.
    pub g: T,
    /// The parameter.
    pub p: T,
    /// The first moment, initially 0.
    pub m: T,
    /// The second moment, initially 0.
    pub v: T,
    /// The rates of the step.
    pub rates: [T; RATES],
}

/// An optimiser and its constants.
#[derive(Clone)]
pub struct Optimizer {
    method: &'static Method,
    constants: Values,
}

impl PartialEq for Optimizer {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.method, other.method) && self.constants == other.constants
    }
}

impl std::fmt::Debug for Optimizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.method.name)?;
        let constants = self.method.constants.iter().map(|constant| constant.name);
        constants.into_iter().try_for_each(|name| write!(f, " {name} {}", self.constants.get(name) as f32))
    }
}

impl Optimizer {
    /// AdamW with the default decay of moments and this weight decay.
    pub fn adamw(weight_decay: f32) -> Self {
        Self::new(&adamw::OPTIMIZER).with_weight_decay(weight_decay)
    }

    /// Adam with the default decay of moments and this weight decay.
    pub fn adam(weight_decay: f32) -> Self {
        Self::new(&adam::OPTIMIZER).with_weight_decay(weight_decay)
    }

    /// Gradient descent with this momentum.
    pub fn sgd(momentum: f32) -> Result<Self> {
        Self::new(&sgd::OPTIMIZER).with("momentum", momentum)
    }

    /// A method with its defaults.
    pub fn new(method: &'static Method) -> Self {
        Self { method, constants: Values::new(method.constants) }
    }

    /// A method by its name, with its defaults.
    pub fn parse(name: &str) -> Result<Self> {
        let names: Vec<&str> = ALL.iter().map(|method| method.name).collect();
        match ALL.iter().find(|method| method.name == name) {
            Some(method) => Ok(Self::new(method)),
            None => Err(unknown_name("optimizer", name, &names, "")),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.method.name
    }

    /// The value of a constant, if the method has it.
    pub fn constant(&self, name: &str) -> Option<f64> {
        self.constants.has(name).then(|| self.constants.get(name))
    }

    /// Sets a constant. Errors name the constant and its valid values.
    pub fn with(mut self, name: &str, value: f32) -> Result<Self> {
        if !self.constants.has(name) {
            let has_it = |method: &&&Method| method.constants.iter().any(|constant| constant.name == name);
            return Err(not_for(name, "optimizer", ALL.iter().filter(has_it).map(|method| method.name)));
        }
        self.constants.set(name, value)?;
        Ok(self)
    }

    /// Sets the weight decay, which must be finite and at least 0.
    #[track_caller]
    pub fn with_weight_decay(self, decay: f32) -> Self {
        self.with("weight_decay", decay).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Its update rule for the kernel.
    pub fn rule(&self) -> Rule {
        let program = Program::with_results(Rule::INPUTS, |v| {
            let state = State { g: v[0], p: v[1], m: v[2], v: v[3], rates: [v[4], v[5], v[6], v[7]] };
            (self.method.update)(&state, &self.constants).to_vec()
        });
        let by_hand = self.method.by_hand.map(|by_hand| {
            let constants = self.constants.clone();
            Arc::new(move |rates: [f32; RATES], piece: ParameterPiece<'_>| by_hand(&constants, rates, piece)) as ByHand
        });
        Rule { program, by_hand }
    }

    /// The table row of step `step`, counted from 1, at a learning rate.
    pub fn row(&self, lr: f64, step: u64) -> [f32; RATES] {
        (self.method.rates)(&self.constants, lr, step).map(|rate| rate as f32)
    }
}

/// In JSON: the name and the constants. Older files have `adam_w`.
impl Record for Optimizer {
    fn blank() -> Self {
        Self::adamw(0.0)
    }

    fn to_json(&self) -> Json {
        Json::Fields(vec![(self.method.name.to_owned(), self.constants.to_json())])
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let (name, inner) = json::variant(json, "Optimizer")?;
        let plain = name.replace('_', "");
        let method = ALL.iter().find(|method| method.name.replace('_', "") == plain);
        let method = method.ok_or_else(|| json.unlike("an optimiser"))?;
        *self = Self::new(method);
        match inner {
            Some(inner) => self.constants.read(inner).map_err(|error| error.within(name)),
            None => Ok(()),
        }
    }
}
