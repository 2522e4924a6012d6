// Limits of a gradient whose sums and norms come from `fold`. The state: updates applied and left out in this epoch, how many were limited and
// the largest norm; then mean, variance and number of the norms of the past; then the loss scale. After both copies comes the scale of the next step.
const WEIGHT: u32 = 2u;
struct Limit { is_applied: bool, factor: f32, row: u32, share: f32 }
var<workgroup> figures: array<vec4<f32>, WORKGROUP>;

// Of a line, or after the lines of a workgroup of `fold`.
fn figure_at(at: u32) -> vec4<f32> { return partials[params.folded / 4u + 16u + at]; }

fn limited(invocation: u32, lane: u32, n: u32, scaled_share: f32, cursor: u32, is_last: bool) -> Limit {
    var own = vec4<f32>();
    for (var at = lane; at < params.figures; at += WORKGROUP) { own = joined(own, figure_at(params.folded / 64u + at)); }
    figures[lane] = own;
    workgroupBarrier();
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        if (lane < half) { figures[lane] = joined(figures[lane], figures[lane + half]); }
        workgroupBarrier();
    }
    let whole = figures[0];
    let place = ARRAYS * n;
    let read = place + 4u * (control[2] % 2u);
    let write = place + 4u * ((control[2] + 1u) % 2u);
    var scale = moments[read + 2u];
    let share = unscaled(scaled_share, scale.x);
    let largest = whole.x * share;
    let root = sqrt(whole.y);
    let norm = norm_of(largest, root);
    var counts = moments[read];
    if (cursor < params.group) { counts = vec4<f32>(); }
    var past = moments[read + 1u];
    let row = select(min(u32(counts.x) * params.group, params.steps - 1u), cursor, IS_SECOND);
    var factor = 1.0;
    let is_finite = whole.z == 0.0;
    if (is_last) {
        let most = most_allowed(past);
        factor = factor_for(largest, root, most);
        if (is_finite || !SKIPS) {
            past = remembered(past, norm, most);
            counts += vec4<f32>(1.0, 0.0, select(0.0, 1.0, factor < 1.0), 0.0);
            counts.w = max(counts.w, norm);
        } else {
            counts.y += 1.0;
        }
        scale = next_scale(scale, is_finite);
    }
    if (invocation == 0u) {
        moments[write] = counts;
        moments[write + 1u] = past;
        moments[write + 2u] = scale;
        moments[place + 8u] = vec4<f32>(scale.x, 0.0, 0.0, 0.0);
    }
    return Limit(is_last && (is_finite || !SKIPS), factor, row, share);
}
