// A loss that is a mean over outputs of `loss4(z, y)`: replaces z by its gradient, returns (loss, weight 1).
struct Loss4 { value: vec4<f32>, slope: vec4<f32> }

fn y_word(row: u32, o: u32) -> f32 {
    if (o >= params.targets) { return 0.0; }
    return y[row * params.targets + o];
}

fn sample_loss(z_at: u32, row: u32) -> vec2<f32> {
    let share = 1.0 / f32(params.outputs);
    var sum = 0.0;
    for (var q = 0u; q < quads(params.outputs); q++) {
        let expected = vec4<f32>(y_word(row, 4u * q), y_word(row, 4u * q + 1u), y_word(row, 4u * q + 2u), y_word(row, 4u * q + 3u));
        let mask = select(vec4<f32>(), vec4<f32>(share), inside(q, params.outputs));
        let loss = loss4(scratch[z_at + q], expected);
        scratch[z_at + q] = mask * loss.slope;
        sum += dot(mask, loss.value);
    }
    return vec2<f32>(sum, 1.0);
}
