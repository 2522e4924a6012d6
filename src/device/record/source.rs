//! Shader sources as the binary carries them. Comments, indentation and redundant spaces are removed at compile time.

/// The minified text of `shaders/NAME.wgsl`: `wgsl!("NAME")`; of several files one after the other: `wgsl!("A", "B")`.
#[macro_export]
macro_rules! wgsl {
    ($($name:literal),+) => {{
        const SOURCE: &str =
            concat!($(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $name, ".wgsl"))),+);
        const BYTES: [u8; $crate::device::lean_length(SOURCE)] = $crate::device::lean(SOURCE);
        match str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("a comment ends at the end of a line, not inside a character"),
        }
    }};
}

/// The length of a minified source: without comments, indentation, empty lines and redundant spaces.
pub const fn lean_length(source: &str) -> usize {
    walk::<0>(source.as_bytes()).1
}

/// The bytes of a minified source.
pub const fn lean<const N: usize>(source: &str) -> [u8; N] {
    walk(source.as_bytes()).0
}

/// The first `N` bytes of the minified source, and its whole length. WGSL has no strings, so `//` always begins a comment.
const fn walk<const N: usize>(source: &[u8]) -> ([u8; N], usize) {
    let (mut out, mut kept, mut at) = ([0; N], 0, 0);
    let mut is_at_start = true;
    while at < source.len() {
        if source[at] == b'/' && at + 1 < source.len() && source[at + 1] == b'/' {
            while at < source.len() && source[at] != b'\n' {
                at += 1;
            }
            continue;
        }
        let byte = source[at];
        at += 1;
        if is_at_start && (byte == b' ' || byte == b'\t' || byte == b'\n') {
            continue;
        }
        if byte == b' ' && at < source.len() && is_redundant([source[at - 2], source[at]]) {
            continue;
        }
        is_at_start = byte == b'\n';
        if kept < N {
            out[kept] = byte;
        }
        kept += 1;
    }
    (out, kept)
}

/// Whether a space between these bytes is redundant: one belongs to a word and the other is punctuation, or one is a bracket or separator.
const fn is_redundant([before, after]: [u8; 2]) -> bool {
    let is_single = is_separator(before) || is_separator(after);
    before != b' ' && after != b' ' && (is_single || is_of_word(before) != is_of_word(after))
}

const fn is_separator(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b':')
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_and_redundant_spaces_removed() {
        const SOURCE: &str =
            "// What it is: é.\n\nfn f(x: f32) -> f32 { // why\n    // more\n    return x / 2.0 - -x;\n\n}\n";
        const BYTES: [u8; lean_length(SOURCE)] = lean(SOURCE);
        assert_eq!(str::from_utf8(&BYTES), Ok("fn f(x:f32)->f32{\nreturn x/2.0- -x;\n}\n"));
    }
}
