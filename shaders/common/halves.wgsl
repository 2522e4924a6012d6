// WGSL does not define conversions to f16 beyond ±65,504, nor the handling of NaN and infinities. So such values are detected by their bits,
// replaced by 0 and recorded in `is_beyond`.
var<private> is_beyond: bool;

/// z rounded as in scratch; elements outside the layer are ignored.
fn as_kept(z: vec4<f32>, is_own: vec4<bool>) -> vec4<f32> { return wide(narrow(select(vec4<f32>(), z, is_own))); }

fn is_lost() -> bool { return is_beyond; }

fn within_half(z: vec4<f32>) -> vec4<f32> {
    let beyond = (bitcast<vec4<u32>>(z) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x477fe000u);
    is_beyond = is_beyond || any(beyond);
    return select(z, vec4<f32>(), beyond);
}
