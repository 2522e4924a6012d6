// A pair loss for one output of a row: (value, its gradient by the free P and Q). The expected pair is word `o` of each half of y's row.
fn graded(free: vec2<f32>, row: u32, o: u32, tau: f32) -> vec3<f32> {
    let at = row * params.targets + o;
    let size = pair_size(free);
    let pair = free / size;
    let loss = pair_loss(pair, vec2<f32>(y[at], y[at + values()]), tau);
    return vec3<f32>(loss.x, through_normalization(loss.yz, pair, size)) / f32(values());
}
