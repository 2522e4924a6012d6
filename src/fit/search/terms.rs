//! The terms of a model: y = rest(x) + Σ aᵢ φᵢ(x; θ), with coefficients a in which it is linear and parameters θ that shape what they multiply. A term
//! is a set of coefficients with the same shape parameters, such as one peak of several. What a shape parameter does is read off values of φ: whether it
//! shifts a column, is an angle, or a frequency.

use std::f64::consts::FRAC_PI_2;

use super::draws::{Draws, Random};
use crate::fit::formula::linear;
use crate::fit::pass::model::varying;
use crate::fit::rows::Problem;
use crate::program::Program;

/// Points at which a role is looked for.
const POINTS: usize = 80;
/// Points of them that must show it.
const SHOWN: usize = 6;
/// Relative difference of values that are equal but for rounding errors.
const SAME: f64 = 1e-6;
/// Values of a column at which a sinusoid is looked for.
const PLACES: usize = 5;

/// A model as a sum of terms.
pub(crate) struct Terms {
    /// Places, among the free parameters, of the coefficients.
    pub coefficients: Vec<usize>,
    /// For each coefficient what it multiplies, over the free parameters and the columns.
    pub factors: Vec<Program>,
    /// The model with every coefficient at 0.
    pub rest: Program,
    /// Those among the coefficients whose factors have no parameters.
    pub plain: Vec<usize>,
    pub terms: Vec<Term>,
}

/// Coefficients whose factors have the same parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// Those among the coefficients.
    pub coefficients: Vec<usize>,
    /// Places, among the free parameters, of those in the factors.
    pub shapes: Vec<Shape>,
}

/// A parameter of a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    pub at: usize,
    pub role: Role,
}

/// What a parameter of a factor does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// φ depends on the difference of a column and the parameter.
    Place { column: usize },
    /// φ is a sinusoid of the parameter, as a phase is.
    Angle,
    /// φ is a sinusoid of a column with so many radians for one of the column and one of the parameter.
    Frequency { column: usize, factor: f64 },
    /// The same with so many radians divided by the parameter.
    Period { column: usize, factor: f64 },
    Other,
}

impl Term {
    /// Whether another term may be of its kind: as many coefficients, and parameters with the same roles.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let roles = |term: &Self| term.shapes.iter().map(|shape| shape.role).collect::<Vec<Role>>();
        self.coefficients.len() == other.coefficients.len() && roles(self) == roles(other)
    }

    /// Whether one of its parameters is a place.
    pub(crate) fn has_place(&self) -> bool {
        self.shapes.iter().any(|shape| matches!(shape.role, Role::Place { .. }))
    }

    /// Whether a free parameter shapes it.
    pub(crate) fn has(&self, free: usize) -> bool {
        self.shapes.iter().any(|shape| shape.at == free)
    }
}

impl Terms {
    /// The terms of a problem without levels, unless some of its parameters are in none. Coefficients in `kept` are none.
    pub(crate) fn of(problem: &Problem<'_>, kept: &dyn Fn(usize) -> bool) -> Option<Self> {
        if !problem.formula.integrals().is_empty() {
            return None;
        }
        let (variables, program) = varying(problem);
        let free = problem.free();
        let count = free.len();
        if variables.len() != count {
            return None;
        }
        let coefficients: Vec<usize> = linear(&program, count).into_iter().filter(|&at| !kept(at)).collect();
        let derivatives = program.with_gradient(&coefficients);
        let factors: Vec<Program> = (0..coefficients.len()).map(|at| derivatives.only(1 + at)).collect();
        let rest = Program::build(program.inputs, |inputs| {
            let mut taken = inputs.to_vec();
            coefficients.iter().for_each(|&at| taken[at] = 0.0.into());
            program.emit(&taken)
        });
        let used = |program: &Program| -> Vec<usize> {
            let used = program.clone().compacted().1;
            (0..count).filter(|at| used.contains(at)).collect()
        };
        let mut found = Self { coefficients, rest, factors, plain: Vec::new(), terms: Vec::new() };
        let mut own: Vec<Vec<usize>> = Vec::new();
        for (at, factor) in found.factors.iter().enumerate() {
            let shapes = used(factor);
            if shapes.is_empty() {
                found.plain.push(at);
            } else if let Some(term) = own.iter().position(|known| *known == shapes) {
                found.terms[term].coefficients.push(at);
            } else {
                let with_role = shapes.iter().map(|&at| Shape { at, role: Role::Other }).collect();
                found.terms.push(Term { coefficients: vec![at], shapes: with_role });
                own.push(shapes);
            }
        }
        let is_covered = |at: usize| found.coefficients.contains(&at) || own.iter().any(|shapes| shapes.contains(&at));
        let draws = Draws::over(problem).ok()?;
        let points = points(problem, &free, &draws);
        if !(0..count).all(is_covered) || !is_same(&found.rest, count, &points) {
            return None;
        }
        let columns = problem.formula.columns().len();
        found.find_roles(&Probe { free: count, ranges: &draws.ranges()[..columns], points });
        Some(found)
    }

    /// Whether there is more than one term, or one with a place or a frequency.
    pub(crate) fn have_places(&self) -> bool {
        let has_place = |term: &Term| term.shapes.iter().any(|shape| shape.role != Role::Other);
        self.terms.len() > 1 || self.terms.iter().any(has_place)
    }

    /// Roles of the parameters, from values at points among the data.
    fn find_roles(&mut self, probe: &Probe<'_>) {
        let columns = probe.ranges.len();
        for term in &mut self.terms {
            let factors: Vec<&Program> = term.coefficients.iter().map(|&at| &self.factors[at]).collect();
            for shape in &mut term.shapes {
                if let ([factor], true) = (&factors[..], shape.role == Role::Other)
                    && probe.is_angle(factor, shape.at)
                {
                    shape.role = Role::Angle;
                }
            }
            let turning: Vec<usize> =
                term.shapes.iter().filter(|shape| shape.role != Role::Angle).map(|shape| shape.at).collect();
            for shape in term.shapes.iter_mut().filter(|shape| shape.role != Role::Angle) {
                let others: Vec<usize> = turning.iter().copied().filter(|&other| other != shape.at).collect();
                let turned = |column| probe.frequency(factors[0], shape.at, column, &others);
                let is_place = |&column: &usize| factors.iter().all(|factor| probe.is_place(factor, shape.at, column));
                let place = || (0..columns).find(is_place).map(|column| Role::Place { column });
                shape.role = (0..columns).find_map(turned).or_else(place).unwrap_or(Role::Other);
            }
        }
    }
}

/// Values of the free parameters and the columns among which roles are looked for.
fn points(problem: &Problem<'_>, free: &[usize], draws: &Draws) -> Vec<Vec<f64>> {
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
fn is_same(program: &Program, free: usize, points: &[Vec<f64>]) -> bool {
    let value = |point: &[f64], columns: &[f64]| program.at(&[&point[..free], &columns[free..]].concat())[0];
    points.windows(2).all(|pair| {
        let [one, other] = [value(&pair[0], &pair[0]), value(&pair[1], &pair[0])];
        one == other || !(one - other).is_finite()
    })
}

/// What is looked at to find roles.
struct Probe<'p> {
    /// Number of free parameters, after which the columns are.
    free: usize,
    /// Ends of the columns.
    ranges: &'p [[f64; 2]],
    points: Vec<Vec<f64>>,
}

impl Probe<'_> {
    /// Whether φ stays the same where a column and the parameter move together, and changes if only the parameter does.
    fn is_place(&self, factor: &Program, at: usize, column: usize) -> bool {
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

    /// Whether φ is a sinusoid of the parameter, wherever the columns are.
    fn is_angle(&self, factor: &Program, at: usize) -> bool {
        let mut shown = 0;
        for point in self.points.iter().take(POINTS / 4) {
            let value = |place: usize, step: f64| {
                let mut point = point.clone();
                for (column, [low, high]) in self.ranges.iter().enumerate() {
                    let share = 0.1 + 0.17 * place as f64 + 0.013 * column as f64;
                    point[self.free + column] = low + (high - low) * share;
                }
                point[at] += step;
                factor.at(&point)[0]
            };
            match radians(&value) {
                Turn::Of(_) => shown += 1,
                Turn::Not => return false,
                Turn::Unknown => {}
            }
        }
        shown >= SHOWN
    }

    /// Frequency or period, if φ is a sinusoid of a column that turns the faster or the slower, the larger the parameter is. The `others` are 0 where φ
    /// is damped.
    fn frequency(&self, factor: &Program, at: usize, column: usize, others: &[usize]) -> Option<Role> {
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
            is_period.then(|| Role::Period { column, factor: one * unit })
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
            mean if mean > 0.9999 => step *= 8.0,
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
        point[at] += step + 0.7 * place as f64;
        factor.at(&point)[0]
    };
    match radians(&value) {
        Turn::Of(radians) => Some(FRAC_PI_2 / radians),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Formula;

    fn terms(model: &str) -> Option<(Terms, Vec<String>)> {
        let x: Vec<f64> = (0..60).map(|row| 0.5 + f64::from(row)).collect();
        let formula = Formula::parse(model, &["x"]).unwrap();
        let names = formula.parameters().to_vec();
        let problem = Problem::new(formula, &[("x", &x)], &x).unwrap();
        Terms::of(&problem, &|_| false).map(|terms| (terms, names))
    }

    #[test]
    fn roles_are_read_off_the_values_of_a_term() {
        let cases = [
            ("h*exp(-0.5*((x-c)/s)^2)+o", "c place"),
            ("h/(1+((x-c)/w)^2)", "c place"),
            ("h/(1+exp(-r*(x-c)))", "c place"),
            ("a*cos(b*x+c)+d", "b frequency 1.000, c angle"),
            ("a*sin(2*pi*x/p+c)", "p period 6.283, c angle"),
            ("a*exp(-g*x)*cos(2*pi*f*x+p)", "f frequency 6.283, p angle"),
            ("a*cos(w*x)+b*sin(w*x)", "w frequency 1.000"),
            ("a*exp(-b*x)+c", ""),
            ("a*x/(k+x)", ""),
            ("a*(1-exp(-(x/t)^b))", ""),
        ];
        for (model, expected) in cases {
            let (terms, names) = terms(model).unwrap();
            let shown = |shape: &Shape| match shape.role {
                Role::Place { .. } => Some(format!("{} place", names[shape.at])),
                Role::Angle => Some(format!("{} angle", names[shape.at])),
                Role::Frequency { factor, .. } => Some(format!("{} frequency {factor:.3}", names[shape.at])),
                Role::Period { factor, .. } => Some(format!("{} period {factor:.3}", names[shape.at])),
                Role::Other => None,
            };
            let shapes = terms.terms.iter().flat_map(|term| &term.shapes);
            let mut found: Vec<String> = shapes.filter_map(shown).collect();
            found.sort();
            assert_eq!(found.join(", "), expected, "{model}");
        }
    }

    #[test]
    fn a_sum_has_its_terms_and_what_has_no_coefficient_has_none() {
        let (found, _) = terms("a*exp(-b*x) + c*exp(-d*x)*x + e0 + f*x").unwrap();
        assert_eq!((found.terms.len(), found.plain.len()), (2, 2));
        let (found, _) = terms("a*cos(w*x) + b*sin(w*x)").unwrap();
        assert_eq!(found.terms[0].coefficients, [0, 1]);
        assert!(terms("a + exp(-b*x)").is_none());
        assert!(terms("x^b").is_none());
    }
}
