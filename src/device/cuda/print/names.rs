//! Names that C++ accepts.

use naga::Function;

/// A name that C++ accepts.
pub(super) fn safe(name: &str) -> String {
    if RESERVED.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

pub(super) fn function_name(function: &Function) -> String {
    safe(function.name.as_deref().unwrap_or("function"))
}

/// Words of C++ and CUDA that WGSL lets a program use as names, and functions of the toolkit that a name would hide.
const RESERVED: [&str; 46] = [
    "asm",
    "bool",
    "catch",
    "char",
    "class",
    "constexpr",
    "delete",
    "double",
    "dynamic_cast",
    "explicit",
    "extern",
    "float",
    "friend",
    "goto",
    "half",
    "inline",
    "int",
    "kernel",
    "long",
    "mutable",
    "namespace",
    "new",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "run",
    "short",
    "signed",
    "sizeof",
    "static",
    "template",
    "this",
    "throw",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wgsl",
];
