//! A graph under construction: nodes in order, their constants, inputs and outputs. Every node has one output, named after its
//! operator and index.

use super::proto::Message;
use crate::error::{Error, Result};
use crate::export::tensor_info::{Size, TensorInfo};
use crate::graph::{Constant, Size as Rows, Values};
use crate::json::Json;
use crate::program::onnx;
pub(super) use crate::program::onnx::Setting;

/// The name of the input that is the columns of a row.
pub(super) const INPUT: &str = "x";

/// The name of a tensor in the graph.
pub(super) type Name = String;

/// Element types used in the graphs.
#[derive(Clone, Copy)]
pub(super) enum Element {
    Float,
    Byte,
    Bool,
    Int,
}

impl Element {
    const ALL: [Self; 4] = [Self::Float, Self::Byte, Self::Bool, Self::Int];

    /// The number of the type in the ONNX format.
    fn code(self) -> i64 {
        match self {
            Self::Float => 1,
            Self::Byte => 2,
            Self::Int => 7,
            Self::Bool => 9,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Float => "float32",
            Self::Byte => "uint8",
            Self::Int => "int64",
            Self::Bool => "bool",
        }
    }
}

fn message(setting: Setting<'_>) -> Message {
    match setting {
        Setting::Int(name, value) => Message::default().text(1, name).int(3, value).int(20, 2),
        Setting::Float(name, value) => Message::default().text(1, name).float(2, value).int(20, 1),
        Setting::Ints(name, values) => {
            let named = Message::default().text(1, name);
            values.iter().fold(named, |message, value| message.int(8, *value)).int(20, 7)
        }
    }
}

/// The graph.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    outputs: Vec<Message>,
    /// Scalar constants by their bits, so that each is stored once.
    numbers: Vec<(u32, Name)>,
    /// The number of rows of the input, once something needs it.
    rows: Option<Name>,
    /// The name of the first input.
    input: Name,
    /// The names of nodes and constants.
    taken: Vec<Name>,
}

impl Graph {
    /// A graph whose first input has this name.
    pub(super) fn over(input: &str) -> Self {
        Self { input: input.to_owned(), ..Self::default() }
    }

    /// Adds a node without attributes.
    pub(super) fn op(&mut self, operator: &str, inputs: &[&Name]) -> Name {
        self.node(operator, inputs, &[])
    }

    /// Adds a node and returns the name of its output.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&Name], settings: &[Setting<'_>]) -> Name {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.push(operator, inputs, settings, &name);
        name
    }

    fn push(&mut self, operator: &str, inputs: &[&Name], settings: &[Setting<'_>], output: &str) {
        let mut node = Message::default();
        for input in inputs {
            node = node.text(1, input);
        }
        node = node.text(2, output).text(3, output).text(4, operator);
        for setting in settings {
            node = node.message(5, &message(*setting));
        }
        self.nodes.push(node);
        self.taken.push(output.to_owned());
    }

    /// A constant tensor of numbers.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> Name {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Element::Float, shape, &bytes)
    }

    /// A constant of a function's graph.
    pub(super) fn tensor(&mut self, constant: &Constant) -> Name {
        let name = format!("constant_{}", self.constants.len());
        match &constant.values {
            Values::F32(values) => self.floats(&name, &constant.shape, values),
            Values::U32(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|&value| i64::from(value).to_le_bytes()).collect();
                self.constant(&name, Element::Int, &constant.shape, &bytes)
            }
        }
    }

    /// A scalar constant, which broadcasts to any shape.
    pub(super) fn number(&mut self, value: f32) -> Name {
        if let Some((_, name)) = self.numbers.iter().find(|(bits, _)| *bits == value.to_bits()) {
            return name.clone();
        }
        let name = self.floats(&format!("number_{}", self.numbers.len()), &[], &[value]);
        self.numbers.push((value.to_bits(), name.clone()));
        name
    }

    /// A constant list of integers.
    pub(super) fn list(&mut self, values: &[i64]) -> Name {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let name = format!("list_{}", self.constants.len());
        self.constant(&name, Element::Int, &[values.len()], &bytes)
    }

    fn constant(&mut self, name: &str, element: Element, shape: &[usize], bytes: &[u8]) -> Name {
        let sized = shape.iter().fold(Message::default(), |message, size| message.int(1, *size as i64));
        self.constants.push(sized.int(2, element.code()).text(8, name).bytes(9, bytes));
        self.taken.push(name.to_owned());
        name.into()
    }

    /// Columns of a tensor from `first` up to, but excluding, `end`.
    pub(super) fn columns(&mut self, x: &Name, first: usize, end: usize) -> Name {
        let [starts, ends, axes] = [first as i64, end as i64, 1].map(|value| self.list(&[value]));
        self.op("Slice", &[x, &starts, &ends, &axes])
    }

    /// The number of rows of the input, as a list of one.
    fn rows(&mut self) -> Name {
        if let Some(rows) = &self.rows {
            return rows.clone();
        }
        let shape = self.op("Shape", &[&self.input.clone()]);
        let [first, end] = [0, 1].map(|value| self.list(&[value]));
        let rows = self.op("Slice", &[&shape, &first, &end]);
        self.rows = Some(rows.clone());
        rows
    }

    /// Whether each number is neither infinite nor NaN.
    pub(super) fn is_finite(&mut self, x: &Name) -> Name {
        let (nan, infinite) = (self.op("IsNaN", &[x]), self.op("IsInf", &[x]));
        let odd = self.op("Or", &[&nan, &infinite]);
        self.op("Not", &[&odd])
    }

    /// Makes a tensor an output under its own name.
    pub(super) fn output(&mut self, info: &TensorInfo, value: &Name) {
        self.push("Identity", &[value], &[], &info.name);
        self.outputs.push(value_info(info));
    }

    /// The graph as a message. Errors if an input has the name of something else.
    pub(super) fn finish(self, inputs: &[TensorInfo]) -> Result<Message> {
        if let Some(input) = inputs.iter().find(|input| self.taken.contains(&input.name)) {
            let name = &input.name;
            return Err(Error::new(format!("onnx: got the input \"{name}\", which is the name of a node: rename it")));
        }
        let add = |field: u64| move |graph: Message, part: &Message| graph.message(field, part);
        let graph = self.nodes.iter().fold(Message::default(), add(1)).text(2, "meromorph");
        let graph = self.constants.iter().fold(graph, add(5));
        let graph = inputs.iter().map(value_info).fold(graph, |graph, input| graph.message(11, &input));
        Ok(self.outputs.iter().fold(graph, add(12)))
    }
}

impl onnx::Graph for Graph {
    type Name = Name;

    fn number(&mut self, value: f32) -> Name {
        Self::number(self, value)
    }

    fn op(&mut self, operator: &'static str, inputs: &[&Name]) -> Name {
        Self::op(self, operator, inputs)
    }

    fn truth(&mut self, truth: &Name) -> Name {
        self.node("Cast", &[truth], &[Setting::Int("to", Element::Float.code())])
    }

    fn node(&mut self, operator: &'static str, inputs: &[&Name], settings: &[Setting<'_>]) -> Name {
        Self::node(self, operator, inputs, settings)
    }

    fn list(&mut self, values: &[i64]) -> Name {
        Self::list(self, values)
    }

    fn floats(&mut self, shape: &[usize], values: &[f32]) -> Name {
        Self::floats(self, &format!("floats_{}", self.constants.len()), shape, values)
    }

    fn sizes(&mut self, sizes: &Json) -> Result<Name> {
        let sizes: Vec<Rows> = sizes.list().unwrap_or_default().iter().map(Rows::from_json).collect::<Result<_>>()?;
        if sizes.iter().all(|size| size.each == 0) {
            return Ok(self.list(&sizes.iter().map(|size| size.plus).collect::<Vec<_>>()));
        }
        let rows = self.rows();
        let mut parts = Vec::new();
        for size in sizes {
            let [each, plus] = [size.each, size.plus].map(|value| self.list(&[value]));
            let part = self.op("Mul", &[&rows, &each]);
            parts.push(self.op("Add", &[&part, &plus]));
        }
        Ok(self.node("Concat", &parts.iter().collect::<Vec<_>>(), &[Setting::Int("axis", 0)]))
    }
}

/// Name, type and shape; a size with a name is free.
fn value_info(info: &TensorInfo) -> Message {
    let size = |shape: Message, size: &Size| {
        let size = match size {
            Size::Fixed(count) => Message::default().int(1, *count as i64),
            Size::Named(name) => Message::default().text(2, name),
        };
        shape.message(1, &size)
    };
    let shape = info.shape.iter().fold(Message::default(), size);
    let element = Element::ALL.into_iter().find(|element| element.name() == info.dtype);
    let code = element.expect("the infos of a graph are made from elements").code();
    let tensor = Message::default().int(1, code).message(2, &shape);
    Message::default().text(1, &info.name).message(2, &Message::default().message(1, &tensor))
}
