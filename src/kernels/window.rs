//! A range along one axis of a: [outer, extent, inner], with zeros around it: out[o, e, i] = a[o, e + skip - pad, i], and 0 outside. Words of any type.

use super::common;
use super::evidence::{Numbers, case};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, View, groups};
use crate::params;

/// The `window` kernel.
pub static WINDOW: Kernel = Kernel {
    name: "window",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("window")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().count as usize, 256),
    // Only the words that are moved count, and those that are written.
    cost: |dispatch| {
        let params: Params = dispatch.params();
        let words = u64::from(params.count);
        let moved = words * u64::from(params.inside().len() as u32) / u64::from(params.kept.max(1));
        Cost { flops: 0, bytes: 4 * (words + moved) }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Words of the result, elements along the axis of a and of the result, words of each; elements that are left out, zeros in front.
    pub struct Params {
        count: u32,
        extent: u32,
        kept: u32,
        inner: u32,
        skip: u32,
        pad: u32,
    }
}

impl Params {
    /// The elements of the result that come from a.
    fn inside(&self) -> std::ops::Range<usize> {
        let [extent, kept, skip, pad] = [self.extent, self.kept, self.skip, self.pad].map(|size| size as usize);
        let start = pad.saturating_sub(skip).min(kept);
        start..(extent + pad).saturating_sub(skip).clamp(start, kept)
    }
}

/// Where a range lies.
#[derive(Clone, Copy)]
pub struct Window {
    /// Elements along the axis, of a and of the result.
    pub extents: [usize; 2],
    /// Words of each element.
    pub inner: usize,
    /// Elements of a that are left out in front.
    pub skip: usize,
    /// Zeros in front.
    pub pad: usize,
}

/// The range of `a` into `out`, which has as many words as there are outer elements, times those of the window.
pub fn dispatch(window: Window, a: View, out: View) -> Dispatch {
    let Window { extents: [extent, kept], inner, skip, pad } = window;
    let [extent, kept, inner, skip, pad] = [extent, kept, inner, skip, pad].map(|size| size as u32);
    let params = Params { count: out.words as u32, extent, kept, inner, skip, pad };
    Dispatch { kernel: &WINDOW, body: None, params: params.words(), inputs: vec![a], outputs: vec![out] }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let [extent, kept, inner] = [params.extent, params.kept, params.inner].map(|size| size as usize);
    let inside = params.inside();
    let first = (params.skip.saturating_sub(params.pad) as usize).min(extent);
    let out = &mut call.outputs[0][..params.count as usize];
    let a = call.inputs[0];
    let written = (kept * inner).max(1);
    let piece = common::rows_per_piece(out.len() / written, written, call.pool);
    common::each(out.chunks_mut(piece * written).enumerate(), call.pool, |(at, out)| {
        for (row, out) in out.chunks_exact_mut(written).enumerate() {
            let source = &a[((at * piece + row) * extent + first) * inner..][..inside.len() * inner];
            out[..inside.start * inner].fill(0);
            out[inside.start * inner..inside.end * inner].copy_from_slice(source);
            out[inside.end * inner..].fill(0);
        }
    });
}

/// Cases: a range inside, at either end, of one element, zeros on one and on both sides, nothing left of a.
pub fn cases() -> Vec<Case> {
    let windows = [
        (1, [5, 3], 1, 1, 0),
        (7, [9, 9], 4, 0, 0),
        (300, [6, 2], 3, 4, 0),
        (300, [6, 1], 1, 0, 0),
        (65, [3, 8], 5, 0, 4),
        (129, [2, 5], 1, 0, 3),
        (33, [4, 7], 2, 0, 0),
        (9, [4, 3], 2, 0, 5),
        (9, [4, 3], 2, 6, 0),
        (5, [4, 6], 3, 1, 3),
        (5, [6, 3], 1, 4, 2),
    ];
    windows.map(|(outer, extents, inner, skip, pad)| of(outer, Window { extents, inner, skip, pad })).into()
}

fn of(outer: usize, window: Window) -> Case {
    let (Window { extents: [extent, kept], inner, skip, pad }, mut numbers) = (window, Numbers::new(37));
    let a: Vec<u32> = (0..outer * extent * inner).map(|_| numbers.word()).collect();
    let mut expected = Vec::new();
    for o in 0..outer {
        for e in 0..kept {
            for i in 0..inner {
                let at = (e + skip).checked_sub(pad).filter(|&at| at < extent);
                expected.push(at.map_or(0, |at| a[(o * extent + at) * inner + i]));
            }
        }
    }
    case(
        format!("{outer} x {kept} of {extent} x {inner}, without {skip}, after {pad} zeros"),
        Bound::Exact,
        vec![a],
        vec![Expected::Words(expected)],
        move |inputs, out| dispatch(window, inputs[0].clone(), out[0].clone()),
    )
}
