//! Where the search starts. Parameters without a start are looked for on up to a thousand rows: those in which the model is linear are solved
//! for, the others are drawn from ranges that fit the data, and the best of the searches from the best draws is the start.

use std::ops::Range;

use nalgebra::DVector;

use super::draws::{Draws, Random};
use super::local::Search;
use super::options::{Global, SolveOptions};
use super::places::{Collapsed, Pursuit, Spacing, Symmetry, Terms, spacings};
use super::tries::Tries;
use crate::error::{Error, Result};
use crate::fit::formula::{Parameter, RobustLoss, linear};
use crate::fit::pass::model::varying;
use crate::fit::pass::{Bad, Objective, Sums};
use crate::fit::rows::{Groups, Problem};
use crate::host::ThreadPool;
use crate::math::quantile_of_sorted;

/// Rows that the draws are compared on, at most.
pub(crate) const ROWS: usize = 1_000;
/// Rows of a first search.
const WARM: usize = 4_000;
/// With as many rows, passes over them cost more than a first search.
const WARM_FROM: usize = 20 * WARM;
/// Draws.
const DRAWS: usize = 3_000;
/// Starts from which a search goes on to its end.
const BEST: usize = 6;
/// Evaluations of the model after which they are chosen.
const BRIEF: usize = 12;
/// Draws from which a search starts.
const MANY: usize = 60;
/// Draws are near each other where parameters differ by less than this share.
const NEAR: f64 = 0.25;
/// Draws over which a spread is taken.
const BETTER: usize = 300;
/// Steps of the linear parameters with a robust loss.
const ROBUST_STEPS: usize = 5;
/// More parameters than these are not found by drawing.
const MOST_DRAWN: usize = 8;
/// With more parameters than these, places of terms are found sooner.
const FEW_DRAWN: usize = 4;
/// The share of y² that terms at their places leave, below which nothing else is tried.
const LEFT: f64 = 0.1;
/// A single parameter is tried in every size, from 10 to the power of minus this to that of it.
const DECADES: i32 = 12;
/// Costs that differ by less than this share are equal.
const EQUAL: f64 = 1e-6;
/// Sizes in a decade.
const SIZES: i32 = 8;
/// Groups whose own fits are a start for all together, at most.
const MOST_GROUPS: usize = 500;
/// Evaluations after which two starts of all groups together are compared.
const COMPARED: usize = 20;

/// Where to start: the given start, or the end of the best of the searches on a sample of the rows. A parameter starts at the same value for all its
/// levels. Errors if the model is finite at no draw.
pub(crate) fn start(
    problem: &Problem<'_>,
    free: &[usize],
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<DVector<f64>> {
    let given: Option<Vec<f64>> = free.iter().map(|&at| problem.parameters[at].start).collect();
    if let (Some(start), Global::None) = (given, options.global) {
        return Ok(DVector::from_vec(start));
    }
    let one = |starts: &[f64]| {
        let one = |&at: &usize| {
            let parameter = &problem.parameters[at];
            let given = parameter.start.filter(|_| options.global == Global::None);
            given.unwrap_or(starts[at].clamp(parameter.low, parameter.high))
        };
        DVector::from_iterator(free.len(), free.iter().map(one))
    };
    let together = together(problem, options, pool).map(|starts| one(&starts));
    let Some(apart) = by_group(problem, options, pool)? else { return together };
    let apart = one(&apart);
    let Ok(together) = together else { return Ok(apart) };
    let (search, sums) = (
        Search::of(problem, free, &SolveOptions { evaluations: COMPARED, ..options.clone() })?,
        Sums::new(problem, pool),
    );
    let end = |start: &DVector<f64>| {
        search.run(&sums, start).map_or((f64::INFINITY, start.clone()), |found| (found.normal.cost, found.x))
    };
    let [together, apart] = [end(&together), end(&apart)];
    Ok(if apart.0 <= together.0 { apart.1 } else { together.1 })
}

/// Starts of all parameters, each the same for all its levels.
fn together(problem: &Problem<'_>, options: &SolveOptions, pool: &ThreadPool) -> Result<Vec<f64>> {
    let rows = 0..problem.data.rows();
    let sampled = sampled(problem, rows.clone())?;
    let places = sampled.free();
    let found = found(&sampled, &spacings(problem, rows)?, options, pool)?;
    let mut values: Vec<f64> = sampled.parameters.iter().map(|one| one.start.unwrap_or_default()).collect();
    places.iter().zip(&found).for_each(|(&at, value)| values[at] = *value);
    let mut starts: Vec<f64> = vec![0.0; problem.parameters.len()];
    for places in &problem.places {
        places.iter().zip(&values).for_each(|(&place, value)| starts[place] = *value);
    }
    Ok(starts)
}

/// Starts of all parameters from fits of each group of rows alone: the median over its groups of what is found for a parameter. `None` unless there are
/// several groups and terms with places, which may be elsewhere in each.
fn by_group(problem: &Problem<'_>, options: &SolveOptions, pool: &ThreadPool) -> Result<Option<Vec<f64>>> {
    let groups = problem.groups();
    if !(2..=MOST_GROUPS).contains(&groups) || problem.data.source().is_some() {
        return Ok(None);
    }
    let has_places =
        Terms::of(&sampled(problem, 0..problem.data.rows())?, &|_| false).is_some_and(|terms| terms.have_places());
    if !has_places {
        return Ok(None);
    }
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); problem.parameters.len()];
    for group in 0..groups {
        let rows = problem.data.group(group);
        let own = sampled(problem, rows.clone())?;
        let places = own.free();
        if own.rows() < places.len() {
            continue;
        }
        if let Ok(found) = found(&own, &spacings(problem, rows)?, options, pool) {
            places.iter().zip(&found).for_each(|(&at, value)| all[problem.places[group][at]].push(*value));
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        if values.is_empty() { 0.0 } else { quantile_of_sorted(values, 0.5) }
    };
    Ok(Some(all.iter_mut().map(median).collect()))
}

/// The start, or where a search on some of the rows leads from it.
pub(crate) fn begin(
    problem: &Problem<'_>,
    free: &[usize],
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<DVector<f64>> {
    warmed(problem, free, start(problem, free, options, pool)?, options, pool)
}

/// The error for rows in which the model is finite at no start, such as one where the logarithm of a column is that of 0, if there are other rows. Only
/// where these are all the rows: others have other numbers.
fn outside(problem: &Problem<'_>, free: &[usize], sums: &Sums<'_>) -> Option<Error> {
    let bad = |value: f64| {
        let within = |&at: &usize| value.clamp(problem.parameters[at].low, problem.parameters[at].high);
        match sums.normal(&free.iter().map(within).collect::<Vec<f64>>()) {
            Err(bad @ Bad::Rows { count, first }) if count < problem.rows() => Some((first, bad)),
            _ => None,
        }
    };
    let [(one, _), (other, bad)] = [bad(1.0)?, bad(0.37)?];
    (one == other && problem.data.rows() < ROWS).then(|| bad.explained(problem))
}

/// At most so many of some rows: one from each of as many equal parts, at a place that follows no pattern of the data.
pub(crate) fn picked(rows: Range<usize>, most: usize) -> Vec<usize> {
    let count = rows.len().min(most);
    let mut random = Random(0);
    let mut pick = |at: usize| {
        let [from, to] = [at, at + 1].map(|at| (at as u128 * rows.len() as u128 / count as u128) as usize);
        rows.start + from + (random.unit() * (to - from) as f64) as usize
    };
    (0..count).map(&mut pick).collect()
}

/// Where a search on a few thousand rows ends: from there, few passes over all rows are needed. The given start if there are not many more rows, if
/// parameters have levels, or if that search does not converge.
pub(crate) fn warmed(
    problem: &Problem<'_>,
    free: &[usize],
    start: DVector<f64>,
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<DVector<f64>> {
    let rows = problem.data.rows();
    if rows < WARM_FROM || problem.groups() > 1 {
        return Ok(start);
    }
    let data = problem.data.picked(&picked(0..rows, WARM))?;
    let sample = Problem { data, ..problem.clone() };
    if sample.rows() < WARM / 2 {
        return Ok(start);
    }
    let found = Search::of(&sample, free, options)?.run(&Sums::new(&sample, pool), &start);
    Ok(found.ok().filter(|found| found.stop.is_converged()).map_or(start, |found| found.x))
}

/// The problem on rows spread evenly over some of the data, with one value for all levels of a parameter.
pub(crate) fn sampled(problem: &Problem<'_>, rows: Range<usize>) -> Result<Problem<'static>> {
    let picked = picked(rows, ROWS);
    let parameters = problem.formula.parameters().iter().enumerate().map(|(at, name)| {
        let levels: Vec<&Parameter> = problem.places.iter().map(|places| &problem.parameters[places[at]]).collect();
        let first = levels[0];
        let is_fixed = levels.iter().all(|one| one.is_fixed && one.start == first.start);
        let start = levels.iter().find_map(|one| one.start);
        let low = levels.iter().map(|one| one.low).fold(f64::INFINITY, f64::min);
        let high = levels.iter().map(|one| one.high).fold(f64::NEG_INFINITY, f64::max);
        Parameter { name: name.clone(), start, low, high, is_fixed }
    });
    Ok(Problem {
        formula: problem.formula.without_levels(),
        data: problem.data.picked(&picked)?,
        groups: Groups::one(),
        places: vec![(0..problem.formula.parameters().len()).collect()],
        parameters: parameters.collect(),
        is_absolute: problem.is_absolute,
        loss: problem.loss,
        scale: problem.scale,
        strategy: problem.strategy,
    })
}

/// The end of the best of the searches from draws, and from terms at their places. `spaced` are the spacings of the columns in all the data.
pub(crate) fn found(
    problem: &Problem<'_>,
    spaced: &[Spacing],
    options: &SolveOptions,
    pool: &ThreadPool,
) -> Result<DVector<f64>> {
    let free = &problem.free()[..];
    let is_local = options.global == Global::None;
    let given: Vec<Option<f64>> = free.iter().map(|&at| problem.parameters[at].start.filter(|_| is_local)).collect();
    let (_, program) = varying(problem);
    let solved: Vec<usize> = linear(&program, free.len()).into_iter().filter(|&at| given[at].is_none()).collect();
    let drawn: Vec<usize> = (0..free.len()).filter(|at| given[*at].is_none() && !solved.contains(at)).collect();
    let names = |places: &[usize]| {
        let names: Vec<&str> = places.iter().map(|&at| problem.parameters[free[at]].name.as_str()).collect();
        let example: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
        (names.join(", "), example.join(","))
    };
    let terms = Terms::of(problem, &|at| given[at].is_some()).filter(|terms| !drawn.is_empty() && terms.have_places());
    let collapsed = terms.map(|terms| Collapsed { terms, places: free.to_vec(), spacings: spaced.to_vec() });
    let pursued = collapsed.as_ref().and_then(|collapsed| {
        let pursuit = Pursuit { problem, terms: &collapsed.terms, spacings: spaced, options, pool };
        let (cost, x) = pursuit.run(&given)?;
        let x = Symmetry::of(problem, collapsed).map_or(x.clone(), |symmetry| symmetry.chosen(free, &x));
        Some(((cost, x), pursuit.spread()))
    });
    if let (Some(((cost, x), spread)), true) = (&pursued, is_local)
        // A robust cost says nothing of y²: draws may find a start that outliers do not pull away.
        && (drawn.len() > MOST_DRAWN
            || (problem.loss == RobustLoss::Linear && (drawn.len() > FEW_DRAWN || *cost < LEFT * spread)))
    {
        return Ok(x.clone());
    }
    if drawn.len() > MOST_DRAWN && is_local {
        let (names, example) = names(&drawn);
        return Err(Error::usage(format!(
            "p0: {} parameters have no start ({names}), and at most {MOST_DRAWN} are looked for: expected starts such as {example}",
            drawn.len()
        )));
    }
    let plain = Problem { loss: RobustLoss::Linear, ..problem.clone() };
    // The steps of a loss that flattens out need not go down.
    let convex = Problem { loss: problem.loss.convex(), ..problem.clone() };
    let robust =
        (problem.loss != RobustLoss::Linear).then(|| [&convex, problem].map(|problem| Sums::new(problem, pool)));
    let robust_steps = match (solved.is_empty(), drawn.is_empty()) {
        (true, _) => 0,
        // The only start there is.
        (_, true) => 10 * ROBUST_STEPS,
        _ => ROBUST_STEPS,
    };
    let tries = Tries { problem, free, sums: Sums::new(&plain, pool), robust, solved: &solved, robust_steps };
    let draws = Draws::over(problem)?;
    let mut random = Random(options.seed);
    let mut draw = |_| {
        let mut x = DVector::from_fn(free.len(), |at, _| given[at].unwrap_or(0.0));
        for &at in &drawn {
            let parameter = &problem.parameters[free[at]];
            x[at] = draws.draw(parameter.low, parameter.high, &mut random);
        }
        tries.at(x)
    };
    let mut found: Vec<(f64, DVector<f64>)> =
        (0..if drawn.is_empty() { 1 } else { DRAWS }).filter_map(&mut draw).collect();
    found.extend(sizes(problem, free, &drawn, &given).into_iter().filter_map(|x| tries.at(x)));
    // A start that is given is one of many for a global search.
    let own: Option<Vec<f64>> = free.iter().map(|&at| problem.parameters[at].start).collect();
    found.extend(own.and_then(|own| tries.at(DVector::from_vec(own))));
    if found.is_empty() {
        if let Some(error) = outside(problem, free, &tries.sums) {
            return Err(error);
        }
        let (names, example) = names(if drawn.is_empty() { &solved } else { &drawn });
        return Err(Error::usage(format!(
            "p0: no start was found at which the model is finite, for {names}: expected starts near the answer, such as {example}"
        )));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = found[0].1.clone();
    if options.global == Global::CmaEs && !drawn.is_empty() {
        found.insert(0, (0.0, tries.evolved(&best, &drawn, &mut random)));
    }
    let sums = Sums::new(problem, pool);
    let ends = |options: &SolveOptions, starts: Vec<(f64, DVector<f64>)>| -> Result<Vec<(f64, DVector<f64>)>> {
        let search = Search::of(problem, free, options)?;
        let ends = starts.into_iter().filter_map(|(_, x)| search.run(&sums, &x).ok());
        let mut ends: Vec<(f64, DVector<f64>)> = ends.map(|found| (found.normal.cost, found.x)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(ends)
    };
    let found = if options.global == Global::MultiStart {
        ends(options, distinct(found, &drawn, MANY))?
    } else {
        // A few steps from many starts show which of them lead far down.
        let brief = SolveOptions { evaluations: BRIEF, ..options.clone() };
        let mut begun = ends(&brief, distinct(found, &drawn, MANY))?;
        begun.truncate(BEST);
        ends(options, begun)?
    };
    // Of points that are equally low, such as those of frequencies that are the same on evenly spaced rows, terms at their places win.
    let lowest = found.into_iter().next();
    Ok(match (lowest, pursued) {
        (Some((cost, x)), Some(((pursued, _), _))) if cost < pursued * (1.0 - EQUAL) => x,
        (_, Some(((_, x), _))) => x,
        (lowest, None) => lowest.map_or(best, |(_, x)| x),
    })
}

/// Points with the one parameter that is drawn in every size; none if there are several.
fn sizes(problem: &Problem<'_>, free: &[usize], drawn: &[usize], given: &[Option<f64>]) -> Vec<DVector<f64>> {
    let &[at] = drawn else { return Vec::new() };
    let decades = || (-DECADES * SIZES..=DECADES * SIZES).map(|power| 10_f64.powf(f64::from(power) / f64::from(SIZES)));
    let values = decades().chain(decades().map(|size| -size));
    let point = |value: f64| {
        let value = |place: usize| if place == at { value } else { given[place].unwrap_or(0.0) };
        DVector::from_fn(free.len(), |place, _| value(place))
    };
    values.filter(|value| problem.parameters[free[at]].admits(*value)).map(point).collect()
}

/// The first points of which no two are near each other in all the parameters that are drawn: searches from neighbours end at the same place. What is
/// near depends on the size of a parameter, or on its spread over the better points, whichever is smaller: places may be far from 0.
pub(crate) fn distinct(found: Vec<(f64, DVector<f64>)>, drawn: &[usize], most: usize) -> Vec<(f64, DVector<f64>)> {
    if found.is_empty() {
        return Vec::new();
    }
    let spread = |at: &usize| {
        let mut values: Vec<f64> = found.iter().take(BETTER).map(|(_, x)| x[*at]).collect();
        values.sort_by(f64::total_cmp);
        quantile_of_sorted(&values, 0.9) - quantile_of_sorted(&values, 0.1)
    };
    let spreads: Vec<f64> = drawn.iter().map(spread).collect();
    let mut kept: Vec<(f64, DVector<f64>)> = Vec::with_capacity(most);
    for (cost, x) in found {
        let is_near = |other: &DVector<f64>| {
            drawn
                .iter()
                .zip(&spreads)
                .all(|(&at, spread)| (x[at] - other[at]).abs() <= NEAR * x[at].abs().max(other[at].abs()).min(*spread))
        };
        if kept.is_empty() || !kept.iter().any(|(_, other)| is_near(other)) {
            kept.push((cost, x));
        }
        if kept.len() == most {
            break;
        }
    }
    kept
}
