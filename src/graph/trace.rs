//! Tracing a function over `Var` into a graph. It is called for two numbers of rows, and again for the first: what differs with the rows must be
//! a size; what differs without a reason is a random number or a clock, and refused.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::constant::Constant;
use super::scope::{Scope, Source, places};
use super::size::{ROWS, joined};
use super::{Body, Graph, GraphOutput, GraphParameter, Input, Node, Size, node};
use crate::autograd::{self, Traced, Var};
use crate::device::{Device, Passes};
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::tensor::{Form, Tensor};

/// A function of parameters and inputs.
pub type Function<'a> = dyn Fn(&[Var], &[Var]) -> Result<Vec<Var>> + 'a;

/// A function that was traced; its constants are still on the device.
pub struct Tracing {
    inputs: Vec<Input>,
    parameters: Vec<GraphParameter>,
    /// Constants that the function takes behind its parameters.
    constants: Vec<Constant>,
    /// For each of [`ROWS`], and the first again.
    passes: [Pass; 3],
    device: Device,
}

/// One call of the function.
struct Pass {
    scope: Scope,
    constants: Vec<Tensor>,
    /// The columns of the outputs.
    columns: Vec<usize>,
}

/// Calls `function` of parameters of these names and shapes and of these inputs; it must return outputs [rows, columns].
///
/// Errors if it reads a value, or an op cannot be stored.
pub fn trace(
    device: &Device,
    inputs: Vec<Input>,
    parameters: Vec<GraphParameter>,
    function: &Function<'_>,
) -> Result<Tracing> {
    with_constants(device, inputs, parameters, Vec::new(), function)
}

/// The same for a function that takes constants behind its parameters.
pub(super) fn with_constants(
    device: &Device,
    inputs: Vec<Input>,
    parameters: Vec<GraphParameter>,
    constants: Vec<Constant>,
    function: &Function<'_>,
) -> Result<Tracing> {
    let mut others: Vec<Form> = parameters.iter().map(|parameter| Form::floats(parameter.shape.clone())).collect();
    others.extend(constants.iter().map(Constant::form));
    let pass = |rows: usize| Pass::of(device, &inputs, &others, rows, function);
    let passes = [pass(ROWS[0])?, pass(ROWS[1])?, pass(ROWS[0])?];
    Ok(Tracing { inputs, parameters, constants, passes, device: device.clone() })
}

impl Tracing {
    /// The graph, once its constants are read from the device.
    ///
    /// Errors if it depends on the number of rows other than by sizes, or on a random number or a clock.
    ///
    /// The gradient of an [`ops::custom`](crate::ops::custom) that cannot be stored is left out.
    pub async fn graph(&self) -> Result<Graph> {
        let whole = self.assembled_of(&self.passes).await;
        let [Some(a), Some(b), Some(again)] = self.passes.each_ref().map(Pass::without_optional) else { return whole };
        match whole {
            Ok(graph) => Ok(graph),
            Err(_) => self.assembled_of(&[a, b, again]).await,
        }
    }

    async fn assembled_of(&self, passes: &[Pass; 3]) -> Result<Graph> {
        let [mut a, mut b, mut again] = [(); 3].map(|()| Vec::new());
        for (into, pass) in [&mut a, &mut b, &mut again].into_iter().zip(passes) {
            for constant in &pass.constants {
                into.push(self.read(constant).await?);
            }
        }
        self.assembled(passes, [a, b, again])
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
        let nodes = &self.passes[0].scope.nodes;
        node::blocks(nodes, &|made| (&*made.block, made.bodies.iter().map(|body| &body.nodes[..]).collect()))
    }

    /// The graph of a function without constants; `None` if it has some, or cannot be stored.
    pub fn plain(&self) -> Option<Graph> {
        let has_none = self.passes.iter().all(|pass| pass.constants.is_empty());
        has_none.then(|| self.assembled(&self.passes, [(); 3].map(|()| Vec::new())).ok())?
    }

    fn assembled(&self, passes: &[Pass; 3], [few, many, repeated]: [Vec<Constant>; 3]) -> Result<Graph> {
        let [first, other, again] = passes;
        let is_alike = |a: &Pass, b: &Pass| {
            a.columns == b.columns && a.constants.len() == b.constants.len() && a.scope.is_alike(&b.scope)
        };
        if !is_alike(first, again) {
            return Err(differs("its ops"));
        }
        if !is_alike(first, other) {
            return Err(depends("which ops it applies"));
        }
        let Self { inputs, parameters, constants, .. } = self;
        let (inputs, parameters, constants) = (inputs.clone(), parameters.clone(), constants.clone());
        let mut graph = Graph { inputs, parameters, constants, ..Graph::default() };
        let given = graph.constants.len();
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
        let mut places: Vec<usize> =
            (given..graph.constants.len()).map(|at| before - graph.constants.len() + at).collect();
        for (place, attributes) in places.iter_mut().zip(widened) {
            if let Some(attributes) = attributes {
                graph.nodes.push(Node { op: "broadcast_to".into(), inputs: vec![*place], attributes, ..Node::blank() });
                *place = before + graph.nodes.len() - 1;
            }
        }
        let shift = before + graph.nodes.len();
        let place = |source: Source| match source {
            Source::Argument(at) => at,
            Source::Constant(at) => places[at],
            Source::Node(at) => shift + at,
        };
        graph.nodes.extend(joined_nodes([first, other, again].map(|pass| &pass.scope), &place)?);
        let outputs = first.scope.outputs.iter().zip(&first.columns);
        graph.outputs = outputs.map(|(&source, &columns)| GraphOutput { output: place(source), columns }).collect();
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

/// The nodes of a scope, where `place` is the number of a value.
fn joined_nodes([first, other, again]: [&Scope; 3], place: &dyn Fn(Source) -> usize) -> Result<Vec<Node>> {
    let mut nodes = Vec::new();
    for ((a, b), again) in first.nodes.iter().zip(&other.nodes).zip(&again.nodes) {
        let [written, for_others, repeated] = [&a.op, &b.op, &again.op].map(|op| op.attributes());
        let (written, for_others) = (written?, for_others?);
        if repeated? != written {
            return Err(differs(&format!("the op \"{}\"", a.op.name())));
        }
        if !a.bodies.is_empty() && written.get("steps") != for_others.get("steps") {
            return Err(depends(&format!("how many steps \"{}\" has", a.op.name())));
        }
        let attributes = joined(ROWS, &written, &for_others);
        let attributes = attributes.ok_or_else(|| depends(&format!("the op \"{}\"", a.op.name())))?;
        let inputs = a.inputs.iter().map(|&source| place(source)).collect();
        let bodies = a.bodies.iter().zip(&b.bodies).zip(&again.bodies);
        let bodies = bodies.map(|((a, b), again)| body([a, b, again])).collect::<Result<_>>()?;
        nodes.push(Node { op: a.op.name().to_owned(), inputs, attributes, block: a.block.to_string(), bodies });
    }
    Ok(nodes)
}

/// A function inside an op.
fn body(scopes: [&Scope; 3]) -> Result<Body> {
    let Scope { arguments, captured, outputs, .. } = scopes[0];
    let place = |source: Source| match source {
        Source::Argument(at) | Source::Constant(at) => at,
        Source::Node(at) => arguments + at,
    };
    let nodes = joined_nodes(scopes, &place)?;
    Ok(Body { arguments: *arguments, captured: *captured, nodes, outputs: outputs.iter().map(|&s| place(s)).collect() })
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
    fn of(device: &Device, inputs: &[Input], others: &[Form], rows: usize, function: &Function<'_>) -> Result<Self> {
        let mut pass = None;
        let forms = inputs.iter().map(|input| input.form(rows)).collect::<Result<Vec<_>>>()?;
        // In a capture that is thrown away, so that nothing of it runs.
        device.outline(&Passes::default(), || {
            let leaf = |form: &Form| Var::leaf(Tensor::empty(device, &form.shape, form.dtype));
            let mut arguments: Vec<Var> = forms.iter().map(leaf).collect();
            arguments.extend(others.iter().map(leaf));
            let (inputs, leaves) = arguments.split_at(forms.len());
            let (outputs, ops) = autograd::trace(|| function(leaves, inputs));
            pass = Some(Self::between(&arguments, &outputs?, ops));
            Ok(())
        })?;
        Ok(pass.expect("the capture has made it"))
    }

    /// The ops that lead from the arguments to the outputs.
    fn between(arguments: &[Var], outputs: &[Var], ops: Vec<Traced>) -> Self {
        let mut unknown = Vec::new();
        let scope = Scope::of(arguments, outputs, ops, "", &mut |var, at| {
            unknown.push(var.value().clone());
            Source::Constant(at)
        });
        let columns = outputs.iter().map(|output| output.shape().sizes().last().copied().unwrap_or_default());
        Self { scope, columns: columns.collect(), constants: unknown }.pruned()
    }

    /// The same without functions that an op can be stored without; `None` if it has none.
    fn without_optional(&self) -> Option<Self> {
        let scope = self.scope.without_optional()?;
        Some(Self { scope, constants: self.constants.clone(), columns: self.columns.clone() }.pruned())
    }

    /// Without constants that no node needs.
    fn pruned(mut self) -> Self {
        let mut used = vec![false; self.constants.len()];
        self.scope.each_source(&mut |source| {
            if let Source::Constant(at) = source {
                used[*at] = true;
            }
        });
        let to = places(&used);
        self.scope.each_source(&mut |source| {
            if let Source::Constant(at) = source {
                *at = to[*at];
            }
        });
        let mut is_used = used.into_iter();
        self.constants.retain(|_| is_used.next() == Some(true));
        self
    }
}
