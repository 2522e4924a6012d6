//! What tells the rows of a fit from others.

use meromorph::fit::FitRows;
use sha2::{Digest, Sha256};

/// Adds all numbers and levels to a digest.
pub(super) fn digest(rows: &FitRows<'_>, digest: &mut Sha256) {
    if let Some(fingerprint) = &rows.fingerprint {
        digest.update(fingerprint);
        return;
    }
    for column in rows.columns.iter().chain([&rows.y]).chain(&rows.sigma).chain(&rows.sigma_x) {
        digest.update(mixed(column));
    }
    for levels in &rows.levels {
        digest.update(levels.names.join("\n"));
        digest.update(bytemuck::cast_slice::<u32, u8>(&levels.codes));
    }
}

/// All bits of numbers, mixed: a digest of all bytes would take longer than a short fit.
fn mixed(values: &[f64]) -> Vec<u8> {
    let mut lanes = [values.len() as u64, 1, 2, 3];
    let (blocks, rest) = values.as_chunks::<4>();
    let mut last = [0.0; 4];
    last[..rest.len()].copy_from_slice(rest);
    for block in blocks.iter().chain([&last]) {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = (*lane ^ value.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
    lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect()
}
