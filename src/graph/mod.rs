//! A model as data: a graph of ops with named inputs, parameters and constants. A function over `Var` is traced into it (`trace.rs`); it
//! is stored as JSON, printed, checked and recorded again, for any number of rows.
//!
//! Values are numbered: the inputs, the parameters, the constants, then the nodes in an order in which each uses earlier ones.

mod constant;
mod init;
mod input;
mod node;
mod perceptron;
mod scope;
mod size;
mod text;
mod trace;

use std::sync::Arc;

pub use constant::{Constant, Values};
pub use init::Init;
pub use input::{Input, InputKind};
pub(crate) use input::{check as check_inputs, check_rows, split, width};
pub use node::{Body, Node};
pub use perceptron::Perceptron;
pub use size::Size;
pub use trace::{Function, Tracing, trace};

use crate::autograd::Var;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::json::{self, Json, Record};
use crate::ops::{self, OpRecord};
use crate::program::Curve;
use crate::record;
use crate::scm;
use crate::tensor::{DType, Form};
use node::Context;

/// Rows for which a graph is checked when it is read. A size is k · rows + c with k ≥ 0, and a number of elements a polynomial of at most fourth degree:
/// what is equal for five numbers of rows is equal for all. The last one is how many are predicted at a time. Words of masks and ranges along an axis
/// are not of that form, so that other numbers of rows are checked when they come.
const CHECKED_ROWS: [usize; 6] = [1, 2, 3, 4, 5, 2048];
/// Most ops that a graph applies.
const MOST_NODES: usize = 1 << 16;

/// A function from rows of its inputs to outputs [rows, columns].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The inputs, which are the columns of a row in this order.
    pub inputs: Vec<Input>,
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
        let inputs = input::Inputs(self.inputs.clone());
        let fields: [(_, &dyn Record); 6] = [
            ("inputs", &inputs),
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
        let mut inputs = input::Inputs::blank();
        let mut slots: [json::Slot<'_>; 7] = [
            ("inputs", &mut inputs, false),
            ("parameters", &mut self.parameters, false),
            ("constants", &mut self.constants, false),
            ("nodes", &mut self.nodes, false),
            ("output", &mut first.output, false),
            ("columns", &mut first.columns, false),
            ("others", &mut others, true),
        ];
        json::read_fields(json, &mut slots)?;
        self.inputs = inputs.0;
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

/// The function of a name or a formula that an op takes.
pub type CurveOf = fn(&str) -> Result<Arc<Curve>>;

/// Every op that a model file can hold.
pub fn op_records() -> impl Iterator<Item = &'static OpRecord> {
    ops::RECORDS.iter().chain(scm::RECORDS).copied()
}

/// The record of a name.
pub fn op_record(name: &str) -> Result<&'static OpRecord> {
    let found = op_records().find(|record| record.name == name);
    found.ok_or_else(|| Error::new(format!("unknown op: got \"{name}\", expected one that this version knows")))
}

impl Graph {
    /// How many values come before the nodes.
    fn before(&self) -> usize {
        self.inputs.len() + self.parameters.len() + self.constants.len()
    }

    /// Errors if the graph makes no sense: a damaged file must be noticed before anything is recorded.
    pub fn check(&self, curve: CurveOf) -> Result<()> {
        input::check(&self.inputs)?;
        let applied = node::applied(&self.nodes)?;
        if applied > MOST_NODES {
            return Err(Error::new(format!("got {applied} ops, expected at most {MOST_NODES}")));
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

    /// Version of the schema of model files that first had what it uses.
    pub(crate) fn format(&self) -> u32 {
        let is_new = |node: &Node| {
            let own = node.op.as_str();
            !node.bodies.is_empty()
                || ["slice", "pad"].contains(&own)
                || scm::RECORDS.iter().any(|record| record.name == own)
        };
        if self.inputs == Input::plain(self.width()) && !self.nodes.iter().any(is_new) { 3 } else { 5 }
    }

    /// The names of its blocks, each once.
    pub fn blocks(&self) -> Vec<String> {
        node::blocks(&self.nodes, &|node| (&node.block, node.bodies.iter().map(|body| &body.nodes[..]).collect()))
    }

    /// Whether it does nothing but pointwise ops on its one input.
    pub fn is_pointwise(&self) -> bool {
        let is_plain = matches!(&self.inputs[..], [input] if input.is_plain());
        is_plain
            && self.parameters.is_empty()
            && self.constants.is_empty()
            && self.nodes.iter().all(|node| node.op == "map")
    }

    fn missing(&self, place: &str, value: usize) -> Error {
        Error::new(format!(
            "{place}: got value {value}, expected one of the {} before",
            self.before() + self.nodes.len()
        ))
    }

    /// Shape and type of every value, for so many rows.
    pub fn forms(&self, rows: usize, curve: CurveOf) -> Result<Vec<Form>> {
        let mut before = self.inputs.iter().map(|input| input.form(rows)).collect::<Result<Vec<_>>>()?;
        before.extend(self.parameters.iter().map(|parameter| Form::floats(parameter.shape.clone())));
        before.extend(self.constants.iter().map(Constant::form));
        node::forms(&self.nodes, before, Context { rows, curve })
    }

    /// Columns of a row.
    pub fn width(&self) -> usize {
        width(&self.inputs)
    }

    /// Records the ops for `x` [rows, width] with these parameters, and returns the outputs.
    pub fn record(&self, parameters: &[Var], x: &Var, curve: CurveOf) -> Result<Vec<Var>> {
        self.record_each(parameters, split(&self.inputs, x), curve)
    }

    /// The same for the value of each input.
    fn record_each(&self, parameters: &[Var], inputs: Vec<Var>, curve: CurveOf) -> Result<Vec<Var>> {
        let first = inputs[0].value();
        let (context, device) = (Context { rows: first.shape().sizes()[0], curve }, first.device().clone());
        if !CHECKED_ROWS.contains(&context.rows) {
            self.forms(context.rows, curve)?;
        }
        let mut before = inputs;
        before.extend(parameters.iter().cloned());
        before.extend(self.constants.iter().map(|constant| Var::constant(constant.tensor(&device))));
        let outputs: Vec<usize> = self.outputs.iter().map(|one| one.output).collect();
        node::values(&self.nodes, before, &outputs, context)
    }

    /// The same function with the steps of its loops one after the other.
    pub fn unrolled(&self, curve: CurveOf) -> Result<Self> {
        if self.nodes.iter().all(|node| node.bodies.is_empty()) {
            return Ok(self.clone());
        }
        let context = |inputs: &[Var]| Context { rows: inputs[0].shape().sizes()[0], curve };
        let outputs: Vec<usize> = self.outputs.iter().map(|one| one.output).collect();
        let function = |others: &[Var], inputs: &[Var]| {
            node::values(&self.nodes, [inputs, others].concat(), &outputs, context(inputs))
        };
        let (inputs, parameters, constants) = (self.inputs.clone(), self.parameters.clone(), self.constants.clone());
        trace::with_constants(&Device::dry(), inputs, parameters, constants, &function)?.graph_at_once()
    }
}
