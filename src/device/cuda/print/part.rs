//! A kernel as text, and the function that the driver launches to run it.

use super::printed::{Arguments, ENTRY};

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
    pub(super) fn parameters(&self, prefix: &str, restrict: &str) -> Vec<String> {
        let buffer = |(ty, name): &(String, String)| format!("{ty}{restrict} {prefix}{name}, u32 {prefix}{name}_bytes");
        let uniform = self.uniform.iter().map(|(ty, name)| format!("const __grid_constant__ {ty} {prefix}{name}"));
        self.buffers.iter().map(buffer).chain(uniform).collect()
    }

    /// The values that bind these parameters.
    pub(super) fn values(&self, prefix: &str) -> String {
        let buffer = |(_, name): &(String, String)| format!("{prefix}{name}, {prefix}{name}_bytes");
        let uniform = self.uniform.iter().map(|(_, name)| format!("{prefix}{name}"));
        self.buffers.iter().map(buffer).chain(uniform).collect::<Vec<_>>().join(", ")
    }
}

/// How a function that the driver launches begins.
pub(super) fn global(threads: u32) -> String {
    format!("extern \"C\" __global__ void __launch_bounds__({threads})")
}
