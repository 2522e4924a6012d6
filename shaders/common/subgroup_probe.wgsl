// Whether each lane sees the lanes beside it where the numbers of a workgroup's lanes say that they are, which WGSL does not promise.

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) lane: u32) {
    var is_right = SUBGROUP > 1u;
    for (var apart = 1u; apart < SUBGROUP; apart *= 2u) {
        // In a line of its own: what && may leave out is no uniform control flow.
        let other = beside_word(lane, apart);
        is_right = is_right && other == (lane ^ apart);
    }
    out[lane] = u32(is_right);
}
