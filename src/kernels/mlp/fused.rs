//! A launch of the fused kernels: its parameters, and the body that specialises its kernel.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use super::formula;
use super::pairs::pairing::Pairing;
use super::params::Params;
use super::plan;
use super::row_goal::RowGoal;
use super::scratch::ScratchFormat;
use super::shape::MlpShape;
use super::tiling::Tiling;
use crate::device::{Body, Dispatch, Info, SharedBody};
use crate::program::Curve;

/// The parameters of one fused launch.
#[derive(Clone, Debug)]
pub struct Fused {
    pub(crate) params: Params,
    pub(super) activation: Arc<Curve>,
    pub(super) pairs: Option<Pairing>,
    pub(super) tiling: Tiling,
    pub(super) kept: &'static ScratchFormat,
    pub(super) is_packed: bool,
}

impl Fused {
    /// The body that its kernel is specialised with.
    pub(crate) fn choice(&self, goal: Option<RowGoal>) -> SharedBody {
        Rc::new(Choice {
            activation: self.activation.clone(),
            goal,
            pairs: self.pairs,
            tiling: self.tiling,
            kept: self.kept,
            is_packed: self.is_packed,
        })
    }

    /// A prediction whose parameters come from `Mlp::packed`, if `is_packed`.
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
                plan::scratch_words(&MlpShape::of(params, self.pairs), info.threads)
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
    pub(crate) activation: Arc<Curve>,
    pub(crate) goal: Option<RowGoal>,
    pub(crate) pairs: Option<Pairing>,
    pub(crate) is_packed: bool,
    tiling: Tiling,
    kept: &'static ScratchFormat,
}

impl Choice {
    /// Workgroups of a fused launch.
    pub(crate) fn grid(dispatch: &Dispatch) -> [u32; 3] {
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
        fragments.push(self.tiling.wgsl(self.goal.is_some()));
        let curve = if let Some(RowGoal::Pointwise(curve)) = &self.goal { Some(&**curve) } else { None };
        fragments.extend(formula::wgsl(&self.activation, curve));
        match (&self.pairs, &self.goal) {
            (Some(pairs), Some(RowGoal::Pairs(rule))) => fragments.extend(pairs.wgsl(Some(rule))),
            (Some(pairs), _) => fragments.extend(pairs.wgsl(None)),
            (None, Some(goal)) => {
                if let RowGoal::CrossEntropy { .. } = goal {
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
