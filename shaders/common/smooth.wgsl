// Smooth functions that neither overflow nor cancel.

/// exp of min(z, 80), far from overflow; NaN stays NaN. By select, since min takes SwiftShader twice as long as exp itself, and by bits, for z from 80
/// to infinity, since NVIDIA's compiler makes a min of `z > 80`.
fn exp4(z: vec4<f32>) -> vec4<f32> {
    let is_above = bitcast<vec4<u32>>(z) - vec4<u32>(0x42a00000u) <= vec4<u32>(0x3ce00000u);
    return exp(select(z, vec4<f32>(80.0), is_above));
}

fn sigmoid4(z: vec4<f32>) -> vec4<f32> { return 1.0 / (1.0 + exp4(-z)); }

/// Near 0 the odd series, elsewhere 1 - 2 / (1 + e^2z), which cancels near 0.
fn tanh4(z: vec4<f32>) -> vec4<f32> {
    let s = z * z;
    let near = z * (1.0 + s * (-0.33333334 + s * (0.13333334 + s * (-0.05396825 + s * 0.021869488))));
    return select(1.0 - 2.0 / (1.0 + exp4(2.0 * z)), near, abs(z) < vec4<f32>(0.25));
}

fn expm1_4(z: vec4<f32>) -> vec4<f32> {
    let near = z * (1.0 + z * (0.5 + z * (0.16666667 + z * (0.041666668 + z * (0.008333334 + z * 0.0013888889)))));
    return select(exp4(z) - 1.0, near, abs(z) < vec4<f32>(0.25));
}

/// log(1 + e^z) for z <= 0, by log(1 + t) = 2 artanh(t / (2 + t)) where t is small.
fn log1p_exp4(z: vec4<f32>) -> vec4<f32> {
    let t = exp4(z);
    let r = t / (2.0 + t);
    let s = r * r;
    let near = 2.0 * r * (1.0 + s * (0.33333334 + s * (0.2 + s * (0.14285715 + s * 0.11111111))));
    return select(log(1.0 + t), near, t < vec4<f32>(0.5));
}
