// out[i], ⊥[i] = total(i), generated from a program of scalar ops in masked form. Eight invocations compute the 32 elements of a word of bits:
// the first computes elements 0, 8, 16 and 24, so that neighbours read neighbouring elements. They combine the bits in workgroup memory.

struct Params {
    dims: vec4<u32>,
    strides: array<vec4<u32>, 7>,
    fault_at: array<vec4<u32>, 2>,
    count: u32,
}

// A value and its cause: 0, BOTTOM or BOTTOM | FAULT.
struct Total {
    value: f32,
    cause: u32,
}

const BOTTOM: u32 = 1u;
const FAULT: u32 = 2u;
const LANES_PER_WORD: u32 = 8u;

@group(1) @binding(0) var<uniform> params: Params;

var<workgroup> found: array<vec2<u32>, 256>;

fn bit_of(word: u32, at: u32) -> u32 { return (word >> (at & 31u)) & 1u; }

// An operand from memory: its bits, the word of the mask and the word of the faults.
fn operand(word: u32, bottom: u32, fault: u32) -> Total {
    let cause = select(bottom + (bottom & fault) * 2u, BOTTOM | FAULT, bottom == 0u && !is_finite_word(word));
    return Total(bitcast<f32>(select(word, 0x3f800000u, cause != 0u)), cause);
}

// The first operand that is ⊥ gives the cause.
fn inherited(first: u32, second: u32) -> u32 { return select(first, second, first == 0u); }

fn own(is_inside: bool, fits: bool) -> u32 { return select(BOTTOM, select(BOTTOM | FAULT, 0u, fits), is_inside); }

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let start = (group_number(group, groups) * 256u + lane) / LANES_PER_WORD * 32u;
    var words = vec2<u32>(0u, 0u);
    for (var at = lane % LANES_PER_WORD; at < 32u; at += LANES_PER_WORD) {
        let i = start + at;
        if i < params.count {
            let result = total(i);
            out[i] = select(bitcast<u32>(result.value), 0u, result.cause != 0u);
            words |= vec2<u32>(result.cause & BOTTOM, (result.cause & FAULT) >> 1u) << vec2<u32>(at);
        }
    }
    found[lane] = words;
    workgroupBarrier();
    if lane % LANES_PER_WORD == 0u && start < params.count {
        for (var k = 1u; k < LANES_PER_WORD; k += 1u) {
            words |= found[lane + k];
        }
        write_bits(start / 32u, words);
    }
}
