// Sums over rows of a least-squares problem. The body has row_at(at), a row's weighted and rescaled residual and derivatives, which is zero where
// they are not finite, and sum_rows and write_sums, which are chosen by the number of parameters: common/normal_registers or
// common/normal_panel. A workgroup sums `per_group` rows into SIZE sums.

struct Params {
    rows: u32,
    first: u32,
    stride: u32,
    per_group: u32,
    scale: f32,
}

@group(0) @binding(0) var<storage, read> data: array<f32>;
@group(0) @binding(1) var<storage, read> scalars: array<f32>;
@group(0) @binding(2) var<storage, read_write> partials: array<f32>;
@group(0) @binding(3) var<storage, read_write> bad: array<u32>;
@group(1) @binding(0) var<uniform> params: Params;

// Integers: their sum and minimum are the same in any order.
var<workgroup> bad_rows: atomic<u32>;
var<workgroup> first_bad: atomic<u32>;

// The exponent of a number that is not finite. Found by bits, because compilers may assume that there is none.
const NOT_FINITE: u32 = 0x7f800000u;

fn exponent(x: f32) -> u32 { return bitcast<u32>(x) & NOT_FINITE; }

fn count_bad(at: u32) {
    atomicAdd(&bad_rows, 1u);
    atomicMin(&first_bad, at);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        atomicStore(&bad_rows, 0u);
        atomicStore(&first_bad, 0xffffffffu);
    }
    workgroupBarrier();
    let first = min(group.x * params.per_group, params.rows);
    let last = min(first + params.per_group, params.rows);
    sum_rows(params.first + first, params.first + last, lane);
    workgroupBarrier();
    if lane == 0u {
        bad[2u * group.x] = atomicLoad(&bad_rows);
        bad[2u * group.x + 1u] = atomicLoad(&first_bad);
    }
    write_sums(group.x * SIZE, lane);
}
