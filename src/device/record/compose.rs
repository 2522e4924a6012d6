//! The WGSL of a launch: the body's text, which may begin with a directive, then the kernel's fragments. Lanes of a workgroup exchange values through
//! workgroup memory, or within a subgroup without a barrier: kernels that list `EXCHANGE` may call `exchanged` for the first SUBGROUP lanes; what they
//! compute must be the same for any SUBGROUP.

use super::body::SharedBody;
use super::kernel::{Field, Kernel};

/// The fragment that requests the exchange, with no lanes in a subgroup. A device with subgroups replaces it.
pub const EXCHANGE: &str = crate::wgsl!("common/exchange_memory");

/// The WGSL of a kernel for a device whose subgroups have `subgroup` lanes.
pub fn compose(kernel: &Kernel, body: Option<&SharedBody>, subgroup: u32) -> String {
    let exchange = exchange(subgroup);
    let mut source = body.map_or_else(String::new, |body| body.wgsl() + "\n");
    for &fragment in kernel.wgsl {
        source.push_str(if fragment == EXCHANGE { &exchange } else { fragment });
        source.push('\n');
    }
    source
}

/// The same with those fields of the uniform as constants that the body wants compiled in ([`super::Body::sizes`]), so that a compiler can unroll loops
/// and compute places of numbers; `None` if the body wants none. `params` are the uniform's words.
pub fn compose_sized(kernel: &Kernel, body: Option<&SharedBody>, params: &[u32], subgroup: u32) -> Option<String> {
    let names = body.map_or(&[][..], |body| body.sizes(params));
    if names.is_empty() {
        return None;
    }
    let mut source = compose(kernel, body, subgroup);
    let mut first = 0;
    for Field { name, words, .. } in kernel.params {
        let values = &params[first..first + words];
        first += words;
        if !names.contains(name) {
            continue;
        }
        if let [value] = values {
            source = replaced(&source, name, &format!("{value}u"));
        } else {
            let vector = |four: &[u32]| format!("vec4<u32>({}u, {}u, {}u, {}u)", four[0], four[1], four[2], four[3]);
            let vectors: Vec<String> = values.chunks_exact(4).map(vector).collect();
            let constant = format!("SIZES_{name}");
            source = replaced(&source, name, &constant);
            source += &format!("const {constant} = array<vec4<u32>, {}>({});\n", vectors.len(), vectors.join(", "));
        }
    }
    Some(source)
}

/// The fragment for `lanes` lanes to a subgroup.
fn exchange(lanes: u32) -> String {
    match lanes {
        0 | 1 => EXCHANGE.to_owned(),
        _ => format!("const SUBGROUP: u32 = {lanes}u;\n{}", crate::wgsl!("common/exchange_subgroup")),
    }
}

/// A text with something else in place of each use of a field of the uniform.
fn replaced(text: &str, field: &str, by: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let use_of_it = format!("params.{field}");
    let mut pieces = text.split(&use_of_it);
    let mut made = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        made += if piece.starts_with(is_part) || made.ends_with(is_part) { &use_of_it } else { by };
        made += piece;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uses_of_the_field_are_replaced() {
        let text = "params.total + params.totals + my_params.total * params.total.x;params.total";
        assert_eq!(replaced(text, "total", "7u"), "7u + params.totals + my_params.total * 7u.x;7u");
    }
}
