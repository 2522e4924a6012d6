//! Tracing a function over `Var` into a graph. It is called for two numbers of rows, and again for the first: what differs with the rows must be
//! a size; what differs without a reason is a random number or a clock, and refused.

use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::constant::Constant;
use super::size::{ROWS, joined};
use super::{Graph, GraphOutput, GraphParameter, Node, Size};
use crate::autograd::{self, Detach, Op, Traced, Var};
use crate::device::{Device, Passes};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::tensor::{DType, Shape, Tensor};

/// A function of parameters and inputs [rows, inputs].
pub type Function<'a> = dyn Fn(&[Var], &Var) -> Result<Vec<Var>> + 'a;

/// A function that was traced; its constants are still on the device.
pub struct Tracing {
    inputs: usize,
    parameters: Vec<GraphParameter>,
    /// For each of [`ROWS`], and the first again.
    passes: [Pass; 3],
    device: Device,
}

/// One call of the function.
struct Pass {
    nodes: Vec<Made>,
    constants: Vec<Tensor>,
    /// The outputs, and the columns of each.
    outputs: Vec<(Source, usize)>,
}

/// An op of a pass.
struct Made {
    op: Rc<dyn Op>,
    inputs: Vec<Source>,
    /// The block that it is in.
    block: Rc<str>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Input,
    Parameter(usize),
    Constant(usize),
    Node(usize),
}

/// Calls `function` of parameters of these names and shapes and of inputs [rows, inputs]; it must return outputs [rows, columns].
///
/// Errors if it reads a value, or an op cannot be stored.
pub fn trace(
    device: &Device,
    inputs: usize,
    parameters: Vec<GraphParameter>,
    function: &Function<'_>,
) -> Result<Tracing> {
    let shapes: Vec<Shape> = parameters.iter().map(|parameter| parameter.shape.clone().into()).collect();
    let pass = |rows: usize| Pass::of(device, inputs, &shapes, rows, function);
    let passes = [pass(ROWS[0])?, pass(ROWS[1])?, pass(ROWS[0])?];
    Ok(Tracing { inputs, parameters, passes, device: device.clone() })
}

impl Tracing {
    /// The graph, once its constants are read from the device.
    ///
    /// Errors if it depends on the number of rows other than by sizes, or on a random number or a clock.
    pub async fn graph(&self) -> Result<Graph> {
        let [mut a, mut b, mut again] = [(); 3].map(|()| Vec::new());
        for (into, pass) in [&mut a, &mut b, &mut again].into_iter().zip(&self.passes) {
            for constant in &pass.constants {
                into.push(self.read(constant).await?);
            }
        }
        self.assembled([a, b, again])
    }

    /// The same on a device that reads at once, as the CPU and the dry device do.
    pub fn graph_at_once(&self) -> Result<Graph> {
        match pin!(self.graph()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(graph) => graph,
            Poll::Pending => Err(Error::internal("the device of a trace does not read at once")),
        }
    }

    /// The names of the blocks of the function, each once.
    pub fn blocks(&self) -> Vec<String> {
        let mut blocks: Vec<String> = Vec::new();
        for Made { block, .. } in &self.passes[0].nodes {
            if !block.is_empty() && !blocks.iter().any(|known| **known == **block) {
                blocks.push(block.to_string());
            }
        }
        blocks
    }

    /// The graph of a function without constants; `None` if it has some, or cannot be stored.
    pub fn plain(&self) -> Option<Graph> {
        let has_none = self.passes.iter().all(|pass| pass.constants.is_empty());
        has_none.then(|| self.assembled([(); 3].map(|()| Vec::new())).ok())?
    }

    fn assembled(&self, [few, many, repeated]: [Vec<Constant>; 3]) -> Result<Graph> {
        let [first, other, again] = &self.passes;
        let is_alike = |a: &Pass, b: &Pass| {
            let is_alike = |(a, b): (&Made, &Made)| a.op.name() == b.op.name() && a.inputs == b.inputs;
            a.outputs == b.outputs
                && [a.nodes.len(), a.constants.len()] == [b.nodes.len(), b.constants.len()]
                && a.nodes.iter().zip(&b.nodes).all(is_alike)
        };
        if !is_alike(first, again) {
            return Err(differs("its ops"));
        }
        if !is_alike(first, other) {
            return Err(depends("which ops it applies"));
        }
        let mut graph = Graph { inputs: self.inputs, parameters: self.parameters.clone(), ..Graph::default() };
        // Constants that are the same for each row are stored for one row, and broadcast.
        let mut widened: Vec<Option<Json>> = Vec::new();
        for ((a, b), again) in few.into_iter().zip(many).zip(repeated) {
            if a != again {
                return Err(differs("a constant"));
            }
            if a == b {
                widened.push(None);
                graph.constants.push(a);
                continue;
            }
            let [one, same] = [(&a, ROWS[0]), (&b, ROWS[1])].map(|(constant, rows)| constant.of_one_row(rows));
            let Some(one) = one.filter(|one| same.as_ref() == Some(one)) else {
                return Err(depends("a constant"));
            };
            let rows = Size { each: 1, plus: 0 };
            let sizes = [rows].into_iter().chain(one.shape[1..].iter().map(|&size| Size::fixed(size)));
            widened.push(Some(Json::fields([("shape", Json::List(sizes.map(Size::to_json).collect()))])));
            graph.constants.push(one);
        }
        let before = graph.before();
        let mut places: Vec<usize> = (0..graph.constants.len()).map(|at| 1 + graph.parameters.len() + at).collect();
        for (place, attributes) in places.iter_mut().zip(widened) {
            if let Some(attributes) = attributes {
                let block = String::new();
                graph.nodes.push(Node { op: "broadcast_to".into(), inputs: vec![*place], attributes, block });
                *place = before + graph.nodes.len() - 1;
            }
        }
        let shift = before + graph.nodes.len();
        let place = |source: Source| match source {
            Source::Input => 0,
            Source::Parameter(at) => 1 + at,
            Source::Constant(at) => places[at],
            Source::Node(at) => shift + at,
        };
        for ((a, b), again) in first.nodes.iter().zip(&other.nodes).zip(&again.nodes) {
            let [written, for_others, repeated] = [&a.op, &b.op, &again.op].map(|op| op.attributes());
            let (written, for_others) = (written?, for_others?);
            if repeated? != written {
                return Err(differs(&format!("the op \"{}\"", a.op.name())));
            }
            let attributes = joined(ROWS, &written, &for_others);
            let attributes = attributes.ok_or_else(|| depends(&format!("the op \"{}\"", a.op.name())))?;
            let inputs = a.inputs.iter().map(|&source| place(source)).collect();
            graph.nodes.push(Node { op: a.op.name().to_owned(), inputs, attributes, block: a.block.to_string() });
        }
        let output = |&(source, columns): &(Source, usize)| GraphOutput { output: place(source), columns };
        graph.outputs = first.outputs.iter().map(output).collect();
        Ok(graph)
    }

    async fn read(&self, tensor: &Tensor) -> Result<Constant> {
        let words = self.device.read(tensor.view()).await.map_err(|_| {
            Error::new(
                "save: the function computes a tensor by other means than ops, such as a random draw: make it before, and pass it in or make it a parameter",
            )
        })?;
        Constant::of(&tensor.form(), &words).map_err(|error| error.within("save"))
    }
}

/// The error for what differs between two calls with the same number of rows.
fn differs(what: &str) -> Error {
    Error::new(format!(
        "save: {what} of the function differs from call to call, as if from a random number or a clock: draw it once, before, or make it a parameter"
    ))
}

/// The error for what depends on the number of rows.
fn depends(what: &str) -> Error {
    Error::new(format!(
        "save: {what} of the function depends on the number of rows, other than as a size: expected row r of the output to depend on input row r only"
    ))
}

impl Pass {
    fn of(device: &Device, inputs: usize, shapes: &[Shape], rows: usize, function: &Function<'_>) -> Result<Self> {
        let mut pass = None;
        // In a capture that is thrown away, so that nothing of it runs.
        device.outline(&Passes::default(), || {
            let leaf = |shape: &Shape| Var::leaf(Tensor::empty(device, shape, DType::F32));
            let (leaves, x): (Vec<Var>, Var) = (shapes.iter().map(leaf).collect(), leaf(&Shape::from([rows, inputs])));
            let (outputs, ops) = autograd::trace(|| function(&leaves, &x));
            pass = Some(Self::between(&leaves, &x, &outputs?, ops));
            Ok(())
        })?;
        Ok(pass.expect("the capture has made it"))
    }

    /// The ops that lead from the leaves and `x` to the outputs.
    fn between(leaves: &[Var], x: &Var, outputs: &[Var], ops: Vec<Traced>) -> Self {
        let mut found = Found::default();
        found.add(x, Source::Input);
        leaves.iter().enumerate().for_each(|(at, leaf)| found.add(leaf, Source::Parameter(at)));
        let mut nodes = Vec::new();
        for Traced { op, inputs, output, part: block } in ops {
            let inputs = inputs.iter().map(|input| found.source(input, &mut nodes)).collect();
            found.add(&output, Source::Node(nodes.len()));
            nodes.push(Made { op, inputs, block });
        }
        let output = |output: &Var| {
            let columns = output.shape().sizes().last().copied().unwrap_or_default();
            (found.source(output, &mut nodes), columns)
        };
        let outputs = outputs.iter().map(output).collect();
        Self { nodes, constants: found.constants, outputs }.pruned()
    }

    /// Without ops and constants that the outputs do not need.
    fn pruned(self) -> Self {
        let (mut needed, mut used) = (vec![false; self.nodes.len()], vec![false; self.constants.len()]);
        let mut mark = |source: Source, needed: &mut [bool]| match source {
            Source::Node(at) => needed[at] = true,
            Source::Constant(at) => used[at] = true,
            Source::Input | Source::Parameter(_) => {}
        };
        self.outputs.iter().for_each(|(source, _)| mark(*source, &mut needed));
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if needed[at] {
                node.inputs.iter().for_each(|&source| mark(source, &mut needed));
            }
        }
        let [nodes_to, constants_to] = [&needed, &used].map(|kept| {
            let places =
                kept.iter().scan(0, |next, &is_kept| Some(std::mem::replace(next, *next + usize::from(is_kept))));
            places.collect::<Vec<usize>>()
        });
        let moved = |source: Source| match source {
            Source::Node(at) => Source::Node(nodes_to[at]),
            Source::Constant(at) => Source::Constant(constants_to[at]),
            other => other,
        };
        let kept = self.nodes.into_iter().zip(&needed).filter(|(_, is_needed)| **is_needed);
        let nodes = kept.map(|(node, _)| Made { inputs: node.inputs.iter().map(|&s| moved(s)).collect(), ..node });
        let constants = self.constants.into_iter().zip(&used).filter(|(_, is_used)| **is_used);
        Self {
            nodes: nodes.collect(),
            constants: constants.map(|(tensor, _)| tensor).collect(),
            outputs: self.outputs.into_iter().map(|(source, columns)| (moved(source), columns)).collect(),
        }
    }
}

/// The values of a pass.
#[derive(Default)]
struct Found {
    by_id: HashMap<u64, Source>,
    /// By where they are on the device, for tensors that a function takes from tracked values, such as indices.
    by_place: Vec<(Tensor, Source)>,
    constants: Vec<Tensor>,
}

impl Found {
    fn add(&mut self, value: &Var, source: Source) {
        self.by_id.extend(value.id().map(|id| (id, source)));
        self.by_place.push((value.value().clone(), source));
    }

    /// Where a value comes from; one that is not known is a constant. The tensor of a tracked value as a value of its own has no gradient, and so is
    /// detached here.
    fn source(&mut self, value: &Var, nodes: &mut Vec<Made>) -> Source {
        if let Some(source) = value.id().and_then(|id| self.by_id.get(&id)) {
            return *source;
        }
        let tensor = value.value();
        let is_there = |(other, _): &&(Tensor, Source)| {
            let (a, b) = (tensor.view(), other.view());
            a.buffer.is(&b.buffer) && a.offset == b.offset && tensor.form() == other.form()
        };
        let source = match self.by_place.iter().rev().find(is_there) {
            Some((_, Source::Constant(at))) => return Source::Constant(*at),
            Some((_, source)) if tensor.dtype() != DType::F32 => return *source,
            Some((_, source)) => {
                nodes.push(Made { op: Rc::new(Detach), inputs: vec![*source], block: "".into() });
                return Source::Node(nodes.len() - 1);
            }
            None => Source::Constant(self.constants.len()),
        };
        self.constants.push(tensor.clone());
        self.by_place.push((tensor.clone(), source));
        source
    }
}
