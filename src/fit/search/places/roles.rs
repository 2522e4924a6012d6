//! What a parameter of a term does, read off values of what the term's coefficient multiplies: whether it shifts a column, is an angle, or a frequency.

use std::f64::consts::FRAC_PI_2;

use crate::fit::rows::Problem;
use crate::fit::search::draws::{Draws, Random};
use crate::program::Program;

/// Points at which a role is looked for.
const POINTS: usize = 80;
/// Points of them that must show it.
const SHOWN: usize = 6;
/// Relative difference of values that are equal but for rounding errors.
const SAME: f64 = 1e-6;
/// Values of a column at which a sinusoid is looked for.
const PLACES: usize = 5;

/// A parameter of a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub at: usize,
    pub role: Role,
}

/// What a parameter of a factor does, in the order in which the parameters of a term are listed.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Role {
    /// φ depends on the difference of a column and the parameter.
    Place {
        column: usize,
    },
    /// φ is a sinusoid of the parameter, as a phase is.
    Angle,
    /// φ is a sinusoid of a column with so many radians for one of the column and one of the parameter.
    Frequency {
        column: usize,
        factor: f64,
    },
    /// The same with so many radians divided by the parameter.
    Period {
        column: usize,
        factor: f64,
    },
    Other,
}

/// Values of the free parameters and the columns among which roles are looked for.
pub(super) fn points(problem: &Problem<'_>, free: &[usize], draws: &Draws) -> Vec<Vec<f64>> {
    let mut random = Random(1);
    let mut point = |_| {
        let mut point: Vec<f64> = Vec::new();
        for &at in free {
            let parameter = &problem.parameters[at];
            point.push(draws.draw(parameter.low, parameter.high, &mut random));
        }
        let columns = draws.ranges().iter().take(problem.formula.columns().len());
        point.extend(columns.map(|[low, high]| low + (high - low) * random.unit()));
        point
    };
    (0..POINTS).map(&mut point).collect()
}

/// Whether a program has the same value for all values of the free parameters. Its text may have them all the same, as 0 / (1 + x²/w²) has.
pub(super) fn is_same(program: &Program, free: usize, points: &[Vec<f64>]) -> bool {
    let value = |point: &[f64], columns: &[f64]| program.at(&[&point[..free], &columns[free..]].concat())[0];
    points.windows(2).all(|pair| {
        let [one, other] = [value(&pair[0], &pair[0]), value(&pair[1], &pair[0])];
        one == other || !(one - other).is_finite()
    })
}

/// What is looked at to find roles.
pub(super) struct Probe<'p> {
    /// Number of free parameters, after which the columns are.
    pub free: usize,
    /// Ends of the columns.
    pub ranges: &'p [[f64; 2]],
    pub points: Vec<Vec<f64>>,
}

impl Probe<'_> {
    /// Whether φ stays the same where a column and the parameter move together, and changes if only the parameter does.
    pub(super) fn is_place(&self, factor: &Program, at: usize, column: usize) -> bool {
        let [low, high] = self.ranges[column];
        let column = self.free + column;
        let mut shown = 0;
        for (number, point) in self.points.iter().enumerate() {
            let mut point = point.clone();
            // Near the place there is more to see.
            point[at] = point[column] + 0.3 * (high - low) * ((number % 7) as f64 / 7.0 - 0.4);
            let shift = (high - low) * [0.11, 0.017, -0.23][number % 3];
            let before = factor.at(&point)[0];
            point[at] += shift;
            let apart = factor.at(&point)[0];
            point[column] += shift;
            let after = factor.at(&point)[0];
            if ![before, apart, after].iter().all(|value| value.is_finite()) {
                continue;
            }
            let size = before.abs().max(after.abs());
            if (before - after).abs() > SAME * size + f64::MIN_POSITIVE {
                return false;
            }
            shown += usize::from((before - apart).abs() > 1e-3 * size);
        }
        shown >= SHOWN
    }

    /// Whether φ is a sinusoid of the parameter, wherever the columns are. The `others` are also tried in sizes with which φ turns slowly: far from 0, large
    /// frequencies and short periods lose the digits of a turn.
    pub(super) fn is_angle(&self, factor: &Program, at: usize, others: &[usize]) -> bool {
        let widest = self.ranges.iter().map(|[low, high]| low.abs().max(high.abs())).fold(0.0, f64::max).max(1e-300);
        let (mut shown, mut not) = (0, 0);
        for point in self.points.iter().take(POINTS / 4) {
            let turn = |size: Option<f64>| {
                let value = |place: usize, step: f64| {
                    let mut point = point.clone();
                    for (column, [low, high]) in self.ranges.iter().enumerate() {
                        let share = 0.1 + 0.17 * place as f64 + 0.013 * column as f64;
                        point[self.free + column] = low + (high - low) * share;
                    }
                    for (number, &other) in others.iter().enumerate() {
                        point[other] = size.map_or(point[other], |size| size * (1.0 + 0.3 * number as f64));
                    }
                    // A small step is not lost beside a small angle.
                    point[at] = point[at] % 10.0 + step;
                    factor.at(&point)[0]
                };
                radians(&value)
            };
            let turns = [None, Some(2.0 / widest), Some(2.0 * widest)].map(turn);
            shown += usize::from(turns.iter().any(|turn| matches!(turn, Turn::Of(_))));
            not += usize::from(turns.iter().all(|turn| matches!(turn, Turn::Not)));
        }
        shown >= SHOWN && shown > 2 * not
    }

    /// Frequency or period, if φ is a sinusoid of a column that turns the faster or the slower, the larger the parameter is. The `others` are 0 where φ
    /// is damped.
    pub(super) fn frequency(&self, factor: &Program, at: usize, column: usize, others: &[usize]) -> Option<Role> {
        let [low, high] = self.ranges[column];
        let place = self.free + column;
        let turns = |parameter: f64, has_others: bool, point: &[f64]| {
            let value = |number: usize, step: f64| {
                let mut point = point.to_vec();
                others.iter().filter(|_| !has_others).for_each(|&other| point[other] = 0.0);
                point[at] = parameter;
                point[place] = low + (high - low) * (0.1 + 0.17 * number as f64) + step * (high - low);
                factor.at(&point)[0]
            };
            match radians(&value) {
                Turn::Of(radians) => Some(radians / (high - low)),
                _ => None,
            }
        };
        let unit = 5.0 / (high - low);
        let found = self.points.iter().take(8).flat_map(|point| [true, false].map(|has_others| (point, has_others)));
        let mut roles = found.filter_map(|(point, has_others)| {
            let [one, two, four] = [1.0, 2.0, 4.0].map(|times| turns(times * unit, has_others, point));
            let (one, two, four) = (one?, two?, four?);
            let is_near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
            if is_near(two, 2.0 * one) && is_near(four, 4.0 * one) {
                return Some(Role::Frequency { column, factor: one / unit });
            }
            let is_period = is_near(2.0 * two, one) && is_near(4.0 * four, one);
            is_period.then_some(Role::Period { column, factor: one * unit })
        });
        roles.next()
    }
}

/// Whether and how fast a function turns.
enum Turn {
    /// A sinusoid with so many radians for a step of 1.
    Of(f64),
    /// No sinusoid.
    Not,
    /// It has too few values that are finite and not 0.
    Unknown,
}

/// How fast a function turns: `value` gives it at one of several places, some steps away. A sinusoid has cos(ω h) = (f(-h) + f(h)) / 2 f(0) at every place.
fn radians(value: &dyn Fn(usize, f64) -> f64) -> Turn {
    let mut step = 1e-6;
    for _ in 0..30 {
        let mut cosines: Vec<f64> = Vec::new();
        for place in 0..PLACES {
            let [before, middle, after] = [-step, 0.0, step].map(|step| value(place, step));
            let size = before.abs().max(after.abs()).max(middle.abs());
            if size.is_finite() && middle.abs() > 0.05 * size {
                cosines.push(0.5 * (before + after) / middle);
            }
        }
        let (least, most) = cosines.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
        if cosines.len() < 3 {
            return Turn::Unknown;
        }
        if most > 1.0 + SAME {
            return Turn::Not;
        }
        // Other functions differ the more between places, the longer the step.
        match 0.5 * (least + most) {
            mean if mean > 0.9 => step *= 3.0,
            mean if most - least < SAME => return Turn::Of(mean.acos() / step),
            _ => return Turn::Not,
        }
    }
    Turn::Not
}

/// A quarter of a turn of an angle at some values of the free parameters and the columns, in units of the parameter.
pub(crate) fn quarter(factor: &Program, at: usize, point: &[f64]) -> Option<f64> {
    let value = |place: usize, step: f64| {
        let mut point = point.to_vec();
        point[at] = step + 0.7 * place as f64;
        factor.at(&point)[0]
    };
    match radians(&value) {
        Turn::Of(radians) => Some(FRAC_PI_2 / radians),
        _ => None,
    }
}
