//! Several kernels that take turns for many steps in one launch, with a barrier of the whole grid after each.

use super::module::parsed;
use super::part::{Part, global};
use super::printed::{ENTRY, Form, Printed};
use super::printer::Printer;
use crate::error::Result;

/// A kernel of several in one launch.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its composed WGSL.
    pub source: String,
    /// How it is printed.
    pub form: Form,
    /// Its workgroups.
    pub groups: u32,
}

/// Prints kernels that run one after the other, as often as the launch says. After the arguments of each comes a counter, which is 0, and the number of
/// turns. The launch is a cooperative one with any number of blocks: they take the workgroups of each kernel in turn. Threads beyond those of a kernel do
/// nothing in it. `None` if a kernel has a block that is no multiple of a warp, as its barriers count warps.
pub fn whole(kernels: &[Member]) -> Result<Option<Printed>> {
    let mut parts = Vec::new();
    for (at, Member { source, form, .. }) in kernels.iter().enumerate() {
        parts.push(parsed(source, *form, |printer| {
            Printer { is_part: true, ..*printer }.part(&format!("kernel_{at}"))
        })?);
    }
    if parts.iter().any(|part| part.threads % 32 != 0) {
        return Ok(None);
    }
    let threads = parts.iter().map(|part| part.threads).max().unwrap_or(32);
    let mut text: String = parts.iter().map(|part| part.text.as_str()).collect();
    let (mut parameters, mut steps) = (Vec::new(), String::new());
    for (at, (part, Member { groups, .. })) in parts.iter().zip(kernels).enumerate() {
        let (prefix, Part { namespace, threads: own, .. }) = (format!("of_{at}_"), part);
        // Restricted pointers would let the compiler read what an earlier turn left in a cache.
        parameters.extend(part.parameters(&prefix, ""));
        steps += &format!(
            "        if (threadIdx.x < {own}u) {{\n            for (u32 group = blockIdx.x; group < {groups}u; group += gridDim.x) {{\n                \
             {namespace}::Bound bound{{{}}};\n                bound.run({{group, 0u, 0u}}, {{{groups}u, 1u, 1u}});\n                \
             barrier_of_first<{own}>();\n            }}\n        }}\n        barrier_of_grid(counter, ++turn);\n",
            part.values(&prefix)
        );
    }
    parameters.push("u32* counter, u32 turns".to_owned());
    text += &format!(
        "{} {ENTRY}({}) {{\n    u32 turn = 0u;\n#pragma unroll 1\n    for (u32 step = 0u; step < turns; ++step) {{\n{steps}    }}\n}}\n",
        global(threads),
        parameters.join(", ")
    );
    let shared_bytes = parts.iter().map(|part| part.shared_bytes).max().unwrap_or(0);
    let arguments = parts.into_iter().map(|part| part.arguments).collect();
    Ok(Some(Printed { text, threads, shared_bytes, arguments }))
}
