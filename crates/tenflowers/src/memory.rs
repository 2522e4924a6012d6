//! Memory by the guide's names.

use super::place;
use meromorph::device::Device;
use meromorph::error::{Error, Result};
use meromorph::profile::{Leak, MemoryProfile};

/// Bytes of the guide's unit.
const MB: f64 = (1 << 20) as f64;

/// Follows the memory of a device between checkpoints, by the device's own pool. A checkpoint first runs what is recorded and not yet run.
///
/// ```
/// use meromorph_tenflowers::GradientMemoryProfiler;
/// use meromorph::prelude::*;
///
/// let device = Device::cpu(1);
/// let mut profiler = GradientMemoryProfiler::on(&device);
/// profiler.start_profiling();
/// profiler.record_checkpoint("before_forward")?;
/// let kept = Tensor::from_f32(&device, [1 << 18], &vec![1.0; 1 << 18])?;
/// profiler.record_checkpoint("after_forward")?;
/// assert_eq!(profiler.get_memory_delta("before_forward", "after_forward")?, Some(1.0));
/// assert_eq!(profiler.get_memory_delta("before_forward", "after_backward")?, None);
/// assert_eq!(profiler.get_current_usage_mb(), 1.0);
/// for step in 0..3 {
///     profiler.record_checkpoint(format!("step {step}"))?;
/// }
/// let leaks = profiler.detect_leaks()?;
/// assert_eq!((leaks.num_suspicious, leaks.bytes), (1, 1 << 20), "the tensor is still there");
/// drop(kept);
/// assert_eq!(profiler.detect_leaks()?.num_suspicious, 0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
pub struct GradientMemoryProfiler {
    device: Option<Device>,
    profile: Option<MemoryProfile>,
}

/// Memory that is probably never released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeakReport {
    /// Number of entries.
    pub num_suspicious: usize,
    /// Bytes of the buffers among them; those by which a tag has grown are the same ones.
    pub bytes: u64,
    /// The largest first.
    pub entries: Vec<Leak>,
}

impl GradientMemoryProfiler {
    /// Follows nothing yet; then the device that tapes of this thread used last.
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows nothing yet; then this device.
    pub fn on(device: &Device) -> Self {
        Self { device: Some(device.clone()), profile: None }
    }

    /// Follows the device from here on, instead of an earlier profile.
    pub fn start_profiling(&mut self) {
        self.profile = Some(MemoryProfile::of(&self.device()));
    }

    fn device(&self) -> Device {
        self.device.clone().unwrap_or_else(place::current)
    }

    /// Notes the memory in use under a name. Errors if profiling has not started, as the calls about checkpoints do, or if the device fails.
    pub fn record_checkpoint(&mut self, name: impl Into<String>) -> Result<()> {
        let profile = self.profile()?;
        profile.device().flush()?;
        profile.mark(name);
        Ok(())
    }

    /// What is in use at one checkpoint and not at another, in units of 2^20 bytes; negative if it has become less, `None` if a name is not known.
    pub fn get_memory_delta(&self, from: &str, to: &str) -> Result<Option<f64>> {
        let delta = self.profile()?.delta(from, to).ok();
        Ok(delta.map(|bytes| bytes.total() as f64 / MB))
    }

    /// Memory in use now, in units of 2^20 bytes; it needs no start.
    pub fn get_current_usage_mb(&self) -> f64 {
        let device = self.profile.as_ref().map_or_else(|| self.device(), |profile| profile.device().clone());
        device.counters().live_bytes as f64 / MB
    }

    /// The most memory in use at once since the start, in units of 2^20 bytes: what a batch needs, whose results are gone afterwards.
    pub fn get_peak_usage_mb(&self) -> Result<f64> {
        Ok(self.profile()?.peak_bytes() as f64 / MB)
    }

    /// Results that are still in memory three checkpoints after they were made, and kinds of memory that have grown at each of four checkpoints.
    pub fn detect_leaks(&self) -> Result<LeakReport> {
        let entries = self.profile()?.leaks();
        let buffers = entries.iter().filter(|leak| matches!(leak, Leak::Buffer { .. }));
        Ok(LeakReport { num_suspicious: entries.len(), bytes: buffers.map(Leak::bytes).sum(), entries })
    }

    fn profile(&self) -> Result<&MemoryProfile> {
        self.profile
            .as_ref()
            .ok_or_else(|| Error::usage("memory: nothing is profiled: expected start_profiling before"))
    }
}
