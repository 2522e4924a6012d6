// Sums and maxima over the LANES invocations that share a row: all 128 of a workgroup in a tree, or one alone. Every lane gets the result.
// Lane i is combined with the lanes 1, 2, 4, … after it, distances below SUBGROUP without memory: the tree is the same for any SUBGROUP.

var<workgroup> partial: array<f32, 128>;

fn tree_sum(lane: u32, value: f32) -> f32 {
    if LANES == 1u {
        return value;
    }
    var sum = value;
    for (var apart = 1u; apart < SUBGROUP; apart *= 2u) {
        sum += exchanged(sum, apart);
    }
    // Barrier before the first write: other lanes may still be reading the last result.
    workgroupBarrier();
    if lane % SUBGROUP == 0u {
        partial[lane] = sum;
    }
    for (var apart = SUBGROUP; apart < LANES / 2u; apart *= 2u) {
        workgroupBarrier();
        if lane % (2u * apart) == 0u {
            partial[lane] += partial[lane + apart];
        }
    }
    workgroupBarrier();
    return partial[0] + partial[LANES / 2u];
}

fn tree_max(lane: u32, value: f32) -> f32 {
    if LANES == 1u {
        return value;
    }
    var top = value;
    for (var apart = 1u; apart < SUBGROUP; apart *= 2u) {
        top = max(top, exchanged(top, apart));
    }
    workgroupBarrier();
    if lane % SUBGROUP == 0u {
        partial[lane] = top;
    }
    for (var apart = SUBGROUP; apart < LANES / 2u; apart *= 2u) {
        workgroupBarrier();
        if lane % (2u * apart) == 0u {
            partial[lane] = max(partial[lane], partial[lane + apart]);
        }
    }
    workgroupBarrier();
    return max(partial[0], partial[LANES / 2u]);
}
