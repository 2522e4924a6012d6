//! A module printed whole, in a namespace: its types, its memory, its functions.

use naga::proc::Layouter;
use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{AddressSpace, ShaderStage};

use super::body::Body;
use super::names::function_name;
use super::part::{Part, SHARED};
use super::printed::{Arguments, Form};
use super::printer::{Printer, binding};
use super::refusal::{refused, unsupported};
use crate::error::Result;

/// Parses composed WGSL and prints something of it.
pub(super) fn parsed<T>(source: &str, form: Form, made: impl FnOnce(&Printer<'_>) -> Result<T>) -> Result<T> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| refused(&error.emit_to_string(source)))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    let info = validator.validate(&module).map_err(|error| refused(&error.emit_to_string(source)))?;
    made(&Printer { module: &module, info: &info, form, is_part: false })
}

impl Printer<'_> {
    /// Everything of the kernel in a namespace.
    pub(super) fn part(&self, namespace: &str) -> Result<Part> {
        let [entry] = &self.module.entry_points[..] else {
            return Err(unsupported(format!("{} entry points", self.module.entry_points.len())));
        };
        if entry.stage != ShaderStage::Compute || !self.module.overrides.is_empty() {
            return Err(unsupported("another stage than compute, or overrides"));
        }
        let threads: u32 = entry.workgroup_size.iter().product();
        let entry_info = self.info.get_entry_point(0);
        let mut text = format!("namespace {namespace} {{\n");
        text += &self.structs()?;
        text += &self.constants()?;
        let (shared, shared_bytes) = self.shared()?;
        text += &shared;
        let (mut alone, mut members) = (String::new(), String::new());
        for (handle, function) in self.module.functions.iter() {
            let info = &self.info[handle];
            let name = function_name(function);
            let printed = Body::new(self, function, info).function(&name)?;
            if self.uses_members(info) { &mut members } else { &mut alone }.push_str(&printed);
        }
        members += &Body::new(self, &entry.function, entry_info).entry(entry.workgroup_size)?;
        let storage = self.storage();
        let uniform = self.in_space(AddressSpace::Uniform).next();
        text += &alone;
        text += "struct Bound {\n";
        for (handle, global) in &storage {
            let name = self.global_name(*handle);
            text += &format!("{} {name};\nu32 {name}_bytes;\n", self.storage_pointer(global)?);
        }
        if let Some((handle, global)) = uniform {
            text += &format!("const {}& {};\n", self.type_name(global.ty)?, self.global_name(handle));
        }
        for (handle, global) in self.in_space(AddressSpace::Private) {
            let declared = self.declared(global.ty, &self.global_name(handle))?;
            let value = global.init.map(|value| self.constant_expression(value)).transpose()?;
            text += &format!("{declared}{};\n", value.map_or_else(|| "{}".to_owned(), |value| format!(" = {value}")));
        }
        text += &members;
        text += &format!("}};\n}}  // namespace {namespace}\n\n");
        let buffer = |(handle, global): &(_, &_)| Ok((self.storage_pointer(global)?, self.global_name(*handle)));
        Ok(Part {
            namespace: namespace.to_owned(),
            text,
            threads,
            shared_bytes,
            buffers: storage.iter().map(buffer).collect::<Result<_>>()?,
            uniform: match uniform {
                Some((handle, global)) => {
                    Some((format!("{namespace}::{}", self.type_name(global.ty)?), self.global_name(handle)))
                }
                None => None,
            },
            arguments: Arguments {
                bindings: storage.iter().map(|(_, global)| binding(global)).collect(),
                has_uniform: uniform.is_some(),
            },
        })
    }

    /// The workgroup variables as a struct at the beginning of the block's memory, and its bytes.
    fn shared(&self) -> Result<(String, u32)> {
        let mut layouter = Layouter::default();
        layouter.update(self.module.to_ctx()).map_err(|error| refused(&error.to_string()))?;
        let (mut members, mut bytes) = (String::new(), 0);
        for (handle, global) in self.in_space(AddressSpace::WorkGroup) {
            members += &format!("    {};\n", self.declared(global.ty, &self.global_name(handle))?);
            bytes = layouter[global.ty].alignment.round_up(bytes) + layouter[global.ty].size;
        }
        if members.is_empty() {
            return Ok((members, 0));
        }
        let bytes = bytes.next_multiple_of(16);
        let text = format!(
            "struct {SHARED} {{\n{members}}};\nstatic_assert(sizeof({SHARED}) <= {bytes}, \"a launch provides as much\");\n\
             WGSL_FN {SHARED}& shared_memory() {{ return *reinterpret_cast<{SHARED}*>(wgsl_memory); }}\n"
        );
        Ok((text, bytes))
    }
}
