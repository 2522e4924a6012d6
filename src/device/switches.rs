//! Environment variables that change how kernels are compiled, for comparisons and for finding mistakes.

/// Compiles no sizes in, so that one compilation serves all models.
pub(super) const GENERIC: &str = "MERO_GENERIC";
/// Keeps run-time checks of indices and loops where drivers guard buffers.
pub(super) const CHECKED: &str = "MERO_CHECKED";

/// Whether a variable is set, to anything.
pub(super) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// Those that are set, to follow the name of a driver: what is measured with a switch is not remembered for runs without.
pub(super) fn suffix(names: &[&str]) -> String {
    names.iter().filter(|name| is_set(name)).map(|name| format!(", {name}")).collect()
}
