//! How each face spells the name of an option.

/// Names of options that are words of Python.
const KEYWORDS: [&str; 1] = ["global"];

/// A face that shows names of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Flags: `--weight-decay`.
    Command,
    /// Fields of an object: `weightDecay`.
    JavaScript,
    /// Fields of a struct: `weight_decay`.
    Rust,
    /// Arguments with a keyword: `weight_decay`.
    Python,
}

impl Naming {
    /// The spelling of a name in snake case.
    pub fn of(self, name: &str) -> String {
        match self {
            Self::Command => name.replace('_', "-"),
            Self::JavaScript => camel(name),
            Self::Python if KEYWORDS.contains(&name) => format!("{name}_"),
            Self::Rust | Self::Python => name.to_owned(),
        }
    }

    /// The same as a message shows it: flags with their dashes.
    pub fn shown(self, name: &str) -> String {
        let dashes = if self == Self::Command { "--" } else { "" };
        format!("{dashes}{}", self.of(name))
    }

    /// `text` with each `{name}` replaced by the name as a message shows it.
    pub fn filled(self, text: &str) -> String {
        let mut filled = String::new();
        for (at, part) in text.split(['{', '}']).enumerate() {
            // Names are between braces, hence at odd places.
            filled += &if at % 2 == 1 { self.shown(part) } else { part.to_owned() };
        }
        filled
    }
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut all, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        all.push_str(&initial.to_ascii_uppercase());
        all.push_str(rest);
        all
    })
}
