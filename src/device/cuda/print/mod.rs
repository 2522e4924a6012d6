//! Prints a kernel's WGSL as CUDA C++, from naga's form of it. The subset is that of compute shaders; any other construct is an error that names it.
//!
//! What a WGSL function sees as globals are the members of a struct here, made from the kernel's arguments: functions that use globals are its member
//! functions, always inlined, so that the struct itself never is in memory. Other functions are free functions.

mod expression;
mod math;
mod part;
mod statement;
mod types;

use naga::proc::Layouter;
use naga::valid::{
    Capabilities, FunctionInfo, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator,
};
use naga::{AddressSpace, Expression, Function, GlobalVariable, Handle, Module, ShaderStage, TypeInner};

use crate::error::{Error, Result};
use part::{Part, SHARED};
use statement::Body;

pub use part::{Member, whole};

/// What printed kernels call.
pub const PRELUDE: &str = include_str!("../prelude.cuh");
/// What the prelude and printed kernels take from the GPU, from compute capability 5.3 on.
pub const INTRINSICS: &str = include_str!("../intrinsics.cuh");
/// The name of the printed entry point.
pub const ENTRY: &str = "kernel_entry";

/// Whether a printed kernel checks what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Only divisions of integers.
    None,
    /// Indices as well: one past the end is the last, as in WGSL.
    Indices,
}

/// How a kernel is printed.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What it checks.
    pub guards: Guards,
    /// Whether its loops are unrolled, because their lengths are constants.
    pub unrolls: bool,
}

impl Form {
    /// Without guards, with loops as they are.
    pub const PLAIN: Self = Self { guards: Guards::None, unrolls: false };
    /// With guards.
    pub const GUARDED: Self = Self { guards: Guards::Indices, ..Self::PLAIN };
    /// For a kernel with its sizes compiled in.
    pub const SIZED: Self = Self { unrolls: true, ..Self::PLAIN };
}

/// A kernel in CUDA C++ and what its launch needs.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The kernel, without the prelude.
    pub text: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// What it takes: one element, or one for each kernel of a [`whole()`].
    pub arguments: Vec<Arguments>,
}

/// What a kernel takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// The bindings of group 0, in the order of the arguments: for each a pointer and a number of bytes. After them comes the uniform.
    pub bindings: Vec<u32>,
    /// Whether it takes a uniform.
    pub has_uniform: bool,
}

/// Prints composed WGSL with one entry point.
pub fn print(source: &str, form: Form) -> Result<Printed> {
    parsed(source, form, |printer| {
        let part = printer.part("kernel")?;
        Ok(Printed {
            text: format!("{}{}", part.text, part.entry_point()),
            threads: part.threads,
            shared_bytes: part.shared_bytes,
            arguments: vec![part.arguments],
        })
    })
}

/// Parses composed WGSL and prints something of it.
fn parsed<T>(source: &str, form: Form, made: impl FnOnce(&Printer<'_>) -> Result<T>) -> Result<T> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| refused(&error.emit_to_string(source)))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    let info = validator.validate(&module).map_err(|error| refused(&error.emit_to_string(source)))?;
    made(&Printer { module: &module, info: &info, form, is_part: false })
}

fn refused(what: &str) -> Error {
    Error::internal(format!("cuda: the kernel cannot be printed: {what}"))
}

fn unsupported(what: impl std::fmt::Display) -> Error {
    refused(&format!("got {what}, expected the compute subset of WGSL"))
}

struct Printer<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    form: Form,
    /// Whether other kernels are in the same launch, whose blocks may have more threads.
    is_part: bool,
}

impl Printer<'_> {
    /// Everything of the kernel in a namespace.
    fn part(&self, namespace: &str) -> Result<Part> {
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

    /// The globals of group 0 in the order of their bindings, those that nothing uses included.
    fn storage(&self) -> Vec<(Handle<GlobalVariable>, &GlobalVariable)> {
        let is_storage = |space| matches!(space, AddressSpace::Storage { .. });
        let mut found: Vec<_> =
            self.module.global_variables.iter().filter(|(_, global)| is_storage(global.space)).collect();
        found.sort_by_key(|(_, global)| binding(global));
        found
    }

    fn in_space(&self, space: AddressSpace) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
        self.module.global_variables.iter().filter(move |(_, global)| global.space == space)
    }

    /// Whether a function uses, itself or in what it calls, a global that is a member of the struct.
    fn uses_members(&self, info: &FunctionInfo) -> bool {
        let is_member = |(handle, global): (Handle<GlobalVariable>, &GlobalVariable)| {
            global.space != AddressSpace::WorkGroup && !info[handle].is_empty()
        };
        self.module.global_variables.iter().any(is_member)
    }

    fn global_name(&self, handle: Handle<GlobalVariable>) -> String {
        let name = self.module.global_variables[handle].name.as_deref().unwrap_or("global");
        types::safe(name)
    }

    /// A constant, or an initial value of one, as an expression.
    fn constant_expression(&self, handle: Handle<Expression>) -> Result<String> {
        expression::constant(self, &self.module.global_expressions, handle)
    }

    /// Arrays and structs that are constants. Numbers and vectors are printed where they are used.
    fn constants(&self) -> Result<String> {
        let mut text = String::new();
        for (_, constant) in self.module.constants.iter() {
            if self.is_inline(constant.ty) {
                continue;
            }
            let name = types::safe(constant.name.as_deref().unwrap_or("constant"));
            let (ty, value) = (self.type_name(constant.ty)?, self.constant_expression(constant.init)?);
            text += &format!("__constant__ const {ty} {name} = {value};\n");
        }
        Ok(text)
    }

    /// A barrier of the workgroup.
    fn barrier(&self) -> String {
        let threads: u32 = self.module.entry_points[0].workgroup_size.iter().product();
        if self.is_part { format!("barrier_of_first<{threads}>();") } else { "__syncthreads();".to_owned() }
    }

    fn is_inline(&self, ty: Handle<naga::Type>) -> bool {
        !matches!(self.module.types[ty].inner, TypeInner::Array { .. } | TypeInner::Struct { .. })
    }
}

fn binding(global: &GlobalVariable) -> u32 {
    global.binding.as_ref().map_or(0, |at| at.binding)
}

fn function_name(function: &Function) -> String {
    types::safe(function.name.as_deref().unwrap_or("function"))
}
