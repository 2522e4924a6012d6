//! How the work of the fused kernels is split for a device.

use super::params::Layer;
use super::shape::widest;
use crate::device::{Geometry, Info, Tiles};

/// How the work is split for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Rows per part.
    pub span: usize,
    /// Maximal number of parts predicted at a time.
    pub parts: usize,
    /// Invocations of a workgroup.
    pub workgroup: u32,
    /// Invocations that share a part.
    pub lanes_per_part: u32,
    /// Quads of scratch and of parameters in workgroup memory; `None` if both stay in storage.
    held: Option<[u32; 2]>,
    /// The fragments for matrix products.
    products: &'static Products,
}

/// The fragments of a kernel's matrix products: forward, and backward.
#[derive(Debug, PartialEq, Eq)]
struct Products(&'static [&'static str], &'static [&'static str]);

/// Register tiles of 4 x 4, computed by several invocations.
static SMALL: Products = Products(
    &[THETA, crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_4x4")],
    &[
        crate::wgsl!("common/mlp_gradient"),
        crate::wgsl!("common/mlp_tile_4x4_backward"),
        crate::wgsl!("common/mlp_gradient_4x4"),
    ],
);
/// Of 2 x 4: twice as many.
static SLIM: Products = Products(
    &[THETA, crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_2x4")],
    &[
        crate::wgsl!("common/mlp_gradient"),
        crate::wgsl!("common/mlp_tile_2x4_backward"),
        crate::wgsl!("common/mlp_gradient_4x4"),
    ],
);
/// Register tiles of 16 x 8, computed by several invocations.
static LARGE: Products = Products(
    &[THETA, crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_16x8")],
    &[crate::wgsl!("common/mlp_gradient"), crate::wgsl!("common/mlp_tile_16x8_backward")],
);
/// A 32 x 64 matrix that stays in registers; each invocation multiplies its own rows by it.
static PANEL: Products =
    Products(&[crate::wgsl!("common/panel", "common/mlp_panel")], &[crate::wgsl!("common/mlp_panel_backward")]);

/// Reads parameters where they are.
const THETA: &str = crate::wgsl!("common/theta_in_storage");
/// Where the scratch of a training step is.
const IN_STORAGE: &str = crate::wgsl!("common/step_in_storage");
const IN_WORKGROUP: &str = crate::wgsl!("common/step_in_workgroup");

impl Tiling {
    /// Measured. llvmpipe is fastest with one workgroup per core, one SIMD group wide, and large register tiles. SwiftShader is fastest with
    /// loads at known addresses and one invocation per part: only as many parts as keep its cores busy, since each part fills the panels
    /// again, and rounds of equal size, since a short last round would leave cores idle. A real GPU is fastest with many small tiles.
    pub(super) fn of(info: &Info, geometry: Geometry, rows: usize, layers: &[Layer]) -> Self {
        let few = Self {
            span: rows.div_ceil(2).next_multiple_of(16).clamp(16, 128),
            parts: 256,
            workgroup: 8,
            lanes_per_part: 8,
            held: None,
            products: &SMALL,
        };
        let tiles = info.tiles();
        if tiles == Tiles::PerInvocation {
            if widest(layers) > 64 {
                return few;
            }
            let parts = 4 * (rows / 512).clamp(2, 16);
            let turns = rows.div_ceil(parts * 512).max(1);
            let span = rows.div_ceil(parts * turns).next_multiple_of(4).max(16);
            return Self { span, parts: 64, workgroup: 4, lanes_per_part: 1, held: None, products: &PANEL };
        }
        if tiles == Tiles::FewLarge {
            return Self { products: &LARGE, ..few };
        }
        let Geometry { rows: span, lanes, .. } = geometry;
        // No more parts than workgroups of a launch.
        let span = span.max(rows.div_ceil(65_535).next_multiple_of(4) as u32);
        // As many small tiles in a layer of 64 units as there are invocations.
        let products = if 4 * span < lanes { &SLIM } else { &SMALL };
        Self { span: span as usize, workgroup: lanes, lanes_per_part: lanes, products, ..few }
    }

    /// The same with scratch and parameters in workgroup memory, so many quads of each, if the device has that much.
    pub(super) fn held(self, info: &Info, quads: [u32; 2]) -> Self {
        let bytes = 16 * (quads[0] + quads[1]) + 8 * self.workgroup;
        Self { held: (bytes <= info.workgroup_bytes).then_some(quads), ..self }
    }

    /// Whether scratch is in workgroup memory.
    pub(super) fn is_held(self) -> bool {
        self.held.is_some()
    }

    /// Its fragments; without the backward ones for prediction.
    pub(super) fn wgsl(self, is_training: bool) -> String {
        let Self { workgroup, lanes_per_part, held, products: Products(forwards, backwards), .. } = self;
        let mut text =
            format!("const WORKGROUP: u32 = {workgroup}u;\nconst LANES_PER_PART: u32 = {lanes_per_part}u;\n");
        if let Some([scratch, theta]) = held {
            text += &format!("const SCRATCH_QUADS: u32 = {scratch}u;\nconst THETA_QUADS: u32 = {theta}u;\n");
        }
        let memory = held.map_or(IN_STORAGE, |_| IN_WORKGROUP);
        let backwards: &[&str] = if is_training { backwards } else { &[] };
        let fragments = forwards.iter().filter(|&&fragment| held.is_none() || fragment != THETA).chain(backwards);
        for fragment in fragments.chain(is_training.then_some(&memory)) {
            text.push_str(fragment);
            text.push('\n');
        }
        text
    }
}
