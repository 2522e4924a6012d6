//! A model as data: a graph of ops with a named input, named parameters and constants. A function over `Var` is traced into it (`trace.rs`); it
//! is stored as JSON, printed, checked and recorded again, for any number of rows.
//!
//! Values are numbered: the input, the parameters, the constants, then the nodes in an order in which each uses earlier ones.

mod constant;
mod init;
mod perceptron;
mod size;
mod text;
mod trace;

use std::sync::Arc;

pub use constant::{Constant, Values};
pub use init::Init;
pub use perceptron::Perceptron;
pub use size::Size;
pub use trace::{Function, Tracing, trace};

use crate::autograd::{Var, apply};
use crate::error::{Error, Result};
use crate::json::{self, Json, Record};
use crate::ops::{OpRecord, Reading, block, is_free};
use crate::program::Curve;
use crate::record;
use crate::tensor::{DType, Form};
use size::resolved;

/// Rows for which a graph is checked. A size is k · rows + c with k ≥ 0, and a number of elements a polynomial of at most fourth degree: what is equal
/// for five numbers of rows is equal for all. The last one is how many are predicted at a time.
const CHECKED_ROWS: [usize; 6] = [1, 2, 3, 4, 5, 2048];
/// Most nodes of a graph.
const MOST_NODES: usize = 1 << 16;

/// A model from `inputs` values per row to outputs [rows, columns].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Values per row of the input [rows, inputs].
    pub inputs: usize,
    /// The parameters, in order.
    pub parameters: Vec<GraphParameter>,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The nodes, each after those that it uses.
    pub nodes: Vec<Node>,
    /// The outputs.
    pub outputs: Vec<GraphOutput>,
}

/// An output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphOutput {
    /// The value that it is.
    pub output: usize,
    /// Its columns.
    pub columns: usize,
}

record! { GraphOutput { output, columns } }

/// In JSON the fields of the first output are fields of the graph, as in files from before there were several; others follow.
impl Record for Graph {
    fn blank() -> Self {
        Self { outputs: vec![GraphOutput::blank()], ..Self::default() }
    }

    fn to_json(&self) -> Json {
        let [GraphOutput { output, columns }, others @ ..] = &self.outputs[..] else { return Json::Null };
        let fields: [(_, &dyn Record); 6] = [
            ("inputs", &self.inputs),
            ("parameters", &self.parameters),
            ("constants", &self.constants),
            ("nodes", &self.nodes),
            ("output", output),
            ("columns", columns),
        ];
        let others = others.to_vec();
        let others: Option<(_, &dyn Record)> = (!others.is_empty()).then_some(("others", &others));
        json::write_fields(&fields.into_iter().chain(others).collect::<Vec<_>>())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let (mut first, mut others) = (GraphOutput::blank(), Vec::<GraphOutput>::new());
        let mut slots: [json::Slot<'_>; 7] = [
            ("inputs", &mut self.inputs, false),
            ("parameters", &mut self.parameters, false),
            ("constants", &mut self.constants, false),
            ("nodes", &mut self.nodes, false),
            ("output", &mut first.output, false),
            ("columns", &mut first.columns, false),
            ("others", &mut others, true),
        ];
        json::read_fields(json, &mut slots)?;
        self.outputs = [first].into_iter().chain(others).collect();
        Ok(())
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphParameter {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// How it starts.
    pub init: Init,
}

record! { GraphParameter { name, shape, init } }

/// An op with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name of the op.
    pub op: String,
    /// The values that it takes.
    pub inputs: Vec<usize>,
    /// Its attributes. A size among them is a number, or `{"rows": k, "plus": c}` for k · rows + c.
    pub attributes: Json,
    /// The named block of the function that it is in, see [`ops::block`](crate::ops::block); empty for none.
    pub block: String,
}

/// In JSON the block is left out if there is none.
impl Record for Node {
    fn blank() -> Self {
        Self { op: String::new(), inputs: Vec::new(), attributes: Json::Null, block: String::new() }
    }

    fn to_json(&self) -> Json {
        let Self { op, inputs, attributes, block } = self;
        let fields: [(_, &dyn Record); 3] = [("op", op), ("inputs", inputs), ("attributes", attributes)];
        let block: Option<(_, &dyn Record)> = (!block.is_empty()).then_some(("block", block));
        json::write_fields(&fields.into_iter().chain(block).collect::<Vec<_>>())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let Self { op, inputs, attributes, block } = self;
        json::read_fields(
            json,
            &mut [
                ("op", op, false),
                ("inputs", inputs, false),
                ("attributes", attributes, false),
                ("block", block, true),
            ],
        )
    }
}

/// The function of a name or a formula that an op takes.
pub type CurveOf = fn(&str) -> Result<Arc<Curve>>;

impl Graph {
    /// How many values come before the nodes.
    fn before(&self) -> usize {
        1 + self.parameters.len() + self.constants.len()
    }

    /// Errors if the graph makes no sense: a damaged file must be noticed before anything is recorded.
    pub fn check(&self, curve: CurveOf) -> Result<()> {
        if self.inputs == 0 || self.nodes.len() > MOST_NODES {
            let got = (self.inputs, self.nodes.len());
            return Err(Error::new(format!(
                "got (inputs, nodes) {got:?}, expected at least 1 and at most {MOST_NODES}"
            )));
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            let name = &parameter.name;
            Form::checked(&parameter.shape).map_err(|error| error.within(&format!("parameter \"{name}\"")))?;
            if matches!(parameter.init, Init::Identity { channels: 0, .. }) {
                return Err(Error::new(format!("parameter \"{name}\": got an initialisation of 0 channels")));
            }
            if self.parameters[..at].iter().any(|other| other.name == *name) {
                return Err(Error::new(format!("got two parameters \"{name}\", expected different names")));
            }
        }
        self.constants.iter().try_for_each(Constant::check)?;
        for rows in CHECKED_ROWS {
            let forms = self.forms(rows, curve)?;
            for (at, &GraphOutput { output, columns }) in self.outputs.iter().enumerate() {
                let place = if self.outputs.len() == 1 { "the output".to_owned() } else { format!("output {at}") };
                let output = forms.get(output).ok_or_else(|| self.missing(&place, output))?;
                let is_fitting = output.dtype == DType::F32 && output.sizes() == [rows, columns];
                if !is_fitting || columns == 0 {
                    let got = &output.shape;
                    return Err(Error::new(format!(
                        "{place}: got {got}, expected [{rows}, {columns}] for {rows} rows"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The names of its blocks, each once.
    pub fn blocks(&self) -> Vec<&str> {
        let mut blocks: Vec<&str> = Vec::new();
        for Node { block, .. } in &self.nodes {
            if !block.is_empty() && !blocks.contains(&block.as_str()) {
                blocks.push(block);
            }
        }
        blocks
    }

    /// Whether it does nothing but pointwise ops on its one input.
    pub fn is_pointwise(&self) -> bool {
        self.parameters.is_empty() && self.constants.is_empty() && self.nodes.iter().all(|node| node.op == "map")
    }

    fn missing(&self, place: &str, value: usize) -> Error {
        Error::new(format!(
            "{place}: got value {value}, expected one of the {} before",
            self.before() + self.nodes.len()
        ))
    }

    /// Shape and type of every value, for so many rows.
    pub fn forms(&self, rows: usize, curve: CurveOf) -> Result<Vec<Form>> {
        let mut forms = vec![Form::checked(&[rows, self.inputs])?];
        forms.extend(self.parameters.iter().map(|parameter| Form::floats(parameter.shape.clone())));
        forms.extend(self.constants.iter().map(Constant::form));
        for (at, node) in self.nodes.iter().enumerate() {
            let place = || format!("node {at} ({})", node.op);
            if !node.block.is_empty() && !is_free(&node.block) {
                let block = &node.block;
                return Err(Error::new(format!("{}: got the block \"{block}\", whose name is taken", place())));
            }
            let record = OpRecord::named(&node.op).map_err(|error| error.within(&format!("node {at}")))?;
            let inputs: Option<Vec<Form>> = node.inputs.iter().map(|&value| forms.get(value).cloned()).collect();
            let inputs = inputs.ok_or_else(|| Error::new(format!("{}: an input is not a value before it", place())))?;
            let (least, most) = record.inputs;
            if !(least..=most).contains(&inputs.len()) {
                let got = inputs.len();
                return Err(Error::new(format!("{}: got {got} inputs, expected {least} to {most}", place())));
            }
            let form = resolved(&node.attributes, rows).and_then(|attributes| {
                let op = (record.read)(&attributes, &Reading { is_tracked: false, curve })?;
                let form = op.form(&inputs)?;
                // Sizes that an op derives are checked as those that it is given.
                let Form { shape, .. } = Form::checked(form.sizes())?;
                Ok(Form { shape, ..form })
            });
            forms.push(form.map_err(|error| error.within(&place()))?);
        }
        Ok(forms)
    }

    /// Records the ops for `x` [rows, inputs] with these parameters, and returns the outputs.
    pub fn record(&self, parameters: &[Var], x: &Var, curve: CurveOf) -> Result<Vec<Var>> {
        let rows = x.shape().sizes()[0];
        let device = x.value().device();
        let mut values = vec![x.clone()];
        values.extend(parameters.iter().cloned());
        values.extend(self.constants.iter().map(|constant| Var::constant(constant.tensor(device))));
        // Each value is let go of after its last use, so that its memory can be used again.
        let last = self.last_uses();
        let mut values: Vec<Option<Var>> = values.into_iter().map(Some).collect();
        for (at, node) in self.nodes.iter().enumerate() {
            let record = OpRecord::named(&node.op)?;
            let inputs: Vec<Var> =
                node.inputs.iter().map(|&value| values[value].clone().expect("still in use")).collect();
            let reading = Reading { is_tracked: inputs.iter().any(Var::is_tracked), curve };
            let op = (record.read)(&resolved(&node.attributes, rows)?, &reading)?;
            let value = || apply(op, &inputs.iter().collect::<Vec<_>>());
            values.push(Some(if node.block.is_empty() { value() } else { block(&node.block, x, value) }));
            drop(inputs);
            for &value in &node.inputs {
                if last[value] == at {
                    values[value] = None;
                }
            }
        }
        Ok(self.outputs.iter().map(|one| values[one.output].clone().expect("an output is kept")).collect())
    }

    /// The node that uses each value last; the number of nodes for the outputs, which stay.
    fn last_uses(&self) -> Vec<usize> {
        let mut last = vec![self.nodes.len(); self.before() + self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            node.inputs.iter().for_each(|&value| last[value] = at);
        }
        self.outputs.iter().for_each(|one| last[one.output] = self.nodes.len());
        last
    }
}
