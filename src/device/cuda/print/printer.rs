//! A module while it is printed, and its global variables.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{AddressSpace, GlobalVariable, Handle, Module};

use super::names::safe;
use super::printed::Form;

/// A module that is being printed.
pub(super) struct Printer<'a> {
    pub(super) module: &'a Module,
    pub(super) info: &'a ModuleInfo,
    pub(super) form: Form,
    /// Whether other kernels are in the same launch, whose blocks may have more threads.
    pub(super) is_part: bool,
}

impl Printer<'_> {
    /// The globals of group 0 in the order of their bindings, those that nothing uses included.
    pub(super) fn storage(&self) -> Vec<(Handle<GlobalVariable>, &GlobalVariable)> {
        let is_storage = |space| matches!(space, AddressSpace::Storage { .. });
        let mut found: Vec<_> =
            self.module.global_variables.iter().filter(|(_, global)| is_storage(global.space)).collect();
        found.sort_by_key(|(_, global)| binding(global));
        found
    }

    pub(super) fn in_space(
        &self,
        space: AddressSpace,
    ) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
        self.module.global_variables.iter().filter(move |(_, global)| global.space == space)
    }

    /// Whether a function uses, itself or in what it calls, a global that is a member of the struct.
    pub(super) fn uses_members(&self, info: &FunctionInfo) -> bool {
        let is_member = |(handle, global): (Handle<GlobalVariable>, &GlobalVariable)| {
            global.space != AddressSpace::WorkGroup && !info[handle].is_empty()
        };
        self.module.global_variables.iter().any(is_member)
    }

    pub(super) fn global_name(&self, handle: Handle<GlobalVariable>) -> String {
        let name = self.module.global_variables[handle].name.as_deref().unwrap_or("global");
        safe(name)
    }

    /// A barrier of the workgroup.
    pub(super) fn barrier(&self) -> String {
        let threads: u32 = self.module.entry_points[0].workgroup_size.iter().product();
        if self.is_part { format!("barrier_of_first<{threads}>();") } else { "__syncthreads();".to_owned() }
    }
}

pub(super) fn binding(global: &GlobalVariable) -> u32 {
    global.binding.as_ref().map_or(0, |at| at.binding)
}
