//! The ops that values were computed from, for whoever looks at them.

use std::rc::Rc;

use super::{History, Node, Op, Var};

/// An op as it was applied.
pub struct Applied {
    /// The op.
    pub op: Rc<dyn Op>,
    /// Its inputs.
    pub inputs: Rc<Vec<Var>>,
    /// Its result.
    pub output: Var,
}

/// The ops that tracked values were computed from, in the order in which they were applied.
pub fn applied(outputs: &[&Var]) -> Vec<Applied> {
    let join = |waiting: &mut Vec<Rc<Node>>, var: &Var| {
        let Some(node) = &var.node else { return };
        if let Err(at) = waiting.binary_search_by_key(&node.number, |node| node.number) {
            waiting.insert(at, node.clone());
        }
    };
    let (mut waiting, mut found) = (Vec::new(), Vec::new());
    for output in outputs {
        join(&mut waiting, output);
    }
    // A node's number is larger than those of all its inputs.
    while let Some(node) = waiting.pop() {
        let History::Op(op, inputs) = node.history() else { continue };
        for input in inputs.iter() {
            join(&mut waiting, input);
        }
        found.push(Applied { op, inputs, output: Var { value: node.value.clone(), node: Some(node) } });
    }
    found.reverse();
    found
}
