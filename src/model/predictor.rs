//! Prediction: a model's outputs over many rows, and pairs decoded on the device.

use super::network::Network;
use crate::autograd::Var;
use crate::device::{Buffer, Command, Device, View};
use crate::error::{Error, Result};
use crate::host::number;
use crate::kernels::mlp::{self, Mlp, Precision};
use crate::kernels::strict::{self, Decoded, MAX_FACTORS};
use crate::loss::Loss;
use crate::nn::Head;
use crate::tensor::{DType, Tensor};

/// Rows predicted at a time by the recorded pass: a multiple of 64, so that views stay aligned.
pub(crate) const CHUNK: usize = 2048;
/// Rows uploaded and predicted at a time: bounds the memory of a prediction, not its rows.
pub(crate) const ROWS_AT_A_TIME: usize = 1 << 16;

/// A model's parameters on a device, ready to predict. Of several models that were trained at once, the outputs are those whose predictions are the mean
/// of theirs.
#[derive(Clone)]
pub(crate) struct Predictor {
    device: Device,
    network: Network,
    fused: Option<Mlp>,
    /// Of each model.
    parameters: Vec<View>,
    mean: fn(&[Var]) -> Var,
    /// Whether the parameters are packed for the fused kernel's CPU path.
    is_packed: bool,
    precision: Precision,
}

impl Predictor {
    /// Uploads the parameters; on a CPU path packed, if the fused kernel takes the model.
    pub(crate) fn new(device: &Device, network: Network, models: &[&[f32]], loss: &Loss) -> Result<Self> {
        let predictor = Self::over(device, network, Vec::new(), loss);
        let packing = predictor.fused.as_ref().filter(|_| device.info().runs_cpu_path());
        let upload = |parameters: &&[f32]| {
            let packed = packing.map(|mlp| mlp.packed(device.info(), parameters));
            Ok(device.upload(bytemuck::cast_slice(packed.as_deref().unwrap_or(parameters)))?.view())
        };
        let parameters = models.iter().map(upload).collect::<Result<_>>()?;
        Ok(Self { is_packed: packing.is_some(), parameters, ..predictor })
    }

    /// Over the parameters of each model, which are on the device.
    pub(crate) fn over(device: &Device, network: Network, parameters: Vec<View>, loss: &Loss) -> Self {
        let (fused, device, mean) = (network.fused(device), device.clone(), loss.mean(network.head().is_some()));
        Self { device, network, fused, parameters, mean, is_packed: false, precision: Precision::F32 }
    }

    /// How many models there are.
    pub(crate) fn members(&self) -> usize {
        self.parameters.len()
    }

    /// One of several models.
    pub(crate) fn member(&self, at: usize) -> Self {
        Self { parameters: vec![self.parameters[at].clone()], ..self.clone() }
    }

    /// The same with its activations in `precision`. Errors for f16 if the fused kernels do not take the model, or if it has a head.
    pub(crate) fn keeping(&self, precision: Precision) -> Result<Self> {
        let is_plain = self.fused.is_some() && self.network.head().is_none();
        if precision == Precision::F16 && !is_plain {
            return Err(Error::new(format!(
                "precision: f16 is for plain perceptrons of up to 16 layers, on this device {} wide; this model predicts in f32",
                mlp::max_width(self.device.info())
            )));
        }
        Ok(Self { precision, ..self.clone() })
    }

    /// The one output [rows, columns] for inputs [rows, inputs]. Errors for a model with several.
    pub(crate) async fn run(&self, x: &[f32]) -> Result<Vec<f32>> {
        let mut all = self.run_each(x).await?;
        match all.len() {
            0 | 1 => Ok(all.pop().unwrap_or_default()),
            count => Err(Error::new(format!(
                "predict: the model has {count} outputs, expected one: use predict_each, or outputs_each of a saved model"
            ))),
        }
    }

    /// Every output [rows, columns] on its own for inputs [rows, inputs]; nothing for no rows.
    pub(crate) async fn run_each(&self, x: &[f32]) -> Result<Vec<Vec<f32>>> {
        let mut all: Vec<Vec<f32>> = Vec::new();
        for part in self.parts(x)? {
            let uploaded = self.device.upload(bytemuck::cast_slice(part))?;
            let outputs = self.outputs(&uploaded, part.len() / self.network.inputs())?;
            all.resize(outputs.len(), Vec::new());
            for (all, output) in all.iter_mut().zip(outputs) {
                all.extend(output.to_f32().await?);
            }
        }
        let is_half = self.precision == Precision::F16 && !self.device.info().runs_cpu_path();
        if is_half && all.iter().flatten().any(|value| value.abs() > 65504.0) {
            return Err(Error::new("precision: a row goes beyond 65504, where f16 ends; predict in f32"));
        }
        Ok(all)
    }

    /// Pairs decoded on the device: only values and verdicts are read back. Each factor has one number per value, and a threshold.
    pub(crate) async fn decode(&self, x: &[f32], factors: &[Factor]) -> Result<Decoded> {
        let head = self
            .network
            .head()
            .ok_or_else(|| Error::new("predict: the model has no projective head: nothing to decode"))?;
        let parts = self.parts(x)?;
        check_factors(factors, x.len() / self.network.inputs() * head.outputs)?;
        let mut all = Decoded::default();
        for (k, part) in parts.enumerate() {
            let rows = part.len() / self.network.inputs();
            let count = rows * head.outputs;
            let first = k * ROWS_AT_A_TIME * head.outputs;
            let chosen: Vec<f32> =
                factors.iter().flat_map(|factor| &factor.values[first..first + count]).copied().collect();
            let x = self.device.upload(bytemuck::cast_slice(part))?;
            let z = self.outputs(&x, rows)?.remove(0);
            let strict::Outputs { value, planes, provenance } = decoded(&self.device, head, &z, &chosen, factors)?;
            let words = strict::plane_words(count);
            let gap = self.device.read(&View { offset: words, words, ..planes }).await?;
            let provenance = self.device.read(&provenance).await?;
            all.append(count, bytemuck::cast_slice(&self.device.read(&value).await?), &gap, &provenance);
        }
        Ok(all)
    }

    /// Inputs in parts of bounded size. Errors if they are not whole rows.
    fn parts<'a>(&self, x: &'a [f32]) -> Result<std::slice::Chunks<'a, f32>> {
        let inputs = self.network.inputs();
        if !x.len().is_multiple_of(inputs) {
            let got = x.len();
            return Err(Error::new(format!(
                "predict: got {got} values, expected a multiple of the model's {inputs} inputs"
            )));
        }
        self.check_rows(x)?;
        Ok(x.chunks(ROWS_AT_A_TIME * inputs))
    }

    /// Errors if rows do not hold what the inputs take.
    pub(crate) fn check_rows(&self, x: &[f32]) -> Result<()> {
        self.network.check_rows(x).map_err(|error| error.within("predict"))
    }

    /// The outputs, each [rows, columns], for at least one row on the device.
    pub(crate) fn outputs(&self, x: &Buffer, rows: usize) -> Result<Vec<Tensor>> {
        if let [parameters] = &self.parameters[..] {
            return self.outputs_of(parameters, x, rows);
        }
        let models = self.parameters.iter().map(|parameters| self.outputs_of(parameters, x, rows));
        let models: Vec<Vec<Tensor>> = models.collect::<Result<_>>()?;
        let output = |at: usize| {
            let each: Vec<Var> = models.iter().map(|outputs| Var::constant(outputs[at].clone())).collect();
            (self.mean)(&each).value().clone()
        };
        Ok((0..models[0].len()).map(output).collect())
    }

    /// Those of one model: by the fused kernel if it takes the model, otherwise by recorded ops, a chunk of rows at a time.
    fn outputs_of(&self, parameters: &View, x: &Buffer, rows: usize) -> Result<Vec<Tensor>> {
        let (device, network) = (&self.device, &self.network);
        if let Some(mlp) = &self.fused {
            let out = Tensor::empty(device, [rows, mlp.outputs()], DType::F32);
            let shape = mlp.predicting(device.info(), rows, self.precision).packed(self.is_packed);
            let scratch = device.buffer(shape.scratch_words(device.info()));
            let views = [x.view(), parameters.clone()];
            device.record(Command::Dispatch(mlp::forward(&shape, views, [out.view().clone(), scratch.view()])));
            return Ok(vec![out]);
        }
        let leaves: Vec<Var> = network.layout().leaves(device, parameters).iter().map(Var::detach).collect();
        let inputs = network.inputs();
        let mut all: Vec<Tensor> = Vec::new();
        for first in (0..rows).step_by(CHUNK) {
            let count = CHUNK.min(rows - first);
            let view = View { buffer: x.clone(), offset: first * inputs, words: count * inputs };
            let outputs = network.predict(&leaves, &Var::constant(Tensor::over(device, view, [count, inputs])))?;
            if count == rows {
                return Ok(outputs.iter().map(|output| output.value().clone()).collect());
            }
            let columns = |output: &Var| output.shape().sizes()[1];
            if first == 0 {
                all = outputs.iter().map(|z| Tensor::empty(device, [rows, columns(z)], DType::F32)).collect();
            }
            for (all, output) in all.iter().zip(&outputs) {
                let (offset, words) = (first * columns(output), count * columns(output));
                output.value().copy_into(&View { buffer: all.view().buffer.clone(), offset, words });
            }
        }
        Ok(all)
    }
}

/// A validity factor: a number per value; the value is ⊥ where its number is near 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The numbers; a number that is not finite makes its value ⊥ by fault.
    pub values: Vec<f32>,
    /// The threshold: smaller absolute values make ⊥.
    pub tau: f32,
}

/// Errors if there are too many factors, or one has a wrong length or an invalid threshold.
fn check_factors(factors: &[Factor], values: usize) -> Result<()> {
    let refused = |what: String| Err(Error::new(format!("predict: {what}")));
    if factors.len() > MAX_FACTORS {
        return refused(format!("{} validity factors, at most {MAX_FACTORS} are taken", factors.len()));
    }
    for Factor { values: given, tau } in factors {
        if given.len() != values {
            return refused(format!("a validity factor has {} numbers, expected {values}", given.len()));
        }
        if !(tau.is_finite() && *tau >= f32::MIN_POSITIVE) {
            let [tau, least] = [*tau, f32::MIN_POSITIVE].map(number);
            return refused(format!(
                "a validity factor's threshold is {tau:e}, expected a number of at least {least:e}"
            ));
        }
    }
    Ok(())
}

/// The launch that decodes a head's pairs [rows, 2 · outputs], with the factors' numbers concatenated.
pub(crate) fn decoded(
    device: &Device,
    head: &Head,
    z: &Tensor,
    numbers: &[f32],
    factors: &[Factor],
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
