//! Rules that the compiler does not check: dependencies between rooms, circles of files, where code depends on the platform, what blocks, length of files.

mod circles;

use std::fs;
use std::path::{Path, PathBuf};

use circles::Crate;

/// The largest circle of files that is allowed.
const LARGEST_CIRCLE: usize = 3;

/// Files that may depend on the platform and on features.
const PLATFORM_FILES: &[&str] = &[
    "lib.rs",
    "files/mod.rs",
    "host/mod.rs",
    "host/files.rs",
    "device/cuda/mod.rs",
    "device/mod.rs",
    "device/webgpu/mod.rs",
];

/// Files over 400 lines, with reasons.
const LONG_FILES: &[(&str, &str)] = &[];

/// Macros at the root and the rooms they belong to; `wgsl!` only reads a file and belongs to none.
const ROOT_MACROS: &[(&str, &str)] = &[("record", "json"), ("params", "device"), ("built_ins", "program")];

/// The rooms of the table in docs/ARCHITECTURE.md, in its order, and the rooms that each may use.
fn rooms() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ARCHITECTURE.md"));
    let text = text.expect("docs/ARCHITECTURE.md is text");
    let names = |cell: &str| {
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.map(|name| name.trim_end_matches('/').trim_end_matches(".rs").to_owned()).collect::<Vec<_>>()
    };
    let table = text.lines().skip_while(|line| !line.starts_with("| room |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        (names(cells[0]).remove(0), names(cells[2]))
    });
    rows.collect()
}

#[test]
fn rooms_use_what_the_table_says_and_nothing_else() {
    let rooms = rooms();
    let mut used: Vec<(String, Vec<String>)> = Vec::new();
    for (name, text) in sources("src") {
        let room = room_of(&name);
        let place = used.iter().position(|(known, _)| known == room).unwrap_or_else(|| {
            used.push((room.to_owned(), Vec::new()));
            used.len() - 1
        });
        for other in rooms_used(&text) {
            let macro_room = ROOT_MACROS.iter().find(|(name, _)| *name == other).map(|(_, room)| (*room).to_owned());
            let other = macro_room.unwrap_or(other);
            if !["wgsl", "internal"].contains(&other.as_str()) && other != room && !used[place].1.contains(&other) {
                used[place].1.push(other);
            }
        }
    }
    let mut problems = Vec::new();
    for (room, uses) in used.iter().filter(|(room, _)| room != "lib") {
        let Some(at) = rooms.iter().position(|(known, _)| known == room) else {
            problems.push(format!("the room \"{room}\" is not in the table"));
            continue;
        };
        let allowed = &rooms[at].1;
        let extra = uses.iter().filter(|name| !allowed.contains(name));
        problems.extend(extra.map(|name| format!("{room} uses {name}, which its row does not name")));
        let idle = allowed.iter().filter(|name| !uses.contains(name));
        problems.extend(idle.map(|name| format!("{room} does not use {name}, which its row names")));
        let is_above = |name: &String| rooms[..at].iter().any(|(known, _)| known == name);
        let below = uses.iter().filter(|name| !is_above(name));
        problems.extend(below.map(|name| format!("{room} uses {name}, which is not above it")));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn only_a_few_files_depend_on_the_platform() {
    let asks = |line: &str| ["cfg(", "cfg_attr(", "cfg!("].iter().any(|c| line.contains(c)) && names_platform(line);
    let found = lines_where(|name, line| !PLATFORM_FILES.contains(&name) && asks(line));
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

fn names_platform(line: &str) -> bool {
    ["target_", "feature", "unix", "windows"].iter().any(|word| line.contains(word))
}

#[test]
fn no_circle_has_more_than_three_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let large = crates().into_iter().flat_map(|folder| {
        let house = Crate::read(&root.join(&folder));
        let circles = house.circles().into_iter().filter(|circle| circle.len() > LARGEST_CIRCLE);
        circles.map(|circle| format!("{folder}: {}", circle.join(" "))).collect::<Vec<_>>()
    });
    let large: Vec<String> = large.collect();
    assert!(large.is_empty(), "\n{}", large.join("\n"));
}

/// Kinds that are lists of records: the enum, the file of the list, and the macro that holds it.
const LISTS: [(&str, &str, &str); 3] = [
    ("Layer", "nn/layer/mod.rs", "layers! {"),
    ("Feature", "table/feature/mod.rs", "features! {"),
    ("ScheduleShape", "optim/schedule/mod.rs", "shapes! {"),
];

/// A file that names nearly all kinds of a list decides by kind what a record should say.
#[test]
fn no_match_over_all_kinds_is_outside_of_their_list() {
    let all: Vec<(String, String)> = crates().iter().flat_map(|folder| sources(folder)).collect();
    let mut found = Vec::new();
    for (name, list, start) in LISTS {
        let (_, text) = all.iter().find(|(file, _)| file == list).expect("the file of the list");
        let (_, lines) = text.split_once(&format!("\n{start}\n")).expect("the list");
        let lines = lines.lines().take_while(|line| *line != "}").map(str::trim);
        let kinds: Vec<&str> =
            lines.filter(|line| !line.starts_with("///")).filter_map(|line| line.split('(').next()).collect();
        assert!(kinds.len() > 2, "{name}: {kinds:?}");
        for (file, text) in all.iter().filter(|(file, _)| file != list) {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let names = |kind: &&&str| code.contains(&format!("{name}::{kind}"));
            let count = kinds.iter().filter(names).count();
            if 3 * count > 2 * kinds.len() {
                found.push(format!("{file} names {count} of the {} kinds of {name}", kinds.len()));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn what_is_public_is_for_users() {
    // The module of what the project's own crates use, and a macro that it brings.
    let found = lines_where(|_, line| line.contains("#[doc(hidden)]"));
    let places: Vec<&str> = found.iter().map(|line| line.split(':').next().unwrap_or("")).collect();
    assert_eq!(places, ["src/json/record.rs", "src/lib.rs"], "\n{}", found.join("\n"));
}

#[test]
fn the_engine_never_blocks() {
    // Tests and examples in comments may block.
    let is_blocking = |line: &str| !line.trim_start().starts_with("//") && line.contains("block_on");
    let blocks = |text: &str| text.split("#[cfg(test)]").next().is_some_and(|code| code.lines().any(is_blocking));
    let found: Vec<String> =
        sources("src").into_iter().filter(|(_, text)| blocks(text)).map(|(name, _)| name).collect();
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
    let long: Vec<String> = crates()
        .iter()
        .flat_map(|folder| sources(folder))
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

/// The sources of every crate of the workspace, as folders from the root.
fn crates() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = |folder: &str| {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of crates");
        let name =
            |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| format!("{folder}/{}/src", name(entry))).collect();
        names.sort();
        names
    };
    ["src".to_owned()].into_iter().chain(below("crates")).chain(below("web/crates")).collect()
}

/// Every file under a folder: its path from there, and its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let read = |file: PathBuf| {
        let name = file.strip_prefix(&root).expect("below the folder").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(file).expect("a source file is text"))
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

/// `kernels/map.rs` is in the room `kernels`; `error.rs` is its own room.
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
    sources("src").into_iter().flat_map(of_file).collect()
}

/// Prose is wrapped; rows of tables, code and long links are not.
#[test]
fn documents_are_at_most_120_columns_wide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = fs::read_dir(root.join("docs")).expect("a folder").flatten().map(|entry| entry.path());
    let documents = documents.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut wide = Vec::new();
    for path in documents.chain([root.join("README.md"), root.join("web/README.md")]) {
        let text = fs::read_to_string(&path).expect("a document is text");
        let mut is_code = false;
        for (at, line) in text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            if !is_code && !line.starts_with('|') && line.chars().count() > 120 && line.trim().contains(' ') {
                wide.push(format!("{}:{}", path.display(), at + 1));
            }
        }
    }
    assert!(wide.is_empty(), "wider than 120 columns: {wide:#?}");
}

/// `tests/run ROOM` runs the suites of a room: each suite of the engine belongs to one.
#[test]
fn every_suite_of_the_engine_belongs_to_a_room() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |name: &str| fs::read_to_string(root.join(name)).expect("a file of tests");
    let (suites, run) = (text("tests/engine/main.rs"), text("tests/run"));
    let table = run.split("declare -A SUITES=(").nth(1).and_then(|rest| rest.split("\n)").next()).expect("a table");
    let named: Vec<&str> = table.split(['"', ' ', '\n']).collect();
    let helpers = ["devices", "noise"];
    let modules = suites.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let alone: Vec<&str> = modules.filter(|name| !helpers.contains(name) && !named.contains(name)).collect();
    assert!(alone.is_empty(), "not in SUITES of tests/run: {alone:?}");
    let rooms = table.split('[').skip(1).filter_map(|rest| rest.split(']').next());
    let unknown: Vec<&str> = rooms.filter(|room| !root.join("src").join(room).exists()).collect();
    assert!(unknown.is_empty(), "no rooms of src: {unknown:?}");
}
