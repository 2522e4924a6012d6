//! What the driver says: its GPUs, and why a call failed.

use cudarc::driver::result::device;
use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{CudaContext, DriverError};

use crate::device::info::{Execution, Info, Tiles};
use crate::error::{Error, Result};

/// The name of the device.
pub(super) const NAME: &str = "cuda";
/// Lanes of a warp.
const WARP: u32 = 32;
/// The first driver (CUDA 12.8) with the timer that the bindings call.
const TIMER_DRIVER: i32 = 12_080;
/// A kernel counts bytes of a buffer in 32 bits: the largest size class below 4 GiB.
const MOST_BYTES: u64 = 15 << 28;

/// The result of a call of the driver.
pub(super) type DriverResult<T> = std::result::Result<T, DriverError>;

pub(super) fn failed(error: DriverError) -> Error {
    let text = error.error_string().map_or_else(|_| format!("{error:?}"), |text| text.to_string_lossy().into_owned());
    Error::device(format!("cuda: {text}"))
}

/// The number of GPUs. Errors if there is no driver or no GPU.
pub(super) fn count() -> Result<usize> {
    let absent = |why: &str| {
        Err(Error::device(format!(
            "device \"cuda\" is absent: {why} (is an NVIDIA driver installed?); \"webgpu\" and \"cpu\" need none"
        )))
    };
    #[allow(unsafe_code, reason = "loading a library runs its initialisers")]
    // SAFETY: the driver's initialisers may run in any thread and at any time.
    if !unsafe { sys::is_culib_present() } {
        return absent("got no libcuda on the library path");
    }
    match CudaContext::device_count() {
        Ok(0) => absent("the driver found no GPU"),
        Ok(count) => Ok(count as usize),
        Err(error) => absent(&format!("the driver failed with {error:?}")),
    }
}

pub(super) fn list() -> Vec<Info> {
    (0..count().unwrap_or(0)).filter_map(|index| describe(index, "").ok()).collect()
}

/// What the driver says of a GPU, without opening it.
pub(super) fn describe(index: usize, compiler: &str) -> DriverResult<Info> {
    use CUdevice_attribute as A;
    let gpu = device::get(index as i32)?;
    #[allow(unsafe_code, reason = "the driver answers")]
    // SAFETY: the driver gave the GPU's handle.
    let attribute = |which| unsafe { device::get_attribute(gpu, which) };
    #[allow(unsafe_code, reason = "the driver answers")]
    // SAFETY: as above.
    let bytes = unsafe { device::total_mem(gpu) }? as u64;
    let major = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let processors = attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let shared_bytes = attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
    let version = driver_version()?;
    let [of_major, of_minor] = [version / 1000, version % 1000 / 10];
    let driver = format!(
        "compute capability {major}.{minor}, {processors} multiprocessors, driver for CUDA {of_major}.{of_minor}, {compiler}"
    );
    let timestamps = (version >= TIMER_DRIVER).then_some("timestamps");
    Ok(Info {
        device: NAME,
        name: device::get_name(gpu)?,
        driver: driver.trim_end_matches([' ', ',']).to_owned(),
        execution: Execution::Shaders,
        tiles: Tiles::ManySmall,
        is_software: false,
        threads: 1,
        max_binding_bytes: bytes.min(MOST_BYTES),
        workgroup_bytes: shared_bytes as u32,
        subgroup: WARP,
        features: ["f16", "subgroups"].into_iter().chain(timestamps).map(String::from).collect(),
    })
}

/// The CUDA version that the driver is for: 13,000 for 13.0.
fn driver_version() -> DriverResult<i32> {
    let mut version = 0;
    #[allow(unsafe_code, reason = "the driver answers")]
    // SAFETY: the number can be written.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version)
}
