// Beyond ±65,504 WGSL leaves a conversion to halves open, and a device may make what it likes of NaN and infinities. So what is beyond is seen
// by its bits, and said once it is known.
var<private> is_beyond: bool;

/// z as scratch would keep it; what is not the layer's own does not count.
fn as_kept(z: vec4<f32>, is_own: vec4<bool>) -> vec4<f32> { return wide(narrow(select(vec4<f32>(), z, is_own))); }

fn is_lost() -> bool { return is_beyond; }

fn within_half(z: vec4<f32>) -> vec4<f32> {
    let beyond = (bitcast<vec4<u32>>(z) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x477fe000u);
    is_beyond = is_beyond || any(beyond);
    return select(z, vec4<f32>(), beyond);
}
