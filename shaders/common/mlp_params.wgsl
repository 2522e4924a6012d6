// Shape and scalars of an MLP step. A layer is (inputs, outputs, offset of W, offset of b) in words.
// From gamma on the fields belong to projective heads: numerator and denominator are the first words of the coefficients of degree 0.
struct Params {
    rows: u32, batch: u32, steps: u32, parts: u32,
    inputs: u32, outputs: u32, targets: u32, total: u32,
    depth: u32, span: u32, stride: u32, smoothing: f32,
    gamma: f32, shift: f32, scale: f32, tau_low: f32,
    tau_high: f32, implicit: f32, chordal: f32, decoded: f32,
    margin: f32, sign: f32, sign_within: f32, numerator: u32,
    denominator: u32, seed_low: u32, seed_high: u32, stream: u32,
    layers: array<vec4<u32>, 16>,
}

const LANES = vec4<u32>(0u, 1u, 2u, 3u);

fn quads(words: u32) -> u32 { return (words + 3u) >> 2u; }

/// Which of the four words of quad `q` are below `words`. Signed, since SwiftShader needs eight instructions for an unsigned comparison.
fn inside(q: u32, words: u32) -> vec4<bool> { return vec4<i32>(vec4<u32>(4u * q) + LANES) < vec4<i32>(i32(words)); }
