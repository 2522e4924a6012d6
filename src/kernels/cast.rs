//! Converts numbers between types. Half floats are packed two per word, the first in the low half; an odd last one is padded with 0.
//! To `u32`: truncates towards zero, clamped to 0..=u32::MAX; 0 of NaN. To f16: rounds to nearest (a device may pick either neighbour); numbers are
//! clamped to ±65,504, infinities and NaN stay what they are. Results of a plan that are stored in 16 bits ([`Half`]) are not clamped: what is too large
//! becomes infinite, as a loss scale expects.

pub(super) mod conversion;

use std::rc::Rc;

use bytemuck::{cast_slice, cast_slice_mut};
use half::f16;

use super::common::{self, Variant};
use super::evidence::{Numbers, case, within, words};
use super::halves::Half;
use super::pointwise::TILE;
use super::{map, matmul};
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Halves, Kernel, Label, View, groups};
use crate::params;
pub use conversion::Conversion;
use conversion::form;

/// The `cast` kernel.
pub static CAST: Kernel = Kernel {
    name: "cast",
    params: Params::FIELDS,
    wgsl: &[common::INDEX, crate::wgsl!("cast")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().words as usize, 256),
    cost: |dispatch| Cost { flops: u64::from(dispatch.params::<Params>().count), bytes: dispatch.bytes() },
    fuse: Some(fuse),
    in_place: None,
};

params! {
    /// Numbers converted, and words of the result.
    pub struct Params {
        count: u32,
        words: u32,
    }
}

/// A number within those of f16.
const BOUNDED: &str = "fn bounded(x: f32) -> f32 {
    return select(x, clamp(x, -65504.0, 65504.0), (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u);
}
";

/// `count` numbers of `a`, converted into `out`.
pub fn dispatch(form: Conversion, count: u32, a: View, out: View) -> Dispatch {
    let (from, to, convert) = form.wgsl();
    let half = match form {
        Conversion::Pack(half) | Conversion::Unpack(half) => half.wgsl().to_owned(),
        Conversion::FloatToHalf => BOUNDED.to_owned() + Half::F16.wgsl(),
        Conversion::HalfToFloat => Half::F16.wgsl().to_owned(),
        _ => String::new(),
    };
    let wgsl =
        format!("{half}alias From = {from};\nalias To = {to};\nfn convert(i: u32) -> To {{\n    {convert}\n}}\n");
    let is_packed = matches!(form, Conversion::FloatToHalf | Conversion::Pack(_));
    let words = if is_packed { count.div_ceil(2) } else { count };
    Dispatch {
        kernel: &CAST,
        body: Some(Rc::new(Variant { kind: form, wgsl })),
        params: Params { count, words }.words(),
        inputs: vec![a],
        outputs: vec![out],
    }
}

/// Stores the results of the launches whose label `takes` chooses in 16 bits.
pub fn stored(half: Half, takes: impl Fn(&Label) -> bool + 'static) -> Halves {
    let convert = |conversion: Conversion| {
        move |from: View, to: View| {
            let count = if matches!(conversion, Conversion::Pack(_)) { from.words } else { to.words };
            dispatch(conversion, count as u32, from, to)
        }
    };
    Halves {
        takes: Rc::new(takes),
        pack: Rc::new(convert(Conversion::Pack(half))),
        unpack: Rc::new(convert(Conversion::Unpack(half))),
        is_merged: true,
    }
}

/// Lets a launch write the halves that are only packed from its result.
fn fuse(producer: &Dispatch, consumer: &Dispatch, at: usize) -> Option<Dispatch> {
    let Conversion::Pack(half) = form(consumer)? else { return None };
    let read = &consumer.inputs[at];
    let is_it = |view: &View| view.buffer.is(&read.buffer) && view.offset == read.offset && view.words == read.words;
    let place = producer.outputs.iter().position(is_it)?;
    if consumer.params::<Params>().count as usize != read.words {
        return None;
    }
    let body = map::packing(producer, half).or_else(|| matmul::packing(producer, half, place))?;
    let mut merged = Dispatch { body: Some(body), ..producer.clone() };
    merged.outputs[place] = consumer.outputs[0].clone();
    Some(merged)
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Conversion>>().kind;
    let count = params.count as usize;
    let a = call.inputs[0];
    let out = &mut call.outputs[0][..params.words as usize];
    let piece = 2 * TILE * common::rows_per_piece(count.div_ceil(2 * TILE), 2 * TILE, call.pool);
    let (read, written) = match form {
        Conversion::FloatToHalf | Conversion::Pack(_) => (piece, piece / 2),
        Conversion::HalfToFloat | Conversion::Unpack(_) => (piece / 2, piece),
        Conversion::BitToFloat => (piece / 32, piece),
        Conversion::FloatToWord | Conversion::WordToFloat | Conversion::BitsToCount => (piece, piece),
    };
    let a = &a[..match form {
        Conversion::HalfToFloat | Conversion::Unpack(_) => count.div_ceil(2),
        Conversion::BitToFloat => count.div_ceil(32),
        _ => count,
    }];
    common::each(a.chunks(read).zip(out.chunks_mut(written)), call.pool, |(a, out)| convert(form, a, out));
}

fn convert(form: Conversion, a: &[u32], out: &mut [u32]) {
    let half = |&word: &u32| {
        let x = f32::from_bits(word);
        let bounded = if x.is_finite() { f16::from_f32(x.clamp(-65504.0, 65504.0)) } else { f16::from_f32(x) };
        u32::from(if x.is_nan() { f16::NAN } else { bounded }.to_bits())
    };
    match form {
        Conversion::FloatToWord => out.iter_mut().zip(a).for_each(|(out, &a)| *out = f32::from_bits(a) as u32),
        Conversion::WordToFloat => out.iter_mut().zip(a).for_each(|(out, &a)| *out = (a as f32).to_bits()),
        Conversion::FloatToHalf => {
            for (out, pair) in out.iter_mut().zip(a.chunks(2)) {
                *out = half(&pair[0]) | (pair.get(1).map_or(0, half) << 16);
            }
        }
        Conversion::HalfToFloat => {
            for (pair, &a) in out.chunks_mut(2).zip(a) {
                let halves = [a as u16, (a >> 16) as u16].map(|bits| f16::from_bits(bits).to_f32().to_bits());
                pair.copy_from_slice(&halves[..pair.len()]);
            }
        }
        Conversion::BitToFloat => {
            for (out, &word) in out.chunks_mut(32).zip(a) {
                out.iter_mut().enumerate().for_each(|(k, out)| *out = ((word >> k & 1) as f32).to_bits());
            }
        }
        Conversion::BitsToCount => out.iter_mut().zip(a).for_each(|(out, a)| *out = (a.count_ones() as f32).to_bits()),
        Conversion::Pack(half) => half.pack(cast_slice(a), out),
        Conversion::Unpack(half) => half.unpack(&cast_slice(a)[..out.len()], cast_slice_mut(out)),
    }
}

/// Cases: the edges of each range, odd counts.
pub fn cases() -> Vec<Case> {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let edges = [
        0.0,
        0.99,
        1.5,
        -0.5,
        -7.0,
        16_777_217.0,
        4_294_967_040.0,
        4_294_967_296.0,
        1e30,
        -1e30,
        65_504.5,
        nan,
        -nan,
        inf,
        -inf,
    ];
    // Infinities and NaN stay what they are; other numbers are clamped.
    let odd = [inf, nan, -inf, -nan, 1e38, -1e38, 65_519.0];
    let odd_halves = vec![0x7e00_7c00, 0x7e00_fc00, 0xfbff_7bff, 0x7bff];
    let odd_floats = [0x7c00_u16, 0xfc00, 0x7e00, 0x7bff].map(|half| f16::from_bits(half).to_f64());
    let to_words: Vec<u32> = edges.iter().map(|&x: &f32| x as u32).collect();
    let counts: Vec<u32> = (0..70_000_u32).map(|i| i.wrapping_mul(61_681)).chain([u32::MAX, 1 << 24]).collect();
    let to_floats = counts.iter().map(|&x| (x as f32).to_bits()).collect();
    let saturated = [1e6_f32, -1e6, 65_504.0, 0.0, -0.0, 1.0, 0.5, -2.0, 6.1035156e-5];
    let held = saturated.iter().map(|&x| f64::from(x).clamp(-65504.0, 65504.0)).collect();
    let random = Numbers::new(51).floats(1001);
    let halves = random.iter().map(|&x| f64::from(x)).collect();
    let every: Vec<u16> = (0..0x7c00).chain(0x8000..0xfc00).collect();
    let unpacked = every.iter().map(|&bits| f16::from_bits(bits).to_f64()).collect();
    let packed = every.chunks(2).map(|pair| u32::from(pair[0]) | (u32::from(pair[1]) << 16)).collect();
    let mut numbers = Numbers::new(53);
    let mask: Vec<u32> = (0..129).map(|_| numbers.word()).collect();
    let bits = (0..4101).map(|i| f64::from(mask[i / 32] >> (i % 32) & 1)).collect();
    let ones = mask.iter().map(|word| f64::from(word.count_ones())).collect();
    // One unit of f16, because a device may round either way; subnormals may go to 0.
    let unit = within(9.8e-4, 6.2e-5);
    let mut cases = of_stored_halves(unit);
    cases.extend([
        example(Conversion::FloatToWord, "edges", edges.len(), words(&edges), Expected::Words(to_words), Bound::Exact),
        example(
            Conversion::WordToFloat,
            "all sizes",
            counts.len(),
            counts.clone(),
            Expected::Words(to_floats),
            within(6e-8, 0.0),
        ),
        example(
            Conversion::FloatToHalf,
            "edges",
            saturated.len(),
            words(&saturated),
            Expected::Halves(held),
            Bound::Exact,
        ),
        example(
            Conversion::FloatToHalf,
            "infinite or NaN",
            odd.len(),
            words(&odd),
            Expected::Words(odd_halves),
            Bound::Exact,
        ),
        example(
            Conversion::HalfToFloat,
            "infinite or NaN",
            4,
            vec![0xfc00_7c00, 0x7bff_7e00],
            Expected::Floats(odd_floats.to_vec()),
            Bound::Exact,
        ),
        example(Conversion::FloatToHalf, "rounding", random.len(), words(&random), Expected::Halves(halves), unit),
        example(Conversion::FloatToHalf, "one", 1, words(&[0.25]), Expected::Words(vec![0x3400]), Bound::Exact),
        example(
            Conversion::HalfToFloat,
            "every half",
            every.len(),
            packed,
            Expected::Floats(unpacked),
            within(0.0, 6.2e-5),
        ),
        example(Conversion::BitToFloat, "odd", 4101, mask.clone(), Expected::Floats(bits), Bound::Exact),
        example(Conversion::BitsToCount, "words", mask.len(), mask, Expected::Floats(ones), Bound::Exact),
        example(Conversion::HalfToFloat, "one", 1, vec![0xffff_3400], Expected::Floats(vec![0.25]), Bound::Exact),
    ]);
    cases
}

/// Cases of the halves that results are stored in: what is too large, ties, every bf16.
fn of_stored_halves(unit: Bound) -> Vec<Case> {
    let pairs = |halves: &[u16]| -> Vec<u32> {
        halves.chunks(2).map(|pair| u32::from(pair[0]) | pair.get(1).map_or(0, |half| u32::from(*half) << 16)).collect()
    };
    let large = [65_519.0, 65_520.0, -1e6, 3e38, f32::INFINITY, f32::NAN, 1.0, -0.0, -2.0];
    let as_f16 = pairs(&[0x7bff, 0x7c00, 0xfc00, 0x7c00, 0x7c00, 0x7e00, 0x3c00, 0x8000, 0xc000]);
    let infinite = [0x7c00_u16, 0xfc00, 0x3c00].map(|half| f16::from_bits(half).to_f64()).to_vec();
    let random = Numbers::new(57).floats(1001);
    let near = random.iter().map(|&x| f64::from(x)).collect();
    // The nearest bf16: a unit is 2^16 words of f32, and a tie goes to the even one.
    let nearest = |x: &f32| {
        let (low, rest) = (x.to_bits() >> 16, x.to_bits() & 0xffff);
        (low + u32::from(rest > 0x8000 || rest == 0x8000 && low % 2 == 1)) as u16
    };
    let ties = [0x3f80_8000_u32, 0x3f81_8000, 0x3f81_8001, 0x7f7f_8000, 0xff7f_ffff].map(f32::from_bits);
    let rounded: Vec<f32> = random.iter().copied().chain(ties).collect();
    let as_bf16 = pairs(&rounded.iter().map(nearest).collect::<Vec<u16>>());
    let every: Vec<u16> = (0x0080..0x7f80).chain(0x8080..0xff80).collect();
    let widened = every.iter().map(|&half| f64::from(f32::from_bits(u32::from(half) << 16))).collect();
    let [pack, unpack] = [Conversion::Pack(Half::F16), Conversion::Unpack(Half::F16)];
    let [pack_b, unpack_b] = [Conversion::Pack(Half::Bf16), Conversion::Unpack(Half::Bf16)];
    vec![
        example(pack, "too large", large.len(), words(&large), Expected::Words(as_f16), Bound::Exact),
        example(pack, "rounding", random.len(), words(&random), Expected::Halves(near), unit),
        example(unpack, "infinite", 3, vec![0xfc00_7c00, 0x3c00], Expected::Floats(infinite), Bound::Exact),
        example(pack_b, "rounding", rounded.len(), words(&rounded), Expected::Words(as_bf16), Bound::Exact),
        example(unpack_b, "every half", every.len(), pairs(&every), Expected::Floats(widened), Bound::Exact),
    ]
}

fn example(form: Conversion, name: &str, count: usize, a: Vec<u32>, expected: Expected, bound: Bound) -> Case {
    case(format!("{form:?} {name}"), bound, vec![a], vec![expected], |inputs, out| {
        dispatch(form, count as u32, inputs[0].clone(), out[0].clone())
    })
}
