//! The house rules that a compiler does not know: which room may use which, where the platform may be asked for, who may block, how long a file is.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms and the rooms they may use (DESIGN §3). A room's parts always see each other.
const ROOMS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("json", &["error", "host"]),
    ("host", &["error"]),
    ("device", &["error", "host"]),
    // `host` for the dense product of the platform and the team of threads that `Call` hands over.
    ("kernels", &["error", "json", "device", "host"]),
    ("tensor", &["error", "device", "kernels"]),
    ("autograd", &["error", "tensor"]),
    ("ops", &["error", "autograd", "tensor", "kernels", "device"]),
    // `device` for the launch of strict decoding.
    ("scm", &["error", "host", "json", "ops", "autograd", "tensor", "kernels", "device"]),
    // The vocabulary of `ops` is spoken in tracked tensors; losses and activations are named where the fused kernels are.
    ("loss", &["error", "ops", "scm", "autograd", "tensor", "kernels"]),
    // `device` for the flat parameter buffer that a layout lies over.
    ("nn", &["error", "json", "host", "ops", "scm", "autograd", "tensor", "kernels", "device"]),
    ("optim", &["error", "json", "host", "ops", "kernels"]),
    ("io", &["error", "json", "tensor", "host"]),
    ("profile", &["error", "device", "host"]),
    // The trainer launches whole-step kernels itself and owns the plans, so it sees everything below it but `scm`.
    (
        "train",
        &[
            "error", "json", "nn", "loss", "optim", "io", "profile", "ops", "autograd", "tensor", "kernels", "device",
            "host",
        ],
    ),
    // Trains with losses of its own, by the kernels and plans that `train` uses.
    (
        "experiment",
        &["error", "train", "nn", "loss", "optim", "ops", "autograd", "tensor", "kernels", "device", "host"],
    ),
    ("export", &["error", "train", "nn", "io", "kernels", "device", "host"]),
    ("fit", &["error", "ops", "kernels", "io", "profile"]),
    ("contrast", &["error", "kernels", "tensor", "optim", "io", "profile"]),
];

/// Leaves use every room, but not each other.
const LEAVES: &[&str] = &["cli", "wasm", "main", "lib"];

/// Where the platform and the features may be asked for.
const PLATFORM_FILES: &[&str] =
    &["lib.rs", "main.rs", "host/mod.rs", "host/files.rs", "device/mod.rs", "device/webgpu.rs"];

/// Files over 400 lines, and why.
const LONG_FILES: &[(&str, &str)] = &[];

/// What `crate::params!` and other macros at the root are called by.
const ROOT_MACROS: &[&str] = &["params", "record", "wgsl"];

#[test]
fn rooms_use_only_what_the_table_allows() {
    let mut problems = Vec::new();
    for (name, text) in sources() {
        let room = room_of(&name);
        let allowed = ROOMS.iter().find(|(known, _)| *known == room).map(|(_, allowed)| *allowed);
        if allowed.is_none() && !LEAVES.contains(&room) {
            problems.push(format!("{name}: the room \"{room}\" is not in the table"));
        }
        for used in rooms_used(&text) {
            let is_fine = match allowed {
                Some(allowed) => {
                    used == room || allowed.contains(&used.as_str()) || ROOT_MACROS.contains(&used.as_str())
                }
                None => used == room || !LEAVES.contains(&used.as_str()),
            };
            if !is_fine {
                problems.push(format!("{name}: uses crate::{used}"));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn the_platform_is_asked_in_few_places() {
    let asks = |line: &str| ["cfg(", "cfg_attr(", "cfg!("].iter().any(|c| line.contains(c)) && names_platform(line);
    let found = lines_where(|name, line| !PLATFORM_FILES.contains(&name) && asks(line));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

fn names_platform(line: &str) -> bool {
    ["target_", "feature", "unix", "windows"].iter().any(|word| line.contains(word))
}

#[test]
fn only_leaves_block() {
    // Tests may.
    let blocks = |text: &str| text.split("#[cfg(test)]").next().is_some_and(|code| code.contains("block_on"));
    let found = sources().into_iter().filter(|(name, text)| !LEAVES.contains(&room_of(name)) && blocks(text));
    let found: Vec<String> = found.map(|(name, _)| name).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn nothing_is_left_to_do() {
    let words = ["todo!", "unimplemented!", "TODO", "FIXME", "XXX"];
    let found = lines_where(|_, line| words.iter().any(|word| line.contains(word)));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn files_are_short() {
    let is_known = |name: &str| LONG_FILES.iter().any(|(known, _)| *known == name);
    let long: Vec<String> = sources()
        .into_iter()
        .filter(|(name, text)| text.lines().count() > 400 && !is_known(name))
        .map(|(name, text)| format!("{name}: {} lines", text.lines().count()))
        .collect();
    assert!(long.is_empty(), "\n{}", long.join("\n"));
}

#[test]
fn the_parser_of_uses_sees_all_forms() {
    let text = "use crate::{host, params};\nlet x = crate::kernels::map::MAP;\nuse crate::device::{\n    A, B,\n};";
    assert_eq!(rooms_used(text), ["host", "params", "kernels", "device"]);
}

/// Every file under `src`: its path from there, and its text.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let name = file.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&file).expect("a source file is text"))
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src is readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// `kernels/map.rs` is in the room `kernels`, `error.rs` is one of its own.
fn room_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

/// The first segment after each `crate::`, also inside braces.
fn rooms_used(text: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let list = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or(rest, |(list, _)| list);
        let is_list = rest.starts_with('{');
        for item in list.split(',').take(if is_list { usize::MAX } else { 1 }) {
            let name: String = item.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.chars().next().is_some_and(char::is_lowercase) && !rooms.contains(&name) {
                rooms.push(name);
            }
        }
    }
    rooms
}

fn lines_where(is_found: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let of_file = |(name, text): (String, String)| {
        let numbered = text.lines().enumerate().filter(|(_, line)| is_found(&name, line));
        numbered.map(|(at, line)| format!("src/{name}:{}: {}", at + 1, line.trim())).collect::<Vec<_>>()
    };
    sources().into_iter().flat_map(of_file).collect()
}
