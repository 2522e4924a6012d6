//! Masked arithmetic: programs in masked form over arrays, on the CPU.

use meromorph::autograd::Var;
use meromorph::program::parse::parse;
use meromorph::scm::{self, BottomRule, Masked, pack, unpack};
use meromorph::tensor::Tensor;
use meromorph::{Device, Error, Result};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pollster::block_on;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::device;
use crate::errors::raised;

/// Operands and their masks, at most: the buffers that one launch may bind, less that of the result.
const MOST: usize = 6;
/// Elements from which all threads work.
const MANY: usize = 1 << 16;

/// Values and where they are ⊥.
type Answer<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<bool>>);

/// Values, and a mask if one of them is ⊥.
type Operand<'py> = (PyReadonlyArray1<'py, f32>, Option<PyReadonlyArray1<'py, bool>>);

/// Borrowed values, and where they are ⊥.
type Slices<'a> = (&'a [f32], Option<&'a [bool]>);

fn slices<'a>(operand: &'a Operand<'_>) -> PyResult<Slices<'a>> {
    let wrong = |_| PyValueError::new_err("scm: expected contiguous arrays");
    let mask = operand.1.as_ref().map(PyReadonlyArray1::as_slice).transpose().map_err(wrong)?;
    Ok((operand.0.as_slice().map_err(wrong)?, mask))
}

fn uploaded(device: &Device, (values, mask): Slices<'_>, shape: &[usize]) -> Result<Masked> {
    match mask {
        Some(mask) => Masked::with_mask(device, shape.to_vec(), values, &pack(mask)),
        None => Masked::from_f32(device, shape.to_vec(), values),
    }
}

/// Reads a result; values that it makes on the way stay on the CPU.
fn read(result: &Masked) -> Result<(Vec<f32>, Vec<bool>)> {
    let values = block_on(result.value().value().to_f32())?;
    let mask = unpack(&block_on(result.mask())?, values.len());
    Ok((values, mask))
}

fn returned(py: Python<'_>, result: Result<(Vec<f32>, Vec<bool>)>) -> PyResult<Answer<'_>> {
    let (values, mask) = result.map_err(raised)?;
    Ok((values.into_pyarray(py), mask.into_pyarray(py)))
}

fn open(elements: usize) -> Result<Device> {
    device::open("cpu", usize::from(elements < MANY))
}

/// A formula in masked form over operands by name, each of `count` elements or of one.
#[pyfunction]
pub(crate) fn scm_evaluate<'py>(
    py: Python<'py>,
    text: &str,
    names: Vec<String>,
    operands: Vec<Operand<'py>>,
    count: usize,
) -> PyResult<Answer<'py>> {
    let operands: Vec<Slices<'_>> = operands.iter().map(slices).collect::<PyResult<_>>()?;
    let result = py.detach(|| evaluated(text, &names, &operands, count));
    returned(py, result)
}

fn evaluated(text: &str, names: &[String], operands: &[Slices<'_>], count: usize) -> Result<(Vec<f32>, Vec<bool>)> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = parse(text, &names, &[]).map_err(|error| error.within("scm"))?;
    if program.results.len() != 1 {
        let got = program.results.len();
        return Err(Error::usage(format!("scm: got {got} formulas separated by commas, expected one")));
    }
    let buffers = operands.iter().map(|(_, mask)| 1 + usize::from(mask.is_some())).sum::<usize>();
    if buffers > MOST {
        return Err(Error::usage(format!(
            "scm: got {} operands, {} of them with ⊥: expected at most {MOST} arrays, counting masks; compute the formula in parts",
            operands.len(),
            buffers - operands.len()
        )));
    }
    let device = open(count)?;
    let plain = |(values, mask): &Slices<'_>| {
        let shape = [values.len()];
        match mask {
            Some(_) => uploaded(&device, (values, *mask), &shape),
            // Every operation takes values that are not finite for ⊥.
            None => Ok(Masked::from(&Var::constant(Tensor::from_f32(&device, shape, values)?))),
        }
    };
    let all: Vec<Masked> = operands.iter().map(plain).collect::<Result<_>>()?;
    let all: Vec<&Masked> = all.iter().collect();
    read(&scm::fused(&all, |inputs| program.emit(inputs)))
}

/// A sum, mean or product of each of `rows` rows.
#[pyfunction]
pub(crate) fn scm_reduce<'py>(
    py: Python<'py>,
    kind: &str,
    operand: Operand<'py>,
    rows: usize,
    drops: bool,
) -> PyResult<Answer<'py>> {
    let slices = slices(&operand)?;
    let result = py.detach(|| reduced(kind, slices, rows, drops));
    returned(py, result)
}

fn reduced(kind: &str, operand: Slices<'_>, rows: usize, drops: bool) -> Result<(Vec<f32>, Vec<bool>)> {
    let count = operand.0.len();
    let device = open(count)?;
    let x = uploaded(&device, operand, &[rows, count.checked_div(rows).unwrap_or(0)])?;
    let rule = if drops { BottomRule::Drop } else { BottomRule::Strict };
    read(&match kind {
        "sum" => scm::sum(&x, 1..2, rule),
        "mean" => scm::mean(&x, 1..2, rule),
        "prod" => scm::prod(&x, 1..2, rule)?,
        other => return Err(Error::usage(format!("scm: got \"{other}\", expected sum, mean or prod"))),
    })
}
