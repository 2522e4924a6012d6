// Sums and maxima over the LANES invocations that share a row: all 128 of a workgroup in a tree, or one alone. Every lane gets the result.

var<workgroup> partial: array<f32, 128>;

fn tree_sum(lane: u32, value: f32) -> f32 {
    if LANES == 1u {
        return value;
    }
    // The barrier before the first write: the last result may still be being read.
    workgroupBarrier();
    partial[lane] = value;
    for (var half = LANES / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if lane < half {
            partial[lane] += partial[lane + half];
        }
    }
    workgroupBarrier();
    return partial[0];
}

fn tree_max(lane: u32, value: f32) -> f32 {
    if LANES == 1u {
        return value;
    }
    workgroupBarrier();
    partial[lane] = value;
    for (var half = LANES / 2u; half > 0u; half = half / 2u) {
        workgroupBarrier();
        if lane < half {
            partial[lane] = max(partial[lane], partial[lane + half]);
        }
    }
    workgroupBarrier();
    return partial[0];
}
