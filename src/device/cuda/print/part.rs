//! What the driver launches: one kernel, or several that take turns for many steps in one launch, with a barrier of the whole grid after each.

use super::{Arguments, ENTRY, Form, Printed, Printer, parsed};
use crate::error::Result;

/// The name of the struct of a kernel's workgroup variables.
pub(super) const SHARED: &str = "SharedMemory";

/// A kernel in a namespace of its own, and what an entry point needs to run it.
pub(super) struct Part {
    pub(super) namespace: String,
    pub(super) text: String,
    pub(super) threads: u32,
    pub(super) shared_bytes: u32,
    /// Types and names of the buffers.
    pub(super) buffers: Vec<(String, String)>,
    /// Type, with its namespace, and name of the uniform.
    pub(super) uniform: Option<(String, String)>,
    pub(super) arguments: Arguments,
}

impl Part {
    /// The function that the driver launches: it binds the arguments and runs the kernel.
    pub(super) fn entry_point(&self) -> String {
        let Self { namespace, threads, .. } = self;
        let parameters = self.parameters("", " __restrict__").join(", ");
        format!(
            "using namespace {namespace};\n{} {ENTRY}({parameters}) {{\n    {namespace}::Bound bound{{{}}};\n    \
             bound.run({{blockIdx.x, blockIdx.y, blockIdx.z}}, {{gridDim.x, gridDim.y, gridDim.z}});\n}}\n",
            global(*threads),
            self.values("")
        )
    }

    /// The parameters of an entry point, with a prefix before their names.
    fn parameters(&self, prefix: &str, restrict: &str) -> Vec<String> {
        let buffer = |(ty, name): &(String, String)| format!("{ty}{restrict} {prefix}{name}, u32 {prefix}{name}_bytes");
        let uniform = self.uniform.iter().map(|(ty, name)| format!("const __grid_constant__ {ty} {prefix}{name}"));
        self.buffers.iter().map(buffer).chain(uniform).collect()
    }

    /// The values that bind these parameters.
    fn values(&self, prefix: &str) -> String {
        let buffer = |(_, name): &(String, String)| format!("{prefix}{name}, {prefix}{name}_bytes");
        let uniform = self.uniform.iter().map(|(_, name)| format!("{prefix}{name}"));
        self.buffers.iter().map(buffer).chain(uniform).collect::<Vec<_>>().join(", ")
    }
}

/// How a function that the driver launches begins.
fn global(threads: u32) -> String {
    format!("extern \"C\" __global__ void __launch_bounds__({threads})")
}

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
