//! Gradients: derives a program from a program, in one reverse sweep over the code.

use super::{Expr, Instruction, Program};

impl Program {
    /// The vector-Jacobian product for input `input`: its inputs are those of the program, then the upstream gradient of the one result;
    /// `None` if it is zero everywhere.
    pub fn vjp(&self, input: usize) -> Option<Self> {
        let mut is_zero = false;
        let program = Self::build(self.inputs + 1, |values| {
            let gradients = self.swept(&self.replayed(values), values[self.inputs]);
            is_zero = gradients[input].is_none();
            gradients[input].unwrap_or_else(|| Expr::from(0.0))
        });
        (!is_zero).then_some(program)
    }

    /// The same program with more results: the derivative of its one result by each input in `inputs`.
    pub fn with_gradient(&self, inputs: &[usize]) -> Self {
        Self::with_results(self.inputs, |values| {
            let replayed = self.replayed(values);
            let gradients = self.swept(&replayed, Expr::from(1.0));
            let slope = |&input: &usize| gradients[input].unwrap_or_else(|| Expr::from(0.0));
            [replayed[self.result() as usize]].into_iter().chain(inputs.iter().map(slope)).collect()
        })
    }

    /// The gradient of the one result times `upstream` by every input; `None` where it is zero everywhere. `value` holds the values of the
    /// instructions in the program being built.
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
