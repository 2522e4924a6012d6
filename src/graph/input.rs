//! Inputs of a graph: parts of a row of numbers, each with a name, a shape and a kind.

use std::fmt;

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::json::{Json, Record};
use crate::ops;
use crate::record;
use crate::tensor::{DType, Form};

/// Most inputs of a function.
const MOST_INPUTS: usize = 4096;
/// Whole numbers up to this one are floats, each its own.
const MOST_INDICES: usize = 1 << 24;

/// An input of a function: so many columns of each row, in its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its shape per row; the function takes it as [rows, shape…].
    pub shape: Vec<usize>,
    /// What it holds.
    pub kind: InputKind,
}

record! { Input { name, shape, kind } }

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// Any numbers.
    Numbers,
    /// Whole numbers from 0 to `below` - 1, which the function takes as indices (`U32`), as of rows of a table.
    Indices {
        /// How many there are.
        below: usize,
    },
    /// Whole numbers from 0 to 255, as of pictures, which the function takes as floats.
    Bytes,
}

record! { enum InputKind { Numbers, Indices { below }, Bytes } }

impl Input {
    /// Numbers of this shape per row.
    pub fn numbers(name: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        Self { name: name.into(), shape: shape.into(), kind: InputKind::Numbers }
    }

    /// Indices of this shape per row, each less than `below`.
    pub fn indices(name: impl Into<String>, shape: impl Into<Vec<usize>>, below: usize) -> Self {
        Self { name: name.into(), shape: shape.into(), kind: InputKind::Indices { below } }
    }

    /// Bytes of this shape per row.
    pub fn bytes(name: impl Into<String>, shape: impl Into<Vec<usize>>) -> Self {
        Self { name: name.into(), shape: shape.into(), kind: InputKind::Bytes }
    }

    /// The one input of a function of `width` numbers per row.
    pub(crate) fn plain(width: usize) -> Vec<Self> {
        vec![Self::numbers("x", [width])]
    }

    /// Whether it is so many numbers of a row as they are.
    pub(crate) fn is_plain(&self) -> bool {
        self.kind == InputKind::Numbers && self.shape.len() == 1
    }

    /// How many columns of a row it takes.
    pub fn width(&self) -> usize {
        self.shape.iter().copied().fold(1, usize::saturating_mul)
    }

    /// Its form for so many rows.
    pub(super) fn form(&self, rows: usize) -> Result<Form> {
        let Form { shape, .. } = Form::checked(&[&[rows], &self.shape[..]].concat())?;
        let dtype = if matches!(self.kind, InputKind::Indices { .. }) { DType::U32 } else { DType::F32 };
        Ok(Form { shape, dtype })
    }

    /// The largest whole number that it may hold, if it holds only such numbers.
    fn largest(&self) -> Option<usize> {
        match self.kind {
            InputKind::Numbers => None,
            InputKind::Indices { below } => Some(below.saturating_sub(1)),
            InputKind::Bytes => Some(255),
        }
    }
}

/// As `word [2] below 5`.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, self.shape)?;
        match self.kind {
            InputKind::Numbers => Ok(()),
            InputKind::Indices { below } => write!(f, " below {below}"),
            InputKind::Bytes => write!(f, " of bytes"),
        }
    }
}

/// Columns of all inputs together.
pub(crate) fn width(inputs: &[Input]) -> usize {
    inputs.iter().map(Input::width).fold(0, usize::saturating_add)
}

/// Errors if inputs make no sense.
pub(crate) fn check(inputs: &[Input]) -> Result<()> {
    if width(inputs) == 0 {
        return Err(Error::new("a model needs inputs: got 0, expected at least 1 per row"));
    }
    if inputs.len() > MOST_INPUTS {
        return Err(Error::new(format!("got {} inputs, expected at most {MOST_INPUTS}", inputs.len())));
    }
    let mut all: usize = 0;
    for (at, input) in inputs.iter().enumerate() {
        let wrong = |what: &str| Err(Error::new(format!("input \"{}\": {what}", input.name)));
        if input.name.is_empty() || inputs[..at].iter().any(|other| other.name == input.name) {
            return wrong("expected a name that no other input has");
        }
        input.form(1).map_err(|error| error.within(&format!("input \"{}\"", input.name)))?;
        if input.width() == 0 {
            return wrong(&format!("got shape {:?}, expected at least one value per row", input.shape));
        }
        match input.kind {
            InputKind::Indices { below } if !(1..=MOST_INDICES).contains(&below) => {
                return wrong(&format!("got {below} indices, expected 1 to {MOST_INDICES}"));
            }
            _ => all = all.saturating_add(input.width()),
        }
    }
    Form::checked(&[1, all]).map(drop).map_err(|error| error.within("inputs"))
}

/// Errors if rows [rows, width] hold something else than whole numbers where an input takes only these.
pub(crate) fn check_rows(inputs: &[Input], x: &[f32]) -> Result<()> {
    let width = width(inputs);
    let mut first = 0;
    for input in inputs {
        let columns = first..first + input.width();
        first = columns.end;
        let Some(largest) = input.largest() else { continue };
        let fits = |value: &&f32| value.fract() == 0.0 && (0.0..=largest as f32).contains(*value);
        for (row, values) in x.chunks_exact(width.max(1)).enumerate() {
            if let Some(bad) = values[columns.clone()].iter().find(|value| !fits(value)) {
                return Err(Error::new(format!(
                    "input \"{}\": got {bad} in row {}, expected a whole number from 0 to {largest}",
                    input.name,
                    row + 1
                )));
            }
        }
    }
    Ok(())
}

/// The value of each input in rows [rows, width].
pub(crate) fn split(inputs: &[Input], x: &Var) -> Vec<Var> {
    let rows = x.shape().sizes()[0];
    let mut first = 0;
    let one = |input: &Input| {
        let columns = first..first + input.width();
        first = columns.end;
        let value = ops::reshape(&ops::slice(x, 1, columns), [&[rows], &input.shape[..]].concat());
        if matches!(input.kind, InputKind::Indices { .. }) { ops::cast(&value.detach(), DType::U32) } else { value }
    };
    inputs.iter().map(one).collect()
}

/// The inputs of a graph in JSON: the number of columns if there is one input of plain numbers, as in files from before there were others.
#[derive(Clone)]
pub(super) struct Inputs(pub Vec<Input>);

impl Record for Inputs {
    fn blank() -> Self {
        Self(Vec::new())
    }

    fn to_json(&self) -> Json {
        match &self.0[..] {
            [only] if *only == Input::plain(only.width())[0] => only.width().to_json(),
            several => several.to_vec().to_json(),
        }
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.0 = if let Json::List(_) = json { Vec::from_json(json)? } else { Input::plain(usize::from_json(json)?) };
        Ok(())
    }
}
