//! The nodes of a graph, and of the functions inside them: their shapes, and their values.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::size::resolved;
use super::{CurveOf, op_record};
use crate::autograd::{Op, Second, Var, apply};
use crate::error::{Error, Result};
use crate::json::{self, Json, Record};
use crate::ops::{Inner, Reading, block, is_free};
use crate::record;
use crate::tensor::{Form, Tensor};

/// An op with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name of the op.
    pub op: String,
    /// The values that it takes, then those that the functions inside it use from outside.
    pub inputs: Vec<usize>,
    /// Its attributes. A size among them is a number, or `{"rows": k, "plus": c}` for k · rows + c. One named `steps` says how often the functions
    /// inside it are applied.
    pub attributes: Json,
    /// The named block of the function that it is in, see [`ops::block`](crate::ops::block); empty for none.
    pub block: String,
    /// The functions inside it, such as the step of a loop.
    pub bodies: Vec<Body>,
}

/// A function inside a node. Its values are its arguments, then its nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// How many arguments it has, with those from outside.
    pub arguments: usize,
    /// How many of them, the last ones, are values from outside: inputs of the node.
    pub captured: usize,
    /// Its nodes, each after those that it uses.
    pub nodes: Vec<Node>,
    /// The values that it returns.
    pub outputs: Vec<usize>,
}

record! { Body { arguments, captured, nodes, outputs } }

/// In JSON what is empty is left out of the last two fields.
impl Record for Node {
    fn blank() -> Self {
        Self { op: String::new(), inputs: Vec::new(), attributes: Json::Null, block: String::new(), bodies: Vec::new() }
    }

    fn to_json(&self) -> Json {
        let Self { op, inputs, attributes, block, bodies } = self;
        let fields: [(_, &dyn Record); 3] = [("op", op), ("inputs", inputs), ("attributes", attributes)];
        let block: Option<(_, &dyn Record)> = (!block.is_empty()).then_some(("block", block));
        let bodies: Option<(_, &dyn Record)> = (!bodies.is_empty()).then_some(("bodies", bodies));
        json::write_fields(&fields.into_iter().chain(block).chain(bodies).collect::<Vec<_>>())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let Self { op, inputs, attributes, block, bodies } = self;
        json::read_fields(
            json,
            &mut [
                ("op", op, false),
                ("inputs", inputs, false),
                ("attributes", attributes, false),
                ("block", block, true),
                ("bodies", bodies, true),
            ],
        )
    }
}

/// What shapes and values depend on besides the inputs.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The number of rows.
    pub rows: usize,
    /// The function of a name or a formula that an op takes.
    pub curve: CurveOf,
}

/// A function inside a node, and the values that it uses from outside.
type Within<'a> = (&'a Body, &'a [usize]);

impl Node {
    /// The inputs of its op, and each function inside it with those that it uses from outside.
    pub(super) fn parts(&self) -> Result<(&[usize], Vec<Within<'_>>)> {
        let captured = self.bodies.iter().try_fold(0_usize, |sum, body| sum.checked_add(body.captured));
        let own = captured.and_then(|captured| self.inputs.len().checked_sub(captured));
        let own = own.ok_or_else(|| Error::new("the functions inside it use more values than it has inputs"))?;
        let (own, mut rest) = self.inputs.split_at(own);
        let mut bodies = Vec::new();
        for body in &self.bodies {
            let (captured, others) = rest.split_at(body.captured);
            bodies.push((body, captured));
            rest = others;
        }
        Ok((own, bodies))
    }

    /// The op for so many rows, with functions inside that use these values or forms from outside.
    fn op(&self, context: Context, is_tracked: bool, bodies: &[Rc<dyn Inner>]) -> Result<Rc<dyn Op>> {
        let record = op_record(&self.op)?;
        (record.read)(&resolved(&self.attributes, context.rows)?, &Reading { is_tracked, curve: context.curve, bodies })
    }

    /// The forms of its value and of its second result if it has one, after values of these forms.
    fn form(&self, before: &Forms, context: Context) -> Result<(Form, Option<Form>)> {
        let record = op_record(&self.op)?;
        let (own, bodies) = self.parts()?;
        let (least, most) = record.inputs;
        if !(least..=most).contains(&own.len()) {
            return Err(Error::new(format!("got {} inputs, expected {least} to {most}", own.len())));
        }
        let of = |values: &[usize]| {
            let forms: Option<Vec<Form>> = values.iter().map(|&value| before.all.get(value).cloned()).collect();
            forms.ok_or_else(|| Error::new("an input is not a value before it"))
        };
        let own_forms = of(own)?;
        if self.op == Second::NAME {
            let second = before.seconds.get(&own[0]).cloned();
            let second = second.ok_or_else(|| Error::new("its input is not the value of an op with two results"))?;
            return Ok((second, None));
        }
        let mut inside: Vec<Rc<dyn Inner>> = Vec::new();
        for (body, captured) in bodies {
            let captured = Captured::Forms(of(captured)?);
            inside.push(Rc::new(Inside { body: body.clone(), captured, context }));
        }
        let op = self.op(context, false, &inside)?;
        if !inside.is_empty() && !op.has_bodies() {
            return Err(Error::new("got a function inside it, expected none"));
        }
        let form = op.form(&own_forms)?;
        // Sizes that an op derives are checked as those that it is given.
        let Form { shape, .. } = Form::checked(form.sizes())?;
        Ok((Form { shape, ..form }, op.second_form(&own_forms).ok()))
    }

    /// Its value and its second result if it has one, after those before it.
    fn value(&self, before: &[Option<Value>], context: Context) -> Result<Value> {
        let of = |values: &[usize]| -> Vec<Var> {
            values.iter().map(|&value| before[value].as_ref().expect("still in use").first.clone()).collect()
        };
        let (own, bodies) = self.parts()?;
        if self.op == Second::NAME {
            let second = before[own[0]].as_ref().and_then(|value| value.second.clone());
            let first = second.ok_or_else(|| Error::internal("an op has no second result"))?;
            return Ok(Value { first: Var::constant(first), second: None });
        }
        let own = of(own);
        let mut inside: Vec<Rc<dyn Inner>> = Vec::new();
        for (body, captured) in bodies {
            inside.push(Rc::new(Inside { body: body.clone(), captured: Captured::Values(of(captured)), context }));
        }
        let op = self.op(context, own.iter().any(Var::is_tracked), &inside)?;
        let inputs: Vec<&Var> = own.iter().collect();
        let value = || op.composed(&inputs).unwrap_or_else(|| Ok(apply(op.clone(), &inputs)));
        let first = if self.block.is_empty() { value() } else { block(&self.block, &own[0], value) };
        Ok(Value { first: first?, second: op.second() })
    }
}

/// What a node makes.
struct Value {
    first: Var,
    second: Option<Tensor>,
}

/// Forms of the values so far, and of the second results of those that have one.
struct Forms {
    all: Vec<Form>,
    seconds: HashMap<usize, Form>,
}

/// Shape and type of every value, of which these come before the nodes.
pub(super) fn forms(nodes: &[Node], before: Vec<Form>, context: Context) -> Result<Vec<Form>> {
    let mut forms = Forms { all: before, seconds: HashMap::new() };
    for (at, node) in nodes.iter().enumerate() {
        let place = || format!("node {at} ({})", node.op);
        op_record(&node.op).map_err(|error| error.within(&format!("node {at}")))?;
        if !node.block.is_empty() && !is_free(&node.block) {
            let block = &node.block;
            return Err(Error::new(format!("{}: got the block \"{block}\", whose name is taken", place())));
        }
        let (form, second) = node.form(&forms, context).map_err(|error| error.within(&place()))?;
        forms.seconds.extend(second.map(|second| (forms.all.len(), second)));
        forms.all.push(form);
    }
    Ok(forms.all)
}

/// The values `outputs`, where `before` come before the nodes. Each value is let go of after its last use, so that its memory can be used again.
pub(super) fn values(nodes: &[Node], before: Vec<Var>, outputs: &[usize], context: Context) -> Result<Vec<Var>> {
    let mut last = vec![nodes.len(); before.len() + nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        node.inputs.iter().for_each(|&value| last[value] = at);
    }
    for &output in outputs {
        last[output] = nodes.len();
    }
    let mut values: Vec<Option<Value>> = before.into_iter().map(|first| Some(Value { first, second: None })).collect();
    for (at, node) in nodes.iter().enumerate() {
        values.push(Some(node.value(&values, context)?));
        for &value in &node.inputs {
            if last[value] == at {
                values[value] = None;
            }
        }
    }
    Ok(outputs.iter().map(|&output| values[output].as_ref().expect("an output is kept").first.clone()).collect())
}

/// The block of a node, and the nodes of the functions inside it.
type BlockOf<'a, N> = dyn Fn(&N) -> (&str, Vec<&[N]>) + 'a;

/// The names of the blocks that nodes are in, each once.
pub(super) fn blocks<N>(nodes: &[N], of: &BlockOf<'_, N>) -> Vec<String> {
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    add_blocks(nodes, "", of, &mut |path| {
        if known.insert(path.to_owned()) {
            names.push(path.to_owned());
        }
    });
    names
}

/// Adds those within the block `outer`.
fn add_blocks<N>(nodes: &[N], outer: &str, of: &BlockOf<'_, N>, add: &mut dyn FnMut(&str)) {
    for node in nodes {
        let (block, inside) = of(node);
        let path = [outer, block].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".");
        if !block.is_empty() {
            add(&path);
        }
        for nodes in inside {
            add_blocks(nodes, &path, of, add);
        }
    }
}

/// How many ops these nodes apply, with those of every step of a loop and with what a step takes from sequences. Errors if the steps are no plain number.
pub(super) fn applied(nodes: &[Node]) -> Result<usize> {
    let mut all: usize = 0;
    for node in nodes {
        let mut inside = node.inputs.len();
        for body in &node.bodies {
            inside = inside.saturating_add(applied(&body.nodes)?);
        }
        let steps = match node.attributes.get("steps").filter(|_| !node.bodies.is_empty()) {
            Some(steps) => usize::from_json(steps).map_err(|error| error.within(&format!("{}: steps", node.op)))?,
            None => 1,
        };
        let own = if node.bodies.is_empty() { 1 } else { steps.saturating_mul(1 + inside) };
        all = all.saturating_add(own);
    }
    Ok(all)
}

/// A function inside a node with what it uses from outside.
struct Inside {
    body: Body,
    captured: Captured,
    context: Context,
}

/// What a function uses from outside.
enum Captured {
    Forms(Vec<Form>),
    Values(Vec<Var>),
}

impl Inner for Inside {
    fn forms(&self, arguments: &[Form]) -> Result<Vec<Form>> {
        let captured = match &self.captured {
            Captured::Forms(forms) => forms.clone(),
            Captured::Values(values) => values.iter().map(|value| value.value().form()).collect(),
        };
        let all = [arguments, &captured].concat();
        let Body { arguments: expected, nodes, outputs, .. } = &self.body;
        if all.len() != *expected {
            let got = all.len();
            return Err(Error::new(format!("got {got} arguments of the function inside it, expected {expected}")));
        }
        let forms = forms(nodes, all, self.context).map_err(|error| error.within("the function inside it"))?;
        let outputs: Option<Vec<Form>> = outputs.iter().map(|&output| forms.get(output).cloned()).collect();
        outputs.ok_or_else(|| Error::new("the function inside it returns a value that it does not have"))
    }

    fn run(&self, arguments: &[Var]) -> Result<Vec<Var>> {
        let Captured::Values(captured) = &self.captured else { return Err(Error::internal("forms have no values")) };
        values(&self.body.nodes, [arguments, captured].concat(), &self.body.outputs, self.context)
    }
}
