//! The terms of a model: y = rest(x) + Σ aᵢ φᵢ(x; θ), with coefficients a in which it is linear and parameters θ that shape what they multiply. A term
//! is a set of coefficients with the same shape parameters, such as one peak of several. What a shape parameter does is read off values of φ: whether it
//! shifts a column, is an angle, or a frequency.

use std::cmp::Ordering;

use super::roles::{Probe, Role, Shape, is_same, points};
use crate::fit::formula::linear;
use crate::fit::pass::model::varying;
use crate::fit::rows::Problem;
use crate::fit::search::draws::Draws;
use crate::program::Program;

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
            for &at in &coefficients {
                taken[at] = 0.0.into();
            }
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
            let all: Vec<usize> = term.shapes.iter().map(|shape| shape.at).collect();
            for shape in &mut term.shapes {
                let others: Vec<usize> = all.iter().copied().filter(|&other| other != shape.at).collect();
                if let ([factor], true) = (&factors[..], shape.role == Role::Other)
                    && probe.is_angle(factor, shape.at, &others)
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
            // Terms of one kind list theirs in one order, also if they share some.
            term.shapes.sort_by(|a, b| a.role.partial_cmp(&b.role).unwrap_or(Ordering::Equal));
        }
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
            ("a*sin(2*pi*x/p+c)", "c angle, p period 6.283"),
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
