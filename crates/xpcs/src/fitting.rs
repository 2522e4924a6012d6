//! From a model and an experiment to a fit: bounds, starts, and a search for the starts that are not given.

use super::experiment::Experiment;
use super::model::{Model, Scaling};
use super::parameter::{ParameterInfo, canonical};
use super::rows::PairRows;
use meromorph::error::{Error, Result};
use meromorph::fit::{Fit, Formula, Problem, RobustLoss, SolveOptions, report, solve};
use meromorph::internal::host::{self, number};
use meromorph::internal::json::Json;

/// How an experiment is fitted.
#[derive(Clone, Debug)]
pub struct Fitting {
    /// The model.
    pub model: Model,
    /// Starts by name; others are looked for.
    pub starts: Vec<(&'static str, f64)>,
    /// Starts of contrast and offset for each angle, by name.
    pub angle_starts: Vec<(&'static str, Vec<f64>)>,
    /// Bounds by name; others are those of [`super::PARAMETERS`].
    pub bounds: Vec<(&'static str, [f64; 2])>,
    /// Parameters that keep a value.
    pub fixed: Vec<(&'static str, f64)>,
    /// The loss of a residual.
    pub loss: RobustLoss,
    /// The size of residual from which a robust loss counts it less.
    pub loss_scale: f64,
    /// Whether standard errors follow from sigma alone; otherwise they are scaled by the residuals.
    pub is_absolute: bool,
    /// How the minimum is searched.
    pub options: SolveOptions,
}

/// A solved fit of an experiment.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The model.
    pub model: Model,
    /// Its formula.
    pub formula: Formula,
    /// The fit.
    pub fit: Fit,
    /// The bounds of each of the fit's parameters.
    pub bounds: Vec<[f64; 2]>,
    /// Whether other starts than the given ones were used, because these led to a place where the data determine nothing.
    pub is_restarted: bool,
    /// The time of the whole search in seconds.
    pub seconds: f64,
    pub(super) report: Json,
}

impl Outcome {
    /// The value of a parameter at an angle.
    pub fn value(&self, name: &str, angle: f64) -> f64 {
        let of_angle = format!("{name}[{}]", number(angle));
        self.fit.value(name).or_else(|| self.fit.value(&of_angle)).unwrap_or(f64::NAN)
    }
}

impl Fitting {
    /// A fit with the usual bounds whose starts are looked for.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            starts: Vec::new(),
            angle_starts: Vec::new(),
            bounds: Vec::new(),
            fixed: Vec::new(),
            loss: RobustLoss::Linear,
            loss_scale: 1.0,
            is_absolute: false,
            options: SolveOptions::default(),
        }
    }

    /// Fits an experiment. Errors as [`solve`] does, and if a start is not within its bounds.
    ///
    /// If the search ends where the data determine nothing, as where a rate is at its least everywhere, other starts are looked for.
    pub fn solve(&self, experiment: &Experiment) -> Result<Outcome> {
        experiment.check()?;
        let started = host::now_ms();
        let is_given = self.candidates()?.len() == 1;
        let first = if is_given { self.clone() } else { self.searched(experiment)? };
        let rows = PairRows::new(experiment);
        let problem = first.problem(&rows, experiment)?;
        let mut fit = solve(&problem, &self.options)?;
        let mut is_restarted = false;
        if is_given && !fit.undetermined.is_empty() {
            let open = Self { starts: Vec::new(), angle_starts: Vec::new(), ..self.clone() };
            let other = solve(&open.searched(experiment)?.problem(&rows, experiment)?, &self.options)?;
            is_restarted = other.cost < fit.cost;
            fit = if is_restarted { other } else { fit };
        }
        let seconds = (host::now_ms() - started) / 1e3;
        let bounds = problem.parameters().iter().map(|one| [one.low, one.high]).collect();
        let (model, formula) = (self.model, self.formula(experiment)?);
        let report = report(&problem, &fit, "c2", seconds);
        Ok(Outcome { model, formula, fit, bounds, is_restarted, seconds, report })
    }

    fn formula(&self, experiment: &Experiment) -> Result<Formula> {
        Formula::parse(&self.model.formula(experiment)?, &["t1", "t2", "phi"])
    }

    fn problem<'a>(&self, rows: &'a PairRows<'a>, experiment: &Experiment) -> Result<Problem<'a>> {
        let sigma = experiment.sigma.as_ref().map(|_| ("sigma", self.is_absolute));
        let mut problem = Problem::read(self.formula(experiment)?, rows, "c2", sigma, false)?;
        problem = problem.loss(self.loss, self.loss_scale)?;
        for known in self.model.parameters() {
            let [low, high] = self.bounds(known);
            let start = self.start(known)?;
            problem = problem.bounds(known.name, low, high)?.start(known.name, start)?;
        }
        for (name, values) in &self.angle_starts {
            let (got, angles) = (values.len(), experiment.phi.len());
            if self.model.scaling == Scaling::Constant || got != angles {
                return Err(Error::usage(format!(
                    "xpcs: {name}: got {got} starts, one for each angle, expected {angles} and the scaling \"individual\""
                )));
            }
            for (angle, value) in experiment.phi.iter().zip(values) {
                problem = problem.start(&format!("{name}[{}]", number(*angle)), *value)?;
            }
        }
        for (name, value) in &self.fixed {
            let named = |known: &ParameterInfo| known.name == *name;
            if !self.model.parameters().any(named) {
                let flow = self.model.flow.name();
                return Err(Error::usage(format!("xpcs: fix: \"{name}\" is not a parameter of the model {flow}")));
            }
            // A value outside of the usual bounds is the user's choice.
            problem = problem.bounds(name, f64::NEG_INFINITY, f64::INFINITY)?.fix(name, *value)?;
        }
        Ok(problem)
    }

    fn bounds(&self, known: &ParameterInfo) -> [f64; 2] {
        self.bounds.iter().find(|(name, _)| *name == known.name).map_or(known.bounds, |(_, bounds)| *bounds)
    }

    fn is_given(&self, name: &str) -> bool {
        self.starts.iter().chain(&self.fixed).any(|(known, _)| *known == name)
    }

    /// The given start, or the usual one, or the middle of the bounds if it is outside.
    fn start(&self, known: &ParameterInfo) -> Result<f64> {
        let [low, high] = self.bounds(known);
        let is_within = |start: f64| low <= start && start <= high;
        match self.starts.iter().find(|(name, _)| *name == known.name) {
            Some((name, start)) if !is_within(*start) => {
                let [start, low, high] = [*start, low, high].map(number);
                Err(Error::usage(format!("xpcs: {name}: the start {start} is not within its bounds {low} to {high}")))
            }
            Some((_, start)) => Ok(*start),
            None if is_within(known.start) => Ok(known.start),
            None => Ok(f64::midpoint(low, high)),
        }
    }
}

/// Times of the thinned data on which starts are tried, at most.
const TRIED_TIMES: usize = 16;
/// Angles of them, at most.
const TRIED_ANGLES: usize = 8;

/// For each parameter of which the cost has several minima, how many starts are tried between its bounds, and whether they are spaced by factors.
const TRIED: [(&str, usize, bool); 3] = [("D0", 3, true), ("alpha", 2, false), ("gamma_dot_0", 6, true)];

impl Fitting {
    /// Every combination of starts to try.
    fn candidates(&self) -> Result<Vec<Vec<(&'static str, f64)>>> {
        let mut all = vec![self.starts.clone()];
        for (name, count, is_by_factors) in TRIED {
            let known = canonical(name)?;
            let is_tried = self.model.parameters().any(|one| one.name == name) && !self.is_given(name);
            if !is_tried {
                continue;
            }
            let [low, high] = self.bounds(known);
            let is_by_factors = is_by_factors && low > 0.0;
            let value = |at: usize| {
                let share = (at as f64 + 0.5) / count as f64;
                if is_by_factors { low * (high / low).powf(share) } else { low + (high - low) * share }
            };
            let with = |one: Vec<(&'static str, f64)>| {
                (0..count).map(move |at| [&one[..], &[(known.name, value(at))]].concat()).collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(with).collect();
        }
        Ok(all)
    }

    /// The same with the starts that lead to the smallest cost on some of the times and angles.
    fn searched(&self, experiment: &Experiment) -> Result<Self> {
        let thinned = thinned(experiment);
        // Whether contrasts differ changes little here.
        let simple = Self {
            model: Model { scaling: Scaling::Constant, ..self.model },
            angle_starts: Vec::new(),
            options: SolveOptions { evaluations: 100, ..self.options.clone() },
            ..self.clone()
        };
        let rows = PairRows::new(&thinned);
        let tried: Vec<Option<Fit>> = host::in_threads(&self.candidates()?, |starts| {
            let one = Self { starts: starts.clone(), ..simple.clone() };
            let options = SolveOptions { threads: 1, ..one.options.clone() };
            one.problem(&rows, &thinned).and_then(|problem| solve(&problem, &options)).ok()
        });
        let best = tried.into_iter().flatten().min_by(|a, b| a.cost.total_cmp(&b.cost));
        let Some(best) = best else { return Ok(self.clone()) };
        let mut starts = self.starts.clone();
        for known in self.model.parameters().filter(|known| !self.is_given(known.name)) {
            starts.push((known.name, best.value(known.name).unwrap_or(known.start)));
        }
        Ok(Self { starts, ..self.clone() })
    }
}

/// Some of the times and angles, spread over all.
fn thinned(experiment: &Experiment) -> Experiment {
    let spread = |count: usize, most: usize| -> Vec<usize> {
        let kept = count.min(most);
        (0..kept).map(|at| if kept == 1 { 0 } else { at * (count - 1) / (kept - 1) }).collect()
    };
    let angles = spread(experiment.phi.len(), TRIED_ANGLES);
    experiment.picked(&angles, &spread(experiment.t.len(), TRIED_TIMES))
}
