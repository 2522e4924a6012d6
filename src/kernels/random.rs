//! Random numbers as a function of position: Threefry-2x32-20 with key = seed and counter = (pair of elements, stream and step).
//! The same bits on every device. The step is read from `control[2]`, so each replay of a plan draws new numbers without any upload
//! from the host; streams of one plan have distinct small numbers.

use std::rc::Rc;

use super::common::{self, Variant};
use super::evidence::{case, within};
use super::pointwise::TILE;
use crate::device::{Bound, Call, Case, Cost, Dispatch, Expected, Kernel, View, groups};
use crate::{host, params};

/// The `random` kernel.
pub static RANDOM: Kernel = Kernel {
    name: "random",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, common::THREEFRY, crate::wgsl!("random")],
    cpu: run,
    grid: |dispatch| groups(dispatch.params::<Params>().count.div_ceil(2) as usize, 256),
    // About forty integer operations per number.
    cost: |dispatch| Cost { flops: 40 * u64::from(dispatch.params::<Params>().count), bytes: dispatch.bytes() },
    fuse: None,
    in_place: None,
};

params! {
    /// `first` is the index of the first pair; `probability` and `scale` belong to `Distribution::Keep`.
    pub struct Params {
        seed_low: u32,
        seed_high: u32,
        stream: u32,
        first: u32,
        count: u32,
        probability: f32,
        scale: f32,
    }
}

/// Distribution of the numbers made from the bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// The words themselves.
    Bits,
    /// [0, 1) in steps of 2^-24.
    Uniform,
    /// Mean 0, variance 1.
    Normal,
    /// 0 with this probability, else 1 / (1 - probability): a mask for dropout.
    Keep(f32),
}

impl Distribution {
    fn wgsl(self) -> String {
        let (to, value) = match self {
            Self::Bits => ("u32", "bits"),
            Self::Uniform => ("f32", "unit(bits)"),
            Self::Normal => ("f32", "normal(bits)"),
            Self::Keep(_) => {
                ("f32", "select(vec2<f32>(params.scale), vec2<f32>(0.0), unit(bits) < vec2<f32>(params.probability))")
            }
        };
        format!("alias To = {to};\nfn drawn(bits: vec2<u32>) -> vec2<To> {{ return {value}; }}\n")
    }
}

/// Fills `out`. `control` is the plan's counters, of which word 2 is the step; four zeros outside of a plan.
pub fn dispatch(form: Distribution, seed: u64, stream: u32, control: View, out: View) -> Dispatch {
    let (probability, scale) = if let Distribution::Keep(p) = form { (p, 1.0 / (1.0 - p)) } else { (0.0, 1.0) };
    let params = Params {
        seed_low: seed as u32,
        seed_high: (seed >> 32) as u32,
        stream,
        first: 0,
        count: out.words as u32,
        probability,
        scale,
    };
    let body = Rc::new(Variant { kind: form, wgsl: form.wgsl() });
    Dispatch { kernel: &RANDOM, body: Some(body), params: params.words(), inputs: vec![control], outputs: vec![out] }
}

fn run(call: Call<'_>) {
    let params: Params = call.params();
    let form = call.body::<Variant<Distribution>>().kind;
    let count = params.count as usize;
    let stream = stream_at(params.stream, call.inputs[0][2]);
    let piece = TILE * common::rows_per_piece(count.div_ceil(TILE), 8 * TILE, call.pool);
    let pieces = call.outputs[0][..count].chunks_mut(piece).enumerate();
    common::each(pieces, call.pool, |(at, out)| {
        for (group, out) in out.chunks_mut(2 * LANES).enumerate() {
            let first = params.first.wrapping_add((at * piece / 2 + group * LANES) as u32);
            let bits = threefry_lanes([params.seed_low, params.seed_high], first, stream);
            for (lane, pair) in out.chunks_mut(2).enumerate() {
                let words = made(form, params.scale, [bits[0][lane], bits[1][lane]]);
                pair.copy_from_slice(&words[..pair.len()]);
            }
        }
    });
}

fn made(form: Distribution, scale: f32, bits: [u32; 2]) -> [u32; 2] {
    match form {
        Distribution::Bits => bits,
        Distribution::Uniform => bits.map(|bits| unit(bits).to_bits()),
        Distribution::Normal => normal(bits).map(f32::to_bits),
        Distribution::Keep(p) => bits.map(|bits| if unit(bits) < p { 0 } else { scale.to_bits() }),
    }
}

/// The rotations of four rounds, and of the four after them.
const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// Threefry-2x32 with 20 rounds at one counter.
pub fn threefry(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd1_1bda];
    let mut x = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for round in 0..20 {
        x[0] = x[0].wrapping_add(x[1]);
        x[1] = x[1].rotate_left(TURNS[round / 4 % 2][round % 4]) ^ x[0];
        if round % 4 == 3 {
            let block = round / 4 + 1;
            x[0] = x[0].wrapping_add(keys[block % 3]);
            x[1] = x[1].wrapping_add(keys[(block + 1) % 3]).wrapping_add(block as u32);
        }
    }
    x
}

/// Pairs drawn at a time, so that compilers vectorise the loop.
const LANES: usize = 16;

/// Threefry at the counters (first + lane, stream).
fn threefry_lanes(key: [u32; 2], first: u32, stream: u32) -> [[u32; LANES]; 2] {
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd1_1bda];
    let mut x: [u32; LANES] = std::array::from_fn(|lane| first.wrapping_add(lane as u32).wrapping_add(keys[0]));
    let mut y = [stream.wrapping_add(keys[1]); LANES];
    for block in 0..5 {
        for turn in TURNS[block % 2] {
            for (x, y) in x.iter_mut().zip(&mut y) {
                *x = x.wrapping_add(*y);
                *y = y.rotate_left(turn) ^ *x;
            }
        }
        for (x, y) in x.iter_mut().zip(&mut y) {
            *x = x.wrapping_add(keys[(block + 1) % 3]);
            *y = y.wrapping_add(keys[(block + 2) % 3]).wrapping_add(block as u32 + 1);
        }
    }
    [x, y]
}

/// The second word of the counter for a stream at a step.
fn stream_at(stream: u32, step: u32) -> u32 {
    stream.wrapping_mul(0x9e37_79b9).wrapping_add(step)
}

/// The one number in [0, 1) that `Distribution::Uniform` of length 1 draws at a step: for kernels that draw inside.
pub(super) fn uniform_at(seed: [u32; 2], stream: u32, step: u32) -> f32 {
    unit(threefry(seed, [0, stream_at(stream, step)])[0])
}

fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 / 16_777_216.0
}

/// Two normal numbers from two words, by Box and Muller in f64: speed does not matter, since normals are drawn only to initialise parameters.
pub fn normal([a, b]: [u32; 2]) -> [f32; 2] {
    let u = f64::from((a >> 8) + 1) / 16_777_216.0;
    let angle = std::f64::consts::TAU * f64::from(unit(b));
    let radius = (-2.0 * u.ln()).sqrt();
    [(radius * host::cos(angle)) as f32, (radius * host::sin(angle)) as f32]
}

/// Cases: the known answers shipped with Random123, then each distribution compared with the oracle.
pub fn cases() -> Vec<Case> {
    let known = [
        ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
        ([u32::MAX; 2], [u32::MAX; 2], [0x1cb9_96fc, 0xbb00_2be7]),
        ([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3], [0xc492_3a9c, 0x483d_f7a0]),
    ];
    let known = known.map(|(key, counter, answer)| known_answer(key, counter, answer));
    let counts = [1, 2, 513, 30_001];
    let drawn = |form: Distribution| counts.map(|count| example(form, count, 7, 3));
    let forms = [Distribution::Bits, Distribution::Uniform, Distribution::Normal, Distribution::Keep(0.25)];
    known.into_iter().chain(forms.into_iter().flat_map(drawn)).collect()
}

fn known_answer(key: [u32; 2], counter: [u32; 2], answer: [u32; 2]) -> Case {
    let seed = u64::from(key[1]) << 32 | u64::from(key[0]);
    let control = vec![0, 0, counter[1], 0];
    let expected = vec![Expected::Words(answer.to_vec())];
    case(format!("known answer {:#x}", answer[0]), Bound::Exact, vec![control], expected, |inputs, out| {
        let mut dispatch = dispatch(Distribution::Bits, seed, 0, inputs[0].clone(), out[0].clone());
        let mut params: Params = dispatch.params();
        params.first = counter[0];
        dispatch.params = params.words();
        dispatch
    })
}

fn example(form: Distribution, count: u32, stream: u32, step: u32) -> Case {
    let seed = 0x0123_4567_89ab_cdef;
    let mixed = stream.wrapping_mul(0x9e37_79b9).wrapping_add(step);
    let pairs: Vec<_> = (0..count.div_ceil(2)).map(|i| threefry([0x89ab_cdef, 0x0123_4567], [i, mixed])).collect();
    let words: Vec<u32> = pairs.concat().into_iter().take(count as usize).collect();
    let share = |word: &u32| f64::from(word >> 8) / 16_777_216.0;
    let normal = |[a, b]: &[u32; 2]| {
        let radius = (-2.0 * (share(a) + 0.5_f64.powi(24)).ln()).sqrt();
        let angle = std::f64::consts::TAU * share(b);
        [radius * angle.cos(), radius * angle.sin()]
    };
    let expected = match form {
        Distribution::Bits => Expected::Words(words),
        Distribution::Uniform => Expected::Floats(words.iter().map(share).collect()),
        Distribution::Normal => Expected::Floats(pairs.iter().flat_map(normal).take(count as usize).collect()),
        Distribution::Keep(p) => {
            let kept = f64::from(1.0 / (1.0 - p));
            Expected::Floats(words.iter().map(|word| if share(word) < f64::from(p) { 0.0 } else { kept }).collect())
        }
    };
    let bound = if form == Distribution::Normal { within(2e-6, 2e-6) } else { Bound::Exact };
    case(format!("{form:?}, {count}"), bound, vec![vec![0, 0, step, 0]], vec![expected], |inputs, out| {
        dispatch(form, seed, stream, inputs[0].clone(), out[0].clone())
    })
}
