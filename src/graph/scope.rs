//! What a traced function applies, and where each value of it comes from.

use std::collections::HashMap;
use std::rc::Rc;

use crate::autograd::{Detach, Op, Second, Traced, Var};
use crate::tensor::{DType, Tensor};

/// What a function applies: that of the graph, or one inside an op.
#[derive(Clone)]
pub(super) struct Scope {
    /// How many arguments it has. Of the graph's they are its inputs and its parameters; of others also those from outside.
    pub(super) arguments: usize,
    /// How many of them come from outside.
    pub(super) captured: usize,
    pub(super) nodes: Vec<Made>,
    pub(super) outputs: Vec<Source>,
    /// Whether its op can be stored without it.
    pub(super) is_optional: bool,
}

/// An op of a scope.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) op: Rc<dyn Op>,
    /// Its inputs, and what functions inside it use from outside.
    pub(super) inputs: Vec<Source>,
    pub(super) bodies: Vec<Scope>,
    /// The block that it is in, within that of the scope.
    pub(super) block: Rc<str>,
}

impl Made {
    /// An op of one value, in no block.
    fn of(op: Rc<dyn Op>, input: Source) -> Self {
        Self { op, inputs: vec![input], bodies: Vec::new(), block: "".into() }
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Argument(usize),
    Constant(usize),
    Node(usize),
}

/// Where those that are kept come to lie.
pub(super) fn places(kept: &[bool]) -> Vec<usize> {
    kept.iter().scan(0, |next, &is_kept| Some(std::mem::replace(next, *next + usize::from(is_kept)))).collect()
}

impl Scope {
    /// The ops that lead from the arguments to the outputs, within a block. What is neither an argument nor made here is `unknown`, given how many
    /// are so far.
    pub(super) fn of(
        arguments: &[Var],
        outputs: &[Var],
        ops: Vec<Traced>,
        outer: &str,
        unknown: &mut dyn FnMut(&Var, usize) -> Source,
    ) -> Self {
        let mut found = Found { by_id: HashMap::new(), by_place: Vec::new(), count: 0, unknown };
        arguments.iter().enumerate().for_each(|(at, argument)| found.add(argument, Source::Argument(at)));
        let mut nodes = Vec::new();
        for Traced { op, inputs, output, part } in ops {
            let mut inputs: Vec<Source> = inputs.iter().map(|input| found.source(input, &mut nodes)).collect();
            let mut bodies = Vec::new();
            for body in op.bodies() {
                let first = body.arguments.len();
                let mut captured: Vec<Var> = Vec::new();
                let mut scope = Self::of(&body.arguments, &body.outputs, body.ops.clone(), &part, &mut |var, at| {
                    captured.push(var.clone());
                    Source::Argument(first + at)
                });
                let used = scope.used(first, captured.len());
                let used = captured.iter().zip(used).filter(|(_, is_used)| *is_used);
                let from_outside: Vec<Source> = used.map(|(var, _)| found.source(var, &mut nodes)).collect();
                (scope.arguments, scope.captured) = (first + from_outside.len(), from_outside.len());
                scope.is_optional = body.is_optional;
                inputs.extend(from_outside);
                bodies.push(scope);
            }
            found.add(&output, Source::Node(nodes.len()));
            let block = part.strip_prefix(outer).unwrap_or(&part).trim_start_matches('.').into();
            let (second, at) = (op.second(), nodes.len());
            nodes.push(Made { op, inputs, bodies, block });
            if let Some(second) = second {
                nodes.push(Made::of(Rc::new(Second), Source::Node(at)));
                found.by_place.push((second, Source::Node(at + 1), false));
            }
        }
        let outputs = outputs.iter().map(|output| found.source(output, &mut nodes)).collect();
        Self { arguments: arguments.len(), captured: 0, nodes, outputs, is_optional: false }.pruned()
    }

    /// Which of `captured` arguments from `first` on are used; the others are left out.
    fn used(&mut self, first: usize, captured: usize) -> Vec<bool> {
        let mut used = vec![false; captured];
        self.each_source(&mut |source| {
            if let Source::Argument(at) = source
                && *at >= first
            {
                used[*at - first] = true;
            }
        });
        let to = places(&used);
        self.each_source(&mut |source| {
            if let Source::Argument(at) = source
                && *at >= first
            {
                *at = first + to[*at - first];
            }
        });
        used
    }

    /// The same without functions that an op can be stored without; `None` if it has none.
    pub(super) fn without_optional(&self) -> Option<Self> {
        let (mut scope, mut has_some) = (self.clone(), false);
        for node in &mut scope.nodes {
            let captured: usize = node.bodies.iter().filter(|body| body.is_optional).map(|body| body.captured).sum();
            has_some |= node.bodies.iter().any(|body| body.is_optional);
            node.bodies.retain(|body| !body.is_optional);
            node.inputs.truncate(node.inputs.len() - captured);
            for body in &mut node.bodies {
                if let Some(without) = body.without_optional() {
                    (*body, has_some) = (without, true);
                }
            }
        }
        has_some.then(|| scope.pruned())
    }

    /// Whether the ops are the same, of the same values.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let is_alike = |(a, b): (&Made, &Made)| {
            let are_alike = a.bodies.iter().zip(&b.bodies).all(|(a, b)| a.is_alike(b));
            a.op.name() == b.op.name() && a.inputs == b.inputs && a.bodies.len() == b.bodies.len() && are_alike
        };
        self.outputs == other.outputs
            && [self.nodes.len(), self.captured] == [other.nodes.len(), other.captured]
            && self.nodes.iter().zip(&other.nodes).all(is_alike)
    }

    pub(super) fn each_source(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        let inputs = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        inputs.chain(&mut self.outputs).for_each(visit);
    }

    /// Without ops that the outputs do not need.
    fn pruned(mut self) -> Self {
        let mut needed = vec![false; self.nodes.len()];
        let mark = |needed: &mut [bool], source: &Source| {
            if let Source::Node(at) = source {
                needed[*at] = true;
            }
        };
        self.outputs.iter().for_each(|source| mark(&mut needed, source));
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if needed[at] {
                node.inputs.iter().for_each(|source| mark(&mut needed, source));
            }
        }
        let to = places(&needed);
        let mut is_needed = needed.into_iter();
        self.nodes.retain(|_| is_needed.next() == Some(true));
        self.each_source(&mut |source| {
            if let Source::Node(at) = source {
                *at = to[*at];
            }
        });
        self
    }
}

/// The values of a scope.
struct Found<'a> {
    by_id: HashMap<u64, Source>,
    /// By where they are on the device, for tensors that a function takes from tracked values, such as indices; and whether they are tracked.
    by_place: Vec<(Tensor, Source, bool)>,
    /// How many values are unknown so far.
    count: usize,
    unknown: &'a mut dyn FnMut(&Var, usize) -> Source,
}

impl Found<'_> {
    fn add(&mut self, value: &Var, source: Source) {
        self.by_id.extend(value.id().map(|id| (id, source)));
        self.by_place.push((value.value().clone(), source, value.is_tracked()));
    }

    /// Where a value comes from. The tensor of a tracked value as a value of its own has no gradient, and so is detached here.
    fn source(&mut self, value: &Var, nodes: &mut Vec<Made>) -> Source {
        if let Some(source) = value.id().and_then(|id| self.by_id.get(&id)) {
            return *source;
        }
        let tensor = value.value();
        let is_there = |(other, ..): &&(Tensor, Source, bool)| {
            let (a, b) = (tensor.view(), other.view());
            a.buffer.is(&b.buffer) && a.offset == b.offset && tensor.form() == other.form()
        };
        match self.by_place.iter().rev().find(is_there) {
            Some((_, source, false)) if value.id().is_none() => return *source,
            Some((_, source, true)) if tensor.dtype() != DType::F32 => return *source,
            Some((_, source, true)) => {
                nodes.push(Made::of(Rc::new(Detach), *source));
                return Source::Node(nodes.len() - 1);
            }
            // Nothing, or a value from outside that was used as a tensor before, and now as itself.
            None | Some((_, _, false)) => {}
        }
        let source = (self.unknown)(value, self.count);
        self.count += 1;
        self.add(value, source);
        source
    }
}
