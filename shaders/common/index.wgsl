// Indices of a row-major space of four dimensions, and of a grid folded into two.

fn coordinates(index: u32, dims: vec4<u32>) -> vec4<u32> {
    let inner = index / dims.w;
    let middle = inner / dims.z;
    return vec4<u32>(middle / dims.y, middle % dims.y, inner % dims.z, index % dims.w);
}

fn offset(c: vec4<u32>, strides: vec4<u32>) -> u32 {
    return c.x * strides.x + c.y * strides.y + c.z * strides.z + c.w * strides.w;
}

// The number of a workgroup in a grid of 32,768 columns.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.y * groups.x + group.x;
}
