//! Optimisers and learning-rate schedules. An optimiser is one formula in its own file: the new parameter and moments from gradient,
//! parameter, moments and the step's rates, which the host computes in f64 and uploads as a table, one row per step.

pub mod cases;
mod method;
mod newton_schulz;
mod schedule;

use std::sync::Arc;

use crate::error::{Error, Result, unknown_name};
use crate::json::{self, Json, Record};
use crate::kernels::optimise::{ByHand, ParameterPiece, RATES, Rule};
use crate::program::Program;
use crate::program::constants::{Values, not_for};

pub use method::{Method, Motion, Moving, State, TensorMotion};
pub use schedule::*;

// To add one: add a file with its formula, and its name here.
crate::built_ins! { OPTIMIZER: Method; adamw, adam, lion, sgd, rmsprop, adagrad, lamb, schedule_free, muon, adafactor, novograd }

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

    /// Errors if no file can hold it: a method of a program's own is known there alone.
    pub(crate) fn check_stored(&self) -> Result<()> {
        if ALL.iter().any(|method| std::ptr::eq(*method, self.method)) {
            return Ok(());
        }
        let name = self.method.name;
        Err(Error::usage(format!(
            "optimizer \"{name}\" is the program's own, which no file holds: expected one of the engine's"
        )))
    }

    /// How the parameters move.
    pub fn motion(&self) -> Motion {
        self.method.motion
    }

    /// The learning rate that suits most models.
    pub fn usual_rate(&self) -> f64 {
        self.method.usual_rate
    }

    /// Its own weight decay, where that of AdamW does not suit it.
    pub fn usual_decay(&self) -> Option<f64> {
        self.constant("weight_decay").filter(|_| self.method.has_own_decay)
    }

    /// How the parameters move, if that is made of whole tensors.
    pub fn tensor_motion(&self) -> Option<&'static TensorMotion> {
        if let Motion::OfTensors(motion) = self.method.motion { Some(motion) } else { None }
    }

    /// Its constants.
    pub fn constants(&self) -> &Values {
        &self.constants
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

    /// Its update rule for the kernel, with an exponential mean of the weights that decays so much in an update, if that is given.
    pub fn rule(&self, mean: Option<f32>) -> Rule {
        let program = Program::with_results(Rule::INPUTS, |v| {
            let state = State { g: v[0], p: v[1], m: v[2], v: v[3], a: v[4], rates: [v[5], v[6], v[7], v[8]] };
            let [p, m, v, own] = (self.method.update)(&state, &self.constants);
            // The mean d (a + p) + (1 - d) p' less p', where p' is the new parameter.
            let mean = mean.map(|decay| f64::from(decay) * (state.a + state.p - p));
            vec![p, m, v, mean.unwrap_or(own)]
        });
        let by_hand = self.method.by_hand.map(|by_hand| {
            let constants = self.constants.clone();
            Arc::new(move |rates: [f32; RATES], piece: ParameterPiece<'_>| by_hand(&constants, rates, piece)) as ByHand
        });
        Rule::new(program, by_hand)
    }

    /// The table row of step `step`, counted from 1, at a learning rate.
    pub fn row(&self, lr: f64, step: u64) -> [f32; RATES] {
        (self.method.rates)(&self.constants, lr, step).map(|rate| rate as f32)
    }

    /// The same for matrices whose directions are made orthogonal.
    pub fn matrix_row(&self, lr: f64, step: u64) -> [f32; RATES] {
        let [lr, _, _, decay] = self.row(lr, step);
        [lr, 0.0, 0.0, decay]
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

#[cfg(test)]
mod reference_tests;

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters after ten and after a hundred updates by torch 2.15 in f64, from [1, -2, 0.5, 3], of Σ w (p - t)² + sin(p₀ p₁) with w = [1, 2, 0.5, 4]
    /// and t = [0.1, 0.2, 0.3, 0.4], at these constants and learning rates.
    type Known = (&'static str, &'static [(&'static str, f32)], f64, [[f64; 4]; 2]);

    const TORCH: [Known; 5] = [
        (
            "sgd",
            &[("nesterov", 1.0), ("weight_decay", 0.1)],
            0.01,
            [
                [0.37173664621296265, 0.4430761402619609, 0.3969427259100518, -0.5991773354183364],
                [0.005892931925253178, 0.19342942480032277, 0.2721894883361648, 0.39486871352577685],
            ],
        ),
        (
            "adam",
            &[("weight_decay", 0.1)],
            0.01,
            [
                [0.901179965478138, -1.900257623495228, 0.40205346588791463, 2.90012758610253],
                [0.558955351051284, -1.1102081926402518, 0.2716096196324264, 2.073024211930709],
            ],
        ),
        (
            "adamw",
            &[("weight_decay", 0.1)],
            0.01,
            [
                [0.8918960459571451, -1.8808429948934675, 0.3980956774363772, 2.8707503651621358],
                [0.5472639372174904, -0.9829424283226591, 0.29775830937468095, 1.8554763210979155],
            ],
        ),
        (
            "rmsprop",
            &[("alpha", 0.9), ("momentum", 0.5), ("weight_decay", 0.1)],
            0.01,
            [
                [0.7367298132223108, -1.690896819018757, 0.2833456593031736, 2.6855142055115673],
                [0.16593504734167344, -0.14265589797595846, 0.27203024464153314, 1.0456131653470497],
            ],
        ),
        (
            "adagrad",
            &[("lr_decay", 0.01), ("weight_decay", 0.1)],
            0.1,
            [
                [0.6737028224275491, -1.5455180012916494, 0.27554278508645386, 2.5326235620827093],
                [0.4925452948705026, -0.7930734649362721, 0.27272727272733205, 1.7240085806740426],
            ],
        ),
    ];

    pub(super) fn gradient(p: [f64; 4]) -> [f64; 4] {
        let (weights, targets) = ([1.0, 2.0, 0.5, 4.0], [0.1, 0.2, 0.3, 0.4]);
        let mut g: [f64; 4] = std::array::from_fn(|at| 2.0 * weights[at] * (p[at] - targets[at]));
        let slope = (p[0] * p[1]).cos();
        g[0] += slope * p[1];
        g[1] += slope * p[0];
        g
    }

    #[test]
    fn updates_are_those_of_torch() {
        for (name, constants, lr, known) in TORCH {
            let set = |optimizer: Optimizer, &(name, value): &(&str, f32)| optimizer.with(name, value).unwrap();
            let optimizer = constants.iter().fold(Optimizer::parse(name).unwrap(), set);
            let (program, mut p) = (optimizer.rule(None).program, [1.0, -2.0, 0.5, 3.0]);
            let mut moments = [[0.0; 2]; 4];
            for step in 1..=100 {
                let rates = (optimizer.method.rates)(&optimizer.constants, lr, step);
                for (at, g) in gradient(p).into_iter().enumerate() {
                    let [m, v] = moments[at];
                    let [next, m, v, _] = program.at(&[&[g, p[at], m, v, 0.0], &rates[..]].concat())[..] else {
                        unreachable!()
                    };
                    (p[at], moments[at]) = (next, [m, v]);
                }
                let (expected, most) = match step {
                    10 => (known[0], 1e-6),
                    100 => (known[1], 1e-4),
                    _ => continue,
                };
                for (at, (got, expected)) in p.iter().zip(expected).enumerate() {
                    let apart = (got - expected).abs();
                    assert!(apart < most, "{name}, step {step}, parameter {at}: {apart}");
                }
            }
        }
    }
}
