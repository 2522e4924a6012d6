//! Where ⊥ arises: the share of rows that are ⊥ after each layer of a model, and of those in the gap at its end.

use serde::Serialize;

use crate::autograd::Var;
use crate::device::{Device, View};
use crate::error::Result;
use crate::kernels::optimise::TAIL;
use crate::model::Model;
use crate::model::predictor::CHUNK;
use crate::nn::{Layer, Layout, bottoms};
use crate::ops;
use crate::tensor::Tensor;

/// Shares of rows after a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerShares {
    /// The name of the layer: `layers.3`.
    pub layer: String,
    /// Its kind: `linear`, `rational`, ….
    pub kind: &'static str,
    /// Share of rows that are ⊥ here or were before.
    pub bottom: f64,
    /// Share of rows in the gap near a pole; only for a projective head, which has a second threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
}

impl Model {
    /// The shares after each layer, over encoded inputs [rows, inputs]; of several models their mean. A row is ⊥ where any of its
    /// values is.
    pub async fn bottom_shares(&self, device: &Device, x: &[f32]) -> Result<Vec<LayerShares>> {
        let rows = x.len() / self.spec.inputs;
        let mut counts = vec![0.0; self.spec.layers.len()];
        let (layout, members) = (Layout::of(&self.spec), self.members() as f64);
        let parts = || x.chunks(CHUNK * self.spec.inputs);
        for (flat, part) in self.each_member().flat_map(|flat| parts().map(move |part| (flat, part))) {
            let flat = device.upload(bytemuck::cast_slice(flat))?.view();
            let leaves: Vec<Var> = layout.leaves(device, &flat).iter().map(Var::detach).collect();
            let x = Tensor::from_f32(device, [part.len() / self.spec.inputs, self.spec.inputs], part)?;
            let seen = bottoms(&self.spec, &leaves, &Var::constant(x));
            let report = device.buffer(seen.len().max(1) * TAIL);
            for (at, rows) in seen.iter().enumerate() {
                let target = View { buffer: report.clone(), offset: at * TAIL, words: 1 };
                ops::sum(rows, 0..2).value().copy_into(&target);
            }
            let report: Vec<f32> = bytemuck::cast_vec(device.read(&report.view()).await?);
            counts.iter_mut().zip(report.chunks(TAIL)).for_each(|(count, figure)| *count += f64::from(figure[0]));
        }
        let share = |count: f64| count / rows.max(1) as f64;
        let mean = |count: f64| share(count / members);
        let named = |(at, (layer, count)): (usize, (&Layer, &f64))| LayerShares {
            layer: format!("layers.{at}"),
            kind: layer.kind(),
            bottom: mean(*count),
            gap: None,
        };
        let mut shares: Vec<LayerShares> = self.spec.layers.iter().zip(&counts).enumerate().map(named).collect();
        if let (Some(head), Some(last)) = (self.spec.head(), shares.last_mut()) {
            let decoded = self.predictor(device)?.decode(x, &[]).await?;
            let any = |is: &dyn Fn(usize) -> bool| {
                let is_any = |row: &usize| (row * head.outputs..(row + 1) * head.outputs).any(is);
                share((0..rows).filter(is_any).count() as f64)
            };
            last.bottom = any(&|at| decoded.is_bottom(at));
            last.gap = Some(any(&|at| decoded.gap[at]));
        }
        Ok(shares)
    }
}
