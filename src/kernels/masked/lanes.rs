//! One pass of a masked row over a tile: y[i] = f(a[i], b[i]), ⊥ where f is not defined. Inside a tile ⊥ is anything that is not finite
//! (IEEE arithmetic carries most of it by itself); in memory it is a bit, 32 elements a word, over a payload of 0.
#![allow(
    clippy::inline_always,
    reason = "generic over the instruction set: must land inside the function that enables it"
)]
#![allow(unsafe_code, reason = "lanes are addressed by pointer inside checked lengths")]

use crate::kernels::elementary;
use crate::kernels::simd::{at_most, dispatch, load, store};
use pulp::{Simd, WithSimd};
use std::marker::PhantomData;

/// Elements a word of bits speaks for.
pub const BLOCK: usize = 32;

/// Values of a tile and the bits that say which of them are ⊥; values that are not finite are ⊥ as well.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The values.
    pub values: &'a [f32],
    /// A bit for each value.
    pub bits: &'a [u32],
}

/// Where a pass writes. Without bits what is ⊥ is left not finite; with them the bit is set and the value is 0.
pub struct Target<'a> {
    /// The values.
    pub values: &'a mut [f32],
    /// A bit for each value, those past the last one 0.
    pub bits: Option<&'a mut [u32]>,
}

/// A row over a tile: sources to target.
pub type Pass = fn(&[Source<'_>], Target<'_>);

/// A masked row on one vector. Arguments and value are not finite exactly where they are ⊥.
trait Masked<const N: usize> {
    fn at<S: Simd>(simd: S, arguments: [S::f32s; N]) -> S::f32s;
}

macro_rules! passes {
    ($($name:ident: |$simd:ident, [$($argument:ident),+]| $body:expr;)*) => { $(
        #[doc = concat!("The masked `", stringify!($name), "` for this machine.")]
        pub fn $name() -> Pass {
            struct Row;
            impl Masked<{ [$(stringify!($argument)),+].len() }> for Row {
                #[inline(always)]
                fn at<S: Simd>($simd: S, [$($argument),+]: [S::f32s; [$(stringify!($argument)),+].len()]) -> S::f32s {
                    $body
                }
            }
            dispatch(Choose::<Row, _>(PhantomData))
        }
    )* };
}

passes! {
    settle: |_simd, [x]| x;
    add: |simd, [a, b]| simd.add_f32s(a, b);
    sub: |simd, [a, b]| simd.sub_f32s(a, b);
    mul: |simd, [a, b]| simd.mul_f32s(a, b);
    div: |simd, [a, b]| where_finite(simd, b, simd.div_f32s(a, b));
    ratio: |simd, [a, b]| {
        // |a| < b² 2^128 holds exactly where a / b and |a| / b² are floats; b² may underflow gradually, and overflow.
        let scale = simd.splat_f32s(18_446_744_073_709_551_616.0);
        let limit = simd.mul_f32s(simd.mul_f32s(simd.mul_f32s(b, b), scale), scale);
        let fits = simd.less_than_f32s(simd.abs_f32s(a), limit);
        where_finite(simd, b, simd.select_f32s(fits, simd.div_f32s(a, b), simd.splat_f32s(f32::NAN)))
    };
    neg: |simd, [x]| simd.neg_f32s(x);
    recip: |simd, [x]| where_finite(simd, x, simd.div_f32s(simd.splat_f32s(1.0), x));
    abs: |simd, [x]| simd.abs_f32s(x);
    min: |simd, [a, b]| absorbing(simd, a, b, simd.select_f32s(simd.less_than_f32s(b, a), b, a));
    max: |simd, [a, b]| absorbing(simd, a, b, simd.select_f32s(simd.greater_than_f32s(b, a), b, a));
    square: |simd, [x]| simd.mul_f32s(x, x);
    sqrt: |simd, [x]| simd.sqrt_f32s(x);
    exp: |simd, [x]| {
        let fits = simd.less_than_or_equal_f32s(x, simd.splat_f32s(88.722_83));
        let value = at_most(simd, simd.splat_f32s(f32::MAX), elementary::exp(simd, x));
        where_finite(simd, x, simd.select_f32s(fits, value, simd.splat_f32s(f32::NAN)))
    };
    ln: |simd, [x]| elementary::ln(simd, x);
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

/// `y` where `a` and `b` are finite, NaN elsewhere: 0 is taken away from it, or NaN.
#[inline(always)]
fn absorbing<S: Simd>(simd: S, a: S::f32s, b: S::f32s, y: S::f32s) -> S::f32s {
    simd.sub_f32s(y, simd.add_f32s(simd.sub_f32s(a, a), simd.sub_f32s(b, b)))
}

/// Chooses the instruction set once, so that a pass over a short tile does not ask for it.
struct Choose<F, const N: usize>(PhantomData<F>);

impl<F: Masked<N>, const N: usize> WithSimd for Choose<F, N> {
    type Output = Pass;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Pass {
        pass::<S, F, N>
    }
}

/// The proof that this machine has the instruction set, out of nothing: `Choose` had one when it named the pass.
#[inline(always)]
fn proof<S: Simd>() -> S {
    const { assert!(size_of::<S>() == 0) };
    // SAFETY: a type without size has one value, and `Choose::with_simd` was handed it.
    unsafe { std::ptr::NonNull::<S>::dangling().read() }
}

/// Runs a row over as many values as the target takes.
fn pass<S: Simd, F: Masked<N>, const N: usize>(sources: &[Source<'_>], target: Target<'_>) {
    let count = target.values.len();
    let sources: [Source<'_>; N] = std::array::from_fn(|at| sources[at]);
    for source in &sources {
        assert!(source.values.len() >= count && source.bits.len() * BLOCK >= count, "masked: a source is too short");
    }
    let whole = count / BLOCK * BLOCK;
    let (values, tail) = target.values.split_at_mut(whole);
    let (bits, last) = match target.bits {
        Some(bits) => {
            let (bits, last) = bits.split_at_mut(whole / BLOCK);
            (Some(bits), last.first_mut())
        }
        None => (None, None),
    };
    proof::<S>().vectorize(Blocks::<F, N> { sources, values, bits, row: PhantomData });
    if !tail.is_empty() {
        over_tail::<S, F, N>(&sources, whole, tail, last);
    }
}

/// The last, partial block: through a whole one.
#[cold]
fn over_tail<S: Simd, F: Masked<N>, const N: usize>(
    sources: &[Source<'_>; N],
    whole: usize,
    tail: &mut [f32],
    bits: Option<&mut u32>,
) {
    let mut values = [[1.0; BLOCK]; N];
    for (values, source) in values.iter_mut().zip(sources) {
        values[..tail.len()].copy_from_slice(&source.values[whole..whole + tail.len()]);
    }
    let at = whole / BLOCK;
    let padded = std::array::from_fn(|k| Source { values: &values[k], bits: &sources[k].bits[at..=at] });
    let (mut out, mut word) = ([0.0; BLOCK], [0]);
    let wanted = bits.is_some().then_some(&mut word[..]);
    proof::<S>().vectorize(Blocks::<F, N> { sources: padded, values: &mut out, bits: wanted, row: PhantomData });
    tail.copy_from_slice(&out[..tail.len()]);
    if let Some(bits) = bits {
        *bits = word[0] & ((1 << tail.len()) - 1);
    }
}

struct Blocks<'a, F, const N: usize> {
    sources: [Source<'a>; N],
    values: &'a mut [f32],
    bits: Option<&'a mut [u32]>,
    row: PhantomData<F>,
}

impl<F: Masked<N>, const N: usize> WithSimd for Blocks<'_, F, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.bits {
            Some(bits) => {
                for (at, (out, word)) in self.values.chunks_exact_mut(BLOCK).zip(bits).enumerate() {
                    *word = block::<S, F, N, true>(simd, &self.sources, at, out);
                }
            }
            None => {
                for (at, out) in self.values.chunks_exact_mut(BLOCK).enumerate() {
                    block::<S, F, N, false>(simd, &self.sources, at, out);
                }
            }
        }
    }
}

/// One word's elements; the result is their bits, if they are asked for.
#[inline(always)]
fn block<S: Simd, F: Masked<N>, const N: usize, const IS_LAST: bool>(
    simd: S,
    sources: &[Source<'_>; N],
    at: usize,
    out: &mut [f32],
) -> u32 {
    const { assert!(S::F32_LANES <= BLOCK) };
    let mut packed = Packed::new(simd);
    let mut j = 0;
    while j < BLOCK / S::F32_LANES {
        let arguments = std::array::from_fn(|argument| {
            let source = &sources[argument];
            // SAFETY: `pass` checked that every source has a block for each of the target's.
            let (x, word) = unsafe {
                (load::<S>(source.values.as_ptr().add(at * BLOCK + j * S::F32_LANES)), *source.bits.get_unchecked(at))
            };
            simd.select_f32s(unpacked(simd, word, j), simd.splat_f32s(f32::NAN), x)
        });
        let y = F::at(simd, arguments);
        // SAFETY: `out` is a block long.
        let place = unsafe { out.as_mut_ptr().add(j * S::F32_LANES) };
        let y = if IS_LAST {
            let fine = is_finite(simd, y);
            packed.push(simd, fine, j);
            simd.select_f32s(fine, y, simd.splat_f32s(0.0))
        } else {
            y
        };
        // SAFETY: as above.
        unsafe { store::<S>(place, y) };
        j += 1;
    }
    packed.finish(simd)
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
        // SAFETY: such a mask is a word of 16 bits, one a lane, and every one of them is valid.
        return unsafe { std::mem::transmute_copy::<u16, S::m32s>(&half) };
    }
    let bits = lane_bits(simd, j);
    simd.equal_u32s(simd.and_u32s(simd.splat_u32s(word), bits), bits)
}

/// The word of a block being made.
struct Packed<S: Simd> {
    word: u32,
    lanes: S::u32s,
}

impl<S: Simd> Packed<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Self { word: 0, lanes: simd.splat_u32s(0) }
    }

    /// Notes the lanes of vector `j` that are not fine.
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
