//! Whether a text begins like JSON.

use super::encoding::{has_wide_mark, unmarked};

/// Whether bytes begin with an object or a list of objects, lists or texts. No header of delimited text begins like that.
pub(crate) fn begins_json(bytes: &[u8]) -> bool {
    let after = |bytes: &[u8], open: &[u8]| Some(bytes.trim_ascii_start().strip_prefix(open)?.to_vec());
    // The first bytes suffice: what follows is read in full later.
    let start = &bytes[..bytes.len().min(4096)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    // In UTF-16 every other byte of it is 0.
    if has_wide_mark(start) || unmarked(start).is_some() {
        let mark = 2 * usize::from(has_wide_mark(start));
        return begins_json(&start[mark..].iter().copied().filter(|byte| *byte != 0).collect::<Vec<u8>>());
    }
    let opens = |rest: Vec<u8>, next: &[&[u8]]| next.iter().any(|next| rest.trim_ascii_start().starts_with(next));
    let is_object = |bytes: &[u8]| after(bytes, b"{").is_some_and(|rest| opens(rest, &[b"\"", b"}"]));
    let is_list = |rest: Vec<u8>| is_object(&rest) || after(&rest, b"[").is_some() || after(&rest, b"\"").is_some();
    is_object(start) || after(start, b"[").is_some_and(is_list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_recognised_in_every_encoding() {
        let text = "[{\"a\": 1}]";
        let wide = |bytes: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
            (mark.to_owned() + text).encode_utf16().flat_map(bytes).collect()
        };
        for mark in ["", "\u{feff}"] {
            assert!(begins_json((mark.to_owned() + text).as_bytes()));
            assert!(begins_json(&wide(u16::to_le_bytes, mark)) && begins_json(&wide(u16::to_be_bytes, mark)));
        }
        assert!(!begins_json(b"[a],b\n") && !begins_json(b"\xff\xfea\0"));
    }
}
