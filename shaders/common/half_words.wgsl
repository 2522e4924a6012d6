// Words of two halves, the first in the low one; half_f16 or half_bf16 converts them.
fn half_at(word: u32, at: u32) -> f32 { return float_of((word >> (16u * (at & 1u))) & 0xffffu); }

fn four_of(words: vec2<u32>) -> vec4<f32> {
    return vec4<f32>(half_at(words.x, 0u), half_at(words.x, 1u), half_at(words.y, 0u), half_at(words.y, 1u));
}

fn word_of(x: f32, y: f32) -> u32 { return half_of(x) | (half_of(y) << 16u); }
