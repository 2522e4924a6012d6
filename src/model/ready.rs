//! A model made ready on a device, for programs that predict again and again.

use std::rc::Rc;

use super::prediction::{Noted, PredictOptions};
use super::predictor::Predictor;
use super::trained::Model;
use crate::device::{Buffer, Device, Plan, View};
use crate::error::{Error, Result};
use crate::files::Table;
use crate::kernels::strict::Decoded;

/// A model on a device with its weights uploaded and packed, so that a call only computes.
pub struct Ready {
    model: Rc<Model>,
    device: Device,
    predictor: Predictor,
    /// The plan of one row, its input and its output.
    row: Option<(Plan, Buffer, View)>,
}

impl Model {
    /// The model made ready on a device.
    ///
    /// ```
    /// use meromorph::prelude::*;
    /// let spec = Spec::mlp(2, &[16], 1, Activation::silu());
    /// let parameters = Network::from(spec.clone()).initialise(0)?;
    /// let mut ready = Model::new(spec, Loss::mse(), parameters, None).ready(&Device::cpu(1))?;
    /// let mut output = [0.0];
    /// ready.row(&[0.5, -0.5], &mut output)?;
    /// assert_eq!(pollster::block_on(ready.outputs(&[0.5, -0.5]))?, output);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn ready(&self, device: &Device) -> Result<Ready> {
        Ready::new(Rc::new(self.clone()), device)
    }
}

impl Ready {
    /// A shared model made ready on a device.
    pub fn new(model: Rc<Model>, device: &Device) -> Result<Self> {
        let predictor = model.predictor(device)?;
        Ok(Self { model, device: device.clone(), predictor, row: None })
    }

    /// Encodes a table and predicts every row, as [`Model::predict_fully`].
    pub async fn predict(&self, table: &Table, options: PredictOptions<'_>) -> Result<Noted> {
        self.model.predict_with(&self.predictor, table, options).await
    }

    /// The raw outputs [rows, outputs] for encoded inputs [rows, inputs].
    pub async fn outputs(&self, x: &[f32]) -> Result<Vec<f32>> {
        self.predictor.run(x).await
    }

    /// Decoded pairs for encoded inputs [rows, inputs]. Errors if the model has no projective head.
    pub async fn decoded(&self, x: &[f32]) -> Result<Decoded> {
        self.predictor.decode(x, &[]).await
    }

    /// Writes the raw outputs for one row of encoded inputs, without waiting: for devices that compute on the CPU, whose calls after the
    /// first allocate nothing for a perceptron up to 16 layers and 1,024 wide. Errors on other devices.
    pub fn row(&mut self, x: &[f32], out: &mut [f32]) -> Result<()> {
        if self.row.is_none() {
            self.row = Some(self.planned()?);
        }
        let Some((plan, input, output)) = &self.row else { return Ok(()) };
        if x.len() != self.model.spec.inputs || out.len() != output.words {
            return Err(Error::new(format!(
                "predict: got {} inputs and {} places for outputs, expected {} and {}",
                x.len(),
                out.len(),
                self.model.spec.inputs,
                output.words
            )));
        }
        self.predictor.check_rows(x)?;
        self.device.write(input, 0, bytemuck::cast_slice(x))?;
        plan.run(1)?;
        self.device.read_now(output, bytemuck::cast_slice_mut(out))
    }

    fn planned(&self) -> Result<(Plan, Buffer, View)> {
        let input = self.device.buffer(self.model.spec.inputs);
        let (plan, outputs) = self.device.capture(|| self.predictor.outputs(&input, 1))?;
        match &outputs[..] {
            [output] => Ok((plan, input, output.view().clone())),
            _ => Err(Error::new(format!("predict: the model has {} outputs, expected one", outputs.len()))),
        }
    }
}
