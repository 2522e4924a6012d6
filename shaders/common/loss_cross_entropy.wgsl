// Cross-entropy of class y with class weights w and smoothing e over C classes, as torch:
//   t_c = (1 - e) w_y [c = y] + e w_c / C; loss = -sum_c t_c logp_c; slope_c = softmax_c sum t - t_c; weight = w_y.
fn target4(q: u32, label: u32) -> vec4<f32> {
    let c = vec4<u32>(4u * q) + LANES;
    let last = vec4<u32>(params.outputs - 1u);
    let safe = min(c, last);
    let w = vec4<f32>(class_weights[safe.x], class_weights[safe.y], class_weights[safe.z], class_weights[safe.w]);
    let even = vec4<f32>(params.smoothing / f32(params.outputs));
    return select(vec4<f32>(), w * select(even, even + 1.0 - params.smoothing, c == vec4<u32>(label)), c <= last);
}

fn sample_loss(z_at: u32, row: u32) -> vec2<f32> {
    let label = min(u32(y[row]), params.outputs - 1u);
    let n = quads(params.outputs);
    let none = vec4<f32>(-3.0e38);
    var top4 = none;
    for (var q = 0u; q < n; q++) { top4 = max(top4, select(none, scratch[z_at + q], inside(q, params.outputs))); }
    let top = max(max(top4.x, top4.y), max(top4.z, top4.w));
    var mass = 0.0;
    var total = 0.0;
    var drop = 0.0;
    for (var q = 0u; q < n; q++) {
        let z = scratch[z_at + q] - top;
        let t = target4(q, label);
        mass += dot(select(vec4<f32>(), exp4(z), inside(q, params.outputs)), vec4<f32>(1.0));
        total += dot(t, vec4<f32>(1.0));
        drop += dot(t, z);
    }
    for (var q = 0u; q < n; q++) {
        let p = exp4(scratch[z_at + q] - top) / mass;
        scratch[z_at + q] = select(vec4<f32>(), total * p - target4(q, label), inside(q, params.outputs));
    }
    return vec2<f32>(total * log(mass) - drop, class_weights[label]);
}
