//! The CPU path: tiles of rows through the program in f32. Sums over a tile are in f32, one for each lane of a vector, sums of tiles in f64.

#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{Params, Residuals, groups};
use crate::device::Call;
use crate::kernels::common;
use crate::program::slices::{Memory, Registers, Source};
use crate::simd::{self, each, fma, widened};

/// Rows computed at a time.
const TILE: usize = 512;
/// Derivatives below 2^-63 count as 0: f32 does not hold their squares, and processors take many times longer for products of that size.
const TINY: f32 = f32::from_bits(64 << 23);
/// The smallest factor of JᵀJ by a robust loss.
const LEAST_FACTOR: f32 = f64::EPSILON as f32;

pub(super) fn run(call: Call<'_>) {
    let params: Params = call.params();
    let residuals: &Residuals = call.body();
    let (data, scalars) = (call.floats(0), call.floats(1));
    let columns: Vec<&[f32]> =
        data.chunks_exact((params.stride as usize).max(1)).take(residuals.data_columns()).collect();
    let [sums, bad] = call.outputs else { unreachable!("normal has two outputs") };
    let sums: &mut [f32] = bytemuck::cast_slice_mut(sums);
    let (rows, per_group) = (params.rows as usize, params.per_group as usize);
    let pieces = sums.chunks_exact_mut(residuals.size()).zip(bad.chunks_exact_mut(2)).enumerate();
    common::each(pieces.take(groups(rows)), call.pool, |(group, (sums, bad))| {
        let mut words = [&residuals.program].into_iter().chain(&residuals.loss).map(Registers::<f32>::words);
        let [mut registers, mut of_loss] = [(); 2].map(|()| Memory::take(words.next().unwrap_or_default()));
        let mut tile = Tile {
            residuals,
            scale: params.scale,
            registers: Registers::new(&residuals.program, registers.words()),
            of_loss: residuals.loss.as_ref().map(|loss| Registers::new(loss, of_loss.words())),
            scalars: scalars[..residuals.scalars()].iter().flat_map(|&value| [value; TILE]).collect(),
            r: vec![0.0; TILE],
            z: vec![0.0; TILE],
            derivatives: vec![0.0; TILE * residuals.parameters()],
            sums: vec![0.0; residuals.size()],
            bad: [0, u32::MAX],
        };
        let [first, last] = [group, group + 1].map(|group| params.first as usize + rows.min(group * per_group));
        for start in (first..last).step_by(TILE) {
            tile.add(&columns, start..last.min(start + TILE));
        }
        sums.iter_mut().zip(&tile.sums).for_each(|(out, &sum)| *out = sum as f32);
        bad.copy_from_slice(&tile.bad);
    });
}

/// Memory for the rows of a tile, and the sums of a group.
struct Tile<'a> {
    residuals: &'a Residuals,
    scale: f32,
    registers: Registers<'a, f32>,
    of_loss: Option<Registers<'a, f32>>,
    /// [scalars, TILE].
    scalars: Vec<f32>,
    r: Vec<f32>,
    /// (r / s)².
    z: Vec<f32>,
    /// [parameters, TILE]: derivatives, where they are not as the program computes them.
    derivatives: Vec<f32>,
    sums: Vec<f64>,
    /// Number and first of the rows that are not finite.
    bad: [u32; 2],
}

impl Tile<'_> {
    /// Adds the sums over some rows of the data's columns.
    fn add(&mut self, columns: &[&[f32]], rows: Range<usize>) {
        let (residuals, count) = (self.residuals, rows.len());
        let (program, given) = (&residuals.program, residuals.scalars());
        let scalars = &self.scalars;
        let source = |at: usize| match at.checked_sub(given) {
            None => Source::Slice(&scalars[TILE * at..][..count]),
            Some(column) => Source::Slice(&columns[column][rows.clone()]),
        };
        program.evaluate(count, &mut self.registers, &source);
        let value = |result: usize| program.value(result, count, &self.registers, &source);
        let (y, r) = (&columns[residuals.columns][rows.clone()], &mut self.r[..count]);
        widened(|| r.iter_mut().zip(value(0)).zip(y).for_each(|((r, f), y)| *r = f - y));
        let mut slopes: Vec<&[f32]> = (1..program.results.len()).map(value).collect();
        let is_copied = residuals.is_weighted
            || residuals.loss.is_some()
            || slopes.iter().copied().chain([&*r]).any(|row| !is_usual(row));
        if is_copied {
            for (row, slope) in self.derivatives.chunks_exact_mut(TILE).zip(&slopes) {
                row[..count].copy_from_slice(slope);
            }
            if residuals.is_weighted {
                let weights = &columns[residuals.columns + 1][rows.clone()];
                weigh(weights, r);
                self.derivatives.chunks_exact_mut(TILE).for_each(|row| weigh(weights, &mut row[..count]));
            }
            remove_bad(r, &mut self.derivatives, rows.start, &mut self.bad);
        }
        let squares = widened(|| common::sum_of(r, |r| r * r));
        let mut cost = 0.5 * squares;
        if let (Some(loss), Some(registers)) = (&residuals.loss, &mut self.of_loss) {
            let (scale, z) = (self.scale, &mut self.z[..count]);
            widened(|| z.iter_mut().zip(&*r).for_each(|(z, r)| *z = (r / scale) * (r / scale)));
            let source = |_| Source::Slice(&*z);
            loss.evaluate(count, registers, &source);
            let [rho, slope, bend] = [0, 1, 2].map(|result| loss.value(result, count, registers, &source));
            cost = 0.5 * f64::from(scale) * f64::from(scale) * widened(|| common::sum(rho));
            rescale([slope, bend], r, &mut self.derivatives);
        }
        if is_copied {
            self.derivatives.chunks_exact_mut(TILE).for_each(|row| remove_tiny(&mut row[..count]));
            slopes = self.derivatives.chunks_exact(TILE).map(|row| &row[..count]).collect();
        }
        slopes.push(r);
        let (products, rest) = self.sums.split_at_mut(residuals.size() - 2);
        simd::dispatch(Products { rows: &slopes, sums: products });
        rest[0] += squares;
        rest[1] += cost;
    }
}

fn weigh(weights: &[f32], row: &mut [f32]) {
    widened(|| row.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight));
}

/// Whether all values are finite and either 0 or not tiny: their bits wrap around below those of `TINY`, and 0 is taken for it.
fn is_usual(row: &[f32]) -> bool {
    simd::dispatch(Largest(row)) < f32::INFINITY.to_bits() - TINY.to_bits()
}

struct Largest<'a>(&'a [f32]);

impl WithSimd for Largest<'_> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> u32 {
        let mut largest = 0;
        for value in self.0 {
            let size = value.to_bits() & 0x7fff_ffff;
            largest = largest.max(if size == 0 { 0 } else { size.wrapping_sub(TINY.to_bits()) });
        }
        largest
    }
}

/// Replaces tiny values by 0.
fn remove_tiny(row: &mut [f32]) {
    widened(|| row.iter_mut().for_each(|value| *value = if value.abs() < TINY { 0.0 } else { *value }));
}

fn are_finite(row: &[f32]) -> bool {
    widened(|| row.iter().fold(0, |most, value| most.max(value.to_bits() & 0x7fff_ffff))) < f32::INFINITY.to_bits()
}

/// Replaces rows that are not finite by 0 and counts them; `start` is the place of the first row.
fn remove_bad(r: &mut [f32], derivatives: &mut [f32], start: usize, bad: &mut [u32; 2]) {
    let count = r.len();
    if are_finite(r) && derivatives.chunks_exact(TILE).all(|row| are_finite(&row[..count])) {
        return;
    }
    for at in 0..count {
        if !r[at].is_finite() || derivatives.chunks_exact(TILE).any(|row| !row[at].is_finite()) {
            *bad = [bad[0] + 1, bad[1].min((start + at) as u32)];
            r[at] = 0.0;
            derivatives.chunks_exact_mut(TILE).for_each(|row| row[at] = 0.0);
        }
    }
}

/// Rescales rows by the slope of a robust loss, ρ', and ρ' + 2 z ρ''.
fn rescale([slope, bend]: [&[f32]; 2], r: &mut [f32], derivatives: &mut [f32]) {
    let mut factors = [0.0; TILE];
    let factors = &mut factors[..r.len()];
    widened(|| {
        for (((factor, r), slope), bend) in factors.iter_mut().zip(r).zip(slope).zip(bend) {
            *factor = bend.max(LEAST_FACTOR).sqrt();
            *r *= slope / *factor;
        }
    });
    derivatives.chunks_exact_mut(TILE).for_each(|row| weigh(factors, &mut row[..factors.len()]));
}

/// Adds the products of all pairs of rows but the last's own, up to eight at a time.
struct Products<'a> {
    rows: &'a [&'a [f32]],
    sums: &'a mut [f64],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, sums } = self;
        let mut at = 0;
        for (i, row) in rows[..rows.len() - 1].iter().enumerate() {
            let (eights, others) = rows[i..].as_chunks::<8>();
            for eight in eights {
                add_dots(simd, row, *eight, &mut sums[at..]);
                at += 8;
            }
            let (fours, others) = others.as_chunks::<4>();
            for four in fours {
                add_dots(simd, row, *four, &mut sums[at..]);
                at += 4;
            }
            for other in others {
                add_dots(simd, row, [*other], &mut sums[at..]);
                at += 1;
            }
        }
    }
}

/// Adds Σ a b for each b to the first sums: lanes of a vector in f32, joined in f64.
#[inline(always)]
fn add_dots<S: Simd, const N: usize>(simd: S, a: &[f32], b: [&[f32]; N], sums: &mut [f64]) {
    let (vectors, rest) = S::as_simd_f32s(a);
    let mut lanes: [S::f32s; N] = simd::vectors();
    let mut of_b: [&[S::f32s]; N] = [&[]; N];
    each!(k < N {
        of_b[k] = &S::as_simd_f32s(b[k]).0[..vectors.len()];
    });
    for (at, &vector) in vectors.iter().enumerate() {
        each!(k < N {
            lanes[k] = fma(simd, vector, of_b[k][at], lanes[k]);
        });
    }
    each!(k < N {
        for &lane in bytemuck::cast_slice::<S::f32s, f32>(&[lanes[k]]) {
            sums[k] += f64::from(lane);
        }
        for (a, b) in rest.iter().zip(&b[k][a.len() - rest.len()..]) {
            sums[k] += f64::from(a * b);
        }
    });
}
