//! From a model and an experiment to a fit: bounds, starts, and a search for the starts that are not given.

use super::experiment::Experiment;
use super::model::{Model, Scaling};
use super::parameter::ParameterInfo;
use super::rows::PairRows;
use meromorph::error::{Error, Result};
use meromorph::files::RowSource;
use meromorph::fit::{Fit, Formula, Global, Problem, RobustLoss, SolveOptions, Strategy, report, solve};
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
    /// Where the rows are while the fit runs; only named in its report.
    pub strategy: Strategy,
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
            strategy: Strategy::Standard,
            // Starts are looked for here.
            options: SolveOptions { compares: false, ..SolveOptions::default() },
        }
    }

    /// Fits an experiment. Errors as [`solve`] does, and if a start is not within its bounds.
    ///
    /// If the search ends where the data determine nothing, as where a rate is at its least everywhere, other starts are looked for.
    pub fn solve(&self, experiment: &Experiment) -> Result<Outcome> {
        self.solve_by(experiment, &PairRows::new(experiment), |problem, options, _| solve(problem, options))
    }

    /// The same of the experiment's pairs as `rows`, with a search by `solve`, which also gets its number: 0, and 1 if other starts are looked for.
    pub fn solve_by<E: From<Error>>(
        &self,
        experiment: &Experiment,
        rows: &dyn RowSource,
        mut solve: impl FnMut(&Problem<'_>, &SolveOptions, usize) -> std::result::Result<Fit, E>,
    ) -> std::result::Result<Outcome, E> {
        experiment.check()?;
        let started = host::now_ms();
        // A search all over the bounds needs no starts.
        let is_given = self.options.global != Global::None || self.candidates(experiment)?.len() == 1;
        let first = if is_given { self.clone() } else { self.searched(experiment)? };
        let problem = first.problem(rows, experiment)?;
        let mut fit = solve(&problem, &self.options, 0)?;
        let mut is_restarted = false;
        if is_given && !fit.undetermined.is_empty() {
            let open = Self { starts: Vec::new(), angle_starts: Vec::new(), ..self.clone() };
            let other = solve(&open.searched(experiment)?.problem(rows, experiment)?, &self.options, 1)?;
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

    pub(super) fn problem<'a>(&self, rows: &'a dyn RowSource, experiment: &Experiment) -> Result<Problem<'a>> {
        let sigma = experiment.sigma.as_ref().map(|_| ("sigma", self.is_absolute));
        let mut problem = Problem::read(self.formula(experiment)?, rows, "c2", sigma, false)?;
        problem = problem.loss(self.loss, self.loss_scale)?.strategy(self.strategy);
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
        if let Some(known) =
            self.model.redundant().filter(|known| !self.fixed.iter().any(|(name, _)| *name == known.name))
        {
            problem = problem.fix(known.name, self.start(known)?)?;
        }
        Ok(problem)
    }

    pub(super) fn bounds(&self, known: &ParameterInfo) -> [f64; 2] {
        self.bounds.iter().find(|(name, _)| *name == known.name).map_or(known.bounds, |(_, bounds)| *bounds)
    }

    pub(super) fn is_given(&self, name: &str) -> bool {
        self.starts.iter().chain(&self.fixed).any(|(known, _)| *known == name)
    }

    /// The given start, or the usual one, or the middle of the bounds if it is outside.
    fn start(&self, known: &ParameterInfo) -> Result<f64> {
        let [low, high] = self.bounds(known);
        let is_within = |start: f64| low <= start && start <= high;
        match self.starts.iter().find(|(name, _)| *name == known.name) {
            Some((name, start)) if !is_within(*start) => {
                let [start, low, high] = [*start, low, high].map(number);
                Err(Error::usage(format!("{name}: got the start {start}, expected {low} to {high}")))
            }
            Some((_, start)) => Ok(*start),
            None if is_within(known.start) => Ok(known.start),
            None => Ok(f64::midpoint(low, high)),
        }
    }
}
