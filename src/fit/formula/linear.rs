//! Parameters in which a model is linear: given the others, their best values are the solution of a linear system.

use crate::program::Program;

/// Places among the first `free` inputs of parameters in which the one result is linear together: no derivative by one of them depends on any.
pub(crate) fn linear(program: &Program, free: usize) -> Vec<usize> {
    let places: Vec<usize> = (0..free).collect();
    let derivatives = program.with_gradient(&places);
    let used: Vec<Vec<usize>> = places.iter().map(|at| derivatives.only(1 + at).compacted().1).collect();
    let mut linear: Vec<usize> = Vec::new();
    for at in places {
        let is_apart = |other: &usize| !used[at].contains(other) && !used[*other].contains(&at);
        if !used[at].contains(&at) && linear.iter().all(is_apart) {
            linear.push(at);
        }
    }
    linear
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::parse::parse;

    #[test]
    fn linear_parameters_are_found() {
        let names = ["a", "b", "c", "d", "x"];
        let cases: [(&str, &[usize]); 5] = [
            ("a*exp(-b*x)+c+d*x", &[0, 2, 3]),
            ("a*b*x+c+d", &[0, 2, 3]),
            ("a+b*x+c*x*x+d*x*x*x", &[0, 1, 2, 3]),
            ("exp(a+b*x)+c^2+sin(d)", &[]),
            ("a/(1+exp(b-c*x))+0*d", &[0, 3]),
        ];
        for (text, expected) in cases {
            assert_eq!(linear(&parse(text, &names, &[]).unwrap(), 4), expected, "{text}");
        }
    }
}
