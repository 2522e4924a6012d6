//! The commands of the README and the options that the documents name.

use std::path::Path;
use std::process::Command;

use super::folder::Folder;

const README: &str = include_str!("../../../../README.md");

/// The lines of a document's blocks of commands, block after block.
fn consoles(text: &str) -> Vec<Vec<&str>> {
    let blocks = text.split("```console\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().lines().collect()).collect()
}

/// A folder with the tables of the examples, in which a shell finds `mero`.
fn with_examples() -> Folder {
    let folder = Folder::new();
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    for name in ["houses.csv", "lens.csv", "decay.csv"] {
        folder.write(&format!("examples/data/{name}"), std::fs::read(tables.join(name)).expect("a table"));
    }
    folder
}

/// Standard output of a line of a shell, without the blanks around its lines.
fn shell(folder: &Folder, line: &str) -> Vec<String> {
    let programs = Path::new(env!("CARGO_BIN_EXE_mero")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(folder.path("")).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    let folder = with_examples();
    let mut run = 0;
    for block in consoles(README) {
        let mut printed = Vec::new();
        for line in block {
            match line.strip_prefix("$ ") {
                Some(command) if command.starts_with("cargo install") => {}
                Some(command) => {
                    printed = shell(&folder, command);
                    run += 1;
                }
                // Numbers depend on the processor in their last digits, so words decide.
                None => {
                    let words = |line: &str| line.replace(|letter: char| !letter.is_alphabetic(), "");
                    let is_there = printed.iter().any(|other| words(other) == words(line));
                    assert!(is_there, "the README shows {line:?}, but there is {printed:#?}");
                }
            }
        }
    }
    assert_eq!(run, 8);
    assert!(folder.text("houses.html").contains("<svg"));
}

/// Every `--flag` in a document of the command is one that some command has.
#[test]
fn the_documents_name_only_options_that_exist() {
    let folder = Folder::new();
    let help = folder.told("--help");
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let benches = ["claims", "contrast", "seed"].map(|name| format!("bench {name}"));
    let commands = commands.map(str::to_owned).chain(benches);
    let help: String = commands.map(|name| folder.told(&format!("{name} --help"))).collect();
    let known = flags(&help);
    let documents = [("README.md", README), ("CLI.md", include_str!("../../../../docs/CLI.md"))];
    for (name, text) in documents.into_iter().chain([("CURVES.md", include_str!("../../../../docs/CURVES.md"))]) {
        let mut named: Vec<_> = flags(text).into_iter().filter(|flag| !known.contains(flag)).collect();
        // Of cargo, head and npm.
        named.retain(|flag| !["--path", "--release", "--example", "--version"].contains(&flag.as_str()));
        assert!(named.is_empty(), "{name} names {named:?}, which no command has");
    }
}

/// The flags in a text: two dashes before a letter, and what follows of letters and dashes.
fn flags(text: &str) -> Vec<String> {
    let starts =
        text.match_indices("--").filter(|(at, _)| !text[..*at].ends_with(|c: char| c == '-' || c.is_alphanumeric()));
    let flag = |at: usize| -> String {
        let rest = &text[at + 2..];
        format!(
            "--{}",
            rest.split(|c: char| c != '-' && !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or_default()
                .trim_end_matches('-')
        )
    };
    let mut found: Vec<String> = starts.map(|(at, _)| flag(at)).filter(|flag| flag.len() > 3).collect();
    found.sort();
    found.dedup();
    found
}
