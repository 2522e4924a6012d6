//! What `cast` converts, and launches that read packed halves themselves instead of what `cast` unpacks from them.

use std::any::Any;

use crate::device::{Dispatch, VIEW_WORDS, View};
use crate::kernels::common::Variant;
use crate::kernels::halves::{Half, Packed};

/// Source and target type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// f32 to u32.
    FloatToWord,
    /// u32 to f32.
    WordToFloat,
    /// f32 to packed f16.
    FloatToHalf,
    /// Packed f16 to f32.
    HalfToFloat,
    /// Bits, 32 per word, to 0 and 1.
    BitToFloat,
    /// A word to its number of 1 bits.
    BitsToCount,
    /// f32 to packed halves that may be infinite.
    Pack(Half),
    /// The same halves to f32.
    Unpack(Half),
}

impl Conversion {
    /// Types and conversion.
    pub(super) fn wgsl(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::FloatToWord => (
                // Negative numbers and NaN are found by their bits.
                "f32",
                "u32",
                "let size = select(u32(clamp(a[i], 0.0, 4294967040.0)), 4294967295u, a[i] >= 4294967296.0);
    return select(size, 0u, bitcast<u32>(a[i]) > 0x7f800000u);",
            ),
            // WGSL lets a conversion round either way; both halves are exact, and their sum is rounded to the nearest.
            Self::WordToFloat => ("u32", "f32", "return f32(a[i] >> 16u) * 65536.0 + f32(a[i] & 0xffffu);"),
            Self::FloatToHalf => (
                "f32",
                "u32",
                "let last = params.count - 1u;
    return word_of(bounded(a[2u * i]), select(0.0, bounded(a[min(2u * i + 1u, last)]), 2u * i < last));",
            ),
            Self::BitToFloat => ("u32", "f32", "return f32((a[i / 32u] >> (i % 32u)) & 1u);"),
            Self::BitsToCount => ("u32", "f32", "return f32(countOneBits(a[i]));"),
            Self::Pack(_) => (
                "f32",
                "u32",
                "let last = params.count - 1u;
    return word_of(a[2u * i], select(0.0, a[min(2u * i + 1u, last)], 2u * i < last));",
            ),
            Self::HalfToFloat | Self::Unpack(_) => ("u32", "f32", "return half_at(a[i / 2u], i);"),
        }
    }
}

/// What a launch of `cast` converts.
pub(super) fn form(dispatch: &Dispatch) -> Option<Conversion> {
    let body: &dyn Any = &**dispatch.body.as_ref()?;
    body.downcast_ref::<Variant<Conversion>>().map(|variant| variant.kind)
}

/// The format that a launch unpacks, if it does.
fn unpacked(dispatch: &Dispatch) -> Option<Half> {
    if let Some(Conversion::Unpack(half)) = form(dispatch) { Some(half) } else { None }
}

/// The inputs of a launch, and its packed bindings, if at `at` it reads the halves that `producer` unpacks.
pub(crate) fn reading(
    producer: &Dispatch,
    consumer: &Dispatch,
    at: usize,
    packed: Packed,
) -> Option<(Vec<View>, Packed)> {
    let half = unpacked(producer)?;
    let view = &consumer.inputs[at];
    // Half of its offset is the offset of a view.
    let is_aligned = view.offset.is_multiple_of(2 * VIEW_WORDS);
    let whole = &producer.outputs[0];
    let is_inside = whole.offset == 0 && view.offset + view.words <= whole.words;
    let packed = packed.with_input(half, at).filter(|_| is_aligned && is_inside)?;
    let mut inputs = consumer.inputs.clone();
    let View { buffer, offset, .. } = producer.inputs[0].clone();
    inputs[at] = View { buffer, offset: offset + view.offset / 2, words: view.words.div_ceil(2) };
    Some((inputs, packed))
}
