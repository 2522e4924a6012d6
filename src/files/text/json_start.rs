//! Whether a text begins like JSON.

/// Whether bytes begin with an object or a list of objects, lists or texts. No header of delimited text begins like that.
pub(crate) fn begins_json(bytes: &[u8]) -> bool {
    let after = |bytes: &[u8], open: &[u8]| Some(bytes.trim_ascii_start().strip_prefix(open)?.to_vec());
    // The first bytes suffice: what follows is read in full later.
    let start = &bytes[..bytes.len().min(4096)];
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let opens = |rest: Vec<u8>, next: &[&[u8]]| next.iter().any(|next| rest.trim_ascii_start().starts_with(next));
    let is_object = |bytes: &[u8]| after(bytes, b"{").is_some_and(|rest| opens(rest, &[b"\"", b"}"]));
    let is_list = |rest: Vec<u8>| is_object(&rest) || after(&rest, b"[").is_some() || after(&rest, b"\"").is_some();
    is_object(start) || after(start, b"[").is_some_and(is_list)
}
