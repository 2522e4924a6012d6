//! How the work of the fused kernels is cut for a device, and in what it keeps activations.

use super::{Layer, Precision, widest};
use crate::device::{Info, Tiles};

/// How the work is cut for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    /// Rows of a part.
    pub span: usize,
    /// Parts that are predicted at a time, at most.
    pub parts: usize,
    /// Invocations of a workgroup.
    pub workgroup: u32,
    /// Invocations that share a part.
    pub team: u32,
    /// How they make products.
    products: &'static Products,
}

/// The fragments of a kernel's products, forwards and for the way back.
#[derive(Debug, PartialEq, Eq)]
struct Products([&'static str; 2], [&'static str; 2]);

/// Register tiles of 4 x 4, by a team.
static SMALL: Products = Products(
    [crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_4x4")],
    [crate::wgsl!("common/mlp_gradient"), crate::wgsl!("common/mlp_tile_4x4_backward")],
);
/// Register tiles of 16 x 8, by a team.
static LARGE: Products = Products(
    [crate::wgsl!("common/mlp_block"), crate::wgsl!("common/mlp_tile_16x8")],
    [crate::wgsl!("common/mlp_gradient"), crate::wgsl!("common/mlp_tile_16x8_backward")],
);
/// A matrix that stays in registers, 32 x 64, by each invocation for its own rows.
static PANEL: Products =
    Products([crate::wgsl!("common/mlp_panel"), ""], [crate::wgsl!("common/mlp_panel_backward"), ""]);

impl Tiling {
    /// MethodResult. llvmpipe wants one workgroup per core, one SIMD group wide, with large register tiles. SwiftShader wants loads at
    /// known addresses and an invocation to have a part to itself: as few as keep its cores busy, for each fills the panels anew, in
    /// turns of as many rows each, for the last would have few cores busy. A real GPU wants many small tiles instead.
    pub(super) fn of(info: &Info, rows: usize, layers: &[Layer]) -> Self {
        let few = Self {
            span: rows.div_ceil(2).next_multiple_of(16).clamp(16, 128),
            parts: 256,
            workgroup: 8,
            team: 8,
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
            return Self { span, parts: 64, workgroup: 4, team: 1, products: &PANEL };
        }
        if tiles == Tiles::FewLarge {
            Self { products: &LARGE, ..few }
        } else {
            Self { span: 16, workgroup: 64, team: 64, ..few }
        }
    }

    /// Its fragments; prediction needs no way back.
    pub(super) fn wgsl(self, is_training: bool) -> String {
        let Self { workgroup, team, products: Products(forwards, backwards), .. } = self;
        let mut text = format!("const WORKGROUP: u32 = {workgroup}u;\nconst TEAM: u32 = {team}u;\n");
        let backwards = if is_training { &backwards[..] } else { &[] };
        for fragment in forwards.iter().chain(backwards) {
            text.push_str(fragment);
            text.push('\n');
        }
        text
    }
}

/// What scratch keeps a quad as: its words, and how the kernel says it.
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
