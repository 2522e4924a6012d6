// A quotient of sizes, of which b is larger. Sizes near the largest float are made smaller first: a device may take a quotient by more than 2^126 for 0.
fn share_of(a: vec4<f32>, b: f32) -> vec4<f32> {
    let scale = select(1.0, 0.0625, b > 1e18);
    return (scale * a) / (scale * b);
}

// Norms as figures: (largest size, sum of squares over the largest's, how many numbers are not finite, how many are 0), so that no square overflows.
fn joined(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    let largest = max(a.x, b.x);
    if (largest <= 0.0) { return vec4<f32>(0.0, 0.0, a.zw + b.zw); }
    let shares = share_of(vec4<f32>(a.x, b.x, 0.0, 0.0), largest);
    return vec4<f32>(largest, a.y * shares.x * shares.x + b.y * shares.y * shares.y, a.zw + b.zw);
}

// Numbers that are not finite count as 0 in the norm.
fn figure_of(g: vec4<f32>) -> vec4<f32> {
    let is_finite = (bitcast<vec4<u32>>(g) & vec4<u32>(0x7f800000u)) != vec4<u32>(0x7f800000u);
    let sizes = select(vec4<f32>(), abs(g), is_finite);
    let largest = max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
    let bad = dot(select(vec4<f32>(1.0), vec4<f32>(), is_finite), vec4<f32>(1.0));
    let zeros = dot(select(vec4<f32>(), vec4<f32>(1.0), g == vec4<f32>()), vec4<f32>(1.0));
    if (largest <= 0.0) { return vec4<f32>(0.0, 0.0, bad, zeros); }
    let shares = share_of(sizes, largest);
    return vec4<f32>(largest, dot(shares, shares), bad, zeros);
}
