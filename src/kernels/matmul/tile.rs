//! How a product is split over workgroups: by the device, by its sizes and by what its operands are.

use super::operand::Lines;
use crate::device::{Info, Tiles};

/// The part of the result that a workgroup computes, and the fragment that computes it.
pub(super) struct Tile {
    pub rows: u32,
    pub columns: u32,
    pub wgsl: &'static str,
    pub workgroup: u32,
    pub reads: Reads,
}

/// What an invocation of a tile reads of the operands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reads {
    /// Blocks of 4 x 4.
    Blocks,
    /// Single rows of the left operand, four steps at a time.
    Rows,
    /// Four halves of a line as it is stored. Such a tile multiplies cooperative matrices.
    Halves,
}

/// Tiles staged in workgroup memory.
static STAGED: Tile =
    Tile { rows: 64, columns: 64, wgsl: crate::wgsl!("common/matmul_tile_8x8"), workgroup: 64, reads: Reads::Blocks };
/// One SIMD group with large register tiles that are read from storage.
static LARGE: Tile =
    Tile { rows: 32, columns: 64, wgsl: crate::wgsl!("common/matmul_tile_16x16"), workgroup: 8, reads: Reads::Blocks };
/// A panel of the right operand that stays in registers.
static PANEL: Tile = Tile {
    rows: 256,
    columns: 32,
    wgsl: crate::wgsl!("common/panel", "common/matmul_panel"),
    workgroup: 4,
    reads: Reads::Rows,
};

/// Cooperative matrices of halves, which tensor cores multiply.
static MATRICES: Tile = Tile {
    rows: 128,
    columns: 128,
    wgsl: crate::wgsl!("common/matmul_tile_matrices"),
    workgroup: 256,
    reads: Reads::Halves,
};

/// The same for few results: one quarter of the tile, and of the invocations.
static SMALL_MATRICES: Tile = Tile { rows: 64, columns: 64, workgroup: 64, ..MATRICES };

/// Small tiles whose invocations share the steps of k.
static SPLIT: Tile = Tile {
    rows: 16,
    columns: 16,
    wgsl: crate::wgsl!("common/matmul_tile_split"),
    workgroup: 128,
    reads: Reads::Blocks,
};

/// Rows that are worth filling a panel for.
const PANEL_ROWS: u32 = 64;
/// Fewer staged tiles leave most of a GPU idle. An estimate: laptop GPUs have 16 to 40 multiprocessors.
const FEW_TILES: u32 = 32;
/// Tiles of cooperative matrices that keep a large GPU busy: an H100 has 132 multiprocessors.
const MANY_TILES: u32 = 128;
/// Steps of k that a tile of cooperative matrices stages at a time.
const STAGED_STEPS: u32 = 32;
/// Steps of k that are worth sharing.
const MANY_STEPS: u32 = 128;

impl Tile {
    /// Measured. On a software adapter loads go lane by lane and barriers are expensive, so large register tiles are over twice as fast
    /// there as staged ones. SwiftShader is faster again with panels, if there are enough rows. Other GPUs split the steps of k where
    /// there are few results, as with small batches of wide layers.
    pub(super) fn of(info: &Info, [batch, m, k, n]: [u32; 4]) -> &'static Self {
        let staged = || STAGED.count([batch, m, n]);
        match info.tiles() {
            Tiles::PerInvocation if m >= PANEL_ROWS => &PANEL,
            _ if info.is_software => &LARGE,
            _ if k >= MANY_STEPS && staged() < FEW_TILES => &SPLIT,
            _ => &STAGED,
        }
    }

    /// The tile of cooperative matrices, if the device has them.
    pub(super) fn of_matrices(info: &Info, [batch, m, _, n]: [u32; 4]) -> Option<&'static Self> {
        if !info.has_matrices() {
            return None;
        }
        let is_large = MATRICES.count([batch, m, n]) >= MANY_TILES;
        Some(if is_large { &MATRICES } else { &SMALL_MATRICES })
    }

    /// Tiles of a result [batch, m, n].
    fn count(&self, [batch, m, n]: [u32; 3]) -> u32 {
        batch.saturating_mul(m.div_ceil(self.rows)).saturating_mul(n.div_ceil(self.columns))
    }

    /// The directives and constants that come before its fragment. Lines of halves are staged as they are stored.
    pub(super) fn head(&self, [a, b]: [Lines; 2]) -> String {
        let Self { rows, columns, workgroup, .. } = *self;
        let (mut directives, mut sizes) = ("", vec![("ROWS", rows), ("COLUMNS", columns), ("WORKGROUP", workgroup)]);
        if self.reads == Reads::Halves {
            directives = "enable f16;\nenable wgpu_cooperative_matrix;\n";
            let [a_lines, a_along] = if a.is_turned { [STAGED_STEPS, rows] } else { [rows, STAGED_STEPS] };
            let [b_lines, b_along] = if b.is_turned { [columns, STAGED_STEPS] } else { [STAGED_STEPS, columns] };
            sizes.extend([("STEPS", STAGED_STEPS), ("A_LINES", a_lines), ("A_FOURS", a_along / 4)]);
            sizes.extend([("B_LINES", b_lines), ("B_FOURS", b_along / 4)]);
        }
        let sizes: String = sizes.into_iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n")).collect();
        [directives, &sizes].concat()
    }
}
