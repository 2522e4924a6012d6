//! A training step as one kernel: its launches take turns for many steps, with a barrier of the whole GPU in between instead of a launch.

use cudarc::driver::sys::{self, CUdevice_attribute};

use super::driver::{DriverResult, failed};
use super::gpu::Cuda;
use super::launch::{Loaded, Whole};
use super::print::{Form, Member, whole};
use crate::device::record::BoundCommand;
use crate::error::Result;

/// Launches of a plan that are made one kernel, at most: it takes as long to compile as all of them.
const WHOLE_LAUNCHES: usize = 4;

impl Cuda {
    /// All launches as one kernel, if they are few and all have sizes to compile in, as those of a training step have.
    pub(super) fn whole(&self, commands: &[BoundCommand]) -> Result<Option<Whole>> {
        if !self.makes_wholes || !(2..=WHOLE_LAUNCHES).contains(&commands.len()) {
            return Ok(None);
        }
        let (mut members, mut bound) = (Vec::new(), Vec::new());
        for command in commands {
            let BoundCommand::Dispatch { kernel, body, params, grid: [groups, 1, 1], inputs, outputs, .. } = command
            else {
                return Ok(None);
            };
            let Some(source) = self.sized(kernel, body.as_ref(), params) else { return Ok(None) };
            let form = Form { guards: self.guards, unrolls: true };
            members.push(Member { source, form, groups: *groups });
            bound.push(self.bound(inputs.iter().chain(outputs), params));
        }
        let Some(printed) = whole(&members)? else { return Ok(None) };
        if printed.shared_bytes > self.info.workgroup_bytes {
            return Ok(None);
        }
        let kernel = self.compiled(printed.text.clone(), "training step", || Ok(printed))?;
        let blocks = self
            .blocks_at_once(&kernel)
            .map_err(failed)?
            .min(members.iter().map(|member| member.groups).max().unwrap_or(1));
        if blocks == 0 {
            return Ok(None);
        }
        Whole::new(kernel, blocks, &bound).map(Some).map_err(failed)
    }

    /// Blocks of a kernel that the GPU runs at the same time.
    #[allow(unsafe_code, reason = "the driver answers")]
    fn blocks_at_once(&self, kernel: &Loaded) -> DriverResult<u32> {
        self.stream.context().bind_to_thread()?;
        let mut blocks = 0;
        let Loaded { function, threads, shared_bytes, .. } = *kernel;
        // SAFETY: the function is loaded, and the number can be written.
        unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function,
                threads as i32,
                shared_bytes as usize,
            )
        }
        .result()?;
        let processors =
            self.stream.context().attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok((blocks * processors) as u32)
    }
}
