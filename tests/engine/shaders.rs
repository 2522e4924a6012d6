//! Checks every composed shader without a driver: naga parses and validates it, its `Params` has the layout of the Rust struct,
//! it is within WebGPU's portable limits and it has no literal that WGSL lacks.

use std::collections::HashMap;

use meromorph::device::{Case, Field, MATRICES_BYTES, MATRICES_FEATURE, compose};
use meromorph::internal::kernels;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, Module, TypeInner};

/// WebGPU's portable limits.
const MAX_STORAGE_BUFFERS: usize = 8;
const MAX_WORKGROUP_BYTES: u32 = 16 << 10;
const MAX_INVOCATIONS: u32 = 256;

#[test]
fn every_composed_shader_is_portable() {
    let mut sources: HashMap<String, Vec<String>> = HashMap::new();
    for (_, cases) in meromorph::internal::cases::all() {
        for case in cases() {
            for subgroup in [1, 4, 64] {
                let source = compose(case.kernel, case.body.as_ref(), subgroup);
                sources.entry(source).or_insert_with_key(|source| problems(source, subgroup > 1, &case));
            }
        }
    }
    let problems: Vec<String> = sources.into_values().flatten().collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn only_a_device_with_subgroups_gets_their_operations() {
    for (kernel, cases) in kernels::ALL {
        let has = |subgroup| compose(kernel, cases()[0].body.as_ref(), subgroup).contains("subgroupShuffleXor");
        let names = ["layer_norm", "layer_norm_gradient", "reduce", "retrieve", "retrieve_classes", "softmax"];
        let exchanges = names.contains(&kernel.name);
        assert_eq!([1, 4, 64].map(has), [false, exchanges, exchanges], "{}", kernel.name);
    }
}

#[test]
fn every_kernel_has_cases_named_after_its_shader() {
    for (kernel, cases) in kernels::ALL {
        let shader = format!("{}/shaders/{}.wgsl", env!("CARGO_MANIFEST_DIR"), kernel.name);
        assert!(std::path::Path::new(&shader).exists(), "{}: no {shader}", kernel.name);
        let cases = cases();
        assert!(!cases.is_empty(), "{}: no cases", kernel.name);
        assert!(cases.iter().all(|case| std::ptr::eq(case.kernel, *kernel)), "{}: a case of another", kernel.name);
    }
}

/// Problems in the source of a case, for a device with or without subgroups.
fn problems(source: &str, has_subgroups: bool, case: &Case) -> Vec<String> {
    let named = |problem: String| format!("{}, {}: {problem}", case.kernel.name, case.name);
    let module = match naga::front::wgsl::parse_str(source) {
        Ok(module) => module,
        Err(error) => return vec![named(error.emit_to_string(source))],
    };
    let mut problems = Vec::new();
    // Only devices with these matrices run it: they are beyond the portable limits.
    if case.name.ends_with(MATRICES_FEATURE) {
        let outcome = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        problems.extend(outcome.err().map(|error| error.emit_to_string(source)));
        let bytes = workgroup_bytes(&module);
        if bytes > MATRICES_BYTES {
            problems.push(format!("{bytes} bytes of workgroup memory, more than MATRICES_BYTES"));
        }
        return problems.into_iter().map(named).collect();
    }
    // Packing half floats is not an optional feature in WebGPU: every device has it.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    capabilities.set(Capabilities::SUBGROUP, has_subgroups);
    capabilities.set(Capabilities::SHADER_FLOAT16, source.starts_with("enable f16;"));
    if let Err(error) = Validator::new(ValidationFlags::all(), capabilities).validate(&module) {
        problems.push(error.emit_to_string(source));
    }
    problems.extend(literals(source));
    problems.extend(limits(&module));
    problems.extend(bindings(&module, case));
    problems.extend(layout(&module, case.kernel.params));
    problems.into_iter().map(named).collect()
}

fn literals(source: &str) -> Vec<String> {
    let words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_odd = |word: &&str| ["inf", "infinity", "nan"].contains(&word.to_lowercase().as_str());
    words.filter(is_odd).map(|word| format!("the literal {word}")).collect()
}

fn workgroup_bytes(module: &Module) -> u32 {
    let in_workgroup = module.global_variables.iter().filter(|(_, global)| global.space == AddressSpace::WorkGroup);
    in_workgroup.map(|(_, global)| module.types[global.ty].inner.size(module.to_ctx())).sum()
}

fn limits(module: &Module) -> Vec<String> {
    let mut problems = Vec::new();
    let [entry] = &module.entry_points[..] else { return vec!["not exactly one entry point".into()] };
    let invocations: u32 = entry.workgroup_size.iter().product();
    if entry.name != "main" || invocations > MAX_INVOCATIONS {
        problems.push(format!("{} of {invocations} invocations", entry.name));
    }
    let bytes = workgroup_bytes(module);
    if bytes > MAX_WORKGROUP_BYTES {
        problems.push(format!("{bytes} bytes of workgroup memory"));
    }
    problems
}

/// Group 0 has the inputs, read only, then the outputs; group 1 only the uniform.
fn bindings(module: &Module, case: &Case) -> Vec<String> {
    let (inputs, outputs) = (case.inputs.len(), case.outputs.len());
    let mut problems = Vec::new();
    if inputs + outputs > MAX_STORAGE_BUFFERS {
        problems.push(format!("{} storage buffers", inputs + outputs));
    }
    for (_, global) in module.global_variables.iter() {
        let name = global.name.as_deref().unwrap_or("a variable");
        match (&global.binding, global.space) {
            (Some(at), AddressSpace::Storage { access }) => {
                let is_output = at.binding as usize >= inputs;
                if at.group != 0
                    || at.binding as usize >= inputs + outputs
                    || is_output != access.contains(naga::StorageAccess::STORE)
                {
                    problems.push(format!("{name} is bound at {}, {}", at.group, at.binding));
                }
            }
            (Some(at), AddressSpace::Uniform) if (at.group, at.binding) != (1, 0) => {
                problems.push(format!("the uniform {name} is bound at {}, {}", at.group, at.binding));
            }
            _ => {}
        }
    }
    problems
}

/// Compares the WGSL `Params` with the Rust fields: names, offsets, sizes and span.
fn layout(module: &Module, fields: &[Field]) -> Vec<String> {
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("Params"));
    let Some((_, ty)) = found else {
        return if fields.is_empty() { vec![] } else { vec!["no struct Params".into()] };
    };
    let TypeInner::Struct { members, .. } = &ty.inner else { return vec!["Params is no struct".into()] };
    let size = |member: &naga::StructMember| module.types[member.ty].inner.size(module.to_ctx());
    let there: Vec<_> =
        members.iter().map(|member| (member.name.clone().unwrap_or_default(), member.offset, size(member))).collect();
    let mut offset = 0;
    let here = fields.iter().map(|field| {
        let bytes = 4 * field.words as u32;
        offset += bytes;
        (field.name.to_owned(), offset - bytes, bytes)
    });
    let here: Vec<_> = here.collect();
    if there == here { vec![] } else { vec![format!("Params is {there:?} in WGSL and {here:?} in Rust")] }
}
