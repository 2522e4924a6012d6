//! A model that the fused kernels support, and its launches.

use std::sync::Arc;

use super::engine;
use super::fused::Fused;
use super::pairs::pairing::Pairing;
use super::params::{Layer, MAX_LAYERS, Params};
use super::row_goal::RowGoal;
use super::scratch::{Precision, ScratchFormat, WORDS};
use super::shape::{MlpShape, quads, widest};
use super::tiling::Tiling;
use crate::device::{Geometry, Info, Tiles};
use crate::program::Curve;

/// The widest layer that the fused kernels support on a device.
pub fn max_width(info: &Info) -> usize {
    if info.runs_cpu_path() { 1024 } else { 128 }
}

/// A model that the fused kernels support.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    activation: Arc<Curve>,
    layers: Vec<Layer>,
    pairs: Option<Pairing>,
    total: usize,
}

impl Mlp {
    /// Builds it from layer sizes and offsets; `None` if it is too deep.
    pub fn new(activation: Arc<Curve>, layers: Vec<Layer>, total: usize) -> Option<Self> {
        (1..=MAX_LAYERS).contains(&layers.len()).then_some(Self { activation, layers, pairs: None, total })
    }

    /// Whether a layer's weights and the activations stay in the cache, so that the fused step is the fastest for any batch.
    pub fn is_narrow(&self) -> bool {
        widest(&self.layers) <= 128
    }

    /// Whether its layers are narrow enough for the device.
    pub fn fits(&self, info: &Info) -> bool {
        widest(&self.layers) as usize <= max_width(info)
    }

    /// The same with pairs instead of plain outputs; their features are the last layer's outputs.
    #[track_caller]
    pub fn with_pairs(self, pairs: Pairing) -> Self {
        let width = self.layers[self.layers.len() - 1].outputs as usize;
        assert_eq!(
            width,
            pairs.features(),
            "mlp: number of outputs of the last layer differs from the head's features"
        );
        Self { pairs: Some(pairs), ..self }
    }

    /// Values of its output per row; of pairs both.
    pub fn outputs(&self) -> usize {
        self.pairs.map_or(self.layers[self.layers.len() - 1].outputs as usize, |pairs| 2 * pairs.outputs)
    }

    /// Whether the fused step supports the goal: one of pairs for a model with pairs, another for one without.
    pub fn takes(&self, goal: &RowGoal) -> bool {
        matches!(goal, RowGoal::Pairs(_)) == self.pairs.is_some()
    }

    /// A training step over batches of `batch` rows of `rows`.
    pub fn training(
        &self,
        info: &Info,
        geometry: Geometry,
        [rows, batch]: [usize; 2],
        steps: usize,
        targets: usize,
    ) -> Fused {
        let tiling = Tiling::of(info, geometry, batch.min(rows), &self.layers);
        let kept = self.pairs.map_or(0, |pairs| pairs.kept_quads() as u32);
        let stride = kept + self.layers.iter().map(|layer| quads(layer.inputs) + quads(layer.outputs)).sum::<u32>();
        let tiling = if geometry.is_held && info.tiles() == Tiles::ManySmall {
            tiling.held(info, [tiling.span as u32 * stride, (self.total as u32 / 4).next_multiple_of(8)])
        } else {
            tiling
        };
        let mut params = self.params(rows, stride, tiling);
        let tiles = batch.min(rows).div_ceil(tiling.span);
        params.batch = batch.min(rows) as u32;
        // CPU threads share the parts. There are at least two parts, so that one and two threads give the same bits, and more for large
        // batches, so that the others wait for one part at most if a thread is delayed.
        let shares = info.threads.clamp(2, 64).max((params.batch as usize / 256).min(8));
        let parts = if info.runs_cpu_path() { shares.min(tiles) } else { tiles };
        params.steps = steps as u32;
        params.targets = targets as u32;
        params.parts = parts.max(1) as u32;
        let (activation, pairs) = (self.activation.clone(), self.pairs);
        Fused { params, activation, pairs, tiling, kept: &WORDS, is_packed: false }
    }

    /// The parameters as the CPU path of a prediction reads them: packed once, not in each call. See [`Fused::packed`].
    pub fn packed(&self, info: &Info, parameters: &[f32]) -> Vec<f32> {
        engine::packed(&MlpShape::of(&self.predicting(info, 1, Precision::F32).params, self.pairs), parameters)
    }

    /// Prediction over `rows` rows. Pairs need f32.
    #[track_caller]
    pub fn predicting(&self, info: &Info, rows: usize, precision: Precision) -> Fused {
        assert!(precision == Precision::F32 || self.pairs.is_none(), "mlp: invalid precision for a head: expected f32");
        let of_rows = |rows| Tiling::of(info, Geometry::DEFAULT, rows, &self.layers);
        let tiling = match of_rows(rows) {
            panel if panel.lanes_per_part == 1 => panel,
            _ => of_rows(64),
        };
        let mut params = self.params(rows, 2 * quads(widest(&self.layers)), tiling);
        params.parts = rows.div_ceil(tiling.span).clamp(1, tiling.parts) as u32;
        Fused {
            params,
            activation: self.activation.clone(),
            pairs: self.pairs,
            tiling,
            kept: ScratchFormat::of(info, precision),
            is_packed: false,
        }
    }

    fn params(&self, rows: usize, stride: u32, tiling: Tiling) -> Params {
        let mut params: Params = bytemuck::Zeroable::zeroed();
        params.rows = rows as u32;
        params.inputs = self.layers[0].inputs;
        params.outputs = self.layers[self.layers.len() - 1].outputs;
        params.total = self.total as u32;
        params.depth = self.layers.len() as u32;
        params.span = tiling.span as u32;
        params.stride = stride;
        if let Some(pairs) = &self.pairs {
            pairs.fill(&mut params);
        }
        for (slot, layer) in params.layers.iter_mut().zip(&self.layers) {
            *slot = [layer.inputs, layer.outputs, layer.weight, layer.bias];
        }
        params
    }
}
