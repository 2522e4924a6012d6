// Copies the rows of this step: xb[s, :] = x[order[s], :], yb[s, :] = y[order[s], :], wb[s] = 1; a short last batch is filled up with copies
// of its first row with wb[s] = 0. Reads the step and the cursor from control[0..2], writes step + 1 and the cursor to control[2..4].

struct Params {
    rows: u32,
    batch: u32,
    steps: u32,
    inputs: u32,
    targets: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> y: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> control: array<u32>;
@group(0) @binding(4) var<storage, read_write> xb: array<u32>;
@group(0) @binding(5) var<storage, read_write> yb: array<u32>;
@group(0) @binding(6) var<storage, read_write> wb: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;

fn is_present(s: u32) -> bool {
    return control[1] * params.batch + s < params.rows;
}

fn source_row(s: u32) -> u32 {
    return order[4u * params.steps + control[1] * params.batch + select(0u, s, is_present(s))];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = group_number(group, groups) * 256u + lane;
    if i < params.batch * params.inputs {
        xb[i] = x[source_row(i / params.inputs) * params.inputs + i % params.inputs];
    }
    if i < params.batch * params.targets {
        yb[i] = y[source_row(i / params.targets) * params.targets + i % params.targets];
    }
    if i < params.batch {
        wb[i] = select(0.0, 1.0, is_present(i));
    }
    if i == 0u {
        control[2] = control[0] + 1u;
        control[3] = control[1];
    }
}
