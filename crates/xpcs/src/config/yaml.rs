//! A YAML file as nested sections whose keys are taken by name: what nobody takes is an error with its line and its path.

use std::cell::RefCell;

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use saphyr_parser::{Event, Parser};

use meromorph::error::{Error, Result, hint, listed};

/// A value and the line where it begins.
#[derive(Debug)]
pub(super) struct Node {
    line: usize,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Null,
    Flag(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Fields(Vec<(String, Node)>),
}

/// Reads a file that holds one mapping; `source` names it in errors.
pub(super) fn read(text: &str, source: &str) -> Result<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    check_depth(text, source)?;
    let mut documents = MarkedYaml::load_from_str(text).map_err(|error| {
        let line = error.marker().line();
        Error::new(format!("{source}: line {line}: {}", error.info()))
    })?;
    let [document] = &mut documents[..] else {
        let got = documents.len();
        return Err(Error::new(format!("{source}: got {got} documents, expected one")));
    };
    let node = node(document, source)?;
    match node.value {
        Value::Fields(_) => Ok(node),
        _ => Err(Error::new(format!("{source}: expected keys and values, such as analysis_mode: static"))),
    }
}

/// Lists and sections that may be in each other.
const MOST_DEEP: usize = 100;

/// Errors if lists and sections are nested deeper than any configuration needs: the loader would overflow the stack. What is no YAML is the loader's error.
fn check_depth(text: &str, source: &str) -> Result<()> {
    let mut depth = 0_usize;
    for (event, span) in Parser::new_from_str(text).map_while(std::result::Result::ok) {
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_DEEP {
            let line = span.start.line();
            return Err(Error::new(format!(
                "{source}: line {line}: is nested deeper than {MOST_DEEP}: expected at most {MOST_DEEP} lists and sections in each other"
            )));
        }
    }
    Ok(())
}

fn node(yaml: &MarkedYaml<'_>, source: &str) -> Result<Node> {
    let line = yaml.span.start.line();
    let wrong = |what: &str| Error::new(format!("{source}: line {line}: {what}"));
    let value = match &yaml.data {
        YamlData::Value(Scalar::Null) => Value::Null,
        YamlData::Value(Scalar::Boolean(flag)) => Value::Flag(*flag),
        YamlData::Value(Scalar::Integer(whole)) => Value::Number(*whole as f64),
        YamlData::Value(Scalar::FloatingPoint(number)) => Value::Number(number.into_inner()),
        YamlData::Value(Scalar::String(text)) => Value::Text(text.to_string()),
        YamlData::Sequence(items) => Value::List(items.iter().map(|item| node(item, source)).collect::<Result<_>>()?),
        YamlData::Mapping(fields) => {
            let field = |(key, value): (&MarkedYaml<'_>, &MarkedYaml<'_>)| {
                let YamlData::Value(Scalar::String(name)) = &key.data else {
                    return Err(wrong("expected a text as a key"));
                };
                // An error names the line of the key.
                let line = key.span.start.line();
                Ok((name.to_string(), Node { line, ..node(value, source)? }))
            };
            Value::Fields(fields.iter().map(field).collect::<Result<_>>()?)
        }
        _ => return Err(wrong("expected plain YAML without tags and aliases")),
    };
    Ok(Node { line, value })
}

impl Node {
    fn kind(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) => format!("\"{text}\""),
            Value::List(_) => "a list".to_owned(),
            Value::Fields(_) => "keys and values".to_owned(),
        }
    }
}

/// What is found on the way through the file, each under the path of its section.
#[derive(Default)]
pub(super) struct Findings {
    unused: RefCell<Vec<(String, Vec<&'static str>)>>,
    switches: RefCell<Vec<(String, Vec<&'static str>)>>,
    /// Lines, paths, and what was expected.
    unknown: RefCell<Vec<(usize, String, String, String)>>,
}

impl Findings {
    /// The keys that set nothing here in one line, and those that switch off what is not there in another.
    pub(super) fn notes(&self) -> Vec<String> {
        let listed = |found: &RefCell<Vec<(String, Vec<&str>)>>| {
            let found = found.borrow();
            let one = |(path, names): &(String, Vec<&str>)| match path.as_str() {
                "" => names.join(", "),
                path => format!("{path}: {}", names.join(", ")),
            };
            found.iter().map(one).collect::<Vec<String>>().join("; ")
        };
        let (unused, switches) = (listed(&self.unused), listed(&self.switches));
        let unused = (!unused.is_empty()).then(|| format!("not used: {unused}"));
        let switches = (!switches.is_empty()).then(|| {
            format!("nothing to switch: {switches}: data are not cached or packed, and checks are part of the sums")
        });
        unused.into_iter().chain(switches).collect()
    }

    /// Errors if there are unknown keys, with all of them.
    pub(super) fn check(&self, source: &str) -> Result<()> {
        let unknown = self.unknown.borrow();
        match &unknown[..] {
            [] => Ok(()),
            [(line, path, expected, near)] => {
                Err(Error::new(format!("{source}: line {line}: {path}: unknown key: expected one of {expected}{near}")))
            }
            several => {
                let one = |(line, path, _, near): &(usize, String, String, String)| {
                    let near = near.trim_start_matches("; ");
                    let separator = if near.is_empty() { "" } else { ": " };
                    format!("line {line}: {path}{separator}{near}")
                };
                let all: Vec<String> = several.iter().map(one).collect();
                Err(Error::new(format!("{source}: {} unknown keys: {}", all.len(), all.join("; "))))
            }
        }
    }

    fn add(list: &RefCell<Vec<(String, Vec<&'static str>)>>, path: &str, names: Vec<&'static str>) {
        let mut list = list.borrow_mut();
        let at = list.iter().position(|(known, _)| known == path).unwrap_or_else(|| {
            list.push((path.to_owned(), Vec::new()));
            list.len() - 1
        });
        for name in names {
            if !list[at].1.contains(&name) {
                list[at].1.push(name);
            }
        }
        list.retain(|(_, names)| !names.is_empty());
    }
}

/// Keys and values somewhere in the file.
pub(super) struct Section<'a> {
    source: &'a str,
    findings: &'a Findings,
    path: String,
    fields: &'a [(String, Node)],
    taken: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn root(node: &'a Node, source: &'a str, findings: &'a Findings) -> Result<Self> {
        Self::of(node, (source, findings), String::new())
    }

    fn of(node: &'a Node, (source, findings): (&'a str, &'a Findings), path: String) -> Result<Self> {
        let Value::Fields(fields) = &node.value else {
            let (line, got) = (node.line, node.kind());
            return Err(Error::new(format!("{source}: line {line}: {path}: got {got}, expected keys and values")));
        };
        Ok(Self { source, findings, path, fields, taken: Vec::new() })
    }

    /// The path of a key.
    pub(super) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// An error at a key.
    pub(super) fn wrong(&self, name: &str, what: &str) -> Error {
        let line = self.fields.iter().find(|(known, _)| known == name).map_or(0, |(_, node)| node.line);
        Error::new(format!("{}: line {line}: {}: {what}", self.source, self.path(name)))
    }

    /// Takes a key; one without a value counts as absent.
    fn take(&mut self, name: &'static str) -> Option<&'a Node> {
        self.taken.push(name);
        let found = self.fields.iter().find(|(known, _)| known == name).map(|(_, node)| node);
        found.filter(|node| !matches!(node.value, Value::Null))
    }

    fn unlike(&self, name: &str, node: &Node, expected: &str) -> Error {
        self.wrong(name, &format!("got {}, expected {expected}", node.kind()))
    }

    /// A number.
    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<f64>> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match node.value {
            Value::Number(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(self.unlike(name, node, "a finite number")),
        }
    }

    /// A whole number from 0 on.
    pub(super) fn whole(&mut self, name: &'static str) -> Result<Option<usize>> {
        match self.number(name)? {
            Some(number) if number < 0.0 || number.fract() != 0.0 || number > 1e15 => {
                Err(self.wrong(name, &format!("got {number}, expected a whole number from 0 on")))
            }
            number => Ok(number.map(|number| number as usize)),
        }
    }

    /// A text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<&'a str>> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match &node.value {
            Value::Text(text) => Ok(Some(text)),
            _ => Err(self.unlike(name, node, "a text")),
        }
    }

    /// True or false.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match node.value {
            Value::Flag(flag) => Ok(Some(flag)),
            _ => Err(self.unlike(name, node, "true or false")),
        }
    }

    fn list(&mut self, name: &'static str) -> Result<Option<&'a [Node]>> {
        let Some(node) = self.take(name) else { return Ok(None) };
        match &node.value {
            Value::List(items) => Ok(Some(items)),
            _ => Err(self.unlike(name, node, "a list")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<&'a str>>> {
        let Some(items) = self.list(name)? else { return Ok(None) };
        let text = |item: &'a Node| match &item.value {
            Value::Text(text) => Ok(text.as_str()),
            _ => Err(self.unlike(name, item, "a list of texts")),
        };
        items.iter().map(text).collect::<Result<_>>().map(Some)
    }

    /// A list of numbers.
    pub(super) fn numbers(&mut self, name: &'static str) -> Result<Option<Vec<f64>>> {
        let Some(items) = self.list(name)? else { return Ok(None) };
        let number = |item: &Node| match item.value {
            Value::Number(number) if number.is_finite() => Ok(number),
            _ => Err(self.unlike(name, item, "a list of finite numbers")),
        };
        items.iter().map(number).collect::<Result<_>>().map(Some)
    }

    /// Keys with numbers, whose names are not known before.
    pub(super) fn named_numbers(&mut self, name: &'static str) -> Result<Vec<(&'a str, f64)>> {
        let Some(node) = self.take(name) else { return Ok(Vec::new()) };
        let Value::Fields(fields) = &node.value else { return Err(self.unlike(name, node, "names with numbers")) };
        let one = |(key, item): &'a (String, Node)| match item.value {
            Value::Number(number) if number.is_finite() => Ok((key.as_str(), number)),
            _ => Err(self.unlike(name, item, "names with finite numbers")),
        };
        fields.iter().map(one).collect()
    }

    /// A section within this one.
    pub(super) fn section(&mut self, name: &'static str) -> Result<Option<Self>> {
        let Some(node) = self.take(name) else { return Ok(None) };
        Self::of(node, (self.source, self.findings), self.path(name)).map(Some)
    }

    /// A list of sections.
    pub(super) fn sections(&mut self, name: &'static str) -> Result<Vec<Self>> {
        let items = self.list(name)?.unwrap_or_default();
        let one = |(at, item)| Self::of(item, (self.source, self.findings), format!("{}[{at}]", self.path(name)));
        items.iter().enumerate().map(one).collect()
    }

    /// The value of a key as text, whatever it is; lists and sections have none.
    pub(super) fn word(&mut self, name: &'static str) -> Option<String> {
        match &self.take(name)?.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    /// Takes keys that homodyne has and that set nothing here.
    pub(super) fn unused(&mut self, names: &[&'static str]) {
        let there = self.there(names);
        Findings::add(&self.findings.unused, self.plain_path(), there);
    }

    /// Takes keys of homodyne that switch what is not there to be switched.
    pub(super) fn switches(&mut self, names: &[&'static str]) {
        let there = self.there(names);
        Findings::add(&self.findings.switches, self.plain_path(), there);
    }

    fn there(&mut self, names: &[&'static str]) -> Vec<&'static str> {
        names.iter().copied().filter(|name| self.take(name).is_some()).collect()
    }

    /// The path without places in lists, whose items have the same keys.
    fn plain_path(&self) -> &str {
        self.path.split('[').next().unwrap_or_default()
    }

    /// Notes the keys that were not taken as unknown.
    pub(super) fn finish(self) {
        for (name, node) in self.fields.iter().filter(|(name, _)| !self.taken.contains(&name.as_str())) {
            let near = hint(name, self.taken.iter().copied());
            let found = (node.line, self.path(name), listed(&self.taken), near);
            self.findings.unknown.borrow_mut().push(found);
        }
    }
}
