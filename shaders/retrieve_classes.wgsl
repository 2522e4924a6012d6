// Per query: the share p of its own class among the candidates, relaxed under a nudge of either sign, and the pull of each key.
// A class is one number, so that a state of the relaxation is one number too. A workgroup per row.

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = group_number(group, groups);
    if row >= params.rows {
        return;
    }
    let base = row * params.keys;
    let filled = min(u32(control[0]), params.keys);
    let curvature = control[1];
    let sharpness = params.sharpness * curvature;
    let class_of_row = targets[2u * row];
    var nearest = vec2<f32>(LOWEST);
    for (var key = lane; key < filled; key += LANES) {
        let apart = distance_of(row, key);
        pulls[base + key] = apart;
        if apart >= 0.0 {
            let is_own = state_at(key, 0u) == class_of_row;
            nearest = max(nearest, select(vec2(LOWEST, -apart), vec2(-apart, LOWEST), is_own));
        }
    }
    nearest = vec2(tree_max(lane, nearest.x), tree_max(lane, nearest.y));
    // Of the query's class and of the others: sums of weights, and of weights times distances.
    var sums = vec4<f32>(0.0);
    for (var key = lane; key < filled; key += LANES) {
        let apart = pulls[base + key];
        if apart >= 0.0 {
            let is_own = state_at(key, 0u) == class_of_row;
            let weight = exp(-sharpness * (apart + select(nearest.y, nearest.x, is_own)));
            sums += weight * select(vec4(0.0, 1.0, 0.0, apart), vec4(1.0, 0.0, apart, 0.0), is_own);
        }
    }
    sums = vec4(tree_sum(lane, sums.x), tree_sum(lane, sums.y), tree_sum(lane, sums.z), tree_sum(lane, sums.w));
    let has = vec2<bool>(nearest.x > LOWEST, nearest.y > LOWEST);
    let logs = select(vec2<f32>(0.0), sharpness * nearest + log(max(sums.xy, vec2(1e-30))), has);
    let gap = logs.x - logs.y;
    let is_open = has.x && has.y;
    let free = select(select(0.0, 1.0, has.x), share(gap), is_open);
    let up = relaxed(free, gap, params.sharpness * params.nudge);
    let down = relaxed(free, gap, -params.sharpness * params.nudge);
    let change = select((up - free) / params.nudge, (up - down) / (2.0 * params.nudge), IS_SYMMETRIC);
    let slope = select(0.0, curvature * change, is_open);
    for (var key = lane; key < params.keys; key += LANES) {
        var pull = 0.0;
        if key < filled {
            let apart = pulls[base + key];
            if apart >= 0.0 {
                let is_own = state_at(key, 0u) == class_of_row;
                let weight = exp(-sharpness * (apart + select(nearest.y, nearest.x, is_own)));
                pull = slope * weight * select(-1.0 / sums.y, 1.0 / sums.x, is_own) / apart;
            }
        }
        pulls[base + key] = pull;
    }
    if lane == 0u {
        let means = select(vec2<f32>(0.0), sums.zw / max(sums.xy, vec2(1e-30)), has);
        let apart = free * means.x + (1.0 - free) * means.y;
        let log_top = max(select(LOWEST, logs.x, has.x), select(LOWEST, logs.y, has.y));
        let log_sum = log_top + select(0.0, log(1.0 + exp(-abs(gap))), is_open);
        let place = row * (FIGURES + 1u);
        found[place] = -log(free + FLOOR);
        found[place + 1u] = curvature * apart;
        found[place + 2u] = apart;
        found[place + 3u] = select(0.0, -sharpness * apart - log_sum, has.x || has.y);
        found[place + 4u] = free;
    }
}

fn share(gap: f32) -> f32 {
    return 1.0 / (1.0 + exp(-clamp(gap, -80.0, 80.0)));
}

// The share under a nudge by the slope of the loss at the relaxed p. Upwards the share falls as p grows: a step is shortened by that slope, without
// which it would jump over the resting point for ever.
fn relaxed(start: f32, gap: f32, nudge: f32) -> f32 {
    var p = start;
    for (var step = 0u; step < params.steps; step++) {
        let next = share(gap + nudge / (p + FLOOR));
        let slope = max(nudge, 0.0) * next * (1.0 - next) / ((p + FLOOR) * (p + FLOOR));
        p += params.rate * (next - p) / (1.0 + slope);
    }
    return share(gap + nudge / (p + FLOOR));
}
