//! Circles of files: groups in which every file imports every other one, directly or through others. A name that a module re-exports counts as an
//! import of the file that defines it, so that a `mod.rs` that only lists its files ties nothing. Tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::collect;

type Module = Vec<String>;

/// The files of one crate: module path, text without comments and tests, and what the module re-exports by name.
pub(crate) struct Crate {
    names: BTreeMap<Module, String>,
    texts: BTreeMap<Module, String>,
    exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Crate {
    /// Reads the crate whose sources are below `root`.
    pub(crate) fn read(root: &Path) -> Self {
        let mut files = Vec::new();
        collect(root, &mut files);
        let mut found = Self { names: BTreeMap::new(), texts: BTreeMap::new(), exports: BTreeMap::new() };
        for file in files {
            let name = file.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            if !name.ends_with("tests.rs") {
                found.add(&name, &fs::read_to_string(&file).expect("a source file is text"));
            }
        }
        found
    }

    fn add(&mut self, name: &str, text: &str) {
        let module = module_of(name);
        let code: String = text.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or("").to_owned();
        let exports = uses(&code).into_iter().filter(|(is_public, _)| *is_public).flat_map(|(_, tree)| leaves(&tree));
        self.exports.insert(module.clone(), exports.map(|(path, alias)| (alias, path)).collect());
        self.names.insert(module.clone(), name.to_owned());
        self.texts.insert(module, code);
    }

    /// Circles of at least two files, the largest first; names are paths below the root.
    pub(crate) fn circles(&self) -> Vec<Vec<&str>> {
        let arrows: BTreeMap<&Module, BTreeSet<Module>> =
            self.texts.keys().map(|module| (module, self.arrows(module))).collect();
        let reach: BTreeMap<&Module, BTreeSet<Module>> =
            arrows.keys().map(|module| (*module, reached(module, &arrows))).collect();
        let mut circles: Vec<Vec<&str>> = Vec::new();
        for (module, around) in &reach {
            let circle = around.iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(*module)));
            let circle: Vec<&str> = circle.map(|other| self.names[other].as_str()).collect();
            if circle.len() > 1 && !circles.contains(&circle) {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// The files that a file imports.
    fn arrows(&self, module: &Module) -> BTreeSet<Module> {
        let code = &self.texts[module];
        let mut arrows = BTreeSet::new();
        for (_, tree) in uses(code).into_iter().filter(|(is_public, _)| !is_public) {
            for (path, alias) in leaves(&tree) {
                let Some(target) = self.absolute(&path, module) else { continue };
                let items = items_of(code, &alias);
                if self.texts.contains_key(&target) && !items.is_empty() {
                    arrows.extend(items.into_iter().map(|item| self.defining([target.clone(), vec![item]].concat())));
                } else {
                    arrows.insert(self.defining(target));
                }
            }
        }
        let written = inline_paths(code).into_iter().filter_map(|path| self.absolute(&path, module));
        arrows.extend(written.map(|path| self.defining(path)));
        arrows.remove(module);
        // What stands at the root, such as a macro, belongs to no file in particular.
        arrows.remove(&Module::new());
        arrows
    }

    /// A path as it is written in a module, from the root of the crate; `None` for paths of other crates.
    fn absolute(&self, path: &[String], module: &Module) -> Option<Module> {
        let climbs = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), path[1..].to_vec()),
            "super" => (module[..module.len().checked_sub(climbs)?].to_vec(), path[climbs..].to_vec()),
            "self" => (module.clone(), path[1..].to_vec()),
            first if self.texts.contains_key(&[module.clone(), vec![first.to_owned()]].concat()) => {
                (module.clone(), path.to_vec())
            }
            _ => return None,
        };
        let whole = [base, rest].concat();
        Some(if whole.first().is_some_and(|first| first == "internal") { whole[1..].to_vec() } else { whole })
    }

    /// The module that defines the item at a path, through re-exports.
    fn defining(&self, mut path: Module) -> Module {
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|&count| self.texts.contains_key(&path[..count]));
            let (module, rest) = path.split_at(known.unwrap_or(0));
            let module = module.to_vec();
            let export = rest.first().and_then(|name| self.exports.get(&module)?.get(name));
            let Some(target) = export.and_then(|target| self.absolute(target, &module)) else { return module };
            path = [target, rest[1..].to_vec()].concat();
        }
        path
    }
}

fn reached(from: &Module, arrows: &BTreeMap<&Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = next.pop() {
        for target in arrows.get(&module).into_iter().flatten() {
            if seen.insert(target.clone()) {
                next.push(target.clone());
            }
        }
    }
    seen
}

fn module_of(name: &str) -> Module {
    let mut parts: Module = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// Each `use`: whether it is public, and its tree.
fn uses(code: &str) -> Vec<(bool, String)> {
    let starts = code.match_indices("use ").filter(|(at, _)| {
        let line = code[..*at].rsplit('\n').next().unwrap_or("");
        line.trim().is_empty() || line.trim_start().starts_with("pub")
    });
    let tree = |at: usize| code[at + 4..].split(';').next().unwrap_or("").to_owned();
    starts.map(|(at, _)| (code[..at].ends_with("pub ") || code[..at].ends_with(") "), tree(at))).collect()
}

/// The paths of a tree of imports, each with the name that it has here.
fn leaves(tree: &str) -> Vec<(Module, String)> {
    let tree = tree.trim();
    if let Some((before, inside)) = tree.split_once('{') {
        let base: Module =
            before.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let inside = inside.rsplit_once('}').map_or("", |(inside, _)| inside);
        let parts = top_level(inside).into_iter().flat_map(leaves);
        return parts
            .map(|(path, alias)| {
                ([base.clone(), path].concat(), if alias == "self" { base[base.len() - 1].clone() } else { alias })
            })
            .map(without_self)
            .collect();
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let path: Module =
        path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty() && part != "*").collect();
    let last = path.last().cloned().unwrap_or_default();
    vec![(path, if alias.is_empty() { last } else { alias.trim().to_owned() })]
}

fn without_self((mut path, alias): (Module, String)) -> (Module, String) {
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    (path, alias)
}

fn top_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The items that code takes from an imported module: `name::item`.
fn items_of(code: &str, name: &str) -> BTreeSet<String> {
    let start = format!("{name}::");
    let places =
        code.match_indices(&start).filter(|(at, _)| !code[..*at].ends_with(|letter| is_part(letter) || letter == ':'));
    let item = |at: usize| code[at + start.len()..].chars().take_while(|letter| is_part(*letter)).collect::<String>();
    places.map(|(at, _)| item(at)).filter(|item| !item.is_empty()).collect()
}

/// Paths from `crate`, `super` or `self` that are written outside of imports too.
fn inline_paths(code: &str) -> Vec<Module> {
    let mut paths = Vec::new();
    let code = uses(code).into_iter().fold(code.to_owned(), |code, (_, written)| code.replace(&written, ""));
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|letter| is_part(letter) || letter == ':' || letter == '$') {
                continue;
            }
            let text: String = code[at..].chars().take_while(|letter| is_part(*letter) || *letter == ':').collect();
            paths.push(text.trim_end_matches(':').split("::").map(str::to_owned).collect());
        }
    }
    paths
}

#[test]
fn a_circle_through_a_re_export_is_found() {
    let mut house = Crate { names: BTreeMap::new(), texts: BTreeMap::new(), exports: BTreeMap::new() };
    house.add("lib.rs", "pub mod a;\npub mod b;\npub use a::one::One;\n");
    house.add("a/mod.rs", "mod one;\nmod two;\npub use one::One;\n");
    house.add("a/one.rs", "use super::two::{self, Two};\nfn f() { two::g() }\n");
    house.add("a/two.rs", "use crate::b::Three;\n");
    house.add("b.rs", "fn f() { crate::a::One::new() }\n// use crate::c::Four;\n");
    house.add("c.rs", "use crate::b::Three;\n#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n");
    assert_eq!(house.circles(), [["a/one.rs", "a/two.rs", "b.rs"]]);
}
