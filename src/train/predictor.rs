//! Prediction: a model's outputs over many rows, and pairs decoded on the device.

use crate::autograd::Var;
use crate::device::{Buffer, Command, Device, View};
use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::mlp::{self, Mlp, Precision};
use crate::kernels::strict::{self, Decoded, MAX_FACTORS};
use crate::nn::{Head, Layout, Pass, Spec, forward};
use crate::tensor::{DType, Tensor};

/// Rows predicted at a time by the recorded pass: a multiple of 64, so that views stay aligned.
pub(super) const CHUNK: usize = 8192;

/// A model's parameters on a device, ready to predict.
pub(super) struct Predictor {
    device: Device,
    spec: Spec,
    layout: Layout,
    fused: Option<Mlp>,
    parameters: Buffer,
    precision: Precision,
}

/// Rows uploaded and predicted at a time: bounds the memory of a prediction, not its rows.
const ROWS_AT_A_TIME: usize = 1 << 16;

impl Predictor {
    pub(super) fn new(device: &Device, spec: &Spec, parameters: &[f32]) -> Result<Self> {
        let parameters = device.upload(bytemuck::cast_slice(parameters))?;
        Ok(Self::over(device, spec, parameters))
    }

    pub(super) fn over(device: &Device, spec: &Spec, parameters: Buffer) -> Self {
        let layout = Layout::of(spec);
        let fused = Mlp::of(spec, &layout);
        Self { device: device.clone(), spec: spec.clone(), layout, fused, parameters, precision: Precision::F32 }
    }

    /// The same with its activations in `precision`; refuses f16 for what the fused kernels do not take, and for a head.
    pub(super) fn keeping(self, precision: Precision) -> Result<Self> {
        let is_plain = self.fused.is_some() && self.spec.head().is_none();
        if precision == Precision::F16 && !is_plain {
            return Err(Error::new(
                "precision: f16 is for plain perceptrons of up to 16 layers, 128 wide; this model predicts in f32",
            ));
        }
        Ok(Self { precision, ..self })
    }

    /// Outputs [rows, outputs] for inputs [rows, inputs].
    pub(super) async fn run(&self, x: &[f32]) -> Result<Vec<f32>> {
        let mut all = Vec::with_capacity(x.len() / self.spec.inputs * self.spec.outputs()?);
        for part in x.chunks(ROWS_AT_A_TIME * self.spec.inputs) {
            let rows = part.len() / self.spec.inputs;
            let x = self.device.upload(bytemuck::cast_slice(part))?;
            all.extend(self.outputs(&x, rows)?.to_f32().await?);
        }
        let is_half = self.precision == Precision::F16 && !self.device.info().runs_cpu_path();
        if is_half && all.iter().any(|value| value.abs() > 65504.0) {
            return Err(Error::new("precision: a row goes beyond 65504, where f16 ends; predict in f32"));
        }
        Ok(all)
    }

    /// Outputs decoded where they stand: only values and verdicts come back. Each factor is a number for each value and its threshold.
    pub(super) async fn decode(&self, x: &[f32], factors: &[Factor]) -> Result<Decoded> {
        let head = self.spec.head().ok_or_else(|| Error::new("predict: the model makes no pairs to decode"))?;
        check_factors(factors, x.len() / self.spec.inputs * head.outputs)?;
        let mut all = Decoded::default();
        for (k, part) in x.chunks(ROWS_AT_A_TIME * self.spec.inputs).enumerate() {
            let rows = part.len() / self.spec.inputs;
            let count = rows * head.outputs;
            let first = k * ROWS_AT_A_TIME * head.outputs;
            let chosen: Vec<f32> =
                factors.iter().flat_map(|factor| &factor.values[first..first + count]).copied().collect();
            let x = self.device.upload(bytemuck::cast_slice(part))?;
            let z = self.outputs(&x, rows)?;
            let strict::Outputs { value, planes, provenance } = decoded(&self.device, head, &z, (&chosen, factors))?;
            let words = strict::plane_words(count);
            let gap = self.device.read(&View { offset: words, words, ..planes }).await?;
            let provenance = self.device.read(&provenance).await?;
            all.append(count, bytemuck::cast_slice(&self.device.read(&value).await?), &gap, &provenance);
        }
        Ok(all)
    }

    fn outputs(&self, x: &Buffer, rows: usize) -> Result<Tensor> {
        let fused = self.fused.as_ref().map(|mlp| (mlp, self.precision));
        predict(&self.spec, &self.layout, fused, &self.device, &self.parameters, x, rows)
    }
}

/// A number for each value that must not be near 0: where it is, there is no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The numbers; one that is not finite makes ⊥ by fault.
    pub values: Vec<f32>,
    /// Sizes below this make ⊥.
    pub tau: f32,
}

/// Refuses factors that are too many, too short, or decide nothing.
fn check_factors(factors: &[Factor], values: usize) -> Result<()> {
    let refused = |what: String| Err(Error::new(format!("predict: {what}")));
    if factors.len() > MAX_FACTORS {
        return refused(format!("{} validity factors, at most {MAX_FACTORS} are taken", factors.len()));
    }
    for Factor { values: given, tau } in factors {
        if given.len() != values {
            return refused(format!("a validity factor has {} numbers, wanted {values}", given.len()));
        }
        if !(tau.is_finite() && *tau >= f32::MIN_POSITIVE) {
            let [tau, least] = [*tau, f32::MIN_POSITIVE].map(number);
            return refused(format!("a validity factor's threshold is {tau:e}, wanted a number of at least {least:e}"));
        }
    }
    Ok(())
}

/// The launch that decodes a head's pairs [rows, 2 · outputs], with the factors' numbers one after the other.
pub(super) fn decoded(
    device: &Device,
    head: &Head,
    z: &Tensor,
    (numbers, factors): (&[f32], &[Factor]),
) -> Result<strict::Outputs> {
    let rows = z.shape().sizes()[0];
    let count = rows * head.outputs;
    let [value, planes, provenance] = [count, 4 * strict::plane_words(count), strict::provenance_words(count)]
        .map(|words| device.buffer(words).view());
    let pairs = strict::Pairs::joined(rows as u32, head.outputs as u32);
    let out = || strict::Outputs { value: value.clone(), planes: planes.clone(), provenance: provenance.clone() };
    let z = z.view().clone();
    let taus: Vec<f32> = factors.iter().map(|factor| factor.tau).collect();
    let numbers = if taus.is_empty() { z.clone() } else { device.upload(bytemuck::cast_slice(numbers))?.view() };
    let launch = strict::dispatch(&head.decoding, pairs, [z.clone(), z], numbers, &taus, out());
    device.record(Command::Dispatch(launch));
    Ok(out())
}

/// The model's outputs [rows, outputs] over rows on the device: fused where the model allows, else by chunks of recorded ops.
pub(super) fn predict(
    spec: &Spec,
    layout: &Layout,
    fused: Option<(&Mlp, Precision)>,
    device: &Device,
    parameters: &Buffer,
    x: &Buffer,
    rows: usize,
) -> Result<Tensor> {
    let outputs = spec.outputs()?;
    let out = Tensor::empty(device, [rows, outputs], DType::F32);
    if let Some((mlp, precision)) = fused {
        let shape = mlp.predicting(device.info(), rows, precision);
        let scratch = device.buffer(shape.scratch_words(device.info()));
        let views = [x.view(), parameters.view()];
        device.record(Command::Dispatch(mlp::forward(&shape, views, [out.view().clone(), scratch.view()])));
        return Ok(out);
    }
    let leaves: Vec<Var> = layout.leaves(device, parameters).iter().map(Var::detach).collect();
    for first in (0..rows).step_by(CHUNK) {
        let count = CHUNK.min(rows - first);
        let view = View { buffer: x.clone(), offset: first * spec.inputs, words: count * spec.inputs };
        let x = Var::constant(Tensor::over(device, view, [count, spec.inputs]));
        let z = forward(spec, &leaves, &x, &Pass::Predict);
        let target = View { buffer: out.view().buffer.clone(), offset: first * outputs, words: count * outputs };
        z.value().copy_into(&target);
    }
    Ok(out)
}
