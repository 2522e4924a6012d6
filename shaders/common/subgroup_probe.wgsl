// Checks that subgroup lanes follow the order of local_invocation_index, which WGSL does not guarantee.

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) lane: u32) {
    var is_right = SUBGROUP > 1u;
    for (var apart = 1u; apart < SUBGROUP; apart *= 2u) {
        // A separate statement: the right side of && would not be in uniform control flow.
        let other = exchanged_word(lane, apart);
        is_right = is_right && other == (lane ^ apart);
    }
    out[lane] = u32(is_right);
}
