//! How the work of the fused kernels is split for a device, and how scratch stores activations.

use super::{Layer, Precision, widest};
use crate::device::{Info, Tiles};

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
    /// The fragments for matrix products.
    products: &'static Products,
}

/// The fragments of a kernel's matrix products: forward, and backward.
#[derive(Debug, PartialEq, Eq)]
struct Products([&'static str; 2], [&'static str; 2]);

/// Register tiles of 4 x 4, computed by several invocations.
static SMALL: Products = Products(
    [crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_4x4")],
    [crate::wgsl!("common/mlp_gradient"), crate::wgsl!("common/mlp_tile_4x4_backward")],
);
/// Register tiles of 16 x 8, computed by several invocations.
static LARGE: Products = Products(
    [crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_16x8")],
    [crate::wgsl!("common/mlp_gradient"), crate::wgsl!("common/mlp_tile_16x8_backward")],
);
/// A 32 x 64 matrix that stays in registers; each invocation multiplies its own rows by it.
static PANEL: Products =
    Products([crate::wgsl!("common/panel", "common/mlp_panel"), ""], [crate::wgsl!("common/mlp_panel_backward"), ""]);

impl Tiling {
    /// Measured. llvmpipe is fastest with one workgroup per core, one SIMD group wide, and large register tiles. SwiftShader is fastest with
    /// loads at known addresses and one invocation per part: only as many parts as keep its cores busy, since each part fills the panels
    /// again, and rounds of equal size, since a short last round would leave cores idle. A real GPU is fastest with many small tiles.
    pub(super) fn of(info: &Info, rows: usize, layers: &[Layer]) -> Self {
        let few = Self {
            span: rows.div_ceil(2).next_multiple_of(16).clamp(16, 128),
            parts: 256,
            workgroup: 8,
            lanes_per_part: 8,
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
            return Self { span, parts: 64, workgroup: 4, lanes_per_part: 1, products: &PANEL };
        }
        if tiles == Tiles::FewLarge {
            Self { products: &LARGE, ..few }
        } else {
            Self { span: 16, workgroup: 64, lanes_per_part: 64, ..few }
        }
    }

    /// Its fragments; without the backward ones for prediction.
    pub(super) fn wgsl(self, is_training: bool) -> String {
        let Self { workgroup, lanes_per_part, products: Products(forwards, backwards), .. } = self;
        let mut text =
            format!("const WORKGROUP: u32 = {workgroup}u;\nconst LANES_PER_PART: u32 = {lanes_per_part}u;\n");
        let backwards = if is_training { &backwards[..] } else { &[] };
        for fragment in forwards.iter().chain(backwards) {
            text.push_str(fragment);
            text.push('\n');
        }
        text
    }
}

/// Storage format of a quad in scratch: its number of words, and its fragments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScratchFormat(pub usize, pub &'static [&'static str]);

pub(super) static WORDS: ScratchFormat = ScratchFormat(4, &[crate::wgsl!("common/kept_f32")]);
static HALVES: ScratchFormat = ScratchFormat(2, &[crate::wgsl!("common/kept_f16"), crate::wgsl!("common/halves")]);
static PACKED: ScratchFormat = ScratchFormat(2, &[crate::wgsl!("common/kept_packed"), crate::wgsl!("common/halves")]);

impl ScratchFormat {
    pub(super) fn of(info: &Info, precision: Precision) -> &'static Self {
        match precision {
            Precision::F32 => &WORDS,
            Precision::F16 if info.features.iter().any(|name| name == "f16") => &HALVES,
            Precision::F16 => &PACKED,
        }
    }
}
