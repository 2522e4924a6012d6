//! What a device is, how it runs kernels, and what it did.

/// A device and its capabilities.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Info {
    /// The name of its [`Entry`](super::Entry): `cuda`, `webgpu`, `cpu`, `dry`.
    pub device: &'static str,
    /// The adapter or processor.
    pub name: String,
    /// The driver or instruction set behind it.
    pub driver: String,
    /// How it runs kernels.
    pub execution: Execution,
    /// How kernels split their work for it.
    pub tiles: Tiles,
    /// Whether it is a GPU implemented in software. `auto` does not choose it.
    pub is_software: bool,
    /// Threads that run kernels; 1 if the device schedules them itself.
    pub threads: usize,
    /// Largest buffer a kernel may bind, in bytes.
    pub max_binding_bytes: u64,
    /// Memory shared by a workgroup, in bytes.
    pub workgroup_bytes: u32,
    /// Lanes of a workgroup that exchange values without a barrier: the smallest subgroup, or 1 without subgroups.
    pub subgroup: u32,
    /// Optional features it offers, by name.
    pub features: Vec<String>,
}

impl Info {
    /// Whether it calls each kernel's CPU path.
    pub fn runs_cpu_path(&self) -> bool {
        self.execution == Execution::CpuPath
    }
}

/// How a device runs kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Execution {
    /// It calls each kernel's CPU path.
    CpuPath,
    /// It compiles and runs each kernel's WGSL.
    Shaders,
    /// It only counts them.
    Nothing,
}

/// How kernels split their work for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tiles {
    /// Many small tiles, each for a workgroup. For GPUs.
    ManySmall,
    /// Few large tiles, about one workgroup for each core, in large register tiles. For llvmpipe.
    FewLarge,
    /// A tile for each invocation, with loads at addresses known at compile time. For SwiftShader.
    PerInvocation,
}

/// What a device did, in numbers; tests use it to detect changes of cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Kernel launches and copies run.
    pub launches: u64,
    /// Pipelines compiled.
    pub pipelines: u64,
    /// Bind groups created.
    pub bind_groups: u64,
    /// Bytes uploaded.
    pub uploaded_bytes: u64,
    /// Readbacks.
    pub readbacks: u64,
    /// Bytes of device memory in use now.
    pub live_bytes: u64,
    /// The most bytes ever in use.
    pub peak_bytes: u64,
    /// Floating-point operations of everything run.
    pub flops: u64,
}
