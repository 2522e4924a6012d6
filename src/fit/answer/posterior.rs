//! Draws of the parameters from their posterior, by walkers that move along lines through each other (Goodman and Weare 2010, the stretch move of emcee).
//! The prior is flat within bounds; where the size of errors is not known, it has the prior 1 / σ and is integrated out.

use nalgebra::{Cholesky, DMatrix, DVector};

use super::random::Random;
use super::result::Fit;
use crate::error::{Error, Result};
use crate::fit::formula::RobustLoss;
use crate::fit::pass::{Bad, Objective, Sums};
use crate::fit::rows::{Problem, pieces};
use crate::fit::search::SolveOptions;
use crate::host::ThreadPool;
use crate::math::quantile_of_sorted;

/// Draws of the posterior, and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// Of each free parameter, in the order of [`Fit::free`].
    pub parameters: Vec<Drawn>,
    /// The share of moves that were taken: about 0.2 to 0.6 if the walkers fit the posterior.
    pub acceptance: f64,
    /// [draws, free]: those of all walkers, step by step.
    pub draws: Vec<Vec<f64>>,
}

/// The posterior of one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// The mean of the draws.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// The quantiles at [`QUANTILES`].
    pub quantiles: [f64; 5],
    /// The spread over all walkers relative to that within each half of one (Gelman and Rubin 1992): near 1 if the walk was long enough.
    pub r_hat: f64,
    /// As many independent draws would say as much.
    pub effective: f64,
}

/// Shares of the quantiles of a posterior.
pub const QUANTILES: [f64; 5] = [0.025, 0.16, 0.5, 0.84, 0.975];

/// Walkers for each free parameter, and at least.
const WALKERS: usize = 4;
const FEWEST_WALKERS: usize = 16;
/// The longest step along a line, as a factor of its length.
const STRETCH: f64 = 2.0;
/// Steps before those that are kept, at least.
const BURN: usize = 200;

/// Adds draws of the free parameters to a solved fit, about so many of all walkers together, after as many steps that are not kept. The answer is the same for
/// any number of threads.
///
/// Errors with a robust loss, whose cost is no likelihood, and without degrees of freedom.
pub fn add_posterior(problem: &Problem<'_>, fit: &mut Fit, draws: usize, options: &SolveOptions) -> Result<()> {
    if fit.dof == 0 || !matches!(problem.loss, RobustLoss::Linear | RobustLoss::Poisson) {
        return Err(Error::usage("sample: expected more rows than parameters and the linear loss, or that of counts"));
    }
    let pool = options.pool()?;
    let free = problem.free();
    let count = free.len();
    let walkers = (WALKERS * count).max(FEWEST_WALKERS).next_multiple_of(2);
    let steps = draws.div_ceil(walkers).max(4);
    let one = ThreadPool::new(1)?;
    let sums = Sums::new(problem, &one);
    let density = Density { problem, free: &free, sums: &sums, least: fit.cost };
    let mut random = Random::nth(options.seed, u64::MAX);
    let mut walk = Walk::begin(&density, fit, walkers, &mut random)?;
    let burn = BURN.max(steps);
    let (mut taken, mut kept) = (0, Vec::with_capacity(steps * walkers));
    for step in 0..burn + steps {
        let moved = walk.step(&density, &mut random, &pool)?;
        if step >= burn {
            taken += moved;
            kept.extend(walk.places.iter().cloned());
        }
    }
    let parameters = (0..count).map(|at| {
        let chains: Vec<Vec<f64>> =
            (0..walkers).map(|walker| kept.iter().skip(walker).step_by(walkers).map(|x| x[at]).collect()).collect();
        drawn(&chains)
    });
    let acceptance = taken as f64 / (steps * walkers) as f64;
    fit.posterior = Some(Posterior { parameters: parameters.collect(), acceptance, draws: kept });
    Ok(())
}

/// The logarithm of the posterior, up to a constant.
struct Density<'d> {
    problem: &'d Problem<'d>,
    free: &'d [usize],
    sums: &'d Sums<'d>,
    least: f64,
}

impl Density<'_> {
    /// Minus infinity outside of the bounds and where the model is not finite.
    fn at(&self, x: &[f64]) -> Result<f64> {
        let admits = |(&at, &x): (&usize, &f64)| self.problem.parameters[at].admits(x);
        if !self.free.iter().zip(x).all(admits) {
            return Ok(f64::NEG_INFINITY);
        }
        match self.sums.normal(x) {
            Ok(normal) if self.problem.is_absolute => Ok(self.least - normal.cost),
            Ok(normal) => {
                Ok(-0.5 * self.problem.rows() as f64 * (normal.cost / self.least.max(f64::MIN_POSITIVE)).ln())
            }
            Err(Bad::Rows { .. }) => Ok(f64::NEG_INFINITY),
            Err(Bad::Unread(error)) => Err(error),
        }
    }
}

/// The walkers.
struct Walk {
    places: Vec<Vec<f64>>,
    densities: Vec<f64>,
}

impl Walk {
    /// Around the best values, as far apart as the covariance says.
    fn begin(density: &Density<'_>, fit: &Fit, walkers: usize, random: &mut Random) -> Result<Self> {
        let best: Vec<f64> =
            density.free.iter().filter_map(|&at| fit.value(&density.problem.parameters[at].name)).collect();
        let count = best.len();
        let matrix = DMatrix::from_fn(count, count, |i, j| fit.covariance[i][j]);
        let root = Some(matrix).filter(|matrix| matrix.iter().all(|entry| entry.is_finite())).and_then(Cholesky::new);
        let apart = || DVector::from_iterator(count, best.iter().map(|x| 1e-2 * x.abs().max(1e-6)));
        let root = root.map_or_else(|| DMatrix::from_diagonal(&apart()), |root| root.l());
        let (mut places, mut densities) = (Vec::new(), Vec::new());
        let mut size = 1.0;
        let mut tries = 0;
        while places.len() < walkers {
            let normal = DVector::from_fn(count, |_, _| random.normal());
            let away: DVector<f64> = &root * normal * size;
            let place: Vec<f64> = best.iter().zip(&away).map(|(best, away)| best + away).collect();
            let value = density.at(&place)?;
            tries += 1;
            if value > f64::NEG_INFINITY {
                places.push(place);
                densities.push(value);
            } else if tries % (10 * walkers) == 0 {
                size *= 0.5;
                if size < 1e-9 {
                    return Err(Error::new(
                        "sample: no place was found around the best values at which the model is finite",
                    ));
                }
            }
        }
        Ok(Self { places, densities })
    }

    /// Moves each half along lines through walkers of the other half. Returns how many moved.
    fn step(&mut self, density: &Density<'_>, random: &mut Random, pool: &ThreadPool) -> Result<usize> {
        let half = self.places.len() / 2;
        let mut moved = 0;
        for [own, other] in [[0, half], [half, 0]] {
            let mut tried = Vec::with_capacity(half);
            for walker in own..own + half {
                let through = &self.places[other + random.below(half)];
                // Of the density 1 / √z from 1 / a to a.
                let root = 1.0 + (STRETCH - 1.0) * random.unit();
                let factor = root * root / STRETCH;
                let place =
                    through.iter().zip(&self.places[walker]).map(|(through, x)| through + factor * (x - through));
                tried.push((place.collect::<Vec<f64>>(), factor, random.unit()));
            }
            let mut densities = Vec::with_capacity(half);
            pieces::each(pool, 0..half, |at| density.at(&tried[at].0), |value| densities.push(value))?;
            for (at, ((place, factor, chance), value)) in tried.into_iter().zip(densities).enumerate() {
                let walker = own + at;
                let ratio = (place.len() as f64 - 1.0) * factor.ln() + value - self.densities[walker];
                if chance.ln() < ratio {
                    (self.places[walker], self.densities[walker]) = (place, value);
                    moved += 1;
                }
            }
        }
        Ok(moved)
    }
}

/// What the chains of all walkers say of a parameter.
fn drawn(chains: &[Vec<f64>]) -> Drawn {
    let mut all: Vec<f64> = chains.concat();
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let deviation = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
    all.sort_unstable_by(f64::total_cmp);
    let quantiles = QUANTILES.map(|share| quantile_of_sorted(&all, share));
    Drawn { mean, deviation, quantiles, r_hat: r_hat(chains), effective: count / correlation_time(chains, mean) }
}

/// Gelman and Rubin's measure over the halves of all chains.
fn r_hat(chains: &[Vec<f64>]) -> f64 {
    let halves: Vec<&[f64]> =
        chains.iter().flat_map(|chain| chain.chunks_exact((chain.len() / 2).max(1)).take(2)).collect();
    let length = halves[0].len() as f64;
    let means: Vec<f64> = halves.iter().map(|half| half.iter().sum::<f64>() / length).collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let between = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (means.len() as f64 - 1.0);
    let square = |(half, mean): (&&[f64], &f64)| half.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (length - 1.0);
    let within = halves.iter().zip(&means).map(square).sum::<f64>() / means.len() as f64;
    ((within * (length - 1.0) / length + between) / within).sqrt()
}

/// Steps after which a walker has forgotten where it was: 1 + 2 Σ ρ(lag) of all chains, up to five times itself (Sokal 1997).
fn correlation_time(chains: &[Vec<f64>], mean: f64) -> f64 {
    let length = chains[0].len();
    let covariance = |lag: usize| {
        let of_chain = |chain: &Vec<f64>| -> f64 {
            (0..length - lag).map(|at| (chain[at] - mean) * (chain[at + lag] - mean)).sum()
        };
        chains.iter().map(of_chain).sum::<f64>() / (chains.len() * (length - lag)) as f64
    };
    let variance = covariance(0);
    let mut time = 1.0;
    for lag in 1..length {
        time += 2.0 * covariance(lag) / variance;
        if lag as f64 >= 5.0 * time {
            break;
        }
    }
    f64::max(time, 1.0)
}
