// After its last quads a sample keeps its features, then d loss / d polynomial of each, for the coefficients' gradients.
fn pass_down(z_at: u32, feature: u32, d: f32, slope: f32) {
    let n = quads(params.outputs);
    set_word(z_at + n, feature, word(z_at, feature));
    set_word(z_at + 2u * n, feature, d);
    set_word(z_at, feature, d * slope);
}

/// partials: sum over samples of d phi_k(feature), for each feature and degree; one sum per invocation.
fn gradient_of_coefficients(at: u32, count: u32, lane: u32, out_at: u32) {
    let above = values();
    let below = params.outputs - above;
    let first = above * (NUMERATOR + 1u);
    for (var i = lane; i < first + below * (DENOMINATOR + 1u); i += LANES_PER_PART) {
        if (i < first) {
            let k = i / above;
            let sum = coefficient_sum(at, i - k * above, k, count);
            put_partial(out_at + params.numerator + k * step_of(above) + i - k * above, sum);
        } else {
            let k = (i - first) / below;
            let sum = coefficient_sum(at, above + i - first - k * below, k, count);
            put_partial(out_at + params.denominator + k * step_of(below) + i - first - k * below, sum);
        }
    }
}

fn coefficient_sum(at: u32, feature: u32, k: u32, count: u32) -> f32 {
    let n = quads(params.outputs);
    var sum = 0.0;
    for (var s = 0u; s < count; s++) {
        let sample = at + s * params.stride;
        sum += word(sample + n, feature) * basis(k, word(sample, feature));
    }
    return sum;
}
