// Storage of quads in scratch: f16, two per word, for devices without an f16 type.
alias Kept = vec2<u32>;

fn wide(quad: Kept) -> vec4<f32> { return vec4<f32>(unpack2x16float(quad.x), unpack2x16float(quad.y)); }

fn narrow(quad: vec4<f32>) -> Kept {
    let held = within_half(quad);
    return vec2<u32>(pack2x16float(held.xy), pack2x16float(held.zw));
}
