//! Splits a program by what its values depend on, so that what is the same for many elements is computed once.

use super::{Expr, Instruction, Program};

impl Program {
    /// Two programs: the values that depend only on inputs for which `is_outer` is true and that the rest needs, and the rest, whose inputs are those
    /// of this program followed by those values. Inputs keep their places in both. Constants stay in the rest.
    pub fn split(&self, is_outer: impl Fn(usize) -> bool) -> (Self, Self) {
        let mut depends_on_outer: Vec<bool> = Vec::with_capacity(self.code.len());
        let mut is_constant: Vec<bool> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            let (outer, constant) = match *instruction {
                Instruction::Input(at) => (is_outer(at as usize), false),
                Instruction::Constant(_) => (true, true),
                Instruction::Op(op, arguments) => {
                    let mut taken = arguments[..op.arguments.len()].iter();
                    (taken.clone().all(|&a| depends_on_outer[a as usize]), taken.all(|&a| is_constant[a as usize]))
                }
            };
            depends_on_outer.push(outer);
            is_constant.push(constant);
        }
        // Computed values only: inputs and constants cost the rest nothing.
        let is_value =
            |at: usize| depends_on_outer[at] && !is_constant[at] && matches!(self.code[at], Instruction::Op(..));
        let mut frontier: Vec<usize> = Vec::new();
        let mut need = |at: u16| {
            if is_value(at as usize) && !frontier.contains(&(at as usize)) {
                frontier.push(at as usize);
            }
        };
        for (at, instruction) in self.code.iter().enumerate() {
            if let (false, Instruction::Op(op, arguments)) = (depends_on_outer[at], instruction) {
                arguments[..op.arguments.len()].iter().for_each(|&a| need(a));
            }
        }
        self.results.iter().for_each(|&result| need(result));
        let outer = Self { results: frontier.iter().map(|&at| at as u16).collect(), ..self.clone() }.pruned();
        let rest = Self::with_results(self.inputs + frontier.len(), |inputs| {
            let mut values: Vec<Option<Expr>> = Vec::with_capacity(self.code.len());
            for (at, instruction) in self.code.iter().enumerate() {
                let known = frontier.iter().position(|&value| value == at).map(|place| inputs[self.inputs + place]);
                values.push(known.or_else(|| match *instruction {
                    Instruction::Input(place) => Some(inputs[place as usize]),
                    Instruction::Constant(value) => Some(Expr::from(value)),
                    Instruction::Op(..) if is_value(at) => None,
                    Instruction::Op(op, arguments) => {
                        let taken: Option<Vec<Expr>> =
                            arguments[..op.arguments.len()].iter().map(|&a| values[a as usize]).collect();
                        taken.map(|taken| Expr::op(op, &taken))
                    }
                }));
            }
            self.results.iter().map(|&at| values[at as usize].expect("a result is computed or given")).collect()
        });
        (outer, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::parse::parse;

    #[test]
    fn the_parts_make_the_whole() {
        let inputs = ["a", "b", "x"];
        let texts = ["a*exp(-x*b*b)+sin(a)", "exp(a)", "x*x", "2^a*x, sqrt(a)+b, sqrt(a)", "a", "3"];
        for text in texts {
            let whole = parse(text, &inputs, &[]).unwrap();
            let (outer, rest) = whole.split(|at| at < 2);
            let point = [0.7, 1.3, 2.1];
            let values = [&point[..], &outer.at(&point)].concat();
            assert_eq!(rest.at(&values), whole.at(&point), "{text}");
            assert!(!outer.code.contains(&Instruction::Input(2)), "{text}");
        }
        let (outer, rest) = parse("a*exp(-(b*b)*x)+sin(a)", &inputs, &[]).unwrap().split(|at| at < 2);
        assert_eq!(outer.results.len(), 2, "-b b and sin a");
        assert_eq!(rest.compacted().1, [0, 2, 3, 4], "a, x and those");
    }
}
