// The sums of a's rows over p, by the workgroups past the last tile. The operand is stored transposed, so four neighbouring rows are a line.
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

// Fragments test it with `&`: naga takes the result of `&&` for one that differs between invocations.
const SUMS_ROWS: bool = true;

fn sum_rows(z: u32, row: u32, lane: u32) {
    let s = params.a_strides;
    let first = row * ROWS;
    for (var i = first + 4u * lane; i < min(first + ROWS, params.m); i += 4u * WORKGROUP) {
        var sum = vec4<f32>();
        for (var p = 0u; p < params.k; p++) { sum += a_line(z * s.x + i * s.y + p * s.z, s.y, s.w); }
        put_sum(i, sum.x);
        put_sum(i + 1u, sum.y);
        put_sum(i + 2u, sum.z);
        put_sum(i + 3u, sum.w);
    }
}

fn put_sum(i: u32, sum: f32) {
    if i < params.m { sums[i] = sum; }
}
