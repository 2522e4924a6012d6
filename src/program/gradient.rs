//! Gradients: programs made of programs, in one reverse sweep over the code.

use super::{Expr, Instruction, Program};

impl Program {
    /// The vector-Jacobian product for input `wanted`: takes the inputs, then the upstream gradient of the one result; `None` if it is
    /// zero everywhere.
    pub fn vjp(&self, wanted: usize) -> Option<Self> {
        let mut is_zero = false;
        let program = Self::build(self.inputs + 1, |values| {
            let gradients = self.swept(&self.replayed(values), values[self.inputs]);
            is_zero = gradients[wanted].is_none();
            gradients[wanted].unwrap_or_else(|| Expr::from(0.0))
        });
        (!is_zero).then_some(program)
    }

    /// The same program with more results: the derivative of its one result by each input that is wanted.
    pub fn with_gradient(&self, wanted: &[usize]) -> Self {
        Self::with_results(self.inputs, |values| {
            let replayed = self.replayed(values);
            let gradients = self.swept(&replayed, Expr::from(1.0));
            let slope = |&input: &usize| gradients[input].unwrap_or_else(|| Expr::from(0.0));
            [replayed[self.result() as usize]].into_iter().chain(wanted.iter().map(slope)).collect()
        })
    }

    /// The gradient of the one result times `upstream` by every input; `None` where it is zero everywhere. `value` has the instructions'
    /// values in the program being built.
    fn swept(&self, value: &[Expr], upstream: Expr) -> Vec<Option<Expr>> {
        let mut gradient: Vec<Option<Expr>> = vec![None; self.code.len()];
        gradient[self.result() as usize] = Some(upstream);
        let mut found = vec![None; self.inputs];
        for at in (0..self.code.len()).rev() {
            let Some(own) = gradient[at] else { continue };
            match self.code[at] {
                Instruction::Input(input) => found[input as usize] = Some(own),
                Instruction::Constant(_) => {}
                Instruction::Op(op, arguments) => {
                    let arguments = &arguments[..op.arguments.len()];
                    let taken: Vec<Expr> = arguments.iter().map(|&a| value[a as usize]).collect();
                    for (&argument, partial) in arguments.iter().zip((op.partials)(&taken, value[at])) {
                        if partial.constant() != Some(0.0) {
                            let share = partial * own;
                            let slot = &mut gradient[argument as usize];
                            *slot = Some(slot.map_or(share, |sum| sum + share));
                        }
                    }
                }
            }
        }
        found
    }
}
