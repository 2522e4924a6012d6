//! The fused multi-layer perceptron: which models it supports, and the parameters that its three kernels share.
//! `mlp_step` and `mlp_forward` are its kernels; `engine` and the modules it uses are their CPU path.

pub mod cases;
pub(super) mod engine;
mod formula;
pub mod goals;
mod head;
mod head_cases;
mod head_tile;
mod loss;
mod pack;
mod pair_terms;
mod pairs;
mod plan;
mod tile;
mod tiling;

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

pub use super::mlp_forward::dispatch as forward;
pub use super::mlp_step::dispatch as step;
use crate::device::{Body, Dispatch, Geometry, Info, SharedBody, Tiles};
use crate::params;
use crate::program::Curve;
use crate::program::slices::Registers;
pub(super) use formula::Sweep;
pub use head::{Basis, Denominators, Head, HeadForm, MAX_DEGREE, PairNormalization};
pub use pairs::PairLoss;
pub use plan::{Layer, MAX_LAYERS};
use tiling::{ScratchFormat, Tiling, WORDS};

/// The widest layer that the fused kernels support on a device.
pub fn max_width(info: &Info) -> usize {
    if info.runs_cpu_path() { 1024 } else { 128 }
}

/// Loss function of a training step.
#[derive(Clone, Debug, PartialEq)]
pub enum Objective {
    /// The mean over the outputs of a function of prediction and target.
    Pointwise(Arc<Curve>),
    /// Cross-entropy of logits against a class index, with label smoothing. Class weights come with the data; each multiplies the rows of its
    /// class, whatever the smoothing.
    CrossEntropy {
        /// Part of the target that is spread evenly over the classes, in [0, 1).
        smoothing: f32,
    },
    /// A loss of pairs (numerator, denominator) against target pairs.
    Pairs(PairLoss),
}

impl Objective {
    /// Words of registers for its formula on the CPU.
    fn register_words(&self) -> usize {
        if let Self::Pointwise(curve) = self { Registers::<f32>::words(&curve.sloped) } else { 0 }
    }

    fn registers<'a>(&self, memory: &'a mut [f32]) -> Registers<'a, f32> {
        if let Self::Pointwise(curve) = self { Registers::new(&curve.sloped, memory) } else { Registers::none() }
    }
}

params! {
    /// A layer is (inputs, outputs, offset of its weight, offset of its bias), in words of the flat parameters.
    /// `span` is a part's rows; `stride` is a row's scratch in quads of words. From `gamma` on the fields belong to
    /// projective heads and pair losses; `shift` is added to each denominator.
    pub struct Params {
        rows: u32,
        batch: u32,
        steps: u32,
        parts: u32,
        inputs: u32,
        outputs: u32,
        targets: u32,
        total: u32,
        depth: u32,
        span: u32,
        stride: u32,
        smoothing: f32,
        gamma: f32,
        shift: f32,
        scale: f32,
        tau_low: f32,
        tau_high: f32,
        implicit: f32,
        chordal: f32,
        decoded: f32,
        margin: f32,
        sign: f32,
        sign_within: f32,
        numerator: u32,
        denominator: u32,
        seed_low: u32,
        seed_high: u32,
        stream: u32,
        layers: [[u32; 4]; MAX_LAYERS],
    }
}

/// Storage type of a prediction's inputs, activations and outputs; weights and sums are f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// The only type on the CPU.
    #[default]
    F32,
    /// Half the memory on a GPU: its f16 type if it has one, otherwise two packed into a word. If a row exceeds ±65,504, some of its outputs are 1e38.
    F16,
}

impl Precision {
    /// All precisions, with their names.
    pub const ALL: [(&'static str, Self); 2] = [("f32", Self::F32), ("f16", Self::F16)];
}

/// A model that the fused kernels support.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    activation: Arc<Curve>,
    layers: Vec<Layer>,
    head: Option<Head>,
    total: usize,
}

impl Mlp {
    /// Builds it from layer sizes and offsets; `None` if it is too deep.
    pub fn new(activation: Arc<Curve>, layers: Vec<Layer>, total: usize) -> Option<Self> {
        (1..=MAX_LAYERS).contains(&layers.len()).then_some(Self { activation, layers, head: None, total })
    }

    /// Whether a layer's weights and the activations stay in the cache, so that the fused step is the fastest for any batch.
    pub fn is_narrow(&self) -> bool {
        widest(&self.layers) <= 128
    }

    /// Whether its layers are narrow enough for the device.
    pub fn fits(&self, info: &Info) -> bool {
        widest(&self.layers) as usize <= max_width(info)
    }

    /// The same with a projective head on top, whose features are the last layer's outputs.
    #[track_caller]
    pub fn with_head(self, head: Head) -> Self {
        let width = self.layers[self.layers.len() - 1].outputs as usize;
        assert_eq!(width, head.features(), "mlp: number of outputs of the last layer differs from the head's features");
        Self { head: Some(head), ..self }
    }

    /// Whether the fused step supports the loss: with a head, only pair losses that are computed per row.
    pub fn takes(&self, objective: &Objective) -> bool {
        match objective {
            Objective::Pairs(pairs) => self.head.is_some() && pairs.is_by_row(),
            _ => self.head.is_none(),
        }
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
        let kept = self.head.map_or(0, |head| head.kept_quads() as u32);
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
        let (activation, head) = (self.activation.clone(), self.head);
        Fused { params, activation, head, tiling, kept: &WORDS, is_packed: false }
    }

    /// The parameters as the CPU path of a prediction reads them: packed once, not in each call. See [`Fused::packed`].
    pub fn packed(&self, info: &Info, parameters: &[f32]) -> Vec<f32> {
        engine::packed(&engine::shape(&self.predicting(info, 1, Precision::F32).params, self.head), parameters)
    }

    /// Prediction over `rows` rows. A head needs f32.
    #[track_caller]
    pub fn predicting(&self, info: &Info, rows: usize, precision: Precision) -> Fused {
        assert!(precision == Precision::F32 || self.head.is_none(), "mlp: invalid precision for a head: expected f32");
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
            head: self.head,
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
        if let Some(head) = &self.head {
            head.fill(&mut params);
        }
        for (slot, layer) in params.layers.iter_mut().zip(&self.layers) {
            *slot = [layer.inputs, layer.outputs, layer.weight, layer.bias];
        }
        params
    }
}

fn widest(layers: &[Layer]) -> u32 {
    layers.iter().map(|layer| layer.inputs.max(layer.outputs)).max().unwrap_or(1)
}

fn quads(words: u32) -> u32 {
    words.div_ceil(4)
}

/// The parameters of one fused launch.
#[derive(Clone, Debug)]
pub struct Fused {
    pub(super) params: Params,
    activation: Arc<Curve>,
    head: Option<Head>,
    tiling: Tiling,
    kept: &'static ScratchFormat,
    is_packed: bool,
}

impl Fused {
    /// The body that its kernel is specialised with.
    pub(super) fn choice(&self, objective: Option<Objective>) -> SharedBody {
        Rc::new(Choice {
            activation: self.activation.clone(),
            objective,
            head: self.head,
            tiling: self.tiling,
            kept: self.kept,
            is_packed: self.is_packed,
        })
    }

    /// A prediction whose parameters come from [`Mlp::packed`], if `is_packed`.
    pub fn packed(self, is_packed: bool) -> Self {
        Self { is_packed, ..self }
    }

    /// Sets the key and the stream of the random thresholds.
    pub fn drawing(mut self, seed: u64, stream: u32) -> Self {
        [self.params.seed_low, self.params.seed_high, self.params.stream] = [seed as u32, (seed >> 32) as u32, stream];
        self
    }

    /// Number of rows of the partial gradients.
    pub fn parts(&self) -> usize {
        self.params.parts as usize
    }

    /// Whether a workgroup keeps scratch and parameters in its own memory.
    pub fn is_held(&self) -> bool {
        self.tiling.is_held()
    }

    /// Words of scratch the launch needs on a device.
    pub fn scratch_words(&self, info: &Info) -> usize {
        let params = &self.params;
        if info.runs_cpu_path() {
            return if params.steps == 0 {
                1
            } else {
                plan::scratch_words(&engine::shape(params, self.head), info.threads)
            };
        }
        if self.is_held() {
            return 1;
        }
        self.kept.0 * params.parts as usize * params.span as usize * params.stride as usize
    }
}

/// The body of the fused kernels: fragments for the devices, choices for the CPU.
pub struct Choice {
    pub(super) activation: Arc<Curve>,
    pub(super) objective: Option<Objective>,
    pub(super) head: Option<Head>,
    pub(super) is_packed: bool,
    tiling: Tiling,
    kept: &'static ScratchFormat,
}

impl Choice {
    /// Workgroups of a fused launch.
    pub(super) fn grid(dispatch: &Dispatch) -> [u32; 3] {
        let body: &dyn Any = dispatch.body.as_deref().expect("a fused launch has a choice");
        let Tiling { workgroup, lanes_per_part, .. } =
            body.downcast_ref::<Self>().expect("its body is a choice").tiling;
        [(dispatch.params::<Params>().parts * lanes_per_part).div_ceil(workgroup), 1, 1]
    }
}

/// Words of parameters up to which the sizes of a step are worth compiling in: half a millisecond of compilation each.
const MOST_UNROLLED: u32 = 16_384;

impl Body for Choice {
    fn wgsl(&self) -> String {
        let ScratchFormat(_, kept) = self.kept;
        let mut fragments: Vec<String> = kept.iter().map(|&fragment| fragment.to_owned()).collect();
        fragments.push(self.tiling.wgsl(self.objective.is_some()));
        let curve = if let Some(Objective::Pointwise(curve)) = &self.objective { Some(&**curve) } else { None };
        fragments.extend(formula::wgsl(&self.activation, curve));
        match (&self.head, &self.objective) {
            (Some(head), objective) => fragments.extend(head.wgsl(objective.as_ref())),
            (None, Some(objective)) => {
                if let Objective::CrossEntropy { .. } = objective {
                    fragments.push(crate::wgsl!("common/loss_cross_entropy").to_owned());
                }
                fragments.push(crate::wgsl!("common/coefficients_none").to_owned());
            }
            (None, None) => fragments.push(crate::wgsl!("common/output_plain").to_owned()),
        }
        let mut once: Vec<String> = Vec::new();
        for fragment in fragments {
            if !once.contains(&fragment) {
                once.push(fragment);
            }
        }
        once.join("\n")
    }

    fn sizes(&self, params: &[u32]) -> &'static [&'static str] {
        let Params { total, .. } = bytemuck::pod_read_unaligned(bytemuck::cast_slice(params));
        if total > MOST_UNROLLED {
            return &[];
        }
        &["inputs", "outputs", "targets", "total", "depth", "span", "stride", "layers"]
    }
}
