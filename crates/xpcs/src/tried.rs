//! Starts that are tried on some of the data, for parameters that have none.

use std::sync::Mutex;

use super::experiment::Experiment;
use super::fitting::Fitting;
use super::model::{Flow, Model, Scaling};
use super::parameter::canonical;
use super::rows::PairRows;
use meromorph::error::Result;
use meromorph::fit::{Fit, Global, SolveOptions, solve};
use meromorph::internal::host::{self, ThreadPool};

/// Times of the thinned data on which starts are tried, at most.
const TRIED_TIMES: usize = 16;
/// The same for two components, whose oscillations more distant times would not show.
const TRIED_TIMES_OF_TWO: usize = 40;
/// Angles of them, at most.
const TRIED_ANGLES: usize = 8;
/// Evaluations of a start before the best are chosen, where there are many.
const FIRST_EVALUATIONS: usize = 6;
/// The starts that are chosen.
const CHOSEN: usize = 16;

/// How starts are spaced between the bounds of a parameter.
#[derive(Clone, Copy)]
enum Spacing {
    Even(usize),
    ByFactors(usize),
    /// Velocities, a phase of about a turn apart at the last time.
    ByPhase,
}

/// The parameters of which the cost has several minima.
const TRIED: [(&str, Spacing); 6] = [
    ("D0", Spacing::ByFactors(3)),
    ("alpha", Spacing::Even(2)),
    ("gamma_dot_0", Spacing::ByFactors(6)),
    ("D0_ref", Spacing::ByFactors(2)),
    ("D0_sample", Spacing::ByFactors(2)),
    ("v0", Spacing::ByPhase),
];

/// Velocities that are tried, at most.
const MOST_VELOCITIES: usize = 64;

impl Fitting {
    /// Every combination of starts to try.
    pub(super) fn candidates(&self, experiment: &Experiment) -> Result<Vec<Vec<(&'static str, f64)>>> {
        let mut all = vec![self.starts.clone()];
        for (name, spacing) in TRIED {
            let known = canonical(name)?;
            let is_tried = self.model.parameters().any(|one| one.name == name) && !self.is_given(name);
            if !is_tried {
                continue;
            }
            let values = spacing.values(self.bounds(known), experiment);
            let with = |one: Vec<(&'static str, f64)>| {
                values.iter().map(|value| [&one[..], &[(known.name, *value)]].concat()).collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(with).collect();
        }
        Ok(all)
    }

    /// The same with the starts that lead to the smallest cost on some of the times and angles.
    pub(super) fn searched(&self, experiment: &Experiment) -> Result<Self> {
        let thinned = thinned(experiment, self.model.flow)?;
        // Whether contrasts differ changes little here.
        let simple = Self {
            model: Model { scaling: Scaling::Constant, ..self.model },
            angle_starts: Vec::new(),
            // A search that gets stuck is no start.
            options: SolveOptions { global: Global::None, recovers: false, ..self.options.clone() },
            ..self.clone()
        };
        let rows = PairRows::new(&thinned);
        let pool = ThreadPool::new(if self.options.threads == 0 { host::threads() } else { self.options.threads })?;
        let fits = |starts: &[Vec<(&'static str, f64)>], evaluations: usize| -> Vec<Fit> {
            let tried: Vec<Mutex<Option<Fit>>> = starts.iter().map(|_| Mutex::new(None)).collect();
            pool.parallel(starts.len(), &|at| {
                let one = Self { starts: starts[at].clone(), ..simple.clone() };
                let options = SolveOptions { threads: 1, evaluations, ..one.options.clone() };
                let fit = one.problem(&rows, &thinned).and_then(|problem| solve(&problem, &options)).ok();
                *tried[at].lock().expect("no thread panicked") = fit;
            });
            let fit = |one: Mutex<Option<Fit>>| one.into_inner().expect("no thread panicked");
            let mut tried: Vec<Fit> = tried.into_iter().filter_map(fit).collect();
            tried.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            tried
        };
        let mut candidates = self.candidates(experiment)?;
        if candidates.len() > 3 * CHOSEN {
            let best = fits(&candidates, FIRST_EVALUATIONS).into_iter().take(CHOSEN);
            candidates = best.map(|fit| self.starts_of(&fit)).collect();
        }
        let Some(best) = fits(&candidates, 100).into_iter().next() else { return Ok(self.clone()) };
        Ok(Self { starts: self.starts_of(&best), ..self.clone() })
    }

    /// The given starts, and those of a fit for other parameters.
    fn starts_of(&self, fit: &Fit) -> Vec<(&'static str, f64)> {
        let mut starts = self.starts.clone();
        for known in self.model.parameters().filter(|known| !self.is_given(known.name)) {
            starts.push((known.name, fit.value(known.name).unwrap_or(known.start)));
        }
        starts
    }
}

impl Spacing {
    fn values(self, [low, high]: [f64; 2], experiment: &Experiment) -> Vec<f64> {
        let shares = |count: usize| (0..count).map(move |at| (at as f64 + 0.5) / count as f64);
        match self {
            Self::ByFactors(count) if low > 0.0 => shares(count).map(|share| low * (high / low).powf(share)).collect(),
            Self::Even(count) | Self::ByFactors(count) => {
                shares(count).map(|share| low + (high - low) * share).collect()
            }
            Self::ByPhase => {
                let Experiment { t, dt, q, .. } = experiment;
                // Faster oscillations than those between two times cannot be told from slower ones.
                let high = high.min(std::f64::consts::PI / (q * dt));
                let low = low.max(-high);
                let phase = (high - low) * q * (t[t.len() - 1] - t[0]);
                let count = (phase / std::f64::consts::PI).ceil().clamp(1.0, MOST_VELOCITIES as f64);
                shares(count as usize).map(|share| low + (high - low) * share).collect()
            }
        }
    }
}

/// Some of the times and angles, spread over all.
fn thinned(experiment: &Experiment, flow: Flow) -> Result<Experiment> {
    let spread = |count: usize, most: usize| -> Vec<usize> {
        let kept = count.min(most);
        (0..kept).map(|at| if kept == 1 { 0 } else { at * (count - 1) / (kept - 1) }).collect()
    };
    let angles = spread(experiment.phi.len(), TRIED_ANGLES);
    let times = if flow == Flow::TwoComponent { TRIED_TIMES_OF_TWO } else { TRIED_TIMES };
    experiment.picked(&angles, &spread(experiment.t.len(), times))
}
