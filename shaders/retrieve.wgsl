// Per query: y = sum of w s over the keys' states, free and relaxed under a nudge of either sign, and the pull of each key. The weights of a tile of
// keys are in workgroup memory while every lane adds its columns of their states; a new largest logit rescales what was added. A workgroup per row.

const WIDEST: u32 = 768u;
// The mix of the phase that runs, the relaxed mix of the first phase, and the sums of a pass over the keys.
var<workgroup> mix: array<f32, WIDEST>;
var<workgroup> first: array<f32, WIDEST>;
var<workgroup> sums: array<f32, WIDEST>;
var<workgroup> weights: array<f32, LANES>;

// The largest logit of a pass, and the sum of exponentials over it.
struct Pass {
    top: f32,
    total: f32,
}

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
    for (var key = lane; key < filled; key += LANES) {
        pulls[base + key] = distance_of(row, key);
    }
    for (var i = lane; i < params.width; i += LANES) {
        mix[i] = 0.0;
    }
    storageBarrier();
    let free = pass_over(row, lane, filled, curvature, 0.0);
    let is_open = free.total > 0.0;
    let inverse = select(0.0, 1.0 / free.total, is_open);
    var means = vec2<f32>(0.0);
    for (var key = lane; key < filled; key += LANES) {
        let apart = pulls[base + key];
        if apart >= 0.0 {
            let logit = -params.sharpness * curvature * apart;
            means += exp(logit - free.top) * inverse * vec2(apart, logit - free.top);
        }
    }
    means = vec2(tree_sum(lane, means.x), tree_sum(lane, means.y));
    let place = row * (FIGURES + params.width);
    for (var i = lane; i < params.width; i += LANES) {
        mix[i] = sums[i] * inverse;
        found[place + FIGURES + i] = mix[i];
    }
    workgroupBarrier();
    let loss = loss_of(row, lane);
    if lane == 0u {
        found[place] = loss;
        found[place + 1u] = curvature * means.x;
        found[place + 2u] = means.x;
        found[place + 3u] = select(0.0, means.y - log(free.total), is_open);
    }
    relax(row, lane, filled, curvature, params.nudge);
    let up = pass_over(row, lane, filled, curvature, params.nudge);
    let up_slope = slope_of(row, lane);
    for (var i = lane; i < params.width; i += LANES) {
        first[i] = mix[i];
        mix[i] = found[place + FIGURES + i];
    }
    workgroupBarrier();
    var down = free;
    if IS_SYMMETRIC {
        relax(row, lane, filled, curvature, -params.nudge);
        down = pass_over(row, lane, filled, curvature, -params.nudge);
    }
    let down_slope = slope_of(row, lane);
    let apart_nudges = select(params.nudge, 2.0 * params.nudge, IS_SYMMETRIC);
    for (var key = lane; key < params.keys; key += LANES) {
        var pull = 0.0;
        let apart = select(-1.0, pulls[base + key], key < filled);
        if apart >= 0.0 {
            let logit = -params.sharpness * curvature * apart;
            var errors = vec2<f32>(0.0);
            for (var i = 0u; i < params.width; i++) {
                let target_value = targets[row * (params.width + 1u) + i];
                let state = state_at(key, i);
                errors += state * vec2(gradient(first[i], target_value, up_slope), gradient(mix[i], target_value, down_slope));
            }
            let above = exp(logit - params.sharpness * params.nudge * errors.x - up.top) / up.total;
            let back = select(0.0, params.sharpness * params.nudge * errors.y, IS_SYMMETRIC);
            let below = exp(logit + back - down.top) / down.total;
            pull = curvature * (above - below) / (apart_nudges * apart);
        }
        pulls[base + key] = pull;
    }
}

// y moves towards the mix under its own nudge, a part of the way each step.
fn relax(row: u32, lane: u32, filled: u32, curvature: f32, nudge: f32) {
    for (var step = 0u; step < params.steps; step++) {
        let sum = pass_over(row, lane, filled, curvature, nudge);
        let inverse = select(0.0, 1.0 / sum.total, sum.total > 0.0);
        for (var i = lane; i < params.width; i += LANES) {
            mix[i] += params.rate * (sums[i] * inverse - mix[i]);
        }
        workgroupBarrier();
    }
}

// Leaves in `sums` the states of the keys, weighted by exp(logit - top), the logits being nudged by the gradient of the cost at `mix`.
fn pass_over(row: u32, lane: u32, filled: u32, curvature: f32, nudge: f32) -> Pass {
    let slope = slope_of(row, lane);
    for (var i = lane; i < params.width; i += LANES) {
        sums[i] = 0.0;
    }
    var done = Pass(LOWEST, 0.0);
    for (var tile = 0u; tile < filled; tile += LANES) {
        let key = tile + lane;
        var logit = LOWEST;
        let apart = select(-1.0, pulls[row * params.keys + min(key, params.keys - 1u)], key < filled);
        if apart >= 0.0 {
            logit = -params.sharpness * curvature * apart;
            if nudge != 0.0 {
                var error = 0.0;
                for (var i = 0u; i < params.width; i++) {
                    let target_value = targets[row * (params.width + 1u) + i];
                    error += state_at(key, i) * gradient(mix[i], target_value, slope);
                }
                logit -= params.sharpness * nudge * error;
            }
        }
        let top = max(done.top, tree_max(lane, logit));
        let weight = select(0.0, exp(logit - top), apart >= 0.0);
        let kept = select(exp(done.top - top), 0.0, done.top == LOWEST);
        weights[lane] = weight;
        done = Pass(top, done.total * kept + tree_sum(lane, weight));
        let count = min(LANES, filled - tile);
        for (var i = lane; i < params.width; i += LANES) {
            var sum = sums[i] * kept;
            for (var at = 0u; at < count; at++) {
                sum += weights[at] * state_at(tile + at, i);
            }
            sums[i] = sum;
        }
        workgroupBarrier();
    }
    workgroupBarrier();
    return done;
}

// What the gradient of the cost by y needs of the whole row: y . target + FLOOR.
fn slope_of(row: u32, lane: u32) -> f32 {
    if IS_SQUARED {
        return 0.0;
    }
    var own = 0.0;
    for (var i = lane; i < params.width; i += LANES) {
        own += mix[i] * targets[row * (params.width + 1u) + i];
    }
    return tree_sum(lane, own) + FLOOR;
}

fn gradient(y: f32, target_value: f32, slope: f32) -> f32 {
    if IS_SQUARED {
        return y - target_value;
    }
    return -target_value / slope;
}

fn loss_of(row: u32, lane: u32) -> f32 {
    if !IS_SQUARED {
        return -log(slope_of(row, lane));
    }
    var sum = 0.0;
    for (var i = lane; i < params.width; i += LANES) {
        let apart = mix[i] - targets[row * (params.width + 1u) + i];
        sum += 0.5 * apart * apart;
    }
    return tree_sum(lane, sum);
}
