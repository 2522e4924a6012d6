//! Masked scalar ops in vector lanes: y[i] = f(a[i], b[i]), ⊥ where f is not defined. In registers ⊥ is any non-finite value (IEEE
//! arithmetic propagates most of them); in memory it is a bit, 32 elements per word, and the value under it is 0.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "lanes are addressed by pointer inside checked lengths")]

use crate::simd::{at_most, dispatch, elementary, load, store};
use pulp::{Simd, WithSimd};

/// Elements per word of bits.
pub(crate) const BLOCK: usize = 32;

/// Values of a tile and their ⊥ bits; values that are not finite are ⊥ as well.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The values.
    pub values: &'a [f32],
    /// A bit for each value.
    pub bits: &'a [u32],
}

/// A masked scalar op on one vector. Arguments and value are not finite exactly where they are ⊥.
trait Masked<const N: usize> {
    fn at<S: Simd>(simd: S, arguments: [S::f32s; N]) -> S::f32s;
}

macro_rules! lanes {
    ($($name:ident: |$simd:ident, [$($argument:ident),+]| $body:expr;)*) => {
        /// The vectorised masked form of a scalar op.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Lanes {
            $(#[doc = concat!("The operation `", stringify!($name), "`.")] $name,)*
        }

        $(struct $name;

        impl Masked<{ [$(stringify!($argument)),+].len() }> for $name {
            #[inline(always)]
            fn at<S: Simd>($simd: S, [$($argument),+]: [S::f32s; [$(stringify!($argument)),+].len()]) -> S::f32s {
                $body
            }
        })*

        impl Lanes {
            /// From register to register: ⊥ is a non-finite value.
            #[inline(always)]
            pub fn inner<S: Simd>(self, simd: S, sources: &[Source<'_>], out: &mut [f32]) {
                match self {
                    $(Self::$name => inner::<S, $name, _>(simd, sources, out),)*
                }
            }

            /// From memory to memory: where the value is ⊥, sets its bit and writes 0.
            #[inline(always)]
            pub fn whole<S: Simd>(self, simd: S, sources: &[Source<'_>], out: &mut [f32], bits: &mut [u32]) {
                match self {
                    $(Self::$name => whole::<S, $name, _>(simd, sources, out, bits),)*
                }
            }
        }
    };
}

lanes! {
    Add: |simd, [a, b]| simd.add_f32s(a, b);
    Sub: |simd, [a, b]| simd.sub_f32s(a, b);
    Mul: |simd, [a, b]| simd.mul_f32s(a, b);
    Div: |simd, [a, b]| where_finite(simd, b, simd.div_f32s(a, b));
    Ratio: |simd, [a, b]| {
        // |a| < b² 2^128 holds exactly where a / b and |a| / b² are floats; b² may underflow gradually, and overflow.
        let scale = simd.splat_f32s(18_446_744_073_709_551_616.0);
        let limit = simd.mul_f32s(simd.mul_f32s(simd.mul_f32s(b, b), scale), scale);
        let fits = simd.less_than_f32s(simd.abs_f32s(a), limit);
        where_finite(simd, b, simd.select_f32s(fits, simd.div_f32s(a, b), simd.splat_f32s(f32::NAN)))
    };
    Neg: |simd, [x]| simd.neg_f32s(x);
    Recip: |simd, [x]| where_finite(simd, x, simd.div_f32s(simd.splat_f32s(1.0), x));
    Abs: |simd, [x]| simd.abs_f32s(x);
    Min: |simd, [a, b]| absorbing(simd, a, b, simd.select_f32s(simd.less_than_f32s(b, a), b, a));
    Max: |simd, [a, b]| absorbing(simd, a, b, simd.select_f32s(simd.greater_than_f32s(b, a), b, a));
    Square: |simd, [x]| simd.mul_f32s(x, x);
    Sqrt: |simd, [x]| simd.sqrt_f32s(x);
    Exp: |simd, [x]| {
        let fits = simd.less_than_or_equal_f32s(x, simd.splat_f32s(88.722_83));
        let value = at_most(simd, simd.splat_f32s(f32::MAX), elementary::exp(simd, x));
        where_finite(simd, x, simd.select_f32s(fits, value, simd.splat_f32s(f32::NAN)))
    };
    Ln: |simd, [x]| elementary::ln(simd, x);
}

#[inline(always)]
fn is_finite<S: Simd>(simd: S, x: S::f32s) -> S::m32s {
    simd.less_than_f32s(simd.abs_f32s(x), simd.splat_f32s(f32::INFINITY))
}

/// `y` where `x` is finite, NaN elsewhere.
#[inline(always)]
fn where_finite<S: Simd>(simd: S, x: S::f32s, y: S::f32s) -> S::f32s {
    simd.select_f32s(is_finite(simd, x), y, simd.splat_f32s(f32::NAN))
}

/// `y` where `a` and `b` are finite, NaN elsewhere: subtracts 0 or NaN.
#[inline(always)]
fn absorbing<S: Simd>(simd: S, a: S::f32s, b: S::f32s, y: S::f32s) -> S::f32s {
    simd.sub_f32s(y, simd.add_f32s(simd.sub_f32s(a, a), simd.sub_f32s(b, b)))
}

/// Copies values, with NaN for ⊥.
pub(crate) fn mark(source: Source<'_>, out: &mut [f32]) {
    let whole = out.len() / BLOCK * BLOCK;
    dispatch(Marks { source, out: &mut out[..whole] });
    for (at, out) in out.iter_mut().enumerate().skip(whole) {
        let is_bottom = source.bits[at / BLOCK] >> (at % BLOCK) & 1 == 1;
        *out = if is_bottom { f32::NAN } else { source.values[at] };
    }
}

struct Marks<'a> {
    source: Source<'a>,
    out: &'a mut [f32],
}

impl WithSimd for Marks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        mark_blocks(simd, self.source, self.out);
    }
}

/// `mark` over whole blocks.
#[inline(always)]
pub(crate) fn mark_blocks<S: Simd>(simd: S, source: Source<'_>, out: &mut [f32]) {
    let [source] = checked(&[source], out.len());
    for (at, out) in out.chunks_exact_mut(BLOCK).enumerate() {
        let mut j = 0;
        while j < BLOCK / S::F32_LANES {
            // SAFETY: `checked` saw a block of the source for each of `out`.
            unsafe { store::<S>(out.as_mut_ptr().add(j * S::F32_LANES), marked(simd, &source, at, j)) };
            j += 1;
        }
    }
}

/// Converts values that are non-finite where they are ⊥ to the memory format: ⊥ bits, and 0 under ⊥. Bits past the last value are 0.
pub(crate) fn canonicalize(values: &[f32], out: &mut [f32], bits: &mut [u32]) {
    let whole = values.len() / BLOCK * BLOCK;
    let (head, tail) = out.split_at_mut(whole);
    let (words, last) = bits.split_at_mut(whole / BLOCK);
    dispatch(Canonicalize { values: &values[..whole], out: head, bits: words });
    if let Some(word) = last.first_mut() {
        *word = 0;
        for (at, (out, &value)) in tail.iter_mut().zip(&values[whole..]).enumerate() {
            *word |= u32::from(!value.is_finite()) << at;
            *out = if value.is_finite() { value } else { 0.0 };
        }
    }
}

struct Canonicalize<'a> {
    values: &'a [f32],
    out: &'a mut [f32],
    bits: &'a mut [u32],
}

impl WithSimd for Canonicalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        canonicalize_blocks(simd, self.values, self.out, self.bits);
    }
}

/// `canonicalize` over whole blocks.
#[inline(always)]
pub(crate) fn canonicalize_blocks<S: Simd>(simd: S, values: &[f32], out: &mut [f32], bits: &mut [u32]) {
    let blocks = values.chunks_exact(BLOCK).zip(out.chunks_exact_mut(BLOCK));
    for ((values, out), word) in blocks.zip(bits) {
        let mut packed = Packed::new(simd);
        let mut j = 0;
        while j < BLOCK / S::F32_LANES {
            // SAFETY: a block has all vectors of a block.
            unsafe { packed.canonicalize(simd, load::<S>(values.as_ptr().add(j * S::F32_LANES)), j, out.as_mut_ptr()) };
            j += 1;
        }
        *word = packed.finish(simd);
    }
}

/// Checks that each source of an op has values and bits for `count` values, in whole blocks.
#[inline(always)]
fn checked<'a, const N: usize>(sources: &[Source<'a>], count: usize) -> [Source<'a>; N] {
    let mut all = [sources[0]; N];
    all.copy_from_slice(&sources[..N]);
    for source in &all {
        let is_long = source.values.len() >= count && source.bits.len() * BLOCK >= count;
        assert!(is_long && count.is_multiple_of(BLOCK), "masked: a source is too short");
    }
    all
}

#[inline(always)]
fn whole<S: Simd, F: Masked<N>, const N: usize>(simd: S, sources: &[Source<'_>], values: &mut [f32], bits: &mut [u32]) {
    let sources: [Source<'_>; N] = checked(sources, values.len());
    for (at, (out, word)) in values.chunks_exact_mut(BLOCK).zip(bits).enumerate() {
        let mut packed = Packed::new(simd);
        let mut j = 0;
        while j < BLOCK / S::F32_LANES {
            // Loops, not closures: a closure does not inherit the instruction set, so its operations would become calls.
            let mut arguments = [simd.splat_f32s(0.0); N];
            for (argument, source) in arguments.iter_mut().zip(&sources) {
                // SAFETY: `checked` saw a block of every source for each of the values.
                *argument = unsafe { marked(simd, source, at, j) };
            }
            // SAFETY: `out` is a block long.
            unsafe { packed.canonicalize(simd, F::at(simd, arguments), j, out.as_mut_ptr()) };
            j += 1;
        }
        *word = packed.finish(simd);
    }
}

#[inline(always)]
fn inner<S: Simd, F: Masked<N>, const N: usize>(simd: S, sources: &[Source<'_>], values: &mut [f32]) {
    const { assert!(BLOCK.is_multiple_of(S::F32_LANES)) };
    let sources: [Source<'_>; N] = checked(sources, values.len());
    let mut at = 0;
    while at < values.len() {
        let mut arguments = [simd.splat_f32s(0.0); N];
        for (argument, source) in arguments.iter_mut().zip(&sources) {
            // SAFETY: `checked` saw that all are as long as the values, which are whole vectors.
            *argument = unsafe { load::<S>(source.values.as_ptr().add(at)) };
        }
        // SAFETY: as above.
        unsafe { store::<S>(values.as_mut_ptr().add(at), F::at(simd, arguments)) };
        at += S::F32_LANES;
    }
}

/// Vector `j` of block `at`, NaN where it is ⊥.
///
/// # Safety
/// The source has that block.
#[inline(always)]
unsafe fn marked<S: Simd>(simd: S, source: &Source<'_>, at: usize, j: usize) -> S::f32s {
    // SAFETY: by the caller.
    let (x, word) = unsafe {
        (load::<S>(source.values.as_ptr().add(at * BLOCK + j * S::F32_LANES)), *source.bits.get_unchecked(at))
    };
    simd.select_f32s(unpacked(simd, word, j), simd.splat_f32s(f32::NAN), x)
}

/// Whether masks are bits already (AVX-512): 16 lanes to half a word.
#[inline(always)]
const fn has_bit_masks<S: Simd>() -> bool {
    size_of::<S::m32s>() == 2 && S::F32_LANES == 16
}

/// 1 << i.
static BITS: [u32; BLOCK] = {
    let mut bits = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        bits[i] = 1 << i;
        i += 1;
    }
    bits
};

/// The bits of vector `j` of a block.
#[inline(always)]
fn lane_bits<S: Simd>(simd: S, j: usize) -> S::u32s {
    // SAFETY: the table has a block's bits, `j` counts a block's vectors.
    simd.transmute_u32s_f32s(unsafe { load::<S>(BITS.as_ptr().add(j * S::F32_LANES).cast()) })
}

/// Lanes of vector `j` of a block whose bit in `word` is set.
#[inline(always)]
fn unpacked<S: Simd>(simd: S, word: u32, j: usize) -> S::m32s {
    if has_bit_masks::<S>() {
        let half = (word >> (16 * j)) as u16;
        // SAFETY: such a mask is a word of 16 bits, one per lane, and every bit pattern is valid.
        return unsafe { std::mem::transmute_copy::<u16, S::m32s>(&half) };
    }
    let bits = lane_bits(simd, j);
    simd.equal_u32s(simd.and_u32s(simd.splat_u32s(word), bits), bits)
}

/// The word of bits of a block under construction.
struct Packed<S: Simd> {
    word: u32,
    lanes: S::u32s,
}

impl<S: Simd> Packed<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Self { word: 0, lanes: simd.splat_u32s(0) }
    }

    /// Records the lanes of vector `j` that are not `fine`.
    #[inline(always)]
    fn push(&mut self, simd: S, fine: S::m32s, j: usize) {
        if has_bit_masks::<S>() {
            // SAFETY: as in `unpacked`.
            let half = unsafe { std::mem::transmute_copy::<S::m32s, u16>(&fine) };
            self.word |= u32::from(!half) << (16 * j);
        } else {
            let bad = simd.select_u32s(fine, simd.splat_u32s(0), lane_bits(simd, j));
            self.lanes = simd.or_u32s(self.lanes, bad);
        }
    }

    /// Writes vector `j` of a block at `out`, 0 where it is not finite, and records those lanes.
    ///
    /// # Safety
    /// `out` is a block long.
    #[inline(always)]
    unsafe fn canonicalize(&mut self, simd: S, y: S::f32s, j: usize, out: *mut f32) {
        const { assert!(BLOCK.is_multiple_of(S::F32_LANES)) };
        let fine = is_finite(simd, y);
        self.push(simd, fine, j);
        // SAFETY: by the caller.
        unsafe { store::<S>(out.add(j * S::F32_LANES), simd.select_f32s(fine, y, simd.splat_f32s(0.0))) };
    }

    #[inline(always)]
    fn finish(self, simd: S) -> u32 {
        if has_bit_masks::<S>() {
            return self.word;
        }
        let mut lanes = [0_u32; BLOCK];
        // SAFETY: no vector is longer than a block.
        unsafe { store::<S>(lanes.as_mut_ptr().cast(), simd.transmute_f32s_u32s(self.lanes)) };
        lanes[..S::F32_LANES].iter().fold(0, |word, lane| word | lane)
    }
}
