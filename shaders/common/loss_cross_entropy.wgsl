// Cross-entropy of class y with smoothing e over C classes, times the weight w of the row's class:
//   t_c = (1 - e) [c = y] + e / C; loss = -w sum_c t_c logp_c; slope_c = w (softmax_c - t_c); weight = w.
fn target4(q: u32, label: u32) -> vec4<f32> {
    let even = vec4<f32>(params.smoothing / f32(params.outputs));
    let is_own = vec4<u32>(4u * q) + LANES == vec4<u32>(label);
    return select(vec4<f32>(), select(even, even + 1.0 - params.smoothing, is_own), inside(q, params.outputs));
}

fn sample_loss(z_at: u32, row: u32) -> vec2<f32> {
    let label = min(u32(y[row]), params.outputs - 1u);
    let weight = class_weights[label];
    let n = quads(params.outputs);
    let none = vec4<f32>(-3.0e38);
    var top4 = none;
    for (var q = 0u; q < n; q++) { top4 = max(top4, select(none, scratch[z_at + q], inside(q, params.outputs))); }
    let top = max(max(top4.x, top4.y), max(top4.z, top4.w));
    var mass = 0.0;
    var drop = 0.0;
    for (var q = 0u; q < n; q++) {
        let z = scratch[z_at + q] - top;
        mass += dot(select(vec4<f32>(), exp4(z), inside(q, params.outputs)), vec4<f32>(1.0));
        drop += dot(target4(q, label), z);
    }
    for (var q = 0u; q < n; q++) {
        let p = exp4(scratch[z_at + q] - top) / mass;
        scratch[z_at + q] = select(vec4<f32>(), weight * (p - target4(q, label)), inside(q, params.outputs));
    }
    return vec2<f32>(weight * (log(mass) - drop), weight);
}
