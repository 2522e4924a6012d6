// A head with separate features for numerators and denominators: `curve(z_at, feature)` returns (P or Q, its slope).

/// A denominator, d Q / d curve, d curve / d feature; k = 0 if a row's outputs share it.
fn denominator(z_at: u32, k: u32) -> vec3<f32> {
    let plain = curve(z_at, values() + k);
    return vec3<f32>(anchored(plain.x), plain.y);
}

fn free_pair(z_at: u32, o: u32) -> vec2<f32> {
    return vec2<f32>(curve(z_at, o).x, denominator(z_at, select(o, 0u, SHARED)).x);
}
